"""Expressions that look ahead at their beginning match as Python's, which looks ahead itself."""

import re
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreason.graph import load
from kgreason.shacl import compile_shapes, read_shapes
from kgreason.shacl.look_ahead import in_parts

EXPRESSIONS = [
    "^(?!a)",
    "^(?!a|b).*c$",
    "^(?=.*a)(?=.*b)c?",
    "^(?!ab)(?!ba)[^]a]+$",
    r"^(?!\(a\))[(]?a",
    "^(?![)a])(b|c)",
    "^(?!(a|b)c)[]a]",
]
AS_THEY_STAND = ["(?!a)b", "^(?!a)b|c", "^(?!a)?b", "a(?!b)", "^(?!a", "^(?<=a)b", "^(?:a)b"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(text=st.text("abc()]|\n", max_size=6))
def test_parts_match_what_the_whole_matches(expression: str, text: str) -> None:
    told = in_parts(expression, "")
    assert told.wanted != (expression,)
    matched = all(re.search(one, text) for one in told.wanted)
    matched = matched and not any(re.search(one, text) for one in told.barred)
    assert matched == bool(re.search(expression, text))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_store_knows_the_parts(expression: str) -> None:
    told = in_parts(expression, "")
    for one in (*told.wanted, *told.barred):
        assert ox.Store().query(
            f"ASK {{ BIND (REGEX('', {ox.Literal(one)}) AS ?x) FILTER BOUND(?x) }}"
        )


@pytest.mark.parametrize(
    ("expression", "flags"), [*((one, "") for one in AS_THEY_STAND), ("^(?!a)b", "m")]
)
def test_what_cannot_be_taken_apart_stays_as_it_stands(expression: str, flags: str) -> None:
    assert in_parts(expression, flags) == ((expression,), ())


def test_a_shape_that_looks_ahead_is_asked_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "shapes.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <urn:ex:> .\n"
        'ex:S sh:targetSubjectsOf ex:p ; sh:property [ sh:path ex:p ; sh:pattern "^(?!A)b"'
        ' ; sh:flags "i" ] .'
    )
    data = tmp_path / "data.ttl"
    data.write_text('<urn:a> <urn:ex:p> "a" . <urn:b> <urn:ex:p> "B" . <urn:c> <urn:ex:p> "c" .')
    compiled = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), load([data]))
    assert not compiled.fallback
    assert "b" in compiled.constraints[0].violation.text
