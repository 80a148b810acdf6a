"""The one place that speaks SPARQL: an embedded pyoxigraph store.

What a user wrote (`guarded_select`) runs in a forked child that can be killed, because a running
query of the embedded store cannot be cancelled; the child dies with its parent.
"""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.errors import QueryError, RunError, TimeoutExceeded

Term = ox.NamedNode | ox.BlankNode | ox.Literal
Row = Mapping[str, Term]
"""One solution; a variable that is not bound is absent."""

_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl(2)


class Results(Sequence[Row]):
    """The rows of a SELECT with the names of its variables, in the order of the query."""

    def __init__(self, variables: Sequence[str], rows: Iterable[Row]) -> None:
        self.variables = tuple(variables)
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


class Store:
    """A pyoxigraph store with errors in our own words.

    `where` is what messages call it.
    """

    def __init__(self, inner: ox.Store, where: str) -> None:
        self.inner = inner
        self.where = where

    def close(self) -> None:
        """Let go of the folder, whoever still holds this object."""
        self.inner = ox.Store()

    def select(self, query: str) -> Results:
        """Run a SELECT; raises QueryError for a text that does not parse."""
        found = self._query(query)
        if not isinstance(found, ox.QuerySolutions):
            raise QueryError(f"This query on {self.where} must be a SELECT:\n{query}")
        names = [v.value for v in found.variables]
        try:
            return Results(names, [_row(names, solution) for solution in found])
        except (RuntimeError, OSError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error

    def ask(self, query: str) -> bool:
        """Run an ASK."""
        return bool(self._query(query))

    def construct(self, query: str) -> list[ox.Triple]:
        """Run a CONSTRUCT."""
        found = self._query(query)
        if not isinstance(found, ox.QueryTriples):
            raise QueryError(f"This query on {self.where} must be a CONSTRUCT:\n{query}")
        return list(found)

    def scalar(self, query: str) -> int:
        """Run a SELECT of one row with one number, and give it as an int (0 if there is none)."""
        rows = self.select(query)
        value = next(iter(rows[0].values()), None) if len(rows) else None
        return int(value.value) if isinstance(value, ox.Literal) else 0

    def update(self, text: str) -> None:
        """Run a SPARQL UPDATE as one transaction; raises RunError if the store refuses it."""
        try:
            self.inner.update(text)
        except (SyntaxError, RuntimeError, OSError, ValueError) as error:
            raise RunError(f"An update of {self.where} failed: {error}\n{text}") from error

    def quads(self, graph: ox.NamedNode | None = None) -> Iterator[ox.Quad]:
        """Give all quads, or those of one named graph."""
        return self.inner.quads_for_pattern(None, None, None, graph)

    def _query(self, query: str) -> Any:
        try:
            return self.inner.query(query)
        except SyntaxError as error:
            raise QueryError(f"A query on {self.where} does not parse: {error}\n{query}") from error
        except (RuntimeError, OSError, ValueError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error


def _row(names: Sequence[str], solution: Any) -> dict[str, Term]:
    return {name: solution[name] for name in names if solution[name] is not None}


def check_query(text: str, where: str, *, allow_service: bool = False) -> None:
    """Refuse what is not a read-only query; raises QueryError with line and column if it is known.

    `where` names the file or option the text came from.
    """
    if not text.strip():
        raise QueryError(f"{where}: the query is empty; write a SELECT, ASK or CONSTRUCT.")
    try:
        # On an empty store nothing is computed, and SERVICE is never reached for.
        ox.Store().query("SELECT * WHERE { }" if _calls_service(text) and allow_service else text)
    except SyntaxError as error:
        hint = " Updates are not allowed here." if _is_update(text) else ""
        raise QueryError(f"{where}: the query does not parse: {error}.{hint}") from error
    except (RuntimeError, OSError, ValueError) as error:
        raise QueryError(f"{where}: the query cannot be run: {error}") from error
    if _calls_service(text) and not allow_service:
        raise QueryError(f"{where}: SERVICE is off; allow it with --allow-service if you trust it.")


def _bare(text: str) -> str:
    """Give the text without strings, IRIs and comments, in upper case."""
    out, i = [], 0
    closers = {'"""': '"""', "'''": "'''", '"': '"', "'": "'", "<": ">", "#": "\n"}
    while i < len(text):
        opener = next((o for o in closers if text.startswith(o, i)), None)
        if opener == "<" and (">" not in text[i:] or text[i + 1 : i + 2] in {" ", "=", ""}):
            opener = None
        if opener is None:
            out.append(text[i])
            i += 1
            continue
        end = i + len(opener)
        while end < len(text) and not text.startswith(closers[opener], end):
            end += 2 if text[end] == "\\" and opener not in {"<", "#"} else 1
        i = end + len(closers[opener])
        out.append(" ")
    return "".join(out).upper()


def _calls_service(text: str) -> bool:
    return "SERVICE" in _bare(text).replace("{", " ").replace("}", " ").split()


def _is_update(text: str) -> bool:
    words = set(_bare(text).replace("{", " ").split())
    return bool(words & {"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE"})


def guarded_select(store: Store, query: str, seconds: float, where: str) -> Results:
    """Run what a user wrote in a child process; raises TimeoutExceeded after `seconds`."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(
        target=_child, args=(store, query, sender, os.getpid()), daemon=True
    )
    child.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise TimeoutExceeded(
                f"{where}: the query was stopped after {seconds:g} s; "
                "make it narrower or allow more time with --query-seconds."
            )
        outcome = receiver.recv()
    except EOFError as error:
        raise RunError(f"{where}: the query ended its process (out of memory?).") from error
    finally:
        child.kill()
        child.join()
        receiver.close()
    if isinstance(outcome, Exception):
        raise outcome
    variables, rows = outcome
    return Results(variables, rows)


def _child(
    store: Store, query: str, sender: multiprocessing.connection.Connection, parent: int
) -> None:
    _die_with(parent)
    try:
        found = store.select(query)
        sender.send((found.variables, list(found)))
    except Exception as error:  # noqa: BLE001 - whatever happened is told to the parent
        sender.send(error)
    finally:
        sender.close()


def _die_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends (Linux); elsewhere do nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)
