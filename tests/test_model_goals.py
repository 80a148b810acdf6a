"""Goals that a model proposes for a supervisor: the model proposes, what it names decides."""

import json
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.model.calling import Caller
from kgreason.planner.model_goals import goals_of
from kgreason.record import Record
from kgreason.record.fanning import assigned, divided_further
from tests.model_support import Stub
from tests.test_supervisor import factory

QUESTION = "Why are these rules broken?"


def divided(place: Path, replies: list[Any], **more: Any) -> tuple[Record, Stub]:
    """Divide by the goals of a script; gives the record, and what was asked."""
    said = iter(json.dumps(one) if not isinstance(one, str) else one for one in replies)
    stub = Stub(lambda _: next(said))
    found = kgreason.plan(
        QUESTION,
        place / "parts.ttl",
        shapes=place / "shapes.ttl",
        strategy="supervisor",
        split="goal",
        caller=Caller(stub, pause=0),
        **more,
    )
    return found.result.record, stub


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factory")
    factory(folder)
    return folder


def test_goals_that_name_what_is_broken_are_taken_and_others_recorded(place: Path) -> None:
    long = "mass " * 60
    said = ["Why is the mass lacking?", "What about tea?", "Is the mass there?", long, 7]
    record, stub = divided(place, ["Nothing.", {"goals": ["What about tea?"]}, {"goals": said}])
    assert [part.goal for part in assigned(record)] == [
        "Why is the mass lacking?",
        "Why is this broken: what no goal names?",
    ]
    rows = list(record.select("proposed-goals"))
    assert [row["accepted"].value for row in rows] == ["false", "true", "false", "false", "false"]
    reasons = [row["reason"].value for row in rows if "reason" in row]
    assert reasons[1:] == [
        "“What about tea?” names nothing that is broken.",
        "“Is the mass there?” is about the same rules as a goal before it.",
        "“mass mass mass mass mass mass …”: a goal has at most 40 words.",
    ]
    assert len(stub.prompts) == 3
    assert "or “mass”; of the class “part”" in stub.prompts[0]
    assert "no JSON object with goals" in stub.prompts[1]
    assert "names nothing that is broken" in stub.prompts[2]
    assert audit(record).rules == set()


def test_without_a_goal_to_take_the_rules_divide(place: Path) -> None:
    record, stub = divided(place, [{"goals": ["Tea?"]}] * 3)
    assert len(stub.prompts) == 3
    assert divided_further(record) == ("symptom",)
    assert len(assigned(record)) == 2
    assert audit(record).rules == set()
    with pytest.raises(OptionError, match="or have a model propose them by --model"):
        kgreason.plan(
            QUESTION,
            place / "parts.ttl",
            shapes=place / "shapes.ttl",
            strategy="supervisor",
            split="goal",
        )


def test_as_many_goals_are_taken_as_the_figure_says(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reader:
        def told(self) -> dict[str, str]:
            return {f"Goal {n}": f"rule {n}" for n in range(12)}

        def names(self, goal: str) -> tuple[str, ...]:
            return (goal,)

    monkeypatch.setitem(goals_of.__globals__, "GoalReader", lambda *_: Reader())
    said = json.dumps({"goals": [f"Goal {n}" for n in range(12)]})

    class Nothing:
        budget = kgreason.base.budget.UNLIMITED

    found = goals_of(Caller(Stub(lambda _: said)), QUESTION, Nothing(), ())  # type: ignore[arg-type]
    assert len(found.taken) == 8
    assert [one.refused for one in found.goals if one.refused] == [
        f"“Goal {n}” is more than 8 goals." for n in range(8, 12)
    ]
