"""What goes with an outcome is named where few groups differ, and not where many always do."""

import pytest

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
