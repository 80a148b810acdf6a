"""The result as data: it follows the contract of docs/result.schema.json."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kgreason.report.as_json import as_dict
from kgreason.report.document import build
from tests.report_support import ATTACK, CASE, TRAILS, case

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "docs" / "result.schema.json").read_text(encoding="utf-8")
)
VALID = Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return as_dict(case())


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_result_is_valid_and_can_be_written(result: dict[str, Any]) -> None:
    VALID.validate(result)
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r.pop("budget"),
        lambda r: r.update(more=1),
        lambda r: r["symptoms"][0].update(verdict="solved"),
        lambda r: r["symptoms"][0].pop("hypotheses"),
        lambda r: r["symptoms"][2]["hypotheses"].pop(),  # the catch-all
        lambda r: r["symptoms"][2]["hypotheses"].append(r["symptoms"][2]["hypotheses"][-1]),
        lambda r: r["symptoms"][0]["hypotheses"][0].update(rank=0),
        lambda r: r["symptoms"][0]["hypotheses"][0].update(kind="weather"),
        lambda r: r["symptoms"][0]["hypotheses"][0].update(confidence=1.5),
        lambda r: r["symptoms"][0]["hypotheses"][0]["inside"].update(failing=-1),
        lambda r: r["symptoms"][0]["hypotheses"][0]["evidence"][0].update(polarity="maybe"),
        lambda r: r["symptoms"][0]["hypotheses"][0]["evidence"][1]["citations"][0].update(node="x"),
        lambda r: r["causes"][0].update(symptoms=[]),
        lambda r: r["causes"][0].pop("adds"),
        lambda r: r["explanation"].update(causes=-1),
        lambda r: r["graph"].update(triples="many"),
    ],
)
def test_schema_refuses_what_is_not_the_contract(
    result: dict[str, Any], spoil: Callable[[dict[str, Any]], Any]
) -> None:
    spoilt = copy.deepcopy(result)
    spoil(spoilt)
    assert not VALID.is_valid(spoilt)


def test_whole(result: dict[str, Any]) -> None:
    assert result["investigation"] == CASE.value
    assert result["question"] == f"Why | do `parts` fail? {ATTACK}"
    assert result["policy"] == "https://w3id.org/trails/policy#frame"
    assert result["seed"] == 7
    assert result["graph"] == {"triples": 900, "graphs": 3, "fingerprint": "f00d"}
    assert result["budget"] == {"seconds": 11.75, "steps": 15, "cut": "stopped after 12 steps"}


def test_symptoms_that_somebody_fails(result: dict[str, Any]) -> None:
    symptoms = result["symptoms"]
    assert [s["failing"] for s in symptoms] == [20, 12, 5, 9, 8]
    assert [s["verdict"] for s in symptoms] == [
        "explained", "partly explained", "no systematic cause", "inconclusive", "inconclusive",
    ]  # fmt: skip
    first = symptoms[0]
    assert first["shape"] == "https://example.org/parts#Part-weight"
    assert first["constraint"] == "http://www.w3.org/ns/shacl#MinCountConstraintComponent"
    assert first["path"] == "<https://example.org/parts#weight>"
    assert first["severity"] == "http://www.w3.org/ns/shacl#Violation"
    assert (first["population"], first["explained"]) == (40, 18)
    assert symptoms[2]["shape"] is symptoms[2]["severity"] is None


def test_ranks_are_unique_from_one_and_none_is_there_once(result: dict[str, Any]) -> None:
    for symptom in result["symptoms"]:
        ranked = symptom["hypotheses"]
        assert [h["rank"] for h in ranked] == list(range(1, len(ranked) + 1))
        assert [h["kind"] for h in ranked].count("none") == 1
    kinds = [[h["kind"] for h in s["hypotheses"]] for s in result["symptoms"]]
    assert kinds == [
        ["source", "none", "cohort"], ["source", "none"], ["none"], ["datatype", "none"], ["none"],
    ]  # fmt: skip


def test_hypothesis(result: dict[str, Any]) -> None:
    first, none, refuted = result["symptoms"][0]["hypotheses"]
    assert (first["status"], first["confidence"], first["e_value"]) == ("supported", 0.97619, 120.5)
    assert first["inside"] == {"failing": 18, "population": 20}
    assert first["outside"] == {"failing": 2, "population": 20}
    assert first["region"].startswith("PREFIX ex:")
    assert ATTACK in first["statement"]
    assert refuted["status"] == "refuted"
    assert (none["region"], none["e_value"], none["evidence"]) == (None, None, [])
    assert none["inside"] == {"failing": 0, "population": 0}
    assert none["outside"] == {"failing": 20, "population": 40}
    datatype = result["symptoms"][3]["hypotheses"][0]
    assert datatype["e_value"] is None


def test_evidence_and_citations(result: dict[str, Any]) -> None:
    spread, association = result["symptoms"][0]["hypotheses"][0]["evidence"]
    assert (association["test"], association["polarity"], association["strength"]) == (
        "association", "supports", 0.9,
    )  # fmt: skip
    assert spread["polarity"] == "neutral"
    assert spread["citations"] == []
    nodes = [c["node"] for c in association["citations"]]
    assert nodes[0] == "https://example.org/item/11"
    assert "_:b7" in nodes
    last = association["citations"][-1]
    assert (last["field"], last["value"]) == ("https://example.org/parts#weight", "17.50")


def test_a_cause_of_two_symptoms_is_one(result: dict[str, Any]) -> None:
    (cause,) = result["causes"]
    assert cause["id"] == "C1"
    assert cause["hypotheses"] == [f"{CASE.value}:hypothesis:1", f"{CASE.value}:hypothesis:4"]
    assert cause["symptoms"] == [f"{CASE.value}:symptom:1", f"{CASE.value}:symptom:2"]
    assert cause["explains"] == cause["adds"] == 18 + 12
    assert result["explanation"] == {"failures": 54, "explained": 30, "causes": 1}


def test_what_others_hold_comes_last_and_adds_nothing() -> None:
    record = case()
    record.store.update(
        f"PREFIX t: <{TRAILS}> DELETE {{ GRAPH {CASE} {{ ?h t:status ?was }} }} INSERT {{ "
        f"GRAPH {CASE} {{ ?h t:status t:Supported . ?new a t:JointCause ; "
        "t:explanation ?whole ; t:index 2 ; t:hypothesis ?h ; t:insideFailing 10 ; t:adds 0 } } "
        f"WHERE {{ GRAPH {CASE} {{ ?h t:status ?was ; t:kind t:CohortCause . "
        f"?whole a t:JointExplanation BIND (IRI('{CASE.value}:jointcause:2') AS ?new) }} }}"
    )
    result = as_dict(record)
    VALID.validate(result)
    assert [(c["explains"], c["adds"]) for c in result["causes"]] == [(30, 30), (10, 0)]
    assert [c["id"] for c in result["causes"]] == ["C1", "C2"]
    assert len({c["fingerprint"] for c in result["causes"]}) == 2
    said = (
        "Also supported, but it adds nothing, since every failure it covers is explained above: "
        f"{result['causes'][1]['statement']}"
    )
    (told,) = [s for s in build(record).sections() if s.name == "joint-explanation"]
    first, second = [item.sentence for item in told.content.items]
    assert (first, second) == ("1 cause explains 30 of 54 failures; 24 are unexplained.", said)


def test_what_was_not_looked_into_has_a_none_with_its_prior(result: dict[str, Any]) -> None:
    (none,) = result["symptoms"][4]["hypotheses"]
    assert none["status"] == "proposed"
    assert none["confidence"] == 0.5
    assert none["statement"] == "The failures were not looked into: the run stopped after 12 steps."


def test_unfinished_investigation() -> None:
    running = case()
    running.store.update(
        f"PREFIX t: <{TRAILS}> DELETE {{ GRAPH {CASE} {{ ?s ?p ?o }} }} WHERE {{ GRAPH {CASE} {{ "
        "?s ?p ?o . FILTER EXISTS { { ?s a t:Verdict } UNION { ?s t:phase t:Finish } UNION "
        "{ ?s a t:JointExplanation } UNION { ?s a t:JointCause } } } }"
    )
    result = as_dict(running)
    VALID.validate(result)
    assert result["explanation"] is None
    assert [c["adds"] for c in result["causes"]] == [None]
    assert {s["verdict"] for s in result["symptoms"]} == {"inconclusive"}
    assert result["budget"]["cut"] is None
    worked = [row["seconds"].value for row in running.select("sessions") if "seconds" in row]
    assert result["budget"]["seconds"] == float(*worked)


def test_nothing_fails() -> None:
    sound = case()
    sound.store.update(
        f"DELETE {{ GRAPH {CASE} {{ ?s ?p ?o }} }} WHERE {{ GRAPH {CASE} {{ ?s ?p ?o . "
        f'FILTER (REGEX(STR(?s), ":(symptom:[1-5]|hypothesis|verdict|frame|test|evidence)")) }} }}'
    )
    result = as_dict(sound)
    VALID.validate(result)
    assert result["symptoms"] == result["causes"] == []
