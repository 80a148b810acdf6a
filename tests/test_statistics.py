"""Statistics against exact oracles: enumeration, rational arithmetic and finer integration."""

from __future__ import annotations

import functools
import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreason.base import siblings as level_spread
from kgreason.base import statistics
from kgreason.base.siblings import beta_binomial_tail
from kgreason.base.statistics import (
    Table,
    best_cut,
    deviance,
    e_benjamini_hochberg,
    e_from_p,
    e_value_two_proportions,
    excess,
    mantel_haenszel,
    welch_interval,
    wilson_interval,
)

few = settings(max_examples=60, deadline=None)


def counts(most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(0, most).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n)),
    )


def tables(most: int) -> st.SearchStrategy[Table]:
    return st.builds(lambda a, b: Table(*a, *b), counts(most), counts(most))


def binomial(n: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


# --- the table --------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [(3, 2, 0, 1), (0, 1, 3, 2), (-1, 2, 0, 1), (0, 0, 0, -1)])
def test_impossible_counts_are_refused(cells: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="is no count; give 0 ≤ failing ≤ population"):
        Table(*cells)


# --- e-values ---------------------------------------------------------------------------

DISCOVERIES = [Table(3, 4, 1, 20), Table(5, 5, 0, 5), Table(9, 10, 40, 200), Table(2, 3, 30, 60)]
RATES = [Fraction(n, 40) for n in (0, 1, 2, 5, 8, 12, 20, 28, 36, 40)]


@functools.cache
def uncapped(discovery: Table, held_out: Table) -> Fraction:
    return Fraction(e_value_two_proportions(discovery, held_out, cap=1e30))


def mean_e(discovery: Table, inside: list[Fraction], outside: list[Fraction]) -> Fraction:
    """Mean of the e-value when the counts of the held-out half have these distributions."""
    n, m = len(inside) - 1, len(outside) - 1
    return sum(
        (
            inside[x] * outside[y] * uncapped(discovery, Table(x, n, y, m))
            for x, y in itertools.product(range(n + 1), range(m + 1))
        ),
        start=Fraction(0),
    )


@pytest.mark.parametrize("discovery", DISCOVERIES)
@pytest.mark.parametrize("sizes", [(6, 6), (1, 11), (11, 2), (3, 9)])
def test_the_mean_e_value_is_at_most_one_at_every_common_rate(
    discovery: Table, sizes: tuple[int, int]
) -> None:
    means = [mean_e(discovery, binomial(sizes[0], r), binomial(sizes[1], r)) for r in RATES]
    assert max(means) <= 1
    assert max(means) > Fraction(3, 4)  # a bet is made: an e-value of 0 would pass the line above


def test_the_mean_e_value_is_at_most_one_where_the_region_is_better() -> None:
    for inside, outside in itertools.combinations(RATES[::2], 2):
        assert mean_e(Table(3, 4, 1, 20), binomial(4, inside), binomial(6, outside)) <= 1


def sum_of_unequal(rates: list[Fraction]) -> list[Fraction]:
    result = [Fraction(1)]
    for rate in rates:
        result = [
            (result[k] if k < len(result) else 0) * (1 - rate) + (result[k - 1] * rate if k else 0)
            for k in range(len(result) + 1)
        ]
    return result


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4))
@settings(max_examples=15, deadline=None)
def test_nodes_of_unequal_rates_do_no_harm(tenths: list[int]) -> None:
    inside = [Fraction(t, 10) for t in tenths]
    outside = [sum(inside, start=Fraction(0)) / 4] * 6
    assert mean_e(Table(5, 6, 4, 20), sum_of_unequal(inside), sum_of_unequal(outside)) <= 1


