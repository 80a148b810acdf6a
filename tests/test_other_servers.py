"""The example and sown faults on servers of other engines: what files tell is told there too."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

from benchmarks import endpoint_bench
from benchmarks.endpoint_servers import SERVERS
from tests.endpoint_server import oxigraph_program
from tests.fuseki_server import fuseki_command
from tests.jena_server import jena_java
from tests.virtuoso_server import virtuoso_programs

pytest.importorskip("httpx")
pytestmark = pytest.mark.slow
_THERE: Final[dict[str, Callable[[], object]]] = {
    "oxigraph": oxigraph_program,
    "virtuoso": virtuoso_programs,
    "jena": jena_java,
    "fuseki": fuseki_command,
}
EXAMPLE: Final = Path(__file__).parents[1] / "examples" / "supply-chain"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as N-Quads, each of its files a named graph."""
    quads = tmp_path_factory.mktemp("example") / "data.nq"
    with quads.open("wb") as file:
        for path in (*sorted((EXAMPLE / "data").iterdir()), EXAMPLE / "ontology.ttl"):
            packed = path.suffix == ".gz"
            content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
            lines = ".nt" in path.suffixes
            found = ox.parse(
                content, format=ox.RdfFormat.N_TRIPLES if lines else ox.RdfFormat.TURTLE
            )
            graph = ox.NamedNode(f"https://example.org/files/{path.name.partition('.')[0]}")
            made = (ox.Quad(t.subject, t.predicate, t.object, graph) for t in found)
            ox.serialize(made, file, format=ox.RdfFormat.N_QUADS)
    return quads


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> str:
    """The name of a server; a skip within a process that sows faults would be lost."""
    _THERE[request.param]()
    return str(request.param)


def rows(arguments: Sequence[str], out: Path) -> list[dict[str, Any]]:
    endpoint_bench.main([*arguments, "--out", str(out)])
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_the_example_has_the_same_causes(server: str, example: Path, tmp_path: Path) -> None:
    shapes = str(EXAMPLE / "shapes.ttl")
    asked = ["real", "--data", str(example), "--shapes", shapes, "--servers", server]
    (row,) = rows(asked, tmp_path / "rows.jsonl")
    assert row["unchanged"]
    assert row["verdicts"] == 7
    assert row["causes"] == [6, 6]
    assert row["both"] == 6


def test_sown_faults_have_the_same_leading_cause(server: str, tmp_path: Path) -> None:
    sown = ["faults", "--graph", "generated:1000", "--faults", "source,cohort", "--seeds", "3:4"]
    found = rows([*sown, "--cap", "100", "--servers", server], tmp_path / "rows.jsonl")
    assert [row["fault"] for row in found] == ["source", "cohort"]
    assert all(row["same"] and row["unchanged"] and row["endpoint"]["top1"] for row in found)
