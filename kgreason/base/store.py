"""The one place that speaks SPARQL: an embedded pyoxigraph store.

What may take without end (a query of a user, a registered test) runs in a forked child that can be
killed (`guarded`), because a running query of the embedded store cannot be cancelled. The child
dies with its parent.
"""

import contextlib
import ctypes
import faulthandler
import gc
import multiprocessing
import multiprocessing.connection
import os
import re
import resource
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NoReturn, TypeVar

import pyoxigraph as ox

from kgreason.base.errors import (
    QueryError,
    RowsExceeded,
    RunError,
    ServiceError,
    TimeoutExceeded,
)
from kgreason.base.locks import Lock
from kgreason.base.terms import PREFIXES

Term = ox.NamedNode | ox.BlankNode | ox.Literal
AnyTerm = Term | ox.Triple
"""What pyoxigraph says a subject or value may be; triples as terms are passed over at loading."""
Row = Mapping[str, Term]
"""One solution; a variable that is not bound is absent."""
Prefixes = Mapping[str, str]

_T = TypeVar("_T")
_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl(2)
# The parser of the store recurses: it takes exponential time or ends the process on deep nesting.
_PLAIN_LENGTH: Final = 5_000
_PLAIN_DEPTH: Final = 20
_CHECK_SECONDS: Final = 10.0


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

    `where` is what messages call it. Updates are made one after the other: those of all that hold
    the same `updates`.
    """

    def __init__(self, inner: ox.Store, where: str, updates: Lock | None = None) -> None:
        self.inner = inner
        self.where = where
        self._updates = updates or Lock()
        self._spelled: dict[str, str] = {}

    def spell(self, text: str, faster: str) -> None:
        """Run `faster` in place of a part of queries that gives the same answer more slowly."""
        if faster != text:
            self._spelled[text] = faster

    def _as_run(self, query: str) -> str:
        for text, faster in self._spelled.items():
            query = query.replace(text, faster)
        return query

    def close(self) -> None:
        """Let go of the folder, whoever still holds this object."""
        self.inner = ox.Store()

    def select(self, query: str) -> Results:
        """Run a SELECT; raises QueryError for a text that does not parse."""
        found = self._solutions(query)
        names = [v.value for v in found.variables]
        try:
            return Results(names, [_row(names, solution) for solution in found])
        except (RuntimeError, OSError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error

    def column(self, query: str) -> list[Term]:
        """Run a SELECT, and return what its first variable is bound to; raises as `select` does.

        Of many rows that takes a third of the time.
        """
        found = self._solutions(query)
        try:
            return [solution[0] for solution in found if solution[0] is not None]
        except (RuntimeError, OSError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error

    def pairs(self, query: str) -> list[tuple[Term, Term]]:
        """Run a SELECT of two variables, and return what they are bound to; raises as `select`.

        Of many rows that takes a third of the time. A row that does not bind both is left out.
        """
        found = self._solutions(query)
        try:
            rows = [(solution[0], solution[1]) for solution in found]
        except (RuntimeError, OSError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error
        return [row for row in rows if row[0] is not None and row[1] is not None]

    def _solutions(self, query: str) -> Any:
        found = self._query(query)
        if not isinstance(found, ox.QuerySolutions):
            raise QueryError(
                f"The query on {self.where} must be a SELECT; it begins: {_opening(query)}"
            )
        return found

    def ask(self, query: str) -> bool:
        """Run an ASK."""
        return bool(self._query(query))

    def construct(self, query: str) -> list[ox.Triple]:
        """Run a CONSTRUCT."""
        found = self._query(query)
        if not isinstance(found, ox.QueryTriples):
            raise QueryError(f"This query on {self.where} must be a CONSTRUCT:\n{query}")
        return list(found)

    def answer(
        self,
        query: str,
        default_graph: ox.NamedNode | ox.DefaultGraph,
        prefixes: Prefixes | None = None,
    ) -> "Answer":
        """Run any query of a user over one graph as the default graph (GRAPH works too).

        `prefixes` need not be declared in it.
        """
        return self._answered(query, prefixes, None, default_graph=default_graph)

    def answer_over(
        self,
        query: str,
        default_graphs: Sequence[ox.NamedNode] | None,
        named_graphs: Sequence[ox.NamedNode] | None,
        prefixes: Prefixes | None = None,
        most: int | None = None,
    ) -> "Answer":
        """Run any query of a user over a dataset: the merge of some graphs, and some named graphs.

        Where both are None the query is asked over what its FROM says, else over the merge of all
        graphs. Raises RowsExceeded where the answer has more than `most` rows or triples.
        """
        if default_graphs is None and named_graphs is None:
            union = not names_dataset(query)
            return self._answered(query, prefixes, most, use_default_graph_as_union=union)
        dataset = {
            "default_graph": list(default_graphs or ()),
            "named_graphs": list(named_graphs or ()),
        }
        return self._answered(query, prefixes, most, **dataset)

    def _answered(
        self, query: str, prefixes: Prefixes | None, most: int | None, **dataset: Any
    ) -> "Answer":
        try:
            found = self.inner.query(query, prefixes=dict(prefixes or {}), **dataset)
            if isinstance(found, ox.QuerySolutions):
                names = [v.value for v in found.variables]
                return Results(names, [_row(names, one) for one in _at_most(found, most)])
            return bool(found) if isinstance(found, ox.QueryBoolean) else _at_most(found, most)
        except SyntaxError as error:
            place = _place(query, prefixes)
            said = f"{_what(error, query, place)}.{_undeclared(query, place, prefixes)}"
            raise QueryError(f"The query does not parse: {said}") from error
        except (RuntimeError, ValueError) as error:
            raise QueryError(f"The query cannot be run: {error}.") from error
        except OSError as error:
            raise RunError(f"The query on {self.where} failed: {error}.") from error

    def scalar(self, query: str) -> int:
        """Run a SELECT of one row with one number, and give it as an int (0 if there is none)."""
        rows = self.select(query)
        value = next(iter(rows[0].values()), None) if len(rows) else None
        return int(value.value) if isinstance(value, ox.Literal) else 0

    def update(
        self,
        text: str,
        functions: Mapping[ox.NamedNode, Callable[..., Any]] | None = None,
    ) -> None:
        """Run a SPARQL UPDATE as one transaction; raises RunError if the store refuses it.

        `functions` are what the text may call, by IRI.
        """
        try:
            with self._updates:
                self.inner.update(text, custom_functions=dict(functions or {}))
        except (SyntaxError, RuntimeError, OSError, ValueError) as error:
            raise RunError(f"An update of {self.where} failed: {error}\n{text}") from error

    def quads(self, graph: ox.NamedNode | None = None) -> Iterator[ox.Quad]:
        """Return all quads, or those of one named graph."""
        return self.inner.quads_for_pattern(None, None, None, graph)

    def values(self, node: Term, predicate: ox.NamedNode, graph: ox.NamedNode) -> list[Term]:
        """Return the values of one property of a node, in the order of the store."""
        if isinstance(node, ox.Literal):
            return []
        found = self.inner.quads_for_pattern(node, predicate, None, graph)
        return [quad.object for quad in found if not isinstance(quad.object, ox.Triple)]

    def _query(self, query: str) -> Any:
        try:
            return self.inner.query(self._as_run(query))
        except SyntaxError as error:
            raise QueryError(f"A query on {self.where} does not parse: {error}\n{query}") from error
        except (RuntimeError, OSError, ValueError) as error:
            raise RunError(f"A query on {self.where} failed: {error}\n{query}") from error


def _at_most(found: Iterable[_T], most: int | None) -> list[_T]:
    """Return what a query gives; raises RowsExceeded for more than `most`."""
    rows = list(found if most is None else islice(found, most + 1))
    if most is not None and len(rows) > most:
        raise RowsExceeded(f"The answer has more than {most:,} rows; ask for fewer with LIMIT.")
    return rows


def triple(subject: AnyTerm, predicate: AnyTerm, value: AnyTerm) -> ox.Triple:
    """Make a triple of terms that a query gave; raises TypeError where they cannot be one."""
    if isinstance(subject, ox.Literal) or not isinstance(predicate, ox.NamedNode):
        raise TypeError(f"{subject} {predicate} {value} is no triple.")
    return ox.Triple(subject, predicate, value)


def _opening(query: str) -> str:
    """Return the first line of a query that is no declaration, cut short."""
    lines = (line.strip() for line in query.splitlines())
    told = (line for line in lines if line and not re.match(r"(?i)(prefix|base)\b|#", line))
    return next(told, "")[:60]


def _row(names: Sequence[str], solution: Any) -> dict[str, Term]:
    return {name: term for name, term in zip(names, solution, strict=True) if term is not None}


Answer = Results | bool | list[ox.Triple]
"""What a query gives: rows of a SELECT, the truth of an ASK, triples of a CONSTRUCT or DESCRIBE."""


def check_query(
    text: str, where: str, *, allow_service: bool = False, prefixes: Prefixes | None = None
) -> None:
    """Refuse what is not a read-only query; raises QueryError with line and column if it is known.

    `where` names the file or option the text came from; `prefixes` need not be declared in it.
    """
    if not text.strip():
        raise QueryError(f"{where}: the query is empty; write a SELECT, ASK or CONSTRUCT.")
    calls = re.search("service", text, re.IGNORECASE) is not None
    if calls and allow_service:
        return  # the store has no way to parse without calling; the run will tell
    # Where SERVICE stands in a name, a string or a comment, any other word does as well; as a
    # keyword it does not, so this text parses only if nothing is called.
    other = re.sub("service", _NO_SERVICE, text, flags=re.IGNORECASE)
    if len(text) <= _PLAIN_LENGTH and _depth(text) <= _PLAIN_DEPTH:
        _refuse(text, other, where, prefixes)
        return
    try:
        guarded(lambda: _refuse(text, other, where, prefixes), _CHECK_SECONDS, where)
    except RunError as error:
        raise QueryError(
            f"{where}: the query cannot be read; it is nested too deeply or too long."
        ) from error


def _refuse(text: str, other: str, where: str, prefixes: Prefixes | None) -> None:
    try:
        _parse(other, prefixes)
    except SyntaxError as error:
        place = _place(other, prefixes)
        if other.startswith(_NO_SERVICE, place):
            raise ServiceError(
                f"{where}: SERVICE is off; allow it with --allow-service if you trust it."
            ) from error
        hint = " Updates are not allowed here." if _UPDATE.match(text, place) else ""
        hint += _undeclared(text, place, prefixes)
        what = _what(error, text, place)
        raise QueryError(f"{where}: the query does not parse: {what}.{hint}") from error
    except (RuntimeError, OSError, ValueError) as error:
        raise QueryError(f"{where}: the query cannot be run: {error}.") from error


_NO_SERVICE: Final = "SERVIQE"
_UPDATE: Final = re.compile(
    r"(INSERT|DELETE|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY|WITH)\b", re.IGNORECASE
)
_PADDING: Final = 40  # more than twice the longest keyword
_TOKEN: Final = re.compile(
    # A string that is never closed goes as far as it could, so that nothing is looked at again.
    r"""\#[^\n]*|'{3}.*?(?:'{3}|\Z)|\"{3}.*?(?:\"{3}|\Z)"""
    r"""|'(?:[^'\\\n]++|\\.)*+'?|"(?:[^"\\\n]++|\\.)*+"?|<[^\s<>"{}]*>"""
    r"""|[?$]\w+|[\w.-]{0,255}+:(?:[\w:%-]|\.(?=\w))*|@?\w+|&&|\|\||\^\^|[!<>]=|\S""",
    re.DOTALL,
)
_POSITION: Final = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)


