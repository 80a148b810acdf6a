"""Conversations: questions that belong together; a later one names what an earlier one found."""

import json
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.terms import TRAILS
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.record import Ledger
from kgreason.review.messages import chunks
from tests.cli_support import run
from tests.planner_support import PREFIXES, workshop

TALK = "parts"


def dated(folder: Path, name: str, mended: int = 0) -> Path:
    """Write parts of two years, of which the retired ones lack a mass; so many of 2025 have one."""
    rows = [PREFIXES]
    for n in range(40):
        retired = n % 4 == 0
        year = 2025 if n % 8 == 0 else 2024
        mass = f" ; ex:unitMass {n}" if not retired or (year == 2025 and n < 8 * mended) else ""
        state = "retired" if retired else "current"
        rows.append(f'ex:p{n} a ex:Part ; ex:lifeState "{state}" ; ex:made "{year}-0{1 + n % 9}-11"'
                    f"^^<http://www.w3.org/2001/XMLSchema#date>{mass} .")  # fmt: skip
    file = folder / name
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose ledger holds a first question of the conversation, with one cause."""
    folder = tmp_path_factory.mktemp("conversation")
    workshop(folder)
    dated(folder, "parts.ttl")
    kgreason.investigate(
        folder / "parts.ttl",
        shapes=folder / "shapes.ttl",
        question="Why do parts lack a unit mass?",
        conversation=f" {TALK} ",
        ledger=folder / "ledger",
    ).close()
    return folder


def asked(place: Path, question: str, data: Path | None = None, **more: Any) -> PlanResult:
    given: dict[str, Any] = {"conversation": TALK, "ledger": place / "ledger"} | more
    return kgreason.plan(question, data or place / "parts.ttl", **given)


def test_a_conversation_is_recorded_told_and_audited(place: Path) -> None:
    with kgreason.result(place / "ledger", 1) as first:
        assert first.as_dict()["conversation"] == TALK
        said = first.record.store.values(first.record.iri, TRAILS.conversation, first.record.iri)
        assert [one.value for one in said] == [TALK]
        assert audit(first.record).rules == set()
        assert {one.conversation for one in chunks(first.record)} == {TALK}
    for name in ("", "a\nb", "x" * 201):
        with pytest.raises(OptionError, match="A conversation needs a name"):
            asked(place, "How many parts are there?", conversation=name)


def test_a_later_question_names_a_cause_and_is_told_how_it_stands_now(place: Path) -> None:
    found = asked(place, "Is C1 still the same?")
    assert found.answered
    assert "C1 of I1 says: Nodes whose lifeState is “retired” fail." in found.answer
    assert "Then 10 of its 10 nodes failed." in found.answer
    assert "In these data 10 of its 10 nodes fail." in found.answer
    assert "is called" not in found.answer
    assert len(found.citations) == 10
    assert audit(found.result.record).rules == set()
    (call,) = [s for s in found.steps if s.action.startswith("finding")]
    assert json.loads(call.action.partition(" ")[2]) == {"name": "C1"}


@pytest.mark.slow
def test_a_year_narrows_it_down_and_other_data_change_it(place: Path, tmp_path: Path) -> None:
    found = asked(place, "Is C1 of I1 the same in 2025?")
    assert "5 of its 5 nodes dated in 2025 fail." in found.answer
    assert "So it is the same here" in found.answer
    less = asked(place, "is C1 the same in 2025?", dated(tmp_path, "less.ttl", mended=3))
    assert "2 of its 5 nodes dated in 2025 fail." in less.answer
    assert "So it explains less here" in less.answer
    gone = asked(place, "is C1 the same in 2025?", dated(tmp_path, "gone.ttl", mended=5))
    assert "So it does not show here any more." in gone.answer
    none = asked(place, "is C1 the same in 1999?")
    assert "These data have no node of it dated in 1999, so it cannot" in none.answer


def test_yes_asks_for_no_reading_where_a_finding_is_named(place: Path) -> None:
    files = ("ask", "is C1 the same in 2025?", str(place / "parts.ttl"))
    ledger = ("--ledger", str(place / "ledger"))
    done = run(*files, *ledger, "--yes", "--conversation", TALK)
    assert done.code == 0, done.err
    assert "5 of its 5 nodes dated in 2025 fail." in done.out


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Does H1 still hold?", "H1 of I1 says: Nodes whose lifeState"),
        ("Is S1 still broken?", "In these data 10 nodes break it."),
    ],
)
def test_hypotheses_and_rules_can_be_named(place: Path, question: str, said: str) -> None:
    assert said in asked(place, question).answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is it the same in 2025?", "5 of its 5 nodes dated in 2025 fail."),
        ("Does it still hold?", "C1 of I1 says: Nodes whose lifeState is “retired” fail."),
        ("How sure are you of C1?", "It was supported, with confidence 0."),
        ("What speaks against it?", "What speaks against it: nothing. What speaks for it: "),
        ("Which nodes are in C1?", "Those that fail: p"),
        ("Why was H1 supported?", "What speaks for it: "),
        ("What did you find so far?", "C1 of I1: Nodes whose lifeState is “retired” fail."),
        ("Tell me about S1", "Its verdict was “explained”."),
    ],
)
def test_it_can_be_asked_how_sure_why_and_of_which_nodes(
    place: Path, question: str, said: str
) -> None:
    found = asked(place, question, shapes=place / "shapes.ttl")
    assert found.strategy in {"react", "plan-then-execute"}
    assert found.answered
    assert said in found.answer
    assert audit(found.result.record).rules == set()


def test_it_is_of_a_conversation_and_only_where_nothing_else_is_named(place: Path) -> None:
    alone = asked(place, "Is it the same in 2025?", conversation=None)
    assert not any(s.action.startswith("finding") for s in alone.steps)
    parts = asked(place, "How many parts are still the same in this graph?")
    assert not any(s.action.startswith("finding") for s in parts.steps)
    empty = asked(place, "What did you find?", conversation="empty")
    assert not empty.answered
    assert empty.answer == "No question of the conversation “empty” found a cause."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is C9 the same?", "“parts” has no cause C9; its causes are C1 of I1."),
        ("Is C1 of I77 the same?", "has no investigation I77, so C1 names nothing."),
        ("Is H99 the same?", "has no hypothesis H99; its causes are C1 of I1."),
    ],
)
def test_an_unknown_name_gets_one_sentence(place: Path, question: str, said: str) -> None:
    found = asked(place, question)
    assert not found.answered
    assert said in found.answer
    assert found.answer.count(". ") == 0
    assert found.citations == ()


def test_names_belong_to_their_conversation_alone(place: Path) -> None:
    other = asked(place, "Is C1 the same?", conversation="another")
    assert (
        other.answer == "The conversation “another” has no earlier question, so C1 names nothing."
    )
    alone = asked(place, "Is C1 the same?", conversation=None)
    assert "conversation" not in alone.answer
    assert not any(s.action.startswith("finding") for s in alone.steps)


def test_the_command_takes_a_conversation_and_the_history_lists_its_questions(
    place: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    for question in ("How many parts are there?", "How many parts are retired?"):
        done = run(
            *("ask", question, place / "parts.ttl", "--strategy", "react", "--conversation", "c"),
            *("--ledger", ledger, "--format", "json"),
        )
        assert done.code == 0, done.err
        assert json.loads(done.out)["conversation"] == "c"
    run("ask", "What is here?", place / "parts.ttl", "--strategy", "react", "--ledger", ledger)
    listed = run("history", "what-was-asked", "I1", "--ledger", ledger, "--format", "csv")
    assert listed.out.count("How many parts") == 2
    assert "What is here?" not in listed.out
    alone = run("history", "what-was-asked", "I3", "--ledger", ledger, "--format", "csv")
    assert "What is here?" in alone.out
    assert "How many parts" not in alone.out
    with Ledger.read(ledger) as store:
        assert len(store.entries()) == 3
