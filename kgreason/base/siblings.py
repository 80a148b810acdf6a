"""The spread of failure rates among sibling levels, and how far a level is beyond it.

A beta-binomial over the siblings, its mean and spread integrated over a posterior.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgreason.base.figures import figure, integer
from kgreason.base.statistics import Count, check_count, round_up

# --- spread among sibling levels --------------------------------------------------------
#
# Rates of levels are Beta(a, b) with mean m = a/(a+b) and spread v = 1/(m(1-m)(a+b)),
# which is near the variance of the log-odds between levels. Hidden batches act on odds,
# so v, unlike the intra-class correlation, means the same for rare and common failures.

_USUAL = figure("siblingUsual")
FAR = figure("siblingFar")
"""Odds, in usual ones, from which on a level has a cause of its own."""
LEAST_SIBLINGS = integer("siblingClusters")
"""With fewer siblings their spread is not well known."""
_WIDEST = 25.0  # spread v; log-odds with a standard deviation of 5
_LEAST_SHARE = 0.003  # smallest v looked at adds this share to the binomial variance
_SPREAD_NODES = 12
_MEAN_NODES = 11
_MEAN_REACH = 3.5  # in units of asinh: nodes lie up to 20 standard deviations out
_DROP = 12.0  # log-density below the peak at which the search window ends
_FAINT = 18.0  # the same, at which a grid cell is left out
_FEW_TERMS = 300  # sums up to this length are done term by term
_STIRLING = 1e5  # from here on differences of lgamma lose too many digits
LUCKY = 3.0
"""Failing nodes that a level needs for a rate of its own (the rule of three)."""
_UNSEEN = 1e-12  # probability that no longer matters to nine digits
# Gauss-Legendre, 6 nodes on [0, 1]: (node, weight); Abramowitz and Stegun, table 25.4.
_GAUSS = tuple(
    ((1 + sign * x) / 2, w / 2)
    for x, w in (
        (0.2386191860831969, 0.4679139345726910),
        (0.6612093864662645, 0.3607615730481386),
        (0.9324695142031521, 0.1713244923791704),
    )
    for sign in (-1, 1)
)


@dataclass(frozen=True, slots=True)
class _Siblings:
    """Distinct (failing, population, how many levels have these), populations above 0."""

    rows: tuple[tuple[int, int, int], ...]

    def mean(self, spread: float) -> tuple[float, float]:
        """Moment estimate of the mean rate at this spread, and its worth in nodes."""
        worth = sum(n * c for _, n, c in self.rows)
        mean = (sum(f * c for f, _, c in self.rows) + 0.5) / (worth + 1)
        for _ in range(3):  # the weights depend on the mean; three rounds settle it
            rho = 1 / (1 + 1 / (spread * mean * (1 - mean)))
            weights = [c / (1 / n + rho * (1 - 1 / n)) for _, n, c in self.rows]
            total = math.fsum(weights)
            rates = (w * f / n for w, (f, n, _) in zip(weights, self.rows, strict=True))
            mean = (math.fsum(rates) + 0.5) / (total + 1)
        return mean, total

    def log_prior(self, spread: float, unit: float) -> float:
        """Log-density of ln v: Jeffreys' for the variance between groups, times 1/√(1+v).

        The information on the variance is the restricted one (S. R. Searle, G. Casella,
        C. E. McCulloch, "Variance Components", 1992), which allows for the mean being
        unknown: one sibling, be it ever so large, says nothing of the spread. `unit` is
        the variance of one node's outcome at the typical rate.
        """
        weights = [1 / (1 / (n * unit) + spread) for _, n, _ in self.rows]
        total = math.fsum(w * c for w, (_, _, c) in zip(weights, self.rows, strict=True))
        shares = [
            ((w / total) ** 2, 1 - w / total, c)
            for w, (_, _, c) in zip(weights, self.rows, strict=True)
        ]
        squares = math.fsum(c * q for q, _, c in shares)
        information = math.fsum(
            c * q * (rest * rest + max(0.0, squares - q)) for q, rest, c in shares
        )
        return math.log(spread * total) + (math.log(information) - math.log1p(spread)) / 2

    def log_likelihood(self, mean: float, spread: float) -> float:
        """Beta-binomial log-likelihood, without the binomial coefficients."""
        alpha, beta = _shape(mean, spread)
        return math.fsum(
            c * (_rise(alpha, f) + _rise(beta, n - f) - _rise(alpha + beta, n))
            for f, n, c in self.rows
        )


def _shape(mean: float, spread: float) -> tuple[float, float]:
    return 1 / (spread * (1 - mean)), 1 / (spread * mean)


def _rise(x: float, step: float) -> float:
    """ln(Γ(x+step)/Γ(x)); by Stirling's series where the difference would cancel."""
    if x < _STIRLING:
        return math.lgamma(x + step) - math.lgamma(x)
    end = x + step
    return (end - 0.5) * math.log1p(step / x) + step * (math.log(x) - 1) + (1 / end - 1 / x) / 12