def names_dataset(text: str) -> bool:
    """Check whether a query says with FROM what it is asked over."""
    return any(found[0].upper() == "FROM" for found in _TOKEN.finditer(text))


def _parse(text: str, prefixes: Prefixes | None) -> None:
    """Parse a query; on an empty store next to nothing is computed."""
    ox.Store().query(text, prefixes=dict(prefixes or {}))


def _place(text: str, prefixes: Prefixes | None) -> int:
    """Return the position of the first token with which a text can no longer become a query.

    The parser's own position is where its longest guess ended, lines away at times. But of a text
    that could go on to be a query it complains at the very end, so bisection finds the place.
    """
    tokens = list(_TOKEN.finditer(text))
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high + 1) // 2
        if _may_go_on(text[: tokens[middle - 1].end()], prefixes):
            low = middle
        else:
            high = middle - 1
    return tokens[low].start() if low < len(tokens) else len(text)


def _may_go_on(text: str, prefixes: Prefixes | None) -> bool:
    try:
        _parse(f"{text}\n{' ' * _PADDING}", prefixes)
    except SyntaxError as error:
        found = _POSITION.match(str(error))
        end = text.count("\n") + 2
        return found is not None and int(found[1]) == end and int(found[2]) > _PADDING // 2
    except (RuntimeError, OSError, ValueError):
        return True  # it parses
    return True