@given(tables(12), tables(12))
@few
def test_the_e_value_is_the_mixture_of_likelihood_ratios(discovery: Table, held_out: Table) -> None:
    e = e_value_two_proportions(discovery, held_out)
    a = Fraction(2 * discovery.inside_failing + 1, 2 * discovery.inside + 2)
    b = Fraction(2 * discovery.outside_failing + 1, 2 * discovery.outside + 2)
    if not discovery.raised or a <= b or not held_out.inside or not held_out.outside:
        assert e == 1
        return

    def ratio(inside: Fraction) -> Fraction:
        null = (held_out.inside * inside + held_out.outside * b) / held_out.population
        alternative = inside**held_out.inside_failing * b**held_out.outside_failing
        alternative *= (1 - inside) ** (held_out.inside - held_out.inside_failing)
        alternative *= (1 - b) ** (held_out.outside - held_out.outside_failing)
        return alternative / (
            null**held_out.failing * (1 - null) ** (held_out.population - held_out.failing)
        )

    exact = Fraction(4, 5) * ratio(a) + Fraction(1, 5) * ratio((a + b) / 2)
    assert Fraction(str(e)) == min(math.floor(exact * 10**6), 10**12) / Fraction(10**6)


def test_an_e_value_is_strong_for_a_cause_and_weak_where_it_does_not_repeat() -> None:
    discovery = Table(12, 40, 20, 960)
    assert e_value_two_proportions(discovery, Table(11, 40, 18, 960)) > 1000
    assert e_value_two_proportions(discovery, Table(1, 40, 30, 960)) < 0.1


def test_only_a_rate_raised_on_the_discovery_half_is_bet_on() -> None:
    held_out = Table(10, 10, 0, 10)
    assert e_value_two_proportions(Table(1, 10, 1, 10), held_out) == 1
    assert e_value_two_proportions(Table(1, 10, 9, 10), held_out) == 1
    # No failure in three nodes smooths to 1/8, above the outside; that is no raised rate.
    assert e_value_two_proportions(Table(0, 3, 1, 1000), held_out) == 1
    assert e_value_two_proportions(Table(0, 0, 1, 1000), held_out) == 1
    assert e_value_two_proportions(Table(1, 1, 0, 0), held_out) == 1


def test_a_capped_e_value_of_millions_of_nodes() -> None:
    half = Table(4_000_000, 5_000_000, 10, 5_000_000)
    assert e_value_two_proportions(half, half) == 1e6
    assert e_value_two_proportions(half, half, cap=250.5) == 250.5
    assert e_value_two_proportions(half, Table(0, 5_000_000, 10, 5_000_000)) == 0


def test_e_from_p_known_values() -> None:
    assert e_from_p(0.001) == 106.863738
    assert e_from_p(0) == 5556
    assert e_from_p(0, cap=1000) == 1000
    assert e_from_p(1) < 0.02


def test_e_from_p_integrates_to_one() -> None:
    grid = [0.0, *(10 ** (x / 100) for x in range(-800, 1))]
    values = [e_from_p(p) for p in grid]
    steps = list(zip(grid, grid[1:], values, values[1:], strict=False))
    assert values == sorted(values, reverse=True)
    assert math.fsum((q - p) * low for p, q, _, low in steps) <= 1
    assert 1 - 1e-4 <= math.fsum((q - p) * high for p, q, high, _ in steps) < 1.02


@pytest.mark.parametrize("p", [-0.001, 1.001, math.nan])
def test_e_from_p_refuses_what_is_no_p_value(p: float) -> None:
    with pytest.raises(ValueError, match="no p-value"):
        e_from_p(p)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 9.99, 10.0, 20.0, 33.3, 50.0, 100.0]), max_size=7))
@few
def test_e_bh_is_the_largest_self_consistent_set(e_values: list[float]) -> None:
    alpha = 0.1
    sets = [
        list(chosen)
        for size in range(len(e_values) + 1)
        for chosen in itertools.combinations(range(len(e_values)), size)
        if all(e_values[i] * size >= 10 * len(e_values) for i in chosen)
    ]
    assert e_benjamini_hochberg(e_values, alpha) == max(sets, key=len)


def test_e_bh_compares_decimals_exactly() -> None:
    assert e_benjamini_hochberg([20.0], 0.05) == [0]
    assert e_benjamini_hochberg([19.999999], 0.05) == []
    assert e_benjamini_hochberg([1.0, 30.0, 14.999999], 0.1) == [1]
    assert e_benjamini_hochberg([15.0, 2.0, 15.0], 0.1) == [0, 2]
    assert e_benjamini_hochberg([], 0.1) == []


