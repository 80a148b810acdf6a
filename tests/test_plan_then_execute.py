"""Plans of several goals, and several strategies compared on one question."""

import json
from pathlib import Path

import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.planner.plan_and_execute import parts_of
from tests.cli_support import run
from tests.planner_support import workshop


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop")
    workshop(folder)
    return folder


def test_a_question_has_parts_where_another_question_begins() -> None:
    asked = "How many parts are there, and which parts have no mass? Describe the makers."
    assert parts_of(asked) == [
        "How many parts are there", "which parts have no mass", "Describe the makers",
    ]  # fmt: skip
    assert parts_of("Which parts are red and round?") == ["Which parts are red and round"]


def test_goals_are_planned_worked_on_and_replaced_where_they_fail(place: Path) -> None:
    found = kgreason.plan(
        "How many parts have no unit mass, and how many makers were cancelled?",
        place / "parts.ttl",
        strategy="plan-then-execute",
    )
    assert found.answered
    assert "10 of 40 nodes of Part have no unitMass" in found.answer
    assert "“how many makers were cancelled” failed" in found.answer
    assert "Another goal took its place" in found.answer
    record = found.result.record
    rows = record.store.select(
        "PREFIX trails: <https://w3id.org/trails#> SELECT ?plan ?old WHERE { "
        f"GRAPH {record.iri} {{ ?goal a trails:PlannedGoal ; trails:planNumber ?plan . "
        "OPTIONAL { ?goal trails:replacesGoal ?old } } } ORDER BY ?goal"
    )
    assert [(row["plan"].value, "old" in row) for row in rows] == [
        ("1", False), ("1", False), ("2", True),
    ]  # fmt: skip
    assert audit(found.result.record).rules == set()
    none = kgreason.plan("Where is the moon?", place / "parts.ttl", strategy="plan-then-execute")
    assert not none.answered


def test_a_goal_waits_for_the_one_that_it_speaks_of(place: Path) -> None:
    asked = "Which parts were cancelled, and how many of them have no unit mass?"
    found = kgreason.plan(asked, place / "parts.ttl", strategy="plan-then-execute")
    assert "has to be answered before" in found.answer


def test_strategies_are_compared_on_one_question(place: Path, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    asked = ("ask", "How many parts have no unit mass?", str(place / "parts.ttl"))
    done = run(*asked, "--strategies", "react,plan-then-execute", "--ledger", ledger)
    assert done.code == 0, done.err
    assert "plan-then-execute" in done.out
    made = run(*asked, "--strategies", "react", "--ledger", ledger, "--format", "json")
    (row,) = json.loads(made.out)
    assert row["answered"] is True
    assert row["citations"] == row["citations_valid"] == 10
    assert row["cause"] is None
    with pytest.raises(OptionError, match="no strategy 'magic'"):
        api.compare_strategies("Any?", place / "parts.ttl", ["react", "magic"])
