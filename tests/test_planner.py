"""Strategies behind one protocol: answers with citations, the record, tools, rules, models."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit, recheck
from kgreason.base.errors import LedgerError, OptionError
from kgreason.graph import load
from kgreason.model.calling import Caller
from kgreason.model.spending import estimate
from kgreason.planner.reasoner import Move, Scripted, Situation
from kgreason.planner.strategies import strategies
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.review.replay import replay
from tests.cli_support import run
from tests.model_support import Stub
from tests.planner_support import workshop

ROOT = Path(__file__).resolve().parents[1]
EX = "https://example.org/"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop")
    workshop(folder)
    return folder


def react(place: Path, question: str, **more: Any) -> PlanResult:
    given = {"shapes": place / "shapes.ttl"} | more
    return kgreason.plan(question, place / "parts.ttl", strategy="react", **given)


@pytest.mark.parametrize(
    ("question", "answered", "said", "cited"),
    [
        ("How many parts have no unit mass?", True, "10 of 40 nodes of Part have no unitMass", 10),
        ("How many parts are there?", True, "Part has 40 nodes", 10),
        (
            "Which parts are retired?",
            True,
            "10 of 40 nodes of Part have “retired” as lifeState",
            10,
        ),
        ("Which parts are not retired?", True, "30 of 40 nodes of Part do not have", 10),
        ("List the parts with a unit mass above 35", True, "3 of 40 nodes of Part have a", 3),
        ("What is the average unit mass of parts?", True, "least 1, mean 20", 0),
        ("Describe Northern Works", True, "city Riga", 1),
        ("What is connected with <https://example.org/north>?", True, "by madeBy from p0", 10),
        ("Which part has the highest unit mass?", True, "unitMass: p39 (39)", 10),
        ("How many parts per maker?", True, "madeBy of Part: south (30), north (10)", 0),
        ("How many parts per planet?", False, "is called “planet”", 10),
        ("Is Northern Works connected with p4?", True, "the other, whose madeBy is the one", 1),
        ("Are p4 and p8 linked?", True, "nodes between them (1) that are madeBy of the one and", 1),
        ("Is p4 connected with crate-77?", False, "Nothing in the graph is called “crate-77”", 0),
        ("How is p4 related to p1?", True, "p4 and p1 are not connected in up to three steps", 0),
        ("Is Northern Works a part?", True, "is of the class Maker; the question names the", 1),
        ("What is the city of Northern Works?", True, "city of north: Riga", 1),
        ("What classes are in this graph?", True, "Part (40), Maker (2)", 0),
        ("What is south?", True, "south: type Maker", 1),
        ("What is wrong with the data?", True, "Broken rules: 1.", 10),
        ("How many parts were cancelled?", False, "nothing that is said of them", 10),
        ("Where is the moon tonight?", False, "No class, property or node of this graph", 0),
        ("Which maker has the most parts?", True, "(by madeBy): south (30), north (10).", 2),
        ("Which maker has the fewest parts?", True, "(by madeBy): north (10), south (30).", 2),
        ("Which makers have more than 20 parts?", True, "1 nodes of Maker are connected with", 1),
        ("Which makers have no parts?", True, "Every node of Maker is connected with a node", 0),
        ("What is the most common life state of parts?", True, "current (30), retired (10)", 0),
        ("Which part has the highest life state?", False, "so none is the highest", 0),
        (
            "How are makers and parts connected?",
            True,
            "Maker and Part are connected by: madeBy leads from Part to Maker (40 statements).",
            0,
        ),
        ("Which parts are ready for release?", False, "says which of them are ready", 0),
        ("Can we publish this as it is?", True, "Not by the shapes that were given. Broken", 10),
        ("Why are parts slow?", False, "of those whose lifeState is “retired” 10 of 10 fail", 10),
    ],
)
def test_react_answers_by_rules_with_citations_or_says_that_it_cannot(
    place: Path, question: str, answered: object, said: str, cited: int
) -> None:
    found = react(place, question)
    assert said in found.answer
    assert found.answered is answered
    assert len(found.citations) == cited
    assert found.result.finished


def crates(folder: Path) -> Path:
    """Write crates that hold parts of makers; one crate is empty, and a shelf is by itself."""
    file = folder / "crates.ttl"
    rows = ["@prefix ex: <https://example.org/> .", "ex:s1 a ex:Shelf . ex:c9 a ex:Crate ."]
    rows += [f"ex:m{n} a ex:Maker ." for n in range(2)]
    rows += [f"ex:c{n} a ex:Crate ." for n in range(3)]
    rows += [
        f"ex:p{n} a ex:Part ; ex:madeBy ex:m{n % 2} ; ex:inside ex:c{n % 3} ." for n in range(6)
    ]
    rows.append('ex:p0 ex:colour "red", "blue" .')
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "answered", "said"),
    [
        (
            "How are crates and makers connected?",
            True,
            "through: Part nodes between them (6) whose inside is Crate and whose madeBy is Maker.",
        ),
        ("Which crates have no parts?", True, "1 nodes of Crate are connected with no node of"),
        ("Which crate has most makers?", True, "(by inside and madeBy): c0 (2), c1 (2), c2 (2)."),
        ("How many parts per crate?", True, "inside of Part: c0 (2), c1 (2), c2 (2)."),
        ("Which crates have fewer than 1 part?", True, "by inside): c9 (0)."),
        ("How is a shelf connected to the crates?", True, "No node of Shelf is connected with one"),
        ("How is a part linked to its inside?", True, "nodes of these classes: Crate (3)"),
        ("Which crate holds most parts?", True, "(by inside): c0 (2), c1 (2), c2 (2)."),
        ("Which part has the most colours?", True, "with the most values of colour: p0 (2)"),
        ("Which part has the fewest colours?", True, "values of colour: p1 (0), p2 (0)"),
        ("Which colour do most parts have?", True, "colour of Part, the most frequent first"),
        ("Which parts have more than 1 colour?", True, "1 nodes of Part have more than 1 values"),
        ("Which colours have more than 0 parts?", True, "2 values of colour belong to more"),
        ("Which crates are above 7?", False, "could be more than 7"),
        ("Which shelf has most crates?", False, "nothing connects their nodes in up to three"),
    ],
)
def test_two_classes_are_held_together_by_what_connects_their_nodes(
    tmp_path: Path, question: str, answered: object, said: str
) -> None:
    found = kgreason.plan(question, crates(tmp_path), strategy="react")
    assert said in found.answer
    assert found.answered is answered
    assert audit(found.result.record).rules == set()


def test_a_word_that_stands_twice_may_name_two_classes_and_a_name_stands_together(
    tmp_path: Path,
) -> None:
    rows = ["@prefix ex: <https://example.org/> ."]
    rows += [f"ex:s{n} a ex:ConceptScheme ." for n in range(2)]
    rows += [f"ex:c{n} a ex:Concept ; ex:inScheme ex:s{n // 3} ." for n in range(4)]
    (tmp_path / "concepts.ttl").write_text("\n".join(rows), encoding="utf-8")
    for question, said in (
        ("Which concept scheme has most concepts?", "(by inScheme): s0 (3), s1 (1)."),
        ("How many concepts are there per scheme?", "inScheme of Concept: s0 (3), s1 (1)."),
        ("How is a concept linked to its scheme?", "inScheme leads from Concept to"),
    ):
        found = kgreason.plan(question, tmp_path / "concepts.ttl", strategy="react")
        assert said in found.answer


def test_a_class_is_named_by_its_last_word_and_by_the_part_that_its_nodes_play(
    tmp_path: Path,
) -> None:
    rows = ["@prefix ex: <https://example.org/> .", "ex:h a ex:House . ex:w ex:author ex:a1 ."]
    rows += [f"ex:a{n} a ex:Person ; ex:worksAt ex:h ." for n in range(3)]
    rows += [f"ex:p{n} a ex:LongPaper ; ex:author ex:a{n} ; ex:at ex:h ." for n in range(2)]
    (tmp_path / "papers.ttl").write_text("\n".join(rows), encoding="utf-8")
    for question, said in (
        ("Which house has most papers?", "The House with the most LongPaper (by at): h (2)."),
        ("How many papers are there?", "in full; it was taken to be about LongPaper."),
        ("How are authors and houses connected?", "worksAt leads from Person to House (3"),
    ):
        found = kgreason.plan(question, tmp_path / "papers.ttl", strategy="react")
        assert said in found.answer


def test_a_code_of_two_letters_is_a_value_or_said_to_name_nothing(tmp_path: Path) -> None:
    rows = ["@prefix ex: <https://example.org/> ."]
    rows += [f'ex:m{n} a ex:Maker ; ex:country "{("DE", "NL")[n % 2]}" .' for n in range(5)]
    (tmp_path / "makers.ttl").write_text("\n".join(rows), encoding="utf-8")
    asked: dict[str, Any] = {"strategy": "react"}
    found = kgreason.plan("How many makers are in DE?", tmp_path / "makers.ttl", **asked)
    assert "3 of 5 nodes of Maker have “DE” as country" in found.answer
    none = kgreason.plan("How many makers are in FR?", tmp_path / "makers.ttl", **asked)
    assert (none.answered, "is called “FR”" in none.answer) == (False, True)


def test_data_that_meet_the_shapes_may_be_published_and_without_shapes_nobody_knows(
    place: Path, tmp_path: Path
) -> None:
    parts = (place / "parts.ttl").read_text(encoding="utf-8")
    (tmp_path / "met.ttl").write_text(
        parts.replace('"retired"', '"retired" ; ex:unitMass 7'), encoding="utf-8"
    )
    asked: dict[str, Any] = {"strategy": "react"}
    found = kgreason.plan(
        "Is it ready for release?", tmp_path / "met.ttl", shapes=place / "shapes.ttl", **asked
    )
    assert (found.answered, "nothing speaks against it" in found.answer) == (True, True)
    none = kgreason.plan("Is it ready for release?", place / "parts.ttl", **asked)
    assert (none.answered, "give shapes with --shapes" in none.answer) == (False, True)


def test_a_class_or_property_of_a_schema_is_no_node_of_its_name(
    place: Path, tmp_path: Path
) -> None:
    (tmp_path / "schema.ttl").write_text(
        """@prefix ex: <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Thing a owl:Class ; rdfs:label "thing" . ex:Maker rdfs:subClassOf ex:Thing .