@pytest.mark.parametrize(
    ("e_values", "alpha"), [([1.0], 0.0), ([1.0], 1.5), ([-1.0], 0.1), ([math.inf], 0.1)]
)
def test_e_bh_refuses_what_has_no_meaning(e_values: list[float], alpha: float) -> None:
    with pytest.raises(ValueError, match=r"give a false discovery rate|cap e-values"):
        e_benjamini_hochberg(e_values, alpha)


# --- ranking and size of an effect ------------------------------------------------------


def log_likelihood(failing: int, population: int, rate: float) -> float:
    passing = population - failing
    return (failing and failing * math.log(rate)) + (passing and passing * math.log(1 - rate))


@given(tables(300))
@few
def test_deviance_is_twice_the_log_likelihood_ratio(table: Table) -> None:
    if not table.inside or not table.outside:
        assert deviance(table) == 0
        return
    inside, outside = table.inside_failing / table.inside, table.outside_failing / table.outside
    free = log_likelihood(table.inside_failing, table.inside, inside)
    free += log_likelihood(table.outside_failing, table.outside, outside)
    tied = log_likelihood(table.failing, table.population, table.failing / table.population)
    expected = 2 * (free - tied) if inside > outside else 0
    assert deviance(table) == pytest.approx(expected, abs=1e-9)


def test_deviance_of_known_tables() -> None:
    assert deviance(Table(10, 10, 0, 10)) == pytest.approx(40 * math.log(2))
    assert deviance(Table(0, 10, 10, 10)) == 0
    assert deviance(Table(3, 10, 6, 20)) == 0
    assert deviance(Table(10**6, 10**7, 10**6 - 1, 10**7)) < 1e-5


def test_excess_counts_nodes_beyond_the_rate_outside() -> None:
    assert excess(Table(30, 100, 20, 200)) == 20
    assert excess(Table(5, 100, 20, 200)) == 0
    assert excess(Table(0, 0, 20, 200)) == 0
    with pytest.raises(ValueError, match="No node lies outside"):
        excess(Table(1, 2, 0, 0))


@given(st.lists(counts(20), min_size=1, max_size=9))
@few
def test_best_cut_is_the_best_of_all_cuts(levels: list[tuple[int, int]]) -> None:
    cuts = []
    for i in range(1, len(levels)):
        above, below = levels[i:], levels[:i]
        cells = [sum(level[j] for level in side) for side in (above, below) for j in (0, 1)]
        if cells[1] and cells[3]:
            cuts.append((i, deviance(Table(*cells))))
    if not cuts:
        with pytest.raises(ValueError, match="two levels that hold nodes"):
            best_cut(levels)
        return
    assert best_cut(levels) == max(cuts, key=lambda cut: cut[1])


def test_best_cut_of_a_step() -> None:
    levels = [(1, 50), (0, 0), (2, 50), (20, 50), (25, 50)]
    assert best_cut(levels) == (3, deviance(Table(45, 100, 3, 100)))
    assert best_cut(levels[::-1]) == (1, 0)


@given(counts(400), st.sampled_from([1.0, 1.96, 3.0]))
@few
def test_wilson_bounds_solve_the_score_equation(count: tuple[int, int], z: float) -> None:
    failing, population = count
    low, high = wilson_interval(failing, population, z)
    if not population:
        assert (low, high) == (0, 1)
        return
    assert 0 <= low <= failing / population <= high <= 1
    for bound in (low, high):
        score = (failing - population * bound) ** 2
        assert score == pytest.approx(z * z * population * bound * (1 - bound), abs=1e-6)


def test_wilson_interval_refuses_what_has_no_meaning() -> None:
    with pytest.raises(ValueError, match="standard deviations"):
        wilson_interval(1, 2, 0)
    with pytest.raises(ValueError, match="is no count"):
        wilson_interval(3, 2)


# --- strata -----------------------------------------------------------------------------


def exact_tail(strata: list[Table]) -> Fraction:
    """P(Σ failing inside ≥ observed) by enumeration of every combination of tables."""
    total = {0: Fraction(1)}
    for t in strata:
        ways = math.comb(t.population, t.failing)
        following: dict[int, Fraction] = {}
        for x in range(t.inside + 1):
            outside = math.comb(t.outside, t.failing - x) if x <= t.failing else 0
            chance = Fraction(math.comb(t.inside, x) * outside, ways)
            for y, p in total.items():
                following[x + y] = following.get(x + y, Fraction(0)) + p * chance
        total = following
    observed = sum(t.inside_failing for t in strata)
    return sum((p for x, p in total.items() if x >= observed), start=Fraction(0))


