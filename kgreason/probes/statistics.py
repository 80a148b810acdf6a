"""The figures behind the statistical test kinds, in plain Python.

Every function is pure: counts of nodes in, figures without unit out. Two directions
of rounding keep recorded figures honest: e-values go down, p-values and tail
probabilities go up, so that what is recorded never claims more than was found.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

Count: TypeAlias = tuple[int, int]
"""Failing nodes and population of one level of a dimension."""

E_CAP = 1e6
E_DIGITS = Decimal("1e-6")
P_DIGITS = Decimal("1e-9")

# Weight of each alternative, and the share of the effect seen on the discovery half that
# it keeps. The full effect has the most power where the estimate is right, half of it
# where the region was picked for looking bad and the held-out effect is smaller.
EFFECTS = ((Fraction(4, 5), Fraction(1)), (Fraction(1, 5), Fraction(1, 2)))
CALIBRATORS = (Fraction(1, 20), Fraction(1, 200), Fraction(1, 2000), Fraction(1, 20000))


@dataclass(frozen=True, slots=True)
class Table:
    """A two-by-two table of counts of nodes: failing and population, inside and outside a region.

    Raises ValueError if a count is negative or more nodes fail than there are.
    """

    inside_failing: int
    inside: int
    outside_failing: int
    outside: int

    def __post_init__(self) -> None:
        _check(self.inside_failing, self.inside)
        _check(self.outside_failing, self.outside)

    @property
    def failing(self) -> int:
        """Failing nodes on both sides."""
        return self.inside_failing + self.outside_failing

    @property
    def population(self) -> int:
        """Nodes on both sides."""
        return self.inside + self.outside

    @property
    def raised(self) -> bool:
        """Whether both sides hold nodes and the rate inside is above the rate outside."""
        return self.inside_failing * self.outside > self.outside_failing * self.inside


def _check(failing: int, population: int) -> None:
    if not 0 <= failing <= population:
        raise ValueError(
            f"{failing} failing of {population} nodes is no count; "
            "give 0 ≤ failing ≤ population (the population includes the failing nodes)."
        )


def _round_down(e: Decimal, cap: float) -> float:
    """Cap first, then cut off after 6 fractional digits."""
    return float(min(e, Decimal(cap)).quantize(E_DIGITS, rounding=ROUND_FLOOR))


def _round_up(p: float) -> float:
    """Bring a probability to 9 fractional digits; one too small to be seen becomes 1e-9."""
    up = Decimal(p).quantize(P_DIGITS, rounding=ROUND_CEILING)
    return float(min(max(up, P_DIGITS), Decimal(1)))


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def e_value_two_proportions(discovery: Table, held_out: Table, cap: float = E_CAP) -> float:
    """Give the e-value of 'the region fails more often', from the held-out half.

    Null: the rate inside is at most the rate outside. With rates a (inside) and b
    (outside) estimated on the discovery half as (failing + 1/2) / (population + 1), the
    held-out half as one block of sizes n_a and n_b, and c = (n_a·a + n_b·b) / (n_a + n_b)::

        e = (a/c)^y_a · ((1-a)/(1-c))^(n_a-y_a) · (b/c)^y_b · ((1-b)/(1-c))^(n_b-y_b)

    the mean of which is at most 1 at any common rate, by the inequality between
    arithmetic and geometric mean; so it is if rates differ from node to node, as long as
    nodes are independent and their mean rate is no higher inside than outside. Given is
    the mean of this for the effect as estimated (weight 4/5) and for half of it
    (weight 1/5), which is again an e-value. 1 if the discovery half shows no raised rate,
    or if a held-out side is empty.

    Source: R. Turner, A. Ly, P. Grünwald, "Generic E-variables for exact sequential
    k-sample tests that allow for optional stopping", Journal of Statistical Planning and
    Inference 230 (2024), arXiv:2106.02693, the two-by-two case with blocks of any size.

    No unit; at most `cap`, rounded down to 6 fractional digits. Computed in decimal
    arithmetic, so that every machine gets the same digits.
    """
    inside = Fraction(2 * discovery.inside_failing + 1, 2 * discovery.inside + 2)
    outside = Fraction(2 * discovery.outside_failing + 1, 2 * discovery.outside + 2)
    if not discovery.raised or inside <= outside or not held_out.inside or not held_out.outside:
        return _round_down(Decimal(1), cap)
    with localcontext(Context(prec=40)):
        ceiling = Decimal(cap).ln() + 10  # beyond the cap whatever the weight
        total = Decimal(0)
        for weight, share in EFFECTS:
            log = _log_ratio(outside + share * (inside - outside), outside, held_out)
            total += _decimal(weight) * min(log, ceiling).exp()
        return _round_down(total, cap)


def _log_ratio(inside: Fraction, outside: Fraction, table: Table) -> Decimal:
    """Log-likelihood of two rates less that of their mean, weighted by group sizes."""
    null = (table.inside * inside + table.outside * outside) / table.population
    return sum(
        (
            failing * _decimal(rate / null).ln()
            + (population - failing) * _decimal((1 - rate) / (1 - null)).ln()
            for rate, failing, population in (
                (inside, table.inside_failing, table.inside),
                (outside, table.outside_failing, table.outside),
            )
        ),
        start=Decimal(0),
    )


def e_from_p(p: float, cap: float = E_CAP) -> float:
    """Give the e-value of a p-value: the mean of a(1+a)/(p+a)² over four values of a.

    a is 0.05, 0.005, 0.0005 and 0.00005; each term integrates to 1 over p in [0, 1], so
    it is a calibrator: V. Vovk, R. Wang, "E-values: Calibration, combination and
    applications", Annals of Statistics 49 (2021). p = 0.001 gives about 107.
    No unit; at most `cap`, rounded down to 6 fractional digits.

    Raises ValueError if p is not a number from 0 to 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"{p} is no p-value; give a number from 0 to 1.")
    exact = Fraction(p)
    mean = sum(a * (1 + a) / (exact + a) ** 2 for a in CALIBRATORS) / len(CALIBRATORS)
    with localcontext(Context(prec=40, rounding=ROUND_FLOOR)):
        return _round_down(_decimal(Fraction(mean)), cap)


