"""One mechanism over several properties is one cause; and rules about a path of two steps."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.record.together import said_together

HEAD = """
@prefix ex: <https://example.org/> . @prefix other: <https://other.example/> .
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PARTS = 200
PROPERTIES = ("sent", "paid", "due")

Asked = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Give the result for parts with these statements, in one feed or several, and these rules."""

    def run(rules: Sequence[str], *feeds: Sequence[str], target: str = "") -> dict[str, Any]:
        (tmp_path / "data").mkdir()
        for place, lines in enumerate(feeds):
            text = HEAD + "\n".join(lines)
            (tmp_path / "data" / f"feed{place}.ttl").write_text(text, encoding="utf-8")
        asked = " ; ".join(f"sh:property [ {rule} ]" for rule in rules)
        shape = f"{HEAD}ex:S a sh:NodeShape ; {target or 'sh:targetClass ex:Part'} ; {asked} ."
        shapes = tmp_path / "shapes.ttl"
        shapes.write_text(shape, encoding="utf-8")
        with kgreason.investigate(tmp_path / "data", shapes=shapes) as result:
            found: dict[str, Any] = result.as_dict() | {"told": result.markdown()}
            assert not audit(result.record).findings
        return found

    return run


def days(name: str, wrong: Callable[[str, int], bool]) -> list[str]:
    """Write parts of one feed, some of whose days are texts."""
    lines = []
    for n in range(PARTS // 2):
        day = f"2026-0{n % 9 + 1}-1{n % 10}"
        said = [f'ex:{p} "{day}"{"" if wrong(p, n) else "^^xsd:date"}' for p in PROPERTIES]
        lines.append(f"ex:{name}{n} a ex:Part ; {' ; '.join(said)} .")
    return lines


DATES = [f"sh:path ex:{p} ; sh:datatype xsd:date" for p in PROPERTIES]
THREE = "The values of due were written as xsd:string. The same holds of paid and sent."


def test_one_wrong_datatype_under_three_properties_is_one_cause(asked: Asked) -> None:
    feeds = [days(name, lambda _, n: n % 5 == 0) for name in "ab"]
    found = asked(DATES, *feeds)
    (cause,) = found["causes"]
    assert cause["statement"] == THREE
    assert len(cause["symptoms"]) == len(cause["same_mechanism"]) == 3
    assert {part["explains"] for part in cause["same_mechanism"]} == {40}
    assert [s["verdict"] for s in found["symptoms"]] == ["explained"] * 3
    assert found["explanation"]["causes"] == 1
    assert found["told"].count(THREE) == 1


def test_what_comes_from_two_places_is_two_causes(asked: Asked) -> None:
    one = days("a", lambda p, n: p == "sent" and n % 8 > 0)
    other = days("b", lambda p, n: p != "sent" and n % 8 > 0)
    parts = [len(c["same_mechanism"]) for c in asked(DATES, one, other)["causes"]]
    assert sorted(parts) == [0, 2]


def test_one_wrong_namespace_is_told_as_the_namespace(asked: Asked) -> None:
    lines = []
    for n in range(PARTS):
        space = "other" if n % 6 == 0 else "ex"
        said = f"{space}:sent {n} ; {space}:paid 'p{n}' ; {space}:due 'd{n}'@en"
        lines.append(f"ex:p{n} a ex:Part ; {said} .")
    (cause,) = asked([f"sh:path ex:{p} ; sh:minCount 1" for p in PROPERTIES], lines)["causes"]
    assert cause["statement"] == (
        "What stands under “https://example.org/” was written under “https://other.example/”: due, "
        "paid and sent."
    )
    assert len(cause["same_mechanism"]) == 3


def test_what_differs_in_more_than_names_is_counted() -> None:
    told = [(f"The values of {p} are wrong.", p, "x") for p in ("a", "b", "c")]
    assert said_together(told) == "The values of a are wrong. The same holds of b and c."
    told[1] = ("The values are wrong.", "b", "x")
    assert said_together(told[:2]).endswith("The same holds of 1 more property.")


def test_two_slips_that_end_in_one_datatype_are_not_one_cause(asked: Asked) -> None:
    """What asks for a language and what asks for a thing both got a plain text."""
    lines = []
    for n in range(PARTS):
        note, of = (f"'n{n}'", f"'m{n % 3}'") if n % 4 == 0 else (f"'n{n}'@en", f"ex:m{n % 3}")
        lines.append(f"ex:p{n} a ex:Part ; ex:note {note} ; ex:of {of} . ex:m{n % 3} a ex:Kind .")
    tagged = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"
    rules = [f"sh:path ex:note ; sh:datatype {tagged}", "sh:path ex:of ; sh:class ex:Kind"]
    said = [cause["statement"] for cause in asked(rules, lines)["causes"]]
    assert len(said) == 2, said
    assert not any("The same holds of" in one for one in said), said


FAR = "sh:path ( ex:address ex:code )"


UNLOADED = (
    "What address points at under “https://other.example/” is not described in the graph, so that "
    "no code is found there."
)


def far(n: int, bad: str, good: str = "ex:address ex:a{n} . ex:a{n} ex:code 'c{n}'") -> str:
    """Write a part whose address has a code, of every fourth another way."""
    said = (good if n % 4 else bad).format(n=n)
    return f"ex:p{n} a ex:Part ; {said} ."


@pytest.mark.parametrize(
    ("rule", "bad", "told"),
    [
        (
            "sh:minCount 1",
            "ex:code 'c{n}' ; ex:address ex:a{n} . ex:a{n} ex:town 't'",
            "The value of code stands on the node itself, not on what address points at.",
        ),
        (
            "sh:minCount 1",
            "ex:address ex:a{n} . ex:a{n} ex:codeOld 'c{n}'",
            "On what address points at, the value of code was written under codeOld instead.",
        ),
        (
            "sh:minCount 1",
            "ex:addressOld ex:a{n} . ex:a{n} ex:code 'c{n}'",
            "addressOld leads to the value of code, where the rule goes by address.",
        ),
        (
            "sh:minCount 1",
            "ex:address other:a{n}",
            UNLOADED,
        ),
        (
            "sh:datatype xsd:string",
            "ex:address ex:a{n} . ex:a{n} ex:code {n}",
            "The values of code on what address points at were written as xsd:integer.",
        ),
    ],
    ids=["nearer", "another end", "another link", "not described", "datatype"],
)
def test_a_rule_about_two_steps_has_its_own_causes(
    asked: Asked, rule: str, bad: str, told: str
) -> None:
    found = asked([f"{FAR} ; {rule}"], [far(n, bad) for n in range(PARTS)])
    (symptom,) = found["symptoms"]
    supported = [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert supported == [told]


NOTHING = (
    "Of these nodes the graph says nothing but that <https://example.org/list> alone points at "
    "them by member."
)


def test_nodes_of_which_nothing_is_said_are_told_so_first(asked: Asked) -> None:
    lines = [f"ex:list ex:member ex:m{n}x ." for n in range(0, PARTS, 5)]
    lines += [
        f"ex:l{n % 7} ex:member ex:m{n} . ex:m{n} ex:label 'm{n}' ; ex:size {n} ."
        for n in range(PARTS)
    ]
    found = asked(
        ["sh:path ex:label ; sh:minCount 1"], lines, target="sh:targetObjectsOf ex:member"
    )
    (symptom,) = found["symptoms"]
    supported = [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert supported == [NOTHING]


MAYBE = (
    "Nearly all nodes have mainAuthor, which may be a kind of author, and nothing that was loaded "
    "says so."
)
MORE = "{} follows from {}, its subproperty, but was not asserted."


@pytest.mark.parametrize(
    ("axioms", "told"),
    [
        (
            "ex:mainAuthor rdfs:subPropertyOf ex:author . ex:penName rdfs:subPropertyOf ex:author.",
            {MORE.format("author", name) for name in ("mainAuthor", "penName")},
        ),
        (
            "",
            {MAYBE},
        ),
    ],
    ids=["several together", "an axiom that may be missing"],
)
def test_the_rule_waits_for_subproperties(asked: Asked, axioms: str, told: set[str]) -> None:
    """Where no single one is known, one that nearly all have may be meant."""
    axioms = f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {axioms}"
    lines = [
        f"ex:b{n} a ex:Part ; ex:{'penName' if n % 2 and 'penName' in axioms else 'mainAuthor'} "
        f"ex:x{n % 9} ."
        for n in range(PARTS)
    ]
    found = asked(["sh:path ex:author ; sh:minCount 1"], [axioms, *lines])
    (symptom,) = found["symptoms"]
    supported = {h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"}
    assert supported == told


def test_of_few_failing_nodes_a_mechanism_is_looked_for_among_all(asked: Asked) -> None:
    lines = [
        f"ex:p{n} a ex:Part ; ex:{'weigth' if n in {3, 40, 77, 100, 151} else 'weight'} {n} ."
        for n in range(PARTS)
    ]
    found = asked(["sh:path ex:weight ; sh:minCount 1"], lines)
    told = [h for h in found["symptoms"][0]["hypotheses"] if h["status"] == "supported"]
    assert [(h["kind"], h["inside"]["failing"]) for h in told] == [("mapping", 5)]


def test_a_prefix_written_twice_is_one_mechanism(asked: Asked) -> None:
    lines = [f"ex:Fun{name} a ex:Function ." for name in ("Send", "Read", "Order", "Pay")]
    for n in range(PARTS):
        name = ("Send", "Read", "Order")[n % 3] if n % 8 == 0 else "Pay"
        twice = "Fun" if n % 8 == 0 else ""
        lines.append(f"ex:p{n} a ex:Part ; ex:does ex:{twice}Fun{name} .")
    found = asked(["sh:path ex:does ; sh:class ex:Function"], lines)
    told = [h for h in found["symptoms"][0]["hypotheses"] if h["status"] == "supported"]
    wanted = (
        "does points at 3 terms of which the graph says nothing; without the “Fun” at the beginning"
        " of their names they are described: FunFunOrder is FunOrder."
    )
    assert [h["statement"] for h in told] == [wanted]


def test_a_name_that_a_vocabulary_does_not_have_is_told_of_a_query_that_names_it(
    tmp_path: Path,
) -> None:
    rows = [
        f"e:c{n} a {'rdf' if n % 3 else 'rdfs'}:Class ; rdfs:label 'c {n}' ." for n in range(30)
    ]
    prefixes = "@prefix e: <urn:e:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    rdf = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> ."
    (tmp_path / "data.ttl").write_text("\n".join([prefixes, rdf, *rows]), encoding="utf-8")
    asked = (
        "SELECT ?focus (MAX(?wrong) AS ?outcome) {"
        " ?focus <http://www.w3.org/2000/01/rdf-schema#label> ?label ; a ?kind"
        " BIND (?kind IN (<http://www.w3.org/1999/02/22-rdf-syntax-ns#Class>) AS ?wrong)"
        " } GROUP BY ?focus"
    )
    told = kgreason.investigate(tmp_path / "data.ttl", outcome=asked).as_dict()
    leader = told["symptoms"][0]["hypotheses"][0]
    assert (leader["status"], leader["inside"]["failing"]) == ("supported", 20)
    assert "Class is a term of http://www.w3.org/2000/01/rdf-schema#" in leader["statement"]


@pytest.mark.parametrize("beside", [False, True])
def test_a_class_in_place_of_the_one_that_is_asked_for_is_told(
    asked: Asked,
    beside: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    """Where passing parts have another class too, the right one is lacking beside it."""
    lines = [
        f"ex:p{n} ex:weight {n} ; a {'other:Piece' if n % 7 == 0 else 'ex:Part'}"
        f"{' , ex:Thing' if beside and n % 7 else ''} ."
        for n in range(PARTS)
    ]
    lines.append("other:Piece ex:note 'One of a set.' .")
    rule = "sh:path <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ; sh:hasValue ex:Part"
    found = asked([rule], lines, target="sh:targetSubjectsOf ex:weight")
    told = [h["statement"] for h in found["symptoms"][0]["hypotheses"] if h["kind"] == "value"]
    wanted = "In place of what the rule asks for, type is “https://other.example/Piece”."
    assert (wanted in told) is not beside


def test_what_yielded_to_a_mechanism_has_its_turn_once_that_is_found_wanting(asked: Asked) -> None:
    """The key of a scheme is its own, and no key of the roles that stand at its top."""
    lines = ["ex:s0 a ex:Scheme ; ex:key 's0' .", "ex:s1 a ex:Scheme ; ex:note 'without a key' ."]
    lines += [f"ex:r{n} a ex:Part , ex:Role ; ex:topOf ex:s0 ." for n in range(6)]
    lines += [f"ex:p{n} a ex:Part ; ex:topOf ex:s1 ; ex:key 'p{n}' ." for n in range(PARTS)]
    found = asked(["sh:path ex:key ; sh:minCount 1"], lines)
    hypotheses = found["symptoms"][0]["hypotheses"]
    told = {h["statement"]: h["status"] for h in hypotheses}
    assert told["The value of key stands on what topOf points at."] != "supported"
    assert [
        (h["kind"], h["inside"]["failing"]) for h in hypotheses if h["status"] == "supported"
    ] == [("cohort", 6)]


def test_several_things_under_one_iri_are_told(asked: Asked) -> None:
    """One part in five is two: it has the name, the town and the maker of both."""
    lines = []
    for n in range(PARTS):
        for one in range(2 if n % 5 == 0 else 1):
            said = f"ex:name 'part {n} {one}' ; ex:town 'town {(n + 7 * one) % 31}'"
            lines.append(f"ex:p{n} a ex:Part ; {said} ; ex:maker ex:m{(3 * n + 5 * one) % 17} .")
    found = asked(["sh:path ex:name ; sh:maxCount 1"], lines)
    told = [h for h in found["symptoms"][0]["hypotheses"] if h["status"] == "supported"]
    assert [(h["kind"], h["inside"]["failing"]) for h in told] == [("duplicate", PARTS // 5)]
    assert told[0]["statement"] == (
        "Several things, or several versions of one, bear one IRI: nodes that fail have several "
        "values of maker, town, too."
    )
