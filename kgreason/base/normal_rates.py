"""Levels whose log-odds of failing are normal: the other common family of rates of their own.

A beta distribution of low rates has a thin end: fitted to two hundred levels whose log-odds differ
by a standard deviation of 1, it finds their worst one too bad to be one of them in every fifth
case. Here the log-odds themselves are normal, as in a mixed logistic model; their mean and standard
deviation are integrated over their posterior.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import mul
from typing import Final

from kgreason.base.siblings import tail
from kgreason.base.statistics import Count

_STEP: Final = 0.125  # of the grid of log-odds
_REACH: Final = 10.0  # log-odds on both sides of those of all siblings together
_SHARPEST: Final = 1 / _STEP**2  # nodes times p·q beyond which a level is a point of the grid
_FIRST_SPREAD: Final = (math.log(0.05), math.log(4.0))
_FIRST_MEAN: Final = (-6.0, 1.5)  # beside the log-odds of all siblings together
_SPREADS: Final = 9
_MEANS: Final = 9
_PASSES: Final = 4
_DROP: Final = 10.0  # log-density below the peak at which the search window ends
_FAR_OUT: Final = 8.0  # standard deviations beyond which a weight no longer matters
_PRECISE: Final = 1e9  # worth in nodes of a rate that is as good as known


@dataclass(frozen=True)
class _Cell:
    """A mean and a standard deviation of log-odds, with the logarithm of its posterior weight."""

    log: float
    mean: float
    deviation: float


class _Siblings:
    """The likelihood of each sibling on a grid of log-odds."""

    def __init__(self, counts: Mapping[Count, int]) -> None:
        failing = sum(f * times for (f, _), times in counts.items())
        nodes = sum(n * times for (_, n), times in counts.items())
        self.middle = _log_odds((failing + 0.5) / (nodes + 1))
        places = round(2 * _REACH / _STEP)
        self.grid = [self.middle - _REACH + place * _STEP for place in range(places + 1)]
        self._rows = [(self._likelihood(f, n), times) for (f, n), times in sorted(counts.items())]

    @cached_property
    def _logs(self) -> list[tuple[float, float]]:
        return [(-math.log1p(math.exp(-x)), -math.log1p(math.exp(x))) for x in self.grid]

    def _likelihood(self, failing: int, nodes: int) -> list[float]:
        """Return how likely the counts are, up to a factor; not sharper than the grid can show."""
        rate = (failing + 0.5) / (nodes + 1)
        blunt = min(1.0, _SHARPEST / (nodes * rate * (1 - rate)))
        bad, good = blunt * failing, blunt * (nodes - failing)
        logs = [bad * fails + good * passes for fails, passes in self._logs]
        top = max(logs)
        return [math.exp(log - top) for log in logs]

    def weights(self, mean: float, deviation: float) -> tuple[int, list[float]]:
        """Return the first place of the grid that has a weight, and the weights from there on."""
        first = max(0, math.floor((mean - _FAR_OUT * deviation - self.grid[0]) / _STEP) - 1)
        last = math.ceil((mean + _FAR_OUT * deviation - self.grid[0]) / _STEP) + 1
        edges = [x - _STEP / 2 for x in self.grid[first : last + 1]]
        edges.append(edges[-1] + _STEP)
        below = [math.erfc((mean - edge) / (deviation * math.sqrt(2))) / 2 for edge in edges]
        return first, [high - low for low, high in pairwise(below)]

    def log_posterior(self, mean: float, spread: float) -> float:
        """Return the log-density of a mean and the logarithm of a standard deviation.

        The deviation is half-Cauchy with scale 1 (A. Gelman, "Prior distributions for variance
        parameters", 2006), the mean rate has Jeffreys' prior.
        """
        deviation = math.exp(spread)
        first, weights = self.weights(mean, deviation)
        total = spread - math.log1p(deviation**2) - math.log(math.cosh(mean / 2))
        for likelihood, times in self._rows:
            fit = sum(map(mul, weights, likelihood[first:]))
            total += times * math.log(max(fit, 1e-300))
        return total


def normal_tail(siblings: Sequence[Count], level: Count) -> float:
    """Return P(X ≥ failing of the level), where the log-odds of levels are draws from one normal.

    Siblings and level are (failing, population) in nodes. A probability for one level named
    beforehand, as in `siblings.beta_binomial_tail`. Siblings without nodes are passed over.
    """
    failing, nodes = level
    known = _Siblings(Counter((f, n) for f, n in siblings if n))
    cells = _posterior(known)
    peak = max(cell.log for cell in cells)
    density = [0.0] * len(known.grid)
    for cell in cells:
        first, weights = known.weights(cell.mean, cell.deviation)
        for place, weight in enumerate(weights, first):
            density[place] += math.exp(cell.log - peak) * weight
    above = (
        weight * _at_least(failing, nodes, 1 / (1 + math.exp(-x)))
        for x, weight in zip(known.grid, density, strict=True)
        if weight > 0
    )
    return min(1.0, math.fsum(above) / math.fsum(density))


def _posterior(known: _Siblings) -> list[_Cell]:
    """Return the posterior on a grid, its window narrowed to where it is."""
    spreads = _FIRST_SPREAD
    means = known.middle + _FIRST_MEAN[0], known.middle + _FIRST_MEAN[1]
    for _ in range(_PASSES):
        across, along = _points(*spreads, _SPREADS), _points(*means, _MEANS)
        cells = [
            _Cell(known.log_posterior(mean, spread), mean, math.exp(spread))
            for spread in across
            for mean in along
        ]
        near = max(cell.log for cell in cells) - _DROP
        kept = [cell for cell in cells if cell.log > near]
        narrower = _around([math.log(cell.deviation) for cell in kept], spreads, _SPREADS)
        nearer = _around([cell.mean for cell in kept], means, _MEANS)
        settled = 2 * _wide(narrower) > _wide(spreads) and 2 * _wide(nearer) > _wide(means)
        spreads, means = narrower, nearer
        if settled:
            break
    return cells


def _points(low: float, high: float, count: int) -> list[float]:
    return [low + (high - low) * place / (count - 1) for place in range(count)]


def _wide(window: tuple[float, float]) -> float:
    return window[1] - window[0]


def _around(found: Sequence[float], window: tuple[float, float], count: int) -> tuple[float, float]:
    """Return the window from a step before what was found to a step after it."""
    step = (window[1] - window[0]) / (count - 1)
    return max(window[0], min(found) - step), min(window[1], max(found) + step)


def _at_least(failing: int, nodes: int, rate: float) -> float:
    """Return P(X ≥ failing) of a binomial distribution."""
    if not failing:
        return 1.0
    return tail(failing, nodes, rate * _PRECISE, (1 - rate) * _PRECISE)


def _log_odds(rate: float) -> float:
    return math.log(rate / (1 - rate))
