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
from kgreason.record.remote import Change, Lines, RaceLost, Server

_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_IRI: Final = re.compile(r"<(urn:kgreason:[^<>\s]*)>")
_NUMBER: Final = re.compile(rf'(.*{re.escape(str(TRAILS.number))} )"(\d+)"(.*)')
_NOTHING: Final[Lines] = frozenset()
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
        self._known: dict[str, Lines] = {}
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
            changes, after = [], dict(self._known)
            for name in sorted(named & (there | set(self._known))):
                graph, known = ox.NamedNode(name), self._known.get(name, _NOTHING)
                after[name] = self._lines(graph)
                if after[name] != known:
                    gone, come = known - after[name], after[name] - known
                    new = not known and graph != _ABOUT
                    changes.append(Change(graph, gone, come, *self._states[name], new=new))
            if changes:
                self._send(changes)
                for graph in (change.graph for change in changes):
                    # A number may have become another one on the way.
                    lines = self._lines(graph) if graph == _ABOUT else after[graph.value]
                    self._note(graph, lines)

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
        self._known[_ABOUT.value] = there
        return replace(change, come=frozenset(come))

    def _note(self, graph: ox.NamedNode, lines: Lines) -> None:
        """Keep in mind what the server holds now: the lines of a graph, and its last step."""
        self._known[graph.value] = lines
        self._states[graph.value] = self._state(graph)

    def _put(self, graph: ox.NamedNode, lines: Lines) -> None:
        self.inner.remove_graph(graph)
        if lines:
            text = "".join(f"{line} .\n" for line in sorted(lines))
            self.inner.load(text.encode(), format=ox.RdfFormat.N_TRIPLES, to_graph=graph)

    def _lines(self, graph: ox.NamedNode) -> Lines:
        text = self.inner.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=graph) or b""
        return frozenset(line.removesuffix(" .") for line in text.decode().split("\n") if line)

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
