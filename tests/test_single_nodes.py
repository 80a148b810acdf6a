"""One or two failing nodes: what their values show is told, and nothing else is."""

import pytest

import kgreason
from kgreason.audit import audit

HEAD = """
@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
THINGS = [f'ex:t{n} a ex:Thing ; rdfs:label "thing {n}" .' for n in range(20)]
DOCUMENT = 'ex:d1 a ex:Document ; rdfs:label "document" .'
PARTS = 60
MISSPELT = (
    "The rule does not allow “clossed” as state; it allows “closed”, which is nearly the same."
)
MERGED = (
    "Several things, or several versions of one, bear one IRI: nodes that fail have several values "
    "of name, size, too."
)


def shapes_of(rule: str) -> str:
    return f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:property [ {rule} ] ."


def parts(right: str, wrong: str, failing: int) -> str:
    """Write parts of which the first ones have the wrong statement."""
    said = ((wrong if n < failing else right).format(n=n, thing=f"t{n % 20}") for n in range(PARTS))
    lines = [f"ex:p{n} a ex:Part ; {each} ." for n, each in enumerate(said)]
    return HEAD + "\n".join([*lines, *THINGS, DOCUMENT])


def told(right: str, wrong: str, rule: str, failing: int) -> list[str]:
    """Give the statements that are supported of parts of which so many fail."""
    with kgreason.investigate(parts(right, wrong, failing), shapes=shapes_of(rule)) as result:
        (symptom,) = result.as_dict()["symptoms"]
        assert symptom["failing"] == failing
        assert not audit(result.record).findings
    return [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize(
    ("right", "wrong", "rule", "wanted"),
    [
        (
            "ex:made '2024-05-03'^^xsd:date",
            "ex:made '3 May'",
            "sh:path ex:made ; sh:datatype xsd:date",
            "The values of made were written as xsd:string.",
        ),
        (
            "ex:state 'closed'",
            "ex:state 'clossed'",
            "sh:path ex:state ; sh:in ( 'open' 'closed' )",
            MISSPELT,
        ),
        (
            "ex:weight {n}",
            "ex:weigth {n}",
            "sh:path ex:weight ; sh:minCount 1",
            "The value of weight was written under weigth instead.",
        ),
        (
            "ex:of ex:{thing}",
            "ex:of ex:x99",
            "sh:path ex:of ; sh:class ex:Thing",
            "What of points at under “https://example.org/” is not described in the graph.",
        ),
        (
            "ex:of ex:{thing}",
            "ex:of ex:d1",
            "sh:path ex:of ; sh:class ex:Thing",
            "What of points at is typed as Document, not as the shape asks.",
        ),
        (
            "ex:code {n}",
            "ex:code {n} , 'missing'",
            "sh:path ex:code ; sh:maxCount 1",
            "The wrong values of code have a form in common: “a word for not known”.",
        ),
        (
            "ex:code {n} ; ex:name 'p{n}' ; ex:size {n}",
            "ex:code {n} , 99 ; ex:name 'p{n}' , 'q{n}' ; ex:size {n} , 77",
            "sh:path ex:code ; sh:maxCount 1",
            MERGED,
        ),
    ],
)
def test_what_a_value_shows_is_told_of_one_node(
    right: str, wrong: str, rule: str, wanted: str, failing: int
) -> None:
    assert told(right, wrong, rule, failing) == [wanted]


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ("ex:colour {n}", "sh:path ex:weight ; sh:minCount 1"),
        ("ex:weight 9999999", "sh:path ex:weight ; sh:maxInclusive 100"),
    ],
)
def test_what_goes_along_with_one_node_by_chance_is_not_told(
    wrong: str, rule: str, failing: int
) -> None:
    assert told("ex:weight {n}", wrong, rule, failing) == []


@pytest.mark.parametrize("failing", [1, 2])
def test_a_misspelt_class_of_the_node_itself_is_told(failing: int) -> None:
    data = parts("a ex:Gadget", "a ex:Gadgt", failing)
    rule = f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:class ex:Gadget ."
    with kgreason.investigate(data, shapes=rule) as result:
        (symptom,) = result.as_dict()["symptoms"]
    (told,) = [h for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert told["kind"] == "value"
    assert "allow Gadgt as type; it allows Gadget" in told["statement"]


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize(
    ("wrong", "wanted"),
    [
        (
            "ex:weigth {n}",
            "The value of weight, which the closed shape lists, was written under weigth.",
        ),
        (
            "ex:weight {n} ; ex:colour {n}",
            "colour is used, and the closed shape does not list it.",
        ),
    ],
)
def test_a_property_that_a_closed_shape_does_not_list_is_told(
    wrong: str, wanted: str, failing: int
) -> None:
    data = parts("ex:weight {n}", wrong, failing)
    rule = (
        f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:closed true ; "
        "sh:ignoredProperties ( <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ) ; "
        "sh:property [ sh:path ex:weight ] ."
    )
    with kgreason.investigate(data, shapes=rule) as result:
        (symptom,) = result.as_dict()["symptoms"]
    (told,) = [h for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert told["statement"] == wanted


@pytest.mark.parametrize("failing", [1, 2])
def test_a_node_of_which_nothing_is_said_is_told(failing: int) -> None:
    data = parts("ex:of ex:{thing}", "ex:of ex:x{n}", failing)
    rule = (
        f"{HEAD} ex:S a sh:NodeShape ; sh:targetObjectsOf ex:of ; "
        "sh:property [ sh:path rdfs:label ; sh:minCount 1 ] ."
    )
    with kgreason.investigate(data, shapes=rule) as result:
        (symptom,) = result.as_dict()["symptoms"]
    (told,) = [h for h in symptom["hypotheses"] if h["status"] == "supported"]
    assert told["statement"].startswith("Of these nodes the graph says nothing but that")


def test_the_summary_names_one_node_of_which_nothing_is_told() -> None:
    data = parts("ex:weight {n}", "ex:weight 9999999", 1)
    rule = shapes_of("sh:path ex:weight ; sh:maxInclusive 100")
    with kgreason.investigate(data, shapes=rule) as result:
        told = " ".join(result.summary().split())
    assert "Look at the one of the parts that fails (<https://example.org/p0>)" in told


def test_of_a_property_that_is_forbidden_no_value_is_one_too_many() -> None:
    # Labels in two languages are no reason to fail, where none is allowed.
    labels = "rdfs:label 'part {n}'@en , 'Teil {n}'@de"
    with kgreason.investigate(
        parts("ex:weight {n}", labels, 20), shapes=shapes_of("sh:path rdfs:label ; sh:maxCount 0")
    ) as result:
        (symptom,) = result.as_dict()["symptoms"]
    assert not [h for h in symptom["hypotheses"] if "languages" in h["statement"]]


def test_the_summary_speaks_of_one_node() -> None:
    data = parts("ex:weight {n}", "ex:weigth {n}", 1)
    with kgreason.investigate(
        data, shapes=shapes_of("sh:path ex:weight ; sh:minCount 1")
    ) as result:
        told = " ".join(result.summary().split())
    assert "1 of 60 parts fails" in told
    assert "written under weigth instead. Of the one part 100 % fail and none of the other" in told
    assert "This accounts for it." in told
