"""What steps lead to, read from the index of the store once for all populations of a graph.

A file of `queries/path/` whose header has `triple` says that its step is one triple, `along` the
property or `against` it. To read all triples of a property from the index takes a fraction of the
time that a join takes, as long as most of them are wanted; else those of each node are read. Which
properties a node has is read once, whichever path and population it is reached by: a query would go
along the whole path again from every focus node.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Template
from kgreason.graph import Graph
from kgreason.hypothesize.conditions.ends import is_code
from kgreason.hypothesize.conditions.paths import Step

Pairs = Mapping[Term, list[Term]]
Counted = tuple[Term, int, int]
"""A step, how many pairs it has, and from how many nodes."""
_Said = frozenset[tuple[ox.NamedNode, int]]
_WASTE: Final = 4  # so many times what is wanted may be read
_FEW: Final = 2_000  # triples, which cost next to nothing
_CROWD: Final = 8  # triples for each node that is looked at
_MOST: Final = 1_000_000  # triples that are kept at a time


@dataclass
class Links:
    """The pairs of each step that was read, and the answers about steps from a set of nodes.

    A set of nodes is known by their number and a hash of 64 bits. `occurs` says which kinds of step
    there are in the graph at all.
    """

    graph: Graph
    steps: dict[tuple[str, int, int], Sequence[Counted]] = field(default_factory=dict, repr=False)
    occurs: dict[str, bool] = field(default_factory=dict, repr=False)
    _pairs: dict[tuple[Term, bool], Pairs] = field(default_factory=dict, repr=False)
    _larger: dict[tuple[Term, bool], int] = field(default_factory=dict, repr=False)
    _crowds: dict[Term, dict[Term, int]] = field(default_factory=dict, repr=False)
    _kept: int = 0
    _said: dict[tuple[Term, bool], _Said] = field(default_factory=dict, repr=False)
    _alike: dict[_Said, _Said] = field(default_factory=dict, repr=False)
    _named: dict[str, dict[ox.NamedNode, bool]] = field(default_factory=dict, repr=False)

    def ways(self, kind: Template, nodes: Collection[Term]) -> list[Counted]:
        """Return the steps of a kind, each one triple, that can be taken from some nodes.

        Its section `named` says which properties it may go along.
        """
        against = kind.header["triple"] == "against"
        # Many nodes have the same properties, as often; so their number is small.
        held = Counter(self._said_of(node, against=against) for node in nodes)
        pairs, reached = Counter[ox.NamedNode](), Counter[ox.NamedNode]()
        for said, many in held.items():
            for property_, times in said:
                pairs[property_] += times * many
                reached[property_] += many
        allowed = self._allowed(kind, pairs)
        return [(p, pairs[p], reached[p]) for p in sorted(pairs, key=str) if allowed[p]]

    def _said_of(self, node: Term, *, against: bool) -> _Said:
        """Return the properties that a node has, or that point at it, and how often each does."""
        found = self._said.get((node, against))
        if found is None:
            here = None if against or isinstance(node, ox.Literal) else node
            quads = self.graph.store.inner.quads_for_pattern(
                here, None, node if against else None, ox.DefaultGraph()
            )
            said = frozenset(Counter(quad.predicate for quad in quads).items())
            found = self._alike.setdefault(said, said)
            if len(self._said) >= _MOST:
                self._said.clear()
            self._said[node, against] = found
        return found

    def _allowed(
        self, kind: Template, properties: Iterable[ox.NamedNode]
    ) -> Mapping[ox.NamedNode, bool]:
        """Return of properties, by name, whether a kind of step may go along them."""
        known = self._named.setdefault(kind.name, {})
        new = [each for each in properties if each not in known]
        if new:
            text = kind.render("named", properties=list(new))
            found = set(self.graph.store.column(text))
            known.update((each, each in found) for each in new)
        return known

    def each(self, step: Step, nodes: Iterable[Term]) -> list[tuple[Term, Term]]:
        """Return where a step that is one triple leads to from each of some nodes."""
        inner, along = self.graph.store.inner, step.along
        merged, out = ox.DefaultGraph(), list[tuple[Term, Term]]()
        against = step.template.header["triple"] == "against"
        for node in nodes:
            if isinstance(node, ox.Literal):
                continue
            if against:
                found = inner.quads_for_pattern(None, along, node, merged)
                out += [(node, q.subject) for q in found if not isinstance(q.subject, ox.Triple)]
            else:
                found = inner.quads_for_pattern(node, along, None, merged)
                out += [(node, q.object) for q in found if not isinstance(q.object, ox.Triple)]
        return out

    def crowds(self, step: Step, ends: Iterable[Term], nodes: int) -> Mapping[Term, int]:
        """Return how many things a step along a property leads from, by what it leads to.

        Of literals only texts of one word are asked of, which may be codes; nothing is given where
        far more lead there than the number of `nodes` that are looked at.
        """
        if step.template.header.get("triple") != "along":
            return {}
        inner, merged, left = self.graph.store.inner, ox.DefaultGraph(), _FEW + _CROWD * nodes
        known = self._crowds.setdefault(step.along, {})
        for end in ends:
            if isinstance(end, ox.Literal) and not is_code(end):
                continue
            if end not in known:
                found = inner.quads_for_pattern(None, step.along, end, merged)
                known[end] = sum(1 for _ in found)
            left -= known[end]
            if left < 0:
                return {}
        return known

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
