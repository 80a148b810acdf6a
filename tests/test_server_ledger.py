"""The ledger on a server: the same record, races that are lost, writers that are killed."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib

import kgreason
from kgreason.audit import audit, chain
from kgreason.audit.findings import Finding
from kgreason.audit.merged import History
from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record
from kgreason.record.mirror import Mirror
from kgreason.record.remote import RaceLost, Server, address_of
from kgreason.review.judge import judge
from kgreason.run import recorded
from tests.endpoint_server import Proxy, Served, oxigraph_server, proxy_before
from tests.fuseki_server import fuseki_server
from tests.jena_server import jena_server
from tests.lifetime_support import of
from tests.queue_support import workers_here

pytestmark = pytest.mark.slow

pytest.importorskip("httpx")
HEAD = "@prefix e: <https://example.org/lab/> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
SHAPES = f"""{HEAD}
e:SampleShape a sh:NodeShape ; sh:targetClass e:Sample ;
  sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""
NONCE = "5eed5eed5eed"
NONCE_IRI = f"urn:kgreason:{NONCE}"
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}
WRITERS = ox.NamedNode("urn:kgreason:writers")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six feeds of forty samples, of which those of one lack a mass; the shapes lie beside."""
    folder = tmp_path_factory.mktemp("lab") / "data"
    folder.mkdir()
    for feed in range(6):
        rows = [HEAD]
        for n in range(40):
            lacks = n % 8 != 0 if feed == 3 else n == 5 + feed
            rows.append(f"e:s{feed}-{n} a e:Sample{'' if lacks else f' ; e:mass {n + 1}.5'} .")
        (folder / f"{feed}.ttl").write_text("\n".join(rows), encoding="utf-8")
    (folder.parent / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a folder of its own, whose updates do not wait for each other."""
    with oxigraph_server({}, "--location", str(tmp_path_factory.mktemp("server"))) as served:
        yield served


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server like it, in whose ledger there are but a few steps."""
    with oxigraph_server({}, "--location", str(tmp_path_factory.mktemp("bare"))) as served:
        yield served


@pytest.fixture(scope="module")
def written(server: Served, data: Path) -> str:
    """The address of a ledger with an investigation; each step was looked at whole."""
    quick, found = Mirror._changed_by_step, []

    def looked_at(self: Mirror, graph: ox.NamedNode, known: set[str]) -> Any:
        lines = self._lines(graph)
        found.append(quick(self, graph, known))
        assert found[-1] == (frozenset(known - lines), lines - known)
        return found[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KGREASON_LEDGER_AUTH", "ada:open-sesame")
        patched.setattr(Mirror, "_changed_by_step", looked_at)
        investigate(data, server.base, nonce=NONCE)
    assert len(found) > 5
    return server.base


def investigate(data: Path, ledger: str | Path, **more: Any) -> None:
    shapes = data.parent / "shapes.ttl"
    kgreason.investigate(data, shapes=shapes, ledger=ledger, **RUN, **more).close()


def timeless(record: Record) -> set[str]:
    """Return the statements of a record but for times and what follows from them."""
    own = ("Time", "#elapsed", "#hash", "#options", "generatedAtTime")
    return {
        f"{q.subject} {q.predicate} {q.object}"
        for q in record.store.quads(record.iri)
        if not q.predicate.value.endswith(own)
    }


def test_a_record_on_a_server_is_that_of_a_folder(data: Path, written: str, tmp_path: Path) -> None:
    investigate(data, tmp_path / "ledger", nonce=NONCE)
    with recorded(tmp_path / "ledger") as folder, recorded(Path(written), NONCE_IRI) as there:
        assert timeless(there.record) == timeless(folder.record)
        assert audit(there.record).ok, str(audit(there.record))
        assert there.markdown()


def test_a_password_is_nowhere(written: str) -> None:
    for name in Server(written).graphs():
        held = " ".join(Server(written).lines(ox.NamedNode(name)))
        assert "sesame" not in held
        assert "YWRhOm9wZW4" not in held


@pytest.mark.parametrize(
    ("given", "sent"),
    [("ada:open-sesame", "Basic YWRhOm9wZW4tc2VzYW1l"), ("Bearer a.b-c==", "Bearer a.b-c==")],
)
def test_a_password_or_token_goes_with_each_request(
    bare: Served, given: str, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    acted(bare.base, "5eeda0", 1)
    monkeypatch.setenv("KGREASON_LEDGER_AUTH", given)
    with proxy_before(bare.base) as proxy:
        Ledger.read(Path(proxy.base)).close()
        assert proxy.headers["authorization"] == sent


@pytest.mark.parametrize("given", ["secret", "Bearer two words", "ada:se\ncret"])
def test_what_is_no_password_is_refused_and_not_told(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGREASON_LEDGER_AUTH", given)
    with pytest.raises(OptionError, match="USER:PASSWORD or Bearer TOKEN") as refused:
        Ledger.read(Path("http://127.0.0.1:9"))
    assert "cret" not in str(refused.value)


def test_whoever_is_second_writes_nothing(written: str) -> None:
    with Ledger.append(Path(written)) as one, Ledger.append(Path(written)) as other:
        first, second = (led.record(led.entry(NONCE_IRI)) for led in (one, other))
        first.commit(first.step("Act"))
        before = Server(written).lines(first.iri)
        with pytest.raises(RaceLost, match="somebody else has written"):
            second.commit(second.step("Act"))
        assert Server(written).lines(first.iri) == before
        with pytest.raises(RaceLost):
            second.commit(second.step("Act"))  # its copy is as it was, and so is of no use
    assert Server(written).graphs().keys() == {NONCE_IRI, "urn:kgreason:ledger"}


def together(*works: Any) -> list[BaseException]:
    """Do some work at once; gives what went wrong."""
    wrong: list[BaseException] = []

    def done(work: Any) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told to the test
            wrong.append(error)

    threads = [threading.Thread(target=done, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def judging(address: str, name: str) -> Any:
    """Return what judges a hypothesis in somebody's name."""
    return lambda: judge(address, "H1", name, right=True, which=NONCE_IRI)


