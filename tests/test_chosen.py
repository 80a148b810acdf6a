"""By which of several properties a population is chosen, and what that tells of a slip."""

from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.templates import Fragment
from kgreason.graph import load
from kgreason.shacl import (
    chosen_by,
    compile_shapes,
    of_predicate,
    outcome_symptom,
    read_shapes,
    readings,
)

_P, _Q = "urn:e:definition", "urn:e:remark"
_ROWS = [
    *(f'<urn:n:r{n}> <{_Q}> "What vessel {n} is for, and who saw it" .' for n in range(9)),
    *(f'<urn:n:d{n}> <{_P}> "Vessel {n}" .' for n in range(12)),
    *(f'<urn:n:d{n}> <{_Q}> "Not to be opened while the hose {n} is off" .' for n in range(4)),
]  # fmt: skip
_SHAPE = f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:s> a sh:NodeShape ; sh:targetSubjectsOf <{_P}>, <{_Q}> ;
  sh:property [ sh:path <{_P}> ; sh:minCount 1 ] ."""
_BOTH = {_P, _Q}


def _data(folder: Path) -> Path:
    (folder / "data.ttl").write_text("\n".join(_ROWS), encoding="utf-8")
    return folder / "data.ttl"


@pytest.mark.parametrize(
    ("body", "properties"),
    [
        (f"?focus <{_P}>|<{_Q}> ?text", _BOTH),
        (f"{{ ?focus <{_P}> ?a }} UNION {{ ?focus <{_Q}> ?b }}", _BOTH),
        (f"?focus ?by ?text FILTER (?by IN (<{_P}>, <{_Q}>) && isLiteral(?text))", _BOTH),
        (f"?focus <{_P}> ?text", set()),
        (f"?focus <{_P}> ?text OPTIONAL {{ ?focus <{_Q}> ?b }}", set()),
        ("?focus ?by ?text", set()),
    ],
)
def test_properties_of_which_one_is_needed_are_those_of_a_choice(
    body: str, properties: set[str], tmp_path: Path
) -> None:
    lacks = f"BIND (NOT EXISTS {{ ?focus <{_P}> ?any }} AS ?outcome)"
    query = f"SELECT DISTINCT ?focus ?outcome WHERE {{ {body} {lacks} }}"
    made = outcome_symptom(query, load([_data(tmp_path)]))
    assert {one.value for one in chosen_by(made)} == properties


def test_targets_of_a_shape_are_a_choice_of_properties(tmp_path: Path) -> None:
    (tmp_path / "shapes.ttl").write_text(_SHAPE, encoding="utf-8")
    graph = load([_data(tmp_path)])
    made = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), graph).constraints[0]
    assert {one.value for one in chosen_by(made)} == _BOTH


def test_a_property_that_the_shape_names_holds_what_is_lacking(tmp_path: Path) -> None:
    (tmp_path / "shapes.ttl").write_text(_SHAPE, encoding="utf-8")
    result = kgreason.investigate(_data(tmp_path), shapes=tmp_path / "shapes.ttl")
    (cause,) = result.causes
    assert "was written under" in cause.statement
    assert _Q in cause.statement or "remark" in cause.statement


def test_a_term_that_has_to_be_there_is_asked_of_another_property() -> None:
    asked = f"BIND (NOT EXISTS {{ ?focus <{_P}> <urn:right> }} AS ?outcome)"
    query = f"SELECT ?focus ?outcome {{ ?focus <{_Q}> ?v {asked} }}"
    (found,) = readings(query)

    text = found.satisfied(of_predicate(ox.NamedNode(_Q)), Fragment("")).text
    assert f"?focus <{_Q}> <urn:right>" in text