def e_benjamini_hochberg(e_values: Sequence[float], alpha: float) -> list[int]:
    """Give the indices of the e-BH set: false discovery rate at most `alpha`, in order.

    With K e-values, the set holds every e ≥ K/(alpha·k), k being the largest number such
    that the k-th largest e-value is at least K/(alpha·k); dependence does no harm.
    Source: R. Wang, A. Ramdas, "False discovery rate control with e-values", JRSS B 84
    (2022). Compared as the decimals that are recorded, without binary rounding.

    Raises ValueError unless 0 < alpha ≤ 1 and every e-value is finite and not negative.
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is {alpha}; give a false discovery rate above 0 and up to 1.")
    if not all(0 <= e < math.inf for e in e_values):
        raise ValueError("An e-value is negative or not finite; cap e-values before the selection.")
    exact = [Fraction(repr(float(e))) for e in e_values]
    needed = len(exact) / Fraction(repr(float(alpha)))
    ranked = sorted(exact, reverse=True)
    size = max((k for k, e in enumerate(ranked, start=1) if k * e >= needed), default=0)
    return [i for i, e in enumerate(exact) if size and size * e >= needed]


def deviance(table: Table) -> float:
    """Give G = 2·Σ observed·ln(observed/expected) over the four cells, if the rate is raised.

    Expected is under one common rate. 0 if the rate inside is not above the rate outside
    or a side is empty. Natural logarithm, no unit. For ranking candidates on the
    discovery half alone: after a search it is no test. Source: R. R. Sokal, F. J. Rohlf,
    "Biometry" (1981), the G-test.
    """
    if not table.raised:
        return 0.0
    rate = table.failing / table.population
    cells = (
        (table.inside_failing, table.inside * rate),
        (table.inside - table.inside_failing, table.inside * (1 - rate)),
        (table.outside_failing, table.outside * rate),
        (table.outside - table.outside_failing, table.outside * (1 - rate)),
    )
    g = math.fsum(
        observed * math.log(observed / expected) for observed, expected in cells if observed
    )
    return max(0.0, 2 * g)


def excess(table: Table) -> float:
    """Give failing nodes inside beyond what the rate outside predicts; never below 0.

    inside_failing - inside·(outside_failing/outside), in nodes.
    Raises ValueError if nothing lies outside, for then there is no rate to compare with.
    """
    if not table.outside:
        raise ValueError("No node lies outside the region, so there is no rate to compare with.")
    return max(
        0.0,
        (table.inside_failing * table.outside - table.inside * table.outside_failing)
        / table.outside,
    )


def best_cut(levels: Sequence[Count]) -> tuple[int, float]:
    """Give the index i for which 'from level i on' has the largest `deviance`, and that value.

    Levels are (failing, population) in their order; both sides of the cut hold nodes; the
    first of equals wins. If the rate rises at no cut the value is 0. One pass.
    The maximum over cuts is for ranking; it is no G statistic of one test.

    Raises ValueError if fewer than two levels hold nodes.
    """
    all_failing = sum(failing for failing, _ in levels)
    all_nodes = sum(population for _, population in levels)
    best: tuple[int, float] | None = None
    below_failing = below = 0
    for i, (failing, population) in enumerate(levels):
        if 0 < below < all_nodes:
            value = deviance(
                Table(all_failing - below_failing, all_nodes - below, below_failing, below)
            )
            if best is None or value > best[1]:
                best = (i, value)
        below_failing += failing
        below += population
    if best is None:
        raise ValueError("A cut needs two levels that hold nodes, one on each side.")
    return best


def wilson_interval(failing: int, population: int, z: float = 1.96) -> tuple[float, float]:
    """Give the score interval of a rate, (low, high), each a share from 0 to 1.

    (f + z²/2 ± z·√(f(n-f)/n + z²/4)) / (n + z²); z = 1.96 covers 95 %. An empty
    population gives (0, 1): nothing is known. Source: E. B. Wilson, JASA 22 (1927).

    Raises ValueError if the counts are impossible or z is not above 0.
    """
    _check(failing, population)
    if not 0 < z < math.inf:
        raise ValueError(f"z is {z}; give a number of standard deviations above 0.")
    if not population:
        return (0.0, 1.0)
    middle = failing + z * z / 2
    half = z * math.sqrt(failing * (population - failing) / population + z * z / 4)
    low, high = ((middle + sign * half) / (population + z * z) for sign in (-1, 1))
    return (max(0.0, low) if failing else 0.0, min(1.0, high) if failing < population else 1.0)


# --- association within the strata of a rival ------------------------------------------

_MOST_PRODUCTS = 5_000_000  # beyond this the exact sum takes seconds, and the normal is near
_NEGLIGIBLE = 1e-18  # of the mode: far below the nine digits kept of a p-value


def mantel_haenszel(strata: Sequence[Table]) -> tuple[float, float]:
    """Give the common odds ratio over strata and the one-sided p-value of it being above 1.

    Odds ratio Σ(a·d/n) / Σ(b·c/n), a and b failing and passing inside, c and d outside;
    no unit, infinite if every b·c is 0. The p-value is the chance, given all margins, of at
    least Σa failing inside: exactly (a convolution of hypergeometric distributions), or by the
    normal distribution with continuity correction where the exact sum would take more
    than five million products. Rounded up to 9 digits. Strata in which one side is empty,
    or all or no nodes fail, tell nothing and are passed over; with none left, (1, 1).

    Source: N. Mantel, W. Haenszel, JNCI 22 (1959); exact form: A. Agresti, "Categorical
    Data Analysis" (2002), section 6.7.
    """
    telling = [t for t in strata if t.inside and t.outside and 0 < t.failing < t.population]
    if not telling:
        return (1.0, 1.0)
    with_region = math.fsum(
        t.inside_failing * (t.outside - t.outside_failing) / t.population for t in telling
    )
    against = math.fsum(
        (t.inside - t.inside_failing) * t.outside_failing / t.population for t in telling
    )
    ratio = with_region / against if against else math.inf
    return (ratio, _round_up(_conditional_tail(telling)))


def _conditional_tail(strata: Sequence[Table]) -> float:
    """P(Σ failing inside ≥ observed), given the margins of every stratum."""
    observed = sum(t.inside_failing for t in strata)
    mean = math.fsum(t.inside * t.failing / t.population for t in strata)
    deviations = [math.sqrt(_hypergeometric_variance(t)) for t in strata]
    deviation = math.hypot(*deviations)
    widths = [
        min(20 * d + 20, min(t.inside, t.failing) + 1.0)
        for t, d in zip(strata, deviations, strict=True)
    ]
    if sum(widths) * min(sum(widths), 20 * deviation + 20) > _MOST_PRODUCTS:
        return math.erfc((observed - 0.5 - mean) / (deviation * math.sqrt(2))) / 2
    start, total = 0, [1.0]
    for t in strata:
        first, terms = _hypergeometric(t)
        start, total = _trimmed(start + first, _convolved(total, terms))
    return math.fsum(total[max(0, observed - start) :]) / math.fsum(total)


def _hypergeometric_variance(t: Table) -> float:
    n = t.population
    return t.inside / n * (t.outside / n) * t.failing * (n - t.failing) / (n - 1)


def _hypergeometric(t: Table) -> tuple[int, list[float]]:
    """Distribution of the failing inside given the margins, as its first value and terms.

    Terms are relative to the mode; those out of sight of it are left out.
    """
    low, high = max(0, t.failing - t.outside), min(t.inside, t.failing)
    mode = (t.failing + 1) * (t.inside + 1) // (t.population + 2)
    rest = t.outside - t.failing  # outside nodes that pass, less the failing inside
    upward, downward = [1.0], []
    for x in range(mode, high):
        upward.append(upward[-1] * (t.inside - x) * (t.failing - x) / ((x + 1) * (rest + x + 1)))
        if upward[-1] < _NEGLIGIBLE:
            break
    term = 1.0
    for x in range(mode, low, -1):
        term *= x * (rest + x) / ((t.inside - x + 1) * (t.failing - x + 1))
        downward.append(term)
        if term < _NEGLIGIBLE:
            break
    return mode - len(downward), downward[::-1] + upward


def _convolved(first: list[float], second: list[float]) -> list[float]:
    result = [0.0] * (len(first) + len(second) - 1)
    for i, x in enumerate(first):
        for j, y in enumerate(second, start=i):
            result[j] += x * y
    return result


def _trimmed(start: int, terms: list[float]) -> tuple[int, list[float]]:
    """Cut off what is out of sight of the largest term, and make that 1."""
    top = max(terms)
    kept = [i for i, x in enumerate(terms) if x >= top * _NEGLIGIBLE]
    return start + kept[0], [x / top for x in terms[kept[0] : kept[-1] + 1]]


# --- spread among sibling levels --------------------------------------------------------
#
# Rates of levels are Beta(a, b) with mean m = a/(a+b) and spread v = 1/(m(1-m)(a+b)),
# which is near the variance of the log-odds between levels. Hidden batches act on odds,
# so v, unlike the intra-class correlation, means the same for rare and common failures.

_WIDEST = 25.0  # spread v; log-odds with a standard deviation of 5
_LEAST_SHARE = 0.003  # smallest v looked at adds this share to the binomial variance
_SPREAD_NODES = 12
_MEAN_NODES = 11
_MEAN_REACH = 3.5  # in units of asinh: nodes lie up to 20 standard deviations out
_DROP = 12.0  # log-density below the peak at which the search window ends
_FAINT = 18.0  # the same, at which a grid cell is left out
_FEW_TERMS = 300  # sums up to this length are done term by term
_STIRLING = 1e5  # from here on differences of lgamma lose too many digits
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
    """Give P(X ≥ failing of the level), as far as its sibling levels let one predict X.

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
        _check(f, n)
    counted = Counter((f, n) for f, n in siblings if n)
    if counted.total() < 2:  # noqa: PLR2004 - the least that can differ
        raise ValueError("A spread needs two sibling levels that hold nodes; give more siblings.")
    if not failing:
        return 1.0
    data = _Siblings(tuple((f, n, c) for (f, n), c in counted.items()))
    return _round_up(
        math.fsum(
            weight * _tail(failing, population, *_shape(mean, spread))
            for weight, mean, spread in _posterior(data)
        )
    )


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


def _tail(k: int, n: int, alpha: float, beta: float) -> float:
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
