"""OWL axioms are looked at as constraints are, and break where the data contradict them."""

import json
import random
from pathlib import Path

import owlrl
import pytest
import rdflib
from jsonschema import Draft202012Validator

import kgreason
from kgreason.audit import Sample, audit
from kgreason.base.errors import OptionError, ShapesError
from kgreason.base.terms import OWL, TRAILS
from kgreason.graph import load
from kgreason.review.held import Given, held
from kgreason.shacl import compile_axioms, read_axioms
from tests.cli_support import run
from tests.symptoms_support import data, observed
from tests.test_report_result import SCHEMA

HEAD = """@prefix ex: <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
NODES = ("a", "b", "c")
HIERARCHY = "ex:q rdfs:subPropertyOf ex:p . ex:D rdfs:subClassOf ex:B ."
STATED = {
    "functional": "ex:p a owl:FunctionalProperty .",
    "inverse functional": "ex:p a owl:InverseFunctionalProperty .",
    "irreflexive": "ex:p a owl:IrreflexiveProperty .",
    "asymmetric": "ex:p a owl:AsymmetricProperty .",
    "disjoint properties": "ex:p owl:propertyDisjointWith ex:r .",
    "disjoint classes": "ex:A owl:disjointWith ex:B .",
    "all disjoint": "[] a owl:AllDisjointClasses ; owl:members ( ex:A ex:B ex:C ) .",
}


def drawn(seed: int) -> str:
    """Draw a few statements about four nodes."""
    dice = random.Random(seed)
    links = [
        f"ex:{dice.choice(NODES)} ex:{dice.choice('pqr')} ex:{dice.choice(NODES)} ."
        for _ in range(dice.randint(1, 5))
    ]
    kinds = [
        f"ex:{dice.choice(NODES)} a ex:{dice.choice('ABCD')} ." for _ in range(dice.randint(1, 5))
    ]
    return "\n".join(links + kinds)


def contradicted(text: str) -> bool:
    """Ask OWL RL, where all nodes are different, whether there is a contradiction."""
    apart = " ".join(f"ex:{x} owl:differentFrom ex:{y} ." for x in NODES for y in NODES if x < y)
    graph = rdflib.Graph().parse(data=f"{HEAD}{text}\n{HIERARCHY}\n{apart}", format="turtle")
    # Improved datatypes would stay in rdflib for the rest of the process.
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, improved_datatypes=False).expand(graph)
    return any("agent-ont#error" in str(p) or str(p).endswith("/error") for _, p, _ in graph)


def broken(folder: Path, axioms: str, text: str) -> bool:
    """Ask kgreason whether a node breaks an axiom."""
    (folder / "axioms.ttl").write_text(HEAD + axioms, encoding="utf-8")
    (folder / "data.ttl").write_text(f"{HEAD}{text}\n{HIERARCHY}", encoding="utf-8")
    graph = load([folder / "data.ttl"])
    compiled = compile_axioms(read_axioms([folder / "axioms.ttl"]), graph)
    return any(seen.failing for _, seen in observed(graph, compiled))


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.slow
def test_what_breaks_is_what_owl_rl_calls_a_contradiction(stated: str, tmp_path: Path) -> None:
    answers = set()
    for seed in range(16):
        text = drawn(seed)
        wanted = contradicted(f"{STATED[stated]}\n{text}")
        assert broken(tmp_path, STATED[stated], text) == wanted, text
        answers.add(wanted)
    assert answers == {True, False}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A graph of two feeds, one of which has born twice and calls people firms."""
    monkeypatch.chdir(tmp_path)
    lines = {"good": [HEAD], "bad": [HEAD]}
    for feed, made in lines.items():
        for n in range(60):
            made.append(f"ex:{feed}{n} a ex:Clerk ; ex:born {1950 + n} ; ex:dept ex:d{n % 5} .")
            if feed == "bad":
                made.extend([f"ex:{feed}{n} a ex:Firm ."] * (n % 6 > 0))
                made.extend([f"ex:{feed}{n} ex:born {1900 + n} ."] * (n % 7 > 0))
        Path(f"{feed}.ttl").write_text("\n".join(made), encoding="utf-8")
    axioms = (
        "ex:Clerk rdfs:subClassOf ex:Person . ex:Person owl:disjointWith ex:Firm . "
        "ex:born a owl:FunctionalProperty , owl:TransitiveProperty ; rdfs:range xsd:integer ."
    )
    Path("axioms.ttl").write_text(HEAD + axioms, encoding="utf-8")
    shapes = "ex:S sh:targetClass ex:Clerk ; sh:property [ sh:path ex:dept ; sh:maxCount 0 ] ."
    Path("shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
    return tmp_path


FEEDS = ["good.ttl", "bad.ttl"]


def test_axioms_are_investigated_and_named_in_record_report_and_json() -> None:
    with kgreason.investigate(FEEDS, axioms="axioms.ttl", nonce="axioms00") as result:
        told = result.as_dict()
        Draft202012Validator(SCHEMA).validate(told)
        by = {one["axiom"].rpartition("#")[2]: one for one in told["symptoms"]}
        assert set(by) == {"disjointWith", "FunctionalProperty"}
        assert by["disjointWith"]["shape"] == "https://example.org/Person"
        assert (by["disjointWith"]["population"], by["disjointWith"]["failing"]) == (120, 50)
        assert by["FunctionalProperty"]["path"] == "<https://example.org/born>"
        assert {one["verdict"] for one in by.values()} == {"explained"}
        assert all("bad.ttl" in cause["statement"] for cause in told["causes"])
        stated = {
            q.object
            for q in result.record.store.inner.quads_for_pattern(None, TRAILS.axiom, None, None)
        }
        assert stated == {OWL.disjointWith, OWL.FunctionalProperty}
        page = result.markdown()
        assert "- **Axiom:** [owl:FunctionalProperty]" in page
        assert "- **Said of:** [born]" in page
        assert "axioms that are not looked at: owl:TransitiveProperty (1)." in page
        found = audit(result.record)
        again = held(found, result.record, Given([*map(str, map(Path, FEEDS))]), Sample(None))
        assert [f.message for f in again.findings] == []


def test_axioms_stand_beside_shapes_and_narrow_with_them() -> None:
    both = kgreason.symptoms(FEEDS, shapes="shapes.ttl", axioms="axioms.ttl")
    assert [(one.axiom is None, one.failing) for one in both] == [
        (True, 120),
        (False, 51),
        (False, 50),
    ]
    for only, failing in (("https://example.org/born", [51]), ("https://example.org/S", [120])):
        chosen = kgreason.symptoms(FEEDS, shapes="shapes.ttl", axioms="axioms.ttl", only=only)
        assert [one.failing for one in chosen] == failing
    with pytest.raises(ShapesError, match=r"https://example.org/none"):
        kgreason.symptoms(FEEDS, axioms="axioms.ttl", only="https://example.org/none")
    assert not kgreason.symptoms(
        FEEDS, axioms="axioms.ttl", severity="http://www.w3.org/ns/shacl#Info"
    )


def test_the_command_takes_several_files_of_axioms() -> None:
    Path("more.ttl").write_text(f"{HEAD}ex:dept a owl:InverseFunctionalProperty .", "utf-8")
    done = run("symptoms", *FEEDS, "--axioms", "axioms.ttl", "more.ttl", "--format", "json")
    assert (done.code, [one["failing"] for one in json.loads(done.out)]) == (0, [120, 51, 50])
    again = run("symptoms", *FEEDS, "--axioms", "axioms.ttl", "--axioms", "more.ttl")
    assert "InverseFunctionalProperty" in again.out


@pytest.mark.slow
def test_an_investigation_of_axioms_is_resumed_as_it_was() -> None:
    whole = kgreason.investigate(FEEDS, axioms="axioms.ttl", nonce="axioms00").as_dict()
    kgreason.investigate(FEEDS, axioms="axioms.ttl", nonce="axioms00", ledger="L", max_steps=6)
    with kgreason.resume("L", axioms="axioms.ttl") as resumed:
        assert [s["failing"] for s in resumed.as_dict()["symptoms"]] == [
            s["failing"] for s in whole["symptoms"]
        ]
    Path("axioms.ttl").write_text(f"{HEAD}ex:dept a owl:FunctionalProperty .", "utf-8")
    refused = run("resume", "--ledger", "L2")
    assert refused.code == 2


def test_bad_input_is_told_in_one_sentence() -> None:
    none = run("symptoms", *FEEDS, "--axioms", "good.ttl")
    assert (none.code, none.out) == (2, "")
    assert none.err.count("\n") == 1
    assert "good.ttl: there is no OWL axiom in it that can be checked" in none.err
    Path("wrong.ttl").write_text(f"{HEAD}ex:p a owl:FunctionalProperty ;;; }}", "utf-8")
    wrong = run("symptoms", *FEEDS, "--axioms", "wrong.ttl")
    assert (wrong.code, "wrong.ttl: line 6" in wrong.err) == (2, True)
    missing = run("symptoms", *FEEDS, "--axioms", "gone.ttl")
    assert (missing.code, "gone.ttl: there is no such file" in missing.err) == (2, True)
    with pytest.raises(OptionError, match="--axioms stands alone or beside --shapes"):
        kgreason.symptoms(FEEDS, axioms="axioms.ttl", outcome="SELECT ?focus ?outcome {}")


def test_an_axiom_without_a_node_leaves_a_gate_shut() -> None:
    Path("other.ttl").write_text(f"{HEAD}ex:none a owl:FunctionalProperty .", "utf-8")
    done = run("investigate", *FEEDS, "--axioms", "other.ttl", "--fail-on", "violation")
    assert done.code == 2
    assert "Nothing was checked, so nothing can be said of the data" in done.err


def test_a_repair_is_held_to_all_axioms_of_the_file() -> None:
    graph = load([Path(name) for name in FEEDS], ontology=[Path("axioms.ttl")])
    compiled = compile_axioms(read_axioms([Path("axioms.ttl")]), graph)
    peers = compiled.constraints[0].peers
    assert peers is not None
    assert [one.key for one in peers(graph)] == [one.key for one in compiled.constraints]


@pytest.mark.slow
def test_a_real_graph_is_held_to_its_own_axioms() -> None:
    units = data("qudt", "after.nq.gz")
    found = kgreason.symptoms(units, axioms=units)
    counts = {(one.axiom or "").rpartition("#")[2]: 0 for one in found}
    assert set(counts) == {"range", "FunctionalProperty"}
    by = {(one.shape or "").rpartition("/")[2]: (one.population, one.failing) for one in found}
    # A multiplier such as 3.6E3 is an xsd:double, and the schema says xsd:decimal.
    assert by["conversionMultiplierSN"] == (2411, 2411)
    assert by["hasBaseQuantityKind"] == (12, 12)
    assert by["plainTextDescription"] == (1517, 142)


def test_many_disjoint_classes_are_as_many_rules_and_not_as_many_as_pairs(tmp_path: Path) -> None:
    names = [f"C{n:03}" for n in range(120)]
    members = " ".join(f"ex:{name}" for name in names)
    (tmp_path / "axioms.ttl").write_text(
        f"{HEAD}[] a owl:AllDisjointClasses ; owl:members ( {members} ) .", encoding="utf-8"
    )
    lines = [f"ex:x{n} a ex:{name} ." for n, name in enumerate(names)]
    lines.append("ex:x5 a ex:Below . ex:Below rdfs:subClassOf ex:C090 .")
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    graph = load([tmp_path / "data.ttl"])
    compiled = compile_axioms(read_axioms([tmp_path / "axioms.ttl"]), graph)
    assert len(compiled.constraints) == 119
    (broken,) = [one for one in compiled.constraints if one.axiom and "C005" in str(one.title)]
    assert broken.title == "Nothing is both C005 and another of 120 classes (disjoint classes)"
    found = {str(focus) for _, seen in observed(graph, compiled) for focus in seen.failing}
    assert found == {"<https://example.org/x5>"}


def test_what_was_written_as_another_number_than_the_range_has_is_told_so(tmp_path: Path) -> None:
    axioms = "ex:size rdfs:range xsd:integer ."
    lines = [f"ex:p{n} a ex:Part ; ex:size {f'{n}.5e0' if n % 6 == 0 else n} ." for n in range(240)]
    (tmp_path / "axioms.ttl").write_text(HEAD + axioms, encoding="utf-8")
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", axioms=tmp_path / "axioms.ttl") as result:
        (symptom,) = result.symptoms
        assert audit(result.record).ok
    supported = [h.statement for h in symptom.hypotheses if h.status == "supported"]
    assert supported == ["The values of size were written as xsd:double."]
