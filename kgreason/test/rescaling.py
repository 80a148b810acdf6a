"""Read whether the numbers of a place are those of its neighbours in another unit."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure, integer, number_list
from kgreason.base.store import Row
from kgreason.test.finding import Finding, Setting, decimal

_LEAST: Final = integer("rescalingNodes")
_ERRORS: Final = figure("rescalingErrors")
_SLACK: Final = figure("rescalingSlack")
_SHARP: Final = figure("rescalingSharp")
_SPREAD: Final = figure("rescalingSpread")
_SHAPE: Final = figure("rescalingShape")
_KS: Final = 1.358
"""The factor of the Kolmogorov-Smirnov statistic of two samples that chance exceeds once in 20."""
_MIDDLE_HALF: Final = 1.349
"""How many standard deviations the middle half of a normal distribution is wide."""
_PLACES: Final = 6
_UNITS: Final = number_list("unitRatios")
_ORDER: Final = {factor: place for place, factor in enumerate(_UNITS)}


@dataclass(frozen=True)
class Sizes:
    """How many numbers there are, and the median and spread of their natural logarithms.

    The spread is that of the middle half, as the standard deviation of a normal distribution with
    such a middle half, so that one in ten that is given in the right unit changes little. Both have
    so many places as a record keeps, so that the same follows from it.
    """

    count: int
    median: float
    spread: float

    @property
    def error(self) -> float:
        """The standard error of the median of n normal logarithms: √(π / 2n) times their spread."""
        return self.spread * math.sqrt(math.pi / 2 / self.count)


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return rescaled, alike, or undetermined where there are too few numbers to compare.

    They are held against those that one condition alone leaves out, and against all that lie
    outside; of several factors that which is meant most often counts.
    """
    _ = setting
    found: dict[str, dict[float, int]] = {}
    for row in rows:
        numbers = found.setdefault(row["outside"].value, {})
        number = float(row["number"].value)
        if 0 < number < math.inf:  # a decimal may be too small for a float
            numbers[number] = numbers.get(number, 0) + int(row["nodes"].value)
    own = _sorted([found.pop("", {})])
    beside = [_sorted([numbers]) for parts, numbers in sorted(found.items()) if len(parts) == 1]
    whole, *others = (_held(own, one) for one in (_sorted(found.values()), *beside))
    told = [each for each in (*others, whole) if each.outcome == "rescaled"]
    return min(told, key=lambda each: _ORDER[float(each.figures["unitRatio"])], default=whole)


def judged(inside: Sizes, beside: Sizes, distance: Callable[[float], float]) -> Finding:
    """Return what the sizes of numbers inside a region and beside it come to.

    They are rescaled where the spreads are alike, the two medians lie as far apart as two units,
    within two standard errors, which have to be small beside that, and the numbers are distributed
    alike once they are given in one unit. `distance` gives that of the two distributions where the
    logarithms inside are shifted by so much: the Kolmogorov-Smirnov statistic.
    """
    figures: dict[str, int | Decimal] = {"inside": inside.count, "outside": beside.count}
    if min(inside.count, beside.count) < _LEAST:
        note = f"There are {inside.count} numbers inside and {beside.count} beside: too few."
        return Finding("undetermined", note, figures)
    figures |= {
        "logMedianInside": decimal(inside.median, _PLACES),
        "logMedianOutside": decimal(beside.median, _PLACES),
        "spreadInside": decimal(inside.spread, _PLACES),
        "spreadOutside": decimal(beside.spread, _PLACES),
    }
    medians = f"medians {math.exp(inside.median):.4g} and {math.exp(beside.median):.4g}"
    factor = _factor(inside, beside)
    if factor is None:
        ratio = math.exp(abs(inside.median - beside.median))
        note = (
            f"The numbers there are {ratio:.3g} times as large as those of other nodes, or as "
            f"small, which is no factor between two common units, or they are spread otherwise: "
            f"{medians}."
        )
        return Finding("alike", note, figures)
    larger = inside.median > beside.median
    apart = distance(-math.log(factor) if larger else math.log(factor))
    figures["shapeDistance"] = decimal(apart, _PLACES)
    # The smaller the factor, the more else has it; of ten and more, one in ten may be right.
    slack = _SHAPE * min(1.0, math.log10(factor))
    if apart > slack + _KS * math.sqrt(1 / inside.count + 1 / beside.count):
        note = f"The numbers lie apart, but in one unit they would not be spread alike: {medians}."
        return Finding("alike", note, figures)
    point = ", or with a shifted decimal point" if math.log10(factor).is_integer() else ""
    note = (
        f"The numbers there are about {factor:.3g} times as {'large' if larger else 'small'} as "
        f"those of other nodes, and spread alike ({medians}), as in another unit{point}."
    )
    return Finding("rescaled", note, figures | {"unitRatio": decimal(factor, _PLACES)})


def _held(inside: "_Logs", beside: "_Logs") -> Finding:
    return judged(_sizes(inside), _sizes(beside), lambda shift: _distance(inside, beside, shift))


_Logs = list[tuple[float, int]]
"""Natural logarithms in order, each with how many nodes have it."""


def _sorted(groups: Iterable[Mapping[float, int]]) -> _Logs:
    return sorted((math.log(number), n) for group in groups for number, n in group.items())


def _distance(inside: _Logs, beside: _Logs, shift: float) -> float:
    """Return how far the two cumulative distributions lie apart at most, from 0 to 1."""
    steps: dict[float, list[float]] = {}
    for side, logs in enumerate(([(log + shift, n) for log, n in inside], beside)):
        whole = sum(n for _, n in logs)
        for log, n in logs:
            steps.setdefault(round(log, _PLACES), [0.0, 0.0])[side] += n / whole
    apart = most = 0.0
    for place in sorted(steps):
        apart += steps[place][0] - steps[place][1]
        most = max(most, abs(apart))
    return round(most, _PLACES)


def _sizes(logs: _Logs) -> Sizes:
    count = sum(n for _, n in logs)
    if not count:
        return Sizes(0, 0.0, 0.0)
    low, median, high = (_quantile(logs, count, share) for share in (0.25, 0.5, 0.75))
    return Sizes(count, round(median, _PLACES), round((high - low) / _MIDDLE_HALF, _PLACES))


def _quantile(logs: _Logs, count: int, share: float) -> float:
    """Return the least logarithm that so great a share of the numbers does not exceed."""
    passed = 0
    for log, n in logs:
        passed += n
        if passed >= share * count:
            return log
    return logs[-1][0]


def _factor(inside: Sizes, beside: Sizes) -> float | None:
    """Return the factor between two units that two sizes lie apart; None where there is none."""
    apart = abs(inside.median - beside.median)
    error = math.hypot(inside.error, beside.error)
    unlike = abs(inside.spread - beside.spread)
    # The standard error of such a spread, where logarithms are normal, is about that of a median.
    noise = error
    if unlike > _SPREAD * max(inside.spread, beside.spread) + _ERRORS * noise:
        return None
    near = [unit for unit in _UNITS if abs(apart - math.log(unit)) <= _ERRORS * error + _SLACK]
    sharp = [unit for unit in near if _SHARP * error <= math.log(unit)]
    return next(iter(sharp), None)
