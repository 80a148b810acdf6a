"""Conditions that are too many to be cut beforehand: the best of them among some nodes.

Bounds, windows, sets of a few ends and pieces of text. With a `limit` those that cost more bits are
not looked for.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import inf, log2
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.figures import integer
from kgreason.graph.marks import places
from kgreason.hypothesize.conditions.atlas import LEAST
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.cuts import Cut
from kgreason.hypothesize.conditions.how_many import MOST_OF_FEW
from kgreason.hypothesize.conditions.ordered import Counted, Counts
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.pool import Scored
from kgreason.hypothesize.conditions.scale import Scale

_SHORT: Final = integer("shortList")
_RATES: Final = (0.25, 0.5, 0.8, 0.97)  # that a window is tried for

Pays = Callable[[int, int, float], bool]
"""Whether a condition with so many failing nodes, of so many, may cost so many bits."""
Single = tuple[NamedNode | Literal, int]
"""An end of a path, and the nodes that reach it."""


def pieces(cut: Cut, scale: Scale) -> Iterator[Condition]:
    """Return the pieces of text that tell most, those that hold the same nodes once."""
    if "contains" not in cut.ways:
        return
    failing, nodes = scale.failing, scale.nodes
    known, ranked = cut.pieces, []
    for piece, most in cut.shares(scale.bad).items():
        held = known.get(piece, 0)
        bad, inside = min(most, failing), min(held, nodes)
        if bad >= LEAST and inside >= bad and bad * nodes > failing * inside:
            inside = min(inside, nodes - failing + bad)
            ranked.append((scale.saved(bad, inside), len(piece), piece))
    seen: set[int] = set()
    for _, _, piece in sorted(ranked, reverse=True)[:_SHORT]:
        condition = cut.holding(piece)
        if condition.mask not in seen:
            seen.add(condition.mask)
            yield condition


Looked = tuple[list[Condition], list[Condition], list[Scored]]


class Drawn:
    """Draws bounds, windows and sets, and keeps them: searches come to the same nodes again.

    All who ask have the same failing nodes in mind. `looked` are the conditions of whole paths,
    those of them that hold enough failing nodes, and what these save.
    """

    def __init__(self) -> None:
        self.looked: dict[Path, Looked] = {}
        self._counts: dict[tuple[Path, int], Counted] = {}
        self._bounds: dict[tuple[Path, int, str], list[Condition]] = {}
        self._ranked: dict[tuple[Path, int], tuple[list[Single], list[Single]]] = {}
        self._sets: dict[tuple[Path, int, int, int], Condition] = {}

    def bounds(
        self, cut: Cut, scale: Scale, limit: float = inf, pays: Pays | None = None
    ) -> Iterator[Condition]:
        """Return the bounds and the window of an ordered path that tell most among some nodes.

        None where no union of levels `pays`.
        """
        tests = [test for test in ("from", "until", "window") if test in cut.ways]
        tests = [test for test in tests if cut.bits(test) <= limit]
        if not tests or not scale.nodes or scale.failing < LEAST:
            return
        key = cut.path, scale.among
        if key not in self._counts:
            self._counts[key] = cut.ordered.counts(scale)
        counts = self._counts[key]
        least = min(cut.bits(test) for test in tests)
        if (
            pays is not None
            and cut.ordered.apart
            and not any(pays(b, i, least) for b, i in _unions(counts.levels))
        ):
            return
        for test in tests:
            if (*key, test) not in self._bounds:
                self._bounds[*key, test] = list(_bounds(cut, scale, counts, test))
            yield from self._bounds[*key, test]

    def sets(self, cut: Cut, scale: Scale, limit: float = inf) -> Iterator[Condition]:
        """Return the best few ends together."""
        if "one-of" not in cut.ways or cut.bits("one-of", 2) > limit:
            return
        key = cut.path, scale.among
        if key not in self._ranked:
            self._ranked[key] = _ranked(cut, scale)
        for way, ranked in enumerate(self._ranked[key]):
            most = min(MOST_OF_FEW, len(ranked), len(cut.single) - 1)
            for size in range(2, most + 1):
                if cut.bits("one-of", size) <= limit:
                    if (*key, way, size) not in self._sets:
                        self._sets[*key, way, size] = cut.few(ranked[:size])
                    yield self._sets[*key, way, size]

    def anew(self, cut: Cut, scale: Scale, limit: float, pays: Pays | None) -> list[Condition]:
        """Return bounds and sets drawn among some nodes."""
        return [*self.bounds(cut, scale, limit, pays), *self.sets(cut, scale, limit)]


def _bounds(cut: Cut, scale: Scale, counts: Counted, test: str) -> Iterator[Condition]:
    last = len(cut.heights) - 1
    if test == "from":
        place = _best_cut((each for each in counts.downwards() if each[0] > 0), scale)
        if place is not None:
            yield cut.between("from", place, last)
    elif test == "until":
        place = _best_cut((each for each in counts.upwards() if each[0] < last), scale)
        if place is not None:
            yield cut.between("until", 0, place)
    else:
        for first, end in _windows(counts.levels, scale.failing / scale.nodes):
            if first > 0 and end < last:
                yield cut.between("window", first, end)


def _ranked(cut: Cut, scale: Scale) -> tuple[list[Single], list[Single]]:
    """Return the ends at which more fail than usual, those with most beyond that first.

    Then the same, those of which the greatest share fails first.
    """
    rate, among = scale.rate, scale.among
    ranked = []
    for each, bad in _held(cut, scale.bad):
        inside = (each[1] & among).bit_count()
        if bad > rate * inside:
            ranked.append((bad - rate * inside, bad / inside, str(each[0]), each))
    many = sorted(ranked, key=lambda r: (-r[0], r[2]))[:MOST_OF_FEW]
    pure = sorted(ranked, key=lambda r: (-r[1], -r[0], r[2]))[:MOST_OF_FEW]
    return [each for *_, each in many], [each for *_, each in pure]


def _held(cut: Cut, nodes: int) -> Iterator[tuple[Single, int]]:
    """Return the ends that some nodes reach, and how many do."""
    if cut.crowded:
        for each in cut.single:
            found = (each[1] & nodes).bit_count()
            if found:
                yield each, found
        return
    named = cut.named
    held = Counter(end for node in places(nodes) if node in named for end in named[node])
    for place, found in held.items():
        yield cut.single[place], found


def _unions(counts: Counts) -> Iterator[tuple[int, int]]:
    """Return the unions of levels that could save most: those that fail most first."""
    bad = inside = 0
    ranked = sorted((-bad / nodes, bad, nodes) for _, bad, nodes, _ in counts if bad)
    for _, failing, nodes in ranked:
        bad, inside = bad + failing, inside + nodes
        yield bad, inside


def _best_cut(counts: Iterable[tuple[int, int, int]], scale: Scale) -> int | None:
    """Return the place of the bound from which on, in the order given, bits are highest."""
    failing, nodes, saved = scale.failing, scale.nodes, scale.saved
    bad = inside = 0
    best, found = 0.0, None
    for place, more_bad, more in counts:
        bad, inside = bad + more_bad, inside + more
        if bad * nodes <= failing * inside:
            continue
        if inside > nodes or bad > failing or inside - bad > nodes - failing:
            break  # nodes with several values are counted more than once
        value = saved(bad, inside)
        if value > best:
            best, found = value, place
    return found


def _windows(counts: Counts, usual: float) -> Iterator[tuple[int, int]]:
    """Return windows that tell most: for a few rates inside, the run of levels that fits best."""
    seen = set()
    for rate in _RATES:
        if rate <= usual or usual <= 0:
            continue
        worth, cost = log2(rate / usual), log2((1 - rate) / (1 - usual)) if usual < 1 else 0.0
        best = run = 0.0
        start, found = 0, None
        for place, bad, inside, before in counts:
            run += before * cost
            if run <= 0:
                run, start = 0.0, place
            run += bad * worth + (inside - bad) * cost
            if run > best:
                best, found = run, (start, place)
        if found is not None and found not in seen:
            seen.add(found)
            yield found
