"""What the queries of an export give, on both engines (see `casebook`).

A case of a CONSTRUCT holds ``expected.ttl`` or ``expected-SECTION.ttl``: the triples it makes.
"""

import re
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib

from kgreason.base.templates import role
from tests import casebook
from tests.casebook import Case, cases

CASES = cases("export")
SELECTS = [(case, section) for case in CASES for section in case.expected]
ENGINES = {"oxigraph": casebook.in_oxigraph, "rdflib": casebook.in_rdflib}
_TRIPLES = re.compile(r"expected(?:-(?P<section>[a-z-]+))?\.ttl")


def triples_wanted(case: Case) -> dict[str, Path]:
    """Give the files of expected triples by section."""
    found = ((_TRIPLES.fullmatch(path.name), path) for path in sorted(case.folder.iterdir()))
    return {m["section"] or "main": path for m, path in found if m is not None}


CONSTRUCTS = [(case, section) for case in CASES for section in triples_wanted(case)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("case", "section"), SELECTS, ids=str)
def test_rows(engine: str, case: Case, section: str) -> None:
    path = case.expected[section]
    found = ENGINES[engine](case.quads(), case.text(section), casebook.names(path))
    assert sorted(found, key=str) == sorted(casebook.wanted(path), key=str)


def constructed(engine: str, case: Case, section: str) -> list[ox.Triple]:
    """Run a CONSTRUCT on an engine."""
    text, quads = case.text(section), case.quads()
    if engine == "oxigraph":
        store = ox.Store()
        store.extend(quads)
        made = store.query(text)
        assert isinstance(made, ox.QueryTriples)
        return list(made)
    dataset = rdflib.Dataset()
    given = ox.serialize(quads, format=ox.RdfFormat.N_QUADS)
    dataset.parse(data=given, format="nquads")
    graph = dataset.query(text).graph
    assert graph is not None
    written = graph.serialize(format="nt")
    return [q.triple for q in ox.parse(written, format=ox.RdfFormat.N_TRIPLES)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("case", "section"), CONSTRUCTS, ids=str)
def test_triples(engine: str, case: Case, section: str) -> None:
    found = constructed(engine, case, section)
    wanted = [quad.triple for quad in casebook.trig(triples_wanted(case)[section])]
    assert {tuple(map(casebook.cell, t)) for t in found} == {
        tuple(map(casebook.cell, t)) for t in wanted
    }


def test_every_section_has_a_case() -> None:
    covered = {(case.template.name, section) for case, section in SELECTS + CONSTRUCTS}
    assert covered == {(t.name, s) for t in role("export").values() for s in t.sections}
