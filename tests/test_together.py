"""Several investigations of one process at once: on the same data, into one ledger."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason import run
from kgreason.audit import audit
from kgreason.base.errors import LedgerError
from kgreason.base.store import guarded
from kgreason.graph.given import given_as
from kgreason.observe.request import request_of
from kgreason.record import Ledger, Record, beside
from kgreason.record import ledger as ledger_module
from tests.lifetime_support import copied, timeless
from tests.resume_support import several

SEEDS: Final = (0, 0, 1, 2)


def names(place: int) -> str:
    return f"together{place}"


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what to ask with, the data as a store."""
    folder = tmp_path_factory.mktemp("several")
    made = several(folder, interventions=2)
    store = ox.Store()
    for path in sorted(made["data"].glob("*.ttl")):
        graph = ox.NamedNode(f"urn:src:{path.name}")
        store.load(path=str(path), format=ox.RdfFormat.TURTLE, to_graph=graph)
    return {**made, "data": store}


def investigated(
    options: dict[str, Any],
    place: int,
    ledger: Path | None,
    told: Callable[..., None] | None = None,
) -> Record:
    asked = dict(options, seed=SEEDS[place])
    given = given_as("data", asked.pop("data"))
    assert given is not None
    request = request_of(given.name, objects={given.name: given}, **asked)
    with run.begin(request, ledger, told=told, nonce=names(place)) as result:
        return copied(result.record)


@pytest.mark.slow
def test_each_has_the_record_that_it_has_alone(options: dict[str, Any], tmp_path: Path) -> None:
    """All four begin before any of them goes on; none remembers what another one rejects."""
    alone = [investigated(options, place, None) for place in range(len(SEEDS))]
    together = threading.Barrier(len(SEEDS))
    begun: set[ox.NamedNode] = set()

    def told(record: Record, _: ox.NamedNode) -> None:
        if record.iri not in begun:
            begun.add(record.iri)
            together.wait(300)

    ledger = tmp_path / "ledger"
    with ThreadPoolExecutor(len(SEEDS)) as threads:
        runs = [
            threads.submit(investigated, options, place, ledger, told)
            for place in range(len(SEEDS))
        ]
        found = [each.result() for each in runs]
    for place, record in enumerate(found):
        assert timeless(record) == timeless(alone[place]), f"investigation {place}"
    with kgreason.open(ledger) as opened:
        assert sorted(one.number for one in opened.investigations) == [1, 2, 3, 4]
        assert all(one.finished for one in opened.investigations)
    with Ledger.read(ledger) as reader:
        for entry in reader.entries():
            checked = audit(reader.record(entry))
            assert checked.ok, str(checked)


