"""What goes with an outcome is named where few groups differ, and not where many always do."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

import kgreason
from benchmarks.factors_bench import Case, outcome_of


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (Case(0, "one of six fields", 6.0, 0.35), "named"),
        (Case(1, "from a year on", 6.0, 0.1), "named"),
        (Case(0, "journals differ", 1.0, 0.35), "none"),
    ],
)
def test_a_factor_is_named_and_groups_with_rates_of_their_own_are_not(
    case: Case, told: str
) -> None:
    assert outcome_of(case) == told


def weekend(number: int) -> tuple[str, bool]:
    day = date(2025, 1, 1) + timedelta(number)
    late = number % 20 == 0 or (day.weekday() >= 5 and number % 7 != 0)
    return f'ex:sent "{day}"', late


def night(number: int) -> tuple[str, bool]:
    hour = number * 7 % 24
    late = number % 20 == 0 or ((hour >= 22 or hour < 6) and number % 11 != 0)
    return f'ex:picked "2025-01-{number % 28 + 1:02}T{hour:02}:{number % 60:02}:00Z"', late


def expired(number: int) -> tuple[str, bool]:
    draw = random.Random(number)
    made = date(2025, 1, 1) + timedelta(draw.randrange(300))
    until = date(2025, 1, 1) + timedelta(draw.randrange(400))
    late = draw.random() < (0.97 if made > until else 0.02)
    return f'ex:made "{made}" ; ex:certificate [ ex:until "{until}" ]', late


def before_a_deadline(number: int) -> tuple[str, bool]:
    draw = random.Random(number)
    call = draw.randrange(6)
    until = date(2025, 3, 1) + timedelta(40 * call)
    sent = until - timedelta(draw.randrange(30))
    late = draw.random() < (0.8 if (until - sent).days <= 7 else 0.1)
    return f'ex:sent "{sent}" ; ex:call ex:c{call} . ex:c{call} ex:closes "{until}"', late


def winter(number: int) -> tuple[str, bool]:
    draw = random.Random(number)
    month = draw.randrange(1, 13)
    late = draw.random() < (0.8 if month in {12, 1, 2} else 0.1)
    return f'ex:read "20{draw.randrange(15, 25)}-{month:02}-{draw.randrange(1, 29):02}"', late


def abroad(number: int) -> tuple[str, bool]:
    ports = number * 7 % 5, number * 11 % 3
    late = number % 20 == 0 or (ports[0] == ports[1] and number % 11 != 0)
    return f"ex:from ex:c{ports[0]} ; ex:to ex:c{ports[1]}", late


def spelt(number: int) -> tuple[str, bool]:
    port = ("HaiPhong", "Rotterdam", "DaNang", "Genoa", "Santos")[number % 5]
    late = number % 20 == 0 or (number % 5 in {0, 2} and number % 11 != 0)
    land = "VN" if number % 5 in {0, 2} else f"L{number % 5}"
    return f"ex:port ex:{port} . ex:{port} ex:country ex:{land}", late


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (weekend, "Nodes whose sent is a weekend day have the outcome."),
        (night, "Nodes whose picked has a time of day from 22:00 to 05:59 have the outcome."),
        (expired, "Nodes whose made is later than their until of certificate have the outcome."),
        (
            before_a_deadline,
            "Nodes whose closes of call is 7 days or less after their sent have the outcome.",
        ),
        (winter, "Nodes whose read lies in the months from December to February have the outcome."),
        (abroad, "Nodes whose to is the same as their from have the outcome."),
        (spelt, "Nodes whose port has country VN have the outcome."),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_dates_times_and_places_have_to_do_with_it_is_told(
    made: Callable[[int], tuple[str, bool]], told: str, tmp_path: Path
) -> None:
    lines = ["@prefix ex: <https://example.org/> ."]
    for number in range(280):
        said, late = made(number)
        lines.append(f"ex:p{number} ex:late {str(late).lower()} ; {said} .")
    data, query = tmp_path / "parcels.ttl", tmp_path / "late.rq"
    data.write_text("\n".join(lines), encoding="utf-8")
    asked = "PREFIX ex: <https://example.org/> SELECT ?focus ?outcome { ?focus ex:late ?outcome }"
    query.write_text(asked, encoding="utf-8")
    with kgreason.investigate(data, outcome=query) as result:
        assert result.causes[0].statement == told
