"""A SPARQL endpoint as the graph, on Oxigraph's own server: ids, counts and an extract."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import GraphError, OptionError
from kgreason.base.fetching import Late, SourceError
from kgreason.base.weights import expected
from kgreason.endpoint.asking_endpoint import AskingEndpoint
from kgreason.endpoint.kept_answers import KeptAnswers
from kgreason.endpoint.named_endpoint import NamedEndpoint, headers_of
from kgreason.endpoint.probing import dialect_of
from kgreason.observe.extracted import extract_of, symptoms_of
from kgreason.observe.look import compiled_elsewhere
from kgreason.observe.opening import load_graph, recorded_request
from kgreason.report.result import Result
from kgreason.review.replay import replay
from kgreason.shacl.population import Uncounted
from tests.audit_support import CASES, relinked, tampered
from tests.endpoint_server import Proxy, Served, oxigraph_server, proxy_before, trickling
from tests.lifetime_support import of

pytest.importorskip("httpx")
HEAD = "@prefix e: <https://example.org/lab/> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
SHAPES = f"""{HEAD}
e:SampleShape a sh:NodeShape ; sh:targetClass e:Sample ;
  sh:property [ sh:path e:mass ; sh:minCount 1 ] ;
  sh:property [ sh:path e:box ; sh:class e:Box ] .
"""
MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "endpoint.toml").read_text(encoding="utf-8")
)["mutant"]
LAB: Final = "https://example.org/lab/"
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}


def feeds(number: int = 6, samples: int = 40) -> dict[str, bytes]:
    """Return feeds of samples of which one lacks masses, with their boxes in blank nodes."""
    made = {}
    for feed in range(number):
        rows = [HEAD]
        for n in range(samples):
            lacks = n % 8 != 0 if feed == 3 else n == 5 + feed
            mass = "" if lacks else f" ; e:mass {n + 1}.5"
            rows.append(
                f"e:s{feed}-{n} a e:Sample ; e:box e:b{n % 7} ; e:seen [ e:by e:person{n % 3} ]"
                f"{mass} ."
            )
        made[f"https://example.org/feeds/{feed}"] = "\n".join(rows).encode()
    boxes = [f"e:b{n} a e:Box ; e:shelf {n} ." for n in range(7)]
    boxes.append("e:own <http://www.w3.org/2002/07/owl#imports> e:elsewhere .")
    made["https://example.org/boxes"] = "\n".join([HEAD, *boxes]).encode()
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with oxigraph_server(feeds()) as served:
        yield served


@pytest.fixture
def proxy(server: Served) -> Iterator[Proxy]:
    with proxy_before(server.base) as made:
        yield made


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shapes") / "shapes.ttl"
    path.write_text(SHAPES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def ledger(server: Served, shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An investigation of the endpoint, with a password that nobody may find again."""
    folder = tmp_path_factory.mktemp("ledger") / "ledger"
    before = server.dump()
    more: dict[str, Any] = {"headers": headers_of("ada:open-sesame")}
    kgreason.investigate(server.address, shapes=shapes, ledger=folder, **RUN, **more).close()
    assert server.dump() == before, "asking has changed what the server holds"
    return folder


