"""Read whether a region fails alike on both halves of a population."""

import math
from collections.abc import Sequence
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.store import Row
from kgreason.base.weights import weighted_rate
from kgreason.test.finding import Finding, Setting, integers

LEAST: Final = integer("halfNodes")
RATE: Final = figure("lopsidedRate")
TAIL: Final = figure("lopsidedTail")


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return alike, lopsided, or undetermined where a half has too few nodes of the region.

    It is lopsided where one half has less than a quarter of the rate of the other, and so few
    failures have a probability of one in a thousand at most by that rate (binomial).
    """
    halves = sorted(tuple(integers(row, "place", "failing", "population")) for row in rows)
    (_, one, nodes), (_, other, beside) = halves
    told = f"{one} of {nodes} nodes inside fail on one half, {other} of {beside} on the other"
    strata = [
        {"insideFailing": failing, "inside": population, "index": place}
        for place, failing, population in halves
    ]
    if min(nodes, beside) < LEAST:
        return Finding("undetermined", f"{told}: too few to compare.", strata=strata)
    low, high = sorted(((one, nodes), (other, beside)), key=lambda half: half[0] / half[1])
    rate = (high[0] + 0.5) / (high[1] + 1)
    tail = math.fsum(_binomial(k, low[1], rate) for k in range(low[0] + 1))
    rates = (weighted_rate(*half, setting.weight) for half in (low, high))
    apart = next(rates) < RATE * next(rates) and tail <= TAIL
    note = f"{told} ({setting.percent(*low)} and {setting.percent(*high)})."
    return Finding("lopsided" if apart else "alike", note, strata=strata)


def _binomial(failing: int, nodes: int, rate: float) -> float:
    logs = (
        math.lgamma(nodes + 1) - math.lgamma(failing + 1) - math.lgamma(nodes - failing + 1),
        failing * math.log(rate),
        (nodes - failing) * math.log1p(-rate),
    )
    return math.exp(math.fsum(logs))
