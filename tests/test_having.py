"""A query of a shape that filters groups by a name that SELECT gives only afterwards."""

from pathlib import Path

import pytest

from kgreason.graph import load
from kgreason.observe.look import look
from kgreason.observe.request import Request

HEAD = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
SHAPE = """ex:Twice a sh:NodeShape ; sh:targetClass ex:Term ; sh:sparql [
  sh:select "SELECT $this (COUNT(?label) AS ?count) WHERE {{ $this ex:label ?label }} {tail}" ;
  sh:prefixes [ sh:declare [ sh:prefix "ex" ; sh:namespace "https://example.org/" ] ] ] ."""
TOLD = (
    "<https://example.org/Twice>: its query names ?count in HAVING, which has no value there yet, "
    "so that no group may pass and nobody fail; write the expression itself there."
)


@pytest.mark.parametrize(
    ("tail", "failing", "told"),
    [
        ("GROUP BY $this HAVING (?count > 1)", 0, [TOLD]),
        ("GROUP BY $this HAVING (COUNT(?label) > 1)", 1, []),
        ("GROUP BY $this HAVING (COUNT(?label) > 1) ORDER BY ?count", 1, []),
    ],
)
def test_a_name_without_a_value_yet_is_told(
    tail: str, failing: int, told: list[str], tmp_path: Path
) -> None:
    data, shapes = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
    terms = 'ex:a a ex:Term ; ex:label "a", "A" . ex:b a ex:Term ; ex:label "b" .'
    data.write_text(HEAD + terms, encoding="utf-8")
    shapes.write_text(HEAD + SHAPE.format(tail=tail), encoding="utf-8")
    seen = look(load([data]), Request(data=(str(data),), shapes=(str(shapes),)))
    assert [one for one in seen.notices if "HAVING" in one] == told
    assert sum(len(symptom.failing) for symptom in seen.symptoms) == failing
