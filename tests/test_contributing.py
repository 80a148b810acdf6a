"""What CONTRIBUTING.md tells one to do works: its blocks are put into a copy of the checkout."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from tests.test_house import DECLARED, FULL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("kgreason", "ontology", "queries", "shapes", "pyproject.toml")
RUN = ("test_cases.py", "test_report.py", "test_repair_cases.py")

SHAPES = """
@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
ex:PartShape a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:code ; sh:minCount 1 ] .
"""
INVESTIGATE = """
import json, sys
import kgreason
found = kgreason.investigate("data.ttl", shapes="shapes.ttl")
told = {"where": kgreason.__file__, "result": found.as_dict(), "report": found.markdown(),
        "record": found.turtle()}
json.dump(told, sys.stdout)
"""
HALFWAY = """
import json, sys
import kgreason
kgreason.investigate("data.ttl", shapes="shapes.ttl", policy="halfway", ledger="halfway").close()
ledger = kgreason.open("halfway")
moved = "SELECT ?h ?before ?after ?strength ?polarity { ?u trails:rule 'halfway' ; "
moved += "trails:before ?before ; trails:after ?after ; trails:hypothesis ?h ; trails:evidence "
moved += "[ trails:polarity ?polarity ; trails:strength ?strength ] } ORDER BY ?u"
rows = [{k: v.value for k, v in row.items()} for row in ledger.query(moved)]
json.dump({"updates": rows, "faults": [str(f) for f in ledger.audit().findings]}, sys.stdout)
"""
RAISED = """
import json, pathlib, sys
import pyoxigraph as ox
import kgreason
from kgreason.audit import audit
from kgreason.record import Ledger
from kgreason.record.record import Record
with Ledger.read(pathlib.Path("halfway")) as ledger:
    record = ledger.record(ledger.entry(None))
    copy = ox.Store()
    copy.extend(iter(record.store.inner))