def beta_binomial_tail(siblings: Sequence[Count], level: Count) -> float:
    """Return P(X ≥ failing of the level), as far as its sibling levels let one predict X.

    Siblings and level are (failing, population) in nodes. Rates of levels are taken as
    draws from one beta distribution. Its mean and spread are not estimated but integrated
    over their posterior, so that five siblings claim less than fifty. Priors: Jeffreys'
    for the mean, and for the spread between levels (G. C. Tiao, W. Y. Tan, Biometrika 52,
    1965) with a factor 1/√(1+v) that makes a spread of log-odds above 1 less likely.
    Siblings without nodes are passed over.

    A probability, rounded up to 9 digits. It holds for one level named beforehand: for
    the worst of L levels take L times the figure.

    Raises ValueError if fewer than two siblings hold nodes or counts are impossible.
    """
    failing, population = level
    for f, n in (*siblings, level):
        check_count(f, n)
    counted = Counter((f, n) for f, n in siblings if n)
    if counted.total() < 2:  # noqa: PLR2004 - the least that can differ
        raise ValueError("A spread needs two sibling levels that hold nodes; give more siblings.")
    if not failing:
        return 1.0
    data = _Siblings(tuple((f, n, c) for (f, n), c in counted.items()))
    return round_up(
        math.fsum(
            weight * tail(failing, population, *_shape(mean, spread))
            for weight, mean, spread in _posterior(data)
        )
    )


@lru_cache(maxsize=256)
def _posterior(data: _Siblings) -> list[tuple[float, float, float]]:
    """Posterior on a grid, as (weight, mean, spread); the weights sum to 1."""
    typical, _ = data.mean(1.0)  # this much spread gives large and small siblings like weight
    unit = typical * (1 - typical)
    low, high = _window(data, unit)
    step = (high - low) / _SPREAD_NODES
    cells = []
    for i in range(_SPREAD_NODES):
        spread = math.exp(low + (i + 0.5) * step)
        prior = data.log_prior(spread, unit)
        for m, width in _means(*data.mean(spread)):
            cells.append((data.log_likelihood(m, spread) + prior + math.log(width), m, spread))
    peak = max(log for log, _, _ in cells)
    kept = [(math.exp(log - peak), m, v) for log, m, v in cells if log > peak - _FAINT]
    total = math.fsum(w for w, _, _ in kept)
    return [(w / total, m, v) for w, m, v in kept]


def _means(mean: float, worth: float) -> Iterator[tuple[float, float]]:
    """Grid of mean rates around an estimate, each with its width in Jeffreys' prior.

    The prior is flat in arcsin √rate, where the posterior has standard deviation
    1/(2·√worth); the grid is dense in the middle and reaches far, as the tails are heavy.
    """
    middle, scale = math.asin(math.sqrt(mean)), 0.6 / math.sqrt(worth + 1)
    low = max(-_MEAN_REACH, math.asinh(-middle / scale))
    high = min(_MEAN_REACH, math.asinh((math.pi / 2 - middle) / scale))
    step = (high - low) / _MEAN_NODES
    for j in range(_MEAN_NODES):
        u = low + (j + 0.5) * step
        rate = math.sin(middle + scale * math.sinh(u)) ** 2
        yield rate, step * scale * math.cosh(u)


def _window(data: _Siblings, unit: float) -> tuple[float, float]:
    """Range of ln v that holds nearly all of the posterior, narrowed in up to three passes."""
    largest = max(n for _, n, _ in data.rows)
    low = math.log(min(_LEAST_SHARE / (largest * unit), 0.1))
    high = math.log(_WIDEST)
    for _ in range(3):
        grid = [low + (high - low) * i / _SPREAD_NODES for i in range(_SPREAD_NODES + 1)]
        heights = []
        for x in grid:
            mean, worth = data.mean(math.exp(x))
            log = data.log_likelihood(mean, math.exp(x)) + data.log_prior(math.exp(x), unit)
            heights.append(log - math.log(worth) / 2)
        inside = [i for i, h in enumerate(heights) if h > max(heights) - _DROP]
        first, last = max(0, inside[0] - 1), min(_SPREAD_NODES, inside[-1] + 1)
        low, high = grid[first], grid[last]
        if 2 * (last - first) > _SPREAD_NODES:
            break
    return low, high


