"""Rules that judge each value alone: a right value beside a wrong one excuses nothing."""

from pathlib import Path
from typing import Any, Final

import pytest

import kgreason

HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
RULES: Final = {
    "language": ('sh:languageIn ( "en" )', '"name {n}"@en', '"name {n}"', "texts without"),
    "datatype": ("sh:datatype xsd:integer", "{n}", '"{n}"', "xsd:string"),
    "rewritten": ("sh:datatype xsd:int", '"{n}"^^xsd:int', '"0{n}"^^xsd:long', "xsd:long"),
    "kind": ("sh:nodeKind sh:IRI", "e:thing{n}", '"thing{n}"', "xsd:string"),
    "literal": ("sh:nodeKind sh:Literal", '"name {n}"', "e:name{n}", "IRIs"),
    "class": ("sh:class e:Thing", "e:thing{n}", '"thing{n}"', "xsd:string"),
    "bound": ("sh:minInclusive 0", "{n}", '"{n}"', "xsd:string"),
}
"""What is asked for, a value that is right, one that is wrong, and what form that has."""


def asked(folder: Path, rule: str, beside: str, *, far: bool = False) -> dict[str, Any]:
    """Investigate 120 nodes with a right value each, of which 40 have others beside it.

    With `far` it is what they point at that has the values.
    """
    rows = [f"e:thing{n} a e:Thing ." for n in range(120)]
    wanted, right, *_ = RULES[rule]
    for n in range(120):
        values = [right.format(n=n)]
        if n % 3 == 0:
            values.append(beside.format(n=n))
        rows.append(f"e:s{n} a e:Sample ; e:at e:b{n} .")
        rows.append(f"e:{'b' if far else 's'}{n} e:value {', '.join(values)} .")
    path = "(e:at e:value)" if far else "e:value"
    data, shapes = folder / "data.ttl", folder / "shapes.ttl"
    data.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    shapes.write_text(
        f"{HEAD}e:Shape a sh:NodeShape ; sh:targetClass e:Sample ; "
        f"sh:property [ sh:path {path} ; {wanted} ] .\n",
        encoding="utf-8",
    )
    with kgreason.investigate(data, shapes=shapes) as result:
        symptom: dict[str, Any]
        (symptom,) = result.as_dict()["symptoms"]
    assert (symptom["population"], symptom["failing"]) == (120, 40)
    return symptom


@pytest.mark.parametrize("rule", RULES)
def test_the_form_of_the_wrong_values_is_the_cause(rule: str, tmp_path: Path) -> None:
    *_, wrong, form = RULES[rule]
    symptom = asked(tmp_path, rule, wrong)
    assert symptom["verdict"] == "explained"
    leader = symptom["hypotheses"][0]
    assert (leader["kind"], leader["status"]) == ("datatype", "supported")
    assert form in leader["statement"]
    assert leader["inside"] == {"failing": 40, "population": 40}


@pytest.mark.parametrize("rule", sorted(RULES.keys() - {"bound", "rewritten"}))
def test_so_it_is_at_the_end_of_a_path_of_two_steps(rule: str, tmp_path: Path) -> None:
    *_, wrong, form = RULES[rule]
    symptom = asked(tmp_path, rule, wrong, far=True)
    leader = symptom["hypotheses"][0]
    assert (leader["kind"], leader["status"]) == ("datatype", "supported")
    assert form in leader["statement"]
    assert "what at points at" in leader["statement"]


def test_of_two_wrong_forms_at_the_same_nodes_one_is_told(tmp_path: Path) -> None:
    symptom = asked(tmp_path, "language", '"name {n}", "nom {n}"@fr')
    assert symptom["verdict"] == "explained"
    leader = symptom["hypotheses"][0]
    assert (leader["kind"], leader["status"]) == ("datatype", "supported")


def test_a_right_form_that_only_failing_nodes_have_is_no_cause(tmp_path: Path) -> None:
    """British labels are right; that the nodes with a plain one have one too is by the way."""
    symptom = asked(tmp_path, "language", '"name {n}", "colour {n}"@en-GB')
    supported = [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert supported == ["The values of value were written as texts without a language."]
