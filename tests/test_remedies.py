"""What is told when the data and the shapes disagree: which of the two is to be mended."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit

HEAD = """
@prefix ex: <https://example.org/> . @prefix other: <https://other.example/> .
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PARTS = 240

Asked = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Give what is found of the first symptom of parts with these statements and these shapes."""

    def run(shapes: str, lines: Sequence[str], more: str = "") -> dict[str, Any]:
        parts = "\n".join(f"ex:p{n} a ex:Part . {line}" for n, line in enumerate(lines))
        (tmp_path / "data.ttl").write_text(f"{HEAD}{parts}\n{more}", encoding="utf-8")
        (tmp_path / "shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
        with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
            found: dict[str, Any] = result.as_dict()
            assert not audit(result.record).findings
        return found

    return run


def supported(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Give kind and family of what is supported for the first symptom."""
    told = found["symptoms"][0]["hypotheses"]
    return [(h["kind"], h["statement"]) for h in told if h["status"] == "supported"]


NAMED = (
    "The value of <https://example.org/label>, which the closed shape lists, was written under "
    "<https://other.example/label>."
)


def test_the_name_of_a_listed_property_in_another_namespace_is_no_gap_in_the_shape(
    asked: Asked,
) -> None:
    shape = "ex:S sh:targetClass ex:Part ; sh:closed true ; sh:ignoredProperties ( rdf:type ) ;"
    shape = f"@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . {shape}"
    listed = " sh:property [ sh:path ex:label ] , [ sh:path ex:weight ] ."
    lines = [f'ex:p{n} other:label "{n}" ; ex:weight {n} .' for n in range(PARTS)]
    told = supported(asked(shape + listed, lines))
    assert told == [("mapping", NAMED)]


SHAPES = "ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:label ; sh:minCount 1 ] ."
CODED = [f'ex:p{n} {"ex:code" if n < 60 else "ex:label"} "{n}" .' for n in range(PARTS)]
SLIP = [("mapping", "The value of label may stand under code instead.")]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", SLIP),
        # Another shape of the same nodes is at the same path, and would not take the values.
        ("ex:T sh:targetClass ex:Part ; sh:property [ sh:path ex:label ; sh:minLength 3 ] .", []),
        # It is about other nodes.
        ("ex:T sh:targetNode ex:x ; sh:property [ sh:path ex:label ; sh:minLength 3 ] .", SLIP),
        # The shapes have a code for these nodes.
        ("ex:T sh:targetClass ex:Part ; sh:property [ sh:path ex:code ; sh:maxCount 1 ] .", []),
        # They forbid it.
        ("ex:T sh:targetClass ex:Part ; sh:property [ sh:path ex:code ; sh:maxCount 0 ] .", SLIP),
    ],
)
def test_a_slip_fits_all_shapes_at_the_path_and_has_none_of_its_own(
    asked: Asked, more: str, told: list[tuple[str, str]]
) -> None:
    found = asked(f"{SHAPES} {more}", CODED)
    found["symptoms"] = [
        s for s in found["symptoms"] if s["constraint"].endswith("MinCountConstraintComponent")
    ]
    assert [one for one in supported(found) if one[0] == "mapping"] == told


POINTS = "ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:hasPoint ; sh:minCount 1 ] ."


TURNED = (
    "isPointOf says the other way round what the rule asks for as hasPoint, and nothing that was "
    "loaded makes the two inverses."
)


def test_what_is_said_the_other_way_round_is_told_so(asked: Asked) -> None:
    lines = [f"ex:s{n} ex:isPointOf ex:p{n} ." for n in range(PARTS)]
    told = supported(asked(POINTS, lines))
    assert told == [("artefact", TURNED)]


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ("", ["shape"]),
        ("ex:shapes owl:imports <https://other.example/1.2> .", ["artefact"]),
        # Nothing of it is used.
        ("ex:shapes owl:imports <https://else.example/> .", ["shape"]),
    ],
)
def test_the_rule_waits_for_an_import_whose_terms_are_used(
    asked: Asked, given: str, kinds: list[str]
) -> None:
    lines = [f"ex:s{n} other:serves ex:p{n} ." for n in range(PARTS)]
    assert [kind for kind, _ in supported(asked(POINTS + given, lines))] == kinds


