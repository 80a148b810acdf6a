"""Rates whose log-odds are normal, and how often the worst of many levels is taken for a cause."""

import math
import random

import pytest

from kgreason.base.normal_rates import normal_tail
from kgreason.base.siblings import beta_binomial_tail, odds, usual_odds
from kgreason.base.statistics import Count
from kgreason.test.sibling_spread import tail_of

FEW: list[Count] = [(2, 40), (5, 60), (0, 25), (9, 50)]


def binomial(failing: int, nodes: int, x: float) -> float:
    """Return the probability of a count where the log-odds of failing are x."""
    rate = 1 / (1 + math.exp(-x))
    return math.comb(nodes, failing) * rate**failing * (1 - rate) ** (nodes - failing)


def integrated(siblings: list[Count], mine: Count) -> float:
    """Return the tail by plain sums over log-odds, their mean and their deviation."""
    points = [-9 + 0.15 * i for i in range(95)]
    likely = [[binomial(f, n, x) for x in points] for f, n in siblings]
    reach = [sum(binomial(k, mine[1], x) for k in range(mine[0], mine[1] + 1)) for x in points]
    total = above = 0.0
    for mean in (-6.5 + 0.25 * i for i in range(27)):
        for spread in (math.log(0.1) + 0.15 * i for i in range(25)):
            deviation = math.exp(spread)
            weights = [math.exp(-(((x - mean) / deviation) ** 2) / 2) for x in points]
            whole = sum(weights)
            weight = deviation / (1 + deviation**2) / math.cosh(mean / 2)
            for row in likely:
                weight *= sum(map(float.__mul__, weights, row)) / whole
            total += weight
            above += weight * sum(map(float.__mul__, weights, reach)) / whole
    return above / total


@pytest.mark.parametrize("mine", [(8, 30), (20, 30)])
def test_tails_are_those_of_plain_sums(mine: Count) -> None:
    assert normal_tail(FEW, mine) == pytest.approx(integrated(FEW, mine), rel=0.1)


def test_more_failures_are_less_likely_and_order_does_not_matter() -> None:
    tails = [normal_tail(FEW, (k, 30)) for k in (0, 5, 12, 30)]
    assert tails[0] == pytest.approx(1)
    assert tails == sorted(tails, reverse=True)
    assert normal_tail([(0, 0), *FEW[::-1]], (12, 30)) == tails[2]


def drawn(source: random.Random, levels: int, nodes: int) -> tuple[Count, list[Count]]:
    """Return the worst of some levels by one half, as the other half has it, and its siblings."""
    counts = []
    for _ in range(levels):
        rate = 1 / (1 + math.exp(3 - source.gauss(0, 1)))
        halves = [sum(source.random() < rate for _ in range(nodes // 2)) for _ in range(2)]
        counts.append((halves[0], halves[1]))
    worst = max(range(levels), key=lambda place: counts[place][0])
    beside = [(sum(c), nodes) for place, c in enumerate(counts) if place != worst]
    return (counts[worst][1], nodes // 2), beside


@pytest.mark.parametrize(("levels", "nodes"), [(40, 200), (180, 44)])
def test_the_worst_of_many_levels_is_rarely_a_cause(levels: int, nodes: int) -> None:
    source = random.Random(levels)
    cases = [drawn(source, levels, nodes) for _ in range(16)]
    alarms = sum(tail_of(beside, mine) <= 0.05 for mine, beside in cases)
    thin = sum(levels * beta_binomial_tail(beside, mine) <= 0.05 for mine, beside in cases)
    assert alarms <= 3  # one is due; more than three come by chance once in a hundred times
    assert alarms < thin


def test_levels_of_a_few_nodes_are_not_better_for_being_lucky() -> None:
    """Of a thousand levels of seven nodes half have no failing one by chance."""
    source = random.Random(0)
    levels = [(sum(source.random() < 0.09 for _ in range(7)), 7) for _ in range(1000)]
    assert usual_odds(levels) == pytest.approx(odds(90, 1000), rel=0.1)
    assert tail_of(levels, (4, 5)) > 0.2
    # Few levels are not taken together.
    assert usual_odds([(1, 300), (2, 300), (250, 300)]) == odds(3, 600)
    assert usual_odds([(0, 20), (1, 20), (1, 20)]) == odds(1, 40)


def test_of_few_levels_one_that_is_far_off_is_told_without_a_spread() -> None:
    few = [(0, 30)] * 3
    assert tail_of(few, (28, 30)) < 0.05 < 4 * beta_binomial_tail(few, (28, 30))


def test_where_nodes_that_pass_are_counted_both_ends_were_looked_at() -> None:
    siblings: list[Count] = [(60, 100), (70, 100), (64, 100), (75, 100), (66, 100)]
    once = tail_of(siblings, (92, 100))
    assert tail_of(siblings, (92, 100), ends=2) == pytest.approx(2 * once)
