"""The nodes of a pattern in a store on this machine: looked at once, row by row.

A page of an endpoint is one more look at all nodes. Here nothing is sent, so one look gives the
number of nodes and a sample of them. What is kept of a look does not grow with the graph, but for
eight bytes a node, by which nodes are counted once that a pattern has several times.
"""

from array import array
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.endpoint.asking_endpoint import AskingEndpoint
from kgreason.endpoint.local_store import PAGE, AskingStore
from kgreason.endpoint.paging import ROLE, Besides, Listed, Nodes, Pages, digest

_KEPT: Final = PAGE
_LOOKS: Final = 4
_PARTS: Final = 16
_LONG: Final = 16  # figures of a digest that tell nodes apart: two of 10^8 are hardly ever alike
_SPARE: Final = 1.25  # times as many as are likely to be enough
_MORE: Final = 4


def pages_of(asking: AskingEndpoint, seed: int) -> Pages:
    """Return what asks an endpoint, or a store on this machine, for the nodes of patterns."""
    return Streamed(asking, seed) if isinstance(asking, AskingStore) else Pages(asking, seed)


class _Distinct:
    """Counts nodes, each once, by the beginnings of their digests."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(_PARTS)]

    def add(self, seal: str) -> None:
        number = int(seal[:_LONG], _PARTS)
        self._parts[number % _PARTS].append(number)

    def count(self) -> int:
        """Return the number of nodes; a part at a time, since a set takes ten times the room."""
        return sum(len(set(part)) for part in self._parts)


@dataclass(frozen=True)
class _Look:
    """What one look at a pattern gave.

    `everyone` are all nodes, `total` those with an IRI; `nodes` has the IRIs by their digests, in
    the order of these, `kept` of them at most.
    """

    everyone: int
    total: int
    nodes: dict[str, str]
    kept: int

    @property
    def end(self) -> str | None:
        """The digest up to which all nodes are known; None where all are known."""
        return None if len(self.nodes) == self.total else next(reversed(self.nodes), "")


class Streamed(Pages):
    """Asks a store on this machine."""

    def __init__(self, asking: AskingStore, seed: int) -> None:
        super().__init__(asking, seed)
        self._store = asking
        self._looks: dict[str, _Look] = {}
        self._sizes: dict[str, tuple[int, int]] = {}

    def population(self, target: Fragment) -> int:
        """Return the number of nodes of a target, with those that have no IRI."""
        return self._size_of(target)[0]

    def total(self, nodes: Nodes) -> int:
        """Return the number of nodes that have an IRI."""
        return self._size_of(nodes.pattern)[1]

    def sample(self, nodes: Nodes, most: int, *, besides: Besides | None = None) -> Listed:
        """Return `most` nodes at most, those of the smallest digests.

        With `besides`, those that are of another pattern are left out. Where too few are left of
        what was kept of a look, it is looked again, and more is kept. Raises Inconsistent where
        more is to be left out than there is.
        """
        everyone = self.total(nodes)
        total = everyone - (besides.total if besides else 0)
        wanted = min(most, total)
        kept = max(_KEPT, round(_SPARE * wanted * everyone / max(1, total)))
        while True:
            found, whole = self._known(nodes.pattern, besides, kept)
            if len(found) >= wanted or whole:
                break
            kept *= _MORE
        if len(found) < wanted or (whole and len(found) != total):
            raise self._changed(len(found), total)
        return Listed(total, tuple(found[:wanted]))

    def _known(
        self, pattern: Fragment, besides: Besides | None, kept: int
    ) -> tuple[list[str], bool]:
        """Return the nodes that are known to be no other's by digest, and whether that is all."""
        look = self._looked(pattern, kept)
        out: AbstractSet[str] = frozenset()
        ends = [look.end]
        if besides is not None and besides.known.whole:
            out = frozenset(besides.known.nodes)
        elif besides is not None:
            other = self._looked(besides.nodes.pattern, kept)
            out = frozenset(other.nodes.values())
            ends.append(other.end)
        end = min((one for one in ends if one is not None), default=None)
        known = (n for seal, n in look.nodes.items() if end is None or seal <= end)
        return [node for node in known if node not in out], end is None

    def _size_of(self, pattern: Fragment) -> tuple[int, int]:
        if pattern.text not in self._sizes:
            self._looked(pattern, _KEPT)
        return self._sizes[pattern.text]

    def _looked(self, pattern: Fragment, kept: int) -> _Look:
        """Look at all nodes of a pattern, where the last looks have not kept as many."""
        known = self._looks.pop(pattern.text, None)
        if known is None or (known.kept < kept and known.end is not None):
            known = self._look(pattern, kept)
            self._sizes[pattern.text] = known.everyone, known.total
        self._looks[pattern.text] = known
        for oldest in list(self._looks)[:-_LOOKS]:
            del self._looks[oldest]
        return known

    def _look(self, pattern: Fragment, kept: int) -> _Look:
        named, others = _Distinct(), _Distinct()
        nodes: dict[str, str] = {}
        end: str | None = None
        query = template(ROLE, "every-node").render(pattern=pattern)
        for node in self._store.each(query):
            if not isinstance(node, ox.NamedNode):
                others.add(digest(self.seed, str(node)))
                continue
            iri = node.value
            seal = digest(self.seed, iri)
            named.add(seal)
            if end is None or seal < end:
                nodes[seal] = iri
                if len(nodes) > 2 * kept:
                    nodes = _first(nodes, kept)
                    end = next(reversed(nodes))
        total = named.count()
        return _Look(total + others.count(), total, _first(nodes, kept), kept)


def _first(nodes: dict[str, str], number: int) -> dict[str, str]:
    """Return the nodes of the smallest digests, in their order."""
    return {seal: nodes[seal] for seal in islice(sorted(nodes), number)}
