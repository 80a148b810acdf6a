"""What lies up to three steps away from the nodes of a class, along every path of a graph."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import TYPE, WORK
from kgreason.graph.graph import plain
from kgreason.inject.conditions import ORIGINS
from kgreason.inject.fault import Table

LONGEST: Final = 3
_MANY: Final = 20_000
_FEW: Final = 2

Places = Mapping[Term, frozenset[int]]
"""The ends of a path, each with the places of the nodes that reach it."""


@dataclass(frozen=True)
class Reached:
    """The ends of one path: `steps` are predicates, `^` before one that is taken backwards.

    `ways` says through how many things of the step before an end is reached.
    """

    steps: tuple[str, ...]
    ends: Places = field(repr=False)
    ways: Mapping[Term, int] = field(repr=False)
    origin: bool

    @property
    def path(self) -> str:
        """The path in SPARQL."""
        return "/".join(self.steps)

    @property
    def kind(self) -> str:
        """The kind of cause that one of its ends would be."""
        return "source" if self.origin else "cohort"

    def condition(self, variable: str) -> str:
        """Return the graph pattern that binds the end of each focus node, in any named graphs."""
        last = len(self.steps)
        names = ["?focus", *(f"{variable}{n}" for n in range(1, last)), variable]
        parts = []
        for number, step in enumerate(self.steps):
            one, other = names[number], names[number + 1]
            said = f"{one} {step} {other}"
            if step.startswith("^"):
                said = f"{other} {step[1:]} {one}"
            parts.append(f"GRAPH {variable}g{number} {{ {said} . }}")
        return " ".join(parts)


def reached(
    store: ox.Store, table: Table, barred: ox.NamedNode, longest: int = LONGEST
) -> Iterator[Reached]:
    """Return every path of up to `longest` steps from the nodes of a table, the shortest first.

    The first step may be taken backwards. Paths that begin with the `barred` predicate, lead over
    classes or back to the nodes themselves are left out.
    """
    known = _Described(store)
    todo = [*_own(table, barred), *_pointing(store, table, barred)]
    for length in range(1, longest + 1):
        further: list[Reached] = []
        for found in todo:
            yield found
            if length < longest:
                further += _onwards(found, known, table)
        todo = further


def _own(table: Table, barred: ox.NamedNode) -> Iterator[Reached]:
    for name in sorted(table.values, key=lambda p: p.value):
        if name in {TYPE, barred}:
            continue
        ends: dict[Term, set[int]] = defaultdict(set)
        for place, values in table.values[name].items():
            for value, _ in values:
                ends[value].add(place)
        yield _made((str(name),), ends, dict.fromkeys(ends, 1), origin=name in ORIGINS)


def _pointing(store: ox.Store, table: Table, barred: ox.NamedNode) -> Iterator[Reached]:
    back: dict[ox.NamedNode, dict[Term, set[int]]] = defaultdict(lambda: defaultdict(set))
    for place, node in enumerate(table.nodes):
        for quad in store.quads_for_pattern(None, None, node, None):
            if quad.graph_name not in WORK and isinstance(quad.subject, ox.NamedNode):
                back[quad.predicate][quad.subject].add(place)
    for name in sorted(back, key=lambda p: p.value):
        if name != barred:
            ends = back[name]
            yield _made((f"^{name}",), ends, dict.fromkeys(ends, 1), origin=False)


def _made(
    steps: tuple[str, ...], ends: Mapping[Term, set[int]], ways: Mapping[Term, int], *, origin: bool
) -> Reached:
    fixed = {end: frozenset(ends[end]) for end in sorted(ends, key=str)}
    return Reached(steps, fixed, ways, origin)


@dataclass
class _Described:
    """What is said of things, each looked up once."""

    store: ox.Store
    known: dict[Term, list[tuple[ox.NamedNode, Term]]] = field(default_factory=dict)

    def __call__(self, thing: Term) -> Iterable[tuple[ox.NamedNode, Term]]:
        if isinstance(thing, ox.Literal | ox.Triple):
            return ()
        if thing not in self.known:
            said = {
                (q.predicate, plain(q.object))
                for q in self.store.quads_for_pattern(thing, None, None, None)
                if q.graph_name not in WORK
            }
            self.known[thing] = sorted(said, key=str)
        return self.known[thing]


def _onwards(found: Reached, known: _Described, table: Table) -> Iterator[Reached]:
    things = [end for end in found.ends if not isinstance(end, ox.Literal | ox.Triple)]
    if not _FEW <= len(things) <= _MANY:
        return
    ends: dict[ox.NamedNode, dict[Term, set[int]]] = defaultdict(lambda: defaultdict(set))
    ways: dict[ox.NamedNode, dict[Term, int]] = defaultdict(lambda: defaultdict(int))
    for thing in things:
        for name, value in known(thing):
            if name != TYPE and value not in table.index:
                ends[name][value] |= found.ends[thing]
                ways[name][value] += 1
    for name in sorted(ends, key=lambda p: p.value):
        steps = (*found.steps, str(name))
        origin = found.origin or name in ORIGINS
        yield _made(steps, ends[name], ways[name], origin=origin)
