"""Search a view for the conditions that tell shortest who fails."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import inf
from operator import and_
from typing import Final, cast

from kgreason.base.siblings import LEAST_SIBLINGS
from kgreason.base.statistics import Table
from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.base.terms import WORK
from kgreason.context.view import View, digest, exposed, members
from kgreason.graph.marks import Mark, region_name
from kgreason.hypothesize.candidates import both
from kgreason.hypothesize.conditions.atlas import Atlas
from kgreason.hypothesize.conditions.bars import Bars
from kgreason.hypothesize.conditions.code import SOME, TOLD, together
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.cuts import cut_of
from kgreason.hypothesize.conditions.drawn import Drawn
from kgreason.hypothesize.conditions.hunt import Extent, Hunt, mixed, without
from kgreason.hypothesize.conditions.links import Links
from kgreason.hypothesize.conditions.origins import Origins
from kgreason.hypothesize.conditions.paths import Path
from kgreason.hypothesize.conditions.pool import Region
from kgreason.hypothesize.conditions.sampling import TIMES, Lots, Sample, alone, shared
from kgreason.hypothesize.conditions.scale import Scale
from kgreason.hypothesize.conditions.units import (
    ALONE,
    EXCEPTED,
    Clusters,
    Dealt,
    Unit,
    dealt,
    excepted,
    unit_of,
    units,
)

_MOST_E: Final = 300.0
_DRAWN: Final = 3  # symptoms of which what was drawn is kept


@dataclass(frozen=True)
class Weakest:
    """The part of a region that does worst with clusters dealt as wholes: its place, and how.

    `cost` is what it adds to the length of the code, `ways` the number of ways in which the nodes
    are clustered coarsely.
    """

    part: int
    dealt: Dealt
    cost: float
    ways: int


@dataclass(frozen=True)
class Found:
    """A region that tells who fails.

    `bits` are those that it saves among all nodes, `more` those that it saves beside the regions
    found before it; `weakest` is where it does worst with clusters dealt as wholes (None where it
    is made of no clusters, or that was not asked). `restates` says why it only says the rule again.
    `rival` is the best one that holds other nodes, so that some test could tell the two apart.
    `cost` is the length of its code, `table` counts all nodes that were looked at.
    """

    parts: tuple[Condition, ...]
    mask: int = field(repr=False)
    cost: float
    bits: float
    more: float
    table: Table
    kind: str
    weakest: "Weakest | None" = None
    restates: str = ""
    rival: "Found | None" = None

    @property
    def region(self) -> Fragment:
        """The public pattern of the ?focus that are meant."""
        return reduce(both, (part.region for part in self.parts))

    @property
    def pattern(self) -> Fragment:
        """The pattern for the scratch copy."""
        return reduce(both, (part.pattern for part in self.parts))

    @property
    def e_value(self) -> float:
        """The e-value over all that could have been said, where nodes are exchangeable."""
        return float(2.0 ** min(self.bits, _MOST_E))

    @property
    def sure(self) -> float:
        """The bits that are left where clusters are dealt as wholes, if their spread is known."""
        fine = self.weakest is not None and self.weakest.dealt.fine
        return min(self.bits, self.weakest.dealt.bits) if fine and self.weakest else self.bits

    @property
    def told(self) -> bool:
        """Whether it stands by its bits alone, without halves.

        Of few nodes no region saves so many bits. Where all nodes that belong to one thing fail,
        and of the others one at most, an e-value of 20 is enough.
        """
        coarse = self.weakest is not None and not self.weakest.dealt.fine
        usual = coarse and self.weakest and self.weakest.dealt.probability > ALONE
        least = SOME if self.table.clear and self._belonging else TOLD
        return self.sure >= least and not usual and not self.restates

    @property
    def _belonging(self) -> bool:
        """Whether it is one condition, which says what the nodes themselves belong to."""
        first, *others = self.parts
        near = len(first.path.steps) <= 1
        return near and not others and "belonging" in first.template.header

    @property
    def siblings(self) -> int | None:
        """How many clusters it was held against; None where it is made of none."""
        return None if self.weakest is None else len(self.weakest.dealt.outside)

    def words(self, names: Callable[[Term | None], str]) -> str:
        """Describe the region: “Nodes whose …”."""
        return "Nodes " + " and ".join(part.words(names) for part in self.parts)


@dataclass(frozen=True)
class Explored:
    """What a search found, and how far it went.

    `found` is the story, the first region first; `nearest` is the best single condition, whether it
    pays or not; `restated` are the best conditions that only say the rule again; `unreached` are
    paths that lie beyond the extent of the search. `costs` are what single conditions cost, by
    the hash of the nodes that they hold of those that were `looked` at.
    """

    found: tuple[Found, ...]
    nearest: Found | None
    restated: tuple[Found, ...]
    unreached: tuple[Path, ...]
    paths: int
    conditions: int
    looked: int = field(repr=False)
    costs: Mapping[int, float] = field(repr=False, default_factory=dict)


def search(view: View, extent: Extent | None = None, atlas: Atlas | None = None) -> list[Found]:
    """Return the regions of the shortest story of who fails, the first one first."""
    return list(explore(view, extent, atlas).found)


def atlas_of(view: View, extent: Extent | None = None, half: Mark | None = None) -> Atlas:
    """Make the atlas of a view's population, or of a half of it.

    Symptoms share that of a population, later rounds too: what can be said does not depend on who
    fails, nor on who was found to. Of a large population it has a sample, which symptoms share
    where it holds enough nodes of each.
    """
    population, wide = view.marks.population, extent or Extent()
    links = cast("Links", view.kept.setdefault("links", Links(view.graph)))
    if half is not None:
        return Atlas(view.graph, population, half.name, half.mask, links, view.budget)
    few = len(population.nodes) <= wide.nodes
    made = _whole(view, links) if few else _sampled(view, links, wide)
    made.budget = view.budget
    return made


def _whole(view: View, links: Links) -> Atlas:
    population = view.marks.population
    key = f"atlas:{population.key}"
    if key not in view.kept:
        everyone = (1 << len(population.nodes)) - 1
        view.kept[key] = Atlas(
            view.graph, population, population.mark, everyone, links, shared=True
        )
    return cast("Atlas", view.kept[key])


def _sampled(view: View, links: Links, wide: Extent) -> Atlas:
    """Make the atlas of a sample: that of all symptoms where it serves, else one of its own."""
    population, failing = view.marks.population, view.marks.failing_mask
    lots, sizes = _lots(view), (wide.passing, wide.failing)
    key = f"sample:{population.key}"
    if view.failed and key not in view.kept:
        sample = shared(population, view.failed[1:], lots, *sizes)
        view.kept[key] = _of_sample(view, links, sample, common=True)
    could = exposed(view)
    passing, failed = could & ~failing, could & failing
    if key in view.kept:
        atlas = cast("Atlas", view.kept[key])
        looked = looked_at(view, atlas)
        bad = (looked & atlas.own(failing)).bit_count()
        wanted = min(failed.bit_count(), wide.failing)
        enough = min(passing.bit_count(), TIMES * wanted, wide.passing // 2)
        if 2 * bad >= wanted and looked.bit_count() - bad >= enough:
            return atlas
    sample = alone(population, passing, failed, lots, *sizes)
    return _of_sample(view, links, sample, common=False)


def _lots(view: View) -> Lots:
    population = view.marks.population
    made = view.kept.setdefault(f"lots:{population.key}", Lots(population, view.seed))
    return cast("Lots", made)


def _of_sample(view: View, links: Links, sample: Sample, *, common: bool) -> Atlas:
    population = sample.population
    whose = population.key if common else f"{population.key}:{view.marks.failing.value}"
    mark = Mark(WORK[f"conditions:{whose}"], sample.mask, population.nodes, view.graph.store.inner)
    everyone = (1 << len(sample.nodes)) - 1
    return Atlas(
        view.graph,
        population,
        mark.name,
        everyone,
        links,
        view.budget,
        sample=sample,
        shared=common,
    )


def looked_at(view: View, atlas: Atlas) -> int:
    """Return the nodes of an atlas that a search looks at, by their numbers there.

    Those could fail, and no earlier round took them out. Of a sample they are those that were drawn
    from all, and of those that fail the ones that were drawn for this symptom.
    """
    could = exposed(view)
    if atlas.sample is None:
        return atlas.own(could)
    bad = view.marks.failing_mask
    if view.failed and atlas.shared:
        bad &= _lots(view).drawn(view.failed[0], atlas.sample.most)
    return atlas.own(could & (atlas.sample.drawn | bad))


def failing_of(view: View, atlas: Atlas, among: int) -> int:
    """Return the failing nodes; of a sample those alone that are looked at."""
    failing = atlas.own(view.marks.failing_mask)
    return failing if atlas.sample is None else failing & among


def drawn_of(view: View, atlas: Atlas) -> Drawn:
    """Return what was drawn of an atlas for the same failing nodes, if it is still at hand.

    Shapes that were generated are often broken by the very same nodes, and symptoms with as many
    failing nodes are looked into one after the other, so the last few are kept.
    """
    if not atlas.shared:
        return Drawn()
    key = id(atlas), view.marks.failing_mask, exposed(view)
    kept = cast("dict[object, tuple[Atlas, Drawn]]", view.kept.setdefault("drawn", {}))
    found = kept.pop(key, (atlas, Drawn()))
    while len(kept) >= _DRAWN:
        del kept[next(iter(kept))]
    kept[key] = found
    return found[1]


def explore(
    view: View,
    extent: Extent | None = None,
    atlas: Atlas | None = None,
    origins: Origins | None = None,
    drawn: Drawn | None = None,
) -> Explored:
    """Search a view; `atlas` says which nodes are looked at, by default all.

    With `origins` only what says where failures come from is found, and not how nodes fail.
    `drawn` is what an earlier search of the view drew.
    """
    with _uncollected():
        return _explore(view, extent or Extent(), atlas, origins, drawn or Drawn())


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let the collector of cycles rest: a search makes many tuples that stay, and no cycle."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _explore(
    view: View, extent: Extent, atlas: Atlas | None, origins: Origins | None, drawn: Drawn
) -> Explored:
    atlas = atlas or atlas_of(view, extent)
    bars = Bars(view, atlas.own)
    among = looked_at(view, atlas)
    failing = failing_of(view, atlas, among)
    hunt = Hunt(atlas, failing, origins or bars, extent, among, bars.direct, drawn=drawn,
                match=bars.match)  # fmt: skip
    if origins is not None:
        hunt.leaves = origins.sign
    hunt.explore()
    telling = _Telling(hunt, bars)
    story = list(hunt.story(telling.shortened))
    told = [region for region, _ in story]
    found = tuple(
        telling.found(
            region,
            telling.rival(region, (r for r in rivals if mixed(r, told[place:], failing) < TOLD)),
        )
        for place, (region, rivals) in enumerate(story)
    )
    ranked = sorted(hunt.pool.restated, key=lambda r: r[0].order)[: len(found) + 3]
    restated = tuple(telling.found(region, why=why, deal=False) for region, why in ranked)
    best = hunt.nearest()
    return Explored(
        found,
        None if best is None else telling.found(best),
        restated,
        tuple(hunt.unreached),
        len(hunt.cuts),
        sum(int(sum(cut.ways.values())) for cut in hunt.cuts),
        among,
        hunt.pool.costs(),
    )


def recounted(view: View, found: Found) -> Found:
    """Count the bits that a region saves in the whole population, where a sample was looked at.

    How it does with clusters dealt as wholes stays as it was found.
    """
    could = exposed(view)
    nodes, failing = held(view, found) & could, view.marks.failing_mask & could
    bad, inside = (nodes & failing).bit_count(), nodes.bit_count()
    bits = Scale(could, failing).bits(bad, inside)
    rest = failing.bit_count() - bad, could.bit_count() - inside
    more = 0.0 if bits is None else bits
    return replace(found, bits=more - found.cost, table=Table(bad, inside, *rest, view.weight))


def held(view: View, found: Found) -> int:
    """Return the nodes of the population that a region holds, and remember them for its pattern.

    Each part is asked for once, and a negation by those that it leaves out.
    """
    name = region_name(view.marks.population, digest(found.pattern)).value
    if name not in view.known:
        everyone = (1 << len(view.marks.population.nodes)) - 1
        view.known[name] = reduce(and_, (_held(view, each) for each in found.parts), everyone)
    return view.known[name]


def _held(view: View, part: Condition) -> int:
    if part.outside is None:
        return members(view, part.pattern)
    return ((1 << len(view.marks.population.nodes)) - 1) & ~members(view, part.outside)


def judged(view: View, parts: Sequence[Condition], atlas: Atlas | None = None) -> Found:
    """Judge a conjunction that was proposed from outside, by a person or a program.

    It pays for its length like all that is found; `parts` are as `language.read` makes them. It
    saves nothing, be it ever so true, where a part names what could not have been said: a value
    that is nowhere, or a text that is neither a word nor three letters.
    """
    atlas = atlas or atlas_of(view)
    bars = Bars(view, atlas.own)
    among = looked_at(view, atlas)
    failing = failing_of(view, atlas, among)
    hunt = Hunt(atlas, failing, bars, Extent(), among, bars.direct)
    priced = tuple(_priced(view, part, atlas, hunt) for part in parts)
    mask = among
    for part in priced:
        mask &= part.mask
    region = hunt.scored(priced, mask, among) or Region(priced, mask, -inf)
    why = next((said for part in priced if (said := bars(part))), "")
    return _Telling(hunt, bars).found(region, why=why)


def best_along(view: View, path: Path) -> Found | None:
    """Return the condition on one path that tells most of who fails, whether it pays or not.

    None where no condition there fails more than others, or where each only restates the rule.
    """
    atlas = atlas_of(view)
    bars = Bars(view, atlas.own)
    among = looked_at(view, atlas)
    hunt = Hunt(atlas, failing_of(view, atlas, among), bars, Extent(), among, bars.direct)
    best = hunt.along(path)
    return None if best is None else _Telling(hunt, bars).found(best)


def _priced(view: View, part: Condition, atlas: Atlas, hunt: Hunt) -> Condition:
    """Fill in who a condition holds, and what it costs."""
    for path in part.paths:
        for place in range(1, len(path) + 1):
            atlas.table(Path(path.steps[:place]))
    further = sum(atlas.bits(path) for path in part.paths[1:])
    cut = cut_of(atlas, atlas.table(part.path))
    hunt.cuts.append(cut)
    named = next((len(v) for _, v in part.terms if isinstance(v, list)), 1)
    made = replace(part, mask=atlas.own(members(view, part.pattern)))
    return replace(made, bits=cut.bits(part.test, named) + further if cut.says(made) else inf)


def of_origin(
    view: View, found: Explored, atlas: Atlas, drawn: Drawn | None = None
) -> Explored | None:
    """Search for where failures come from, where what was found first only says how nodes fail.

    Gives None where it is no more than that, or where nothing was found.
    """
    if not found.found:
        return None
    among = looked_at(view, atlas)
    failing = failing_of(view, atlas, among)
    origins = Origins(Bars(view, atlas.own), atlas, failing, among)
    if not all(origins(part) for part in found.found[0].parts):
        return None
    return explore(view, atlas=atlas, origins=origins, drawn=drawn)


class _Telling:
    """Makes what is told of the regions of a hunt."""

    def __init__(self, hunt: Hunt, bars: Bars) -> None:
        self._hunt, self._bars = hunt, bars
        self._clusters: dict[tuple[Path, int], Clusters] = {}

    @cached_property
    def _units(self) -> list[Unit]:
        among, known = self._hunt.among, self._hunt.atlas.units
        for cut in self._hunt.cuts:
            if (cut.path, among) not in known:
                known[cut.path, among] = unit_of(cut.table, cut.clusters, among)
        return units(known[cut.path, among] for cut in self._hunt.cuts)

    def rival(self, region: Region, rivals: Iterable[Region]) -> Found | None:
        """Return the first of some rivals that holds other nodes than a region."""
        mask = self._mask(region)
        other = next((each for each in rivals if self._mask(each) != mask), None)
        return None if other is None else self.found(other)

    def _mask(self, region: Region) -> int:
        return reduce(and_, (part.mask for part in region.parts), self._hunt.among)

    def found(
        self,
        region: Region,
        rival: Found | None = None,
        *,
        why: str = "",
        deal: bool = True,
    ) -> Found:
        """Count a region among all nodes, and deal its clusters as wholes, if they are asked for.

        That takes longest, and says nothing of a region that only restates the rule.
        """
        hunt, mask = self._hunt, self._mask(region)
        whole = hunt.scored(region.parts, mask, hunt.among)
        bad, inside = (mask & hunt.failing).bit_count(), mask.bit_count()
        counts = Table(
            bad,
            inside,
            hunt.failing.bit_count() - bad,
            hunt.among.bit_count() - inside,
        )
        return Found(
            region.parts,
            mask,
            region.cost,
            whole.bits if whole is not None else -region.cost,
            region.bits,
            counts,
            self._kind(region),
            self._weakest(region) if deal else None,
            why,
            rival,
        )

    def shortened(self, region: Region, among: int) -> Region | None:
        """Return a region without the parts that clusters with rates of their own make.

        A part that leaves out a few clusters of what the others hold is an exception. Of few
        clusters one or two fail least whatever the cause, so it has to be beyond that. The part
        that tells most is none. Then come parts that are such clusters themselves. Bits are of some
        nodes; None where all parts stand, or where what is left is not told.
        """
        scale, left = Scale(among, self._hunt.failing), region
        while len(left.parts) > 1:
            shorter = [without(left, place, scale) for place in range(len(left.parts))]
            lost = [inf if each is None else left.bits - each.bits for each in shorter]
            backbone = lost.index(max(lost))
            weak = [place for place in self._exceptions(left) if place != backbone]
            if not weak:
                break
            wider = shorter[min(weak, key=lambda place: lost[place])]
            if wider is None or wider.bits <= 0:
                return None
            left = wider
        left = self._steadied(left, scale)
        return left if left is not region and self.found(left).told else None

    def _steadied(self, region: Region, scale: Scale) -> Region:
        """Return a region without the parts by which clusters with rates of their own hold it back.

        Where one part is no more than such clusters do by their rates, the others may still be
        told. As it is where it is told, where its bits are what it lacks, and in a sample, in which
        clusters of a few nodes may have none left to compare.
        """
        left: Region | None = region
        while left is not None and len(left.parts) > 1 and self._hunt.atlas.sample is None:
            found = self.found(left)
            if found.told or found.bits < TOLD or found.weakest is None:
                break
            left = without(left, found.weakest.part, scale)
        return left or region

    def _exceptions(self, region: Region) -> set[int]:
        """Return the places of parts that leave out what few clusters may by their rates alone."""
        ways = self._ways
        return {
            place
            for place, mask, among in self._parts(region)
            if 2 * (mask & among).bit_count() >= among.bit_count()
            for unit in self._units
            if (usual := excepted(mask & among, self._held(unit, among), ways)) is not None
            and usual > EXCEPTED
        }

    @cached_property
    def _ways(self) -> int:
        """The number of ways in which nodes are clustered coarsely."""
        return sum(1 for unit in self._units if len(unit.masks) <= LEAST_SIBLINGS)

    def _weakest(self, region: Region) -> Weakest | None:
        """Return where a region does worst: which part, by which clusters."""
        ways = self._ways
        found = [
            Weakest(place, made, cost, ways)
            for place, mask, among in self._parts(region)
            for cost in (added(region.parts, place),)
            for unit in self._units
            if (made := dealt(mask & among, self._held(unit, among), unit, cost, ways)) is not None
            and not self._bars.answers(made, region.parts[place])
        ]
        doubtful = [w for w in found if not w.dealt.fine and w.dealt.probability > ALONE]
        return max(doubtful or found, key=lambda w: w.dealt.probability, default=None)

    def _held(self, unit: Unit, among: int) -> Clusters:
        key = unit.table.path, among
        if key not in self._clusters:
            self._clusters[key] = Clusters(
                unit, among, self._hunt.among & ~among, self._hunt.failing
            )
        return self._clusters[key]

    def _parts(self, region: Region) -> Iterator[tuple[int, int, int]]:
        """Return the place and nodes of each part, and the nodes that the other parts hold."""
        for place, part in enumerate(region.parts):
            if self._bars.on_value(part):
                continue  # what is wrong with the value itself can be checked directly
            among = self._hunt.among
            for other in region.parts:
                among &= other.mask if other is not part else among
            yield place, part.mask, among

    def _kind(self, region: Region) -> str:
        kinds = [self._kind_of(part) for part in region.parts]
        order = ("datatype", "value", "source", "drift", "cohort")
        return min(kinds, key=order.index)

    def _kind_of(self, part: Condition) -> str:
        header = part.template.header
        if self._bars.on_value(part) and "on-value" in header:
            return header["on-value"]
        if part.dated and "of-dates" in header:
            return header["of-dates"]
        return part.path.kind


def added(parts: Sequence[Condition], place: int) -> float:
    """Return the bits that one part adds to the code of a conjunction.

    Each part has to pay for itself: the others are paid for by what they tell on their own.
    """
    bits = [part.bits for part in parts]
    others = bits[:place] + bits[place + 1 :]
    return together(bits) - (together(others) if others else 0.0)
