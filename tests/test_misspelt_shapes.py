"""A property that SHACL does not have is named, where it is nearly one that it has."""

from pathlib import Path

import kgreason

HEAD = """
@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""


def test_a_misspelt_constraint_is_named(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(HEAD + "ex:a a ex:Part ; ex:code 1 .", encoding="utf-8")
    shape = (
        "ex:S a sh:NodeShape ; sh:targetClass ex:Part ; "
        "sh:property [ sh:path ex:code ; sh:minCount 1 ; sh:maxCoutn 1 ; sh:memberShape ex:T ; "
        "sh:ownWord 3 ] . ex:T a sh:NodeShape ."
    )
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        told = [notice for notice in result.as_dict()["notices"] if "SHACL has no" in notice]
    assert told == ["SHACL has no sh:maxCoutn, so it is passed over; is sh:maxCount meant?"]