def _what(error: SyntaxError, text: str, place: int) -> str:
    """Return a clause on where a query stops to be one, and why if the parser knows."""
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    why = re.search(r"expected (?:one of )?((?:The|Prefix|IRI) [A-Za-z ]+)", str(error))
    near = "" if place == len(text) else f", at {text[place : place + 20].splitlines()[0]!r}"
    said = f": {why[1]}" if why else "" if near else ": it ends too early"
    return f"line {line}, column {column}{near}{said}"


def _undeclared(text: str, place: int, prefixes: Prefixes | None) -> str:
    """Return the line that is lacking where a text stops at a prefix that nothing declares."""
    found = re.compile(r"([A-Za-z][\w-]*):[^\s]").match(text, place)
    if found is None or found[1] in (prefixes or {}):
        return ""
    if re.search(rf"\bprefix\s+{re.escape(found[1])}:", text[:place], re.IGNORECASE):
        return ""
    iri = PREFIXES.get(found[1], "the namespace")
    return f" Nothing declares the prefix {found[1]}:; begin with PREFIX {found[1]}: <{iri}>"


def _depth(text: str) -> int:
    """Return how deep brackets are nested at most; brackets in strings count too."""
    depth = most = 0
    for character in text:
        if character in "([{":
            depth += 1
            most = max(most, depth)
        elif character in ")]}":
            depth -= 1
    return most


