"""What goes with an outcome is named where few groups differ, and not where many always do."""

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


def test_what_goes_wrong_on_weekends_is_told_so(tmp_path: Path) -> None:
    lines = ["@prefix ex: <https://example.org/> ."]
    for number in range(280):
        day = date(2025, 1, 1) + timedelta(number)
        late = number % 20 == 0 or (day.weekday() >= 5 and number % 7 != 0)
        lines.append(f'ex:p{number} ex:sent "{day}" ; ex:late {str(late).lower()} .')
    data, query = tmp_path / "parcels.ttl", tmp_path / "late.rq"
    data.write_text("\n".join(lines), encoding="utf-8")
    asked = "PREFIX ex: <https://example.org/> SELECT ?focus ?outcome { ?focus ex:late ?outcome }"
    query.write_text(asked, encoding="utf-8")
    with kgreason.investigate(data, outcome=query) as result:
        assert [cause.statement for cause in result.causes] == [
            "Nodes whose sent is a weekend day have the outcome."
        ]