@given(st.lists(tables(15), max_size=4))
@few
def test_mantel_haenszel_is_exact_for_small_strata(strata: list[Table]) -> None:
    ratio, p = mantel_haenszel(strata)
    telling = [t for t in strata if t.inside and t.outside and 0 < t.failing < t.population]
    if not telling:
        assert (ratio, p) == (1, 1)
        return
    exact = float(exact_tail(telling))
    assert exact - 1e-12 <= p <= max(exact, 1e-9) + 1e-9 + 1e-12
    up = down = Fraction(0)
    for t in telling:
        up += Fraction(t.inside_failing * (t.outside - t.outside_failing), t.population)
        down += Fraction((t.inside - t.inside_failing) * t.outside_failing, t.population)
    assert ratio == (pytest.approx(float(up / down)) if down else math.inf)


def test_an_association_made_by_the_rival_vanishes_in_its_strata() -> None:
    strata = [Table(72, 90, 8, 10), Table(1, 10, 9, 90)]
    pooled = Table(73, 100, 17, 100)
    assert mantel_haenszel([pooled])[1] < 1e-6
    ratio, p = mantel_haenszel(strata)
    assert ratio == 1
    assert p > 0.5


def test_strata_without_variation_are_passed_over() -> None:
    flat = [
        Table(0, 5, 0, 9),
        Table(5, 5, 9, 9),
        Table(0, 0, 1, 9),
        Table(1, 5, 0, 0),
        Table(0, 0, 0, 0),
    ]
    assert mantel_haenszel(flat) == (1, 1)
    telling = Table(4, 6, 1, 9)
    assert mantel_haenszel([*flat, telling]) == mantel_haenszel([telling])


def test_the_normal_distribution_is_near_the_exact_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    strata = [Table(430 + i, 1000, 400, 1000) for i in range(0, 15, 5)]
    exact_ratio, exact = mantel_haenszel(strata)
    monkeypatch.setattr(statistics, "_MOST_PRODUCTS", 0)
    ratio, normal = mantel_haenszel(strata)
    assert ratio == exact_ratio
    assert normal == pytest.approx(exact, rel=0.02)


def test_strata_of_millions_of_nodes() -> None:
    ratio, p = mantel_haenszel([Table(400_000, 5_000_000, 398_500, 5_000_000)])
    assert ratio == pytest.approx(1.0041, abs=1e-4)
    assert 0.03 < p < 0.05
    assert mantel_haenszel([Table(5, 10, 20, 10_000_000)])[1] == 1e-9


# --- siblings ---------------------------------------------------------------------------


def whole_tail(k: int, n: int, alpha: int, beta: int) -> float:
    """Beta-binomial tail for whole parameters, by counting."""
    ways = [math.comb(n + beta - 1, n)]
    for j in range(n):
        ways.append(ways[j] * (n - j) * (j + alpha) // ((j + 1) * (n - j - 1 + beta)))
    assert sum(ways) == math.comb(n + alpha + beta - 1, n)
    return float(Fraction(sum(ways[k:]), sum(ways)))


@pytest.mark.parametrize(
    ("k", "n", "alpha", "beta"),
    [
        (1, 1, 1, 1),
        (3, 20, 2, 5),
        (19, 20, 2, 5),
        (300, 900, 3, 4),
        (301, 900, 3, 4),  # from here on by quadrature
        (330, 3000, 40, 400),
        (900, 3000, 1, 1),
        (2960, 3000, 30, 1),
        (450, 3000, 300, 3000),
        (400, 3000, 10_000, 110_000),
        (700, 800, 5, 2),
    ],
)
def test_beta_binomial_tails_by_counting(k: int, n: int, alpha: int, beta: int) -> None:
    exact = whole_tail(k, n, alpha, beta)
    assert level_spread.tail(k, n, alpha, beta) == pytest.approx(exact, abs=1e-8, rel=1e-6)


@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.2), (0.05, 5.0), (2.0, 0.5), (0.3, 3.0)])
def test_beta_binomial_tails_with_spikes_at_the_ends(alpha: float, beta: float) -> None:
    n = 2000
    logs = [
        math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1)
        + math.lgamma(j + alpha) + math.lgamma(n - j + beta)
        for j in range(n + 1)
    ]  # fmt: skip
    masses = [math.exp(log - max(logs)) for log in logs]
    for k in (1, 40, 350, 1000, 1900, 1999, 2000):
        exact = math.fsum(masses[k:]) / math.fsum(masses)
        assert level_spread.tail(k, n, alpha, beta) == pytest.approx(exact, abs=1e-8, rel=1e-6)


