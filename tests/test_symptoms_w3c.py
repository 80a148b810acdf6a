"""The W3C SHACL suite: the manifest, pySHACL and we give the same results."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox
import pytest

from kgreason.base.errors import RunError, ShapesError
from kgreason.base.terms import SH, TYPE
from kgreason.graph import load
from kgreason.shacl import Shapes, compile_shapes, read_shapes
from kgreason.shacl.paths import read_path
from kgreason.shacl.shapes import Node, read_triples
from tests.symptoms_support import DATA, DIFFERENCES, Found, observed, ours, theirs

SUITE = DATA / "suites" / "shacl"
SHT = "http://www.w3.org/ns/shacl-test#"
ACTION = ox.NamedNode("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#action")
RESULT = ox.NamedNode("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#result")
FAILURE = ox.NamedNode(SHT + "Failure")


class Entry(NamedTuple):
    """A test of the suite."""

    name: str
    file: Path
    node: Node


def entries() -> Iterator[Entry]:
    for file in sorted(SUITE.rglob("*.ttl")):
        if SHT + "Validate" in file.read_text(encoding="utf-8") or "sht:Validate" in file.read_text(
            encoding="utf-8"
        ):
            manifest = read_triples([file])
            for node, described in manifest.index.items():
                if ox.NamedNode(SHT + "Validate") in described.get(TYPE, ()):
                    yield Entry(str(file.relative_to(SUITE).with_suffix("")), file, node)


ENTRIES = list(entries()) if SUITE.is_dir() else []


def alike(found: set[Found]) -> set[Found]:
    """Give results with all blank nodes of the data alike: each reading labels them anew."""

    blank = ox.BlankNode("x")
    return {
        f._replace(
            focus=blank if isinstance(f.focus, ox.BlankNode) else f.focus,
            value=blank if isinstance(f.value, ox.BlankNode) else f.value,
        )
        for f in found
    }


def expected(manifest: Shapes, node: Node) -> set[Found] | None:
    """Give the results of the manifest, None where a failure is expected."""
    result = manifest.one(node, RESULT)
    if result is None or result == FAILURE:
        return None
    found = set()
    for entry in manifest.nodes(result, SH.result):
        path = manifest.one(entry, SH.resultPath)
        component = manifest.one(entry, SH.sourceConstraintComponent)
        severity = manifest.one(entry, SH.resultSeverity)
        focus = manifest.one(entry, SH.focusNode)
        assert focus is not None
        found.add(
            Found(
                focus,
                read_path(manifest, path).text if path else "",
                manifest.one(entry, SH.value),
                getattr(component, "value", ""),
                getattr(severity, "value", ""),
            )
        )
    return found


def graphs(manifest: Shapes, entry: Entry) -> tuple[Path, Path]:
    action = manifest.one(entry.node, ACTION)
    assert action is not None
    places = []
    for name in ("dataGraph", "shapesGraph"):
        iri = manifest.one(action, ox.NamedNode(SHT + name))
        assert isinstance(iri, ox.NamedNode)
        places.append(entry.file.parent / iri.value.rpartition("/")[2])
    return places[0], places[1]


def test_the_suite_is_whole() -> None:
    if not ENTRIES:
        pytest.skip("the W3C suite is not there; set KGREASON_DATA to the folder of real graphs")
    parts = [entry.name.partition("/")[0] for entry in ENTRIES]
    assert (parts.count("core"), parts.count("sparql")) == (98, 23)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_w3c(entry: Entry) -> None:
    manifest = read_triples([entry.file])
    data, place = graphs(manifest, entry)
    graph, shapes = load([data]), read_shapes([place])
    wanted = expected(manifest, entry.node)
    differs = entry.name in DIFFERENCES["w3c"]
    try:
        compiled = compile_shapes(shapes, graph)
        mine = ours(observed(graph, compiled))
    except (ShapesError, RunError) as error:
        told = str(error)
    else:
        told = ""
    if told:
        # Nothing could be checked: the suite asks for it, or the shape has no meaning.
        assert not wanted or differs
        assert re.search(r"passed over|cannot check", told)
        return
    assert wanted is not None
    assert (alike(mine) == alike(wanted)) is not differs
    if entry.name not in DIFFERENCES["pyshacl"]:
        assert mine == theirs(graph, shapes)
