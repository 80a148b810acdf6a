"""Bits that a region saves, clusters dealt as wholes, and both halves: what their readers make."""

import math
from decimal import Decimal
from fractions import Fraction

import pyoxigraph as ox
import pytest

from kgreason.base.store import Row
from kgreason.base.terms import XSD
from kgreason.hypothesize.conditions.code import LIKELIEST, saved, surprise
from kgreason.hypothesize.conditions.code import number as share_of
from kgreason.hypothesize.conditions.scale import Scale
from kgreason.test import code_length, dealt_clusters, recurrence
from kgreason.test.finding import Finding, Setting

SETTING = Setting()


def number(value: int) -> ox.Literal:
    return ox.Literal(str(value), datatype=XSD.integer)


def bits(value: float) -> ox.Literal:
    return ox.Literal(f"{value:.6f}", datatype=XSD.decimal)


def counted(inside: int, bad: int, population: int, failing: int, cost: float) -> Finding:
    row: Row = {
        "inside": number(inside),
        "insideFailing": number(bad),
        "population": number(population),
        "failing": number(failing),
        "codeLength": bits(cost),
    }
    return code_length.read([row], SETTING)


@pytest.mark.parametrize(
    ("inside", "bad", "population", "failing", "outcome"),
    [(30, 28, 900, 32, "told"), (12, 6, 200, 40, "untold"), (9, 7, 120, 24, "untold")],
)
def test_bits_are_those_of_the_hypergeometric_code(
    inside: int, bad: int, population: int, failing: int, outcome: str
) -> None:
    chance = Fraction(
        math.comb(inside, bad) * math.comb(population - inside, failing - bad),
        math.comb(population, failing),
    )
    most, usual = min(inside, failing), inside * failing // population
    short = most - bad
    share = (Fraction(1, most - usual) + Fraction(1, (short + 1) * (short + 2))) / 2
    expected = math.log2(share / chance) - 12.5
    found = counted(inside, bad, population, failing, 12.5)
    assert float(found.figures["bitsSaved"]) == pytest.approx(expected, abs=1e-6)
    assert found.outcome == outcome


@pytest.mark.parametrize(
    ("inside", "failing", "nodes"),
    [(1, 1, 2), (5, 23, 52), (32, 23, 52), (400, 7, 9000), (51, 23, 52), (30, 30, 60)],
)
def test_numbers_of_failing_nodes_have_a_code_and_the_e_value_has_mean_at_most_one(
    inside: int, failing: int, nodes: int
) -> None:
    """The shares of all numbers add up to 1 at most, and so does the mean of 2^saved."""
    held = range(max(0, inside + failing - nodes), min(inside, failing) + 1)
    shares = [2 ** -share_of(bad, inside, failing, nodes) for bad in held]
    assert 0.5 <= sum(shares) <= 1 + 1e-9
    assert max(shares) <= LIKELIEST + 1e-9
    mean = math.fsum(
        2 ** (saved(bad, inside, failing, nodes) - surprise(bad, inside, failing, nodes))
        for bad in held
    )
    assert mean == pytest.approx(sum(shares))
    chances = [2 ** -surprise(bad, inside, failing, nodes) for bad in held]
    assert math.fsum(chances) == pytest.approx(1)


def test_no_region_with_as_many_failing_nodes_saves_more_than_the_bound() -> None:
    for nodes, failing in ((40, 12), (60, 45), (25, 24)):
        scale = Scale((1 << nodes) - 1, (1 << failing) - 1)
        for bad in range(2, failing + 1):
            found = [scale.bits(bad, bad + good) for good in range(nodes - failing + 1)]
            assert all(
                bits <= scale.most(most)
                for bits in found
                if bits is not None
                for most in range(bad, failing + 1)
            )


def test_the_e_value_is_two_to_the_bits_rounded_down_and_capped() -> None:
    some = counted(20, 12, 400, 40, 2.0)
    exact = 2.0 ** float(some.figures["bitsSaved"])
    assert Decimal(0) < some.figures["eValue"] <= Decimal(min(exact * (1 + 1e-6), 1e6))
    assert counted(300, 300, 3000, 310, 12.0).figures["eValue"] == Decimal("1e6")


@pytest.mark.parametrize(
    ("inside", "bad", "failing", "outcome"),
    [(7, 7, 7, "clear"), (7, 7, 8, "clear"), (7, 7, 9, "some"), (8, 7, 7, "some")],
)
def test_a_clear_region_has_an_outcome_of_its_own(
    inside: int, bad: int, failing: int, outcome: str
) -> None:
    """Seven of seven nodes, and at most one of the others, need no ten bits."""
    found = counted(inside, bad, 18, failing, 4.0)
    assert found.outcome == outcome
    assert 20 <= found.figures["eValue"] < 1024


