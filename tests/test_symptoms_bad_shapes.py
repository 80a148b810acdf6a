"""Shapes that mean nothing: named in a notice and passed over; errors name the file and line."""

from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.errors import QueryError, ShapesError, TimeoutExceeded
from kgreason.base.terms import SH
from kgreason.graph import Graph, load
from kgreason.shacl import (
    Compiled,
    compile_shapes,
    observe,
    observe_fallback,
    outcome_symptom,
    read_report,
    read_shapes,
)

PREFIXES = """PREFIX ex: <http://example.org/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
DATA = "ex:a a ex:T ; ex:p 1, 2 ; ex:q ex:b . ex:b a ex:T ; ex:q ex:a ."
GOOD = " [ sh:path ex:r ; sh:minCount 1 ]"


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    (tmp_path / "data.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    return load([tmp_path / "data.ttl"])


def compiled(folder: Path, graph: Graph, text: str) -> Compiled:
    (folder / "shapes.ttl").write_text(PREFIXES + text, encoding="utf-8")
    return compile_shapes(read_shapes([folder / "shapes.ttl"]), graph)


BAD = {
    '[ sh:path ex:p ; sh:minCount "x" ]': "sh:minCount is",
    '[ sh:path ex:p ; sh:minCount "1"^^xsd:int ]': "no whole number",
    "[ sh:path ex:p ; sh:maxCount -1 ]": "sh:maxCount is",
    "[ sh:path ex:p ; sh:maxCount 1, 2 ]": "given 2 times",
    '[ sh:path ex:p ; sh:datatype "integer" ]': "is no IRI",
    "[ sh:path ex:p ; sh:datatype <xsd:integer> ]": "prefixed name in angle brackets",
    "[ sh:path ex:p ; sh:class [ ] ]": "is no IRI",
    "[ sh:path ex:p ; sh:nodeKind ex:Iri ]": "no node kind",
    "[ sh:path ex:p ; sh:in ex:list ]": "no well-formed list",
    "[ sh:path ex:p ; sh:in ( [ ] ) ]": "blank node",
    "[ sh:path ex:p ; sh:or ( ) ]": "no list of shapes",
    '[ sh:path ex:p ; sh:or ( "x" ) ]': "not a shape",
    '[ sh:path ex:p ; sh:node "x" ]': "not a shape",
    '[ sh:path ex:p ; sh:uniqueLang "yes" ]': "neither true nor false",
    "[ sh:path ex:p ; sh:pattern ex:x ]": "no plain string",
    '[ sh:path ex:p ; sh:pattern "a" ; sh:flags "y" ]': "flags that SPARQL does not have",
    "[ sh:path ex:p ; sh:minInclusive ex:x ]": "is no literal",
    "[ sh:path ex:p ; sh:languageIn ( 5 ) ]": "no plain string",
    "[ sh:path ex:p ; sh:qualifiedMinCount 1 ]": "without sh:qualifiedValueShape",
    "[ sh:path ex:p ; sh:hasValue [ ] ]": "blank node",
    "[ sh:path ex:p ; sh:equals ( ex:q ) ]": "is no IRI",
    "[ sh:path ex:p ; sh:sparql [ ] ]": "no sh:select",
    '[ sh:path ex:p ; sh:sparql [ sh:select "SELECT $this WHERE {" ] ]': "do not match",
    '[ sh:path ex:p ; sh:sparql [ sh:select "SELECT $this WHERE { $this ! }" ] ]': "does not parse",
    '[ sh:path ex:p ; sh:sparql [ sh:select "ASK { $this ?p ?o }" ] ]': "no SELECT",
    '[ sh:path ex:p ; sh:sparql [ sh:select "SELECT $this { $this nope:x ?o }" ] ]': "nope:",
    '[ sh:path ex:p ; sh:sparql [ sh:select "SELECT $this { SERVICE <x:y> { $this ?p ?o } }" ] ]': (
        "SERVICE"
    ),
    '[ sh:path "p" ; sh:minCount 1 ]': "the literal",
    "[ sh:path ( ex:p ) ; sh:minCount 1 ]": "fewer than two steps",
    "[ sh:path [ sh:inversePath ex:p ; sh:zeroOrMorePath ex:q ] ; sh:minCount 1 ]": (
        "no valid property path"
    ),
    "[ sh:path [ ex:p ex:q ] ; sh:minCount 1 ]": "no valid property path",
    "[ sh:path ex:p, ex:q ; sh:minCount 1 ]": "2 sh:path",
    "[ a sh:PropertyShape ; sh:minCount 1 ]": "no sh:path",
    "[ sh:minCount 1 ]": "no property shape",
    "[ sh:path <skos:inScheme> ; sh:minCount 1 ]": "prefixed name in angle brackets",
    "[ sh:path <http://example.org/a{b}> ; sh:minCount 1 ]": "no valid IRI",
}


@pytest.mark.parametrize("bad", BAD)
def test_what_means_nothing_is_named_and_passed_over(
    bad: str, tmp_path: Path, graph: Graph
) -> None:
    found = compiled(
        tmp_path, graph, f"ex:S a sh:NodeShape ; sh:targetClass ex:T ; sh:property {bad}, {GOOD} ."
    )
    notices = [n for n in found.notices if BAD[bad] in n]
    assert len(notices) == 1
    assert "<http://example.org/S>" in notices[0]
    assert notices[0].endswith("passed over.")
    assert [c.path.text for c in found.constraints if c.path] == ["<http://example.org/r>"]
    assert found.fallback == ()
    assert observe(graph, found.constraints[0]).population == 2


@pytest.mark.parametrize("bad", list(BAD)[:3])
def test_the_same_inside_another_shape(bad: str, tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        "ex:S a sh:NodeShape ; sh:targetClass ex:T ; sh:node ex:N ."
        f"ex:N sh:property {bad}, {GOOD} .",
    )
    assert any(BAD[bad] in notice for notice in found.notices)
    assert len(observe(graph, found.constraints[0]).failing) == 2


def test_nothing_left_is_an_error(tmp_path: Path, graph: Graph) -> None:
    with pytest.raises(ShapesError, match=r"shapes\.ttl: no shape can be used.*sh:minCount"):
        compiled(
            tmp_path,
            graph,
            'ex:S sh:targetClass ex:T ; sh:property [ sh:path ex:p ; sh:minCount "x" ] .',
        )


@pytest.mark.parametrize(
    ("target", "notice"),
    [
        ("sh:targetNode [ ]", "sh:targetNode is a blank node"),
        ('sh:targetClass "T"', "is no IRI"),
        ("sh:targetSubjectsOf <skos:inScheme>", "prefixed name"),
        ("sh:target [ ]", "sh:target has no sh:select"),
        ('sh:target [ sh:select "SELECT ?x { ?x ?p ?o }" ]', "does not give ?this"),
    ],
)
def test_bad_targets(target: str, notice: str, tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        f"ex:S sh:property{GOOD} ; {target} . ex:Z sh:targetClass ex:T ; sh:property{GOOD} .",
    )
    assert any(notice in n for n in found.notices)
    assert len(found.constraints) == 1


def test_shapes_without_targets_and_targets_without_nodes(tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        f"ex:S a sh:NodeShape ; sh:property{GOOD} ."
        f"ex:E a sh:NodeShape ; sh:targetClass ex:Nothing ; sh:property{GOOD} .",
    )
    assert found.constraints == ()
    assert any("ex" in n and "no target" in n for n in found.notices)
    assert any("Constraints without a node to look at: 1" in n for n in found.notices)


def test_deactivated_shapes_are_silent(tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        f"ex:S sh:targetClass ex:T ; sh:deactivated true ; sh:property{GOOD} ."
        "ex:Z sh:targetClass ex:T ; sh:property ex:Off ."
        "ex:Off sh:path ex:p ; sh:deactivated true ; sh:minCount 1 .",
    )
    assert (found.constraints, found.fallback, found.notices) == ((), (), [])


def test_recursion_goes_to_pyshacl(tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        "ex:S a sh:NodeShape ; sh:targetClass ex:T ; sh:property [ sh:path ex:q ; sh:node ex:S ],"
        " [ sh:path ex:p ; sh:maxCount 1 ] .",
    )
    assert [f.reason for f in found.fallback] == ["its shapes refer to one another in a circle"]
    assert any("so pySHACL checks it" in n for n in found.notices)
    assert len(found.constraints) == 1
    ((constraint, outcome),) = observe_fallback(graph, found)
    assert not isinstance(outcome, Exception)
    assert outcome.population == 2
    assert {f.value for f in outcome.failing if isinstance(f, ox.NamedNode)} == {
        "http://example.org/a",
        "http://example.org/b",
    }
    assert constraint.key == found.fallback[0].key
    assert len(graph.store.select(constraint.failing_query)) == 2


def test_pyshacl_is_not_refused_for_what_another_constraint_lacks(
    tmp_path: Path, graph: Graph
) -> None:
    both = '[ sh:path ex:q ; sh:minCount "one" ], [ sh:path ex:p ; sh:pattern "[" ]'
    found = compiled(tmp_path, graph, f"ex:S sh:targetClass ex:T ; sh:property {both} .")
    ((constraint, error),) = observe_fallback(graph, found)
    assert constraint.component == SH.PatternConstraintComponent
    assert "unterminated character set" in str(error)
    assert "MinCount" not in str(error)


def test_a_circle_of_property_shapes(tmp_path: Path, graph: Graph) -> None:
    found = compiled(
        tmp_path,
        graph,
        f"ex:P sh:targetClass ex:T ; sh:path ex:q ; sh:property ex:P ; sh:property{GOOD} .",
    )
    assert any("leads back to the shape" in n for n in found.notices)
    assert len(found.constraints) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ttl", "ex:S a sh:NodeShape .", r"a\.ttl: .*line 1"),
        ("a.ttl", PREFIXES + "ex:a ex:p 1 .", "no SHACL"),
        ("a.ttl", "", "no SHACL"),
        ("a.xyz", "", "the ending"),
    ],
)
def test_files_that_cannot_be_used(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ShapesError, match=message):
        read_shapes([tmp_path / name])


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ShapesError, match="cannot be read"):
        read_shapes([tmp_path / "none.ttl"])


def test_text_that_tries_to_break_out(tmp_path: Path, graph: Graph) -> None:
    evil = '\\" } DROP ALL #'
    found = compiled(
        tmp_path,
        graph,
        f'ex:S sh:targetClass ex:T ; sh:property [ sh:path ex:p ; sh:in ( "{evil}" ) ;'
        f' sh:pattern "{evil}" ; sh:hasValue "{evil}" ] .',
    )
    for constraint in found.constraints:
        assert observe(graph, constraint).population == 2
    assert len(found.constraints) == 3


def test_keys_are_the_same_at_every_reading(tmp_path: Path, graph: Graph) -> None:
    text = (
        "ex:S sh:targetClass ex:T ; sh:property [ sh:path ( ex:p ex:q ) ; sh:or ( [ sh:datatype"
        " xsd:int ] [ sh:nodeKind sh:IRI ] ) ; sh:minCount 1 ; sh:in ( 1 2 ) ] ."
    )
    first = compiled(tmp_path, graph, text)
    again = compiled(tmp_path, graph, "ex:Other sh:targetClass ex:None .\n" + text)
    assert {c.key for c in first.constraints} == {c.key for c in again.constraints}
    assert len({c.key for c in first.constraints}) == 3


def test_severity_and_only(tmp_path: Path, graph: Graph) -> None:
    (tmp_path / "s.ttl").write_text(
        PREFIXES + "ex:S sh:targetClass ex:T ; sh:property [ sh:path ex:p ; sh:minCount 1 ;"
        f" sh:severity sh:Warning ], {GOOD} .",
        encoding="utf-8",
    )
    shapes = read_shapes([tmp_path / "s.ttl"])
    warned = compile_shapes(shapes, graph, severity=SH.Warning).constraints
    assert [c.severity for c in warned] == [SH.Warning]
    for only in ("http://example.org/r", "<http://example.org/r>"):
        found = compile_shapes(shapes, graph, only=only).constraints
        assert [c.path.text for c in found if c.path] == ["<http://example.org/r>"]
    assert len(compile_shapes(shapes, graph, only="http://example.org/S").constraints) == 2
    with pytest.raises(ShapesError, match="No constraint belongs to"):
        compile_shapes(shapes, graph, only="http://example.org/nope")


def test_a_query_of_the_author_has_a_time_limit(tmp_path: Path, graph: Graph) -> None:
    joins = " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(9))
    found = compiled(
        tmp_path,
        graph,
        "ex:S sh:targetClass ex:T ; sh:sparql [ sh:select "
        f'"SELECT $this (COUNT(*) AS ?n) {{ $this ?p ?o . {joins} }} GROUP BY $this" ] .',
    )
    with pytest.raises(TimeoutExceeded, match=r"SPARQL in <http://example\.org/S>"):
        observe(graph, found.constraints[0], seconds=0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT ?focus WHERE { ?focus ?p ?o }", r"\?outcome is missing"),
        ("SELECT ?x WHERE { ?x ?p ?o }", r"\?focus and \?outcome are missing"),
        ("SELECT ?focus ?outcome WHERE { ?focus <x:none> ?outcome }", "no rows"),
        ("SELECT ?focus ?outcome WHERE {\n  ?focus ?p ?outcome }}", "does not parse.*2"),
        ("SELECT ?focus ?outcome WHERE { ?focus ?p ?outcome }", "true or false for all"),
        ("", "empty"),
        ("ASK { ?s ?p ?o }", "SELECT"),
        ("DELETE WHERE { ?s ?p ?o }", "Updates are not allowed"),
        ("SELECT * WHERE { SERVICE <http://e.org/> { ?focus ?p ?outcome } }", "SERVICE is off"),
    ],
)
def test_outcome_queries_that_cannot_be_used(text: str, message: str, graph: Graph) -> None:
    with pytest.raises(QueryError, match=message):
        outcome_symptom(text, graph)


def test_reports(tmp_path: Path, graph: Graph) -> None:
    (tmp_path / "r.ttl").write_text(
        PREFIXES + "[] a sh:ValidationReport ; sh:result [ sh:focusNode ex:a ; sh:resultPath ex:p ;"
        " sh:value 1 ; sh:sourceShape ex:S ; sh:sourceConstraintComponent"
        " sh:MaxCountConstraintComponent ], [ sh:focusNode [] ; sh:sourceConstraintComponent"
        " sh:MaxCountConstraintComponent ] .",
        encoding="utf-8",
    )
    alone = read_report(tmp_path / "r.ttl", graph)
    ((constraint, observation),) = alone.seen
    assert observation.population is None
    assert len(observation.failing) == 1
    assert constraint.path is not None
    assert any("blank nodes" in notice for notice in alone.notices)
    (tmp_path / "e.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    with pytest.raises(ShapesError, match="no validation report"):
        read_report(tmp_path / "e.ttl", graph)


def test_a_prefixed_name_in_brackets_is_no_slip_where_the_data_have_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "data.ttl").write_text(
        PREFIXES + "ex:a <skos:inScheme> ex:s ; skos:inScheme ex:s . ex:b <skos:inScheme> ex:s .",
        encoding="utf-8",
    )
    graph = load([tmp_path / "data.ttl"])
    found = compiled(
        tmp_path,
        graph,
        "ex:S a sh:NodeShape ; sh:targetSubjectsOf <skos:inScheme> ;"
        " sh:property [ sh:path skos:inScheme ; sh:minCount 1 ] .",
    )
    assert not found.notices
    (constraint,) = found.constraints
    seen = observe(graph, constraint)
    assert (len(seen.failing), seen.population) == (1, 2)
