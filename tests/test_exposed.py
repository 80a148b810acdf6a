"""Nodes that could not fail, since they have no value, dilute no rate and hide no cause."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.audit.rerun import recheck
from kgreason.graph.load import load

HEAD = """
@prefix e: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ASKED = """PREFIX e: <https://example.org/>
SELECT ?focus ?outcome WHERE {{ ?focus a e:Person . BIND (EXISTS {{ {} }} AS ?outcome) }}"""


def investigated(folder: Path, statements: dict[str, list[str]], **asked: Any) -> dict[str, Any]:
    """Return the only symptom of data in several files; `asked` is a rule, or an outcome query."""
    (folder / "data").mkdir()
    for name, lines in statements.items():
        text = HEAD + "\n".join(lines)
        (folder / "data" / f"{name}.ttl").write_text(text, encoding="utf-8")
    if "rule" in asked:
        rule = f"sh:property [ sh:path e:p ; {asked['rule']} ]"
        shape = f"e:S a sh:NodeShape ; sh:targetClass e:Person ; {rule} ."
        (folder / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
        given: dict[str, Any] = {"shapes": folder / "shapes.ttl"}
    else:
        given = {"outcome": ASKED.format(asked["outcome"])}
    with kgreason.investigate(folder / "data", **given) as result:
        assert not audit(result.record).findings
        assert recheck(result.record, load([folder / "data"])) == []
        (symptom,) = result.as_dict()["symptoms"]
    return dict(symptom)


def supported(symptom: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in symptom["hypotheses"] if one["status"] == "supported"]


def persons(value: Any, *, having: int) -> dict[str, list[str]]:
    """Return 200 persons in two files, of which every `having`-th has what `value` gives."""
    out: dict[str, list[str]] = {"north": [], "south": []}
    for n in range(200):
        source = "north" if n // 5 % 2 else "south"
        said = f" ; {value(n, source)}" if n % having == 0 else ""
        out[source].append(f"e:n{n} a e:Person ; e:dept e:d{n % 7}{said} .")
    return out


def alike(n: int, source: str) -> str:
    return f"e:p 'v{n}' ; e:q '{'v' if source == 'north' else 'w'}{n}'"


@pytest.mark.parametrize(
    "asked",
    [
        {"rule": "sh:disjoint e:q"},
        {"outcome": "?focus e:p ?v ; e:q ?w . FILTER (?v = ?w)"},
    ],
)
def test_a_source_in_which_each_of_few_values_is_wrong_explains_them(
    asked: dict[str, str], tmp_path: Path
) -> None:
    symptom = investigated(tmp_path, persons(alike, having=5), **asked)
    assert symptom["failing"] == 20
    (found,) = supported(symptom)
    assert "north.ttl" in found["statement"]
    assert found["inside"] == {"failing": 20, "population": 20}


def test_what_all_that_have_a_value_share_is_no_sign(tmp_path: Path) -> None:
    data = persons(lambda n, _: f"e:p 'v{n}' ; e:q 'w{n}'", having=2)
    symptom = investigated(tmp_path, data, outcome="?focus e:p ?v ; e:q ?w . FILTER (?v != ?w)")
    assert not any("has a digit" in one["statement"] for one in supported(symptom))


def test_all_that_have_a_value_have_the_outcome(tmp_path: Path) -> None:
    data = persons(lambda n, _: f"e:p {n + 150}", having=2)
    symptom = investigated(tmp_path, data, outcome="?focus e:p ?v . FILTER (?v > 100)")
    (found,) = supported(symptom)
    assert (
        found["statement"]
        == "Nearly all nodes that have p have the outcome, in nearly every source."
    )


def test_a_source_is_told_beside_a_mechanism_that_a_sign_renames(tmp_path: Path) -> None:
    def value(n: int, source: str) -> str:
        return f"e:p 'about {n}'" if source == "north" else f"e:p {n}"

    data = persons(value, having=1)
    symptom = investigated(tmp_path, data, rule="sh:datatype xsd:integer")
    told = [one["statement"] for one in supported(symptom)]
    assert "The values of p were written as xsd:string." in told
    assert "Nodes described in the source north.ttl fail." in told


def test_dates_and_texts_cannot_be_compared(tmp_path: Path) -> None:
    def days(n: int, source: str) -> str:
        begin = f"'2024-01-{n % 28 + 1:02}'" + ("" if source == "north" else "^^xsd:date")
        return f"e:p {begin} ; e:q '2025-01-01'^^xsd:date"

    symptom = investigated(tmp_path, persons(days, having=3), rule="sh:lessThan e:q")
    first = supported(symptom)[0]
    assert first["statement"] == (
        "The values of p were written as xsd:string, those of q as xsd:date: "
        "the two cannot be compared."
    )
    assert first["inside"]["failing"] == first["inside"]["population"] == symptom["failing"]


def test_two_ways_of_writing_are_two_causes(tmp_path: Path) -> None:
    def number(n: int, _: str) -> str:
        return f"e:p '{'X' if n % 9 == 0 else 'N'}{n * 37}{'b' if n % 11 == 5 else ''}'"

    symptom = investigated(tmp_path, persons(number, having=1), rule='sh:pattern "^N[0-9]+$"')
    told = [one["statement"] for one in supported(symptom)]
    assert any("is written like “X" in one for one in told)
    assert any("“N" in one and "b”" in one for one in told)


def test_few_that_fail_are_counted_among_those_that_could(tmp_path: Path) -> None:
    def alone(n: int, _: str) -> str:
        return f"e:p 'v{n}' ; e:q '{'v' if n % 50 == 0 else 'w'}{n}' ; e:kind e:k{n % 50 == 0:d}"

    symptom = investigated(tmp_path, persons(alone, having=5), rule="sh:disjoint e:q")
    assert symptom["failing"] == 4
    told = [one for one in symptom["hypotheses"] if one["inside"]["population"]]
    assert told
    for one in told:
        assert one["inside"]["population"] + one["outside"]["population"] == 40