def test_a_region_that_fails_less_saves_nothing_and_speaks_against_itself() -> None:
    found = counted(100, 1, 200, 50, 3.0)
    assert (found.outcome, found.figures["eValue"]) == ("untold", 0)
    assert float(found.figures["bitsSaved"]) == -3.0


def clusters(
    inside: list[tuple[int, int]],
    outside: list[tuple[int, int]],
    cost: float = 10.0,
    elsewhere: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0)),
) -> list[Row]:
    """Return the rows of clusters; `elsewhere` are the nodes of the first inside and outside."""
    rest = {0: elsewhere[0], len(inside): elsewhere[1]}
    return [
        {
            "level": number(place),
            "failing": number(failing),
            "population": number(nodes),
            "shared": number(nodes if place < len(inside) else 0),
            "failingElsewhere": number(rest.get(place, (0, 0))[0]),
            "elsewhere": number(rest.get(place, (0, 0))[1]),
            "partLength": bits(cost),
            "ways": number(2),
        }
        for place, (failing, nodes) in enumerate([*inside, *outside])
    ]


def test_a_region_beyond_many_clusters_is_beyond_and_one_among_them_is_not() -> None:
    steady = [(1, 40)] * 20 + [(2, 40)] * 20
    assert dealt_clusters.read(clusters([(30, 40), (33, 40)], steady), SETTING).outcome == "beyond"
    uneven = [(k % 20, 40) for k in range(40)]
    found = dealt_clusters.read(clusters([(22, 40)], uneven), SETTING)
    assert (found.outcome, found.figures["levels"]) == ("within", 41)


def test_what_cannot_be_said_in_the_code_is_not_paid_for() -> None:
    """Such a region costs a million bits, and two to the power of them is no number."""
    found = dealt_clusters.read(clusters([(30, 40)], [(1, 40)] * 20, 1e6), SETTING)
    assert (found.outcome, found.figures["pValue"]) == ("within", 1)
    found = counted(30, 28, 900, 32, 1e6)
    assert (found.outcome, found.figures["eValue"]) == ("untold", 0)


def test_of_few_clusters_one_must_stand_far_out() -> None:
    steady = [(2, 100), (1, 100), (3, 100), (2, 100)]
    assert dealt_clusters.read(clusters([(90, 100)], steady), SETTING).outcome == "beyond"
    uneven = [(2, 100), (12, 100), (30, 100), (5, 100)]
    assert dealt_clusters.read(clusters([(41, 100)], uneven), SETTING).outcome == "within"


def test_clusters_that_are_as_usual_elsewhere_have_no_rate_of_their_own() -> None:
    """One run fails on one line: of eleven others one fails a third, so rates may differ far."""
    never = [(0, 30)] * 10 + [(10, 30)]
    alone = clusters([(29, 29)], never, 25.0)
    assert dealt_clusters.read(alone, SETTING).outcome == "within"
    usual = clusters([(29, 29)], never, 25.0, ((1, 800), (8, 9000)))
    assert dealt_clusters.read(usual, SETTING).outcome == "beyond"
    # It fails on other lines as well: then it has a rate of its own, and the line says little.
    bad = clusters([(29, 29)], never, 25.0, ((200, 800), (8, 9000)))
    assert dealt_clusters.read(bad, SETTING).outcome == "within"
    # Of the line nearly all fail, in whatever run: then it is the line.
    line = clusters([(29, 29)], [(27, 30)] * 11, 25.0, ((1, 800), (8, 9000)))
    assert dealt_clusters.read(line, SETTING).outcome == "within"


def test_a_region_that_cuts_through_clusters_is_not_judged_by_them() -> None:
    rows = clusters([], [(4, 10)] * 12)
    assert dealt_clusters.read(rows, SETTING).outcome == "undetermined"
    assert dealt_clusters.read([], SETTING).outcome == "undetermined"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ((30, 31), (29, 33), "alike"),
        ((30, 31), (1, 29), "lopsided"),
        ((9, 10), (1, 4), "undetermined"),
        ((6, 30), (3, 30), "alike"),
    ],
)
def test_halves_that_fail_otherwise_speak_against_a_region(
    first: tuple[int, int], second: tuple[int, int], outcome: str
) -> None:
    rows: list[Row] = [
        {"place": number(place), "failing": number(bad), "population": number(nodes)}
        for place, (bad, nodes) in enumerate([first, second])
    ]
    assert recurrence.read(rows, SETTING).outcome == outcome
