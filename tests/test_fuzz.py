"""Whatever comes in, only an error of ours comes out (the slow suite).

Ten thousand inputs. What became of them is told at the end of the run:

    pytest -m slow tests/test_fuzz.py
"""

from __future__ import annotations

import faulthandler
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgreason import api
from kgreason.base.errors import KgreasonError, QueryError, TemplateError
from kgreason.base.store import Store, check_query
from kgreason.base.templates import template
from kgreason.graph import load
from kgreason.record import Ledger
from kgreason.shacl import compile_shapes, observe, outcome_symptom, read_shapes
from tests.cli_support import OUTCOME, PREFIXES, SHAPES

pytestmark = pytest.mark.slow
TALLY: Counter[str] = Counter()
"""What became of the inputs, over all tests; conftest tells it."""
HANG: Final = 900  # seconds after which an input is taken to hang; none needs a hundredth of it


def inputs(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


THING = 'ex:a a ex:Thing ; ex:name "a"@en-GB , """b\\u00e9\nc""" ; ex:size 3 , 4.5e0 , -0 .\n'
TURTLE = PREFIXES + THING + "ex:b ex:knows [ ex:list ( ex:a _:x 1 ) ] . <#rel> a <../up> .\n"
TRIPLES = "".join(
    f'<http://e/{i}> <http://e/p> "v{i}"^^<http://e/t> .\n_:b{i} <http://e/q> <http://e/{i}> .\n'
    for i in range(4)
)
SEEDS: dict[str, bytes] = {
    ".ttl": TURTLE.encode(),
    ".nt": TRIPLES.encode(),
    ".nq": TRIPLES.replace(" .\n", " <http://e/g> .\n").encode(),
    ".trig": (PREFIXES + "ex:g { ex:a ex:p ex:b } GRAPH _:g { ex:a ex:p 1 }").encode(),
    ".rdf": (
        b'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE r:RDF [<!ENTITY e "http://e/">]>\n'
        b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">\n'
        b'<e:T r:about="&e;a" xml:lang="en"><e:p r:resource="b"/><e:q>x &amp; y</e:q></e:T>\n'
        b"</r:RDF>"
    ),
    ".jsonld": (
        b'{"@context": {"@vocab": "http://e/", "when": {"@type": "http://e/date"}}, "@graph": [\n'
        b'{"@id": "http://e/a", "@type": "T", "when": "x", "p": {"@value": "v", "@language": "e"}},'
        b'{"@id": "_:b", "q": [{"@list": [1, 2.5, true, null]}, {"@id": "c"}]}]}'
    ),
}
SHACL = (
    SHAPES
    + """ex:More sh:targetSubjectsOf ex:name ; sh:targetNode ex:a ; sh:severity sh:Info ;
  sh:property [ sh:path ( ex:knows [ sh:inversePath ex:p ] [ sh:zeroOrMorePath ex:q ] ) ;
    sh:maxCount 3 ; sh:datatype xsd:string ; sh:pattern "^a+$" ; sh:flags "i" ; sh:minLength 1 ] ;
  sh:or ( [ sh:nodeKind sh:IRI ] [ sh:in ( 1 "x" ex:a ) ] ) ; sh:not [ sh:hasValue ex:c ] ;
  sh:closed true ; sh:ignoredProperties ( ex:size ) ; sh:languageIn ( "en" ) ;
  sh:property [ sh:path ex:name ; sh:uniqueLang true ; sh:qualifiedMinCount 1 ;
    sh:qualifiedValueShape [ sh:class ex:Thing ] ; sh:lessThan ex:size ] ;
  sh:sparql [ sh:message "m" ; sh:select "SELECT $this { $this <http://e/p> ?value }" ] .
"""
)
QUERY = (
    OUTCOME.replace("\n  BIND", "\n  OPTIONAL { ?focus ex:size ?size FILTER (?size > 3) }\n  BIND")
    + "ORDER BY ?focus LIMIT 10 # service\n"
)
PIECES = [
    *(
        "<",
        ">",
        '"',
        '"""',
        "'",
        "\\",
        "\\u003E",
        "\\U0010FFFF",
        "\0",
        "\n",
        "\r",
        "\t",
        " ",
        "{",
        "}",
    ),
    *(
        "{{",
        "{%",
        "(",
        ")",
        "[",
        "]",
        "#",
        "@",
        "@en-",
        "^^",
        ".",
        ";",
        ",",
        "_:",
        ":",
        "::",
        "%zz",
    ),
    *(
        "|",
        "é",
        "\u202e",
        "\ufeff",
        "\U0001f600",
        "1e999999",
        "-",
        "+",
        "0" * 40,
        "NaN",
        "INF",
        "true",
    ),
    *("a", "SERVICE <http://127.0.0.1:9/> {}", "INSERT DATA { <a:a> <a:a> <a:a> }", "DROP ALL"),
    *("FROM <x:y>", "$this", "?focus", "?outcome", "BIND(1/0 AS ?outcome)", "sh:", "ex:", "<a b>"),
    *("&x;", "<http://e/\\u0000>", "<!ENTITY", "]]>", "null", '"@id"', '"@context": "http://e/c"'),
]
TERMS = [
    *(
        "ex:a",
        "ex:Thing",
        "ex:More",
        "ex:name",
        "ex:none",
        "<http://e/>",
        "_:b",
        "a",
        "ex:NameShape",
    ),
    *("1", "-1", "1.5", "1e0", "true", '"x"', '"x"@en', '"abc"^^xsd:integer', '"("', '""', '"9"'),
]
SHACL_TERMS = [
    *("[]", "()", "( ex:a 1 )", "( [] )", "[ sh:inversePath ex:p ]", "[ sh:path ex:p ]"),
    *(
        "sh:path",
        "sh:node",
        "sh:property",
        "sh:not",
        "sh:or",
        "sh:in",
        "sh:minCount",
        "sh:maxLength",
    ),
    *("sh:targetClass", "sh:targetNode", "sh:target", "sh:pattern", "sh:flags", "sh:datatype"),
    *("sh:class", "sh:sparql", "sh:select", "sh:deactivated", "sh:severity", "sh:IRI", "sh:xone"),
    *("[ sh:minCount 1 ]", "sh:Violation", "sh:equals", "sh:closed", "rdf:first", "sh:nodeKind"),
]
QUERY_TERMS = ["?focus", "?outcome", "?name", "?size", "$this", "true", "3", "ex:size", "ex:knows"]
PATTERNS = [
    *("OPTIONAL { ?focus ex:p ?o }", "FILTER(false) ", "MINUS { ?focus ex:q 1 }", "{} UNION {}"),
    *("{ SELECT * {} }", "{ SELECT ?focus { ?focus ?p ?o } }", "VALUES ?outcome { 1 true }"),
    *("BIND (<a:f>(1) AS ?z)", "BIND (2 AS ?z)", "BIND (2 AS ?z)", "GRAPH ?g { ?focus ?a ?b }"),
    *("?focus (ex:p|ex:q)* ?o .", "?focus ^ex:knows/!ex:p ?o .", "FILTER (1/0 > 2)", "# {"),
]


@st.composite
def exchanged(draw: st.DrawFn, seed: str, terms: list[str]) -> bytes:
    """Give a text with a few words exchanged for others: more often well-formed than not."""
    prologue = re.match(r"(?:@?prefix [^\n]*\n)*", seed, re.IGNORECASE)
    start = prologue.end() if prologue else 0
    words = seed[start:].split(" ")
    places = [i for i, word in enumerate(words) if re.search(r"\w", word)]
    for place in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        mark = words[place][-1] if words[place][-1] in ",.;" else ""
        words[place] = draw(st.sampled_from([*TERMS, *terms])) + mark
    return (seed[:start] + " ".join(words)).encode()


@st.composite
def another(draw: st.DrawFn) -> str:
    """Give an outcome query with another word, or with one pattern more."""
    text = draw(exchanged(QUERY, QUERY_TERMS)).decode() if draw(st.booleans()) else QUERY
    ends = [found.end() for found in re.finditer(r" \.\s|\{\s|\}\s", text)]
    for place in sorted(draw(st.lists(st.sampled_from(ends), max_size=2)), reverse=True):
        text = f"{text[:place]} {draw(st.sampled_from(PATTERNS))} {text[place:]}"
    return text


@st.composite
def spoiled(draw: st.DrawFn, seed: bytes) -> bytes:
    """Give a file with a few things cut out, repeated, put in or flipped."""
    content = bytearray(seed)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 40)))
        how = draw(st.sampled_from(["cut", "piece", "bytes", "repeat", "end"]))
        if how == "cut":
            del content[start:end]
        elif how == "piece":
            content[start:start] = draw(st.sampled_from(PIECES)).encode()
        elif how == "bytes":
            content[start:end] = draw(st.binary(max_size=6))
        elif how == "repeat":
            content[start:start] = bytes(content[start:end]) * draw(st.integers(1, 30))
        else:
            del content[end:]
    return bytes(content)


