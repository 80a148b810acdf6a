"""The shapes are well formed, and say the same to every SHACL engine as to ours."""

import re
from pathlib import Path
from typing import Final

import pyshacl
import pytest
import rdflib
from rdflib.namespace import OWL, RDF, RDFS, SH, SKOS

from kgreason.audit import record_shapes as module
from kgreason.audit.record_shapes import ontology, shapes
from kgreason.base.errors import ShapesError, TemplateError
from kgreason.base.resources import folder
from kgreason.base.templates import parse, role, template
from kgreason.base.terms import PREFIXES
from kgreason.record.whole_shapes import RULES, whole_shapes

FORBIDDEN: Final = re.compile(r"(?<![:?\w])(GRAPH|VALUES|MINUS|SERVICE)\b", re.IGNORECASE)
SUBSELECT: Final = re.compile(r"\{\s*SELECT\s+(?:DISTINCT\s+)?(\S+)")
TRAILS: Final = rdflib.Namespace(PREFIXES["trails"])
QUERIES: Final = sorted(role("audit"))


@pytest.fixture(scope="module")
def graph() -> rdflib.Graph:
    return whole_shapes()


def test_queries_keep_to_the_dialect_of_both_engines() -> None:
    for name in QUERIES:
        text = template("audit", name).fragment().text
        assert text.startswith("SELECT $this ?value WHERE {"), name
        assert not FORBIDDEN.search(text), name
        assert all(first == "$this" for first in SUBSELECT.findall(text)), name


def test_every_check_is_a_constraint_of_one_shape(graph: rdflib.Graph) -> None:
    for name in QUERIES:
        [select] = graph.objects(rdflib.URIRef(RULES + name), SH.select)
        assert str(select) == template("audit", name).fragment().text.strip()
        [shape] = graph.subjects(SH.sparql, rdflib.URIRef(RULES + name))
        assert (shape, RDF.type, SH.NodeShape) in graph, name
    assert sorted(rule.name for rule in shapes().rules) == QUERIES


def test_a_check_has_to_name_a_shape_and_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stray.rq"

    def written(header: str) -> None:
        query = "SELECT $this ?value WHERE { $this ?p ?value }\n"
        path.write_text(f"#+ summary: Stray.\n#+ reads: ledger\n{header}{query}", encoding="utf-8")

    monkeypatch.setattr(module, "checks", lambda: [parse(path, "audit")])
    written("#+ shape: Nowhere\n#+ message: m\n")
    with pytest.raises(ShapesError, match=r"stray\.rq: the header has to name a shape"):
        module.shapes.__wrapped__()
    for header, lacking in (("#+ shape: Step\n", "message"), ("#+ message: m\n", "shape")):
        written(header)
        with pytest.raises(TemplateError, match=rf"stray\.rq: the header has no {lacking}"):
            module.shapes.__wrapped__()


def test_every_prefix_that_a_query_uses_is_declared(graph: rdflib.Graph) -> None:
    declared = {
        str(graph.value(node, SH.prefix)): str(graph.value(node, SH.namespace))
        for node in graph.objects(None, SH.declare)
    }
    assert all(PREFIXES[prefix] == iri for prefix, iri in declared.items())
    for made in role("audit").values():
        assert set(made.prefixes) <= set(declared), made.name


@pytest.mark.slow
def test_the_shapes_are_shapes_by_shacl_itself(graph: rdflib.Graph) -> None:
    conforms, _, text = pyshacl.validate(rdflib.Graph(), shacl_graph=graph, meta_shacl=True)
    assert conforms, text


def test_a_list_of_concepts_is_a_whole_scheme_of_the_ontology(graph: rdflib.Graph) -> None:
    terms = rdflib.Graph().parse(folder("ontology") / "trails.ttl")
    terms.parse(folder("ontology") / "repair.ttl")
    schemes = {
        scheme: set(terms.subjects(SKOS.inScheme, scheme))
        for scheme in terms.subjects(RDF.type, SKOS.ConceptScheme)
    }
    lists = [set(graph.items(head)) for head in graph.objects(None, SH["in"])]
    concepts = [found for found in lists if all(isinstance(x, rdflib.URIRef) for x in found)]
    assert len(concepts) > 8
    assert all(found in schemes.values() for found in concepts)


def test_every_class_of_the_record_has_a_shape(graph: rdflib.Graph) -> None:
    targets = set(graph.objects(None, SH.targetClass))
    classes = (
        "Investigation Step HypothesisPlan Execution Policy Likelihood Transition Symptom Frame "
        "Hypothesis Test Expectation Evidence Stratum Citation ConfidenceUpdate StatusTransition "
        "Verdict"
    )
    assert {TRAILS[name] for name in classes.split()} <= targets


def _broken(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "broken.ttl"
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    file.write_text(f"{head}@prefix shape: <https://w3id.org/trails/shapes#> .\n{text}")
    monkeypatch.setattr(module, "files", lambda: [file])
    module.shapes.__wrapped__()


@pytest.mark.parametrize(
    "said",
    [
        "sh:targetClass trails:Test ; sh:closed true",
        "sh:targetClass trails:Test ; sh:property [ sh:path trails:kind ; sh:minCount 2 ]",
        "sh:targetClass trails:Test ; sh:property [ sh:path trails:kind ; sh:maxLength 2 ]",
        "sh:targetClass trails:Test ; sh:property [ sh:path ( trails:kind ) ; sh:minCount 1 ]",
        "sh:targetSubjectsOf trails:test ; sh:property [ sh:path trails:kind ; sh:minCount 1 ]",
    ],
    ids=["closed", "count", "component", "path", "target"],
)
def test_what_the_native_engine_does_not_know_is_refused(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ShapesError):
        _broken(tmp_path, f"shape:X a sh:NodeShape ; {said} .", monkeypatch)


ALIGNMENTS: Final = sorted((folder("ontology") / "alignments").glob("*.ttl"))


@pytest.mark.parametrize("path", ALIGNMENTS, ids=lambda path: path.stem)
def test_an_alignment_is_about_terms_of_ours(path: Path) -> None:
    terms = {str(found.subject) for found in ontology()}
    graph = rdflib.Graph().parse(path)
    [header] = graph.subjects(RDF.type, OWL.Ontology)
    assert str(header) == f"https://w3id.org/trails/alignments/{path.stem}"
    assert graph.value(header, RDFS.comment)
    said = set(graph.subjects()) - {header}
    assert len(said) > 1
    assert all(f"<{node}>" in terms for node in said)
    assert not any(str(value).startswith(PREFIXES["trails"]) for value in graph.objects())
