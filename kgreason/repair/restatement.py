"""Read whether nodes that are broken at the rule's own statement enter a region."""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, role, template
from kgreason.base.terms import MARKS_GRAPH, WORK
from kgreason.graph import Graph
from kgreason.repair.patch import Change, Patch, Subject
from kgreason.repair.scratch import changed
from kgreason.repair.validation import narrowed
from kgreason.shacl import Constraint
from kgreason.test.broken_counts import Broken, judged
from kgreason.test.finding import Finding, Setting

_MARK: Final = WORK["broken"]
_NOWHERE: Final = WORK["unnamed"]


@dataclass(frozen=True)
class _Sample:
    """The way in which each node is broken, the changes that break them, and who fails then."""

    ways: dict[Subject, str]
    patch: Patch
    failing: frozenset[Term]


_last: list[tuple["weakref.ref[Graph]", tuple[object, ...], _Sample]] = []


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Break the nodes of the rows on the scratch copy, see who enters the region, and mend them.

    All are broken at once, each in one way. A node counts if it fails then, and lay outside before.
    """
    graph, constraint, region = setting.graph, setting.constraint, setting.region
    if graph is None or constraint is None or region is None:
        raise RunError("A restatement needs the graph, the constraint and the region.")
    sample = _sample(graph, constraint, rows)
    with _marked(graph, sample.ways):
        before = _inside(graph, region)
        with changed(graph, sample.patch):
            after = _inside(graph, region)
    counted = [n for n in sample.ways if n in sample.failing and n not in before]
    ways = [
        Broken(
            way,
            sum(1 for n in counted if sample.ways[n] == way),
            sum(1 for n in counted if sample.ways[n] == way and n in after),
        )
        for way in sorted(set(sample.ways.values()))
    ]
    if not setting.direct:
        return judged(ways)
    return judged([one for one in ways if not _borrowed(one)], direct=True)


def _borrowed(way: Broken) -> bool:
    """Check whether nodes that are broken in a way get what a failing node says.

    Then they fail in its form, which a mechanism names: that they enter its region follows from
    that, and its direct check decides whether the form is what makes nodes fail.
    """
    return "borrows" in role("break")[way.way].header


def _sample(graph: Graph, constraint: Constraint, rows: Sequence[Row]) -> _Sample:
    """Return what the rows make of the nodes; the hypotheses of a symptom share the last one."""
    told = tuple(sorted(tuple(sorted((n, str(t)) for n, t in row.items())) for row in rows))
    key = (constraint.key, graph.formed, told)
    for known, held, sample in _last:
        if known() is graph and held == key:
            return sample
    ways = {r["focus"]: r["way"].value for r in rows if isinstance(r["focus"], Subject)}
    patch = Patch(tuple(dict.fromkeys(_changes(graph, rows))))
    with _marked(graph, ways), changed(graph, patch):
        found = graph.store.select(narrowed(constraint, _MARK).checking_query)
        failing = frozenset(row["focus"] for row in found)
    _last[:] = [(weakref.ref(graph), key, _Sample(ways, patch, failing))]
    return _last[0][2]


def _changes(graph: Graph, rows: Iterable[Row]) -> Iterator[Change]:
    """Return the changes that rows describe: values that go, as they are written, and new ones."""
    for row in rows:
        subject, about, object_ = row["subject"], row.get("of"), row.get("object")
        property_, predicate, focus = row["property"], row["predicate"], row["focus"]
        if not isinstance(subject, Subject) or not isinstance(property_, ox.NamedNode):
            continue
        if row["keeps"].value == "false":
            for quad in _named(graph, subject, property_):
                for form in _forms(graph, quad):
                    yield Change(False, _graph(quad), subject, property_, form, focus)  # noqa: FBT003 - it removes
        if isinstance(about, Subject) and isinstance(predicate, ox.NamedNode) and object_:
            home = next(_named(graph, subject, property_), None) or next(
                _named(graph, subject, None), None
            )
            where = _graph(home) if home is not None else _NOWHERE
            yield Change(True, where, about, predicate, object_, focus)  # noqa: FBT003 - it adds


def _forms(graph: Graph, quad: ox.Quad) -> list[Term]:
    """Return the value of a statement in the forms in which it was written."""
    value = quad.object
    if isinstance(value, ox.Triple):
        return []
    if quad.predicate in graph.formed and isinstance(quad.subject, Subject):
        forms = graph.exact_values(quad.subject, quad.predicate)
        return [form for form in forms if isinstance(form, ox.Literal)] or [value]
    return [value]


def _graph(quad: ox.Quad) -> ox.NamedNode:
    name = quad.graph_name
    return name if isinstance(name, ox.NamedNode) else _NOWHERE


def _named(graph: Graph, subject: Subject, predicate: ox.NamedNode | None) -> Iterator[ox.Quad]:
    """Return the statements about a node in the named graphs of the data, in order."""
    found = graph.store.inner.quads_for_pattern(subject, predicate, None, None)
    quads = [
        q for q in found if isinstance(q.graph_name, ox.NamedNode) and q.graph_name not in WORK
    ]
    return iter(sorted(quads, key=str))


@contextmanager
def _marked(graph: Graph, nodes: Iterable[Subject]) -> Iterator[None]:
    """Mark nodes, so that rule and region are asked for them alone."""
    quads = [
        ox.Quad(node, how, _MARK, MARKS_GRAPH)
        for node in nodes
        for how in (WORK.touched, WORK.member)
    ]
    graph.store.inner.extend(quads)
    try:
        yield
    finally:
        for quad in quads:
            graph.store.inner.remove(quad)


def _inside(graph: Graph, region: Fragment) -> frozenset[Term]:
    text = template("context", "members").render(population=_MARK, region=region)
    return frozenset(row["focus"] for row in graph.store.select(text))