def test_a_datatype_that_nearly_all_have_is_no_fault_of_the_rule(asked: Asked) -> None:
    wanted = "sh:path ex:sent ; sh:datatype xsd:date"
    shape = f"ex:S sh:targetClass ex:Part ; sh:property [ {wanted} ] ."
    times = [f"{n // 60:02}:{n % 60:02}" for n in range(PARTS)]
    lines = [f'ex:p{n} ex:sent "2026-01-05T{t}:00Z"^^xsd:dateTime .' for n, t in enumerate(times)]
    assert [kind for kind, _ in supported(asked(shape, lines))] == ["datatype"]


def test_the_datatype_that_all_have_says_nothing_of_a_bound(asked: Asked) -> None:
    shape = "ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:n ; sh:maxInclusive 9 ] ."
    lines = [f"ex:p{n} ex:n {100 + n} ." for n in range(PARTS)]
    assert [kind for kind, _ in supported(asked(shape, lines))] == ["shape"]


def test_a_count_of_one_kind_forbids_no_others_beside_a_missing_reference(asked: Asked) -> None:
    counted = "sh:qualifiedValueShape [ sh:class ex:Sensor ] ; sh:qualifiedMinCount 1"
    shape = f"ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:has ; {counted} ] ."
    lines = [
        f"ex:p{n} ex:has ex:door{n} , ex:s{n} . ex:door{n} a ex:Door ."
        + ("" if n % 3 == 0 else f" ex:s{n} a ex:Sensor .")
        for n in range(PARTS)
    ]
    assert [kind for kind, _ in supported(asked(shape, lines))] == ["reference"]


MEDIA = "ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:carries ; sh:class ex:Medium ] ."
KINDS = ("Air", "Steam", "Water")


UNTOLD = (
    "What carries points at is typed {0}, and nothing says that {1} of Medium: {2} mend them all."
)