def guarded_select(store: Store, query: str, seconds: float, where: str) -> Results:
    """Run a SELECT that a user wrote in a child process.

    Raises TimeoutExceeded after `seconds`.
    """
    return guarded(lambda: store.select(query), seconds, where)


_MORE: Final = "make it narrower or allow more time with --query-seconds"


def guarded(work: Callable[[], _T], seconds: float, where: str, advice: str = _MORE) -> _T:
    """Do some work in a child process, and give its result or raise its error.

    Raises TimeoutExceeded with `advice` after `seconds`, RunError if the process ended without a
    result. The child may take half of the memory of the machine and dies with its parent. What the
    work changes is changed in the child alone.
    """
    with contextlib.closing(guarded_each([(work, where)], seconds, advice)) as outcomes:
        outcome = next(outcomes)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome[0]


def guarded_each(
    works: Sequence[tuple[Callable[[], _T], str]], seconds: float, advice: str = _MORE
) -> Generator[tuple[_T] | Exception, None, None]:
    """Do each piece of (work, what messages call it) in one child process, in their order.

    Gives the result of each as a tuple of one, or its error, as `guarded` would raise it. The child
    goes on while the caller looks at what it gave; after a piece that it did not end a new one
    takes the others.
    """
    done = 0
    while done < len(works):
        for outcome in _one_process(works[done:], seconds, advice):
            done += 1
            yield outcome


def limited_each(
    works: Sequence[tuple[Callable[[], _T], str]], seconds: float, advice: str = _MORE
) -> Generator[tuple[_T] | Exception, None, None]:
    """Do each piece of (work, what messages call it) in a thread; gives what `guarded_each` does.

    That costs next to nothing, where a process costs a copy of what both write to. But native code
    cannot be stopped: what takes too long is given up, and goes on unheeded until this process
    ends. So it is for queries that kgreason wrote itself.
    """
    for work, where in works:
        given: list[tuple[_T] | Exception] = []
        thread = threading.Thread(target=_noted, args=(work, given), daemon=True)
        thread.start()
        thread.join(seconds)
        if given:
            yield given[0]
        else:
            _LEFT.append(thread)
            yield TimeoutExceeded(f"{where}: the query was stopped after {seconds:g} s; {advice}.")


