"""The least of what could be added that mends: only what validation asks for, and no more of that.

Greedy, and no proof of a minimum: what the violated constraints read is added until none is left or
nothing helps; then each part is left out again that is not missed. A part is what one property says
of all things, or one class of them; the first phase goes by single things.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Template
from kgreason.base.terms import TYPE
from kgreason.graph import Graph
from kgreason.repair.patch import Change, Patch
from kgreason.repair.touched import reach
from kgreason.repair.validation import Effect, Violation, effect
from kgreason.shacl import Constraint

_ROUNDS: Final = 8

Place = tuple[Term, ox.NamedNode]
"""A thing and a property of it."""


def takes_least(made: Template) -> bool:
    """Check whether of a repair only the least that mends is made."""
    return made.header.get("takes") == "least"


def least(
    graph: Graph, own: Constraint, patch: Patch, nodes: Sequence[Term], *, seconds: float = 60.0
) -> Patch:
    """Return the part of a patch of additions that mends as much as all of it, as small as found.

    What mends is counted at `nodes` for `own`, and over every constraint for what is newly caused.
    """
    search = _Search(graph, own, patch, nodes, seconds)
    return search.pruned(search.grown())


class _Search:
    def __init__(
        self, graph: Graph, own: Constraint, patch: Patch, nodes: Sequence[Term], seconds: float
    ) -> None:
        self._graph, self._own, self._nodes, self._seconds = graph, own, nodes, seconds
        self._all = patch
        self._offered: dict[Place, list[Change]] = {}
        self._for: dict[Term, set[Term]] = {}
        for change in patch.changes:
            self._offered.setdefault(change.place, []).append(change)
            self._for.setdefault(change.focus, set()).add(change.subject)

    def grown(self) -> Patch:
        """Add what the violated constraints read, round by round; all, where that mends more."""
        taken: dict[Place, None] = {}
        done = self._effect(Patch(()))
        wrong = self._wrong(done)
        for _ in range(_ROUNDS):
            new = [place for place in self._asked(wrong, done) if place not in taken]
            if not new:
                break
            taken |= dict.fromkeys(new)
            done = self._effect(self._of(taken))
            wrong = self._wrong(done)
            if not wrong:
                break
        grown = self._of(taken)
        if wrong and len(self._wrong(self._effect(self._all))) < len(wrong):
            return self._all
        return grown

    def pruned(self, patch: Patch) -> Patch:
        """Leave out each part without which nothing more is wrong, the largest first."""
        wrong = len(self._wrong(self._effect(patch)))
        sizes = Counter(map(_part, patch.changes))
        for part, _ in sorted(sizes.items(), key=lambda item: (-item[1], str(item[0]))):
            less = Patch(tuple(c for c in patch.changes if _part(c) != part))
            if len(less) and len(self._wrong(self._effect(less))) <= wrong:
                patch = less
        return patch

    def _effect(self, patch: Patch) -> Effect:
        return effect(self._graph, self._own, patch, self._nodes, seconds=self._seconds)

    def _of(self, taken: Iterable[Place]) -> Patch:
        return Patch(tuple(change for place in taken for change in self._offered[place]))

    def _wrong(self, done: Effect) -> frozenset[Violation]:
        """Return what is left of the symptom at the nodes, and what is newly wrong anywhere."""
        here = set(self._nodes)
        mine = {v for v in done.after if v.key == self._own.key and v.focus in here}
        return frozenset(mine) | done.caused

    def _asked(self, wrong: Iterable[Violation], done: Effect) -> list[Place]:
        """Return what is offered of things that violations are about, and their constraint reads.

        That is the value, else the focus node, else the things offered for the focus node.
        """
        read = _reads([*done.known, self._own])
        out: dict[Place, None] = {}
        by_thing: dict[Term, list[Place]] = {}
        for place in self._offered:
            by_thing.setdefault(place[0], []).append(place)
        for violation in sorted(wrong, key=lambda v: v.line):
            about = {t for t in (violation.value, violation.focus) if t in by_thing}
            for thing in sorted(about or self._for.get(violation.focus, set()), key=str):
                reads = read.get(violation.key)
                for place in by_thing[thing]:
                    if reads is None or place[1] in reads:
                        out[place] = None
        return list(out)


def _part(change: Change) -> tuple[ox.NamedNode, Term | None]:
    return (change.predicate, change.value if change.predicate == TYPE else None)


def _reads(known: Iterable[Constraint]) -> Mapping[str, frozenset[ox.NamedNode] | None]:
    """Return what each constraint reads, by its key; None is everything."""
    return {one.key: reach(one).reads for one in known}
