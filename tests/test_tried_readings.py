"""What a query asks that is not understood, found by trial; and what is told of it."""

from collections.abc import Mapping
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.store import Term
from kgreason.graph import Graph, load
from kgreason.shacl import Reading
from kgreason.shacl.outcome import outcome_symptom
from kgreason.shacl.prebinding import expanded
from kgreason.shacl.tried_readings import tried_readings

HEAD = "@prefix ex: <https://example.org/v#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
ASKS = "PREFIX ex: <https://example.org/v#> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
EX = "https://example.org/v#"
NODES = 60
BAD = frozenset(range(0, NODES, 3))


def graph_of(folder: Path, lines: list[str]) -> Graph:
    file = folder / "data.ttl"
    file.write_text(HEAD + "\n".join(lines))
    return load([file])


def german() -> list[str]:
    return [
        f'ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:label "Term {n}"@{"de" if n in BAD else "en"} .'
        for n in range(NODES)
    ]


def pointing() -> list[str]:
    aims = (f"<bdq:p{n % 4}>" if n in BAD else f"ex:p{n % 4}" for n in range(NODES))
    return [f"ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:aim {aim} ." for n, aim in enumerate(aims)]


def outdated() -> list[str]:
    return [
        "ex:Old owl:deprecated true . ex:New ex:rank 1 .",
        *(
            f"ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:kind ex:{'Old' if n in BAD else 'New'} ."
            for n in range(NODES)
        ),
    ]


def lacking() -> list[str]:
    return [
        f"ex:n{n} a ex:Term ; ex:rank {n % 7}{'' if n in BAD else ' ; ex:label 1'} ."
        for n in range(NODES)
    ]


SUMMED = """SELECT ?focus (SUM(IF(LANGMATCHES(LANG(?name), "de"), 1, 0)) > 0 AS ?outcome) WHERE {
  VALUES ?naming { ex:label ex:title } ?focus a ex:Term ; ?naming ?name } GROUP BY ?focus"""
FREE = """SELECT ?focus ?outcome WHERE { ?focus a ex:Term BIND (EXISTS {
  ?focus ?any ?x FILTER (isIRI(?x) && !STRSTARTS(STR(?x), "http")) } AS ?outcome) }"""
BEHIND = """SELECT ?focus ?outcome WHERE { ?focus a ex:Term
  BIND (EXISTS { ?focus ex:kind ?x . ?x owl:deprecated true } AS ?outcome) }"""
LENGTHS = """SELECT ?focus (COALESCE(SUM(STRLEN(STR(?x))), 0) * 2 - 1 < 0 AS ?outcome) WHERE {
  ?focus a ex:Term OPTIONAL { ?focus ex:label ?x } } GROUP BY ?focus"""


def asked(folder: Path, lines: list[str], query: str) -> tuple[Reading, ...]:
    graph = graph_of(folder, lines)
    before = set(graph.store.inner)
    outcomes = truths(graph, query)
    found = tried_readings(expanded(ASKS + query), graph, outcomes, 60, "test")
    assert set(graph.store.inner) == before
    return found


def truths(graph: Graph, query: str) -> Mapping[Term, bool]:
    rows = graph.store.select(ASKS + query)
    return {row["focus"]: row["outcome"].value == "true" for row in rows}


@pytest.mark.parametrize(
    ("lines", "query", "predicate", "values"),
    [
        (german(), SUMMED, "label", {f'"Term {n}"@de' for n in BAD}),
        (pointing(), FREE, "aim", {f"<bdq:p{n}>" for n in range(4)}),
        (outdated(), BEHIND, "kind", {f"<{EX}Old>"}),
    ],
    ids=["aggregate", "free property", "what lies behind"],
)
def test_the_property_that_decides_is_found_with_its_values(
    tmp_path: Path, lines: list[str], query: str, predicate: str, values: set[str]
) -> None:
    (found,) = asked(tmp_path, lines, query)
    assert found.predicate == ox.NamedNode(EX + predicate)
    assert not found.lacking
    assert found.offending is not None
    listed = found.offending.text.partition("{ ")[2].partition(" }")[0]
    assert all(value in listed for value in values)
    assert listed.count("@de") + listed.count("<") == len(values)


def test_a_lack_is_found_too(tmp_path: Path) -> None:
    (found,) = asked(tmp_path, lacking(), LENGTHS)
    assert (found.predicate, found.lacking) == (ox.NamedNode(EX + "label"), True)


def test_a_lack_is_found_where_nodes_without_a_value_are_not_looked_at(tmp_path: Path) -> None:
    """Of the two properties one is right; who has neither is nobody that the query gives."""
    lines = [f"ex:n{n} a ex:Term ; ex:{'title' if n in BAD else 'label'} 1 ." for n in range(NODES)]
    query = """SELECT ?focus (MIN(?length - 1) * 2 > 1 AS ?outcome) WHERE {
      VALUES (?by ?length) { (ex:label 1) (ex:title 2) } ?focus ?by ?x } GROUP BY ?focus"""
    found = asked(tmp_path, lines, query)
    assert [(one.predicate, one.lacking) for one in found] == [(ox.NamedNode(EX + "label"), True)]


def test_an_outcome_that_no_single_property_decides_is_left_alone(tmp_path: Path) -> None:
    chance = """SELECT ?focus ?outcome WHERE { ?focus a ex:Term
      BIND (STRENDS(STR(?focus), "3") AS ?outcome) }"""
    assert asked(tmp_path, german(), chance) == ()


