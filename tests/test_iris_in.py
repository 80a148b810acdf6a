"""Which IRIs a query names: not what only looks like one in a text, a comment or a comparison."""

from pathlib import Path

import pytest

import kgreason
from kgreason.base.terms import iris_in


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "?a <http://x.org/#p> ?b . ?b <urn:q:r> ?c . ?d <http://x.org/#p> ?e",
            ["http://x.org/#p", "urn:q:r"],
        ),
        ("FILTER (REGEX(?v, \"<a:b>\")) FILTER (?v != '<c:d>') ?s <urn:p:q> ?o", ["urn:p:q"]),
        ("# it's <urn:no:no>\n?s <urn:p:q> ?o", ["urn:p:q"]),
        ("FILTER (?a <?b && ?c> ?d)", []),
        ('FILTER (REGEX(?v, """say "<a:b>" twice"""))', []),
        ("FILTER (?v < 3 && ?w > 4) ?s <relative> ?o", []),
    ],
)
def test_the_iris_that_a_query_names(text: str, named: list[str]) -> None:
    assert iris_in(text) == named


def test_a_pattern_with_angle_brackets_is_no_iri(tmp_path: Path) -> None:
    head = "@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"
    rows = [f'ex:n{n} a ex:Note ; ex:text "{"<b>" if n % 4 else ""}note {n}" .' for n in range(40)]
    rule = '[ sh:path ex:text ; sh:pattern "^(?:[^<:]|<:>)+$" ]'
    shape = f"ex:S a sh:NodeShape ; sh:targetClass ex:Note ; sh:property {rule} ."
    (tmp_path / "data.ttl").write_text(head + "\n".join(rows), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(head + shape, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        assert result.as_dict()["symptoms"][0]["failing"] == 30
