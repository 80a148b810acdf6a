"""The search: paths best first, then the regions that tell in the fewest bits who fails.

A region is a conjunction of conditions. It grows by the condition that gains most inside what was
reached, while bits rise; a list of regions ends when the next one does not pay.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain, combinations, islice
from math import inf, log2
from operator import and_
from typing import Final

from pyoxigraph import Literal

from kgreason.base.budget import ask
from kgreason.base.figures import figure, integer
from kgreason.hypothesize.conditions.atlas import LEAST, Atlas, Table
from kgreason.hypothesize.conditions.better_words import better_words
from kgreason.hypothesize.conditions.code import TOLD, together
from kgreason.hypothesize.conditions.compared import akin, beside, gaps
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.cuts import MANY_ENDS, Cut, cut_of
from kgreason.hypothesize.conditions.drawn import Drawn, Pays, pieces
from kgreason.hypothesize.conditions.ends import is_date
from kgreason.hypothesize.conditions.paths import OF_CLASS, Path
from kgreason.hypothesize.conditions.pool import Pool, Region, Scored, in_order, scored, sifted
from kgreason.hypothesize.conditions.sampling import FAILING, PASSING, WHOLE
from kgreason.hypothesize.conditions.scale import Scale
from kgreason.shacl.needed import NEARLY

_A_PATH: Final = integer("beamOfPath")
_KEEPS: Final = figure("narrowedKeeps")
_LEFT: Final = integer("leftOver")
_PAYS: Final = figure("partBits")
_PAYS_SHARE: Final = figure("partShare")
_PEEK: Final = 3  # ends that tell whether those of a path are dates
_AS_GOOD: Final = 3  # bits that a better wording may cost where nothing is told
_PASSING: Final = 1  # what holds no passing node cannot be narrowed
_SHARED: Final = figure("likeShared")
_ALIKE: Final = integer("likeRegions")
_AHEAD: Final = integer("firstRegions")
_WORTH: Final = figure("firstWorth")
_SLACK: Final = 1 + log2(3)  # bits that a union may save beyond those that fail most


@dataclass(frozen=True)
class Extent:
    """How far a search goes.

    At most `paths` paths are fetched, with `rows` pairs in all; of populations of more than `nodes`
    a sample is looked at: `passing` of all and `failing` of those that fail. A region has up to
    `parts` conditions, a story up to `regions` regions; `beam` regions are narrowed at a time; for
    the best `drawn` of them bounds and sets are drawn anew. `further` paths are fetched beyond
    these where one goes on from a path whose conditions tell something already.
    """

    paths: int = 40
    further: int = 8
    rows: int = 400_000
    nodes: int = WHOLE
    passing: int = PASSING
    failing: int = FAILING
    parts: int = 5
    regions: int = 5
    beam: int = 12
    drawn: int = 4


@dataclass
class Hunt:
    """A search in an atlas for who fails; `among` are those that could fail.

    Paths that it `leaves` are not gone along any further; parts that `match` are not told together.
    What was `drawn` for another search for the same failing nodes need not be drawn again.
    """

    atlas: Atlas
    failing: int
    barred: Callable[[Condition], str]
    extent: Extent
    among: int
    direct: Callable[[Condition], bool]
    leaves: Callable[[Path], bool] = field(default=lambda _: False)
    match: Callable[[Sequence[Condition]], bool] = field(default=lambda _: False)
    drawn: Drawn = field(default_factory=Drawn)
    cuts: list[Cut] = field(default_factory=list)
    unreached: list[Path] = field(default_factory=list)
    _found: dict[tuple[int, bool], list[Region]] = field(default_factory=dict, repr=False)

    @cached_property
    def _whole(self) -> Scale:
        return Scale(self.among, self.failing)

    @cached_property
    def pool(self) -> Pool:
        """The single conditions that were cut."""
        return Pool(self._whole, self.barred)

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
            if self.atlas.goes_on(path) and _leads_on(table) and not self.leaves(path):
                limit = self._limit(table) - self.atlas.bits(path)
                order += 1
                heapq.heappush(queue, (-limit, 0, order, path, True))
        if rows <= self.extent.rows:
            self._go_on()
            if self.pool.left >= _LEFT:
                self._side_by_side()
                self._beside_dates()
                self._throngs()

    def _go_on(self) -> None:
        """Fetch some of the paths left over, those that go on from where most is told already.

        Most could be saved behind what each node has of its own, such as the sample of a result, so
        that such paths may use up all; where lots tell who fails, what lots are like tells more.
        What tells nearly all of them, and hardly any other node, needs no more words.
        """
        told = {before: self._tells(before) for before in {p.before for p in self.unreached}}
        left = [path for path in self.unreached if told[path.before] >= TOLD]
        left.sort(key=lambda path: -told[path.before])
        for path in left[: self.extent.further]:
            self._look_beyond(path)

    def _look_beyond(self, path: Path) -> None:
        """Look at a path that the search by itself did not come to."""
        if path in self.unreached:
            self.unreached.remove(path)
        self._look(self.atlas.table(path))

    def _side_by_side(self) -> None:
        """Look at what things of one kind lead to.

        Where two ports are compared, so are their countries, though neither tells anything alone.
        """
        looked, left = {cut.path for cut in self.cuts}, self.extent.further
        for one, two in combinations(tuple(self.cuts), 2):
            if not akin(one, two):
                continue
            both = {way.step for way in self.atlas.ways(one.path) if way.step.kind == "forward"}
            both &= {way.step for way in self.atlas.ways(two.path)} - {OF_CLASS}
            for step in sorted(both, key=lambda step: step.along.value):
                new = {one.path.then(step), two.path.then(step)} - looked
                if len(new) > left:
                    return
                left -= len(new)
                looked |= new
                for path in sorted(new, key=lambda path: path.sorts):
                    self._look_beyond(path)

    def _beside_dates(self) -> None:
        """Look at the dates of the few things that nodes are linked with, to hold theirs against.

        How long before the deadline of its call a paper came may tell what neither day does.
        """
        if not any(cut.is_dated for cut in self.cuts):
            return
        looked, left = {cut.path for cut in self.cuts}, self.extent.further
        for cut in tuple(self.cuts):
            if not cut.path.steps or len(cut.table.ends) > MANY_ENDS or not _leads_on(cut.table):
                continue
            for way in self.atlas.ways(cut.path):
                path = cut.path.then(way.step)
                if not left or way.step.kind != "forward" or path in looked:
                    continue
                if any(is_date(end) for end in islice(self.atlas.table(path).ends, _PEEK)):
                    left -= 1
                    self._look_beyond(path)

    def _throngs(self) -> None:
        """Look at how many things point at what nodes are linked with, where they are many."""
        looked, left = {cut.path for cut in self.cuts}, self.extent.further
        for cut in tuple(self.cuts):
            if cut.path.steps and len(cut.table.ends) <= MANY_ENDS and _leads_on(cut.table):
                for way in self.atlas.throngs(cut.path):
                    path = cut.path.then(way.step)
                    if left and path not in looked:
                        left -= 1
                        self._look_beyond(path)

    def _tells(self, path: Path) -> float:
        """Return what the best condition of a path saves, 0 where it leaves nothing to be told.

        What is barred does not count.
        """
        scores = self.drawn.looked[path][2] if path in self.drawn.looked else []
        best = heapq.nlargest(self.extent.beam, scores, key=lambda score: score[0])
        bits, nodes = next(((b, m) for b, c, m in best if not self.barred(c)), (0.0, 0))
        bad = (nodes & self._whole.bad).bit_count()
        return 0.0 if bad >= NEARLY * max(nodes.bit_count(), self._whole.failing) else bits

    def along(self, path: Path) -> Region | None:
        """Return the best condition on one path, whether it pays or not; None where none fits."""
        for place in range(len(path.steps) + 1):
            table = self.atlas.table(Path(path.steps[:place]))
        self._look(table)
        return self.nearest()

    def _enough(self, value: float) -> bool:
        """Check whether what was found leaves next to nothing over, and nothing could be better."""
        return self.pool.left < _LEFT and value <= self.pool.best

    def _limit(self, table: Table) -> float:
        """Return the most that a region of what lies beyond the ends of a path could save."""
        scale = self._whole
        failing, nodes = scale.failing, scale.nodes
        if not table.path.steps:
            return scale.saved(failing, failing)
        # Ends that no failing node reaches make no region save more.
        counts = [
            (bad, (mask & scale.among).bit_count())
            for mask in table.ends.values()
            if (bad := (mask & scale.bad).bit_count())
        ]
        counts.sort(key=lambda c: (-c[0] / c[1], -c[0]))
        nowhere = scale.among & ~table.some
        starts = ((0, 0), ((nowhere & scale.bad).bit_count(), nowhere.bit_count()))
        best = 0.0
        for bad, inside in starts:
            for more_bad, more in counts:
                bad, inside = min(failing, bad + more_bad), inside + more  # noqa: PLW2901
                inside = min(nodes - (failing - bad), max(bad, inside))  # noqa: PLW2901
                if bad * nodes <= failing * inside:
                    break
                best = max(best, scale.saved(bad, inside))
        return best

    def _look(self, table: Table) -> None:
        """Cut the conditions of a path, and put those that may be told into the pool."""
        cut, scale, looked = cut_of(self.atlas, table), self._whole, self.drawn.looked
        self.cuts.append(cut)
        if table.path not in looked:
            drawn = self.drawn.bounds(cut, scale), self.drawn.sets(cut, scale)
            before = self.cuts[:-1]
            two = (*(beside(cut, o) for o in before), *(gaps(cut, o, scale) for o in before))
            made = [*cut.plain, *pieces(cut, scale), *chain(*drawn, *two)]
            looked[table.path] = made, *sifted(made, scale)
        self.pool.add(*looked[table.path])

    def scored(self, parts: tuple[Condition, ...], mask: int, among: int) -> Region | None:
        """Score the nodes that a conjunction holds of some nodes.

        None where it does not fail more than they do.
        """
        scale = Scale(among, self.failing)
        bits = scale.bits((mask & self.failing).bit_count(), mask.bit_count())
        return (
            None
            if bits is None
            else Region(parts, mask, bits - together([part.bits for part in parts]))
        )

    def story(
        self, shortened: Callable[[Region, int], Region | None] = lambda *_: None
    ) -> Iterator[tuple[Region, list[Region]]]:
        """Return the regions of the shortest story, each with its rivals; bits are of what is left.

        A region is `shortened` by the parts that it is told better without, if there are such. What
        it holds is taken out before the next one is looked for.
        """
        among = self.among
        for _ in range(self.extent.regions):
            found = self._best(among)
            if not found or found[0].bits <= 0:
                return
            first = self._ahead(found, among)
            wider = shortened(first, among)
            first = self._in_one(first if wider is None else wider, among)
            yield first, _rivals(first, found, self.failing & among)
            among &= ~first.mask

    def _in_one(self, region: Region, among: int) -> Region:
        """Return the one condition that holds just the nodes of a conjunction, if it is shorter.

        What is neither A nor B nor C may be told as D.
        """
        if len(region.parts) == 1 or any(map(self.direct, region.parts)):
            return region
        same = (s for s in self._singles(among) if s[2] == region.mask and s[0] > region.bits)
        found = self.pool.top(list(same))
        return region if found is None else Region((found[1],), region.mask, found[0])

    def _singles(self, among: int) -> list[Scored]:
        """Return what each single condition saves among some nodes."""
        whole = among == self.among
        return self.pool.among(self._whole if whole else Scale(among, self.failing))

    def nearest(self) -> Region | None:
        """Return the single condition that saves most, or loses least; None where none fits."""
        best = next(iter(self.pool.first(self.pool.among(self._whole), 1)), None)
        return None if best is None else self._worded(best, self.among, best.bits - _AS_GOOD)

    def _ahead(self, found: Sequence[Region], among: int) -> Region:
        """Return the region with which the story is shortest that is told to its end.

        The best region alone may be a mixture of two that each are better told apart.
        """
        firsts = [r for r in _varied(found, _AHEAD) if r.bits > _WORTH * found[0].bits]
        first = found[0]
        if len(firsts) > 1:
            first = max(firsts, key=lambda r: round(r.bits + self._rest(among & ~r.mask), 6))
        return self._worded(self._direct(self._apart(first, among) or first, found, among), among)

    def _apart(self, first: Region, among: int) -> Region | None:
        """Return the first of several regions that tell apart what sets of values mix.

        “One of A and B, and one of C and D” may hold A with C and B with D, and all that passes
        beside them; where a story without sets saves more bits in all, it is told.
        """
        if not any(part.several for part in first.parts):
            return None
        single = next(iter(self._best(among, sets=False)), None)
        if single is None or single.bits <= 0:
            return None
        before = first.bits + self._without_sets(among & ~first.mask)
        return single if single.bits + self._without_sets(among & ~single.mask) > before else None

    def _without_sets(self, among: int) -> float:
        """Return the bits that regions without sets save, one after the other."""
        total = 0.0
        for _ in range(self.extent.regions - 1):
            found = self._best(among, sets=False)
            if not found or found[0].bits <= 0:
                break
            total += found[0].bits
            among &= ~found[0].mask
        return total

    def _direct(self, first: Region, found: Sequence[Region], among: int) -> Region:
        """Return what holds the same nodes and is about the constrained value, if there is such.

        At equal reach what can be checked directly comes before what only goes along with it.
        """
        if any(map(self.direct, first.parts)):
            return first
        same = (r for r in found if r.mask == first.mask and r.bits > 0)
        told = next((r for r in same if any(map(self.direct, r.parts))), None)
        if told is not None:
            return told
        # One that costs more to say may not be among the best that were found.
        alike = (s for s in self._singles(among) if s[2] == first.mask and s[0] > 0)
        single = self.pool.top([s for s in alike if self.direct(s[1])])
        return first if single is None else Region((single[1],), first.mask, single[0])

    def _worded(self, first: Region, among: int, least: float = TOLD) -> Region:
        """Return what says better which nodes a region holds, if it saves so many bits.

        “Contains OLD-” says more than “has a hyphen”, and “with a funder” says sooner what “whose
        funder is a funding body” says. A thing says more than how its IRI is spelt: “whose port
        lies in VN” than “whose port has a capital letter inside a word”; that something ends before
        it begins, than that it begins in 2026 or later. All take longer to code.
        """
        for place, part in enumerate(first.parts):
            alone = len(first.parts) == 1
            told = better_words(part, self.atlas.table(part.path).ends, alone=alone)
            if told is None:
                continue
            others = (other.mask for other in first.parts if other is not part)
            beside = reduce(and_, others, among)
            alike = [
                (first.bits + part.bits - c.bits, c, first.mask)
                for _, c in self.pool.within(part.bits + first.bits - least)
                if c.mask & beside == first.mask and told(c, part)
            ]
            if (better := self.pool.top(alike)) is not None:
                parts = (*first.parts[:place], better[1], *first.parts[place + 1 :])
                first = Region(parts, first.mask, better[0])
        return first

    def _rest(self, among: int) -> float:
        """Return the bits that single conditions still save, one after the other."""
        total = 0.0
        for _ in range(self.extent.regions - 1):
            ask(self.atlas.budget, "condition")
            best = self.pool.top(self.pool.among(Scale(among, self.failing)))
            if best is None or best[0] <= 0:
                break
            total += best[0]
            among &= ~best[2]
        return total

    def _best(self, among: int, *, sets: bool = True) -> list[Region]:
        """Return the regions that save most among some nodes, the best first.

        Without `sets` no condition names several values.
        """
        if (among, sets) not in self._found:
            self._found[among, sets] = self._searched(among, sets=sets)
        return self._found[among, sets]

    def _searched(self, among: int, *, sets: bool) -> list[Region]:
        whole = among == self.among
        scale = self._whole if whole else Scale(among, self.failing)
        wide = self.extent.beam if whole else self.extent.beam // 3
        most = self.extent.beam * 5
        pooled = self.pool.among(scale)
        every = self.pool.first(pooled if sets else [s for s in pooled if not s[1].several], most)
        fresh = _Fresh(self.drawn, () if whole else self.cuts, scale, sets=sets)
        if not whole:
            floor = every[-1].bits if len(every) == most else -inf
            new = scored(fresh.at_most(scale.most(scale.failing) - floor), scale)
            every = in_order([*every, *self.pool.first(new, most)])[:most]
        beam = _varied(every, wide)
        for _ in range(self.extent.parts - 1):
            longer = [
                r
                for place, region in enumerate(beam)
                for r in self._narrower(
                    region, fresh, scale, anew=place < self.extent.drawn, sets=sets
                )
            ]
            beam = _varied(in_order(longer), wide)
            every += beam
        return in_order(every)

    def _narrower(
        self, region: Region, fresh: "_Fresh", scale: Scale, *, anew: bool, sets: bool
    ) -> Iterator[Region]:
        """Return a region with one condition more, each that saves enough more bits to be told.

        Bounds and sets may be drawn anew among its nodes.
        """
        ask(self.atlas.budget, "condition")
        bad = region.mask & self.failing
        least = max(LEAST, _KEEPS * bad.bit_count())
        size = region.mask.bit_count()
        if size - bad.bit_count() < _PASSING or not self._could_gain(region, bad, scale):
            return
        needed = region.bits + max(_PAYS, _PAYS_SHARE * region.bits)
        spent = [part.bits for part in region.parts]
        limit = scale.most(bad.bit_count()) - needed - together([*spent, 0.0])
        if limit < 0:
            return
        floor = needed + together([*spent, 0.0]) - _SLACK

        def pays(held: int, inside: int, bits: float) -> bool:
            found = scale.bits(held, inside)
            return found is not None and found - bits > floor

        pooled = sorted(
            (place, condition)
            for place, condition in self.pool.within(limit)
            if (bad & condition.mask).bit_count() >= least and (sets or not condition.several)
        )
        inner = Scale(region.mask, self.failing)
        cuts = [c for c in self.cuts if c.narrow and anew]
        narrow = _Fresh(self.drawn, cuts, inner, pays, sets=sets)
        for condition in (*(c for _, c in pooled), *fresh.at_most(limit), *narrow.at_most(limit)):
            held = (bad & condition.mask).bit_count()
            mask = region.mask & condition.mask
            inside = mask.bit_count()
            bits = scale.bits(held, inside) if held >= least and inside < size else None
            if bits is None:
                continue
            bits -= together([*spent, condition.bits])
            parts = (*region.parts, condition)
            if bits > needed and not self.pool.why(condition) and not self.match(parts):
                yield _trimmed(Region(parts, mask, bits), scale)

    def _could_gain(self, region: Region, bad: int, scale: Scale) -> bool:
        """Check whether the cheapest condition, were it to leave out all that pass, could pay."""
        best = scale.most(bad.bit_count())
        return best - together([*(p.bits for p in region.parts), self.pool.cheapest]) > region.bits


class _Fresh:
    """Bounds and sets of some cuts, drawn among some nodes as far as somebody asks for them."""

    def __init__(
        self,
        drawn: Drawn,
        cuts: Sequence[Cut],
        scale: Scale,
        pays: Pays | None = None,
        *,
        sets: bool,
    ) -> None:
        self._drawn, self._cuts, self._scale = drawn, cuts, scale
        self._pays, self._sets = pays, sets
        self._limit, self._made = -inf, list[Condition]()

    def at_most(self, bits: float) -> list[Condition]:
        """Return those that cost at most so many bits, and perhaps some others."""
        if bits > self._limit:
            self._limit = bits
            draw = self._drawn.anew if self._sets else self._drawn.bounds
            self._made = [
                condition
                for cut in self._cuts
                for condition in draw(cut, self._scale, bits, self._pays)
            ]
        return self._made


def _trimmed(region: Region, scale: Scale) -> Region:
    """Leave out the parts that do not pay beside the others, in whatever order it grew.

    What is worth little by itself may have come first, and then the part that tells nearly all.
    """
    while len(region.parts) > 1:
        shorter = (without(region, place, scale) for place in range(len(region.parts)))
        best = min((r for r in shorter if r is not None), key=lambda r: r.order, default=None)
        if best is None or region.bits > best.bits + max(_PAYS, _PAYS_SHARE * best.bits):
            return region
        region = best
    return region


def without(region: Region, place: int, scale: Scale) -> Region | None:
    """Return a region without one of its parts; None where it fails no more than all do."""
    parts = (*region.parts[:place], *region.parts[place + 1 :])
    mask = reduce(and_, (part.mask for part in parts), scale.among)
    bits = scale.bits((mask & scale.bad).bit_count(), mask.bit_count())
    if bits is None:
        return None
    return Region(parts, mask, bits - together([part.bits for part in parts]))


def _leads_on(table: Table) -> bool:
    return any(not isinstance(end, Literal) for end in table.ends)


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