@pytest.mark.parametrize(
    ("typed", "every", "told"),
    [
        (
            KINDS,
            3,
            UNTOLD.format("Air, Steam or Water", "these are kinds", "3 subclass axioms would"),
        ),
        (("Water",), 1, UNTOLD.format("Water", "this is a kind", "one subclass axiom would")),
        # A single other class, where most are typed as they should, is a slip.
        (("Water",), 3, "What carries points at is typed as Water, not as the shape asks."),
    ],
)
def test_the_axioms_that_are_missing_are_named_together(
    asked: Asked, typed: Sequence[str], every: int, told: str
) -> None:
    lines = []
    for n in range(PARTS):
        kind = typed[n // 3 % len(typed)] if n % every == 0 else "Medium"
        lines.append(f"ex:p{n} ex:carries ex:m{n} . ex:m{n} a ex:{kind} .")
    assert [statement for _, statement in supported(asked(MEDIA, lines))] == [told]


@pytest.mark.parametrize(
    ("rule", "other", "kinds"),
    [
        ("sh:maxCount 1", '"part  NUMBER {n}."@en', ["value"]),
        ("sh:uniqueLang true", '"Part Number {n}"@en', ["value"]),
        ("sh:maxCount 1", '"another {n}"@en', []),
    ],
)
def test_one_value_written_in_two_ways_is_told_so(
    asked: Asked, rule: str, other: str, kinds: list[str]
) -> None:
    shape = f"ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:name ; {rule} ] ."
    lines = []
    for n in range(PARTS):
        beside = f" , {other.format(n=n)}" if n % 3 == 0 else ""
        lines.append(f'ex:p{n} ex:name "part number {n}"@en{beside} .')
    told = supported(asked(shape, lines))
    assert [kind for kind, text in told if "written in several ways" in text] == kinds


CLOSED = (
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . ex:S sh:targetClass ex:Part ; "
    "sh:closed true ; sh:ignoredProperties ( rdf:type ) ; "
    "sh:property [ sh:path ex:label ] , [ sh:path ex:weight ] ."
)


def unforeseen(n: int) -> str:
    """Write a part, of which some have a colour, some a remark and some a size."""
    rare = f" ; ex:colour 'red{n}'" if n % 15 == 0 else ""
    rare += f" ; ex:remark '{n}'" if n % 26 == 1 else ""
    rare += f" ; ex:size {n}" if n % 19 == 2 else ""
    return f"ex:p{n} ex:label '{n}' ; ex:weight {n}{rare} ."


def common(n: int) -> str:
    """Write a part, as most parts have properties that the shape forgot."""
    return f"ex:p{n} ex:a {n % 7} ; ex:b 'x{n}'{' ; ex:c 3' if n % 3 else ''} ."


def prefixed(n: int) -> str:
    """Write a part, of which every fourth has another prefix."""
    prefix = "ex" if n % 4 else "other"
    return f"ex:p{n} {prefix}:label '{n}' ; {prefix}:weight {n} ."


RARE = (
    "Properties are used that the closed shape does not list: colour (16 nodes), size (13) and "
    "remark (10)."
)
COMMON = (
    "The closed shape does not list a (240 nodes), b (240) and c (160), properties in common use."
)
ELSEWHERE = (
    "What the closed shape lists under “https://example.org/” was written under "
    "“https://other.example/”: label (60 nodes) and weight (60)."
)


@pytest.mark.parametrize(
    ("line", "told"), [(unforeseen, RARE), (common, COMMON), (prefixed, ELSEWHERE)]
)
def test_what_a_closed_shape_does_not_list_is_one_finding(
    asked: Asked, line: Callable[[int], str], told: str
) -> None:
    found = asked(CLOSED, [line(n) for n in range(PARTS)])
    assert [statement for _, statement in supported(found)] == [told]
    assert [cause["statement"] for cause in found["causes"]] == [told]


STATES = ("Applicable", "NotApplicable", "Unknown")
UNITS = ("Meter", "Gram", "Second")
NEAR = (
    "The rule does not allow NotApplicableC0 as state; it allows NotApplicable, which is nearly "
    "the same."
)
SPACE = (
    "The terms under “https://other.example/” that unit points at are not described in the graph; "
    "those of the same names under “https://example.org/” are."
)
STAND_IN = "A text that says nothing, “n/a”, stands beside a value of code."


@pytest.mark.parametrize(
    ("rule", "line", "more", "told"),
    [
        (
            f"sh:path ex:state ; sh:in ( {' '.join(f'ex:{s}' for s in STATES)} )",
            lambda n: f"ex:state ex:{STATES[n % 3] if n % 7 else 'NotApplicableC0'}",
            "",
            NEAR,
        ),
        (
            "sh:path ex:unit ; sh:class ex:Unit",
            lambda n: f"ex:unit {'ex' if n % 7 else 'other'}:{UNITS[n % 3]}",
            " ".join(f"ex:{unit} a ex:Unit ." for unit in UNITS),
            SPACE,
        ),
        (
            "sh:path ex:code ; sh:maxCount 1",
            lambda n: f"ex:code 'c{n}'" + ("" if n % 6 else ", 'n/a'"),
            "",
            STAND_IN,
        ),
    ],
    ids=["a term that is listed", "a namespace", "a value too many"],
)
def test_what_stands_in_for_a_value_is_told_with_the_value_that_was_meant(
    asked: Asked, rule: str, line: Callable[[int], str], more: str, told: str
) -> None:
    shape = f"ex:S sh:targetClass ex:Part ; sh:property [ {rule} ] ."
    found = asked(shape, [f"ex:p{n} {line(n)} ." for n in range(PARTS)], more)
    assert [statement for _, statement in supported(found)] == [told]


def test_the_box_of_which_all_have_a_value_too_many_is_told_with_the_value(asked: Asked) -> None:
    shape = "ex:S sh:targetClass ex:Part ; sh:property [ sh:path ex:code ; sh:maxCount 1 ] ."
    surplus = ", 'n/a'"
    lines = [
        f"ex:p{n} ex:in ex:box{n % 6} ; ex:code 'c{n}'{'' if n % 6 else surplus} ."
        for n in range(PARTS)
    ]
    found = asked(shape, lines)["symptoms"][0]
    told = [one["finding"] for one in found["hypotheses"] if one.get("finding")]
    assert any("says nothing" in one and "whose in is box0" in one for one in told)