def waited_each(
    works: Sequence[tuple[Callable[[], _T], str]], seconds: float, advice: str = _MORE
) -> Generator[tuple[_T] | Exception, None, None]:
    """Do each piece of (work, what messages call it) here; gives what `guarded_each` does.

    What takes too long is waited for, and refused then. So it is for queries that kgreason wrote
    itself, where the work changes the store: one that was given up would leave it changed. A
    process of its own would cost as many page faults as this one has pages.
    """
    for work, where in works:
        begun = time.monotonic()
        given: list[tuple[_T] | Exception] = []
        _noted(work, given)
        if time.monotonic() - begun > seconds:
            yield TimeoutExceeded(f"{where}: the query took more than {seconds:g} s; {advice}.")
        else:
            yield given[0]


_LEFT: Final[list[threading.Thread]] = []


def left_behind() -> bool:
    """Check whether a thread that took too long still goes on.

    It may hold a lock of the store that it reads, which a forked process would wait for forever.
    """
    _LEFT[:] = [thread for thread in _LEFT if thread.is_alive()]
    return bool(_LEFT)


def _noted(work: Callable[[], _T], given: list[tuple[_T] | Exception]) -> None:
    try:
        given.append((work(),))
    except Exception as error:  # noqa: BLE001 - whatever happened is told to who waits
        given.append(error)


def _one_process(
    works: Sequence[tuple[Callable[[], _T], str]], seconds: float, advice: str
) -> Iterator[tuple[_T] | Exception]:
    with forking():
        receiver, sender = multiprocessing.Pipe(duplex=False)
        parent = os.getpid()
        child = os.fork()  # a daemonic process may not have a multiprocessing.Process
        if not child:
            _child([work for work, _ in works], sender, parent)
        sender.close()
    try:
        for _, where in works:
            if not receiver.poll(seconds):
                yield TimeoutExceeded(
                    f"{where}: the query was stopped after {seconds:g} s; {advice}."
                )
                return
            try:
                outcome = receiver.recv()
            except EOFError:
                yield RunError(
                    f"{where}: the query ended its process (out of memory, or nested too deeply?)."
                )
                return
            if isinstance(outcome, MemoryError):
                outcome = RunError(f"{where}: the query takes too much memory; make it narrower.")
            yield outcome
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        receiver.close()


_FORKING: Final = Lock()


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """Fork within: no other thread does so meanwhile, and Ctrl-C waits.

    A child of another thread would hold the pipe to this one open. Python loses Ctrl-C in what it
    runs after a fork.
    """
    with _FORKING:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _child(
    works: Sequence[Callable[[], object]],
    sender: multiprocessing.connection.Connection,
    parent: int,
) -> NoReturn:
    """Do some work, piece by piece, send what each gives, and end this process."""
    try:
        die_with(parent)
        _bound_memory()
        gc.freeze()  # what the parent left behind, such as an open ledger, is not ours to close
        # An abort of native code speaks on stderr by itself; the parent says what is to say.
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for work in works:
            try:
                sender.send((work(),))
            except Exception as error:  # noqa: BLE001 - whatever happened is told to the parent
                sender.send(error)
        sender.close()
    finally:
        os._exit(0)


def _bound_memory() -> None:
    """Let this process grow by half of the machine's memory, so that it cannot take it down."""
    with contextlib.suppress(OSError, ValueError):
        page = os.sysconf("SC_PAGE_SIZE")
        with open("/proc/self/statm", encoding="ascii") as now:  # noqa: PTH123 - a file of the kernel
            taken = int(now.read().split()[0]) * page
        most = taken + os.sysconf("SC_PHYS_PAGES") * page // 2
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends (Linux); elsewhere do nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)
