"""Types of task proposed from past sessions: with evidence, for a person, changing nothing."""

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason import api
from kgreason.base.terms import SKOS
from kgreason.routing.proposed_types import proposed_types
from tests.cli_support import run
from tests.planner_support import workshop

STRANGE = (
    "Harmonise the spelling of makers across catalogues",
    "Harmonise the spelling of cities across catalogues",
    "Harmonise the spelling of part names across catalogues",
)
FITTING = (
    "How many parts are there?",
    "Why do parts lack a unit mass?",
    "Which makers are in the graph?",
)


def near(question: str, **changed: Any) -> dict[str, Any]:
    """Route a question, and say that another type is near."""
    made = kgreason.route(question, strategy=None).decision.as_dict()
    return made | {"near": "research" if made["task_type"] != "research" else "general"} | changed


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of questions of which three are alike, and fit no type."""
    folder = tmp_path_factory.mktemp("sessions")
    given = workshop(folder, parts=8)
    for question in (*FITTING, *STRANGE):
        fits = question in FITTING
        decision = near(question, near="") if fits else near(question)
        kgreason.investigate(
            given["data"], shapes=given["shapes"], question=question, routing=decision,
            ledger=folder / "ledger", max_steps=4, try_repairs=False,
        ).close()  # fmt: skip
    return folder


def test_alike_questions_that_no_type_fits_are_one_type_with_their_evidence(place: Path) -> None:
    before = sorted(p.name for p in (place / "ledger").iterdir())
    found = api.proposed_task_types(place / "ledger")
    assert (found.routed, found.unfitting) == (6, 3)
    (one,) = found.types
    assert [q.question for q in one.questions] == list(STRANGE)
    assert {"harmonise", "spelling"} <= set(one.cues)
    text = found.turtle()
    for number, question in enumerate(STRANGE, start=4):
        assert f"# I{number} {question}" in text
    assert "is near; by " in text
    graph = ox.Store()
    graph.load(text.encode(), ox.RdfFormat.TURTLE)
    derived = ox.NamedNode("http://www.w3.org/ns/prov#wasDerivedFrom")
    sessions = {str(q.object) for q in graph.quads_for_pattern(None, derived, None, None)}
    assert sessions == {f"<{q.investigation}>" for q in one.questions}
    assert sorted(p.name for p in (place / "ledger").iterdir()) == before


def test_what_is_proposed_is_taken_by_extend_and_by_nothing_else(
    place: Path, tmp_path: Path
) -> None:
    asked = "Harmonise the spelling of cities and countries"
    before = kgreason.route(asked).decision.task_type
    file = tmp_path / "own" / "ontology" / "patterns" / "harmony.ttl"
    file.parent.mkdir(parents=True)
    done = run("propose-task-types", "--ledger", place / "ledger", "--out", file)
    assert done.code == 0, done.err
    assert kgreason.route(asked).decision.task_type == before
    taken = kgreason.route(asked, extend=tmp_path / "own").decision
    graph = ox.Store()
    graph.load(path=str(file), format=ox.RdfFormat.TURTLE)
    (quad,) = graph.quads_for_pattern(None, SKOS.notation, None, None)
    name = str(quad.object).strip('"')
    assert taken.task_type == name != before
    fits = kgreason.route(FITTING[1], extend=tmp_path / "own").decision
    assert fits.task_type == kgreason.route(FITTING[1]).decision.task_type
    # A name that is there by now is not proposed again.
    again = api.proposed_task_types(place / "ledger", extend=tmp_path / "own")
    assert again.types[0].name != name


def test_few_or_fitting_questions_propose_nothing(tmp_path: Path) -> None:
    given = workshop(tmp_path, parts=8)
    for question in (STRANGE[0], STRANGE[0], STRANGE[1], FITTING[0]):
        kgreason.plan(question, given["data"], ledger=tmp_path / "ledger").result.close()
    done = run("propose-task-types", "--ledger", tmp_path / "ledger")
    assert done.code == 0
    assert "# No type is proposed. That takes 3 different questions" in done.out
    assert "trails:TaskType" not in done.out


def test_what_fits_no_type_is_listed_where_nothing_is_proposed(tmp_path: Path) -> None:
    given = workshop(tmp_path, parts=8)
    for question, decision in (
        (STRANGE[0], near(STRANGE[0])),
        (FITTING[0], near(FITTING[0], near="")),
    ):
        kgreason.investigate(
            given["data"], shapes=given["shapes"], question=question, routing=decision,
            ledger=tmp_path / "ledger", max_steps=4, try_repairs=False,
        ).close()  # fmt: skip
    found = api.proposed_task_types(tmp_path / "ledger")
    assert (found.types, found.unfitting) == ((), 1)
    listed = found.turtle().partition("that are in no type proposed here:\n")[2]
    assert f"# I1 {STRANGE[0]}" in listed
    assert "is near; by " in listed
    assert FITTING[0] not in listed
    graph = ox.Store()
    graph.load(found.turtle().encode(), ox.RdfFormat.TURTLE)
    assert len(graph) == 0


def test_a_question_cannot_write_turtle_of_its_own(tmp_path: Path) -> None:
    given = workshop(tmp_path, parts=8)
    for number in range(3):
        question = f'Harmonise "the\n<urn:evil> a <urn:evil> . spelling" \\ of things {number}'
        kgreason.investigate(
            given["data"], shapes=given["shapes"], question=question,
            routing=near("Harmonise the spelling"), ledger=tmp_path / "ledger",
            max_steps=4, try_repairs=False,
        ).close()  # fmt: skip
    text = api.proposed_task_types(tmp_path / "ledger").turtle()
    graph = ox.Store()
    graph.load(text.encode(), ox.RdfFormat.TURTLE)
    assert (
        next(iter(graph.quads_for_pattern(ox.NamedNode("urn:evil"), None, None, None)), None)
        is None
    )


def test_a_ledger_without_routed_questions_proposes_nothing() -> None:
    from kgreason.record import Ledger  # noqa: PLC0415 - only here

    assert proposed_types(Ledger.memory().store).turtle().endswith("share words.\n")
