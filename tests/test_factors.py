"""What goes with an outcome is named where few groups differ, and not where many always do."""

import pytest

from benchmarks.factors_bench import Case, outcome_of


@pytest.mark.parametrize(
    ("kind", "odds", "told"),
    [("one of six fields", 6.0, "named"), ("journals differ", 1.0, "none")],
)
def test_a_factor_is_named_and_groups_with_rates_of_their_own_are_not(
    kind: str, odds: float, told: str
) -> None:
    assert outcome_of(Case(0, kind, odds, 0.35)) == told
