"""Queries of the shapes' author that look at the form of literals: as pySHACL answers them.

The store has rewritten "05" to 5; where a query can tell, it reads the graph of forms.
"""

import math
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason import investigate
from kgreason.base.templates import Fragment, template
from kgreason.graph import Graph, load
from kgreason.graph.forms import BOUNDS, admitted
from kgreason.shacl import Compiled, compile_shapes, read_shapes
from tests.symptoms_support import observed, ours, theirs

PREFIXES = """PREFIX ex: <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
DATA = """
ex:a a ex:T ; ex:p 5 ; ex:q 5 ; ex:s "five" .
ex:b a ex:T ; ex:p "05"^^xsd:integer ; ex:q 5 ; ex:s "05" .
ex:c a ex:T ; ex:r "5"^^xsd:int, 5 ; ex:p "5"^^xsd:int, 5 ; ex:q "05"^^xsd:integer ; ex:s "5"@en .
ex:d a ex:T ; ex:p 5.0, "5.00"^^xsd:decimal, "7" ; ex:q 7 ; ex:flag "1"^^xsd:boolean .
ex:e a ex:T ; ex:p ex:a, "abc"^^xsd:integer ; ex:flag true ; ex:next ex:b .
ex:f a ex:T ; ex:p "2024-01-01T10:00:00.000Z"^^xsd:dateTime ; ex:q "1.50E0"^^xsd:double .
ex:h a ex:T ; ex:p 5, "05"^^xsd:integer .
ex:g ex:of ex:a, "05"^^xsd:integer, 5, "05" ; ex:next ex:a .
"""
# What makes no difference runs as it is; what does is read as written.
UNCHANGED = {
    "a value compared": "$this ex:q ?v . FILTER (?v > 4)",
    "a value computed with": "$this ex:q ?v . BIND (?v + 1 AS ?w) FILTER (?w = 6)",
    "only that there is one": "$this ex:q ?v . FILTER NOT EXISTS { $this ex:flag ?any }",
    "the form of others": '$this ex:s ?v . FILTER (STR(?v) = "05")',
    "the form of a predicate": '$this ?p ?v . FILTER (STRENDS(STR(?p), "flag"))',
    "a node on the way": "$this ex:p ?v . ?v ex:p ?w . FILTER (isIRI(?v))",
}
WRITTEN = {
    "the text": '$this ex:p ?v . FILTER (STR(?v) = "05")',
    "the length of the text": "$this ex:p ?v ; a ex:T . FILTER (STRLEN(STR(?v)) = 2)",
    "the datatype": "$this ex:p ?v . FILTER (DATATYPE(?v) = xsd:int)",
    "the datatype and the value": (
        "$this ex:p ?v . FILTER (DATATYPE(?v) != xsd:integer && (?v >= 5 || !isLiteral(?v)))"
    ),
    "text bound": (
        '$this ex:p ?v ; ex:q ?w . BIND (CONCAT(STR(?v), "/", STR(?w)) AS ?both) '
        'FILTER (?both IN ("05/5", "5/05", "5.00/7"))'
    ),
    "the same term twice": "$this ex:p ?v ; ex:q ?v .",
    "the same term twice, the other way about": "$this ex:q ?v ; ex:p ?v . FILTER (?v = 5)",
    "the same term in another place": "$this ex:q ?v . ?other ex:p ?v . FILTER (?other != $this)",
    "a term of the query": "$this ex:p 5 .",
    "a term of the query, odd": '$this ex:q "05"^^xsd:integer .',
    "a term of the query, true": "$this ex:flag true ; a ex:T .",
    "a decimal of the query": "$this ex:p 5.0 .",
    "inside EXISTS": 'FILTER NOT EXISTS { $this ex:p ?v . FILTER (STR(?v) = "5") }',
    "inside a bracketed EXISTS": (
        '$this a ex:T . FILTER (!EXISTS { $this ex:p ?v . FILTER (STR(?v) = "5") })'
    ),
    "inside OPTIONAL": (
        'OPTIONAL { $this ex:q ?v . FILTER (STR(?v) = "05") } $this a ex:T . FILTER (BOUND(?v))'
    ),
    "in a UNION": (
        '{ $this ex:p ?v . FILTER (STR(?v) = "5.00") } UNION { $this ex:q ?v . FILTER (?v = 7) }'
    ),
    "at a node further on": '$this ex:next ?n . ?n ex:p ?v . FILTER (STR(?v) = "05")',
    "an object list": '$this ex:p ?v, ?w . FILTER (STR(?v) = "5.0" && STR(?w) = "5.00")',
    "in an inner SELECT": (
        '{ SELECT $this ?v WHERE { $this ex:p ?v . FILTER (STR(?v) = "05") } } $this ex:q ?w .'
    ),
}
WHOLE = {
    "a value that another property lacks": (
        "SELECT $this ?value WHERE { $this ex:p ?value . FILTER NOT EXISTS { $this ex:q ?value } }"
    ),
    "a value that another property has": (
        "SELECT $this ?value WHERE { $this ex:p ?value . FILTER EXISTS { $this ex:q ?value } }"
    ),
    "a value bound two tests further out": (
        "SELECT $this ?value WHERE { $this ex:p ?value . FILTER NOT EXISTS { "
        "$this ex:flag ?flag . FILTER NOT EXISTS { ?other ex:q ?value } } }"
    ),
    "one name in two tests": (
        "SELECT $this WHERE { $this a ex:T . FILTER EXISTS { $this ex:p ?v . FILTER (STR(?v) = "
        "'5') } FILTER NOT EXISTS { $this ex:q ?v . FILTER (STR(?v) = '05') } }"
    ),
    "the value given": "SELECT $this ?value WHERE { $this ex:p ?value . FILTER (?value = 5) }",
    "a count": (
        "SELECT $this (COUNT(?v) AS ?n) WHERE { $this ex:p ?v } "
        "GROUP BY $this HAVING (COUNT(?v) > 1)"
    ),
    "a count of distinct": (
        "SELECT $this (COUNT(DISTINCT ?v) AS ?n) WHERE { $this ex:p ?v } "
        "GROUP BY $this HAVING (COUNT(DISTINCT ?v) > 2)"
    ),
    "a sum": (
        "SELECT $this (SUM(?v) AS ?n) WHERE { $this ex:r ?v } GROUP BY $this HAVING (SUM(?v) = 10)"
    ),
}
# What nothing of ours can express; pySHACL does it.
LEFT = {
    "all properties": '$this ?p ?v . FILTER (STR(?v) = "05")',
    "the smallest": "$this ex:p ?v . BIND (COALESCE(?v, 0) AS ?w) FILTER (STR(?w) = '05')",
    "a path of several": '$this ex:next/ex:p ?v . FILTER (STR(?v) = "05")',
    "backwards": "$this ex:p ?v . ?v ^ex:q ?other .",
    "bound outside a test, maybe": (
        "$this a ex:T . OPTIONAL { $this ex:p ?v } FILTER NOT EXISTS { $this ex:q ?v }"
    ),
    "a blank node": '$this ex:next _:n . _:n ex:p ?v . FILTER (STR(?v) = "05")',
}


def check(tmp_path: Path, shapes: str, data: str = DATA) -> tuple[Compiled, int]:
    """Compare with pySHACL; gives what was compiled and how many results there are."""
    (tmp_path / "data.ttl").write_text(PREFIXES + data, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    graph: Graph = load([tmp_path / "data.ttl"])
    read = read_shapes([tmp_path / "shapes.ttl"])
    compiled = compile_shapes(read, graph)
    mine = ours(observed(graph, compiled))
    assert mine == theirs(graph, read)
    return compiled, len(mine)


def node_shape(select: str) -> str:
    return f"ex:S a sh:NodeShape ; sh:targetClass ex:T ; sh:sparql [ sh:select '''{select}''' ] ."


def reads_forms(compiled: Compiled) -> bool:
    assert not compiled.fallback
    assert all("work:forms" not in c.outcome_query for c in compiled.constraints)
    return any("work:forms" in c.failing_query for c in compiled.constraints)


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_forms_cannot_change_runs_as_it_is(name: str, tmp_path: Path) -> None:
    compiled, results = check(tmp_path, node_shape(f"SELECT $this WHERE {{ {UNCHANGED[name]} }}"))
    assert not reads_forms(compiled)
    assert results > 0


@pytest.mark.parametrize("name", [*WRITTEN, *WHOLE])
def test_what_forms_change_is_read_as_written(name: str, tmp_path: Path) -> None:
    select = WHOLE.get(name) or f"SELECT $this WHERE {{ {WRITTEN[name]} }}"
    compiled, results = check(tmp_path, node_shape(select))
    assert reads_forms(compiled)
    assert results > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_read_as_written_goes_to_pyshacl(name: str, tmp_path: Path) -> None:
    compiled, results = check(tmp_path, node_shape(f"SELECT $this WHERE {{ {LEFT[name]} }}"))
    assert len(compiled.fallback) == 1
    assert "form of literals" in compiled.fallback[0].reason
    assert results > 0


PATH = """sh:targetClass ex:T ; sh:property [ sh:path %s ; sh:sparql [ sh:select '''
  SELECT $this ?value WHERE { $this $PATH ?value . FILTER (STR(?value) = "05") }''' ] ]"""
COUNTED = """sh:targetSubjectsOf ex:p ; sh:sparql [ sh:select '''
  SELECT $this WHERE {
    { SELECT $this (COUNT(?v) AS ?n) WHERE { $this ex:q ?v . FILTER (?v != $this) } GROUP BY $this }
    FILTER (?n = 1) }''' ]"""
LITERALS = """sh:targetObjectsOf ex:of ; sh:sparql [ sh:select '''
  SELECT $this WHERE { FILTER (DATATYPE($this) = xsd:integer && STR($this) = "05") }''' ]"""
WITHIN = """sh:targetObjectsOf ex:of ; sh:sparql [ sh:select '''
  SELECT $this WHERE { FILTER EXISTS { ?other ex:p $this } }''' ]"""
NESTED = """sh:targetSubjectsOf ex:of ; sh:property [ sh:path ex:of ; sh:or (
  [ sh:datatype xsd:string ] [ sh:sparql [ sh:select '''
  SELECT $this WHERE { ?other ex:p $this }''' ] ] ) ]"""
TARGET = """sh:target [ a sh:SPARQLTarget ; sh:select '''
  SELECT ?this WHERE { ?this ex:p ?v . FILTER (STR(?v) = "05") }''' ] ;
  sh:property [ sh:path ex:q ; sh:minInclusive 6 ]"""


@pytest.mark.parametrize(
    ("shape", "forms"),
    [
        (PATH % "ex:p", True),
        (PATH.replace('"05"', '"5"') % "ex:p", True),
        (PATH % "ex:s", False),
        (COUNTED, True),
        (LITERALS, True),
        (WITHIN, True),
        (NESTED, True),
        (TARGET, True),
    ],
    ids=[
        "path",
        "path, one of two forms",
        "plain path",
        "count",
        "literals as focus",
        "in a test",
        "nested",
        "target",
    ],
)
def test_other_places_of_a_query(shape: str, forms: bool, tmp_path: Path) -> None:  # noqa: FBT001
    compiled, results = check(tmp_path, f"ex:S a sh:NodeShape ; {shape} .")
    assert reads_forms(compiled) is forms
    assert results > 0


@pytest.mark.parametrize(
    "asked", ["?v < true", '"1"^^xsd:boolean > ?v', "false <= ?v", '?v >= "0"^^xsd:boolean']
)
def test_an_order_of_truths_goes_to_pyshacl(asked: str, tmp_path: Path) -> None:
    shapes = node_shape(f"SELECT $this WHERE {{ $this ex:flag ?v . FILTER ({asked}) }}")
    compiled, results = check(tmp_path, shapes.replace("ex:T", "ex:F"), FLAGS)
    assert "boolean" in compiled.fallback[0].reason
    assert results > 0


FLAGS = "ex:a a ex:F ; ex:flag true . ex:b a ex:F ; ex:flag false ."


def test_without_odd_literals_no_query_is_touched(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(PREFIXES + "ex:a a ex:T ; ex:p 5 .", encoding="utf-8")
    shapes = node_shape('SELECT $this WHERE { $this ?p ?v . FILTER (STR(?v) = "5") }')
    (tmp_path / "shapes.ttl").write_text(PREFIXES + shapes, encoding="utf-8")
    graph = load([tmp_path / "data.ttl"])
    compiled = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), graph)
    assert not reads_forms(compiled)
    assert len(ours(observed(graph, compiled))) == 1


@pytest.mark.parametrize("datatype", BOUNDS, ids=lambda d: d.value.rpartition("#")[2])
def test_bounds_are_the_same_in_a_query(datatype: ox.NamedNode) -> None:
    store = ox.Store()
    for edge in (e for e in BOUNDS[datatype] if math.isfinite(e)):
        for number in (edge - 1, edge, edge + 1):
            literal = ox.Literal(str(number), datatype=datatype)
            made = template("observe", "in-range").render(
                datatype=Fragment(str(datatype)), number=Fragment(f'xsd:decimal("{number}")')
            )
            head, _, test = made.partition("COALESCE")
            asked = store.query(f"{head} ASK {{ FILTER (COALESCE{test}) }}")
            assert bool(asked) is admitted(literal)


TWO_PATHS = """sh:targetSubjectsOf ex:next ; sh:property
  [ sh:path ( ex:next ex:p ) ; sh:sparql _:c ] ,
  [ sh:path ( ex:next ex:q ) ; sh:sparql _:c ] .
_:c sh:select '''
  SELECT $this ?value WHERE { $this $PATH ?value . FILTER (STR(?value) = "5") }'''"""


def test_what_pyshacl_finds_at_a_path_of_several_steps_keeps_that_path(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(PREFIXES + DATA, encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(f"{PREFIXES}ex:S {TWO_PATHS} .", encoding="utf-8")
    graph = load([tmp_path / "data.ttl"])
    compiled = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), graph)
    assert len(compiled.fallback) == 2
    seen = observed(graph, compiled)
    paths = {found.path for found in ours(seen)}
    ex = "<http://example.org/"
    assert paths == {f"{ex}next>/{ex}p>", f"{ex}next>/{ex}q>"}
    assert {constraint.path.text for constraint, _ in seen if constraint.path} == paths
    assert {result.path for _, o in seen for result in o.results} == {None}
    assert len({constraint.key for constraint, _ in seen}) == 2
    result = investigate(
        tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl", ledger=tmp_path / "ledger"
    ).as_dict()
    assert {symptom["path"] for symptom in result["symptoms"]} == paths
