"""An existing SHACL validation report in place of a validation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import MappingProxyType

import pyoxigraph as ox

from kgreason.base.errors import ShapesError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment
from kgreason.base.terms import SH, TYPE
from kgreason.graph import Graph
from kgreason.graph.bounds import MOST_BYTES
from kgreason.graph.given import Objects
from kgreason.shacl.constraint import Compiled, Constraint, Observation, Result, Texts
from kgreason.shacl.fallback import all_listed, fails_listed, relisted
from kgreason.shacl.observation import grouped
from kgreason.shacl.outcome import population_elsewhere, population_target
from kgreason.shacl.paths import IllFormedError, Path, read_path
from kgreason.shacl.population import Counts
from kgreason.shacl.shapes import Node, Shapes, key_of, read_triples

_FOCUS = Fragment("?focus")


@dataclass(frozen=True)
class _Group:
    """What results have in common: they belong to one constraint."""

    shape: Term | None
    component: ox.NamedNode
    path: Path | None
    severity: ox.NamedNode


@dataclass(frozen=True)
class Reported:
    """Constraints with what a report says of them, and what there is to say of the report."""

    seen: tuple[tuple[Constraint, Observation], ...]
    notices: tuple[str, ...]


def read_report(
    file: FilePath,
    graph: Graph,
    *,
    compiled: Compiled | None = None,
    population: str | None = None,
    seconds: float = 60.0,
    most: int = MOST_BYTES,
    objects: Objects = MappingProxyType({}),
    counts: Counts | None = None,
) -> Reported:
    """Read a validation report; raises ShapesError if there is none in the file.

    Who did not fail is known from the targets of the shapes (`compiled`), or from `population`, a
    SELECT of ?focus; without either the population is None and the failing nodes can only be
    grouped. A packed file may hold `most` bytes. What is among `objects` is no file. With `counts`
    `population` is not asked of the graph, but counted by it.
    """
    report = read_triples([file], most=most, objects=objects)
    groups = _groups(report, file)
    notices: list[str] = []
    blank = {r.focus for rs in groups.values() for r in rs if isinstance(r.focus, ox.BlankNode)}
    if blank:
        notices.append(
            f"{file}: {len(blank)} focus nodes are blank nodes, which cannot be found in the data "
            "again; they are passed over."
        )
    target: tuple[Fragment, int | None] | None = None
    if population is not None and counts is not None:
        target = population_elsewhere(population, counts, "--population")
    elif population is not None:
        target = population_target(population, graph, "--population", seconds)
    seen = []
    for group, (known, results) in _by_constraint(groups, compiled).items():
        kept = [r for r in results if not isinstance(r.focus, ox.BlankNode)]
        if kept:
            seen.append(_observed(group, kept, known, target))
            if compiled and known is None:
                notices.append(
                    f"{file}: no constraint of the shapes gives results of {_name(group)}; "
                    "who did not fail it is not known."
                )
    return Reported(tuple(seen), tuple(notices))


def _groups(report: Shapes, file: FilePath) -> dict[_Group, list[Result]]:
    results = [
        node
        for node, described in report.index.items()
        if SH.ValidationResult in described.get(TYPE, ()) or SH.focusNode in described
    ]
    reports = any(SH.ValidationReport in d.get(TYPE, ()) for d in report.index.values())
    if not results and not reports:
        raise ShapesError(f"{file}: there is no validation report in it (no sh:ValidationReport).")
    inner = {o for d in report.index.values() for o in d.get(SH.detail, ())}
    groups: dict[_Group, list[Result]] = {}
    for node in results:
        focus = report.one(node, SH.focusNode)
        component = report.one(node, SH.sourceConstraintComponent)
        if node in inner or focus is None or not isinstance(component, ox.NamedNode):
            continue
        severity = report.one(node, SH.resultSeverity)
        group = _Group(
            report.one(node, SH.sourceShape),
            component,
            _path(report, node),
            severity if isinstance(severity, ox.NamedNode) else SH.Violation,
        )
        groups.setdefault(group, []).append(Result(focus, report.one(node, SH.value), None))
    return groups


def _by_constraint(
    groups: Mapping[_Group, list[Result]], compiled: Compiled | None
) -> dict[_Group, tuple[Constraint | None, list[Result]]]:
    """Return groups with their constraint; one constraint has one group, with all its paths."""
    out: dict[_Group, tuple[Constraint | None, list[Result]]] = {}
    first: dict[str, _Group] = {}
    for group, results in groups.items():
        known = _find(compiled, group) if compiled else None
        home = first.setdefault(known.key, group) if known else group
        out.setdefault(home, (known, []))[1].extend(results)
    return out


def _path(report: Shapes, node: Node) -> Path | None:
    found = report.one(node, SH.resultPath)
    try:
        return read_path(report, found) if found is not None else None
    except IllFormedError:
        return None


def _find(compiled: Compiled, group: _Group) -> Constraint | None:
    """Find the constraint of a group: of the same shape, or alone with its component and path.

    The blank nodes of a report are not those of the shapes file.
    """
    alike = [
        constraint
        for constraint in compiled.constraints
        if constraint.component == group.component
        and (constraint.path == group.path or constraint.exact.gives_path)
        and (not isinstance(group.shape, ox.NamedNode) or constraint.shape == group.shape)
    ]
    return alike[0] if len(alike) == 1 else None


def _name(group: _Group) -> str:
    where = f" at {group.path.text}" if group.path else ""
    shape = f" in {group.shape}" if isinstance(group.shape, ox.NamedNode) else ""
    name = group.component.value.rpartition("#")[2].removesuffix("ConstraintComponent")
    return f"{name}{where}{shape}"


def _observed(
    group: _Group,
    results: Sequence[Result],
    known: Constraint | None,
    target: tuple[Fragment, int | None] | None,
) -> tuple[Constraint, Observation]:
    failing = grouped(results)
    nodes = list(failing)
    if known is not None:
        made = relisted(known, nodes)
        return made, Observation(known.population, failing, tuple(results))
    pattern = target[0] if target else all_listed(nodes)
    texts = Texts(pattern, fails_listed(nodes))
    shape = group.shape if isinstance(group.shape, ox.NamedNode) else None
    key = key_of(str(shape), group.component.value, group.path.text if group.path else "")
    made = Constraint(
        key,
        shape,
        shape,
        group.component,
        group.path,
        group.severity,
        None,
        {},
        texts,
        texts,
        target[1] if target else None,
    )
    return made, Observation(target[1] if target else None, failing, tuple(results))
