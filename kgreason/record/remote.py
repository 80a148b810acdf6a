"""A ledger on a server that speaks SPARQL 1.1: asked, and written to by guarded requests.

A step is one update request. It holds the very statements that go and come, and its WHERE says on
what condition: that each investigation has the head, with the seal, that the writer read. Where
that is not so nothing is written. Not every store keeps two requests apart that come at once
(Oxigraph's server on disk does not: both see the head of before). So a writer first says what it is
going to write to, then looks who else has said so, and stands back where there is somebody: of two
that say it at once, at least one sees the other. What a writer said and never took back, because it
was killed, counts for half a minute.
"""

import base64
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import pyoxigraph as ox

from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.fetching import Fetch, SourceError
from kgreason.base.figures import integer
from kgreason.base.terms import TRAILS
from kgreason.record.seal import REPLACED

_ADDRESS: Final = re.compile(r"(https?):/+(.+)", re.IGNORECASE)
_AUTH: Final = "KGREASON_LEDGER_AUTH"
_TOKEN: Final = re.compile(r"Bearer [A-Za-z0-9._~+/-]+=*")  # RFC 6750
_WRITERS: Final = "GRAPH <urn:kgreason:writers>"
_BLOB: Final = "urn:kgreason:blob:"
_FASTEST: Final = 1000.0
_CLAIM: Final = integer("ledgerClaim")
_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_HEAD, _HASH, _NUMBER = TRAILS.head, TRAILS.hash, TRAILS.number
_TRIES: Final = 3
_ATTEMPTS: Final = 20
_PAUSE: Final = 1.0
_JSON: Final = "application/sparql-results+json"
_TRIPLES: Final = "application/n-triples"
_P = ParamSpec("_P")
_T = TypeVar("_T")
Lines = frozenset[str]
"""The statements of a graph, each as a line of N-Triples without its point."""


class RaceLost(LedgerError):  # noqa: N818 - reads as what happened
    """Somebody else has written to the same investigation meanwhile; nothing was written."""


