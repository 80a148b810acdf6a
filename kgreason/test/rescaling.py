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
_PLACES: Final = 6
_UNITS: Final = number_list("unitRatios")
_ORDER: Final = {factor: place for place, factor in enumerate(_UNITS)}


@dataclass(frozen=True)
class Sizes:
    """How many numbers there are, and the mean and standard deviation of their natural logarithms.

    Both have so many places as a record keeps, so that the same follows from it.
    """

    count: int
    mean: float
    spread: float

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.spread / math.sqrt(self.count)


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

    They are rescaled where the spreads are alike, the two means lie as far apart as two units,
    within two standard errors, which have to be small beside that, and the numbers are distributed
    alike once they are given in one unit. `distance` gives that of the two distributions where the
    logarithms inside are shifted by so much: the Kolmogorov-Smirnov statistic.
    """
    figures: dict[str, int | Decimal] = {"inside": inside.count, "outside": beside.count}
    if min(inside.count, beside.count) < _LEAST:
        note = f"There are {inside.count} numbers inside and {beside.count} beside: too few."
        return Finding("undetermined", note, figures)
    figures |= {
        "logMeanInside": decimal(inside.mean, _PLACES),
        "logMeanOutside": decimal(beside.mean, _PLACES),
        "spreadInside": decimal(inside.spread, _PLACES),
        "spreadOutside": decimal(beside.spread, _PLACES),
    }
    means = f"geometric means {math.exp(inside.mean):.4g} and {math.exp(beside.mean):.4g}"
    factor = _factor(inside, beside)
    if factor is None:
        return Finding(
            "alike", f"The numbers do not lie as far apart as two units do: {means}.", figures
        )
    larger = inside.mean > beside.mean
    apart = distance(-math.log(factor) if larger else math.log(factor))
    figures["shapeDistance"] = decimal(apart, _PLACES)
    if apart > _SHAPE + _KS * math.sqrt(1 / inside.count + 1 / beside.count):
        note = f"The numbers lie apart, but in one unit they would not be spread alike: {means}."
        return Finding("alike", note, figures)
    point = ", or with a shifted decimal point" if math.log10(factor).is_integer() else ""
    note = (
        f"The numbers there are about {factor:.3g} times as {'large' if larger else 'small'} as "
        f"those of other nodes, and spread alike ({means}), as in another unit{point}."
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
    return most


def _sizes(logs: _Logs) -> Sizes:
    count = sum(n for _, n in logs)
    if not count:
        return Sizes(0, 0.0, 0.0)
    mean = math.fsum(log * n for log, n in logs) / count
    squares = math.fsum((log - mean) ** 2 * n for log, n in logs)
    return Sizes(count, round(mean, _PLACES), round(math.sqrt(squares / count), _PLACES))


def _factor(inside: Sizes, beside: Sizes) -> float | None:
    """Return the factor between two units that two sizes lie apart; None where there is none."""
    apart = abs(inside.mean - beside.mean)
    error = math.hypot(inside.error, beside.error)
    unlike = abs(inside.spread - beside.spread)
    # The standard error of a standard deviation, where logarithms are normal.
    noise = error / math.sqrt(2)
    if unlike > _SPREAD * max(inside.spread, beside.spread) + _ERRORS * noise:
        return None
    near = [unit for unit in _UNITS if abs(apart - math.log(unit)) <= _ERRORS * error + _SLACK]
    sharp = [unit for unit in near if _SHARP * error <= math.log(unit)]
    return next(iter(sharp), None)
