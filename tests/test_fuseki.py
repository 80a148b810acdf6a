"""Fuseki as the graph: what its limit of time cuts is never taken for a whole answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kgreason
from kgreason.base.fetching import GaveUp
from kgreason.endpoint.asking_endpoint import AskingEndpoint, Truncated
from kgreason.endpoint.named_endpoint import NamedEndpoint
from kgreason.endpoint.probing import dialect_of
from tests.fuseki_server import Fuseki, fuseki_server

pytest.importorskip("httpx")
pytestmark = pytest.mark.slow
NODES = 400
MANY = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i ."
SHAPES = f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:x:S> a sh:NodeShape ; sh:targetSubjectsOf <urn:x:next> ;
  sh:property [ sh:path <urn:x:name> ; sh:minCount 1 ] ;
  sh:sparql [ sh:message "slow" ; sh:select \"\"\"SELECT $this WHERE {{
    $this <urn:x:next> ?other . {MANY}
    FILTER (STRLEN(STR(?a)) + STRLEN(STR(?d)) + STRLEN(STR(?g)) < 0)
  }}\"\"\" ] .
"""


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
    assert asking.count("SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?c ?d ?e }") == NODES - 1


def test_rows_that_are_cut_in_the_middle_are_no_answer(server: Fuseki) -> None:
    """Fuseki has said 200 by then, and ends with a line that is no JSON."""
    asking = AskingEndpoint(NamedEndpoint(server.address))
    said = "timeout during execution. That is the server's own time limit"
    with pytest.raises(Truncated, match=said):
        asking.select(f"SELECT * WHERE {{ {MANY} }}")


def test_a_count_that_takes_too_long_is_told(
    server: Fuseki,
) -> None:
    asking = AskingEndpoint(NamedEndpoint(server.address))
    with pytest.raises(
        GaveUp, match=r"answered 503: Query timed out\. That is the server's"
    ) as told:
        asking.count(f"SELECT (COUNT(*) AS ?n) WHERE {{ {MANY} ?j ?k ?l . }}")
    assert told.value.status == 503
    assert asking.goes_on_after(told.value)


def test_it_is_known_by_the_header_that_it_sends(server: Fuseki) -> None:
    """Fuseki sends no header Server unless it is told to."""
    asking = AskingEndpoint(NamedEndpoint(server.address))
    asking.count("SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c }")
    assert asking.server == "fuseki-request-id"
    assert dialect_of(asking).name == "fuseki"


def test_a_rule_that_takes_the_server_too_long_is_passed_over(
    server: Fuseki, tmp_path: Path
) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES, encoding="utf-8")
    seen = kgreason.symptoms(server.address, shapes=shapes)
    assert [one.failing for one in seen] == [NODES]
    (notice,) = (one for one in seen.notices if "Query timed out" in one)
    assert notice.startswith("SPARQL in")
    assert notice.endswith("--query-seconds does not change. It is passed over.")