ex:thing a owl:ObjectProperty . ex:city rdfs:comment "The city of the works." .
""",
        encoding="utf-8",
    )
    files: dict[str, Any] = {"ontology": tmp_path / "schema.ttl", "strategy": "react"}
    made = kgreason.plan("Describe Thing", place / "parts.ttl", **files)
    assert made.answer.startswith("Thing has 2 nodes. Said of them")
    named = kgreason.plan("What does ex:city mean?", place / "parts.ttl", **files)
    assert "The city of the works." in named.answer


def test_every_call_is_a_step_that_is_sealed_audited_and_replayed(
    place: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    found = react(place, "How many parts have no unit mass?", ledger=ledger)
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found.as_dict(), schema)
    assert [s["tool"] for s in found.as_dict()["steps"]] == ["query", "query"]
    called = [step for step in found.steps if step.phase == "plan"]
    assert [one.action.partition(" ")[0] for one in called] == ["query", "query", "answer"]
    assert all(step.wrote for step in called)
    assert audit(found.result.record).rules == set()
    graph = load([place / "parts.ttl"])
    assert recheck(found.result.record, graph) == []
    fewer = (
        (place / "parts.ttl").read_text(encoding="utf-8").replace("ex:p0 a ex:Part", "ex:p0 a 1")
    )
    (tmp_path / "fewer.ttl").write_text(fewer, encoding="utf-8")
    others = {d.figure for d in recheck(found.result.record, load([tmp_path / "fewer.ttl"]))}
    assert {"rows", "rowsDigest"} <= others
    found.result.close()
    assert replay(ledger).same
    shown = run("show", "--ledger", str(ledger))
    assert "plan: query" in shown.out
    told = run("report", "--ledger", str(ledger))
    assert "- 10 of 40 nodes of Part" in told.out.partition("## Key findings")[2]
    assert "10 of 40" in shown.out


def test_a_script_and_a_model_decide_in_place_of_rules_among_the_tools_offered(
    place: Path,
) -> None:
    lacking = {"query": "nodes-lacking", "class": [EX + "Part"], "property": EX + "unitMass"}
    moves = [
        Move("Look.", "query", lacking),
        Move("Write.", "investigate", {}),
        Move("Done.", answer="10 parts.", cites=(0,)),
    ]
    found = react(place, "Any?", reasoner=Scripted(moves))
    assert found.answer == "10 parts."
    assert [s.status for s in found.steps if s.action.startswith(("query", "describe"))] == [
        "complete",
    ]
    (refused,) = (s for s in found.steps if s.status == "refused")
    assert refused.action == "investigate {}"
    assert "is of the scope WriteRecordScope" in refused.observation
    assert "This was refused: The tool investigate" in found.result.markdown()
    assert found.usage.calls == 0
    assert audit(found.result.record).rules == set()
    said = [
        {"thought": "Look.", "tool": "query", "arguments": lacking},
        {"thought": "Guess.", "tool": "answer", "answer": "It is 11.", "cites": [1]},
        {"thought": "Say.", "tool": "answer", "answer": "It is 10.", "cites": [1]},
    ]
    answers = iter(map(json.dumps, said))
    stub = Stub(lambda _: next(answers))
    told = react(place, "How many parts have no unit mass?", caller=Caller(stub, pause=0))
    assert told.answer == "It is 10."
    assert told.answered
    assert told.usage.calls == 3
    assert told.usage.tokens > sum(map(estimate, stub.prompts))
    assert "which none of the calls it cites gave" in stub.prompts[-1]
    assert audit(told.result.record).rules == set()


def test_the_budget_ends_a_plan_without_an_answer(place: Path) -> None:
    found = react(place, "How many parts have no unit mass?", max_steps=2)
    assert not found.answered
    assert "stopped after 2 steps" in found.answer
    assert found.as_dict()["budget"]["cut"] == "stopped after 2 steps"


def test_the_loop_answers_behind_the_same_protocol(place: Path) -> None:
    asked: dict[str, Any] = {"shapes": place / "shapes.ttl", "strategy": "hypothesis"}
    found = kgreason.plan("Why do parts lack a unit mass?", place / "parts.ttl", **asked)
    assert found.answered
    assert "retired" in found.answer or "north" in found.answer
    assert found.citations
    assert {"observe", "hypothesize", "execute", "conclude"} <= {s.phase for s in found.steps}
    assert any(s.action.startswith("test ") and s.thought for s in found.steps)


def test_ask_routes_by_the_decision_and_keeps_it(place: Path, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    asked = ("ask", "How many parts are there?", str(place / "parts.ttl"), "--ledger", ledger)
    done = run(*asked, "--format", "json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["strategy"], told["answer"]["answered"]) == ("react", True)
    assert "40" in told["answer"]["text"]
    wrong = run(*asked, "--strategy", "magic")
    assert wrong.code == 2
    assert "there are" in wrong.err
    both = run(*asked, "--strategy", "react", "--choose", "1")
    assert both.code == 2
    assert "about hypotheses" in both.err


def test_yes_takes_the_first_reading_and_changes_no_route(place: Path, tmp_path: Path) -> None:
    ledger, parts = ("--ledger", str(tmp_path / "ledger"), "--yes"), str(place / "parts.ttl")
    for more in ((), ("--strategy", "react")):
        done = run("ask", "How many parts are there?", parts, *ledger, *more, "--format", "json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["strategy"] == "react"
    why = run("ask", "Why do parts lack a unit mass?", parts, *ledger, "--format", "json")
    assert why.code == 0, why.err
    told = json.loads(why.out)
    assert told["strategy"] == "hypothesis"
    assert [one["failing"] for one in told["symptoms"]] == [10]


def test_a_pattern_with_rules_of_its_own_is_a_strategy_without_code(
    place: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine" / "ontology" / "patterns"
    folder.mkdir(parents=True)
    (folder / "own.ttl").write_text(
        """@prefix trails: <https://w3id.org/trails#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/Glance> a trails:Pattern ; skos:notation "glance" ; rdfs:comment "One look." ;
  trails:whenToUse "In a hurry." ; trails:framing "Look once." ; trails:mayUse trails:ReadScope .
