"""The router: cues, scores, patterns by signals, refused choices, extensions, the record."""

import csv
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.terms import TRAILS
from kgreason.record.routing_decision import PATTERN, TASK_TYPE, decision_of
from kgreason.routing.phrases import Phrases, words_of
from kgreason.routing.router import route
from kgreason.routing.task_types import task_types
from tests.audit_support import history, tiny
from tests.cli_support import run

ROOT = Path(__file__).resolve().parents[1]
LEARN = ROOT / "benchmarks" / "questions" / "learn.csv"
OWN = """
@prefix trails: <https://w3id.org/trails#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/Tasting> a trails:TaskType ; skos:notation "tasting" ;
  rdfs:comment "Whether a wine is good." ; trails:whenToUse "Somebody asks about wine." ;
  trails:framing "Taste first." ;
  trails:cue [ a trails:Cue ; trails:weight 9.0 ; trails:phrase "wine*" ] ;
  trails:validPattern [ a trails:PatternWeight ; trails:pattern trails:React ; trails:weight 1.0 ] .
"""


NEAR = "A summary of why the labels fail"


def own(folder: Path, text: str) -> Path:
    place = folder / "mine" / "ontology" / "patterns"
    place.mkdir(parents=True)
    (place / "wine.ttl").write_text(text, encoding="utf-8")
    return folder / "mine"


def test_the_questions_to_learn_from_are_told_apart() -> None:
    with LEARN.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = {row["id"]: route(row["question"]).task_type for row in rows}
    for name in task_types().types:
        of = [r for r in rows if r["task_type"] == name]
        right = sum(told[r["id"]] == name for r in of)
        assert right / len(of) >= 0.85, name


@pytest.mark.parametrize(
    ("phrase", "question", "fits"),
    [
        ("summar*", "Please SUMMARISE it", True),
        ("^why", "Please, why is it so?", True),
        ("^why", "Tell me why", False),
        ("missing|lost_and_found", "it is in the lost and found", True),
        ("how many ... fail*", "How many of the parts fail?", True),
        ("how many ... fail*", "How many are there? Some fail.", False),
        ("does not", "It doesn't fit", True),
        ("why", 'The title is "Why me"', False),
        ("term", "what is ex:Part", True),
        ("# pages", "on two pages", True),
        ("done $", "Is it done?", True),
        ("{thing} gone", "The label gone", True),
    ],
)
def test_phrases(phrase: str, question: str, fits: object) -> None:
    phrases = Phrases({"polite": ["please"], "thing": ["label", "name"]})
    assert bool(phrases.compiled(phrase).search(words_of(question))) is fits


def test_a_phrase_names_groups_that_are_there() -> None:
    with pytest.raises(OptionError, match="no group of words 'nothing'"):
        Phrases({}).compiled("{nothing} at all")


def test_signals_choose_among_the_valid_patterns_of_the_type() -> None:
    why = "Why are the labels wrong?"
    valid = {name for name, _ in task_types().types["root-cause"].patterns}
    plain = kgreason.route(why).decision
    assert (plain.task_type, plain.pattern) == ("root-cause", "hypothesis")
    assert {one.name for one in plain.of(PATTERN)} == valid
    many = kgreason.route(why, symptoms=40).decision
    assert many.pattern == "supervisor"
    assert many.at_hand == ("many-symptoms",)
    assert kgreason.route(why, symptoms=3).decision.pattern == "hypothesis"
    assert kgreason.route("How many parts are there?").decision.pattern == "react"


def test_a_chooser_is_asked_where_the_cues_do_not_decide() -> None:
    asked = []

    def chooser(question: str, names: Sequence[str]) -> str:
        asked.append((question, tuple(names)))
        return "research"

    kgreason.route("Why are the labels wrong?", chooser=chooser)
    assert asked == []
    taken = kgreason.route(NEAR, chooser=chooser).decision
    assert asked[0][0] == NEAR
    assert set(asked[0][1]) == set(task_types().types)
    assert taken.task_type == "research"


def test_a_choice_outside_of_the_set_is_refused_with_the_fallback() -> None:
    made = kgreason.route(NEAR, chooser=lambda *_: "guessing").decision
    assert (made.task_type, made.pattern) == ("general", "react")
    assert made.refused == "guessing"
    assert "refused" in made.rationale
    assert "guessing" not in {one.name for one in made.candidates}


def test_a_question_that_could_be_of_two_types_says_so() -> None:
    made = kgreason.route(NEAR)
    best, second = made.decision.of(TASK_TYPE)[:2]
    assert made.decision.task_type == best.name
    assert made.decision.near == second.name
    assert made.as_dict()["near"] == second.name
    assert "near to each other" in made.decision.rationale
    assert f"(or {second.name}, which is near)" in str(made)
    clear = kgreason.route("Why are the labels wrong?").decision
    assert clear.near == ""
    assert "near" not in clear.rationale


