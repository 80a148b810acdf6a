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
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal

from kgreason.base.figures import figure, integer
from kgreason.base.siblings import beta_binomial_tail
from kgreason.base.statistics import Count
from kgreason.base.store import Term
from kgreason.hypothesize.conditions.atlas import Table
from kgreason.hypothesize.conditions.code import beta_binomial

LEAST_SIBLINGS: Final = integer("siblingClusters")
"""With fewer clusters outside a region their spread is not well known."""
_FEWEST: Final = integer("fewestClusters")
_COVERED: Final = figure("clusterCovered")
_WHOLE: Final = figure("clusterWhole")
_LARGEST: Final = figure("clusterLargest")
_MOST: Final = integer("clusterSample")
_MEANS: Final = (0.001, 0.003, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98)
_NEAR: Final = (0.3, 0.55, 0.8, 1.0, 1.25, 1.8, 3.0)  # times the rate of all the others
_SPREADS: Final = (0.02, 0.06, 0.2, 0.6, 1.5, 4.0, 10.0, 25.0)
"""Spreads of rates: about the variance of their log-odds, as in `probes.siblings`."""

Masks = Sequence[int]


@dataclass(frozen=True)
class Unit:
    """A way to cluster the nodes of a population: by what lies at the end of a path."""

    table: Table
    masks: Masks


@dataclass(frozen=True)
class Held:
    """What is left of a region's bits where the clusters of a unit are dealt as wholes."""

    unit: Table
    bits: float
    inside: int
    outside: int


def units(tables: Iterable[Table], nodes: int) -> list[Unit]:
    """Return the ways to cluster nodes: into several clusters of more than one node."""
    out, seen = [], set()
    for table in tables:
        unit = _unit(table, nodes) if table.path.steps else None
        if unit is not None and (key := frozenset(unit.masks)) not in seen:
            seen.add(key)
            out.append(unit)
    return out


def _unit(table: Table, nodes: int) -> Unit | None:
    some, two = table.at_least[:2]
    once = some & ~two & nodes
    size = nodes.bit_count()
    if once.bit_count() < _COVERED * size:
        return None
    masks = _levels(table, once)
    several = sum(1 for m in masks if m & (m - 1))
    largest = max((m.bit_count() for m in masks), default=0)
    fine = several > LEAST_SIBLINGS and largest <= _LARGEST * size
    coarse = _FEWEST < len(masks) <= LEAST_SIBLINGS
    return Unit(table, masks) if fine or coarse else None


def _levels(table: Table, once: int) -> list[int]:
    """Return the nodes of each end; of times, those of each day."""
    days: dict[Term | str, int] = {}
    for end, mask in table.ends.items():
        if mask & once:
            dated = isinstance(end, Literal) and len(end.value) > _DAY and end.value[_DAY] == "T"
            key: Term | str = end.value[:_DAY] if dated else end
            days[key] = days.get(key, 0) | (mask & once)
    return list(days.values())


_DAY: Final = 10  # letters of a date without its time


def held(region: int, among: int, failing: int, cost: float, unit: Unit) -> Held | None:
    """Return the bits of a region by clusters; None where it is not made of whole ones.

    Only the nodes in `among` are looked at: those that the other parts of a conjunction hold.
    """
    inside, outside, made = _parted(region & among, among, failing, unit)
    if not made or len(outside) < LEAST_SIBLINGS:
        return None
    return Held(unit.table, beyond(inside, outside) - cost, len(inside), len(outside))


def alone(region: int, among: int, failing: int, unit: Unit) -> float | None:
    """Return the probability that the worst of a few clusters, or so many, fail as a region does.

    Several are taken for one, which is the less likely to stand out, times the ways to choose
    them. It is 1 where too few others are left to learn from, and None where the region is not made
    of such clusters, or there are so few in all that no spread is looked at.
    """
    inside, outside, made = _parted(region & among, among, failing, unit)
    many = len(inside) + len(outside)
    if not made or not _FEWEST < many <= LEAST_SIBLINGS:
        return None
    if len(outside) < _FEWEST:
        return 1.0
    tail = beta_binomial_tail(outside, (sum(f for f, _ in inside), sum(n for _, n in inside)))
    return min(1.0, tail * math.comb(many, len(inside)))


def _parted(
    region: int, among: int, failing: int, unit: Unit
) -> tuple[list[Count], list[Count], bool]:
    """Return the clusters inside and outside a region, and whether it is made of whole ones."""
    inside: list[Count] = []
    outside: list[Count] = []
    whole = 0
    for mask in unit.masks:
        nodes = mask & among
        if not nodes:
            continue
        own, size = (nodes & region).bit_count(), nodes.bit_count()
        count = ((nodes & failing).bit_count(), size)
        if own >= _WHOLE * size:
            inside.append(count)
            whole += own
        else:
            outside.append(count)
    return inside, outside, bool(inside) and whole >= _WHOLE * region.bit_count()


def beyond(inside: Sequence[Count], outside: Sequence[Count]) -> float:
    """Return the bits by which some clusters are beyond the family of the others."""
    known, new = _sampled(outside), Counter(inside)
    usual = (sum(f for f, _ in outside) + 0.5) / (sum(n for _, n in outside) + 1)
    near = _cells(sorted({min(0.99, usual * times) for times in _NEAR}))
    learned = [weight + _likelihood(known, shape) for weight, shape in near]
    both = [log + _likelihood(new, shape) for log, (_, shape) in zip(learned, near, strict=True)]
    own = _sum(weight + _likelihood(new, shape) for weight, shape in _cells(_MEANS))
    return own - (_sum(both) - _sum(learned))


def _cells(means: Sequence[float]) -> list[tuple[float, tuple[float, float]]]:
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


def _likelihood(counts: Mapping[Count, int], shape: tuple[float, float]) -> float:
    return sum(c * beta_binomial(f, n, *shape) for (f, n), c in counts.items())


def _sampled(counts: Sequence[Count]) -> Mapping[Count, int]:
    step = -(-len(counts) // _MOST)
    return Counter(sorted(counts)[::step])


def _sum(logs: Iterable[float]) -> float:
    """Return log2 of the sum of what these are the logarithms of."""
    found = list(logs)
    top = max(found)
    return top + math.log2(sum(2 ** (x - top) for x in found))