def test_people_who_judge_at_once_are_all_heard(written: str) -> None:
    names = ["ada", "ben", "cleo", "dan"]
    assert together(*(judging(written, name) for name in names)) == []
    with recorded(Path(written), NONCE_IRI) as found:
        judged = of(found.record, "Judgement").values()
        assert len(judged) == len(names)
        assert len({one["wasAttributedTo"][0] for one in judged}) == len(names)
        heads = found.record.store.values(found.record.iri, TRAILS.head, found.record.iri)
        assert len(heads) == 1
        assert audit(found.record).ok, str(audit(found.record))


def test_investigations_that_begin_at_once_get_numbers_of_their_own(written: str) -> None:
    def numbered() -> None:
        with Ledger.write(Path(written)) as ledger:
            record = ledger.new()
            record.commit(record.step("Act"))

    def numbers() -> list[int]:
        with Ledger.read(Path(written)) as ledger:
            marks = ledger.store.inner.query(
                f"SELECT ?n {{ GRAPH <urn:kgreason:ledger> {{ ?i {TRAILS.number} ?n }} }}"
            )
            assert isinstance(marks, ox.QuerySolutions)
            return sorted(int(row[0].value) for row in marks)

    assert together(numbered, numbered, numbered) == []
    assert numbers() == [1, 2, 3, 4]


