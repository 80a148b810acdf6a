"""What steps lead to, read from the index of the store once for all populations of a graph.

A file of `queries/path/` whose header has `triple` says that its step is one triple, `along` the
property or `against` it. To read all triples of a property from the index takes a fraction of the
time that a join takes, as long as most of them are wanted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.graph import Graph
from kgreason.hypothesize.conditions.paths import Step

Pairs = Mapping[Term, list[Term]]
_WASTE: Final = 4  # so many times what is wanted may be read
_FEW: Final = 2_000  # triples, which cost next to nothing
_MOST: Final = 1_000_000  # triples that are kept at a time


@dataclass
class Links:
    """The pairs of each step that was read, and the answers about steps from a set of nodes.

    A set of nodes is known by their number and a hash of 64 bits. `occurs` says which kinds of step
    there are in the graph at all.
    """

    graph: Graph
    steps: dict[tuple[str, int, int], Sequence[Row]] = field(default_factory=dict, repr=False)
    occurs: dict[str, bool] = field(default_factory=dict, repr=False)
    _pairs: dict[tuple[Term, bool], Pairs] = field(default_factory=dict, repr=False)
    _larger: dict[tuple[Term, bool], int] = field(default_factory=dict, repr=False)
    _kept: int = 0

    def pairs(self, step: Step, wanted: int) -> Pairs | None:
        """Return where a step leads from each node; None where that is better asked for.

        `wanted` is the number of pairs that are looked for.
        """
        triple = step.template.header.get("triple")
        if triple is None:
            return None
        key = step.along, triple == "against"
        most = max(_FEW, _WASTE * wanted)
        if key not in self._pairs:
            if self._larger.get(key, 0) >= most or self._kept + most > _MOST:
                return None
            quads = self.graph.store.inner.quads_for_pattern(
                None, step.along, None, ox.DefaultGraph()
            )
            read = list(islice(quads, most + 1))
            if len(read) > most:
                self._larger[key] = most
                return None
            self._kept += len(read)
            self._pairs[key] = _joined(read, against=key[1])
        return self._pairs[key]


def _joined(quads: Iterable[ox.Quad], *, against: bool) -> Pairs:
    out: dict[Term, list[Term]] = {}
    for quad in quads:
        here, there = quad.subject, quad.object
        if isinstance(here, ox.Triple) or isinstance(there, ox.Triple):
            continue  # the loader lets none in
        start, end = (there, here) if against else (here, there)
        out.setdefault(start, []).append(end)
    return out