def integrated_tail(siblings: list[tuple[int, int]], level: tuple[int, int]) -> float:
    """The predictive tail by brute force, on a plain fine grid of mean and spread."""
    typical, _ = level_spread._Siblings(tuple((f, n, 1) for f, n in siblings)).mean(1.0)
    weights, tails = [], []
    for j in range(60):
        spread = math.exp(-10 + (j + 0.5) / 60 * (10 + math.log(25)))
        precisions = [1 / (1 / (n * typical * (1 - typical)) + spread) for _, n in siblings]
        one, two, three = (sum(w**power for w in precisions) for power in (1, 2, 3))
        information = two - 2 * three / one + (two / one) ** 2
        prior = spread * math.sqrt(information / (1 + spread))
        for i in range(120):
            angle = math.pi / 2 * (i + 0.5) / 120
            a, b = 1 / (spread * math.cos(angle) ** 2), 1 / (spread * math.sin(angle) ** 2)
            log = math.fsum(
                math.lgamma(f + a) + math.lgamma(n - f + b) - math.lgamma(n + a + b)
                - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)
                for f, n in siblings
            )  # fmt: skip
            weights.append(prior * math.exp(log))
            tails.append(level_spread.tail(*level, a, b))
    return math.fsum(w * t for w, t in zip(weights, tails, strict=True)) / math.fsum(weights)


@pytest.mark.parametrize(
    ("siblings", "level"),
    [
        ([(2, 40), (0, 25), (5, 60), (1, 30), (3, 50)], (9, 40)),
        ([(10, 30), (25, 40), (2, 20), (18, 20), (7, 35)], (30, 33)),
        ([(5, 100)] * 8, (14, 100)),
        ([(30, 31), (40, 40), (19, 20), (28, 30), (33, 33)], (25, 25)),
        ([(0, 40), (0, 30), (0, 55)], (12, 40)),
    ],
)
def test_the_tail_is_integrated_over_mean_and_spread(
    siblings: list[tuple[int, int]], level: tuple[int, int]
) -> None:
    assert beta_binomial_tail(siblings, level) == pytest.approx(
        integrated_tail(siblings, level), rel=0.02
    )


