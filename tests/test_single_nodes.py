"""One or two failing nodes: what their values show is told, and nothing else is."""

from collections.abc import Callable

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
CLOSSED = (
    "The rule does not allow “clossed” as state; it allows “closed”, which is nearly the same."
)
Says = Callable[[int, bool], str]


def told(says: Says, rule: str, failing: int) -> list[str]:
    """Give the statements that are supported of parts of which so many fail."""
    parts = [f"ex:p{n} a ex:Part ; {says(n, n < failing)} ." for n in range(PARTS)]
    data = HEAD + "\n".join([*parts, *THINGS, DOCUMENT])
    shapes = f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:property [ {rule} ] ."
    with kgreason.investigate(data, shapes=shapes) as result:
        (symptom,) = result.as_dict()["symptoms"]
        assert symptom["failing"] == failing
        assert not audit(result.record).findings
    return [h["statement"] for h in symptom["hypotheses"] if h["status"] == "supported"]


def date(n: int, wrong: bool) -> str:  # noqa: FBT001 - one of the two columns of a table
    return "ex:made '3 May'" if wrong else f"ex:made '2024-05-{n % 28 + 1:02}'^^xsd:date"


def state(_n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:state '{'clossed' if wrong else 'closed'}'"


def weight(n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:{'weigth' if wrong else 'weight'} {n}"


def colour(n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:{'colour' if wrong else 'weight'} {n}"


def dangling(n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:of ex:{'x99' if wrong else f't{n % 20}'}"


def retyped(n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:of ex:{'d1' if wrong else f't{n % 20}'}"


def heavy(n: int, wrong: bool) -> str:  # noqa: FBT001
    return f"ex:weight {9_999_999 if wrong else n}"


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize(
    ("says", "rule", "wanted"),
    [
        (
            date,
            "sh:path ex:made ; sh:datatype xsd:date",
            "The values of made were written as xsd:string.",
        ),
        (
            state,
            "sh:path ex:state ; sh:in ( 'open' 'closed' )",
            CLOSSED,
        ),
        (
            weight,
            "sh:path ex:weight ; sh:minCount 1",
            "The value of weight was written under weigth instead.",
        ),
        (
            dangling,
            "sh:path ex:of ; sh:class ex:Thing",
            "What of points at under “https://example.org/” is not described in the graph.",
        ),
        (
            retyped,
            "sh:path ex:of ; sh:class ex:Thing",
            "What of points at is typed as Document, not as the shape asks.",
        ),
    ],
)
def test_what_a_value_shows_is_told_of_one_node(
    says: Says, rule: str, wanted: str, failing: int
) -> None:
    assert told(says, rule, failing) == [wanted]


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize(
    ("says", "rule"),
    [
        (colour, "sh:path ex:weight ; sh:minCount 1"),
        (heavy, "sh:path ex:weight ; sh:maxInclusive 100"),
    ],
)
def test_what_goes_along_with_one_node_by_chance_is_not_told(
    says: Says, rule: str, failing: int
) -> None:
    assert told(says, rule, failing) == []


def test_the_summary_speaks_of_one_node() -> None:
    parts = [f"ex:p{n} a ex:Part ; {weight(n, n == 4)} ." for n in range(PARTS)]
    rule = "sh:property [ sh:path ex:weight ; sh:minCount 1 ]"
    shapes = f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; {rule} ."
    with kgreason.investigate(HEAD + "\n".join(parts), shapes=shapes) as result:
        told = " ".join(result.summary().split())
    assert "1 of 60 parts fails" in told
    assert "written under weigth instead. Of the one part 100 % fail and none of the other" in told
    assert "This accounts for it." in told
