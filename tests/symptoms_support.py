"""Shared by the tests of symptoms: results as sets, from us and from pySHACL."""

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox
import pytest

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term
from kgreason.base.terms import SH
from kgreason.graph import Graph
from kgreason.shacl import Compiled, Constraint, Observation, Shapes, observe_all, observe_fallback
from kgreason.shacl.paths import read_path
from kgreason.shacl.pyshacl_run import Reference

TESTS = Path(__file__).parent
DATA = Path(os.environ.get("KGREASON_DATA", TESTS.parent.parent / "shared" / "data"))
DIFFERENCES = tomllib.loads((TESTS / "shacl_differences.toml").read_text(encoding="utf-8"))


class Found(NamedTuple):
    """A validation result; the path is in SPARQL."""

    focus: Term
    path: str
    value: Term | None
    component: str
    severity: str


def data(*parts: str) -> Path:
    """Give a file of the real graphs, or skip the test."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{'/'.join(parts)} is not there; set KGREASON_DATA to the folder of real graphs"
        )
    return path


def observed(
    graph: Graph, compiled: Compiled, *, seconds: float = 3600.0
) -> list[tuple[Constraint, Observation]]:
    """Observe all constraints, those of pySHACL too; an error is raised."""
    found = []
    for constraint, outcome in [
        *observe_all(graph, compiled.constraints, seconds=seconds),
        *observe_fallback(graph, compiled, seconds=seconds),
    ]:
        if isinstance(outcome, KgreasonError):
            raise outcome
        found.append((constraint, outcome))
    return found


def ours(seen: Iterable[tuple[Constraint, Observation]]) -> set[Found]:
    """Give our results."""
    found = set()
    for constraint, observation in seen:
        own = constraint.path.text if constraint.path else ""
        for result in observation.results:
            found.add(
                Found(
                    result.focus,
                    own if result.path is None else str(result.path),
                    result.value,
                    constraint.component.value,
                    constraint.severity.value if constraint.severity else "",
                )
            )
    return found


def theirs(
    graph: Graph,
    shapes: Shapes,
    *,
    triples: Iterable[ox.Triple] | None = None,
    data: Any = None,
) -> set[Found]:
    """Give the results of pySHACL, on the same graph or on `data` as rdflib has read it."""
    found = set()
    reference = Reference(graph, data)
    for result in reference.validate(
        shapes.triples() if triples is None else triples, shapes.prefixes
    ):
        path = result.get(SH.resultPath)
        found.add(
            Found(
                result[SH.focusNode],
                read_path(shapes, path).text if path else "",
                result.get(SH.value),
                _iri(result[SH.sourceConstraintComponent]),
                _iri(result[SH.resultSeverity]),
            )
        )
    return found


def _iri(term: Term) -> str:
    return term.value


def without_known(found: set[Found], name: str) -> set[Found]:
    """Leave out the results that the list of differences names for a test."""
    known = {tuple(entry["result"]) for entry in DIFFERENCES.get(name, [])}
    return {f for f in found if (str(f.focus), str(f.value), short(f.component)) not in known}


def short(component: str) -> str:
    """Give the name of a component without its ending."""
    return component.rpartition("#")[2].removesuffix("ConstraintComponent")
