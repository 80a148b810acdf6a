"""What a region is worth where nodes stand and fall together: clusters dealt as wholes.

Where the nodes of one run or one document share a rate of their own, nodes are not exchangeable,
and bits counted by nodes say too much. So a region that is made of whole clusters, one or many, is
held against the rates of the clusters outside it: how probable are its counts if they are a few
more of the same beta-binomial family, its mean and spread learned from the others alone, and how
probable if they have a mean of their own?
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from pyoxigraph import Literal

from kgreason.base.figures import figure, integer
from kgreason.base.siblings import FAR, LEAST_SIBLINGS, beta_binomial_tail, odds, usual_odds
from kgreason.base.statistics import Count
from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.hypothesize.conditions.atlas import Table
from kgreason.hypothesize.conditions.code import beta_binomials, log_choose
from kgreason.hypothesize.conditions.paths import Path

ALONE: Final = figure("aloneTail")
"""At most so probable is what few clusters do by their spread alone, where it is told."""
EXCEPTED: Final = figure("exceptionTail")
"""At most so probable is what few clusters leave out by their spread alone, where it is told."""
FEWEST: Final = integer("fewestClusters")
"""Fewer clusters outside a region say nothing of a spread."""
_FEW_FAR: Final = figure("clusterFar")
_COVERED: Final = figure("clusterCovered")
_WHOLE: Final = figure("clusterWhole")
_LARGEST: Final = figure("clusterLargest")
_MOST: Final = integer("clusterSample")
_MORE: Final = figure("elsewhereNodes")
_ERRORS: Final = figure("elsewhereErrors")
_LEAST_PROBABILITY: Final = 2.0**-300
_MEANS: Final = (0.001, 0.003, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98)
_NEAR: Final = (0.3, 0.55, 0.8, 1.0, 1.25, 1.8, 3.0)  # times the rate of all the others
_SPREADS: Final = (0.02, 0.06, 0.2, 0.6, 1.5, 4.0, 10.0, 25.0)
"""Spreads of rates: about the variance of their log-odds, as in `probes.siblings`."""

_DAY: Final = 10  # letters of a date without its time

Masks = Sequence[int]
Cluster = tuple[int, int, int, int, int]
"""Its failing nodes, all, and those in a region; its failing nodes and all that a rest leaves out.
"""


@dataclass(frozen=True)
class Unit:
    """A way to cluster the nodes of a population: by what lies at the end of a path."""

    table: Table
    masks: Masks


def clustered(path: Path) -> Fragment:
    """Return the pattern that gives each ?focus with one end of a path its cluster as ?level.

    Of times that is the day, as in `units`.
    """
    text = (
        f"{{ SELECT ?focus (SAMPLE(?cluster) AS ?level) WHERE {{ {path.inner.text}\n"
        f'BIND (IF(isLiteral(?end) && SUBSTR(STR(?end), {_DAY + 1}, 1) = "T", '
        f"SUBSTR(STR(?end), 1, {_DAY}), ?end) AS ?cluster) }} "
        "GROUP BY ?focus HAVING (COUNT(DISTINCT ?end) = 1) }"
    )
    return Fragment(text, path.inner.prefixes)


@dataclass(frozen=True)
class Parted:
    """Clusters, as (failing, all) nodes: those that lie in a region, and the others.

    Of a conjunction only nodes that its other parts hold are counted here; `own_elsewhere` and
    `others_elsewhere` are the nodes of the same clusters that these do not hold. `whole` says
    whether the region is made of whole clusters.
    """

    inside: Sequence[Count]
    outside: Sequence[Count]
    whole: bool
    own_elsewhere: Count = (0, 0)
    others_elsewhere: Count = (0, 0)


@dataclass(frozen=True)
class Dealt:
    """How a region does where the clusters of a unit are dealt as wholes.

    `inside` and `outside` are (failing, all) nodes of the clusters that lie in the region, and of
    the others. `probability` is at most that of the region doing so well by their spread alone.
    """

    unit: Table
    inside: Sequence[Count]
    outside: Sequence[Count]
    probability: float

    @property
    def fine(self) -> bool:
        """Whether there are enough other clusters to know their spread well."""
        return len(self.outside) >= LEAST_SIBLINGS

    @property
    def bits(self) -> float:
        """The bits that are left."""
        return -math.log2(max(self.probability, _LEAST_PROBABILITY))


def units(found: Iterable[Unit | None]) -> list[Unit]:
    """Return the ways to cluster nodes, those that part them alike once."""
    out, seen = [], set()
    for unit in found:
        if unit is not None and (key := frozenset(unit.masks)) not in seen:
            seen.add(key)
            out.append(unit)
    return out


def unit_of(table: Table, parts: Masks, nodes: int) -> Unit | None:
    """Return the ends of a path as clusters; None unless there are several of more than a node.

    `parts` are the nodes of these, as `clustered_by` gives them.
    """
    if not table.path.steps:
        return None
    some, two = table.at_least
    once = some & ~two & nodes
    size = nodes.bit_count()
    if once.bit_count() < _COVERED * size:
        return None
    masks = [own for mask in parts if (own := mask & once)]
    several = sum(1 for m in masks if m & (m - 1))
    largest = max((m.bit_count() for m in masks), default=0)
    fine = several > LEAST_SIBLINGS and largest <= _LARGEST * size
    coarse = FEWEST < len(masks) <= LEAST_SIBLINGS
    return Unit(table, masks) if fine or coarse else None


def clustered_by(table: Table) -> list[int]:
    """Return the nodes of each end of a path; of times, those of each day."""
    days: dict[Term | str, int] = {}
    for end, mask in table.ends.items():
        dated = isinstance(end, Literal) and len(end.value) > _DAY and end.value[_DAY] == "T"
        key: Term | str = end.value[:_DAY] if dated else end
        days[key] = days.get(key, 0) | mask
    return list(days.values())


@dataclass(frozen=True)
class Clusters:
    """The clusters of a unit that have nodes among some; the other nodes are `elsewhere`.

    Most regions are not made of whole clusters, and of those nothing but sizes is asked.
    """

    unit: Unit
    among: int = field(repr=False)
    elsewhere: int = field(repr=False)
    failing: int = field(repr=False)

    @cached_property
    def nodes(self) -> list[int]:
        """The nodes of each cluster among these."""
        return [nodes for mask in self.unit.masks if (nodes := mask & self.among)]

    @cached_property
    def sizes(self) -> list[int]:
        """The number of nodes of each."""
        return [nodes.bit_count() for nodes in self.nodes]

    @cached_property
    def here(self) -> list[Count]:
        """The failing nodes of each, and all."""
        bad = [(nodes & self.failing).bit_count() for nodes in self.nodes]
        return list(zip(bad, self.sizes, strict=True))

    @cached_property
    def rest(self) -> list[Count]:
        """The failing nodes of each that lie elsewhere, and all that do."""
        others = [mask & self.elsewhere for mask in self.unit.masks if mask & self.among]
        return [((nodes & self.failing).bit_count(), nodes.bit_count()) for nodes in others]

    def own(self, region: int) -> list[int] | None:
        """Return how many nodes of each cluster lie in a region of these nodes.

        None as soon as it is seen that the region is not made of whole clusters.
        """
        out, least = [], _WHOLE * region.bit_count()
        left = region.bit_count()
        for nodes, size in zip(self.nodes, self.sizes, strict=True):
            own = (nodes & region).bit_count()
            out.append(own)
            if own and own < _WHOLE * size:
                left -= own
                if left < least:
                    return None
        return out


def dealt(region: int, held: Clusters, unit: Unit, cost: float, ways: int) -> Dealt | None:
    """Deal the clusters of a unit; None where a region is not made of whole ones.

    `held` are its clusters among the nodes that the other parts of a conjunction hold, and of these
    alone the `region` is.
    """
    owns, size = held.own(region), region.bit_count()
    if owns is None:
        return None
    whole = sum(own for own, here in zip(owns, held.sizes, strict=True) if own >= _WHOLE * here)
    if whole < _WHOLE * size:
        return None
    rows = zip(held.here, owns, held.rest, strict=True)
    found = parted(((*here, own, *rest) for here, own, rest in rows), size)
    if not found.whole or len(found.outside) < FEWEST:
        return None
    return Dealt(unit.table, found.inside, found.outside, probability(found, cost, ways))


def excepted(region: int, held: Clusters, ways: int) -> float | None:
    """Return at most the probability that few clusters pass so by the spread of the others.

    None where they are not few, where the region leaves out no whole ones or more than it is made
    of, or is made of fewer than two. They are taken for one, times the number of choices of so many
    and of the `ways` in which nodes are clustered coarsely.
    """
    inside: list[Count] = []
    outside: list[Count] = []
    for nodes, (failing, size) in zip(held.nodes, held.here, strict=True):
        own = (nodes & region).bit_count()
        if own and not lies_within(size, own):
            return None
        (inside if own else outside).append((size - failing, size))
    if not 0 < len(outside) <= len(inside) or len(inside) < FEWEST:
        return None  # what names a few clusters is no exception
    if len(inside) + len(outside) > LEAST_SIBLINGS:
        return None
    rest = sum(passing for passing, _ in outside), sum(size for _, size in outside)
    choices = math.comb(len(inside) + len(outside), len(outside)) * max(1, ways)
    return min(1.0, beta_binomial_tail(inside, rest) * choices)


def probability(found: Parted, cost: float, ways: int) -> float:
    """Return at most the probability that clusters do so well by their rates of their own.

    That is by the spread of the others, or, of a conjunction, by the rates that the same clusters
    have elsewhere; what is known best counts.
    """
    spread = _by_spread(found.inside, found.outside, cost, ways)
    return spread if spread <= _LEAST_PROBABILITY else min(spread, _by_elsewhere(found, cost))


def _by_spread(inside: Sequence[Count], outside: Sequence[Count], cost: float, ways: int) -> float:
    """Return at most the probability that clusters do so well by the spread of the others.

    From ten others on it is Markov's bound: two to the minus of what is left of the bits. Fewer do
    not tell their spread as well: the tail of a beta-binomial, several clusters taken for one,
    times the number of choices of so many, and the number of `ways` in which nodes are clustered
    coarsely. Not so for odds thirty times the usual ones (`policy:clusterFar`): so few clusters
    that differ by chance hardly ever differ so.
    """
    if len(outside) >= LEAST_SIBLINGS:
        return float(2.0 ** -max(0.0, beyond(inside, outside) - cost))
    own = sum(f for f, _ in inside), sum(n for _, n in inside)
    far = _FEW_FAR * usual_odds(outside)
    if odds(*own) >= far:
        near = [each for each in outside if odds(*each) < far]
        return beta_binomial_tail(near if len(near) >= FEWEST else outside, own)
    choices = math.comb(len(inside) + len(outside), len(inside)) * max(1, ways)
    return min(1.0, beta_binomial_tail(outside, own) * choices)


def _by_elsewhere(found: Parted, cost: float) -> float:
    """Return at most the probability that clusters do so well by their rates elsewhere.

    A cluster with a rate of its own has it wherever its nodes are. The other conditions may raise
    its odds as they raise those of the other clusters, and fifty-fold at least, which covers much
    that clusters have in common there by chance. From the odds elsewhere, at the upper end of what
    they may be (three failing nodes more than two standard errors; three where there are none),
    follows a rate; to do better has at most the probability that Chernoff's bound gives, and the
    search pays for what it costs to say the region.
    """
    failing, nodes = found.own_elsewhere
    bad, inside = map(sum, zip(*found.inside, strict=True))
    if not nodes:
        return 1.0
    more = math.ceil(_ERRORS * math.sqrt(failing) + _MORE)
    highest = odds(failing + more, nodes + more)
    others = (sum(f for f, _ in found.outside), sum(n for _, n in found.outside))
    raised = max(FAR, odds(*others) / odds(*found.others_elsewhere))
    rate = highest * raised / (1 + highest * raised)
    return float(2.0 ** -max(0.0, inside * _apart(bad / inside, rate) - cost))


def _apart(share: float, rate: float) -> float:
    """Return the divergence of a share from a rate that it exceeds, in bits (Chernoff's bound)."""
    if share <= rate:
        return 0.0
    rest = (1 - share) * math.log2((1 - share) / (1 - rate)) if share < 1 else 0.0
    return share * math.log2(share / rate) + rest


def lies_within(nodes: int, own: int) -> bool:
    """Check whether a cluster lies in a region that holds so many of its nodes."""
    return own >= _WHOLE * nodes


def parted(clusters: Iterable[Cluster], size: int) -> Parted:
    """Return the clusters inside and outside a region.

    Of each cluster its failing nodes, all, and those that the region holds are given, of nodes that
    the other parts hold; and its failing nodes and all elsewhere. The region has `size` nodes.
    """
    inside: list[Count] = []
    outside: list[Count] = []
    rest = {True: (0, 0), False: (0, 0)}
    whole = 0
    for failing, nodes, own, failing_elsewhere, elsewhere in clusters:
        within = lies_within(nodes, own)
        (inside if within else outside).append((failing, nodes))
        whole += own if within else 0
        before = rest[within]
        rest[within] = (before[0] + failing_elsewhere, before[1] + elsewhere)
    made = bool(inside) and whole >= _WHOLE * size
    return Parted(inside, outside, made, rest[True], rest[False])


def beyond(inside: Sequence[Count], outside: Sequence[Count]) -> float:
    """Return the bits by which some clusters are beyond the family of the others."""
    return _beyond(tuple(sorted(Counter(inside).items())), tuple(sorted(_sampled(outside).items())))


@lru_cache(maxsize=1024)
def _beyond(inside: tuple[tuple[Count, int], ...], outside: tuple[tuple[Count, int], ...]) -> float:
    """Return the same of counts, of which symptoms that the same nodes fail have the same."""
    new = _counted(dict(inside))
    near, learned = _learned(outside)
    both = [
        log + beta_binomials(new, *shape) for log, (_, shape) in zip(learned, near, strict=True)
    ]
    own = _sum(weight + beta_binomials(new, *shape) for weight, shape in _cells(_MEANS))
    return own - (_sum(both) - _sum(learned))


_Counted = Sequence[tuple[int, int, int, float]]
"""How many clusters have so many failing and so many nodes, and log2 of the ways to choose them."""
_Cells = Sequence[tuple[float, tuple[float, float]]]


def _counted(clusters: Mapping[Count, int]) -> _Counted:
    return [(f, n, times, log_choose(n, f)) for (f, n), times in sorted(clusters.items())]


@lru_cache(maxsize=256)
def _learned(known: tuple[tuple[Count, int], ...]) -> tuple[_Cells, Sequence[float]]:
    """Return means and spreads near those of some clusters, and log2 of how well each fits."""
    failing = sum(times * f for (f, _), times in known)
    usual = (failing + 0.5) / (sum(times * n for (_, n), times in known) + 1)
    near = _cells(sorted({min(0.99, usual * times) for times in _NEAR}))
    counts = _counted(dict(known))
    return near, [weight + beta_binomials(counts, *shape) for weight, shape in near]


def _cells(means: Sequence[float]) -> _Cells:
    """Return log2 of the prior weight of each mean and spread, which add up to 1, and its shape.

    A spread of log-odds above 1 is less likely the greater it is.
    """
    weights = [1 / math.sqrt(1 + spread) for spread in _SPREADS]
    total = sum(weights) * len(means)
    return [
        (math.log2(weight / total), (mean, 1 / (spread * mean * (1 - mean))))
        for mean in means
        for spread, weight in zip(_SPREADS, weights, strict=True)
    ]


def _sampled(counts: Sequence[Count]) -> Mapping[Count, int]:
    step = -(-len(counts) // _MOST)
    return Counter(sorted(counts)[::step])


def _sum(logs: Iterable[float]) -> float:
    """Return log2 of the sum of what these are the logarithms of."""
    found = list(logs)
    top = max(found)
    return top + math.log2(sum(2 ** (x - top) for x in found))