def test_files_that_are_put_together_meanwhile_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is still open may remove a file just after its name was read."""
    with Ledger.write(tmp_path / "ledger"):
        pass
    left = [3]

    def read_only(folder: str) -> ox.Store:
        left[0] -= 1
        if left[0] >= 0:
            raise RuntimeError("While open a file for random read: 000034.sst: No such file")
        return ox.Store.read_only(folder)

    store = SimpleNamespace(read_only=read_only)
    monkeypatch.setattr(ledger_module, "ox", SimpleNamespace(Store=store))
    assert len(ledger_module._read_only(tmp_path / "ledger")) > 0
    assert left == [-1]


def test_a_ledger_is_given_back_by_the_last_that_writes_to_it(tmp_path: Path) -> None:
    """Who reads it meanwhile reads on, read-only then."""
    folder = tmp_path / "ledger"
    first, second = Ledger.write(folder), Ledger.write(folder)
    reader, closed = Ledger.read(folder), Ledger.read(folder)
    mark = ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.NamedNode("urn:c"))
    first.store.inner.add(mark)
    assert mark in reader.store.inner
    closed.close()
    first.close()
    with pytest.raises(LedgerError, match="another process is writing"):
        guarded(lambda: Ledger.write(folder).close(), 60, "another process")
    second.store.update("INSERT DATA { <urn:a> <urn:b> <urn:d> }")
    second.close()
    assert len(list(reader.store.inner.quads_for_pattern(mark.subject, None, None))) == 2
    with pytest.raises(RuntimeError, match="read-write"):
        reader.store.inner.add(mark)
    assert not len(closed.store.inner)
    with Ledger.write(folder) as third:
        assert mark in third.store.inner
    reader.close()


def test_updates_of_several_threads_are_all_kept(tmp_path: Path) -> None:
    """A store on disk loses updates that are made at once and delete what they replace."""
    count = """PREFIX e: <urn:e:>
        DELETE { GRAPH e:g { e:n e:is ?n } } INSERT { GRAPH e:g { e:n e:is ?more } }
        WHERE { GRAPH e:g { e:n e:is ?n } BIND (?n + 1 AS ?more) }"""

    def counted(ledger: Ledger) -> None:
        for _ in range(50):
            ledger.store.update(count)

    with Ledger.write(tmp_path / "ledger") as one, Ledger.write(tmp_path / "ledger") as other:
        one.store.update("INSERT DATA { GRAPH <urn:e:g> { <urn:e:n> <urn:e:is> 0 } }")
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(counted, [one, other]))
        (quad,) = one.store.quads(ox.NamedNode("urn:e:g"))
        assert isinstance(quad.object, ox.Literal)
        assert quad.object.value == "100"


# --- reading beside a writer ------------------------------------------------------------


def both(folder: Path) -> list[list[str]]:
    """Give what another process sees of two values that are always changed at once."""

    def values() -> list[list[str]]:
        with Ledger.read(folder) as reader:
            graph = ox.NamedNode("urn:e:g")
            found = [q.object for q in reader.store.quads(graph)]
            return [[o.value for o in found if isinstance(o, ox.Literal)]]

    return guarded(values, 120, "a reader")


def apart(folder: Path) -> list[list[str]]:
    """Give what a process of its own sees of two values that are always changed at once."""

    # No fork: beside a thread that writes it may inherit a lock that is held.
    code = """if True:
        import json, sys
        from pathlib import Path
        import pyoxigraph as ox
        from kgreason.record.ledger import Ledger
        with Ledger.read(Path(sys.argv[1])) as reader:
            quads = reader.store.quads(ox.NamedNode("urn:e:g"))
            print(json.dumps([quad.object.value for quad in quads]))
    """
    asked = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(done.stdout)]


def test_another_process_reads_a_copy_that_was_made_between_two_steps(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    change = """PREFIX e: <urn:e:>
        DELETE { GRAPH e:g { ?node e:is ?n } } INSERT { GRAPH e:g { ?node e:is ?more } }
        WHERE { GRAPH e:g { ?node e:is ?n } BIND (?n + 1 AS ?more) }"""
    over = threading.Event()
    with Ledger.write(folder) as ledger:
        ledger.store.update(
            "INSERT DATA { GRAPH <urn:e:g> { <urn:1> <urn:e:is> 0 . <urn:2> <urn:e:is> 0 } }"
        )

        def writing() -> None:
            while not over.is_set():
                ledger.store.update(change)

        writer = threading.Thread(target=writing)
        writer.start()
        try:
            found = [apart(folder)[0] for _ in range(3)]
        finally:
            over.set()
            writer.join()
    assert all(one == other for one, other in found)
    assert [int(one) for one, _ in found] == sorted(int(one) for one, _ in found)
    assert int(found[-1][0]) > 0
    assert not list(folder.glob("kgreason.reading-*"))
    assert int(apart(folder)[0][0]) >= int(found[-1][0])  # nobody writes any more


def test_a_writer_that_makes_no_step_leaves_a_reader_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "SECONDS", 0.2)
    with (
        Ledger.write(tmp_path / "ledger"),
        pytest.raises(LedgerError, match=r"another process is writing .* try again in a while"),
    ):
        both(tmp_path / "ledger")
    assert not list((tmp_path / "ledger").glob("kgreason.reading-*"))


def test_what_a_killed_reader_leaves_is_removed_by_the_next_writer(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with Ledger.write(folder) as ledger:
        (folder / "kgreason.reading-1").mkdir()
        ledger.store.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")
        assert (folder / "kgreason.reading-1" / "copy" / "CURRENT").is_file()
    with Ledger.write(folder):
        assert not list(folder.glob("kgreason.reading-*"))


def test_commands_that_read_have_a_right_answer_while_an_investigation_is_written(
    tmp_path: Path,
) -> None:
    """The run waits after its third step until the command has asked for a copy."""
    options = several(tmp_path, interventions=0, max_hypotheses=1)
    folder, steps = tmp_path / "ledger", [0]
    readers: list[subprocess.Popen[str]] = []
    query = "SELECT ?state { ?run trails:state ?state }"
    words = [sys.executable, "-m", "kgreason", "query", query, "--ledger", str(folder)]

    def told(_: Record, __: ox.NamedNode) -> None:
        steps[0] += 1
        if steps[0] == 3:
            readers.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
            while readers[0].poll() is None and not list(folder.glob("kgreason.reading-*")):
                time.sleep(0.01)

    with kgreason.investigate(**options, ledger=folder, told=told):
        out, _ = readers[0].communicate(timeout=300)
    assert readers[0].returncode == 0
    assert "Running" in out
