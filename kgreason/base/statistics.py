"""The figures behind the statistical test kinds, in plain Python.

Every function is pure: counts of nodes in, figures without unit out. Two directions
of rounding keep recorded figures honest: e-values go down, p-values and tail
probabilities go up, so that what is recorded never claims more than was found.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

from kgreason.base.weights import weighted_nodes, weighted_rate

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

    Where nodes were drawn by whether they fail, `weight` is what a passing node stands for beside a
    failing one; rates go by it, what compares odds does not.
    Raises ValueError if a count is negative or more nodes fail than there are.
    """

    inside_failing: int
    inside: int
    outside_failing: int
    outside: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.inside_failing, self.inside)
        check_count(self.outside_failing, self.outside)

    @property
    def failing(self) -> int:
        """Failing nodes on both sides."""
        return self.inside_failing + self.outside_failing

    @property
    def population(self) -> int:
        """Nodes on both sides."""
        return self.inside + self.outside

    @property
    def rate(self) -> float:
        """The weighted rate on both sides, 0 where there are no nodes."""
        return weighted_rate(self.failing, self.population, self.weight)

    @property
    def inside_weighted(self) -> float:
        """What the nodes inside are worth, in failing nodes."""
        return weighted_nodes(self.inside_failing, self.inside, self.weight)

    @property
    def rate_inside(self) -> float:
        """The weighted rate inside, 0 where there are no nodes."""
        return weighted_rate(self.inside_failing, self.inside, self.weight)

    @property
    def rate_outside(self) -> float:
        """The weighted rate outside, 0 where there are no nodes."""
        return weighted_rate(self.outside_failing, self.outside, self.weight)

    @property
    def raised(self) -> bool:
        """Whether both sides hold nodes and the rate inside is above the rate outside."""
        return self.inside_failing * self.outside > self.outside_failing * self.inside

    @property
    def clear(self) -> bool:
        """Whether all nodes inside fail, and one of the others at most."""
        return self.inside_failing == self.inside and self.outside_failing <= 1


def check_count(failing: int, population: int) -> None:
    """Raise ValueError for counts that cannot be."""
    if not 0 <= failing <= population:
        raise ValueError(
            f"{failing} failing of {population} nodes is no count; "
            "give 0 ≤ failing ≤ population (the population includes the failing nodes)."
        )


def _round_down(e: Decimal, cap: float) -> float:
    """Cap first, then cut off after 6 fractional digits."""
    return float(min(e, Decimal(cap)).quantize(E_DIGITS, rounding=ROUND_FLOOR))


def round_up(p: float) -> float:
    """Bring a probability to 9 fractional digits; one too small to be seen becomes 1e-9."""
    up = Decimal(p).quantize(P_DIGITS, rounding=ROUND_CEILING)
    return float(min(max(up, P_DIGITS), Decimal(1)))


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def e_value_two_proportions(discovery: Table, held_out: Table, cap: float = E_CAP) -> float:
    """Return the e-value of 'the region fails more often', from the held-out half.

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
    """Return the e-value of a p-value: the mean of a(1+a)/(p+a)² over four values of a.

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
    """Return the indices of the e-BH set: false discovery rate at most `alpha`, in order.

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
    """Return G = 2·Σ observed·ln(observed/expected) over the four cells, if the rate is raised.

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
    """Return failing nodes inside beyond what the rate outside predicts; never below 0.

    inside_failing - inside·(outside_failing/outside), in nodes, where passing nodes count with
    their weight. Raises ValueError if nothing lies outside, for then there is no rate to compare
    with.
    """
    if not table.outside:
        raise ValueError("No node lies outside the region, so there is no rate to compare with.")
    if table.weight != 1:
        return max(0.0, table.inside_failing - table.inside_weighted * table.rate_outside)
    return max(
        0.0,
        (table.inside_failing * table.outside - table.inside * table.outside_failing)
        / table.outside,
    )


