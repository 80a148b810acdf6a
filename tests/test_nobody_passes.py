"""Rules that nobody keeps who could break them: what is told where nothing right is there."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
MISFIT = "Nearly all nodes that have p fail, in nearly every source: the rule does not fit"


def leader(folder: Path, rule: str, values: list[str]) -> Any:
    """Return what is told first of 60 nodes, of which every fifth has no value."""
    things = [f"e:o{n} a e:Firm ; e:label 'Firm {n}' . e:g{n} a e:Org ." for n in range(5)]
    nodes = [
        f"e:n{n} a e:Person" + (f" ; e:p {values[n % len(values)]} ." if n % 5 else " .")
        for n in range(60)
    ]
    (folder / "data.ttl").write_text(HEAD + "\n".join(things + nodes), encoding="utf-8")
    shape = f"e:S a sh:NodeShape ; sh:targetClass e:Person ; sh:property [ sh:path e:p ; {rule} ] ."
    (folder / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    with kgreason.investigate(folder / "data.ttl", shapes=folder / "shapes.ttl") as result:
        assert not audit(result.record).findings
        told = result.as_dict()["symptoms"][0]["hypotheses"]
    return next((one for one in told if one["status"] == "supported"), None)


@pytest.mark.parametrize(
    ("rule", "values", "told"),
    [
        ('sh:pattern "^[A-Z]{3}$"', ["'abc'", "'bcd'", "'xyz'", "'cde'"], MISFIT),
        ("sh:maxInclusive 100", [str(n) for n in range(150, 210)], MISFIT),
        ("sh:maxCount 1", ["'a' , 'b'", "'c' , 'd'", "'e' , 'f'"], MISFIT),
        (
            'sh:pattern "^https://orcid.org/"',
            [f"<http://orcid.org/{n}>" for n in range(100, 160)],
            "The wrong values of p are web addresses that begin with “http://orcid.org/”.",
        ),
        (
            'sh:in ( "open" "closed" "on hold" )',
            ["'Open'", "'Closed'", "'On-hold'"],
            "The values of p were written with other capitals, blanks or hyphens than the rule",
        ),
        (
            "sh:node [ sh:property [ sh:path e:name ; sh:minCount 1 ] ]",
            [f"e:o{n}" for n in range(5)],
            "What p points at breaks rules of its own: “MinCount of name in S” (48).",
        ),
        (
            'sh:languageIn ( "en" )',
            ["'one'", "'two'", "'three'"],
            "The values of p were written as texts without a language.",
        ),
        (
            "sh:class e:Org",
            [f"e:o{n}" for n in range(5)],
            "What p points at is typed as Firm, not as the shape asks.",
        ),
    ],
)
def test_what_is_told_where_nobody_has_a_right_value(
    rule: str, values: list[str], told: str, tmp_path: Path
) -> None:
    found = leader(tmp_path, rule, values)
    assert found is not None
    assert found["statement"].startswith(told)
    assert found["inside"] == {"failing": 48, "population": 48}


def test_an_undescribed_value_is_no_reason_where_one_value_is_asked_for(tmp_path: Path) -> None:
    found = leader(tmp_path, "sh:hasValue e:yes", ["e:no"])
    assert "not described" not in found["statement"]


@pytest.mark.parametrize(
    ("family", "values", "told"),
    [
        ("shape-everywhere", {}, "Nearly all nodes fail, in nearly every source"),
        (
            "value-site",
            {"dimension": "<https://example.org/p>", "level": '"http://o.example/"'},
            "The wrong values of p are web addresses that begin with “http://o.example/”",
        ),
    ],
)
def test_a_family_that_is_suggested_has_a_sentence_without_gaps(
    family: str, values: dict[str, str], told: str, tmp_path: Path
) -> None:
    """A suggestion gives the terms of a family, and not the words that its query would bind."""
    nodes = [f"e:n{n} a e:Person ; e:p <http://o.example/{n}> ." for n in range(60)]
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(nodes), encoding="utf-8")
    rule = 'sh:pattern "^https:"'
    shape = f"e:S a sh:NodeShape ; sh:targetClass e:Person ; sh:property [ sh:path e:p ; {rule} ] ."
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    given = [{"family": family, "values": values}]
    with kgreason.investigate(
        tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl", hypotheses=given
    ) as result:
        said = result.markdown()
    assert told in said
    assert not any(f"{{{gap}}}" in said for gap in ("who", "told", "how", "written"))


def test_web_addresses_in_texts_are_told_by_how_they_begin(tmp_path: Path) -> None:
    values = [f"'https://{'beta.' if n % 3 == 0 else ''}music.example/{n}'" for n in range(60)]
    found = leader(tmp_path, 'sh:not [ sh:pattern "//beta[.]" ]', values)
    assert "begins with “https://beta.music.example/”" in found["statement"]


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("e:n{n} e:at e:place{n} .", "The value of lat stands on what at points at."),
        ("e:place{n} e:of e:n{n} .", "The value of lat stands on what points at the node by of."),
    ],
)
def test_what_all_have_one_step_away_is_told(link: str, told: str, tmp_path: Path) -> None:
    rows = []
    for n in range(60):
        rows.append(f"e:n{n} a e:Station ; e:power {n % 7} . {link.format(n=n)}")
        rows.append(f"e:place{n} e:lat {n}.5 .")
    (tmp_path / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    rule = "sh:property [ sh:path e:lat ; sh:minCount 1 ]"
    shape = f"e:S a sh:NodeShape ; sh:targetClass e:Station ; {rule} ."
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        assert not audit(result.record).findings
        (cause,) = result.as_dict()["causes"]
    assert cause["statement"] == told
