"""Several investigations of one process at once: on the same data, into one ledger."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
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
from kgreason.record import Ledger, Record
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