def test_a_value_that_the_query_names_is_its_rule_and_no_finding(tmp_path: Path) -> None:
    named = """SELECT ?focus ?outcome WHERE { ?focus a ex:Term ; ex:kind ?kind
      BIND (?kind = ex:Old AS ?outcome) }"""
    assert asked(tmp_path, outdated(), named) == ()


def test_a_yes_or_a_number_is_what_an_outcome_is_made_of(tmp_path: Path) -> None:
    lines = [f"ex:n{n} a ex:Term ; ex:late {str(n in BAD).lower()} ." for n in range(NODES)]
    query = "SELECT ?focus ?outcome WHERE { ?focus a ex:Term ; ex:late ?outcome }"
    assert asked(tmp_path, lines, query) == ()


@pytest.mark.parametrize("bad", [BAD, frozenset(n for n in range(NODES) if n % 6)])
def test_a_reading_gets_the_values_at_fault_by_trial(tmp_path: Path, bad: frozenset[int]) -> None:
    """One text is made of all names; where few nodes pass, each is given several values in turn."""
    lines = [
        f'ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:label "Term {n}{"." if n in bad else ""}" .'
        for n in range(NODES)
    ]
    query = """SELECT ?focus (REGEX(GROUP_CONCAT(?x; separator="|"), "[.]([|]|$)") AS ?outcome) {
      ?focus a ex:Term ; ex:label ?x } GROUP BY ?focus"""
    found = outcome_symptom(ASKS + query, graph_of(tmp_path, lines)).readings
    (offending,) = (one.offending for one in found)
    assert offending is not None
    assert offending.text.count('."') == len(bad)


def test_with_few_nodes_nothing_is_tried(tmp_path: Path) -> None:
    assert asked(tmp_path, german()[:10], SUMMED) == ()  # four of ten are in German


def test_where_a_query_is_understood_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> tuple[Reading, ...]:
        raise AssertionError("it was tried")

    monkeypatch.setattr("kgreason.shacl.tried_readings.tried_readings", never)
    plain = """SELECT ?focus ?outcome WHERE { ?focus a ex:Term
      BIND (EXISTS { ?focus ex:label ?x FILTER (LANG(?x) = "de") } AS ?outcome) }"""
    graph = graph_of(tmp_path, german())
    assert outcome_symptom(ASKS + plain, graph).readings
    with pytest.raises(AssertionError, match="it was tried"):
        outcome_symptom(ASKS + FREE, graph)


@pytest.mark.parametrize(
    ("lines", "query", "told"),
    [
        (german(), SUMMED, "The values of label were written as texts with the language “de”."),
        (outdated(), BEHIND, f"Many nodes have one and the same wrong value of kind: “{EX}Old”."),
    ],
    ids=["language", "term"],
)
def test_what_a_trial_found_is_told_as_of_any_rule(lines: list[str], query: str, told: str) -> None:
    result = kgreason.investigate(HEAD + "\n".join(lines), outcome=ASKS + query)
    assert result.causes[0].statement == told
    assert audit(result.record).ok


def dated() -> list[str]:
    texts = (
        f'"{n % 28 + 1:02}.03.20{n:02}"' if n in BAD else f'"20{n:02}-03-{n % 28 + 1:02}"^^xsd:date'
        for n in range(NODES)
    )
    return [
        f"ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:day {text} ." for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "bound",
    [
        "?focus ex:day ?x BIND (COALESCE(YEAR(?x) > 0, false) = false AS ?outcome)",
        "OPTIONAL { ?focus ex:day ?x FILTER (YEAR(?x) > 0) } BIND (!BOUND(?x) AS ?outcome)",
        'BIND (NOT EXISTS { ?focus ex:day ?x FILTER (SUBSTR(STR(?x), 5, 1) = "-") } AS ?outcome)',
    ],
    ids=["an error is the outcome", "an error in an OPTIONAL", "a test of a text"],
)
def test_a_reading_that_the_data_do_not_bear_out_yields_to_trials(bound: str) -> None:
    query = f"SELECT ?focus ?outcome WHERE {{ ?focus a ex:Term . {bound} }}"
    head = HEAD + "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    result = kgreason.investigate(head + "\n".join(dated()), outcome=ASKS + query)
    assert result.causes[0].statement == "The values of day were written as xsd:string."
    assert len(result.causes) == 1


def test_texts_without_a_language_are_told_where_a_query_asks_for_one() -> None:
    """Nodes that get what a failing node says fail in its form: that restates nothing."""
    lines = [
        f'ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:label "Term {n}"{"" if n in BAD else "@en"} .'
        for n in range(NODES)
    ]
    query = """SELECT ?focus (SUM(STRLEN(LANG(?x))) = 0 AS ?outcome) WHERE {
      ?focus a ex:Term ; ex:label ?x } GROUP BY ?focus"""
    result = kgreason.investigate(HEAD + "\n".join(lines), outcome=ASKS + query)
    told = "The values of label were written as texts without a language."
    assert result.causes[0].statement == told


def test_several_wrong_values_in_one_form_are_one_cause() -> None:
    kinds = {n: f'"ex:{"Event" if n % 2 else "Action"}"' for n in BAD}
    lines = [
        f"ex:n{n} a ex:Term ; ex:rank {n % 7} ; ex:kind {kinds.get(n, 'ex:Thing')} ."
        for n in range(NODES)
    ]
    shapes = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <https://example.org/v#> .
      ex:s a sh:NodeShape ; sh:targetClass ex:Term ;
        sh:property [ sh:path ex:kind ; sh:nodeKind sh:IRI ] ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes)
    (cause,) = result.causes
    assert cause.statement == (
        "The values of kind that begin with “ex:” are short names that nothing expanded, such as "
        "“ex:Action”."
    )
