"""Plans of several goals, and several strategies compared on one question."""

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.base import workers as workers_of
from kgreason.base.errors import OptionError
from kgreason.model.calling import Caller
from kgreason.planner import plan_tools
from kgreason.planner.plan_and_execute import parts_of
from kgreason.planner.reasoner import Move, Reasoner, Situation
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.planner.tool_observation import Observation
from kgreason.record import Record
from tests.cli_support import run
from tests.lifetime_support import timeless
from tests.model_support import Stub
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
    ends = [one for one in found.steps if one.action == "goal"]
    assert [(one.thought, one.status) for one in ends] == [
        ("How many parts have no unit mass", "complete"),
        ("how many makers were cancelled", "revised"),
        ("describe Maker", "complete"),
    ]
    assert all(one.observation in found.answer for one in ends)
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


_ASKED = (
    "How many parts have no unit mass, and which parts were cancelled, and how many makers are "
    "there, and describe them?"
)


def planned(place: Path, jobs: int, reasoner: Reasoner | None = None, **more: Any) -> PlanResult:
    options: dict[str, Any] = {"strategy": "plan-then-execute", "jobs": jobs, "reasoner": reasoner}
    return kgreason.plan(_ASKED, place / "parts.ttl", **options, **more)


@dataclass
class ByParts:
    """A reasoner that calls one tool for each part of a question, and then tells what it saw."""

    tool: str
    arguments: dict[str, Any]

    def next(self, situation: Situation) -> Move:
        if not situation.seen:
            return Move("Look.", self.tool, self.arguments)
        return Move("Tell.", answer=situation.seen[0].observation.told)


def calls_of(record: Record) -> list[str]:
    """Give the goals that tools were called for, in the order of the steps."""
    rows = record.store.select(
        "PREFIX trails: <https://w3id.org/trails#> SELECT ?said WHERE { "
        f"GRAPH {record.iri} {{ ?call a trails:PlanStep ; trails:goal/trails:statement ?said ; "
        "trails:index ?place } } ORDER BY ?place"
    )
    return [row["said"].value for row in rows]


def test_the_record_is_the_same_for_any_number_of_jobs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure stands beside successes, and one goal waits for another."""
    alone = planned(place, 1)
    assert audit(alone.result.record).rules == set()
    here: list[str] = []
    called = plan_tools.call

    def noting(desk: Any, tool: str, arguments: Any) -> Observation:
        here.append(tool)
        return called(desk, tool, arguments)

    monkeypatch.setattr(plan_tools, "call", noting)
    together = planned(place, 2)
    assert timeless(together.result.record) == timeless(alone.result.record)
    assert together.answer == alone.answer
    assert "10 of 40 nodes of Part have no unitMass" in together.answer
    assert "“which parts were cancelled” failed" in together.answer
    assert len(here) < len(calls_of(together.result.record)), "some were called elsewhere"
    monkeypatch.setattr(workers_of, "FORKS", False)
    assert timeless(planned(place, 2).result.record) == timeless(alone.result.record)


def test_independent_goals_are_worked_on_at_the_same_time(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meeting(_: Any, __: Any) -> Observation:
        """Wait until another call, in another process, has begun too."""
        (tmp_path / str(os.getpid())).touch()
        end = time.monotonic() + 20
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return Observation(f"met {len(list(tmp_path.iterdir()))}")

    monkeypatch.setitem(plan_tools._TOOLS, "describe", meeting)
    found = planned(place, 2, ByParts("describe", {"node": "urn:x"}))
    met = [int(number) for number in re.findall(r"met (\d)", found.answer)]
    assert len(met) == 4
    assert min(met) == 2


def test_a_goal_that_depends_waits(place: Path) -> None:
    """It begins when what it depends on has ended; the others make one call each in turn."""
    parts = parts_of(_ASKED)
    assert (
        calls_of(planned(place, 1, ByParts("query", {"query": "classes"})).result.record) == parts
    )
    worked = calls_of(planned(place, 1).result.record)
    assert worked[:3] == parts[:3]
    assert worked[3] == parts[0]
    assert max(n for n, one in enumerate(worked) if one == parts[2]) < worked.index(parts[3])


def test_a_tool_that_reads_the_ledger_waits_for_its_turn(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(_: Any, __: Any) -> Observation:
        return Observation(f"process {os.getpid()}")

    monkeypatch.setitem(plan_tools._TOOLS, "symptoms", here)
    found = planned(place, 2, ByParts("symptoms", {}), ledger=tmp_path / "ledger")
    assert found.answer.startswith(" ".join([f"process {os.getpid()}"] * 4))
    found.result.close()


def test_fewer_than_one_job_is_refused(place: Path, tmp_path: Path) -> None:
    asked = ("ask", _ASKED, str(place / "parts.ttl"), "--strategy", "plan-then-execute")
    done = run(*asked, "--jobs", "0", "--ledger", str(tmp_path / "ledger"))
    assert done.code == 2
    assert "--jobs must be at least 1." in done.err
    assert not (tmp_path / "ledger").exists()


def test_each_call_of_a_model_is_in_the_record_of_a_plan(place: Path) -> None:
    """The model plans, calls a tool for each goal, and answers each; tools run side by side."""

    def said(prompt: str) -> str:
        if "No call was made" in prompt or "nothing yet" in prompt:
            arguments = {"query": "classes"}
            return json.dumps({"thought": "Look.", "tool": "query", "arguments": arguments})
        return json.dumps({"thought": "So.", "tool": "answer", "answer": "Parts.", "cites": [1]})

    found = [
        planned(place, jobs, caller=Caller(Stub(said), pause=0), max_tokens=100_000)
        for jobs in (1, 2)
    ]
    assert [one.answer.count("Parts.") for one in found] == [4, 4]
    assert found[0].usage.calls == 12, "a plan, a call and an answer for each of four goals"
    assert audit(found[0].result.record).rules == set()
    latency = "https://w3id.org/trails#latency"
    same = [{s for s in timeless(one.result.record) if latency not in s} for one in found]
    assert same[0] == same[1]
