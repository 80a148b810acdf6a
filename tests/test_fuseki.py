"""Fuseki as the graph: what its limit of time cuts is never taken for a whole answer."""

from collections.abc import Iterator

import pytest

from kgreason.base.fetching import SourceError
from kgreason.endpoint.asking_endpoint import AskingEndpoint
from kgreason.endpoint.named_endpoint import NamedEndpoint
from tests.fuseki_server import Fuseki, fuseki_server

pytest.importorskip("httpx")
pytestmark = pytest.mark.slow
NODES = 400
MANY = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i ."


@pytest.fixture(scope="module", params=[False, True], ids=["in-memory", "on-disk"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fuseki]:
    quads = tmp_path_factory.mktemp("data") / "data.nq"
    lines = (f"<urn:x:{n}> <urn:x:next> <urn:x:{n + 1}> ." for n in range(NODES))
    quads.write_text("\n".join(lines), encoding="utf-8")
    with fuseki_server([quads], on_disk=request.param, milliseconds=1000) as served:
        yield served


def test_what_ends_in_time_comes_whole(server: Fuseki) -> None:
    asking = AskingEndpoint(NamedEndpoint(server.address))
    assert len(asking.select("SELECT ?a WHERE { ?a ?b ?c }")) == NODES
    assert asking.count("SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f }") == NODES**2


def test_rows_that_are_cut_in_the_middle_are_no_answer(server: Fuseki) -> None:
    """Fuseki has said 200 by then, and ends with a line that is no JSON."""
    asking = AskingEndpoint(NamedEndpoint(server.address))
    with pytest.raises(SourceError, match="was cut off"):
        asking.select(f"SELECT * WHERE {{ {MANY} }}")


def test_a_count_that_takes_too_long_is_told(
    server: Fuseki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgreason.base.fetching.figure", lambda _: 0.0)
    asking = AskingEndpoint(NamedEndpoint(server.address))
    with pytest.raises(SourceError, match="answered 503, 4 times: Query timed out") as told:
        asking.count(f"SELECT (COUNT(*) AS ?n) WHERE {{ {MANY} ?j ?k ?l . }}")
    assert told.value.status == 503