def test_an_answer_that_is_lost_after_it_was_written_is_not_written_twice(
    data: Path, tmp_path: Path
) -> None:
    """Every fifth answer is lost: the server has done its work, and says that it is busy."""
    with oxigraph_server({}) as served, proxy_before(served.base) as proxy:

        def lost(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
            if len(proxy.methods) % 5:
                return status, headers, body
            return 503, {"Content-Length": "0", "Retry-After": "0"}, b""

        proxy.every = lost
        investigate(data, proxy.base, nonce=NONCE)
        investigate(data, tmp_path / "ledger", nonce=NONCE)
        with recorded(tmp_path / "ledger") as folder, recorded(Path(served.base)) as there:
            assert timeless(there.record) == timeless(folder.record)
            assert audit(there.record).ok


def test_an_answer_that_is_a_part_is_none(written: str) -> None:
    with proxy_before(written) as proxy:

        def cut(_: str, status: int, headers: dict[str, str], body: bytes) -> Any:
            if not any(said.startswith("application/n-triples") for said in headers.values()):
                return status, headers, body
            kept = b"\n".join(body.splitlines()[:-1]) + b"\n"
            return status, headers | {"Content-Length": str(len(kept))}, kept

        proxy.every = cut
        with pytest.raises(LedgerError, match="its answers are cut"):
            Ledger.read(Path(proxy.base))


def request_of(path: str, body: bytes) -> str:
    """Return what a request of a writer is for: a step takes five."""
    text = body.decode()
    if path == "/update" and "trails#hash" in text:
        return "step"
    return next((name for name, sign in _SIGNS.items() if sign in text), "other")


_SIGNS = {
    "claim": "BIND (NOW() AS ?now)",
    "look": "SELECT DISTINCT ?writer",
    "heads": "SELECT ?head",
    "sure": "ASK",
}
POINTS = [
    ("claim", "before"),
    ("claim", "after"),
    ("look", "after"),
    ("step", "before"),
    ("step", "middle"),
    ("step", "after"),
    ("heads", "after"),
    ("sure", "after"),
]
"""Where a writer is killed: before a request arrives, in its middle, or before its answer."""


def killing(
    proxy: Proxy, point: tuple[str, str], nonce: str, step: int, victim: Callable[[], int]
) -> None:
    """Have a proxy kill who writes through it at a request of one of the steps of a record."""
    request, when = point
    seen = {"step": 0}

    def reached(path: str, body: bytes) -> bool:
        kind = request_of(path, body)
        seen["step"] += kind == "claim" and f"<urn:kgreason:{nonce}>".encode() in body
        return (kind, seen["step"]) == (request, step)

    def on_way(path: str, body: bytes) -> bytes | None:
        proxy.every = None
        if not reached(path, body):
            return body
        if when == "after":
            proxy.every = lambda *_: os.kill(victim(), signal.SIGKILL)
            return body
        os.kill(victim(), signal.SIGKILL)
        return body[: len(body) // 2] if when == "middle" else None

    proxy.on_way = on_way


def record_in(ledger: Ledger, nonce: str) -> Record:
    """Return the record of an investigation, of which only steps need be there."""
    return Record(ledger.store, ox.NamedNode(f"urn:kgreason:{nonce}"), ledger.blobs)


def acted(address: str | Path | None, nonce: str, until: int) -> None:
    """Write steps of an investigation until there are so many."""
    with Ledger.write(Path(address or "")) as ledger:
        record = record_in(ledger, nonce)
        for _ in range(len(record.select("steps-of", phase=TRAILS.Act)), until):
            record.commit(record.step("Act"))


def wrong_seals(record: Record) -> list[Finding]:
    """Return what is wrong with the seals of the steps of a record, worked out again."""
    history = History(record)
    seals = chain.Seals(history)
    return [
        found
        for step in history.instances(TRAILS.Step)
        for found in seals.check(step, ((n, history.properties(n)) for n in history.written(step)))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "point"), [*enumerate(POINTS)], ids=map("-".join, POINTS))
def test_a_writer_that_is_killed_at_any_request_leaves_whole_steps(
    bare: Served, tmp_path: Path, number: int, point: tuple[str, str]
) -> None:
    """The third of four steps is there or not, whole and once; who goes on adds the rest."""
    nonce, done = f"5eed5eed{number:04}", point[0] in {"heads", "sure"} or point == POINTS[5]
    with proxy_before(bare.base) as proxy:
        writer = get_context("fork").Process(target=acted, args=(proxy.base, nonce, 4))
        killing(proxy, point, nonce, 3, lambda: writer.pid or 0)
        writer.start()
        writer.join(60)
        assert writer.exitcode == -signal.SIGKILL
    left, graph = Server(bare.base), ox.NamedNode(f"urn:kgreason:{nonce}")
    assert sum("trails#hash" in line for line in left.lines(graph)) == (3 if done else 2)
    assert bool(left.lines(WRITERS)) == (not done and point != POINTS[0])
    aged(left)
    acted(bare.base, nonce, 4)
    acted(tmp_path / "ledger", nonce, 4)
    with Ledger.read(Path(bare.base)) as there, Ledger.read(tmp_path / "ledger") as folder:
        record = record_in(there, nonce)
        assert timeless(record) == timeless(record_in(folder, nonce))
        assert wrong_seals(record) == []
    assert not left.lines(WRITERS)


def test_answers_that_never_come_are_asked_for_again_and_nothing_is_written_twice(
    bare: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request arrives, and its first answer is lost."""
    monkeypatch.setattr("kgreason.base.fetching.figure", lambda _: 0.0)
    nonce, seen = "5eed105e", dict[bytes, str]()
    with proxy_before(bare.base) as proxy:

        def lost(path: str, body: bytes) -> bytes:
            first = request_of(path, body) != "other" and body not in seen
            proxy.every = (lambda *_: None) if first else None
            seen[body] = request_of(path, body)
            return body

        proxy.on_way = lost
        acted(proxy.base, nonce, 3)
    assert {name for name, _ in POINTS} <= set(seen.values())
    acted(tmp_path / "ledger", nonce, 3)
    with Ledger.read(Path(bare.base)) as there, Ledger.read(tmp_path / "ledger") as folder:
        record = record_in(there, nonce)
        assert timeless(record) == timeless(record_in(folder, nonce))
        assert wrong_seals(record) == []
    assert not Server(bare.base).lines(WRITERS)


INVESTIGATE = """
import sys
import kgreason
data, ledger, shapes = sys.argv[1:]
kgreason.investigate(data, shapes=shapes, ledger=ledger, nonce="5eed5eed5eed",
    try_repairs=False, seed=3)
"""


@pytest.mark.parametrize(
    ("last", "when"),
    [
        (5, "middle"),
        *(
            pytest.param(last, when, marks=pytest.mark.slow)
            for last in (2, 3, 8, 11)
            for when in ("before", "middle", "after")
        ),
    ],
)
def test_an_investigation_that_was_killed_is_gone_on_with(
    data: Path, tmp_path: Path, last: int, when: str
) -> None:
    shapes = data.parent / "shapes.ttl"
    with oxigraph_server({}, "--location", str(tmp_path / "server")) as served:
        with proxy_before(served.base) as proxy:
            own = [sys.executable, "-c", INVESTIGATE, str(data), proxy.base, str(shapes)]
            pid: Queue[int] = Queue()
            killing(proxy, ("step", when), NONCE, last, lambda: pid.get(timeout=60))
            writer = subprocess.Popen(own)
            pid.put(writer.pid)
            assert writer.wait(120) == -signal.SIGKILL
        left = Server(served.base)
        assert any("writing" in line for line in left.lines(WRITERS)) == (when != "after")
        aged(left)  # as it is when half a minute has gone by
        kgreason.resume(served.base).close()
        investigate(data, tmp_path / "ledger", nonce=NONCE)
        with recorded(tmp_path / "ledger") as folder, recorded(Path(served.base)) as there:
            assert timeless(there.record) == timeless(folder.record)
            assert audit(there.record).ok, str(audit(there.record))
        assert not left.lines(WRITERS)


def aged(server: Server) -> None:
    """Make what writers said that they write to older than it counts."""
    day = '"2020-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    server._update(
        f"DELETE {{ GRAPH {WRITERS} {{ ?w <urn:kgreason:since> ?s }} }} "
        f"INSERT {{ GRAPH {WRITERS} {{ ?w <urn:kgreason:since> {day} }} }} "
        f"WHERE {{ GRAPH {WRITERS} {{ ?w <urn:kgreason:since> ?s }} }}"
    )


class _Rdflib(BaseHTTPRequestHandler):
    """A store of rdflib behind the protocol, at a path as Fuseki has it; its updates take turns."""

    dataset: rdflib.Dataset
    lock: threading.Lock

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        kind, content = "text/plain", b""
        with self.lock:
            if (self.path, self.headers["content-type"]) == ("/ds/update", _UPDATE):
                self.dataset.update(text)
                status = 204
            elif (self.path, self.headers["content-type"]) == ("/ds/query", _QUERY):
                status, kind = 200, self.headers["accept"]
                form = "nt" if kind == "application/n-triples" else "json"
                content = self.dataset.query(text).serialize(format=form) or b""
            else:
                status = 404
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # it asks again where this took too long
            self.wfile.write(content)


_UPDATE, _QUERY = "application/sparql-update", "application/sparql-query"


@contextlib.contextmanager
def rdflib_server() -> Iterator[str]:
    """Run a store of rdflib; gives the address of its dataset."""
    own = {"dataset": rdflib.Dataset(), "lock": threading.Lock()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Rdflib,), own))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/ds"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def jena_dataset() -> Iterator[str]:
    """Run Jena's engine and its transactional store; gives the address of its dataset."""
    with jena_server([]) as served:
        yield f"{served.base}/ds"


@contextlib.contextmanager
def fuseki_in_memory() -> Iterator[str]:
    """Run Fuseki with a dataset in memory; gives its address."""
    with fuseki_server() as served:
        yield served.dataset


@contextlib.contextmanager
def fuseki_on_disk() -> Iterator[str]:
    """Run Fuseki with a TDB2, which rewrites numbers; gives the address of its dataset."""
    with fuseki_server(on_disk=True) as served:
        yield served.dataset


@pytest.mark.slow
@pytest.mark.parametrize("served", [rdflib_server, jena_dataset, fuseki_in_memory, fuseki_on_disk])
def test_another_engine_keeps_the_same_record(
    served: Callable[[], contextlib.AbstractContextManager[str]],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    with served() as address:
        investigate(data, address, nonce=NONCE)
        investigate(data, tmp_path / "ledger", nonce=NONCE)
        with recorded(tmp_path / "ledger") as folder, recorded(Path(address)) as there:
            assert timeless(there.record) == timeless(folder.record)
            assert audit(there.record).ok, str(audit(there.record))


@pytest.mark.slow
@pytest.mark.parametrize("served", [jena_dataset, fuseki_in_memory, fuseki_on_disk])
def test_people_who_judge_at_once_are_all_heard_by_another_engine(
    served: Callable[[], contextlib.AbstractContextManager[str]], data: Path
) -> None:
    with served() as address:
        investigate(data, address, nonce=NONCE)
        names = ["ada", "ben", "cleo", "dan"]
        assert together(*(judging(address, name) for name in names)) == []
        with recorded(Path(address), NONCE_IRI) as found:
            assert len(of(found.record, "Judgement")) == len(names)
            assert audit(found.record).ok, str(audit(found.record))


@pytest.mark.slow
def test_workers_write_to_it_through_whoever_joins(
    data: Path, written: str, tmp_path: Path
) -> None:
    nonce = "5eed5eed5eed5eed"
    with workers_here():
        investigate(data, written, nonce=nonce, queue=tmp_path / "queue")
    with recorded(Path(written), f"urn:kgreason:{nonce}") as found:
        joins = found.record.select("steps-of", phase=TRAILS.Join)
        assert len(joins) == 1
        assert audit(found.record).ok, str(audit(found.record))


def test_a_long_text_is_kept_on_the_server(written: str) -> None:
    text = 'a "line"\r\n\\ and é\t\u2028' * 60_000
    with Ledger.append(Path(written)) as ledger:
        digest = ledger.blobs.put(text)
    with Ledger.read(Path(written)) as ledger:
        assert ledger.blobs.get(digest) == text
        assert not ledger.blobs.has("0" * 64)
        with pytest.raises(LedgerError, match="it is gone"):
            ledger.blobs.get("0" * 64)


@pytest.mark.parametrize("given", ["http://ada:pw@host", "http://host/?q=1", "https://host/#a"])
def test_an_address_of_no_use_is_refused_without_its_password(given: str) -> None:
    with pytest.raises(OptionError) as refused:
        address_of(Path(given))
    assert "pw" not in str(refused.value)


def test_what_no_step_may_take_away_is_found_by_a_look_at_all(bare: Served) -> None:
    acted(bare.base, "5eed0a11", 2)
    graph = ox.NamedNode("urn:kgreason:5eed0a11")
    gone = f"<{graph.value}:step:1> {TRAILS.index} 1"
    with Ledger.append(Path(bare.base)) as ledger:
        ledger.store.update(f"DELETE DATA {{ GRAPH {graph} {{ {gone} }} }}", {})
    assert not [line for line in Server(bare.base).lines(graph) if line.startswith(gone[:-1])]


def test_where_no_server_or_no_ledger_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgreason.base.fetching.figure", lambda _: 0.0)
    with pytest.raises(LedgerError, match="cannot be read"):
        Ledger.read(Path("http://127.0.0.1:9"))
    with oxigraph_server({}) as served:
        with pytest.raises(LedgerError, match="no ledger here"):
            Ledger.read(Path(served.base))
        with pytest.raises(LedgerError, match=r"is it a SPARQL 1\.1 store|cannot be read"):
            Ledger.read(Path(f"{served.base}/elsewhere"))


def test_a_name_that_is_no_address_is_a_folder() -> None:
    assert address_of(Path(".kgreason")) is None
    assert address_of("http://host:1/") == address_of(Path("http://host:1")) == "http://host:1"
    assert os.fspath(Path("http://host:1")) == "http:/host:1"