def test_what_is_told_of_a_type_adds_up_to_its_score() -> None:
    made = kgreason.route("Why are so many labels wrong since the update of last week?").decision
    for one in made.of(TASK_TYPE):
        weights = [Decimal(said.rsplit("(", 1)[1].rstrip(")")) for said in one.matched]
        assert sum(weights) == Decimal(one.score), one.name
    assert made.of(TASK_TYPE)[0].matched[0].startswith("why at the beginning (+")


def test_a_strategy_can_be_forced() -> None:
    made = kgreason.route("How many parts are there?", strategy="hypothesis", principal="Ada")
    assert made.decision.pattern == "hypothesis"
    assert made.decision.forced
    assert made.decision.by_label == "Ada"
    assert "no usual pattern" in made.decision.rationale
    with pytest.raises(OptionError, match="no such strategy; there are: hypothesis"):
        kgreason.route("How many?", strategy="magic")


def test_a_user_adds_a_type(tmp_path: Path) -> None:
    question = "Why is this wine so sour?"
    assert kgreason.route(question, extend=own(tmp_path, OWN)).decision.task_type == "tasting"
    assert kgreason.route(question).decision.task_type == "root-cause"


def test_a_cue_of_ones_own_counts_beside_what_was_learned(tmp_path: Path) -> None:
    question = "Why do the shelves wobble?"
    cue = """trails:DataQuality trails:cue [ a trails:Cue ; trails:weight 2.5 ;
      trails:phrase "wobbl*" ] ."""
    prefix = "@prefix trails: <https://w3id.org/trails#> .\n"
    scores = [
        {one.name: Decimal(one.score) for one in made.decision.of(TASK_TYPE)}
        for made in (
            kgreason.route(question),
            kgreason.route(question, extend=own(tmp_path, prefix + cue)),
        )
    ]
    assert scores[1].pop("data-quality") - scores[0].pop("data-quality") == Decimal("2.5")
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('trails:framing "Taste first." ;', "", "framing"),
        ("trails:weight 9.0", 'trails:weight "much"', "weight"),
        ("trails:cue [ a", "trails:other [ a", "'tasting' has no trails:cue"),
        ('"tasting"', '"root-cause"', "two called 'root-cause'"),
        ("trails:React", "<https://example.org/Guess>", "pattern"),
        ('"wine*"', '"{drink}"', "no group of words 'drink'"),
        ("<https://example.org/Tasting> a", "<https://example.org/Tasting a", "not Turtle"),
    ],
)
def test_a_wrong_type_is_refused(tmp_path: Path, before: str, after: str, why: str) -> None:
    assert before in OWN
    with pytest.raises(OptionError, match=why):
        kgreason.route("Why?", extend=own(tmp_path, OWN.replace(before, after)))


def test_the_command_explains() -> None:
    done = run("route", "why do parts lack a mass?", "--with-shapes", "--format", "json")
    told = json.loads(done.out)
    assert (told["taskType"], told["pattern"]) == ("root-cause", "hypothesis")
    assert told["rationale"].startswith("The question reads as root-cause")
    scores = [one["score"] for one in told["candidates"]]
    assert scores == sorted(scores, reverse=True)
    assert {one["name"] for one in told["candidates"]} == set(task_types().types)
    wrong = run("route", "why?", "--strategy", "magic")
    assert wrong.code == 2
    assert len(wrong.sentences) == 1


def test_a_decision_stands_in_the_record(tmp_path: Path) -> None:
    record = history(tmp_path, "routed")
    rows = list(
        record.store.select(
            "PREFIX trails: <https://w3id.org/trails#> PREFIX prov: <http://www.w3.org/ns/prov#> "
            f"SELECT ?of ?name ?score ?chosen ?who FROM {record.iri} WHERE {{ "
            "?d a trails:RoutingDecision ; prov:wasAttributedTo ?who ; trails:taskType ?type ; "
            "trails:chosenPattern ?pattern . ?c trails:routingDecision ?d ; trails:candidateOf ?of "
            "; trails:routed ?choice ; trails:routedName ?name ; trails:routingScore ?score . "
            "BIND (?choice IN (?type, ?pattern) AS ?chosen) }"
        )
    )
    chosen = {(r["of"].value, r["name"].value) for r in rows if r["chosen"].value == "true"}
    assert chosen == {(TASK_TYPE, "root-cause"), (PATTERN, "hypothesis")}
    assert len(rows) == len(task_types().types) + 4
    assert audit(record).findings == ()


def test_a_type_that_is_near_stands_in_the_record(tmp_path: Path) -> None:
    made = kgreason.route(NEAR).decision
    record = tiny(tmp_path, routing=made.as_dict())
    near = {one.name: one.iri for one in made.of(TASK_TYPE)}[made.near]
    found = record.store.select(f"SELECT ?t FROM {record.iri} {{ ?d {TRAILS.nearType} ?t }}")
    assert [row["t"].value for row in found] == [near]
    assert audit(record).findings == ()


def test_a_decision_survives_as_json() -> None:
    made = kgreason.route("Which labels are missing?", shapes=True).decision
    assert decision_of(json.loads(json.dumps(made.as_dict()))) == made