def any_json() -> st.SearchStrategy[bytes]:
    keys = [
        "@context",
        "@id",
        "@type",
        "@value",
        "@language",
        "@list",
        "@graph",
        "@reverse",
        "@set",
    ]
    keys += ["@vocab", "@base", "@container", "@index", "http://e/p", "p", "ex:p", "_:p", ""]
    texts = [*keys, "http://e/a", "http://e/a b", "http://e/>", "../x", "en", "e n", "2020-01-01"]
    leaf = st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.sampled_from(texts))
    value = st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(keys), inner, max_size=5)
        ),
        max_leaves=15,
    )
    known = st.fixed_dictionaries({"@id": st.just("http://e/a"), "http://e/p": value})
    return st.one_of(known, value).map(lambda made: json.dumps(made).encode())


def any_file(ending: str) -> st.SearchStrategy[bytes]:
    soup = st.lists(st.sampled_from(PIECES), max_size=30).map(
        lambda parts: " ".join(parts).encode()
    )
    seed = SEEDS[ending]
    words = any_json() if ending == ".jsonld" else exchanged(seed.decode(), SHACL_TERMS)
    return st.one_of(spoiled(seed), spoiled(seed), words, words, soup, st.binary(max_size=200))


def any_query() -> st.SearchStrategy[str]:
    broken = spoiled(QUERY.encode()).map(lambda content: content.decode("utf-8", "replace"))
    soup = st.lists(st.sampled_from(PIECES)).map(" ".join)
    return st.one_of(another(), another(), another(), broken, soup, st.text())


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("graph") / "data.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return load([path])


