"""The effect in an outcome's own numbers: the difference of its means inside and outside a region.

The region was found on the other half, so the interval is not made too narrow by the search. It is
that of one difference; over many hypotheses one in twenty misses.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.statistics import welch_interval
from kgreason.test.finding import decimal

PLACES: Final = 9
DERIVED: Final = frozenset({"effect", "effectFrom", "effectUntil"})
RAW: Final = ("meanInside", "meanOutside", "deviationInside", "deviationOutside")

Numbers = Sequence[Decimal]
"""The numbers of the nodes on one side of a region, in the outcome's unit."""


def measured(inside: Numbers, outside: Numbers) -> dict[str, Decimal]:
    """Return means, standard deviations, their difference and its 95 % interval; all by name.

    Nothing where a side is empty, and no interval where a side has fewer than five numbers or none
    of them varies.
    """
    if not inside or not outside:
        return {}
    sides = (inside, outside)
    mean_inside, mean_outside = (decimal(float(sum(s)) / len(s), PLACES) for s in sides)
    spread = [decimal(_deviation(side), PLACES) for side in sides]
    raw = dict(zip(RAW, (mean_inside, mean_outside, *spread), strict=True))
    return raw | derived(raw, len(inside), len(outside))


def derived(raw: Mapping[str, Decimal], inside: int, outside: int) -> dict[str, Decimal]:
    """Return the difference of two means and its interval, from what is recorded of both sides."""
    means = raw["meanInside"], raw["meanOutside"]
    effect = means[0] - means[1]
    found = {"effect": effect}
    deviations = float(raw["deviationInside"]), float(raw["deviationOutside"])
    reach = welch_interval(deviations, (inside, outside))
    if reach is not None:
        found["effectFrom"] = decimal(float(effect) - reach, PLACES)
        found["effectUntil"] = decimal(float(effect) + reach, PLACES)
    return found


def _deviation(numbers: Numbers) -> float:
    """Return the sample standard deviation (divisor n - 1), 0 for a single number."""
    mean = sum(numbers, Decimal(0)) / len(numbers)
    squares = math.fsum(float((number - mean) ** 2) for number in numbers)
    return math.sqrt(squares / (len(numbers) - 1)) if len(numbers) > 1 else 0.0
