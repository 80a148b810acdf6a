"""A SPARQL endpoint as a source, on loopback: one limited SELECT, no other host, errors told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.fetching import Fetch, SourceError
from kgreason.base.terms import TRAILS
from kgreason.review.replay import replay
from kgreason.sources.described import Described
from kgreason.sources.sparql_endpoint import HEADERS, SparqlEndpoint, address_of, query_of
from tests.audit_support import tiny
from tests.lifetime_support import of

pytest.importorskip("httpx")
E = "https://example.org/notes/"
DATA = f"""
<{E}minute1> <{E}text> "The samples of feed 3 were never weighed, so that the mass is missing." .
<{E}minute2> <{E}text> "The canteen is closed on Friday." .
<{E}minute2> <{E}size> 7 .
<{E}graph> {{ <{E}study1> <{E}abstract> "Studies of samples and their \\"mass\\" in feeds."@en . }}
"""


@dataclass
class Answering:
    """What a server does with a query: answer it, or what it is told to do in place of it."""

    store: ox.Store
    mishaps: list[Any] = field(default_factory=list)
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    address: str = ""


class _Handler(BaseHTTPRequestHandler):
    answering: Answering

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.answering.asked.append(parse_qs(urlsplit(self.path).query))
        mishap = self.answering.mishaps.pop(0) if self.answering.mishaps else None
        if mishap == "moved":
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()
            return
        body = b"<html>Login</html>" if mishap == "html" else self._answer()
        body = body[: len(body) // 2] if mishap == "cut" else body
        self.send_response(mishap if isinstance(mishap, int) else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self) -> bytes:
        found: Any = self.answering.store.query(self.answering.asked[-1]["query"][0])
        return bytes(found.serialize(format=ox.QueryResultsFormat.JSON))


@contextmanager
def serving() -> Iterator[Answering]:
    store = ox.Store()
    store.load(DATA.encode(), format=ox.RdfFormat.TRIG)
    answering = Answering(store)
    handler = type("Handler", (_Handler,), {"answering": answering})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    answering.address = f"http://127.0.0.1:{server.server_address[1]}/sparql"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield answering
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def server() -> Iterator[Answering]:
    with serving() as answering:
        yield answering


def endpoint(server: Answering) -> SparqlEndpoint:
    name = f"sparql:{server.address}"
    return SparqlEndpoint(name, Fetch(address_of(name), 100.0, None, HEADERS, sleep=lambda _: None))


def test_texts_are_cited_by_node_and_property_from_all_graphs(server: Answering) -> None:
    found = endpoint(server).search(["samples", "study"], 10)
    (work,) = found.works
    assert work.work == f"{E}study1"
    assert work.parts[0].locator == f"{E}abstract at sparql:{server.address}"
    assert [w.work for w in endpoint(server).search(["mass", "feed"], 10).works] == [
        f"{E}minute1", f"{E}study1",
    ]  # fmt: skip
    assert endpoint(server).search(["moon"], 10).works == ()
    assert found.raw


def test_it_is_sent_one_select_with_a_limit_and_terms_cannot_get_out(server: Answering) -> None:
    term = 'mass")) } ; DROP ALL #'
    endpoint(server).search([term, "x'); SERVICE"], 10)
    (asked,) = server.asked
    query = asked["query"][0]
    assert query.startswith("SELECT DISTINCT ?node")
    assert query.endswith("LIMIT 200")
    assert "#" not in query
    assert len(server.store) == 4
    assert query_of(['a "quoted" word']).count('"') == 4, "two stems, each in quotation marks"


@pytest.mark.parametrize(
    ("mishap", "said"),
    [
        ("moved", "answered 302"),
        ("html", "no JSON"),
        ("cut", "cut off"),
        (400, "answered 400"),
    ],
)
def test_what_goes_wrong_is_told_and_no_other_host_is_asked(
    mishap: Any, said: str, server: Answering
) -> None:
    server.mishaps = [mishap]
    with pytest.raises(SourceError, match=said):
        endpoint(server).search(["mass"], 10)
    assert len(server.asked) == 1


def test_a_busy_endpoint_is_asked_again(server: Answering) -> None:
    server.mishaps = [503, 429]
    assert endpoint(server).search(["canteen"], 10).works
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sparql:ftp://example.org/", "give the address as"),
        ("sparql:", "give the address as"),
        ("sparql:https://me:secret@example.org/sparql", "without a user name"),
        ("sparql:https://example.org/sparql?key=secret", "without a user name"),
    ],
)
def test_an_address_of_no_use_is_refused_and_a_password_not_told(name: str, said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        address_of(name)
    assert "secret" not in str(caught.value)


def test_it_is_described_as_universal_below_the_folders_and_graphs_of_the_user() -> None:
    options = Described(("crossref", "sparql:https://example.org/q")).options("Nothing.")
    assert next((o.name, o.kind, o.universal) for o in options) == (
        "sparql:https://example.org/q", "sparql-endpoint", True,
    )  # fmt: skip


def test_an_investigation_asks_it_and_replays_without_it(tmp_path: Path) -> None:
    with serving() as server:
        name = f"sparql:{server.address}"
        record = tiny(tmp_path, sources=name, ledger=tmp_path / "ledger")
        assert server.asked
    assert {one["sourceName"][0] for one in of(record, "Retrieval").values()} == {name}
    kinds = {one["sourceKind"][0] for one in of(record, "SourceOption").values()}
    assert kinds == {TRAILS.SparqlEndpoint.value}
    assert audit(record).ok, str(audit(record))
    assert replay(tmp_path / "ledger").same


def test_the_endpoint_of_kgreason_serve_is_one(tmp_path: Path) -> None:
    support = pytest.importorskip("tests.serve_support")
    ledger = support.investigate(tmp_path)
    with support.running(ledger) as address:
        name = f"sparql:{address}/sparql"
        found = SparqlEndpoint(name, Fetch(address_of(name), 100.0, None, HEADERS))
        works = found.search(["names"], 10).works
    assert works
    assert all(work.parts for work in works)