copy.update(
    "PREFIX trails: <https://w3id.org/trails#> DELETE { GRAPH ?g { ?u trails:after ?after } } "
    "INSERT { GRAPH ?g { ?u trails:after 0.123 } } WHERE { GRAPH ?g { "
    "?u trails:rule 'halfway' ; trails:after ?after } }"
)
made = Record(type(record.store)(copy, "a copy"), record.iri)
json.dump(sorted(audit(made).rules), sys.stdout)
"""
DAYS = """
@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:MadeShape a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:made ; sh:datatype xsd:date ] .
"""
REPAIR = """
import json, sys
import kgreason
kgreason.investigate("days.ttl", shapes="days-shapes.ttl", ledger="days").close()
done = kgreason.open("days").repair(dry_run=True, using="dotted-date")
json.dump(done.as_dict(), sys.stdout)
"""


def data() -> str:
    """Write 240 parts: a third has no label, and of those all but every tenth lack a code."""
    lines = [
        "@prefix ex: <https://example.org/> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
    ]
    for number in range(240):
        unlabelled = number % 3 == 0
        coded = number % 10 == 0 if unlabelled else number % 50 != 1
        label = "" if unlabelled else f' ; rdfs:label "part {number}"'
        code = f' ; ex:code "{number}"' if coded else ""
        lines.append(f"ex:part{number} a ex:Part{label}{code} .")
    return "\n".join(lines)


def days() -> str:
    """Write 120 parts with a day; of every third it is a text such as 07.03.2026."""
    lines = [
        "@prefix ex: <https://example.org/> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
    ]
    for number in range(120):
        day, month = number % 28 + 1, number % 12 + 1
        dated = f'"2026-{month:02}-{day:02}"^^xsd:date'
        dotted = f'"{day:02}.{month:02}.2026"'
        made = dotted if number % 3 == 0 else dated
        lines.append(f"ex:part{number} a ex:Part ; ex:made {made} .")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the checkout with the files of CONTRIBUTING.md in their places."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    (copy / "tests").mkdir()
    for path in (ROOT / "tests").glob("*.py"):
        shutil.copy(path, copy / "tests" / path.name)
    shutil.copytree(ROOT / "tests" / "cases" / "report", copy / "tests" / "cases" / "report")
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for name, text in blocks:
        path = copy / name
        assert not path.exists(), f"{name} is in the project already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert len(blocks) == 30
    (copy / "data.ttl").write_text(data(), encoding="utf-8")
    (copy / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    (copy / "days.ttl").write_text(days(), encoding="utf-8")
    (copy / "days-shapes.ttl").write_text(DAYS, encoding="utf-8")
    return copy


def run(checkout: Path, *arguments: str) -> str:
    """Run Python in the copy; without `site`, so that no other checkout can be imported."""
    libraries = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    path = ":".join([str(checkout), *sorted(libraries)])
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=checkout,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def told(checkout: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(checkout, "-c", INVESTIGATE))
    assert found["where"].startswith(str(checkout))
    return found


def test_the_family_proposes_and_is_supported(told: dict[str, Any]) -> None:
    (symptom,) = told["result"]["symptoms"]
    assert symptom["failing"] == 72 + 3
    leading = min(symptom["hypotheses"], key=lambda h: h["rank"])
    assert leading["statement"] == "Nodes without a label fail."
    assert leading["kind"] == "cohort"
    assert leading["inside"] == {"failing": 72, "population": 80}
    assert leading["outside"] == {"failing": 3, "population": 160}
    assert leading["status"].lower().endswith("supported")
    assert symptom["verdict"] == "explained"


def test_the_kind_of_test_gives_evidence(told: dict[str, Any]) -> None:
    (symptom,) = told["result"]["symptoms"]
    (leading,) = (h for h in symptom["hypotheses"] if "without a label" in h["statement"])
    (evidence,) = (e for e in leading["evidence"] if e["test"] == "majority")
    assert evidence["polarity"].lower().endswith("supports")
    assert evidence["strength"] == 0.4


NOT_PARTS = """#+ summary: Whether nodes that the region should not name fail as well.
#+ title: Others
#+ role: placebo
#+ outcomes: quiet loud
#+ explanation: Counts failing nodes among those that should not fail.
#+ example: 5 of 80 nodes fail.
#+ reads: graph
#+ param symptom: iri, the mark of the failing nodes
#+ param half: iri, the mark of the half that is counted
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?outcome ?note ?rate WHERE {
  { SELECT (COUNT(DISTINCT ?focus) AS ?all) (COUNT(DISTINCT ?failed) AS ?bad) WHERE {
    GRAPH work:marks { ?focus work:member {{ half }} . }
    FILTER (%s)
    OPTIONAL { GRAPH work:marks { ?focus work:fails {{ symptom }} . } BIND (?focus AS ?failed) }
  } }
  BIND (ROUND(xsd:decimal(?bad) / ?all * 1000000) / 1000000 AS ?rate)
  BIND (IF(?rate > 0.05, "loud", "quiet") AS ?outcome)
  BIND (CONCAT(STR(?bad), " of ", STR(?all), " others fail.") AS ?note)
}
"""
ROWS = """@prefix policy: <https://w3id.org/trails/policy#> .
@prefix trails: <https://w3id.org/trails#> .
policy:frame policy:likelihood [ a trails:Likelihood ; policy:testKind "others" ;
    policy:outcomeClass "quiet" ;
    policy:underSelf 0.50 ; policy:underRival 0.50 ; policy:underNone 0.50 ;
    policy:polarity trails:Neutral ; policy:strength 0.00 ] .
policy:frame policy:likelihood [ a trails:Likelihood ; policy:testKind "others" ;
    policy:outcomeClass "loud" ;
    policy:underSelf 0.50 ; policy:underRival 0.50 ; policy:underNone 0.50 ;
    policy:polarity trails:Neutral ; policy:strength 0.00 ] .
"""
AUDITED = """
import json, sys
import kgreason
found = kgreason.investigate("data.ttl", shapes="shapes.ttl", ledger="LEDGER")
(symptom,) = found.as_dict()["symptoms"]
(one,) = (h for h in symptom["hypotheses"] if "without a label" in h["statement"])
with kgreason.open("LEDGER") as ledger:
    audited = str(ledger.audit())
