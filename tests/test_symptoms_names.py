"""What symptoms are called: no two of an investigation alike, in the report, JSON and terminal."""

import json
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.graph import load
from kgreason.shacl import asks, compile_shapes, names, outcome_symptom, read_shapes
from tests.cli_support import run

PREFIXES = """@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
LABS = (
    PREFIXES
    + "".join(f'ex:l{n} a ex:Lab ; ex:code "{n}" .\n' for n in range(40))
    + "".join(f'ex:m{n} a ex:Lab ; ex:city "c" .\n' for n in range(40))
)
BLANK = """ex:LabShape a sh:NodeShape ; sh:targetClass ex:Lab ;
  sh:property [ sh:path ex:code ; sh:minCount 1 ] , [ sh:path ex:city ; sh:minCount 1 ] .
"""


def called(folder: Path, shapes: str) -> list[str]:
    """Name the constraints of some shapes, in the order of their paths and components."""
    (folder / "data.ttl").write_text(LABS, encoding="utf-8")
    (folder / "shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    compiled = compile_shapes(
        read_shapes([folder / "shapes.ttl"]), load([folder / "data.ttl"])
    ).constraints
    found = sorted(compiled, key=lambda c: (c.path.text if c.path else "", c.component.value))
    return names(found)


def of(*properties: str) -> str:
    """Write a shape with property shapes that have no name of their own."""
    return f"ex:LabShape sh:targetClass ex:Lab ; sh:property [ {' ] , [ '.join(properties)} ] ."


CITY, CODE = "sh:path ex:city ; sh:minCount 1", "sh:path ex:code ; sh:minCount 1"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ([CITY, CODE], ["MinCount of city in LabShape", "MinCount of code in LabShape"]),
        (
            [f'{CITY} ; sh:name "city"@en, "Ort"@de', f'{CODE} ; sh:message "A lab has a code."'],
            ["city", "A lab has a code"],
        ),
        (
            [f'{CITY} ; sh:maxCount 1 ; sh:name "city" ; sh:message "One city."'],
            ["city (MaxCount)", "city (MinCount)"],
        ),
        (
            [f'{CITY} ; sh:message "The city “{{?value}}” of {{$this}} is known."', CODE],
            ["The city of is known", "MinCount of code in LabShape"],
        ),
        (
            ["sh:path ex:city ; sh:node ex:CityShape"],
            ["city fits the shape CityShape"],
        ),
        (
            [f'{CITY} ; sh:name "Key"', f'{CODE} ; sh:name "key"'],
            ["Key (city)", "key (code)"],
        ),
        (
            [f'{CITY} ; sh:name "key" ; sh:message "A city."', f'{CODE} ; sh:name "key"'],
            ["key (A city)", "key"],
        ),
        (
            ['sh:path ex:city ; sh:pattern "^a"', 'sh:path ex:city ; sh:pattern "^b"'],
            ["Pattern of city in LabShape", "Pattern of city in LabShape (2)"],
        ),
        (
            [f'{CITY} ; sh:message "{"A city is needed. " * 9}"'],
            ["A city is needed. A city is needed. A city is needed. A city is needed. A city…"],
        ),
        ([f'{CITY} ; sh:message "{"x" * 200}"'], ["x" * 79 + "…"]),
    ],
)
def test_a_name_is_the_first_there_is_and_no_other_symptom_has_it(
    tmp_path: Path, properties: list[str], expected: list[str]
) -> None:
    assert called(tmp_path, of(*properties)) == expected


def test_shapes_of_one_local_name_are_told_apart_by_their_iris(tmp_path: Path) -> None:
    shapes = "".join(
        f"<https://example.org/{part}#Lab> sh:targetClass ex:Lab ; sh:property [ {CITY} ] .\n"
        for part in "ab"
    )
    assert called(tmp_path, shapes) == [
        f"MinCount of city in Lab (<https://example.org/{part}#Lab>)" for part in "ab"
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str, str, Path]:
    folder = tmp_path_factory.mktemp("labs")
    (folder / "data.ttl").write_text(LABS, encoding="utf-8")
    (folder / "shapes.ttl").write_text(PREFIXES + BLANK, encoding="utf-8")
    shapes = folder / "shapes.ttl"
    with kgreason.investigate(folder / "data.ttl", shapes=shapes) as result:
        assert audit(result.record).ok
        return result.as_dict(), result.markdown(), result.html(), folder


def test_rules_without_a_name_of_their_own_are_told_apart(
    found: tuple[dict[str, Any], str, str, Path],
) -> None:
    told, text, page, folder = found
    wanted = ["MinCount of city in LabShape", "MinCount of code in LabShape"]
    assert sorted(s["name"] for s in told["symptoms"]) == wanted
    for name in wanted:
        assert f"\n## {name} — " in text
        assert f"| {name} |" in text
        assert page.count(name) >= 2
    options = ("symptoms", folder / "data.ttl", "--shapes", folder / "shapes.ttl")
    listed = json.loads(run(*options, "--format", "json").out)
    assert sorted(s["name"] for s in listed) == wanted
    table = run(*options).out
    assert [table.count(name) for name in wanted] == [1, 1]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("NOT EXISTS { ?focus ex:code ?code }", "no code"),
        ("NOT EXISTS { ?box ex:from ?focus }", "nothing points at it by from"),
        (
            'EXISTS { ?focus ex:code ?code FILTER (?code = "1") }',
            "the outcome that was asked about",
        ),
    ],
)
def test_an_outcome_is_called_by_what_its_query_says_is_lacking(
    asked: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "data.ttl").write_text(LABS, encoding="utf-8")
    query = (
        "PREFIX ex: <https://example.org/> "
        f"SELECT ?focus ?outcome WHERE {{ ?focus a ex:Lab BIND ({asked} AS ?outcome) }}"
    )
    assert names([outcome_symptom(query, load([tmp_path / "data.ttl"]))]) == [name]


@pytest.mark.parametrize(
    ("link", "asked", "name"),
    [
        ("?focus ex:code ?v", "?n < 1", "no code"),
        ("?focus ex:code ?v", "?n < 2", "fewer than 2 values of code"),
        ("?focus ex:code ?v", "?n > 1", "more than 1 code"),
        ("?focus ex:code ?v", "?n >= 3", "more than 2 values of code"),
        ("?v ex:from ?focus", "?n <= 2", "fewer than 3 things pointing at it by from"),
        ("?v ex:from ?focus", "?n > 1", "more than 1 thing pointing at it by from"),
    ],
)
def test_an_outcome_is_called_by_how_many_values_it_asks_for(
    link: str, asked: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "data.ttl").write_text(LABS, encoding="utf-8")
    rows = f"?focus a ex:Lab OPTIONAL {{ {link} }}"
    counted = f"{{ SELECT ?focus (COUNT(?v) AS ?n) {{ {rows} }} GROUP BY ?focus }}"
    query = (
        "PREFIX ex: <https://example.org/> "
        f"SELECT ?focus ?outcome WHERE {{ {counted} BIND ({asked} AS ?outcome) }}"
    )
    assert names([outcome_symptom(query, load([tmp_path / "data.ttl"]))]) == [name]


def test_what_a_rule_asks_for_is_named_by_its_values(tmp_path: Path) -> None:
    shapes = of("sh:path ex:maker ; sh:class ex:Firm", CODE, "sh:path ex:city ; sh:in ( 1 2 )")
    (tmp_path / "data.ttl").write_text(LABS, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    rules = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), load([tmp_path / "data.ttl"]))
    told = {one.path.text[-6:-1]: asks(one) for one in rules.constraints if one.path}
    assert told == {"maker": "Firm", "/code": "1", "/city": None}


def test_rules_that_the_very_same_nodes_break_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(LABS, encoding="utf-8")
    rules = of(CODE, "sh:path ex:city ; sh:maxCount 0", CITY)
    (tmp_path / "shapes.ttl").write_text(PREFIXES + rules, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        told = [x for x in result.markdown().splitlines() if "the very same that break" in x]
        assert audit(result.record).ok
    assert len(told) == 1
    assert "MinCount of code" in told[0]
    assert "MaxCount of city" in told[0]
    assert "MinCount of city" not in told[0]
