"""Numbers of an outcome are cut where two groups of them part, else at the upper quartile."""

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

import kgreason
from kgreason.shacl.outcome_cut import outcome_cut, upper_quartile

DAYS = "SELECT ?focus ?outcome WHERE { ?focus <https://example.org/days> ?outcome }"


def drawn(seed: int, *groups: tuple[int, float, float]) -> list[Decimal]:
    dice = random.Random(seed)
    return [
        Decimal(f"{dice.gauss(mean, spread):.2f}")
        for number, mean, spread in groups
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "groups",
    [
        ((100, 5, 2), (20, 20, 2)),
        ((50, 5, 1), (50, 20, 3)),
        ((300, 100, 4), (8, 160, 4)),
        ((300, -40, 4), (30, 0, 2)),
        ((200, 5, 0), (40, 7, 0)),
    ],
)
def test_two_groups_are_cut_between_them(
    seed: int, groups: tuple[tuple[int, float, float], ...]
) -> None:
    numbers = drawn(seed, *groups)
    cut = outcome_cut(numbers)
    upper = numbers[groups[0][0] :]
    assert cut.at == min(upper)
    assert cut.bits is not None
    assert cut.bits >= 10


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "form", ["normal", "uniform", "exponential", "lognormal", "power", "counts"]
)
def test_one_group_is_cut_at_its_upper_quartile(form: str, seed: int) -> None:
    dice = random.Random(seed)
    draw: dict[str, Callable[[], float]] = {
        "normal": lambda: dice.gauss(50, 9),
        "uniform": lambda: dice.uniform(0, 1),
        "exponential": lambda: dice.expovariate(0.2),
        "lognormal": lambda: dice.lognormvariate(2, 1),
        "power": lambda: dice.paretovariate(1.2),
        "counts": lambda: float(int(dice.expovariate(0.3))),
    }
    numbers = [Decimal(f"{draw[form]():.3f}") for _ in range(400)]
    cut = outcome_cut(numbers)
    assert (cut.at, cut.bits) == (upper_quartile(numbers), None)


def test_groups_of_one_order_of_magnitude_each_part_as_logarithms() -> None:
    dice = random.Random(2)
    numbers = [Decimal(f"{dice.uniform(1, 3):.3f}") for _ in range(90)]
    numbers += [Decimal(f"{dice.uniform(100, 900):.1f}") for _ in range(30)]
    assert 3 < outcome_cut(numbers).at <= 130


@pytest.mark.parametrize(
    "numbers", [[Decimal(3)], [Decimal(3)] * 50, [Decimal(n) for n in range(9)]]
)
def test_few_or_equal_numbers_have_no_groups(numbers: list[Decimal]) -> None:
    assert outcome_cut(numbers).bits is None


@pytest.mark.parametrize(("ones", "at"), [(17, 1), (40, 1), (0, 0), (100, 1)])
def test_of_noughts_and_ones_the_ones_are_the_outcome(ones: int, at: int) -> None:
    numbers = [Decimal(0)] * (100 - ones) + [Decimal(1)] * ones
    assert outcome_cut(numbers).at == at


def test_most_are_not_told_as_the_outcome() -> None:
    """A few low numbers below all others: the others are no outcome to be explained."""
    assert outcome_cut(drawn(1, (20, 5, 1), (200, 50, 3))).bits is None


def test_the_report_says_from_where_on_and_the_cause_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dice = random.Random(3)
    lines = ["@prefix ex: <https://example.org/> ."]
    for n in range(120):
        days = dice.gauss(20 if n % 8 == 2 else 5, 2)
        lines.append(f"ex:o{n} ex:carrier ex:c{n % 8} ; ex:days {days:.3f} .")
    Path("data.ttl").write_text("\n".join(lines), encoding="utf-8")
    with kgreason.investigate("data.ttl", outcome=f"{DAYS}\n") as result:
        (symptom,) = result.symptoms
        assert (symptom.failing, symptom.population) == (15, 120)
        assert "15 of 120 nodes have the outcome that was asked about (1" in result.markdown()
        assert " or more, where the numbers fall into two groups)" in result.markdown()
    with kgreason.investigate("data.ttl", outcome=f"{DAYS}\n", at=12) as result:
        assert "(12 or more). " in result.markdown()
