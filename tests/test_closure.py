"""Of several axioms that would mend the same failures: which one is told, and when none is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgreason

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
    """Give what leads where every third of 240 parts is from a thing that is said to be so."""

    def run(thing: str, axioms: str) -> dict[str, Any]:
        lines = []
        for n in range(240):
            kind = thing if n % 3 == 0 else "a ex:Supplier"
            lines.append(f"ex:p{n} a ex:Part ; ex:from ex:s{n} . ex:s{n} {kind} .")
        for name, text in (("data", "\n".join(lines)), ("shapes", SHAPES), ("axioms", axioms)):
            (tmp_path / f"{name}.ttl").write_text(HEAD + text, encoding="utf-8")
        data, shapes, ontology = (tmp_path / f"{n}.ttl" for n in ("data", "shapes", "axioms"))
        with kgreason.investigate(data, shapes=shapes, ontology=ontology) as result:
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
