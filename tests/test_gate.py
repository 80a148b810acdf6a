"""A gate that checked nothing does not pass, nor one whose ontology was forgotten."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kgreason
from kgreason.base.errors import ShapesError
from kgreason.review.gate import failures
from tests.cli_support import Ran, run
from tests.test_report_result import SCHEMA

ROOT = Path(__file__).resolve().parents[1]
PREFIXES = """@prefix ex: <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
DATA = "ex:bolt a ex:Screw ; ex:weight 3 ; ex:maker ex:acme . ex:acme a ex:Firm ."
ONTOLOGY = "ex:Screw rdfs:subClassOf ex:Part . ex:Firm rdfs:subClassOf ex:Company ."
WEIGHT = "ex:PartShape sh:targetClass ex:Part ; sh:property [ sh:path ex:weight ; sh:minCount 1 ] ."
MAKER = "ex:ScrewShape sh:targetClass ex:Screw ; sh:property [ sh:path ex:maker ; {} ] ."
MISSING = "Is an ontology missing?"
NOTHING = "Nothing was checked, so nothing can be said of the data"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    Path("ontology.ttl").write_text(PREFIXES + ONTOLOGY, encoding="utf-8")
    return tmp_path


def gate(shapes: str, *more: str | Path, command: str = "investigate") -> Ran:
    Path("shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    return run(command, "data.ttl", "--shapes", "shapes.ttl", *more)


def test_a_gate_without_a_node_to_look_at_is_wrong_input() -> None:
    done = gate(WEIGHT, "--fail-on", "violation")
    assert (done.code, done.out) == (2, "")
    assert f"{NOTHING}: 1 constraint has no node to look at." in done.err
    assert f"{MISSING} The shapes name a class or property" in done.err
    assert "<https://example.org/Part>" in done.err
    assert "--ontology" in done.err
    assert "--allow-empty" in done.err
    assert not Path(".kgreason").exists()


def test_what_is_in_use_under_the_name_of_an_unknown_class_is_told() -> None:
    done = gate(WEIGHT.replace("ex:Part ;", "<http://schema.org/screw> ;"))
    wanted = "<https://example.org/Screw> for <http://schema.org/screw>"
    assert f"Or are namespaces mixed up? In use under the same names are {wanted}." in done.err
    assert "namespaces" not in gate(WEIGHT).err


@pytest.mark.parametrize("fail_on", ["violation", "cause"])
def test_with_the_ontology_or_by_leave_the_gate_opens(fail_on: str) -> None:
    assert gate(WEIGHT, "--fail-on", fail_on, "--ontology", "ontology.ttl").code == 0
    assert gate(WEIGHT, "--fail-on", fail_on, "--allow-empty").code == 0


def test_without_a_gate_it_is_said_in_the_report_in_json_and_by_symptoms() -> None:
    told = json.loads(gate(WEIGHT, "--format", "json").out)
    Draft202012Validator(SCHEMA).validate(told)
    assert any(notice.startswith(NOTHING) for notice in told["notices"])
    assert any(notice.startswith(MISSING) for notice in told["notices"])
    head = run("report").out.partition("\n## ")[0]
    assert NOTHING in head
    assert MISSING in head
    looked = gate(WEIGHT, command="symptoms")
    assert looked.code == 0
    assert looked.out.startswith(NOTHING)
    assert "Nothing fails" not in looked.out


@pytest.mark.parametrize("command", ["report", "resume"])
def test_a_record_of_nothing_checked_passes_no_gate_but_by_leave(command: str) -> None:
    assert gate(WEIGHT).code == 0
    done = run(command, "--fail-on", "violation")
    assert (done.code, done.out) == (2, "")
    assert NOTHING in done.err
    assert "--allow-empty" in done.err
    assert run(command, "--fail-on", "violation", "--allow-empty").code == 0


@pytest.mark.parametrize(
    "asked",
    [
        "sh:class ex:Company",
        "sh:node [ sh:class ex:Company ]",
        "sh:or ( [ sh:class ex:Company ] [ sh:nodeKind sh:Literal ] )",
        "sh:qualifiedValueShape [ sh:class ex:Company ] ; sh:qualifiedMinCount 1",
    ],
)
@pytest.mark.slow
def test_failures_for_want_of_an_ontology_are_not_taken_for_violations(asked: str) -> None:
    done = gate(MAKER.format(asked), "--fail-on", "violation")
    assert done.code == 2
    assert f"{MISSING} The shapes name a class or property" in done.err
    assert "<https://example.org/Company>" in done.err
    assert "1 of those that fail ask for such a class" in done.err
    shown = gate(MAKER.format(asked)).out.partition("\n## ")[0]
    assert "1 rule is broken" in shown
    assert MISSING in shown
    assert gate(MAKER.format(asked), "--fail-on", "violation", "--allow-empty").code == 1
    whole = gate(MAKER.format(asked), "--fail-on", "violation", "--ontology", "ontology.ttl")
    assert whole.code == 0
    assert MISSING not in whole.err


def test_properties_that_a_target_goes_by_are_missed_too() -> None:
    shapes = "ex:S sh:targetSubjectsOf ex:heavierThan ; sh:nodeKind sh:IRI . " + MAKER.format(
        "sh:minCount 1"
    )
    done = gate(shapes, "--fail-on", "violation")
    assert done.code == 2
    assert "<https://example.org/heavierThan>" in done.err
    assert NOTHING not in done.err


def test_what_is_declared_may_have_no_instance() -> None:
    declared = "ex:Nut a owl:Class ."
    Path("ontology.ttl").write_text(PREFIXES + declared, encoding="utf-8")
    shapes = WEIGHT.replace("ex:Part ", "ex:Nut ") + MAKER.format("sh:minCount 1")
    options = ("--fail-on", "violation", "--ontology", "ontology.ttl")
    assert gate(shapes, *options).code == 0
    alone = gate(WEIGHT.replace("ex:Part ", "ex:Nut "), *options)
    assert alone.code == 2
    assert NOTHING in alone.err
    assert MISSING not in alone.err


def test_that_all_lack_a_property_is_a_violation() -> None:
    """A property at a node is what the data lack, not what an ontology would give."""
    shapes = "ex:S sh:targetClass ex:Screw ; sh:property [ sh:path ex:size ; sh:minCount 1 ] ."
    done = gate(shapes, "--fail-on", "violation")
    assert done.code == 1
    assert MISSING not in done.err


def test_from_python_the_gate_is_an_error() -> None:
    Path("shapes.ttl").write_text(PREFIXES + WEIGHT, encoding="utf-8")
    with pytest.raises(ShapesError, match="Is an ontology missing"):
        kgreason.investigate("data.ttl", shapes="shapes.ttl", gate=True)


@pytest.mark.slow
def test_the_forgotten_ontology_of_the_example_is_missed() -> None:
    example = ROOT / "examples" / "supply-chain"
    given = (example / "data", "--shapes", example / "shapes.ttl")
    bare = run("investigate", *given, "--fail-on", "violation")
    assert bare.code == 2
    assert "86 constraints have no node to look at, and 2 of those that fail" in bare.err
    assert "<https://example.org/supply/vocab#Part>" in bare.err
    whole = run("symptoms", *given, "--ontology", example / "ontology.ttl")
    assert MISSING not in whole.err


@pytest.mark.parametrize(
    ("confidence", "posterior", "fails"),
    [(0.45, 0.98, False), (0.545, 0.98, True), (0.45, 0.45, True), (0.98, 0.98, True)],
)
def test_what_its_proof_makes_less_likely_right_than_wrong_fails_no_build(
    confidence: float,
    posterior: float,
    fails: bool,  # noqa: FBT001 - a case
) -> None:
    """A low confidence by the rules of another policy, which nothing brought down, is none such."""
    one = {"id": "h", "confidence": confidence, "posterior": posterior}
    symptom = {"id": "s", "population": 40, "hypotheses": [one]}
    cause = {"id": "C1", "narrows": False, "hypotheses": ["h"], "symptoms": ["s"], "explains": 9}
    told = {"symptoms": [symptom], "causes": [cause | {"statement": "Some fail."}]}
    assert bool(failures(told, "cause")) is fails