@pytest.fixture(scope="module")
def by_files(shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    folder = tmp_path_factory.mktemp("data")
    for name, content in feeds().items():
        (folder / f"{name.rpartition('/')[2]}.ttl").write_bytes(content)
    with kgreason.investigate(folder, shapes=shapes, **RUN) as found:
        yield found


def leading(result: Result) -> list[tuple[str, str, int]]:
    told = result.as_dict()
    return [(one["name"], one["verdict"], one["failing"]) for one in told["symptoms"]]


def test_an_endpoint_gives_the_same_answer_as_files(ledger: Path, by_files: Result) -> None:
    with kgreason.result(ledger) as found:
        assert leading(found) == leading(by_files)
        said, by = ([one["statement"] for one in r.as_dict()["causes"]] for r in (found, by_files))
        # A named graph has its own name, which is not that of a file.
        assert [one.replace("source 3 ", "source 3.ttl ") for one in said] == by
        assert said


def test_the_record_says_what_was_taken_and_nothing_of_the_password(
    ledger: Path, server: Served
) -> None:
    with kgreason.result(ledger) as found:
        record = found.record
        (extract,) = of(record, "Extract").values()
        assert extract["endpoint"] == [server.address]
        assert extract["dialect"] == ["oxigraph"]
        assert extract["formsLost"] == ["true"]
        assert record.blobs.intact(extract["extracted"][0])
        probes = {one["probeName"][0]: one for one in of(record, "Probe").values()}
        assert probes["same-term"]["passed"] == ["true"]
        assert probes["form-of-integer"]["gaveAnswer"] == ["5"]
        (sample,) = of(record, "Sample").values()
        assert sample["failingThere"] == sample["failingTaken"] == ["40"]
        assert sample["drawnBy"] == ["all"]
        assert audit(record).ok, str(audit(record))
    held = b"".join(p.read_bytes() for p in ledger.rglob("*") if p.is_file())
    assert b"sesame" not in held
    assert b"YWRhOm9wZW4" not in held


def test_nothing_that_is_read_again_needs_the_endpoint(ledger: Path) -> None:
    assert replay(ledger).same


def test_blank_nodes_and_named_graphs_come_along(ledger: Path) -> None:
    with kgreason.result(ledger) as found:
        (extract,) = of(found.record, "Extract").values()
        quads = found.record.blobs.get(extract["extracted"][0])
    assert quads.count("<https://example.org/lab/by>") == 240
    assert "<https://example.org/feeds/3> ." in quads
    assert "<https://example.org/lab/shelf>" in quads
    assert "owl#imports> <https://example.org/lab/elsewhere> <https://example.org/boxes>" in quads


def test_where_nothing_fails_the_data_conform(server: Served, shapes: Path, tmp_path: Path) -> None:
    text = shapes.read_text(encoding="utf-8")
    sound = tmp_path / "sound.ttl"
    sound.write_text(text.replace("e:mass ;", "e:box ;"), encoding="utf-8")
    found = kgreason.symptoms(server.address, shapes=sound)
    assert (len(found), found.doubts) == (0, ())


@pytest.fixture(scope="module")
def sampled(server: Served, shapes: Path) -> Iterator[Result]:
    """An investigation of half of the failing nodes: a passing one counts for half of one."""
    with kgreason.investigate(server.address, shapes=shapes, cap=20, **RUN) as found:
        yield found


def test_a_sample_is_drawn_where_there_are_too_many(sampled: Result) -> None:
    (sample,) = of(sampled.record, "Sample").values()
    assert sample["failingThere"] == ["40"]
    assert sample["failingTaken"] == ["20"]
    assert sample["passingThere"] == sample["passingTaken"] == ["200"]
    assert audit(sampled.record).ok, str(audit(sampled.record))


def test_rates_of_a_sample_are_those_of_the_graph(sampled: Result) -> None:
    # Of feed 3 35 of 40 fail in the graph, a rate of 0.875; of those drawn 18 of 23, or 0.78.
    (symptom,) = of(sampled.record, "Symptom").values()
    assert [Decimal(n) for n in symptom["passingWeight"]] == [Decimal("0.5")]
    (cause,) = (h for h in of(sampled.record, "Hypothesis").values() if "rateInside" in h)
    failing, inside = (int(cause[name][0]) for name in ("insideFailing", "inside"))
    rate, least, most = (float(cause[f"rateInside{end}"][0]) for end in ("", "From", "Until"))
    assert failing / inside < 0.8
    assert rate == pytest.approx(failing / (failing + 0.5 * (inside - failing)), abs=1e-6)
    assert least < 0.875 < most
    page = sampled.markdown()
    assert "40 of 240 samples fail (17 %) at the endpoint; 20 of these and 200 others" in page
    assert f"{100 * rate:.0f} % of its {inside} nodes fail" in page
    assert "rates are weighted for that" in page


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_what_is_done_to_a_sample_is_found(mutant: dict[str, Any], sampled: Result) -> None:
    found = audit(relinked(tampered(sampled.record, mutant["update"])))
    assert found.rules == set(mutant["rules"]), str(found)


def test_what_is_supported_is_counted_at_the_endpoint(ledger: Path) -> None:
    with kgreason.result(ledger) as found:
        confirmed = list(of(found.record, "Confirmation").values())
    assert [(c["insideFailingThere"], c["insideThere"], c["agrees"]) for c in confirmed] == [
        (["35"], ["40"], ["true"])
    ]


def test_a_count_beyond_the_interval_takes_the_status_back(
    proxy: Proxy, shapes: Path, tmp_path: Path
) -> None:
    def other(query: str, status: int, headers: dict[str, str], body: bytes) -> Any:
        if "feeds/3" not in query or "COUNT" not in query:
            return status, headers, body
        made = body.replace(b'"35"', b'"3"')
        return status, headers | {"Content-Length": str(len(made))}, made

    proxy.every = other
    kept: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    with kgreason.investigate(proxy.address, shapes=shapes, **kept, **RUN) as found:
        (confirmed,) = of(found.record, "Confirmation").values()
        assert (confirmed["insideFailingThere"], confirmed["agrees"]) == (["3"], ["false"])
        assert "no longer supported" in found.markdown()
        (change,) = (
            t for t in of(found.record, "StatusTransition").values() if t["rule"] == ["confirm"]
        )
        assert "the endpoint counts 3 failing and 37 passing nodes" in change["cause"][0]
        told = found.as_dict()
        assert told["causes"] == []
        assert [one["verdict"] for one in told["symptoms"]] == ["inconclusive"]
        assert "the endpoint counts otherwise than the sample" in str(told["symptoms"])
        assert audit(found.record).ok, str(audit(found.record))
    assert replay(tmp_path / "ledger").same


def test_an_endpoint_that_is_gone_in_the_end_leaves_the_result(proxy: Proxy, shapes: Path) -> None:
    def gone(query: str, status: int, headers: dict[str, str], body: bytes) -> Any:
        return (400, {}, b"no") if "feeds/3" in query else (status, headers, body)

    proxy.every = gone
    with kgreason.investigate(proxy.address, shapes=shapes, **RUN) as found:
        (confirmed,) = of(found.record, "Confirmation").values()
        assert "answered 400" in confirmed["notCounted"][0]
        assert audit(found.record).ok


@pytest.mark.parametrize(
    ("inside", "taken", "there", "least", "likely", "most"),
    [
        (35, 40, 40, 34.6, 35.0, 35.4),  # all were taken: a hundredth is allowed for the rim
        (0, 0, 0, 0.0, 0.0, 0.0),
        # By hand: rate 0.5, 2.58 * sqrt(0.25 / 100 * 0.9) * 1000 = 122.4.
        (50, 100, 1000, 377.6, 500.0, 622.4),
        # None of 100: the rate is moved to 1/102, 2.58 * sqrt(0.009708 / 100 * 0.9) * 1000 = 24.1.
        (0, 100, 1000, 0.0, 0.0, 24.1),
    ],
)
def test_what_a_sample_says_of_all(
    inside: int, taken: int, there: int, least: float, likely: float, most: float
) -> None:
    found = expected(inside, taken, there)
    told = (round(found.least, 1), round(found.likely, 1), round(found.most, 1))
    assert told == (least, likely, most)


def test_who_fails_is_borne_out_by_what_the_endpoint_says_of_them(ledger: Path) -> None:
    with kgreason.result(ledger) as found:
        request = recorded_request(found.record)
    graph, extract = load_graph(request), extract_of(request)
    (one,) = (asked for asked in extract.constraints if asked.failing)
    everyone = extract.lists[one.members]
    said = replace(extract, constraints=(replace(one, failing=len(everyone), failed=everyone),))
    compiled = compiled_elsewhere(request, graph, Uncounted())
    notices: list[str] = []
    assert list(symptoms_of(graph, said, compiled, notices, 60.0)) == []
    (told,) = notices
    assert "says that 240 nodes fail; of 240 that were taken, 40 break the rule" in told


def test_queries_are_sent_by_post_one_at_a_time_with_a_name(proxy: Proxy, shapes: Path) -> None:
    with kgreason.investigate(proxy.address, shapes=shapes, **RUN):
        pass
    assert set(proxy.methods) == {"POST"}
    assert proxy.headers["user-agent"].startswith("kgreason/")
    assert not any("INSERT" in text or "DELETE" in text for text in proxy.asked)
    assert len(proxy.asked) < 120


def cut(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    half = body[: len(body) // 2]
    return status, headers | {"Content-Length": str(len(half))}, half


def broken(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return status, headers, body[: len(body) // 2]


def capped(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    rows = len(json.loads(body)["results"]["bindings"])
    return status, headers | {"X-SPARQL-MaxRows": str(rows)}, body


def stopped(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return status, headers | {"X-SQL-State": "S1TAT", "X-SQL-Message": "timeout"}, body


def fewer(query: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    """Leave out a row, with nothing that tells."""
    found = json.loads(body)
    rows = found["results"]["bindings"]
    if "DISTINCT ?focus" in query and "COUNT" not in query:
        del rows[0]
    made = json.dumps(found).encode()
    return status, headers | {"Content-Length": str(len(made))}, made


def login(_: str, status: int, __: dict[str, str], ___: bytes) -> Any:
    page = b"<html>Log in</html>"
    return status, {"Content-Type": "text/html", "Content-Length": str(len(page))}, page


def moved(_: str, __: int, ___: dict[str, str], ____: bytes) -> Any:
    return 302, {"Location": "http://127.0.0.1:1/sparql", "Content-Length": "0"}, b""


def cancelled(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    """End an answer as Fuseki does where its own time limit is reached in the middle of it."""
    last = b"##  Query cancelled due to timeout during execution   ##\n"
    made = body[: len(body) // 2] + b"\n" + last + b"##  ****   Incomplete results   ****   ##\n"
    return status, headers | {"Content-Length": str(len(made))}, made


@pytest.mark.parametrize(
    ("mishap", "said"),
    [
        (cut, "cut off"),
        (cancelled, "Query cancelled due to timeout during execution. That is the server's own"),
        (capped, "rows at most"),
        (stopped, "gave up on a query"),
        (fewer, "counts 40 nodes, but gives 39"),
        (login, "answered with text/html"),
        (moved, r"moved to http://127\.0\.0\.1:1/sparql, which was not named"),
    ],
)
def test_an_answer_that_may_be_a_part_is_never_taken(
    mishap: Any, said: str, proxy: Proxy, shapes: Path, tmp_path: Path
) -> None:
    proxy.every = mishap
    with pytest.raises((SourceError, GraphError), match=said):
        kgreason.investigate(proxy.address, shapes=shapes, ledger=tmp_path / "ledger", **RUN)
    assert not (tmp_path / "ledger" / "CURRENT").exists(), "nothing is half-written"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"violations": "r.ttl"}, "--shapes or --population FILE is needed"),
        ({"shapes": "s.ttl", "cap": 1}, "--cap must be at least"),
        ({"shapes": "s.ttl", "ratio": 0}, "--ratio must be at least"),
        ({"shapes": "s.ttl", "graphs": "no iri"}, "absolute IRI"),
        ({"shapes": "s.ttl", "dialect": "sparqlite"}, "there is no such dialect"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {
        n: v if n != "shapes" else tmp_path / "none.ttl" for n, v in options.items()
    }
    with pytest.raises(OptionError, match=said):
        kgreason.investigate("http://127.0.0.1:1/sparql", **given)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://me:secret@127.0.0.1:1/sparql", "without a user name"),
        ("http://127.0.0.1:1/sparql?key=secret", "without a user name"),
        ("http:///sparql", "give the address"),
    ],
)
def test_an_address_of_no_use_is_refused_and_a_password_not_told(
    address: str, said: str, shapes: Path
) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        kgreason.investigate(address, shapes=shapes)
    assert "secret" not in str(caught.value)


def test_an_estimate_asks_little_and_takes_nothing(proxy: Proxy, shapes: Path) -> None:
    found = kgreason.estimate(proxy.address, shapes=shapes)
    assert found.members == 240
    assert list(found.failing.values()) == [(40, 240)]
    assert found.asked == len(proxy.asked)
    assert "240 focus nodes" in str(found)


def test_a_busy_endpoint_is_asked_again_as_late_as_it_wants(proxy: Proxy, shapes: Path) -> None:
    def busy(_: str, __: int, ___: dict[str, str], ____: bytes) -> Any:
        return 429, {"Retry-After": "0", "Content-Length": "0"}, b""

    def down(_: str, __: int, ___: dict[str, str], ____: bytes) -> Any:
        return 503, {"Retry-After": "0", "Content-Length": "0"}, b""

    proxy.mishaps = {1: busy, 2: down, 5: busy}
    assert len(kgreason.symptoms(proxy.address, shapes=shapes)) == 1
    assert proxy.mishaps == {}
    assert proxy.asked[0] == proxy.asked[1] == proxy.asked[2]


def test_an_endpoint_that_wants_to_be_left_alone_for_long_is_left(
    proxy: Proxy, shapes: Path
) -> None:
    proxy.every = lambda *_: (503, {"Retry-After": "86400", "Content-Length": "0"}, b"")
    with pytest.raises(SourceError, match="asks to be left alone for 86400 s"):
        kgreason.symptoms(proxy.address, shapes=shapes)
    assert len(proxy.asked) == 1


def test_blank_nodes_are_read_whatever_they_are_called(proxy: Proxy) -> None:
    def named(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
        told = json.loads(body)
        for row in told["results"]["bindings"]:
            row["blank"]["value"] = "nodeID://b10001"
        made = json.dumps(told).encode()
        return status, headers | {"Content-Length": str(len(made))}, made

    proxy.every = named
    asking = AskingEndpoint(NamedEndpoint(proxy.address))
    asking.union = "union-default-graph"
    seen = f"<{LAB}s0-0> <{LAB}seen> ?blank . ?blank <{LAB}by> ?person ."
    (row,) = asking.select(f"SELECT ?blank ?person WHERE {{ {seen} }}")
    assert row["person"].value == f"{LAB}person0"


def test_a_body_that_ends_too_early_is_asked_for_again(proxy: Proxy) -> None:
    proxy.mishaps = {1: broken}
    asking = AskingEndpoint(NamedEndpoint(proxy.address), sleep=lambda _: None)
    assert asking.count("SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s a ?c } }") == 247
    assert len(proxy.asked) == 2


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Long: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08" + bytes(6),
    ],
    ids=["status", "header", "body", "packed"],
)
def test_an_answer_that_comes_byte_by_byte_ends_with_the_time(beginning: bytes) -> None:
    with trickling(beginning) as address:
        asking = AskingEndpoint(NamedEndpoint(address, seconds=0.1), sleep=lambda _: None)
        said = r"(did not end its answer|did not answer) within 0\.1 s\. Allow .*--query-seconds"
        with pytest.raises(Late, match=said):  # and it is not asked again
            asking.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")


def test_what_points_at_reached_nodes_is_cut_where_it_takes_too_long(
    server: Served, shapes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = AskingEndpoint.solutions

    def late(self: AskingEndpoint, query: str) -> Any:
        if "SELECT DISTINCT ?property" in query:
            raise Late("the server did not end its answer within 60 s.")
        return ask(self, query)

    monkeypatch.setattr(AskingEndpoint, "solutions", late)
    with kgreason.investigate(server.address, shapes=shapes, **RUN) as found:
        (extract,) = of(found.record, "Extract").values()
        assert extract["cutNodes"] == ["1"]
        assert audit(found.record).ok, str(audit(found.record))


LATE = "the server did not end its answer within 60 s."


def test_a_rule_that_takes_too_long_is_passed_over(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = AskingEndpoint.solutions

    def late(self: AskingEndpoint, query: str) -> Any:
        if "/lab/unit" in query and "EXISTS" in query:
            raise Late(LATE)
        return ask(self, query)

    monkeypatch.setattr(AskingEndpoint, "solutions", late)
    both = tmp_path / "shapes.ttl"
    slow = "e:SlowShape a sh:NodeShape ; sh:targetClass e:Sample ;\n"
    slow += "  sh:property [ sh:path e:unit ; sh:minCount 1 ] .\n"
    both.write_text(SHAPES + slow, encoding="utf-8")
    with kgreason.investigate(server.address, shapes=both, **RUN) as found:
        told = found.as_dict()
    assert [one["failing"] for one in told["symptoms"]] == [40]
    said = next(one for one in told["notices"] if one.startswith("MinCount"))
    assert "/lab/unit" in said
    assert said.endswith(f"{LATE} It is passed over.")


TIMED_OUT = b"Query timed out\n"


@pytest.mark.parametrize("status", [408, 500, 503])
def test_a_rule_that_takes_the_server_too_long_is_passed_over_at_once(
    status: int, proxy: Proxy, tmp_path: Path
) -> None:
    """As Fuseki answers whose own time limit was reached, and some others with other statuses."""

    def gives_up(query: str, *answer: Any) -> Any:
        if "/lab/unit" in query and "EXISTS" in query:
            return status, {"Content-Type": "text/plain", "Content-Length": "16"}, TIMED_OUT
        return answer

    proxy.every = gives_up
    both = tmp_path / "shapes.ttl"
    slow = "e:SlowShape a sh:NodeShape ; sh:targetClass e:Sample ;\n"
    slow += "  sh:property [ sh:path e:unit ; sh:minCount 1 ] .\n"
    both.write_text(SHAPES + slow, encoding="utf-8")
    seen = kgreason.symptoms(proxy.address, shapes=both)
    assert [one.failing for one in seen] == [40]
    (said,) = (one for one in seen.notices if one.startswith("MinCount"))
    assert f"answered {status}: Query timed out. That is the server's own time limit" in said
    assert said.endswith("It is passed over.")
    assert sum("/lab/unit" in query and "EXISTS" in query for query in proxy.asked) == 1


@pytest.mark.parametrize("headers", [{}, {"Server": "nginx"}])
def test_fuseki_is_known_by_the_header_that_it_sends(headers: dict[str, str], proxy: Proxy) -> None:
    """It sends no header Server unless it is told to, and a proxy before it sends its own."""
    content = b'{"head": {"vars": []}, "results": {"bindings": []}}'
    own = headers | {"Fuseki-Request-Id": "7", "Content-Length": str(len(content))}
    proxy.every = lambda *_: (200, own, content)
    asking = AskingEndpoint(NamedEndpoint(proxy.address))
    asking.select("SELECT ?a WHERE { ?a ?b ?c }")
    assert asking.server.endswith("fuseki-request-id")
    assert dialect_of(asking).name == "fuseki"


def test_an_endpoint_that_answers_nothing_any_more_ends_the_run(
    server: Served, shapes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, sent = AskingEndpoint.solutions, AskingEndpoint._sent
    gone: list[str] = []

    def late(self: AskingEndpoint, query: str) -> Any:
        if gone or "failing" in query or "NOT EXISTS" in query:
            gone.append(query)
            raise Late(LATE)
        return ask(self, query)

    def dead(self: AskingEndpoint, form: Any) -> Any:
        if gone:
            raise Late(LATE)
        return sent(self, form)

    monkeypatch.setattr(AskingEndpoint, "solutions", late)
    monkeypatch.setattr(AskingEndpoint, "_sent", dead)
    with pytest.raises(Late, match="did not end its answer"):
        kgreason.investigate(server.address, shapes=shapes, **RUN)


def test_many_named_graphs_beside_an_empty_default_graph_are_not_taken_for_nothing(
    shapes: Path,
) -> None:
    graphs = {
        f"https://example.org/graphs/{n}": f"{HEAD} e:s{n} a e:Sample .".encode() for n in range(51)
    }
    plain = AskingEndpoint.solutions
    with oxigraph_server(graphs) as many, pytest.MonkeyPatch.context() as patched:

        def without_union(self: AskingEndpoint, query: str) -> Any:
            self.union = None  # as of an engine that has no parameter for it
            return plain(self, query)

        patched.setattr(AskingEndpoint, "solutions", without_union)
        with pytest.raises(GraphError, match="default graph is empty, and there are more than 50"):
            kgreason.investigate(many.address, shapes=shapes, **RUN)


def test_an_endpoint_that_dies_is_asked_nothing_twice(
    proxy: Proxy, shapes: Path, tmp_path: Path, by_files: Result
) -> None:
    asked: dict[str, Any] = {"shapes": shapes, "ledger": tmp_path / "ledger", **RUN}
    gone = (503, {"Retry-After": "86400", "Content-Length": "0"}, b"")
    answered = 40

    def dies(_: str, *answer: Any) -> Any:
        return answer if len(proxy.asked) <= answered else gone

    proxy.every = dies
    with pytest.raises(SourceError, match=r"is kept in .*ledger\.asked: the same command goes on"):
        kgreason.investigate(proxy.address, **asked)
    assert not (tmp_path / "ledger" / "CURRENT").exists()
    before, proxy.asked, proxy.every = set(proxy.asked[:answered]), [], None
    kept = sorted((tmp_path / "ledger.asked").iterdir())
    kept[0].write_bytes(kept[0].read_bytes()[:-1])  # one that was written by half
    with kgreason.investigate(proxy.address, **asked) as found:
        (extract,) = of(found.record, "Extract").values()
        assert extract["answersKept"] == [str(len(kept) - 1)]
        assert len(before & set(proxy.asked)) == 1 + (answered - len(kept))
        assert leading(found) == leading(by_files)
        assert "were kept from a run that was interrupted" in found.markdown()
        assert audit(found.record).ok, str(audit(found.record))
    assert not (tmp_path / "ledger.asked").exists()


def test_only_answers_of_an_earlier_run_count_as_kept(proxy: Proxy, tmp_path: Path) -> None:
    query = "SELECT ?graph WHERE { GRAPH ?graph { } }"
    for earlier in (0, 3):
        asking = AskingEndpoint(
            NamedEndpoint(proxy.address), answers=KeptAnswers(tmp_path / "ledger.asked")
        )
        for _ in range(3):
            asking.select(query)
        assert (asking.asked.queries, asking.asked.kept) == (3, earlier)
    assert proxy.asked == [query], "what was answered is not asked again"


def test_answers_that_are_too_old_or_of_other_data_are_asked_for_again(
    proxy: Proxy, shapes: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "ledger.asked"
    answers = KeptAnswers(folder)
    answers.put(proxy.address, [("query", "ASK {}")], b"{}", "")
    (path,) = folder.iterdir()
    os.utime(path, (0, 0))
    assert KeptAnswers(folder).get(proxy.address, [("query", "ASK {}")]) is None
    proxy.every = fewer
    with pytest.raises(SourceError, match="counts 40 nodes, but gives 39"):
        kgreason.investigate(proxy.address, shapes=shapes, ledger=tmp_path / "ledger", **RUN)
    assert not folder.exists()


def test_the_command_line_estimates_and_investigates(
    server: Served, shapes: Path, tmp_path: Path
) -> None:
    def run(*options: str) -> "subprocess.CompletedProcess[str]":
        asked = [sys.executable, "-m", "kgreason", "investigate", server.address, *options]
        asked += ["--shapes", str(shapes)]
        return subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)

    estimate = run("--dry-run", "--graph", "https://example.org/feeds/3")
    assert "80 focus nodes" in estimate.stdout, estimate.stderr
    assert not (tmp_path / ".kgreason").exists()
    whole = run("--no-try-repairs", "--header", "X-Key: env:NO_SUCH_VARIABLE")
    assert whole.returncode == 2
    assert "there is no environment variable NO_SUCH_VARIABLE" in whole.stderr