def outcome(work: Callable[..., Any], *args: Any) -> Any:
    """Give what some work gives, or the error of ours that it raised; any other fails the test."""
    faulthandler.dump_traceback_later(HANG, exit=True)
    try:
        given = work(*args)
    except KgreasonError as error:
        return error
    finally:
        faulthandler.cancel_dump_traceback_later()
    return given


def told(given: Any) -> Any:
    """Count what became of an input."""
    code = given.exit_code if isinstance(given, KgreasonError) else 0
    TALLY[{0: "accepted", 2: "refused with exit code 2"}.get(code, "stopped with exit code 1")] += 1
    return given


def embeds(store: Store) -> None:
    """Hold every term to what can be put into a query and comes out the same."""
    for quad in store.quads():
        for term in (quad.subject, quad.predicate, quad.object):
            if not isinstance(term, ox.BlankNode):
                rows = store.select(f"SELECT ?t {{ BIND ({term} AS ?t) }}")
                assert str(rows[0]["t"]) == str(term)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("ending", sorted(SEEDS))
@inputs(400)
@given(data=st.data())
def test_loaders(tmp_path: Path, data: st.DataObject, ending: str, *, lenient: bool) -> None:
    content = data.draw(any_file(ending))
    path = tmp_path / f"file{ending}"
    if data.draw(st.integers(0, 9)) == 0:
        path = tmp_path / f"file{ending}.gz"
        packed = gzip.compress(content)
        content = data.draw(spoiled(packed)) if data.draw(st.booleans()) else packed
    path.write_bytes(content)
    TALLY["inputs"] += 1
    loaded = told(outcome(lambda: load([path], lenient=lenient)))
    if isinstance(loaded, KgreasonError):
        assert str(path) in str(loaded)
        assert "\n" not in str(loaded)
    else:
        assert loaded.triples > 0
        embeds(loaded.store)


