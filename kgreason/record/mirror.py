"""A ledger on a server as this process sees it: a copy in memory, of which each change is written.

Steps are made, checked and sealed on the copy, as in a folder. What an update has changed there is
sent to the server as one request. Where the server refuses it, because somebody else was first, the
copy becomes what the server has, and the step is not written.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError
from kgreason.base.store import Store
from kgreason.base.terms import TRAILS
from kgreason.record.blobs import Blobs
from kgreason.record.closing import later
from kgreason.record.remote import Change, Lines, RaceLost, Server
from kgreason.record.seal import REPLACED

_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_IRI: Final = re.compile(r"<(urn:kgreason:[^<>\s]*)>")
_NUMBER: Final = re.compile(rf'(.*{re.escape(str(TRAILS.number))} )"(\d+)"(.*)')
_NOTHING: Final[Lines] = frozenset()
_REPLACEABLE: Final = REPLACED | later().keys()
_LATER: Final = frozenset(map(str, _REPLACEABLE))
_PIECE: Final = 400_000  # characters
_WHOLE: Final = "urn:kgreason:whole"
_PLACE: Final = "urn:kgreason:piece:"
_TRIES: Final = 5
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Mirror(Store):
    """A copy of all that a ledger on a server holds."""

    def __init__(self, server: Server) -> None:
        super().__init__(ox.Store(), f"the ledger {server.address}")
        self.server = server
        self._known: dict[str, set[str]] = {}
        self._later: dict[str, set[str]] = {}
        self._states: dict[str, tuple[str, str]] = defaultdict(lambda: ("", ""))
        for name in server.graphs():
            graph = ox.NamedNode(name)
            self._put(graph, server.lines(graph))
            self._note(graph, self._lines(graph))

    def update(
        self, text: str, functions: Mapping[ox.NamedNode, Callable[..., Any]] | None = None
    ) -> None:
        """Run a SPARQL UPDATE on the copy, and write at the server what it has changed.

        Raises RunError where the copy refuses it, RaceLost where somebody else was first, and
        LedgerError where the server cannot be written to; the copy is then as the server is.
        """
        with self._updates:
            named = {_ABOUT.value, *_IRI.findall(text)}
            super().update(text, functions)
            there = {
                one.value for one in self.inner.named_graphs() if isinstance(one, ox.NamedNode)
            }
            changes = []
            for name in sorted(named & (there | set(self._known))):
                graph, known = ox.NamedNode(name), bool(self._known.get(name))
                gone, come = self._changed(graph, a_step=functions is not None)
                if gone or come:
                    new = not known and graph != _ABOUT
                    changes.append(Change(graph, gone, come, *self._states[name], new=new))
            if changes:
                self._send(changes)
                for change in changes:
                    self._noted(change)

    def _changed(self, graph: ox.NamedNode, *, a_step: bool) -> tuple[Lines, Lines]:
        """Return the lines that an update has taken out of a graph, and those that it has added."""
        known = self._known.get(graph.value, set())
        found = self._changed_by_step(graph, known) if a_step and known else None
        if found is None:
            lines = self._lines(graph)
            found = frozenset(known - lines), frozenset(lines - known)
        return found

    def _changed_by_step(self, graph: ox.NamedNode, known: set[str]) -> tuple[Lines, Lines] | None:
        """Return what a step has changed, without a look at all that earlier steps have written.

        A step takes nothing away but values of a few properties (`closing.stray` refuses any
        other), so these are compared; and what it has added comes first in the copy. None where the
        graph does not have as many statements then.
        """
        come = set()
        for quad in self.quads(graph):
            line = str(quad.triple)
            if line in known:
                break
            come.add(line)
        now = self._replaceable(graph)
        before = self._later[graph.value]
        gone = before - now
        come |= now - before
        if len(known) - len(gone) + len(come) != self._size(graph):
            return None
        return frozenset(gone), frozenset(come)

    def _replaceable(self, graph: ox.NamedNode) -> set[str]:
        """Return the lines of a graph that a later step may take away or add to."""
        return {
            str(quad.triple)
            for predicate in _REPLACEABLE
            for quad in self.inner.quads_for_pattern(None, predicate, None, graph)
        }

    def _size(self, graph: ox.NamedNode) -> int:
        found = self.scalar(f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH {graph} {{ ?s ?p ?o . }} }}")
        return int(found or 0)

    def _noted(self, change: Change) -> None:
        """Keep in mind that the server has a change now, as it was written."""
        name = change.graph.value
        if change.graph == _ABOUT or name not in self._known:
            # A number may have become another one on the way.
            self._note(change.graph, self._lines(change.graph))
            return
        known, later_ = self._known[name], self._later[name]
        known -= change.gone
        known |= change.come
        later_ -= change.gone
        later_ |= {line for line in change.come if line.split(" ", 2)[1] in _LATER}
        self._states[name] = self._state(change.graph)

    def _send(self, changes: list[Change]) -> None:
        """Write changes at the server; where that fails the copy becomes as it was before them."""
        try:
            self._write(changes)
        except BaseException:
            for change in changes:
                self._put(change.graph, self._known.get(change.graph.value, _NOTHING))
            raise

    def _write(self, changes: list[Change]) -> None:
        """Write changes; a number that somebody else has taken meanwhile becomes the next one."""
        for _ in range(_TRIES):
            try:
                self.server.write(changes, [n for one in changes for n in _numbers(one)])
            except RaceLost:
                for one in changes:
                    if one.graph != _ABOUT and self.server.has_moved(one):
                        raise
                changes = [self._renumbered(one) for one in changes]
            else:
                return
        raise LedgerError(f"{self.where}: others write to it all the time; try again later.")

    def _renumbered(self, change: Change) -> Change:
        """Return a change with the next number that is free at the server, here and there."""
        if change.graph != _ABOUT:
            return change
        there = self.server.lines(_ABOUT)
        most = max((int(found[2]) for line in there if (found := _NUMBER.match(line))), default=0)
        come = set()
        for line in sorted(change.come - there):
            found = _NUMBER.match(line)
            most += found is not None
            come.add(line if found is None else f'{found[1]}"{most}"{found[3]}')
        self._put(_ABOUT, (there - change.gone) | come)
        self._known[_ABOUT.value] = set(there)
        return replace(change, come=frozenset(come))

    def _note(self, graph: ox.NamedNode, lines: Lines) -> None:
        """Keep in mind what the server holds now: the lines of a graph, and its last step."""
        self._known[graph.value] = set(lines)
        self._later[graph.value] = {line for line in lines if line.split(" ", 2)[1] in _LATER}
        self._states[graph.value] = self._state(graph)

    def _put(self, graph: ox.NamedNode, lines: Iterable[str]) -> None:
        self.inner.remove_graph(graph)
        text = "".join(f"{line} .\n" for line in sorted(lines))
        if text:
            self.inner.load(text.encode(), format=ox.RdfFormat.N_TRIPLES, to_graph=graph)

    def _lines(self, graph: ox.NamedNode) -> Lines:
        return frozenset(str(quad.triple) for quad in self.quads(graph))

    def _state(self, graph: ox.NamedNode) -> tuple[str, str]:
        """Return the last step of an investigation and its seal, nothing of another graph."""
        for head in self.values(graph, TRAILS.head, graph):
            for seal in self.values(head, TRAILS.hash, graph):
                return head.value, seal.value
        return "", ""


class ServerBlobs(Blobs):
    """The blobs of a ledger on a server: each a named graph with the pieces of its text."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server

    def put(self, text: str) -> str:
        """Keep a text, and return its digest; raises LedgerError where it cannot be written."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        if not self.has(digest):
            graph = _graph(digest)
            pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
            for number, piece in enumerate(pieces):
                line = f"{graph} <{_PLACE}{number:09d}> {ox.Literal(piece)}"
                self._server.insert(graph, [line])
            self._server.insert(graph, [f'{graph} <{_WHOLE}> "{len(pieces)}"'])
        self._kept[digest] = text
        return digest

    def has(self, digest: str) -> bool:
        """Check whether a text is there, with all its pieces."""
        if digest in self._kept:
            return True
        return bool(_DIGEST.fullmatch(digest)) and self._server.has(_graph(digest), _WHOLE)

    def get(self, digest: str) -> str:
        """Return a text by its digest; raises LedgerError where it is gone or was changed."""
        if digest not in self._kept:
            if not _DIGEST.fullmatch(digest):
                raise LedgerError(f"{digest!r} is no digest of a blob.")
            found = dict(self._server.texts(_graph(digest)))
            text = "".join(found[place] for place in sorted(found) if place.startswith(_PLACE))
            if hashlib.sha256(text.encode()).hexdigest() != digest:
                why = "the text was changed; its digest is another one" if found else "it is gone"
                raise LedgerError(f"The text {digest} of {self._server.address}: {why}.")
            self._kept[digest] = text
        return self._kept[digest]


def _graph(digest: str) -> ox.NamedNode:
    return ox.NamedNode(f"urn:kgreason:blob:{digest}")


def _numbers(change: Change) -> Iterable[int]:
    """Return the numbers of investigations that a change takes."""
    if change.graph == _ABOUT:
        for line in change.come:
            found = _NUMBER.match(line)
            if found is not None:
                yield int(found[2])
