"""The smallest effect that a search would have seen: what "no systematic cause" is worth.

A condition told by statistics is seen where it stands out on the discovery half, and the e-value
of its association on the held-out half reaches what e-BH asks of one hypothesis alone: K / alpha,
for K hypotheses. So the size of a population and the number of its failing nodes tell which
conditions could have been seen at all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Table, deviance, e_value_two_proportions

POWER: Final = figure("detectablePower")
_DEVIATIONS: Final = NormalDist().inv_cdf(POWER)
MIN_G: Final = figure("minG")
"""The least G statistic of a region that is proposed; about p = 0.004 for one fixed beforehand."""
_PROPOSED: Final = 3
"""Families propose what holds as many failing nodes of the discovery half."""
_BOTH: Final = 2
"""Fewer nodes cannot have a part in both halves."""


@dataclass(frozen=True)
class Detectable:
    """What would have been seen: `failing` of `nodes` nodes, or `fewest` nodes that all fail."""

    nodes: int
    failing: int
    fewest: int


@cache
def detectable(population: int, failing: int, needed: float) -> Detectable | None:
    """Return the smallest effects that reach an e-value; None where none does.

    Looked at are conditions on as many nodes as fail (at most half of the population), from the
    rate of all nodes upwards, and conditions all of whose nodes fail. Both halves hold half of the
    nodes. Of `a` failing among `n` nodes the held-out half holds m·a/n (m being half of n) less z
    standard deviations of the hypergeometric distribution, the variance of which is
    m·(a/n)·(1 - a/n)·(n - m)/(n - 1); z = 0.84 for a power of 0.8. So four of five splits show no
    less.

    Source: the e-value is that of `e_value_two_proportions`; the threshold is that of R. Wang and
    A. Ramdas, "False discovery rate control with e-values", JRSS B 84 (2022); the variance is that
    of drawing without replacement, W. G. Cochran, "Sampling Techniques" (1977), section 3.2.
    """
    nodes = min(failing, population // 2)
    if nodes < _BOTH or not 0 < failing < population:
        return None

    def reached(inside: int, bad: int) -> bool:
        first, second = halves(population, failing, inside, bad)
        found = first.inside_failing >= _PROPOSED and deviance(first) >= MIN_G
        return found and e_value_two_proportions(first, second) >= needed

    if not reached(nodes, nodes):
        return None
    usual = math.ceil(nodes * failing / population)
    return Detectable(
        nodes,
        _least(usual, nodes, lambda bad: reached(nodes, bad)),
        _least(_BOTH, nodes, lambda inside: reached(inside, inside)),
    )


def halves(population: int, failing: int, inside: int, bad: int) -> tuple[Table, Table]:
    """Return the tables of both halves that a condition with `bad` of `inside` nodes would give."""
    held = inside // 2
    share = bad / inside
    variance = held * share * (1 - share) * (inside - held) / max(1, inside - 1)
    few = max(0, math.floor(held * share - _DEVIATIONS * math.sqrt(variance)))
    outside, others = population - inside, failing - bad
    second = Table(few, held, others // 2, outside // 2)
    first = Table(
        min(bad - few, inside - held), inside - held, others - others // 2, outside - outside // 2
    )
    return first, second


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number for which something holds that holds for the highest: by halving."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high
