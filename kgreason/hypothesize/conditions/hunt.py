"""The search: paths best first, then the regions that tell in the fewest bits who fails.

A region is a conjunction of conditions. It grows by the condition that gains most inside what was
reached, while bits rise; a list of regions ends when the next one does not pay.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import Final

from pyoxigraph import Literal

from kgreason.base.budget import ask
from kgreason.base.figures import figure, integer
from kgreason.hypothesize.conditions.atlas import LEAST, Atlas, Table
from kgreason.hypothesize.conditions.code import saved, together
from kgreason.hypothesize.conditions.cuts import MOST_OF_FEW, Condition, Cut, cut_of
from kgreason.hypothesize.conditions.paths import LONGEST, Path

_SHORT: Final = integer("shortList")
_A_PATH: Final = integer("beamOfPath")
_KEEPS: Final = figure("narrowedKeeps")
_RATES: Final = (0.25, 0.5, 0.8, 0.97)  # that a window is tried for
_LEFT: Final = integer("leftOver")
_PAYS: Final = figure("partBits")
_PAYS_SHARE: Final = figure("partShare")
_PASSING: Final = 1  # what holds no passing node cannot be narrowed
_SHARED: Final = figure("likeShared")
_ALIKE: Final = integer("likeRegions")
_AHEAD: Final = integer("firstRegions")
_WORTH: Final = figure("firstWorth")


@dataclass(frozen=True)
class Extent:
    """How far a search goes.

    At most `paths` paths are fetched, with `rows` pairs in all; of larger populations a sample of
    `nodes` is looked at. A region has up to `parts` conditions, a story up to `regions` regions;
    `beam` regions are narrowed at a time; for the best `drawn` of them bounds and sets are drawn
    anew.
    """

    paths: int = 40
    rows: int = 400_000
    nodes: int = 12_000
    parts: int = 3
    regions: int = 5
    beam: int = 12
    drawn: int = 4


@dataclass(frozen=True)
class Region:
    """A conjunction: its parts, the nodes it holds, the bits it saves where it was looked at."""

    parts: tuple[Condition, ...]
    mask: int = field(repr=False)
    bits: float

    @property
    def cost(self) -> float:
        """What it costs to say."""
        return together([part.bits for part in self.parts])

    @property
    def order(self) -> tuple[float, int, str]:
        """Best first; what is shorter and earlier in the alphabet among equals."""
        said = " ".join(str(part.terms) + str(part.path) for part in self.parts)
        return (-round(self.bits, 6), len(self.parts), said)


@dataclass
class Hunt:
    """A search in an atlas for who fails; `among` are those that could fail.

    Paths that it `leaves` are not gone along any further.
    """

    atlas: Atlas
    failing: int
    barred: Callable[[Condition], str]
    extent: Extent
    among: int
    direct: Callable[[Condition], bool]
    leaves: Callable[[Path], bool] = field(default=lambda _: False)
    cuts: list[Cut] = field(default_factory=list)
    pool: list[Condition] = field(default_factory=list)
    restated: list[tuple[Region, str]] = field(default_factory=list)
    unreached: list[Path] = field(default_factory=list)
    best: float = 0.0
    _left: int = 1 << 60

    def explore(self) -> None:
        """Fetch paths, those first of which any refinement could save most."""
        queue: list[tuple[float, int, int, Path, bool]] = []
        order = 0
        first = Path()
        heapq.heappush(queue, (-self._limit(self.atlas.table(first)), 0, order, first, False))
        fetched = rows = 0
        while queue:
            value, _, _, path, grow = heapq.heappop(queue)
            if -value <= 0 or self._enough(-value):
                break
            if grow:
                for way in self.atlas.ways(path):
                    order += 1
                    longer = path.then(way.step)
                    limit = value + self.atlas.bits(longer) - self.atlas.bits(path)
                    heapq.heappush(queue, (limit, -way.reached, order, longer, False))
                continue
            if path.steps and (fetched >= self.extent.paths or rows > self.extent.rows):
                self.unreached.append(path)
                continue
            fetched += 1
            table = self.atlas.table(path)
            rows += self.atlas.pairs(path)
            self._look(table)
            if len(path) < LONGEST and _leads_on(table) and not self.leaves(path):
                limit = self._limit(table) - self.atlas.bits(path)
                order += 1
                heapq.heappush(queue, (-limit, 0, order, path, True))

    def _enough(self, value: float) -> bool:
        """Check whether what was found leaves next to nothing over, and nothing could be better."""
        return self._left < _LEFT and value <= self.best

    def _limit(self, table: Table) -> float:
        """Return the most that a region of what lies beyond the ends of a path could save."""
        failing, nodes = self.failing.bit_count(), self.among.bit_count()
        if not table.path.steps:
            return saved(failing, failing, failing, nodes)
        counts = []
        for mask in table.ends.values():
            bad = (mask & self.failing).bit_count()
            counts.append((bad, (mask & self.among).bit_count()))
        counts.sort(key=lambda c: (-c[0] / c[1] if c[1] else 0.0, -c[0]))
        nowhere = self.among & ~table.some
        starts = ((0, 0), ((nowhere & self.failing).bit_count(), nowhere.bit_count()))
        best = 0.0
        for bad, inside in starts:
            for more_bad, more in counts:
                bad, inside = min(failing, bad + more_bad), inside + more  # noqa: PLW2901
                inside = min(nodes - (failing - bad), max(bad, inside))  # noqa: PLW2901
                if bad * nodes <= failing * inside:
                    break
                best = max(best, saved(bad, inside, failing, nodes))
        return best

    def _look(self, table: Table) -> None:
        """Cut the conditions of a path, and put those that may be told into the pool."""
        cut = cut_of(self.atlas, table)
        self.cuts.append(cut)
        for condition in (*cut.plain, *self._pieces(cut)):
            self._sort(condition)
        for condition in (*self._bounds(cut, self.among), *self._sets(cut, self.among)):
            self._sort(condition)

    def _sort(self, condition: Condition) -> None:
        why = self.barred(condition)
        region = self._region((condition,), self.among)
        if why:
            if region is not None and region.bits > 0:
                self.restated.append((region, why))
            return
        self.pool.append(condition)
        if region is not None and region.bits > self.best:
            self.best = region.bits
            self._left = (self.failing & ~region.mask).bit_count()

    def _region(self, parts: tuple[Condition, ...], among: int) -> Region | None:
        """Score a conjunction among some nodes; None where it does not fail more than they do."""
        mask = among
        for part in parts:
            mask &= part.mask
        return self.scored(parts, mask, among)

    def scored(self, parts: tuple[Condition, ...], mask: int, among: int) -> Region | None:
        """Score the nodes that a conjunction holds of some; None as in `_region`."""
        bad, inside = (mask & self.failing).bit_count(), mask.bit_count()
        failing, nodes = (among & self.failing).bit_count(), among.bit_count()
        if bad < LEAST or bad * nodes <= failing * inside:
            return None
        cost = together([part.bits for part in parts])
        return Region(parts, mask, saved(bad, inside, failing, nodes) - cost)

    def _pieces(self, cut: Cut) -> Iterator[Condition]:
        """Return the pieces of text that tell most, those that hold the same nodes once."""
        if "contains" not in cut.ways:
            return
        failing, nodes = self.failing.bit_count(), self.among.bit_count()
        ranked = []
        for piece, bad in cut.shares(self.failing).items():
            inside = cut.pieces.get(piece, 0)
            bad, inside = min(bad, failing), min(inside, nodes)  # noqa: PLW2901
            if bad >= LEAST and inside >= bad and bad * nodes > failing * inside:
                inside = min(inside, nodes - failing + bad)
                ranked.append((saved(bad, inside, failing, nodes), len(piece), piece))
        seen: set[int] = set()
        for _, _, piece in sorted(ranked, reverse=True)[:_SHORT]:
            condition = cut.holding(piece)
            if condition.mask not in seen:
                seen.add(condition.mask)
                yield condition

    def _bounds(self, cut: Cut, among: int) -> Iterator[Condition]:
        """Return the bounds and the window of an ordered path that tell most among some nodes."""
        if "from" not in cut.ways:
            return
        counts = [
            ((m & self.failing).bit_count(), m.bit_count())
            for m in (level.mask & among for level in cut.levels)
        ]
        failing, nodes = (among & self.failing).bit_count(), among.bit_count()
        if not nodes or failing < LEAST:
            return
        last = len(counts) - 1
        for test, order in (("from", range(last, 0, -1)), ("until", range(last))):
            place = _best_cut(counts, order, failing, nodes)
            if place is not None:
                yield cut.between(test, *((place, last) if test == "from" else (0, place)))
        for first, end in _windows(counts, failing, nodes):
            yield cut.between("window", first, end)

    def _sets(self, cut: Cut, among: int) -> Iterator[Condition]:
        """Return the best few ends together."""
        if "one-of" not in cut.ways:
            return
        rate = (among & self.failing).bit_count() / max(1, among.bit_count())
        ranked = []
        for term, mask in cut.single:
            bad, inside = (mask & among & self.failing).bit_count(), (mask & among).bit_count()
            if bad > rate * inside:
                ranked.append((bad - rate * inside, bad / inside, str(term), (term, mask)))
        ranked.sort(key=lambda r: (-r[0], r[2]))
        for size in range(2, min(MOST_OF_FEW, len(ranked), len(cut.single) - 1) + 1):
            yield cut.few([chosen for *_, chosen in ranked[:size]])
        pure = sorted(ranked, key=lambda r: (-r[1], -r[0], r[2]))
        for size in range(2, min(MOST_OF_FEW, len(pure), len(cut.single) - 1) + 1):
            yield cut.few([chosen for *_, chosen in pure[:size]])

    def story(self) -> Iterator[tuple[Region, list[Region]]]:
        """Return the regions of the shortest story, each with its rivals; bits are of what is left.

        What a region holds is taken out before the next one is looked for.
        """
        among = self.among
        for _ in range(self.extent.regions):
            found = self._best(among)
            if not found or found[0].bits <= 0:
                return
            first = self._ahead(found, among)
            yield first, _rivals(first, found, self.failing & among)
            among &= ~first.mask

    def nearest(self) -> Region | None:
        """Return the single condition that saves most, or loses least; None where none fits."""
        scored = (self._region((condition,), self.among) for condition in self.pool)
        return min((r for r in scored if r is not None), key=lambda r: r.order, default=None)

    def _ahead(self, found: Sequence[Region], among: int) -> Region:
        """Return the region with which the story is shortest that is told to its end.

        The best region alone may be a mixture of two that each are better told apart.
        """
        firsts = [r for r in _varied(found, _AHEAD) if r.bits > _WORTH * found[0].bits]
        if len(firsts) < 2:  # noqa: PLR2004 - nothing to choose from
            return self._direct(found[0], found)
        first = max(firsts, key=lambda r: round(r.bits + self._rest(among & ~r.mask), 6))
        return self._direct(first, found)

    def _direct(self, first: Region, found: Sequence[Region]) -> Region:
        """Return what holds the same nodes and is about the constrained value, if there is such.

        At equal reach what can be checked directly comes before what only goes along with it.
        """
        same = (r for r in found if r.mask == first.mask and r.bits > 0)
        return next((r for r in same if any(map(self.direct, r.parts))), first)

    def _rest(self, among: int) -> float:
        """Return the bits that single conditions still save, one after the other."""
        total = 0.0
        for _ in range(self.extent.regions - 1):
            ask(self.atlas.budget, "condition")
            scored = (self._region((c,), among) for c in self.pool)
            best = max((r for r in scored if r is not None), key=lambda r: r.bits, default=None)
            if best is None or best.bits <= 0:
                break
            total += best.bits
            among &= ~best.mask
        return total

    def _best(self, among: int) -> list[Region]:
        """Return the regions that save most among some nodes, the best first."""
        fresh = (
            [c for cut in self.cuts for c in self._anew(cut, among)] if among != self.among else []
        )
        pool = [*self.pool, *fresh]
        singles = [r for c in pool if (r := self._region((c,), among)) is not None]
        every = sorted(singles, key=lambda r: r.order)[: self.extent.beam * 5]
        wide = self.extent.beam if among == self.among else self.extent.beam // 3
        beam = _varied(every, wide)
        for _ in range(self.extent.parts - 1):
            longer = [
                r
                for place, region in enumerate(beam)
                for r in self._narrower(region, pool, among, anew=place < self.extent.drawn)
            ]
            beam = _varied(sorted(longer, key=lambda r: r.order), wide)
            every += beam
        return sorted(every, key=lambda r: r.order)

    def _anew(self, cut: Cut, among: int) -> list[Condition]:
        """Return bounds and sets drawn among some nodes, those that may be told."""
        made = (*self._bounds(cut, among), *self._sets(cut, among))
        return [condition for condition in made if not self.barred(condition)]

    def _narrower(
        self, region: Region, pool: Sequence[Condition], among: int, *, anew: bool
    ) -> Iterator[Region]:
        """Return a region with one condition more, each that saves enough more bits to be told.

        Bounds and sets may be drawn anew among its nodes.
        """
        ask(self.atlas.budget, "condition")
        bad = region.mask & self.failing
        least = max(LEAST, _KEEPS * bad.bit_count())
        size = region.mask.bit_count()
        if size - bad.bit_count() < _PASSING or not self._could_gain(region, bad, among):
            return
        needed = region.bits + max(_PAYS, _PAYS_SHARE * region.bits)
        narrow = (cut for cut in self.cuts if cut.narrow and anew)
        within = [c for cut in narrow for c in self._anew(cut, region.mask)]
        for condition in (*pool, *within):
            if (bad & condition.mask).bit_count() < least:
                continue
            mask = region.mask & condition.mask
            if mask.bit_count() == size:
                continue
            made = self.scored((*region.parts, condition), mask, among)
            if made is not None and made.bits > needed:
                yield made

    def _could_gain(self, region: Region, bad: int, among: int) -> bool:
        """Check whether the cheapest condition, were it to leave out all that pass, could pay."""
        failing, nodes = (among & self.failing).bit_count(), among.bit_count()
        best = saved(bad.bit_count(), bad.bit_count(), failing, nodes)
        return best - together([*(p.bits for p in region.parts), self._cheapest]) > region.bits

    @cached_property
    def _cheapest(self) -> float:
        """The bits of the cheapest condition of all."""
        return min((condition.bits for condition in self.pool), default=0.0)


def _leads_on(table: Table) -> bool:
    return any(not isinstance(end, Literal) for end in table.ends)


def _best_cut(
    counts: Sequence[tuple[int, int]], order: Iterable[int], failing: int, nodes: int
) -> int | None:
    """Return the place of the bound from which on, in an order, bits are highest."""
    bad = inside = 0
    best, found = 0.0, None
    for place in order:
        bad, inside = bad + counts[place][0], inside + counts[place][1]
        if not counts[place][1] or bad * nodes <= failing * inside:
            continue
        if inside > nodes or bad > failing or inside - bad > nodes - failing:
            break  # nodes with several values are counted more than once
        value = saved(bad, inside, failing, nodes)
        if value > best:
            best, found = value, place
    return found


def _windows(
    counts: Sequence[tuple[int, int]], failing: int, nodes: int
) -> Iterator[tuple[int, int]]:
    """Return windows that tell most: for a few rates inside, the run of levels that fits best."""
    seen = set()
    usual = failing / nodes
    for rate in _RATES:
        if rate <= usual or usual <= 0:
            continue
        worth, cost = log2(rate / usual), log2((1 - rate) / (1 - usual)) if usual < 1 else 0.0
        best = run = 0.0
        start, found = 0, None
        for place, (bad, inside) in enumerate(counts):
            if run <= 0:
                run, start = 0.0, place
            run += bad * worth + (inside - bad) * cost
            if run > best:
                best, found = run, (start, place)
        if found is not None and found not in seen and found[0] > 0 and found[1] < len(counts) - 1:
            seen.add(found)
            yield found


def _varied(ranked: Iterable[Region], most: int, a_path: int = _A_PATH) -> list[Region]:
    """Return the best regions, those that hold the same nodes once, a few of each path."""
    out: list[Region] = []
    masks: set[int] = set()
    paths: dict[tuple[Path, ...], int] = {}
    for region in ranked:
        key = tuple(part.path for part in region.parts)
        if region.mask in masks or paths.get(key, 0) >= a_path:
            continue
        masks.add(region.mask)
        paths[key] = paths.get(key, 0) + 1
        out.append(region)
        if len(out) == most:
            break
    return out


def _rivals(first: Region, ranked: Sequence[Region], failing: int) -> list[Region]:
    """Return the next best ways to tell of the same failing nodes, one of each kind of path."""
    claimed = first.mask & failing
    told = [_paths(first)]
    out: list[Region] = []
    for region in ranked:
        own = _paths(region)
        if region.bits <= 0 or any(before <= own for before in told):
            continue  # it only says more of the same
        if (region.mask & claimed).bit_count() >= _SHARED * claimed.bit_count():
            told.append(own)
            out.append(region)
        if len(out) == _ALIKE:
            break
    return out


def mixed(rival: Region, told: Sequence[Region], failing: int) -> float:
    """Return how many more bits it saves to tell apart the regions that a rival mixes.

    `told` are regions of a story, of which it is a rival of the first. It mixes this with those
    later ones of whose failing nodes it holds most; zero where there are none.
    """
    held, before = list(told[:1]), told[0].mask
    for region in told[1:]:
        own = region.mask & failing & ~before
        if (rival.mask & own).bit_count() > _SHARED * own.bit_count():
            held.append(region)
        before |= region.mask
    return sum(region.bits for region in held) - rival.bits if len(held) > 1 else 0.0


def _paths(region: Region) -> set[Path]:
    return {part.path for part in region.parts}
