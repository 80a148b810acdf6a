"""A repair that calls a thing of one class a thing of another one says so."""

from pathlib import Path

import pytest

import kgreason

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SHAPE = """
e:S a sh:NodeShape ; sh:targetClass e:Cup ; sh:property [ sh:path e:made ; sh:class e:Town ] .
"""


@pytest.mark.parametrize("axiom", ["", "e:Town rdfs:subClassOf e:Region ."])
def test_another_class_of_a_thing_is_a_caution(tmp_path: Path, axiom: str) -> None:
    places = [f"e:t{n} a e:Town . e:r{n} a e:Region ." for n in range(10)]
    cups = [f"e:c{n} a e:Cup ; e:made e:{'r' if n < 20 else 't'}{n % 10} ." for n in range(60)]
    (tmp_path / "data.ttl").write_text(HEAD + axiom + "\n".join(places + cups), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(HEAD + SHAPE, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        mended = result.as_dict()["causes"][0]["repair"]
    assert mended["repair"] == "type-reference"
    if axiom:
        assert mended["caution"] is None
    else:
        assert "become a Town are a Region already" in mended["caution"]
