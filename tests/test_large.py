"""Data that are too large for the memory are asked on disk, and the answer is that of files."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from benchmarks import large_bench
from kgreason.audit import audit
from kgreason.base.errors import GraphError, OptionError
from kgreason.base.templates import Fragment
from kgreason.cli.manual import page
from kgreason.endpoint import streaming
from kgreason.endpoint.asking_endpoint import Inconsistent
from kgreason.endpoint.local_store import AskingStore, asking_of
from kgreason.endpoint.named_endpoint import NamedEndpoint
from kgreason.endpoint.paging import Besides, Listed, Plain, digest
from kgreason.endpoint.streaming import pages_of
from kgreason.graph import bulk
from kgreason.graph.bulk import bulk_loaded, memory_of
from kgreason.report.result import Result
from tests.lifetime_support import of

HEAD = "@prefix e: <https://example.org/lab/> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
SHAPES = f"""{HEAD}
e:SampleShape a sh:NodeShape ; sh:targetClass e:Sample ;
  sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""
RUN: dict[str, Any] = {"try_repairs": False, "seed": 3}


def feed(number: int) -> str:
    """Return a feed of forty samples, of which those of feed 3 lack a mass."""
    rows = [HEAD]
    for n in range(40):
        lacks = n % 8 != 0 if number == 3 else n == 5 + number
        mass = "" if lacks else f" ; e:mass {n + 1}.5"
        rows.append(f"e:s{number}-{n} a e:Sample ; e:seen [ e:by e:person{n % 3} ]{mass} .")
    return "\n".join(rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "data"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.ttl").write_text(feed(number), encoding="utf-8")
    (folder.parent / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def result(data: Path) -> Iterator[Result]:
    """An investigation of these files, for which no memory is allowed."""
    ledger = data.parent / "ledger"
    shapes = data.parent / "shapes.ttl"
    with kgreason.investigate(data, shapes=shapes, ledger=ledger, memory=1, **RUN) as found:
        yield found


def told(result: Result) -> list[tuple[str, str, int]]:
    said = result.as_dict()
    return [(one["name"], one["verdict"], one["failing"]) for one in said["symptoms"]]


def test_what_is_too_large_gives_the_same_answer(data: Path, result: Result) -> None:
    with kgreason.investigate(data, shapes=data.parent / "shapes.ttl", **RUN) as whole:
        assert told(result) == told(whole)
        assert [c.statement for c in result.causes] == [c.statement for c in whole.causes]
    assert result.causes
    confirmed = of(result.record, "Confirmation").values()
    assert [(c["insideFailingThere"], c["agrees"]) for c in confirmed] == [(["35"], ["true"])]


def test_the_record_says_what_lay_on_disk(data: Path, result: Result) -> None:
    (extract,) = of(result.record, "Extract").values()
    assert extract["originPath"] == [str(data)]
    assert extract["endpoint"][0].startswith("file:///")
    store = bulk_loaded([data], [], data.parent / "ledger.stores", lambda *_: None, 1 << 30)
    assert extract["originDigest"] == [store.digest]
    assert Path(extract["endpoint"][0].removeprefix("file://")) == store.folder
    assert "of memory, and" in result.markdown()
    assert audit(result.record).ok, str(audit(result.record))


def test_files_are_loaded_once(data: Path, result: Result, monkeypatch: Any) -> None:
    def never(*_: Any) -> None:
        raise AssertionError

    assert result.causes
    monkeypatch.setattr(bulk, "_one", never)
    cache = data.parent / "ledger.stores"
    first = bulk_loaded([data], [], cache, lambda *_: None, 1 << 30)
    assert ox.Store.read_only(str(first.folder)).query("ASK { GRAPH ?g { ?s ?p ?o } }")


def test_a_load_that_was_interrupted_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    whole = bulk._one

    def stopping(store: ox.Store, file: Any) -> None:
        if len(loaded) == 3:
            raise KeyboardInterrupt
        loaded.append(file.name)
        whole(store, file)

    monkeypatch.setattr(bulk, "_one", stopping)
    with pytest.raises(KeyboardInterrupt):
        bulk_loaded([data], [], tmp_path, lambda *_: None, 1 << 30)
    (place,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert not (place / "whole.json").exists()
    assert json.loads((place / "loaded.json").read_text()) == ["0.ttl", "1.ttl", "2.ttl"]

    def noting(store: ox.Store, file: Any) -> None:
        loaded.append(file.name)
        whole(store, file)

    monkeypatch.setattr(bulk, "_one", noting)
    found = bulk_loaded([data], [], tmp_path, lambda *_: None, 1 << 30)
    assert loaded == [f"{n}.ttl" for n in range(6)]
    store = ox.Store.read_only(str(found.folder))
    assert len(list(store.named_graphs())) == 6
    alone = ox.Store()
    for number in range(6):
        alone.load(feed(number).encode(), format=ox.RdfFormat.TURTLE)
    assert len(store) == len(alone)


def test_a_broken_file_is_told_with_its_line_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    broken = tmp_path / "broken.nt"
    broken.write_text("<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> oops .\n", encoding="utf-8")
    with pytest.raises(GraphError, match=r"broken\.nt: .*line 2"):
        bulk_loaded([broken], [], tmp_path / "cache", lambda *_: None, 1 << 30)
    assert not list((tmp_path / "cache").rglob("whole.json"))
    broken.write_text("<urn:a> <urn:b> <urn:c> .\n", encoding="utf-8")
    found = bulk_loaded([broken], [], tmp_path / "cache", lambda *_: None, 1 << 30)
    assert len(ox.Store.read_only(str(found.folder))) == 1


def test_a_store_folder_is_asked_where_it_lies(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    store = ox.Store(str(folder))
    for number in range(6):
        graph = ox.NamedNode(f"urn:src:{number}.ttl")
        store.load(feed(number).encode(), format=ox.RdfFormat.TURTLE, to_graph=graph)
    store.flush()
    del store
    before = sorted((p.name, p.stat().st_size) for p in folder.glob("*.sst"))
    shapes = data.parent / "shapes.ttl"
    ledger = tmp_path / "ledger"
    with kgreason.investigate(folder, shapes=shapes, ledger=ledger, memory=1, **RUN) as found:
        assert told(found) == [("MinCount of mass in SampleShape", "explained", 40)]
    assert sorted((p.name, p.stat().st_size) for p in folder.glob("*.sst")) == before
    assert not (tmp_path / "ledger.stores").exists()
    symptoms = kgreason.symptoms(folder, shapes=shapes, memory=1)
    assert [(one.failing, one.population) for one in symptoms] == [(40, 240)]


def test_without_a_ledger_the_store_is_gone_in_the_end_and_the_result_stays(data: Path) -> None:
    with kgreason.investigate(data, shapes=data.parent / "shapes.ttl", memory=1, **RUN) as found:
        (confirmed,) = of(found.record, "Confirmation").values()
        assert "not there any more" in confirmed["notCounted"][0]
        assert found.causes


def test_what_needs_all_of_the_data_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--memory: there is --redact, and that needs the data"):
        kgreason.symptoms(data, shapes=data.parent / "shapes.ttl", redact="e:mass", memory=1)
    report = tmp_path / "report.ttl"
    report.write_text(f"{HEAD}[] a sh:ValidationReport ; sh:conforms true .", encoding="utf-8")
    with pytest.raises(OptionError, match="nothing but the data says who is looked at"):
        kgreason.symptoms(data, violations=report, memory=1)
    ox.Store(str(tmp_path / "own")).flush()
    with pytest.raises(OptionError, match="has to be the only data"):
        kgreason.symptoms([tmp_path / "own", data], shapes=data.parent / "shapes.ttl", memory=1)


def test_what_is_small_is_loaded_whole(data: Path) -> None:
    assert 0 < memory_of([data]) < 1 << 22
    with kgreason.investigate(data, shapes=data.parent / "shapes.ttl", memory=1 << 30, **RUN) as r:
        assert not of(r.record, "Extract")


def test_a_packed_file_counts_as_what_it_unpacks_to(tmp_path: Path) -> None:
    text = "<urn:a> <urn:b> <urn:c> .\n" * 100
    (tmp_path / "plain.nt").write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "packed.nt.gz", "wb") as packed:
        packed.write(text.encode())
    store = bulk_loaded([tmp_path / "packed.nt.gz"], [], tmp_path / "c", lambda *_: None, 1 << 30)
    assert len(ox.Store.read_only(str(store.folder))) == 1
    with pytest.raises(GraphError, match="unpacks to more than"):
        bulk_loaded([tmp_path / "packed.nt.gz"], [], tmp_path / "d", lambda *_: None, 100)


@pytest.mark.parametrize("kind", large_bench.KINDS)
def test_the_graphs_of_the_benchmark_are_read_and_explained(kind: str, tmp_path: Path) -> None:
    path = large_bench.write(kind, 6_000, tmp_path)
    store = ox.Store()
    store.bulk_load(path=str(path))
    assert 5_500 < len(store) < 6_500
    if kind == "plain":
        found = large_bench.run(path, "1")
        assert found["found"], found["causes"]


def test_the_manual_tells_of_it() -> None:
    assert "--memory" in page()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> AskingStore:
    """A store with three hundred nodes, each in two graphs, and two without an IRI."""
    folder = tmp_path_factory.mktemp("asked") / "store"
    store = ox.Store(str(folder))
    for graph in ("urn:g:1", "urn:g:2"):
        nodes = [*(f"<urn:n:{n}>" for n in range(300)), "_:a", "_:b"]
        said = "".join(f"{node} <urn:of> <urn:all>, <urn:part> .\n" for node in nodes[:240])
        said += "".join(f"{node} <urn:of> <urn:all> .\n" for node in nodes[240:])
        store.load(said.encode(), format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode(graph))
    store.flush()
    del store
    made = asking_of(NamedEndpoint(folder.as_uri()))
    made.graphs = ("urn:g:1", "urn:g:2")
    assert isinstance(made, AskingStore)
    return made


@pytest.mark.parametrize("kept", [7, 50_000])
def test_one_look_gives_the_number_of_nodes_and_those_of_the_smallest_digests(
    asked: AskingStore, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_KEPT", kept)
    order = sorted((f"urn:n:{n}" for n in range(300)), key=lambda iri: digest(3, iri))
    passing = [iri for iri in order if int(iri.rpartition(":")[2]) >= 240]
    of_all, part = (Fragment(f"?focus <urn:of> <urn:{name}> .") for name in ("all", "part"))
    every, failing = Plain(of_all), [iri for iri in order if iri not in passing]
    pages = pages_of(asked, 3)
    assert (pages.population(of_all), pages.total(every)) == (304, 300)
    assert pages.sample(every, 20) == Listed(300, tuple(order[:20]))
    assert pages.sample(every, 1 << 62) == Listed(300, tuple(order))
    for known in ((), tuple(failing)):
        besides = Besides(Plain(part), Listed(240, known))
        assert pages.sample(every, 9, besides=besides) == Listed(60, tuple(passing[:9]))
        assert pages.sample(every, 70, besides=besides) == Listed(60, tuple(passing))
    with pytest.raises(Inconsistent, match="counts 61 nodes, but gives 60"):
        pages.sample(every, 70, besides=Besides(Plain(part), Listed(239, ())))


def test_nodes_of_a_pattern_are_looked_at_once(asked: AskingStore) -> None:
    every = Fragment("?focus <urn:of> <urn:all> .")
    part = Besides(Plain(Fragment("?focus <urn:of> <urn:part> .")), Listed(240, ()))
    pages, before = pages_of(asked, 3), asked.asked.queries
    pages.population(every)
    pages.sample(Plain(every), 20)
    pages.sample(Plain(every), 20, besides=part)
    assert asked.asked.queries == before + 2
