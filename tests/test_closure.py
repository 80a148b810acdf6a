"""Of several axioms that would mend the same failures: which one is told, and when none is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreason
from kgreason.base.store import Store
from kgreason.base.terms import OWL, RDF, RDFS, TYPE
from kgreason.graph import Graph
from kgreason.test import closure
from kgreason.test.closure import close, relevant

HEAD = """
@prefix ex: <https://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
SHAPES = """
ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:from ; sh:class ex:Supplier ] .
"""
BY_PLACE = """
ex:from rdfs:range ex:Supplier . ex:licence rdfs:domain ex:Supplier .
ex:Part rdfs:subClassOf
  [ a owl:Restriction ; owl:onProperty ex:from ; owl:allValuesFrom ex:Supplier ] .
"""
VENDORS = "ex:Vendor owl:equivalentClass ex:Supplier . "

Told = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """Give what leads where every third of 240 parts is from a thing that is said to be so.

    It is asked under `frame`: a condition on what is said there, which does not choose among
    axioms, would lead where none of them may be told.
    """

    def run(thing: str, axioms: str) -> dict[str, Any]:
        lines = []
        for n in range(240):
            kind = thing if n % 3 == 0 else "a ex:Supplier"
            lines.append(f"ex:p{n} a ex:Part ; ex:from ex:s{n} . ex:s{n} {kind} .")
        for name, text in (("data", "\n".join(lines)), ("shapes", SHAPES), ("axioms", axioms)):
            (tmp_path / f"{name}.ttl").write_text(HEAD + text, encoding="utf-8")
        data, shapes, ontology = (tmp_path / f"{n}.ttl" for n in ("data", "shapes", "axioms"))
        with kgreason.investigate(data, shapes=shapes, ontology=ontology, policy="frame") as result:
            leading: dict[str, Any] = result.as_dict()["symptoms"][0]["hypotheses"][0]
        return leading

    return run


def test_the_class_that_things_were_given_comes_before_where_they_stand(told: Told) -> None:
    leading = told('a ex:Vendor ; ex:licence "1"', VENDORS + BY_PLACE)
    assert (leading["kind"], leading["status"]) == ("inference", "supported")
    assert "Vendor" in leading["statement"]


def test_a_domain_comes_before_the_range_of_the_property_itself(told: Told) -> None:
    leading = told('ex:licence "1"', BY_PLACE)
    assert (leading["kind"], leading["status"]) == ("inference", "supported")
    assert "domain of licence" in leading["statement"]


def test_the_range_of_the_property_is_told_where_there_is_nothing_else(told: Told) -> None:
    leading = told('ex:name "one"', BY_PLACE)
    assert (leading["kind"], leading["status"]) == ("inference", "supported")
    assert "range of <https://example.org/from>" in leading["statement"]


def test_of_two_classes_that_do_the_same_none_is_told(told: Told) -> None:
    axioms = VENDORS + "ex:Dealer owl:equivalentClass ex:Supplier ."
    assert told("a ex:Vendor , ex:Dealer", axioms)["status"] != "supported"


def test_of_two_domains_that_do_the_same_none_is_told(told: Told) -> None:
    axioms = "ex:licence rdfs:domain ex:Supplier . ex:number rdfs:domain ex:Supplier ."
    assert told('ex:licence "1" ; ex:number "2"', axioms)["status"] != "supported"