def best_cut(levels: Sequence[Count]) -> tuple[int, float]:
    """Return the index i for which 'from level i on' has the largest `deviance`, and that value.

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
    """Return the score interval of a rate, (low, high), each a share from 0 to 1.

    (f + z²/2 ± z·√(f(n-f)/n + z²/4)) / (n + z²); z = 1.96 covers 95 %. An empty
    population gives (0, 1): nothing is known. Source: E. B. Wilson, JASA 22 (1927).

    Raises ValueError if the counts are impossible or z is not above 0.
    """
    check_count(failing, population)
    if not 0 < z < math.inf:
        raise ValueError(f"z is {z}; give a number of standard deviations above 0.")
    if not population:
        return (0.0, 1.0)
    middle = failing + z * z / 2
    half = z * math.sqrt(failing * (population - failing) / population + z * z / 4)
    low, high = ((middle + sign * half) / (population + z * z) for sign in (-1, 1))
    return (max(0.0, low) if failing else 0.0, min(1.0, high) if failing < population else 1.0)


_LEAST = 5  # numbers on each side; the expansion of the quantile is good from 4 degrees on
_TWO_SIDED = 1.959963984540054  # the normal quantile that leaves 2.5 % above it


def welch_interval(deviations: tuple[float, float], counts: tuple[int, int]) -> float | None:
    """Return how far the 95 % interval of a difference of two means reaches to either side.

    t · √(s₁²/n₁ + s₂²/n₂), with the degrees of freedom of Welch and Satterthwaite (B. L. Welch,
    Biometrika 34, 1947) and the quantile of t by its expansion around the normal (Abramowitz and
    Stegun 26.7.5). None where a side has fewer than five numbers, or nothing varies.

    Raises ValueError if a deviation is below 0.
    """
    if min(deviations) < 0:
        raise ValueError(f"A standard deviation is {min(deviations)}; it cannot be below 0.")
    parts = [s * s / n for s, n in zip(deviations, counts, strict=True) if n >= _LEAST]
    if len(parts) < len(counts) or not sum(parts):
        return None
    freedom = sum(parts) ** 2 / sum(
        part * part / (n - 1) for part, n in zip(parts, counts, strict=True)
    )
    return _t_quantile(freedom) * math.sqrt(sum(parts))


def intraclass(groups: Sequence[Count]) -> float:
    """Return how much of the variance of failing lies between groups, at most 1.

    `groups` are failing nodes and nodes of each. It is the analysis-of-variance estimate for a
    binary outcome (M. S. Ridout, C. G. B. Demetrio, D. Firth, "Estimating intraclass correlation
    for binary data", Biometrics 55, 1999); 0 where there is nothing to compare.
    """
    sizes = [n for _, n in groups]
    nodes, several = sum(sizes), len(groups)
    if several < 2 or nodes <= several:  # noqa: PLR2004 - two can be compared
        return 0.0
    mean = sum(k for k, _ in groups) / nodes
    between = sum(n * (k / n - mean) ** 2 for k, n in groups) / (several - 1)
    within = sum(k * (1 - k / n) for k, n in groups) / (nodes - several)
    size = (nodes - sum(n * n for n in sizes) / nodes) / (several - 1)
    total = between + (size - 1) * within
    return (between - within) / total if total > 0 else 0.0


def _t_quantile(freedom: float) -> float:
    """Return the number that t exceeds with a probability of 2.5 %."""
    x = _TWO_SIDED
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / freedom**power for power, term in enumerate(terms, start=1))


# --- association within the strata of a rival ------------------------------------------

_MOST_PRODUCTS = 5_000_000  # beyond this the exact sum takes seconds, and the normal is near
_NEGLIGIBLE = 1e-18  # of the mode: far below the nine digits kept of a p-value


def mantel_haenszel(strata: Sequence[Table]) -> tuple[float, float]:
    """Return the common odds ratio over strata and the one-sided p-value of it being above 1.

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
    return (ratio, round_up(_conditional_tail(telling)))


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