<https://example.org/look> a trails:DecisionRule ; trails:ofPattern <https://example.org/Glance> ;
  trails:ruleOrder 1 ; trails:unless "done classes" ; trails:callsTool trails:QueryTool ;
  trails:storedQuery "classes" ; trails:thoughtText "What is there?" .
<https://example.org/tell> a trails:DecisionRule ; trails:ofPattern <https://example.org/Glance> ;
  trails:ruleOrder 2 ; trails:thoughtText "That is it." ; trails:answerText "I see {classes.told}" .
""",
        encoding="utf-8",
    )
    more: dict[str, Any] = {"strategy": "glance", "extend": tmp_path / "mine"}
    found = kgreason.plan("What is there?", place / "parts.ttl", **more)
    assert found.answer == "I see Part (40), Maker (2)."
    assert "glance" not in strategies()
    with pytest.raises(OptionError, match="no strategy 'glance'"):
        api.routed("Well?", wanted="glance")


def test_what_another_strategy_began_is_not_resumed_by_the_loop(
    place: Path, tmp_path: Path
) -> None:
    class Broken:
        """A reasoner that fails."""

        def next(self, _: Situation, /) -> Move:
            raise RuntimeError("no idea")

    ledger = tmp_path / "ledger"
    with pytest.raises(RuntimeError, match="no idea"):
        react(place, "How many parts are there?", reasoner=Broken(), ledger=ledger)
    with pytest.raises(LedgerError, match="I1 was begun by the strategy react"):
        kgreason.resume(ledger)
