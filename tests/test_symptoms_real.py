"""Real graphs and the shapes they are checked with: the same results as pySHACL."""

import gzip
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.terms import RDFS, SH
from kgreason.graph import Graph, load
from kgreason.shacl import Shapes, compile_shapes, read_shapes
from tests.symptoms_support import data, observed, ours, theirs

QUDT = "http://qudt.org/schema/qudt/"
# pySHACL takes most of an hour for this one alone.
LONG = ox.NamedNode(QUDT + "ClosedWorldShape")


def without(shapes: Shapes, *left_out: ox.NamedNode) -> Shapes:
    """Leave some shapes out."""
    index = {s: d for s, d in shapes.index.items() if s not in left_out}
    return Shapes(index, shapes.files, list(shapes.notices), shapes.prefixes)


def agree(graph: Graph, shapes: Shapes) -> int:
    """Compare with pySHACL; gives how many results there are."""
    mine = ours(observed(graph, compile_shapes(shapes, graph)))
    assert mine == theirs(graph, shapes)
    return len(mine)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.1", "4.10"])
def test_gsq(version: str) -> None:
    graph = load([data("gsq", "vocabularies.nq.gz")], lenient=True)
    assert agree(graph, read_shapes([data("gsq", f"vocpub-{version}.ttl")])) > 50


@pytest.mark.slow
@pytest.mark.parametrize("state", ["before", "after"])
def test_qudt(state: str, tmp_path: Path) -> None:
    """Every twentieth subject: pySHACL runs sixteen queries for each node, hours for the whole."""
    part = sample(data("qudt", f"{state}.nq.gz"), tmp_path, 20)
    graph = load([part], lenient=True)
    shapes = read_shapes([data("qudt", f"qa-shapes-{state}.ttl")])
    assert agree(graph, without(shapes, LONG)) > 25


@pytest.mark.slow
def test_qudt_forms(tmp_path: Path) -> None:
    """Queries that compare two notations of a number by their text; every third is altered."""
    part = sample(data("qudt", "before.nq.gz"), tmp_path, 40)
    lines = part.read_text(encoding="utf-8").splitlines(keepends=True)
    notations = [i for i, line in enumerate(lines) if 'SN> "' in line]
    for i in notations[::3]:
        before, _, after = lines[i].partition('"')
        lines[i] = f'{before}"{"3" if after.startswith("7") else "7"}{after[1:]}'
    part.write_text("".join(lines), encoding="utf-8")
    graph = load([part], lenient=True)
    shapes = read_shapes([data("qudt", "qa-shapes-before.ttl")])
    targets = [s for s in shapes.subjects(SH.targetClass) if not str(s).endswith("SnShape>")]
    chosen = without(shapes, *(s for s in targets if isinstance(s, ox.NamedNode)))
    compiled = compile_shapes(chosen, graph)
    assert not compiled.fallback
    assert any("work:forms" in c.failing_query for c in compiled.constraints)
    assert agree(graph, chosen) > len(notations) // 6


@pytest.mark.slow
def test_ted() -> None:
    """The main shapes without their sh:sparql, of which pySHACL runs one for each node."""
    graph = load([data("ted", "notices.nq.gz")], lenient=True)
    shapes = read_shapes([data("ted", "ePO_shacl_shapes.ttl")])
    for described in shapes.index.values():
        described.pop(ox.NamedNode("http://www.w3.org/ns/shacl#sparql"), None)
    assert agree(graph, shapes) > 1000


def sample(path: Path, folder: Path, every: int) -> Path:
    """Write one in so many subjects of a graph with all they say."""
    chosen = folder / f"{path.name.partition('.')[0]}.nq"
    subjects: dict[object, int] = {}
    with chosen.open("wb") as out:
        kept = [
            quad
            for quad in ox.parse(
                gzip.decompress(path.read_bytes()), format=ox.RdfFormat.N_QUADS, lenient=True
            )
            if subjects.setdefault(quad.subject, len(subjects)) % every == 0
            or quad.predicate == RDFS.subClassOf
        ]
        ox.serialize(kept, out, format=ox.RdfFormat.N_QUADS)
    return chosen


@pytest.mark.parametrize(
    ("graph", "shapes", "every"),
    [
        ("gsq/vocabularies.nq.gz", "gsq/vocpub-4.10.ttl", 20),
        ("gsq/vocabularies.nq.gz", "gsq/vocpub-3.1.ttl", 20),
        ("ted/notices.nq.gz", "ted/ePO_shacl_shapes.ttl", 300),
        pytest.param("qudt/before.nq.gz", "qudt/qa-shapes-before.ttl", 200, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_a_sample(graph: str, shapes: str, every: int, tmp_path: Path) -> None:
    """A few subjects of each graph: broken links included, for much fails in a sample."""
    part = load([sample(data(*graph.split("/")), tmp_path, every)], lenient=True)
    assert agree(part, without(read_shapes([data(*shapes.split("/"))]), LONG)) > 0
