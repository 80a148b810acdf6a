"""Repairs of the shapes: a diff of the shapes graph, and what validation says with it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import WORK
from kgreason.graph import Graph
from kgreason.repair.catalogue import Repair
from kgreason.repair.patch import Patch, Subject, read_changes
from kgreason.repair.trial import Feasibility, Trial, infeasible
from kgreason.repair.validation import Violation, fingerprint
from kgreason.shacl import Constraint, Shapes, compile_shapes, observe_all
from kgreason.shacl.values import as_stored

_GRAPH = WORK.shapes


@contextmanager
def _loaded(graph: Graph, shapes: Shapes) -> Iterator[None]:
    """Have the shapes beside the data, where a repair can see both."""
    inner = graph.store.inner
    inner.extend(ox.Quad(t.subject, t.predicate, t.object, _GRAPH) for t in shapes.triples())
    try:
        yield
    finally:
        inner.remove_graph(_GRAPH)


def diff(graph: Graph, shapes: Shapes, repair: Repair, nodes: Fragment) -> Patch:
    """Return what a repair would change in the shapes, for the claimed nodes of a pattern."""
    selects: list[ox.NamedNode | ox.Literal | Fragment] = [*repair.rows("claimed", nodes)]
    with _loaded(graph, shapes):
        found = graph.store.select(template("test", "intervention").render("rows", arms=selects))
    changes = [row for row in found if row["change"].value != "node"]
    return read_changes(graph, [{"focus": _GRAPH, **row} for row in changes])


def mended(shapes: Shapes, patch: Patch) -> Shapes:
    """Return the shapes after a diff; the others are left as they are."""
    gone = {(c.subject, c.predicate, c.value) for c in patch.changes if not c.adds}
    index: dict[Subject, dict[ox.NamedNode, tuple[Term, ...]]] = {}
    for subject, described in shapes.index.items():
        kept = {
            predicate: tuple(
                value for value in values if (subject, predicate, as_stored(value)) not in gone
            )
            for predicate, values in described.items()
        }
        index[subject] = {predicate: values for predicate, values in kept.items() if values}
    for change in patch.changes:
        if change.adds:
            here = index.setdefault(change.subject, {})
            here[change.predicate] = (*here.get(change.predicate, ()), change.value)
    return Shapes(index, shapes.files, [], dict(shapes.prefixes))


def verdict(patch: Patch) -> Feasibility:
    """Check whether a diff of the shapes can be made: whether there is one."""
    if not len(patch):
        return infeasible("It would change nothing in the shape.")
    said = f"{len(patch)} triples of the shapes change, and none of the data."
    return Feasibility(feasible=True, changes=len(patch), obstacles=0, why=said)


def shape_trial(
    graph: Graph,
    own: Constraint,
    shapes: Shapes,
    repair: Repair,
    patch: Patch,
    nodes: Iterable[Term],
    *,
    seconds: float = 60.0,
) -> Trial:
    """Validate with the shapes before and after a diff, constraints that it changes alone.

    A shape that asks for less is broken less: that its violations are gone shows what the change
    does, and nothing about the cause.
    """
    old = compile_shapes(shapes, graph).constraints
    new = compile_shapes(mended(shapes, patch), graph).constraints
    same = {(c.key, c.failing_query) for c in old} & {(c.key, c.failing_query) for c in new}

    def differing(known: Iterable[Constraint]) -> list[Constraint]:
        return [c for c in known if (c.key, c.failing_query) not in same]

    before, failed = _violations(graph, differing(old), seconds)
    after, failed_too = _violations(graph, differing(new), seconds)
    here = set(nodes)
    mine = frozenset(v for v in before if v.key == _name(own) and v.focus in here)
    gone = mine - after
    figures = {
        "claimed": len(mine),
        "holds": len(gone),
        "violationsCaused": len(after - before),
        "alsoRemoved": len(before - after - mine),
        "touchedOutside": 0,
        "placeboTried": 0,
        "placeboCleared": 0,
        "changes": len(patch),
        "unchecked": len({*failed, *failed_too}),
        "spared": 0,
        "nodesChanged": 0,
    }
    return Trial(
        repair.name,
        patch,
        figures,
        fingerprint(before),
        fingerprint(after),
        gone,
        mine - gone,
        after - before,
        (),
        tuple(dict.fromkeys((*failed, *failed_too))),
    )


def _violations(
    graph: Graph, known: Sequence[Constraint], seconds: float
) -> tuple[frozenset[Violation], list[str]]:
    found: set[Violation] = set()
    failed = []
    for constraint, observed in observe_all(graph, known, seconds=seconds):
        if isinstance(observed, KgreasonError):
            failed.append(constraint.label)
        else:
            name = _name(constraint)
            found |= {Violation(name, r.focus, r.path, r.value) for r in observed.results}
    return frozenset(found), failed


def _name(constraint: Constraint) -> str:
    """Return what a constraint is called before and after its shape has changed."""
    path = constraint.path.text if constraint.path is not None else ""
    return f"{constraint.named_shape} {path} {constraint.component}"