def test_a_literal_that_is_ill_typed_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    date = ox.Literal("1893-07-", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#date"))
    told = ox.Triple(ox.NamedNode("urn:e:a"), ox.NamedNode("urn:e:day"), date)
    assert told in close([told])[0]
    assert not caplog.records


# --- axioms that matter ---------------------------------------------------------------------


def named(kind: str, number: int) -> ox.NamedNode:
    return ox.NamedNode(f"urn:e:{kind}{number}")


CLASSES, PROPERTIES, THINGS = (
    st.builds(named, st.just(kind), st.integers(0, most))
    for kind, most in (("C", 9), ("q", 5), ("x", 5))
)
RESTRICTIONS = st.builds(named, st.just("R"), st.integers(0, 2))
EITHER = CLASSES | RESTRICTIONS
LISTS = st.builds(named, st.just("L"), st.integers(0, 1))
BETWEEN_CLASSES, BETWEEN_PROPERTIES, TO_CLASSES = (
    st.sampled_from(predicates)
    for predicates in (
        (RDFS.subClassOf, OWL.equivalentClass),
        (RDFS.subPropertyOf, OWL.equivalentProperty, OWL.inverseOf),
        (RDFS.domain, RDFS.range),
    )
)
KINDS = st.sampled_from((OWL.SymmetricProperty, OWL.TransitiveProperty))
AXIOMS = st.lists(
    st.one_of(
        st.builds(ox.Triple, EITHER, BETWEEN_CLASSES, EITHER),
        st.builds(ox.Triple, PROPERTIES, BETWEEN_PROPERTIES, PROPERTIES),
        st.builds(ox.Triple, PROPERTIES, TO_CLASSES, EITHER),
        st.builds(ox.Triple, PROPERTIES, st.just(TYPE), KINDS),
        st.builds(ox.Triple, RESTRICTIONS, st.just(OWL.onProperty), PROPERTIES),
        st.builds(
            ox.Triple,
            RESTRICTIONS,
            st.sampled_from((OWL.someValuesFrom, OWL.allValuesFrom)),
            EITHER,
        ),
        st.builds(ox.Triple, RESTRICTIONS, st.just(OWL.hasValue), THINGS),
        st.builds(ox.Triple, THINGS, st.just(OWL.sameAs), THINGS),
        st.builds(ox.Triple, PROPERTIES, st.just(OWL.propertyChainAxiom), LISTS),
        st.builds(ox.Triple, CLASSES, st.sampled_from((OWL.intersectionOf, OWL.unionOf)), LISTS),
    ),
    max_size=12,
)
FACTS = st.lists(
    st.one_of(
        st.builds(ox.Triple, THINGS, st.just(TYPE), EITHER),
        st.builds(ox.Triple, THINGS, PROPERTIES, THINGS),
    ),
    min_size=1,
    max_size=8,
)


MEMBERS = st.lists(CLASSES | PROPERTIES, min_size=2, max_size=2)


def of_things(triples: list[ox.Triple]) -> set[ox.Triple]:
    """Give what is said of the things, apart from what is true of anything."""
    plain = (OWL.Thing, RDFS.Resource)
    return {
        t for t in triples
        if str(t.subject).startswith("<urn:e:x") and t.object not in plain and t.subject != t.object
    }  # fmt: skip


@pytest.mark.slow
@settings(max_examples=30)
@given(AXIOMS, FACTS, MEMBERS)
def test_what_is_left_out_of_an_ontology_would_have_said_nothing(
    axioms: list[ox.Triple], facts: list[ox.Triple], members: list[ox.NamedNode]
) -> None:
    for place, rest in enumerate((named("L", 1), RDF.nil)):
        facts.append(ox.Triple(named("L", place), RDF.first, members[place]))
        facts.append(ox.Triple(named("L", place), RDF.rest, rest))
    store = ox.Store()
    store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in (*axioms, *facts))
    graph = Graph(Store(store, "test"), (), "", 0, 0)
    some = relevant(graph, facts)
    assert some <= set(axioms)
    known = {term for fact in facts for term in (fact.subject, fact.object)}
    whole = {t for t in of_things(close([*facts, *axioms])[0]) if t.subject in known}
    part = {t for t in of_things(close([*facts, *some])[0]) if t.subject in known}
    assert part == whole


def test_a_closure_is_made_once(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vendors and those with a licence are the same things: two hypotheses, one neighbourhood.

    Tests run in a process of their own, which can tell of what it did by a file.
    """
    file = tmp_path / "made.json"
    file.touch()
    inner = closure._close

    def counted(text: str) -> tuple[list[ox.Triple], str]:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(text) + "\n")
        return inner(text)

    monkeypatch.setattr(closure, "_close", counted)
    closure.forget()
    lines = [f"ex:C{n} rdfs:subClassOf ex:C{n + 1} ; rdfs:label 'other' ." for n in range(200)]
    told('a ex:Vendor ; ex:licence "1"', VENDORS + BY_PLACE + "\n".join(lines))
    made = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert made
    assert len(made) == len(set(made))
    assert not any("https://example.org/C7>" in text for text in made)