@given(st.lists(counts(60), min_size=1, max_size=8), st.integers(1, 60))
@few
def test_more_failures_are_never_likelier(siblings: list[tuple[int, int]], n: int) -> None:
    if sum(population > 0 for _, population in siblings) < 2:
        with pytest.raises(ValueError, match="two sibling levels that hold nodes"):
            beta_binomial_tail(siblings, (0, n))
        return
    tails = [beta_binomial_tail(siblings, (k, n)) for k in sorted({0, 1, n // 3, n // 2, n})]
    assert tails[0] == 1
    assert tails == sorted(tails, reverse=True)
    assert all(0 < p <= 1 and Decimal(str(p)).as_tuple().exponent >= -9 for p in tails)  # type: ignore[operator]


def test_order_and_empty_siblings_do_not_matter() -> None:
    siblings = [(2, 40), (0, 25), (5, 60), (1, 30), (2, 40)]
    expected = beta_binomial_tail(siblings, (9, 40))
    assert beta_binomial_tail([(0, 0), *siblings[::-1]], (9, 40)) == expected


def test_more_siblings_claim_more() -> None:
    few_, some, many = (
        beta_binomial_tail([(4, 80), (6, 80), (5, 80)] * c, (22, 80)) for c in (1, 4, 20)
    )
    assert few_ > 2 * some > 4 * many


def test_spread_among_siblings_excuses_a_level() -> None:
    alike = [(10, 100), (11, 100), (9, 100), (10, 100), (12, 100), (8, 100)]
    unlike = [(1, 100), (30, 100), (4, 100), (15, 100), (0, 100), (10, 100)]
    assert beta_binomial_tail(alike, (35, 100)) < 0.01
    assert beta_binomial_tail(unlike, (35, 100)) > 0.05


def test_siblings_alike_come_near_the_binomial() -> None:
    tail = beta_binomial_tail([(100, 1000)] * 60, (130, 1000))
    rate = Fraction(1, 10)
    exact = float(sum(binomial(1000, rate)[130:], start=Fraction(0)))
    assert exact < tail < 4 * exact


def test_siblings_without_a_failure() -> None:
    tails = [beta_binomial_tail([(0, 100)] * m, (40, 100)) for m in (2, 5, 10, 30)]
    assert tails == sorted(tails, reverse=True)
    assert tails[0] > 0.05 > tails[1]
    assert beta_binomial_tail([(0, 100)] * 5, (1, 100)) > 0.05
    assert beta_binomial_tail([(100, 100)] * 5, (100, 100)) > 0.5


def test_one_huge_sibling_counts_as_one_sibling() -> None:
    small = [(3, 100), (7, 100), (5, 100), (9, 100), (4, 100)]
    without = beta_binomial_tail([*small, (6, 100)], (25, 100))
    assert without / 3 < beta_binomial_tail([*small, (600_000, 10**7)], (25, 100)) < without * 3


def test_populations_of_millions() -> None:
    siblings = [(round(10**7 * r), 10**7) for r in (0.01, 0.013, 0.008, 0.011, 0.009, 0.012)]
    near, far, never = (
        beta_binomial_tail(siblings, (round(10**7 * r), 10**7)) for r in (0.011, 0.03, 0.9)
    )
    assert 0.2 < near < 0.6
    assert 1e-5 < far < 0.01
    assert never < 1e-4


@pytest.mark.parametrize("siblings", [5, 10])
def test_hidden_batches_rarely_raise_an_alarm(siblings: int) -> None:
    source = random.Random(siblings)
    alarms = 0
    for _ in range(300):
        levels = []
        for _ in range(siblings + 1):
            n = source.randint(20, 120)
            rate = 1 / (1 + math.exp(2.5 - source.gauss(0, 0.7)))
            levels.append((sum(source.random() < rate for _ in range(n)), n))
        alarms += beta_binomial_tail(levels[1:], levels[0]) <= 0.05
    assert alarms <= 30  # 15 are due; more than 27 come by chance once in a thousand times


@pytest.mark.parametrize(
    ("deviations", "counts", "reach"),
    [
        # t(0.975) of 4, 10 and 100 degrees of freedom are 2.776445, 2.228139 and 1.983972.
        ((0.0, 1.0), (5, 5), 2.776445 / math.sqrt(5)),
        ((2.0, 2.0), (6, 6), 2.228139 * 2 * math.sqrt(2 / 6)),
        ((3.0, 3.0), (51, 51), 1.983972 * 3 * math.sqrt(2 / 51)),
    ],
)
def test_welch_interval_has_the_quantiles_of_the_tables(
    deviations: tuple[float, float], counts: tuple[int, int], reach: float
) -> None:
    assert welch_interval(deviations, counts) == pytest.approx(reach, rel=1e-3)


def test_welch_interval_covers_what_it_should() -> None:
    dice = random.Random(4)
    covered = 0
    for _ in range(2000):
        sides = [[dice.gauss(m, s) for _ in range(n)] for m, s, n in ((3, 1, 6), (1, 4, 20))]
        means = [sum(side) / len(side) for side in sides]
        spread = [
            math.sqrt(sum((x - m) ** 2 for x in side) / (len(side) - 1))
            for side, m in zip(sides, means, strict=True)
        ]
        reach = welch_interval((spread[0], spread[1]), (6, 20))
        assert reach is not None
        covered += abs(means[0] - means[1] - 2) <= reach
    assert 0.94 <= covered / 2000 <= 0.96


def test_welch_interval_is_not_given_where_it_would_say_too_much() -> None:
    assert welch_interval((1.0, 1.0), (4, 50)) is None
    assert welch_interval((0.0, 0.0), (9, 9)) is None
    with pytest.raises(ValueError, match="cannot be below 0"):
        welch_interval((-1.0, 1.0), (9, 9))
