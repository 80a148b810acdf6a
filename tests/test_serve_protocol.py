"""The SPARQL 1.1 Protocol of `kgreason serve`: formats, datasets, refusals, limits, and clients."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pyoxigraph as ox
import pytest
from rdflib import URIRef, Variable
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from starlette.testclient import TestClient

from kgreason.base.store import Results, Term
from kgreason.serve.answer_formats import CSV, JSON, RESULT_FORMATS, TSV, XML, written
from kgreason.serve.negotiation import best
from kgreason.serve.protocol import Limits
from tests.serve_support import client, investigate, running

INVESTIGATION = "urn:kgreason:aa11bb22"
HYPOTHESES = """PREFIX trails: <https://w3id.org/trails#>
SELECT ?hypothesis ?words { ?hypothesis a trails:Hypothesis ; trails:statement ?words }"""
WILD: list[Term] = [
    ox.Literal('tab\t, "quotes", line\nend, \\ and <b>&amp;</b>'),
    ox.Literal("grüße", language="de"),
    ox.Literal("5", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#int")),
    ox.Literal(""),
    ox.NamedNode("https://example.org/ä?x=1&y=2"),
    ox.BlankNode("b0"),
]
FORMATS = {
    JSON: ox.QueryResultsFormat.JSON,
    XML: ox.QueryResultsFormat.XML,
    TSV: ox.QueryResultsFormat.TSV,
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return investigate(tmp_path_factory.mktemp("protocol"))


@pytest.fixture(scope="module")
def site(ledger: Path) -> TestClient:
    return client(ledger)


# Formats


@pytest.mark.parametrize("media_type", FORMATS)
def test_another_reader_reads_back_what_is_written(media_type: str) -> None:
    rows = Results(["a", "b"], [{"a": one} for one in WILD] + [{"b": WILD[0]}])
    body, _ = written(rows, media_type)
    found = ox.parse_query_results(io.BytesIO(body), FORMATS[media_type])
    assert isinstance(found, ox.QuerySolutions)
    assert [v.value for v in found.variables] == ["a", "b"]
    assert [(one["a"], one["b"]) for one in found] == [
        *((one, None) for one in WILD),
        (None, WILD[0]),
    ]


def test_csv_is_as_the_recommendation_has_it() -> None:
    rows = Results(["a", "b"], [{"a": ox.Literal('x, "y"\nz')}, {"b": ox.NamedNode("urn:x:y")}])
    assert written(rows, CSV)[0] == b'a,b\r\n"x, ""y""\nz",\r\n,urn:x:y\r\n'


def test_xml_has_no_character_that_it_cannot_have() -> None:
    body, _ = written(Results(["a"], [{"a": ox.Literal("bell \x07 end")}]), XML)
    found = ox.parse_query_results(io.BytesIO(body), ox.QueryResultsFormat.XML)
    assert isinstance(found, ox.QuerySolutions)
    assert next(iter(found))["a"] == ox.Literal("bell \N{REPLACEMENT CHARACTER} end")


@pytest.mark.parametrize("media_type", [JSON, XML])
def test_the_truth_of_an_ask_is_read_back(media_type: str) -> None:
    for said in (True, False):
        body, _ = written(said, media_type)
        found = ox.parse_query_results(io.BytesIO(body), FORMATS[media_type])
        assert isinstance(found, ox.QueryBoolean)
        assert bool(found) is said


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/csv", CSV),
        ("text/*", CSV),
        ("application/sparql-results+xml;q=0.5, text/tab-separated-values", TSV),
        ("application/sparql-results+json;q=0, */*;q=0.1", XML),
        ("application/sparql-results+json;q=wrong, text/csv;q=0.1", CSV),
        ("image/png", None),
    ],
)
def test_the_type_that_is_wanted_most_is_given(accept: str, expected: str | None) -> None:
    assert best(accept, RESULT_FORMATS) == expected


# Ways to ask


def ways(site: TestClient, query: str, accept: str) -> Iterator[tuple[str, bytes]]:
    headers = {"Accept": accept}
    yield "get", site.get("/sparql", params={"query": query}, headers=headers).content
    yield "form", site.post("/sparql", data={"query": query}, headers=headers).content
    direct = headers | {"Content-Type": "application/sparql-query; charset=UTF-8"}
    yield "direct", site.post("/sparql", content=query.encode(), headers=direct).content


def test_all_ways_to_ask_give_the_same(site: TestClient) -> None:
    query = HYPOTHESES + " ORDER BY ?hypothesis"
    for media_type in RESULT_FORMATS:
        found = dict(ways(site, query, media_type))
        assert len(set(found.values())) == 1
        assert found["get"]


def test_rdf_is_given_for_construct_and_describe(site: TestClient) -> None:
    for query in (f"DESCRIBE <{INVESTIGATION}>", "CONSTRUCT WHERE { ?s ?p ?o } LIMIT 20"):
        sizes = set()
        for media_type, form in (
            ("text/turtle", ox.RdfFormat.TURTLE),
            ("application/n-triples", ox.RdfFormat.N_TRIPLES),
            ("application/rdf+xml", ox.RdfFormat.RDF_XML),
            ("application/ld+json", ox.RdfFormat.JSON_LD),
        ):
            got = site.get("/sparql", params={"query": query}, headers={"Accept": media_type})
            assert got.headers["content-type"].startswith(media_type)
            sizes.add(len({str(quad.triple) for quad in ox.parse(got.content, form)}))
        assert len(sizes) == 1
        assert sizes.pop() > 5


def count(site: TestClient, query: str, **dataset: list[str]) -> int:
    names = {"default": "default-graph-uri", "named": "named-graph-uri"}
    pairs = [("query", query)] + [
        (names[kind], iri) for kind, iris in dataset.items() for iri in iris
    ]
    got = site.get(f"/sparql?{urlencode(pairs)}")
    assert got.status_code == 200, got.text
    return int(got.json()["results"]["bindings"][0]["n"]["value"])


def test_the_dataset_is_the_one_that_is_named(site: TestClient) -> None:
    all_of = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    named = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    ledger = "urn:kgreason:ledger"
    whole, few = count(site, all_of), count(site, all_of, default=[ledger])
    assert whole > few > 0
    assert count(site, all_of, default=[INVESTIGATION, ledger]) == whole
    assert count(site, all_of, named=[ledger]) == 0
    assert count(site, named, named=[ledger]) == few
    assert count(site, named, default=[ledger]) == 0
    assert count(site, "SELECT (COUNT(*) AS ?n) FROM <urn:kgreason:ledger> { ?s ?p ?o }") == few
    # What the protocol names goes before what the query does.
    overruled = f"SELECT (COUNT(*) AS ?n) FROM <{INVESTIGATION}> {{ ?s ?p ?o }}"
    assert count(site, overruled, default=[ledger]) == few


def test_from_in_a_name_or_a_string_is_no_dataset(site: TestClient) -> None:
    query = (
        'PREFIX from: <urn:x> SELECT (COUNT(*) AS ?n) { ?from ?p ?o FILTER ("from" != ?o) } # FROM'
    )
    assert count(site, query) > count(site, query, default=["urn:kgreason:ledger"])


# What is refused


@pytest.mark.parametrize(
    ("request_", "status", "says"),
    [
        ({"params": {"query": "SELECT * {"}}, 400, "line 1, column 11"),
        ({"params": {"query": "INSERT DATA { <a:b> <a:b> <a:b> }"}}, 400, "Updates are not"),
        ({"params": [("query", "ASK {}"), ("query", "ASK {}")]}, 400, "2 of them"),
        ({"params": {"query": "SELECT * { SERVICE <http://x/> { ?s ?p ?o } }"}}, 403, "SERVICE"),
        ({"params": {"update": "CLEAR ALL"}}, 403, "read-only"),
        ({"params": {"query": "ASK {}", "default-graph-uri": "here"}}, 400, "no absolute IRI"),
        ({"params": {"query": "ASK {}"}, "headers": {"Accept": "image/png"}}, 406, "image/png"),
        ({"headers": {"Accept": "image/png"}}, 406, "text/turtle"),
    ],
)
def test_what_cannot_be_answered_is_told_in_one_sentence(
    site: TestClient, request_: dict[str, object], status: int, says: str
) -> None:
    got = site.get("/sparql", **request_)  # type: ignore[arg-type]
    assert got.status_code == status
    assert says in got.text
    assert got.text.count("\n") == 1
    assert got.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/sparql-update", b"CLEAR ALL", 403),
        ("application/x-www-form-urlencoded", b"update=CLEAR+ALL", 403),
        ("application/x-www-form-urlencoded", b"nothing=1", 400),
        ("application/sparql-query", b"\xff\xfe", 400),
        ("application/json", b"{}", 415),
        ("application/sparql-query", b"#" * (1 << 20) + b"ASK {}", 413),
    ],
)
def test_a_post_that_is_no_query_is_refused(
    site: TestClient, kind: str, body: bytes, status: int
) -> None:
    got = site.post("/sparql", content=body, headers={"Content-Type": kind})
    assert got.status_code == status
    assert got.text.count("\n") == 1


def test_limits_stop_a_query(ledger: Path) -> None:
    limited = client(ledger, limits=Limits(seconds=1, rows=10))
    got = limited.get("/sparql", params={"query": "SELECT * { ?s ?p ?o }"})
    assert got.status_code == 403
    assert "more than 10 rows" in got.text
    got = limited.get("/sparql", params={"query": "CONSTRUCT WHERE { ?s ?p ?o }"})
    assert got.status_code == 403
    assert limited.get("/sparql", params={"query": HYPOTHESES + " LIMIT 10"}).status_code == 200
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    got = limited.get("/sparql", params={"query": endless})
    assert got.status_code == 503
    assert "stopped after 1 s" in got.text
    # What is worked out without any data is stopped too.
    values = " ".join(f"VALUES ?{v} {{ {' '.join(map(str, range(90)))} }}" for v in "abcde")
    got = limited.get("/sparql", params={"query": f"SELECT (COUNT(*) AS ?n) {{ {values} }}"})
    assert got.status_code == 503


def test_nothing_is_written_by_asking(ledger: Path, site: TestClient) -> None:
    def state() -> list[tuple[str, int]]:
        return sorted((p.name, p.stat().st_size) for p in ledger.iterdir() if "LOG" not in p.name)

    before = state()
    for _, answer in ways(site, HYPOTHESES, JSON):
        assert answer
    assert state() == before


# The service description


def test_the_endpoint_describes_itself(site: TestClient) -> None:
    got = site.get("/sparql", headers={"Accept": "text/turtle"})
    store = ox.Store()
    store.load(got.content, ox.RdfFormat.TURTLE)
    asked = """PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
    ASK { ?service a sd:Service ; sd:endpoint <http://127.0.0.1:7878/sparql> ;
      sd:supportedLanguage sd:SPARQL11Query ; sd:feature sd:UnionDefaultGraph ;
      sd:defaultDataset/sd:namedGraph/sd:name <urn:kgreason:aa11bb22> . }"""
    assert bool(store.query(asked))


def test_a_browser_is_led_to_the_page_for_queries(site: TestClient) -> None:
    got = site.get("/sparql", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (got.status_code, got.headers["location"]) == (303, "/query")


# Clients of others, over the network


@pytest.fixture(scope="module")
def address(ledger: Path) -> Iterator[str]:
    with running(ledger) as found:
        yield f"{found}/sparql"


def test_rdflib_asks_it(address: str) -> None:
    store = SPARQLStore(address)
    rows = [row[Variable("hypothesis")] for row in store.query(HYPOTHESES).bindings]
    assert rows
    assert all(str(one).startswith(INVESTIGATION) for one in rows)
    kind = URIRef("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    hypothesis = URIRef("https://w3id.org/trails#Hypothesis")
    found = {s for (s, _, _), _ in store.triples((None, kind, hypothesis))}
    assert found == set(rows)
    posting = SPARQLStore(address, method="POST", returnFormat="csv")
    assert len(list(posting.query(HYPOTHESES))) == len(rows)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_sparqlwrapper_asks_it(address: str, method: str) -> None:
    wrapper = pytest.importorskip("SPARQLWrapper", reason="SPARQLWrapper is not installed")
    asking = wrapper.SPARQLWrapper(address)
    asking.setMethod(method)
    asking.setQuery(HYPOTHESES)
    sizes = set()
    for form in (wrapper.JSON, wrapper.XML):
        asking.setReturnFormat(form)
        found = asking.query().convert()
        sizes.add(
            len(found["results"]["bindings"])
            if form == wrapper.JSON
            else len(found.getElementsByTagName("result"))
        )
    assert len(sizes) == 1
    assert sizes.pop() > 0
    asking.setQuery(f"CONSTRUCT {{ <{INVESTIGATION}> ?p ?o }} {{ <{INVESTIGATION}> ?p ?o }}")
    asking.setReturnFormat(wrapper.TURTLE)
    assert b"trails" in asking.query().convert()
    asking.setQuery("SELECT * {")
    asking.setReturnFormat(wrapper.JSON)
    with pytest.raises(wrapper.SPARQLExceptions.QueryBadFormed):
        asking.query()