@inputs(1_500)
@given(content=st.one_of(exchanged(SHACL, SHACL_TERMS), spoiled(SHACL.encode())))
def test_shapes(tmp_path: Path, graph: Any, content: bytes) -> None:
    path = tmp_path / "shapes.ttl"
    path.write_bytes(content)
    TALLY["inputs"] += 1
    compiled = told(outcome(lambda: compile_shapes(read_shapes([path]), graph)))
    if isinstance(compiled, KgreasonError):
        assert compiled.exit_code == 2, compiled
        assert not isinstance(compiled, QueryError), compiled  # the text of shapes is no query
        return
    for constraint in compiled.constraints:
        seen = outcome(observe, graph, constraint)
        if not isinstance(seen, KgreasonError):
            assert len(seen.failing) <= seen.population


@inputs(1_000)
@given(text=any_query())
def test_outcome_queries(graph: Any, text: str) -> None:
    before = len(graph.store.inner)
    TALLY["inputs"] += 1
    constraint = told(outcome(lambda: outcome_symptom(text, graph, where="q.rq", seconds=20)))
    if isinstance(constraint, KgreasonError):
        assert "\n" not in str(constraint)
    else:
        seen = observe(graph, constraint, seconds=20)
        assert len(seen.failing) <= (seen.population or 0)
    assert len(graph.store.inner) == before


@inputs(1_500)
@given(text=any_query())
def test_queries_are_checked(text: str) -> None:
    TALLY["inputs"] += 1
    error = told(outcome(lambda: check_query(text, "the query")))
    if error is None:
        ox.Store().query(text)  # would raise for what does not parse
    else:
        assert "\n" not in str(error)
        assert error.exit_code == 2


@inputs(500)
@given(text=st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_no_text_becomes_part_of_a_query(text: str) -> None:
    TALLY["inputs"] += 1
    literal = ox.Literal(text)
    rows = Store(ox.Store(), "nothing").select(f"SELECT ?t {{ BIND ({literal} AS ?t) }}")
    assert rows[0]["t"] == literal
    with pytest.raises(TemplateError):
        template("record", "counts").render(investigation=text)  # type: ignore[arg-type]
    told(None)


@inputs(200)
@given(data=st.data())
def test_investigations(tmp_path: Path, data: st.DataObject) -> None:
    graph_file, shapes_file = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
    things = "".join(
        f'ex:n{i} a ex:Thing ; ex:size {i % 50} ; ex:kind "k{i % 3}" .\n' for i in range(40)
    )
    text = PREFIXES + things
    graph_file.write_bytes(data.draw(st.one_of(exchanged(text, []), spoiled(text.encode()))))
    shapes_file.write_bytes(
        data.draw(st.one_of(exchanged(SHAPES, SHACL_TERMS), spoiled(SHAPES.encode())))
    )
    question = data.draw(st.text(max_size=20))
    lenient = data.draw(st.booleans())
    TALLY["inputs"] += 1
    result = told(
        outcome(
            lambda: api.investigate(
                [graph_file], shapes=[shapes_file], lenient=lenient, question=question
            )
        )
    )
    if isinstance(result, KgreasonError):
        assert result.exit_code == 2, result
        return
    with result:
        found = result.as_dict()
        assert found["question"] == question
        assert all(s["failing"] <= s["population"] for s in found["symptoms"])
        assert "<html" in result.html()
        assert list(ox.parse(result.turtle().encode(), format=ox.RdfFormat.TURTLE))


@inputs(500)
@given(content=st.binary(max_size=300), name=st.sampled_from(["CURRENT", "IDENTITY", "x.log"]))
def test_folders_that_are_no_ledgers(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("no-ledger")
    (folder / name).write_bytes(content)
    TALLY["inputs"] += 1
    for opener in (Ledger.read, Ledger.write, Ledger.ready):
        with pytest.raises(KgreasonError) as raised:
            opener(folder)
    assert (folder / name).read_bytes() == content
    told(raised.value)