told = {"hypothesis": one, "audit": audited, "record": found.turtle()}
json.dump(told, sys.stdout)
"""


CODED = "EXISTS { GRAPH ?graph { ?focus <https://example.org/code> ?code . } }"


@pytest.mark.parametrize(("others", "supported"), [("true", False), (CODED, True)])
def test_a_new_kind_closes_a_gate_by_its_role(
    checkout: Path, tmp_path: Path, others: str, *, supported: bool
) -> None:
    """Two files and a word in a family do it; the likelihoods say nothing, so the gate speaks."""
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    (copy / "queries/test/others.rq").write_text(NOT_PARTS.replace("%s", others), encoding="utf-8")
    (copy / "ontology/policies/others.ttl").write_text(ROWS, encoding="utf-8")
    family = copy / "queries/hypothesize/unlabelled.rq"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("counterexamples majority", "counterexamples others"), "utf-8")
    told = json.loads(run(copy, "-c", AUDITED))
    evidence = {e["test"]: e for e in told["hypothesis"]["evidence"]}
    assert evidence["others"]["polarity"].lower().endswith("neutral")
    assert told["hypothesis"]["posterior"] > 0.8
    assert told["hypothesis"]["status"].lower().endswith("supported") is supported
    assert "trails:testRole trails:Placebo" in told["record"]
    assert " 0 findings" in told["audit"], told["audit"]


def test_a_policy_without_rows_for_a_kind_is_refused(checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    (copy / "ontology/policies/majority.ttl").unlink()
    ask = "import kgreason; kgreason.investigate('data.ttl', shapes='shapes.ttl', ledger='LEDGER')"
    with pytest.raises(AssertionError, match="for the outcome 'most' of the test 'majority'"):
        run(copy, "-c", ask)
    assert not (copy / "LEDGER").exists()


RULED = """
import sys
import kgreason
found = kgreason.investigate("data.ttl", shapes="shapes.ttl", policy="own.ttl")
sys.stdout.write(found.turtle())
"""


def test_a_new_rule_is_in_the_shapes_by_its_file(checkout: Path, tmp_path: Path) -> None:
    """A step whose update names a rule that the shapes do not list would be refused."""
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    rule = (copy / "queries/confidence/net-weight.ru").read_text(encoding="utf-8")
    made = rule.replace('trails:rule "net-weight"', 'trails:rule "balance"')
    (copy / "queries/confidence/balance.ru").write_text(made, encoding="utf-8")
    shipped = (copy / "ontology/policies/net-weight.ttl").read_text(encoding="utf-8")
    own = shipped.replace("policy:net-weight ", "<urn:example:mine> ")
    own = own.replace('policy:rule "net-weight"', 'policy:rule "balance"')
    (copy / "own.ttl").write_text(own, encoding="utf-8")
    assert 'trails:rule "balance"' in run(copy, "-c", RULED)


def test_the_section_is_in_the_report(told: dict[str, Any]) -> None:
    assert "Tests by kind" in told["report"]
    assert re.search(r"majority.*1", told["report"])


def test_the_cases_hold_and_the_headers_fit(checkout: Path) -> None:
    new = "unlabelled or majority or tests-by-kind or halfway or dotted-date"
    options = ("-p", "no:cacheprovider", "-o", "addopts=-v", "-k", new)
    told = run(checkout, "-m", "pytest", *options, *(f"tests/{name}" for name in RUN))
    for name in (
        "hypothesize/unlabelled/two-of-three propose oxigraph",
        "hypothesize/unlabelled/two-of-three region rdflib",
        "test/majority/two-of-three main oxigraph",
        "test_section_writes_what_its_case_expects[tests-by-kind",
        "audit/halfway-after/wrong-or-missing main rdflib",
        "confidence/halfway/supports oxigraph",
        "test_update_changes_what_is_expected_and_nothing_else[dotted-date/one-of-two-oxigraph",
        "test_rows_are_what_the_update_changes[dotted-date/one-of-two",
    ):
        assert re.search(rf"{re.escape(name)}\] PASSED", told), told


def test_the_rule_moves_confidence_and_the_check_does_its_sum_again(checkout: Path) -> None:
    found = json.loads(run(checkout, "-c", HALFWAY))
    assert found["faults"] == []
    assert len(found["updates"]) == 4
    goals = {"Supports": Decimal(1), "Contradicts": Decimal(0)}
    for row in found["updates"]:
        before, after, strength = (Decimal(row[n]) for n in ("before", "after", "strength"))
        goal = goals.get(row["polarity"].rpartition("#")[2], before)
        assert abs(after - (before + strength * (goal - before))) <= Decimal("1e-9")
    assert "halfway-after" in json.loads(run(checkout, "-c", RAISED))


def test_the_repair_clears_what_it_is_for(checkout: Path) -> None:
    found = json.loads(run(checkout, "-c", REPAIR))
    (tried,) = found["tried"]
    assert tried["repair"] == "dotted-date"
    figures = tried["figures"]
    assert (figures["claimed"], figures["holds"], figures["violationsCaused"]) == (40, 40, 0)
    assert tried["outcome"] == "cleared"


def test_every_term_of_the_record_is_in_the_ontology(told: dict[str, Any]) -> None:
    found = {
        term.value
        for quad in ox.parse(told["record"], format=ox.RdfFormat.TRIG)
        for term in quad.triple
        if isinstance(term, ox.NamedNode) and FULL.fullmatch(term.value)
    }
    assert len(found) > 60
    known = DECLARED | {
        iri for iri in found if iri.startswith("https://w3id.org/trails/policy#code-")
    }
    assert sorted(found - known) == []