def _log_mass(n: int, alpha: float, beta: float) -> Callable[[float], float]:
    """Log-probability of x failing of n under the beta-binomial; x need not be whole."""
    log_gamma = math.lgamma
    constant = log_gamma(n + 1) - _rise(alpha + beta, n)
    if alpha + beta < _STIRLING:
        constant -= log_gamma(alpha) + log_gamma(beta)
        return lambda x: (
            constant
            + (log_gamma(x + alpha) - log_gamma(x + 1))
            + (log_gamma(n - x + beta) - log_gamma(n - x + 1))
        )
    return lambda x: (
        constant
        + (_rise(alpha, x) - log_gamma(x + 1))
        + (_rise(beta, n - x) - log_gamma(n - x + 1))
    )


def tail(k: int, n: int, alpha: float, beta: float) -> float:
    """P(X ≥ k) under the beta-binomial, for 0 < k ≤ n."""
    if n - k < min(k, _FEW_TERMS):
        return _sum_to_end(k, n, alpha, beta)
    if k <= _FEW_TERMS:
        return max(0.0, 1 - _sum_to_end(n - k + 1, n, beta, alpha))
    return _tail_by_quadrature(k, n, alpha, beta)


def _sum_to_end(k: int, n: int, alpha: float, beta: float) -> float:
    """Sum the masses of k to n, each from the one before."""
    log, term, total = _log_mass(n, alpha, beta)(k), 1.0, 1.0
    for j in range(k, n):
        term *= (n - j) / (j + 1) * ((j + alpha) / (n - j - 1 + beta))
        total += term
        if term > 1e250:  # noqa: PLR2004 - rescaled before it overflows
            term, total, log = term * 1e-250, total * 1e-250, log + 250 * math.log(10)
    return math.exp(min(0.0, log + math.log(total)))


def _tail_by_quadrature(k: int, n: int, alpha: float, beta: float) -> float:
    """P(X ≥ k) by the Euler-Maclaurin sum: ∫ mass from k-1/2, plus mass'/24 at that end.

    The integral runs over log-odds in panels of at most 1.5 standard deviations. The last
    terms, where the mass may rise to a spike, are summed one by one.
    """
    mean, nodes = alpha / (alpha + beta), n + 1
    panel = math.sqrt((1 / (alpha + beta) + 1 / n) / (mean * (1 - mean)))
    at, middle = math.log(k / (nodes - k)), math.log(mean / (1 - mean))
    # Beyond 14 standard deviations there is nothing left to add or to miss.
    if panel < 0.5 and at < middle - 14 * panel:  # noqa: PLR2004
        return 1.0
    log_mass, last = _log_mass(n, alpha, beta), n - 32
    edges = [math.exp(log_mass(x)) for x in (k, k - 1, last, last - 1)]
    total = _sum_to_end(last, n, alpha, beta)
    total += (edges[0] - edges[1] - edges[2] + edges[3]) / 24
    panel, end = min(panel, 1.0), math.log(last / (nodes - last))
    while at < end:
        width, part = min(1.5 * panel, end - at), 0.0
        for x, w in _GAUSS:
            share = 1 / (1 + math.exp(-at - width * x))
            part += w * math.exp(log_mass(nodes * share - 0.5)) * share * (1 - share)
        total += part * width * nodes
        at += width
        if at > middle and beta > 1 and part * width * nodes < _UNSEEN:
            break
    return min(1.0, max(0.0, total))


def usual_odds(siblings: Sequence[Count]) -> float:
    """Return the odds over the siblings with the lowest rates, up to two thirds of all nodes.

    Of many siblings those that would have fewer than three failing nodes at the rate of all are
    taken together: the ones without any are not those that fail least, only those that were lucky.
    """
    levels = _pooled(siblings) if len(siblings) >= LEAST_SIBLINGS else siblings
    ordered = sorted(levels, key=lambda level: (level[0] / level[1], level[1]))
    enough = sum(nodes for _, nodes in ordered) * _USUAL
    failing = population = 0
    for bad, nodes in ordered:
        failing, population = failing + bad, population + nodes
        if population >= enough:
            break
    return odds(failing, population)


def _pooled(levels: Sequence[Count]) -> list[Count]:
    failing, population = _total(levels)
    large = [level for level in levels if level[1] * failing >= LUCKY * population]
    known = _total(large)
    rest = failing - known[0], population - known[1]
    return [*large, rest] if rest[1] else large


def _total(levels: Sequence[Count]) -> Count:
    return sum(failing for failing, _ in levels), sum(nodes for _, nodes in levels)


def odds(failing: int, population: int) -> float:
    """Return the odds of failing, with half a node added on both sides."""
    return (failing + 0.5) / (population - failing + 0.5)