def again(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make work that opens a ledger and writes to it begin anew where somebody else was first.

    After some times the last RaceLost is raised. What is written to a folder is never begun anew.
    """

    @wraps(work)
    def tried(*given: _P.args, **named: _P.kwargs) -> _T:
        for left in reversed(range(_ATTEMPTS)):
            try:
                return work(*given, **named)
            except RaceLost:
                if not left:
                    raise
                time.sleep(random.uniform(0, _PAUSE))  # noqa: S311 - so that two do not meet again
        raise AssertionError

    return tried


@dataclass(frozen=True)
class Change:
    """What is to become of a named graph: the lines that go and those that come.

    `head` and `hash` are those that it has now, where it is the record of an investigation; `new`
    says that there is no such graph yet.
    """

    graph: ox.NamedNode
    gone: Lines
    come: Lines
    head: str = ""
    hash: str = ""
    new: bool = False


def address_of(folder: Path | str) -> str | None:
    """Return the address of a ledger on a server; None for a folder.

    As a path an address has lost one of its two slashes. Raises OptionError for one of no use.
    """
    found = _ADDRESS.fullmatch(str(folder))
    if found is None:
        return None
    address = f"{found[1].lower()}://{found[2].rstrip('/')}"
    parts = urlsplit(address)
    if not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise OptionError(
            f"--ledger {parts.scheme}://{parts.hostname or ''}: give the address of a store as "
            f"http://HOST:PORT or http://HOST:PORT/DATASET; a password goes into {_AUTH}."
        )
    return address


@dataclass
class Server:
    """A store behind `ADDRESS/query` and `ADDRESS/update`.

    `sleep` stands for the clock.
    """

    address: str
    sleep: Any = time.sleep
    _asking: Fetch = field(init=False, repr=False)
    _telling: Fetch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own: dict[str, Any] = {
            "per_second": _FASTEST,
            "headers": _authorization(),
            "largest": integer("ledgerBytes"),
            "seconds": integer("ledgerSeconds"),
            "sleep": self.sleep,
        }
        self._asking = Fetch(f"{self.address}/query", **own)
        self._telling = Fetch(f"{self.address}/update", **own)

    def graphs(self) -> dict[str, int]:
        """Return the named graphs of the ledger, each with the number of its statements."""
        rows = self._select(
            "SELECT ?graph (COUNT(*) AS ?n) WHERE { GRAPH ?graph { ?s ?p ?o . } "
            'FILTER (STRSTARTS(STR(?graph), "urn:kgreason:") '
            f'&& !STRSTARTS(STR(?graph), "{_BLOB}") '
            "&& ?graph != <urn:kgreason:writers>) } GROUP BY ?graph"
        )
        return {row["graph"]: int(row["n"]) for row in rows if "graph" in row}

    def lines(self, graph: ox.NamedNode) -> Lines:
        """Return what a named graph holds; raises LedgerError where it does not come whole."""
        text = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH {graph} {{ ?s ?p ?o . }} }}"
        for _ in range(_TRIES):
            counted = self._count(graph)
            body = self._ask(text, _TRIPLES)
            try:
                triples = list(ox.parse(body, format=ox.RdfFormat.N_TRIPLES))
            except (SyntaxError, ValueError) as error:
                raise LedgerError(
                    f"{self.address}: what it answered is no N-Triples, or was cut off."
                ) from error
            found = frozenset(str(quad.triple) for quad in triples)
            if len(found) == counted == self._count(graph):
                return found
        raise LedgerError(
            f"{self.address} counts {counted} statements in {graph.value} and gives {len(found)}; "
            "its answers are cut, or it is written to all the time."
        )

    def write(self, changes: Sequence[Change], numbers: Iterable[int] = ()) -> None:
        """Write some changes in one request; `numbers` are those that are taken with it.

        Raises RaceLost where somebody else was first; LedgerError where the server cannot be
        written to. Nothing is written then, unless the server said nothing after it wrote; who
        goes on finds that out by reading.
        """
        writer = ox.NamedNode(f"urn:kgreason:writer:{uuid4().hex}")
        self._claim(writer, changes)
        try:
            self._update(_request(writer, changes, numbers))
            self._check(changes)
        except BaseException:
            self._withdraw(writer)
            raise

    def insert(self, graph: ox.NamedNode, lines: Iterable[str]) -> None:
        """Add statements that nobody else would write otherwise."""
        said = " .\n".join(lines)
        self._update(f"INSERT DATA {{ GRAPH {graph} {{\n{said} .\n}} }}")

    def texts(self, graph: ox.NamedNode) -> list[tuple[str, str]]:
        """Return the pieces of a text with their places, in no order."""
        rows = self._select(
            f"SELECT ?place ?text WHERE {{ GRAPH {graph} {{ ?s ?place ?text . }} }}"
        )
        return [(row["place"], row["text"]) for row in rows]

    def _claim(self, writer: ox.NamedNode, changes: Sequence[Change]) -> None:
        graphs = [change.graph for change in changes]
        until = time.monotonic() + 2 * _CLAIM
        pause = 0.01
        while True:
            self._update(
                f"INSERT {{ {_WRITERS} {{ {writer} <urn:kgreason:since> ?now ; "
                f"<urn:kgreason:writing> {' , '.join(map(str, graphs))} . }} }} "
                "WHERE { BIND (NOW() AS ?now) }"
            )
            others = self._others(writer, graphs)
            if not others:
                return
            self._withdraw(writer)
            for other, age in others.items():
                if age > _CLAIM:
                    self._withdraw(ox.NamedNode(other))
            if time.monotonic() > until:
                raise LedgerError(
                    f"{self.address}: others write to this ledger all the time; try again later."
                )
            self.sleep(random.uniform(0, pause))  # noqa: S311 - so that two do not meet again
            pause = min(1.0, pause * 2)

    def _others(self, writer: ox.NamedNode, graphs: Sequence[ox.NamedNode]) -> dict[str, float]:
        """Return who else writes to some graphs, and how many seconds ago each has said so."""
        rows = self._select(
            f"SELECT DISTINCT ?writer ?since (NOW() AS ?now) WHERE {{ VALUES ?graph {{ "
            f"{' '.join(map(str, graphs))} }} {_WRITERS} {{ "
            "?writer <urn:kgreason:writing> ?graph ; <urn:kgreason:since> ?since . } }"
        )
        ages = {row["writer"]: _seconds(row["since"], row["now"]) for row in rows}
        if writer.value not in ages:
            raise LedgerError(f"{self.address} has not kept what it was told; it is not written.")
        return {name: age for name, age in ages.items() if name != writer.value}

    def _withdraw(self, writer: ox.NamedNode) -> None:
        try:
            self._update(f"DELETE WHERE {{ {_WRITERS} {{ {writer} ?said ?value . }} }}")
        except LedgerError:
            return  # it counts for half a minute, and no longer

    def _check(self, changes: Sequence[Change]) -> None:
        """See that the changes are there; raises RaceLost where they are not."""
        for change in changes:
            heads = self._heads(change.graph)
            if len(heads) > 1:
                raise LedgerError(
                    f"{self.address}: {change.graph.value} has two last steps "
                    f"({', '.join(sorted(heads))}); two have written to it at once, and the audit "
                    "will not find it sound."
                )
            sure = _sure(change)
            there = f"ASK {{ GRAPH {change.graph} {{ {sure} . }} }}"
            if sure and not self._truth(there):
                raise RaceLost(
                    f"{self.address}: somebody else has written to {change.graph.value} meanwhile; "
                    "nothing was written. Try again."
                )

    def has_moved(self, change: Change) -> bool:
        """Check whether a graph that was to be changed is not as it was."""
        heads = self._heads(change.graph)
        if change.new:
            return self._count(change.graph) > 0
        return bool(change.head) and heads != {change.head: change.hash}

    def has(self, node: ox.NamedNode, name: str) -> bool:
        """Check whether a node has a property, in the named graph of its name."""
        return self._truth(f"ASK {{ GRAPH {node} {{ {node} <{name}> ?value . }} }}")

    def _heads(self, graph: ox.NamedNode) -> dict[str, str]:
        """Return the last steps of an investigation with their seals: one, where all is well."""
        rows = self._select(
            f"SELECT ?head ?hash WHERE {{ GRAPH {graph} {{ {graph} {_HEAD} ?head . "
            f"?head {_HASH} ?hash . }} }}"
        )
        return {row["head"]: row["hash"] for row in rows}

    def _count(self, graph: ox.NamedNode) -> int:
        rows = self._select(f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH {graph} {{ ?s ?p ?o . }} }}")
        return int(rows[0]["n"])

    def _truth(self, query: str) -> bool:
        found = self._parsed(self._ask(query, _JSON))
        if not isinstance(found, ox.QueryBoolean):
            raise LedgerError(f"{self.address} answered an ASK with something else.")
        return bool(found)

    def _select(self, query: str) -> list[dict[str, str]]:
        found = self._parsed(self._ask(query, _JSON))
        if not isinstance(found, ox.QuerySolutions):
            raise LedgerError(f"{self.address} answered a SELECT with something else.")
        names = [variable.value for variable in found.variables]
        try:
            return [_row(names, solution) for solution in found]
        except (SyntaxError, ValueError, RuntimeError) as error:
            raise LedgerError(f"{self.address}: its answer was cut off.") from error

    def _parsed(self, body: bytes) -> Any:
        try:
            return ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
        except (SyntaxError, ValueError) as error:
            raise LedgerError(
                f"{self.address}: its answer is no SPARQL result; is it a SPARQL 1.1 store with "
                f"{self.address}/query and {self.address}/update?"
            ) from error

    def _ask(self, query: str, accept: str) -> bytes:
        try:
            return self._asking.send(query, "application/sparql-query", accept).body
        except SourceError as error:
            raise LedgerError(f"The ledger {self.address} cannot be read: {error}") from error

    def _update(self, text: str) -> None:
        try:
            self._telling.send(text, "application/sparql-update")
        except SourceError as error:
            raise LedgerError(f"The ledger {self.address} cannot be written: {error}") from error


def _request(writer: ox.NamedNode, changes: Sequence[Change], numbers: Iterable[int]) -> str:
    """Return the update that makes all changes where each graph is as it was, else none."""
    gone = [_within(change.graph, change.gone) for change in changes if change.gone]
    come = [_within(change.graph, change.come) for change in changes if change.come]
    own = f"{_WRITERS} {{ {writer} <urn:kgreason:since> ?since . }}"
    said = [f"{writer} <urn:kgreason:writing> {change.graph}" for change in changes]
    claim = f"{_WRITERS} {{ {' . '.join([f'{writer} <urn:kgreason:since> ?since', *said])} . }}"
    guards = [guard for change in changes for guard in _guards(change)]
    guards += [
        f"FILTER NOT EXISTS {{ GRAPH {_ABOUT} {{ ?other {_NUMBER} {number} . }} }}"
        for number in numbers
    ]
    return "\n".join(
        ["DELETE {", *gone, claim, "}\nINSERT {", *come, "}\nWHERE {", own, *guards, "}"]
    )


def _sure(change: Change) -> str:
    """Return a line of a change that no later step takes away, its seal where it is a step."""
    lasting = [
        (str(_HASH) not in line, line)
        for line in change.come
        if f" {_HASH} " in line or not any(f" {name} " in line for name in REPLACED)
    ]
    return min(lasting)[1] if lasting else ""


def _within(graph: ox.NamedNode, lines: Lines) -> str:
    said = " .\n".join(sorted(lines))
    return f"GRAPH {graph} {{\n{said} .\n}}"


def _guards(change: Change) -> Iterator[str]:
    """Return what has to hold of a graph so that it may be written to."""
    graph = change.graph
    if change.new:
        yield f"FILTER NOT EXISTS {{ GRAPH {graph} {{ ?any ?said ?value . }} }}"
    elif change.head:
        head = f"<{change.head}>"
        yield (
            f"FILTER EXISTS {{ GRAPH {graph} {{ {graph} {_HEAD} {head} . "
            f'{head} {_HASH} "{change.hash}" . }} }}'
        )


def _authorization() -> Mapping[str, str]:
    said = os.environ.get(_AUTH)
    if not said:
        return {}
    if said.isprintable() and _TOKEN.fullmatch(said):
        return {"Authorization": said}
    if ":" not in said or not said.isprintable():
        raise OptionError(f"{_AUTH} has to be USER:PASSWORD or Bearer TOKEN, in one line.")
    return {"Authorization": "Basic " + base64.b64encode(said.encode()).decode()}


def _row(names: Sequence[str], solution: Any) -> dict[str, str]:
    return {n: term.value for n, term in zip(names, solution, strict=True) if term is not None}


def _seconds(since: str, now: str) -> float:
    begun, current = (datetime.fromisoformat(one) for one in (since, now))
    return (current - begun).total_seconds()
