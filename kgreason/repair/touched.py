"""Which nodes a change can concern: those whose result under a constraint may be another."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import FORM_PREFIX, PREFIXES, RDFS, SH, TYPE, WORK, iris_in
from kgreason.graph import Graph
from kgreason.repair.patch import Subject
from kgreason.shacl import Constraint, Path, Shapes
from kgreason.shacl.paths import IllFormedError, shape_path
from kgreason.shacl.shapes import LISTS_OF_SHAPES, SINGLE_SHAPES, Node

_NAME: Final = re.compile(r"(?<![\w?$<:])([a-z][\w-]*):([A-Za-z][\w-]*)")
_WHOLE: Final = frozenset({SH.SPARQLConstraintComponent, SH.JSConstraintComponent})
_NESTED: Final = frozenset(
    SH[f"{name}ConstraintComponent"]
    for name in ("Node", "And", "Or", "Not", "Xone", "QualifiedMinCount", "QualifiedMaxCount")
)
_EVERY: Final = frozenset({SH.ClosedConstraintComponent})
_DEEP: Final = 6
_MOST: Final = 50_000
_MERGE: Final = ox.DefaultGraph()


@dataclass(frozen=True)
class Reach:
    """How far a constraint looks from its focus nodes.

    `reads` are the predicates it reads (None is all of them), `steps` the number of statements
    between a focus node and the farthest one read; None is without bound.
    """

    reads: frozenset[ox.NamedNode] | None
    steps: int | None


def reach(constraint: Constraint) -> Reach:
    """Return how far a constraint looks."""
    if constraint.guarded or constraint.component in _WHOLE or constraint.shapes is None:
        return Reach(None, None)
    if constraint.shape is None:
        return Reach(None, None)
    steps = _walk(constraint)
    if constraint.aim is None or constraint.aim.kind in {"walk", "sparql", "union"}:
        steps = None
    text = f"{constraint.target.text}\n{constraint.violation.text}"
    reads = {ox.NamedNode(iri.removeprefix(FORM_PREFIX)) for iri in iris_in(text)}
    reads |= {ox.NamedNode(PREFIXES[p] + n) for p, n in _NAME.findall(text) if p in PREFIXES}
    every = constraint.component in _EVERY or _reads_any(text)
    return Reach(None if every else frozenset(reads), steps)


def _walk(constraint: Constraint) -> int | None:
    """Return the steps between a focus node and the subject of the farthest statement read."""
    own, inner = _length(constraint.path), 0
    if constraint.component == SH.ClassConstraintComponent:
        inner = 1
    elif constraint.component in _NESTED and constraint.shapes and constraint.shape is not None:
        found = _nested(constraint.shapes, constraint.shape, 0)
        if found is None:
            return None
        inner = found
    return None if own is None else max(0, own + inner - 1)


def _reads_any(text: str) -> bool:
    """Check whether a pattern has a variable in the place of a predicate."""
    return re.search(r"[?$]\w+\s+[?$]\w+\s+[?$\"<]", text) is not None


def _steps(shapes: Shapes, shape: Node, path: Path | None, depth: int = 0) -> int | None:
    """Return the longest walk of a shape and of those it names; None where there is no bound."""
    if depth > _DEEP:
        return None
    own, inner = _length(path), _nested(shapes, shape, depth)
    return None if own is None or inner is None else own + inner


def _nested(shapes: Shapes, shape: Node, depth: int) -> int | None:
    """Return the longest walk of the shapes that a shape names; a class of a value is one step."""
    inner: list[int | None] = [1]
    for predicate in SINGLE_SHAPES:
        inner += [_inside(shapes, node, depth) for node in shapes.nodes(shape, predicate)]
    for predicate in LISTS_OF_SHAPES:
        heads = shapes.objects(shape, predicate)
        named = [member for head in heads for member in shapes.list(head) or ()]
        inner += [_inside(shapes, m, depth) for m in named if not isinstance(m, ox.Literal)]
    bounded = [n for n in inner if n is not None]
    return None if len(bounded) < len(inner) else max(bounded)


def _inside(shapes: Shapes, node: Node, depth: int) -> int | None:
    try:
        path = shape_path(shapes, node)
    except IllFormedError:
        return None
    found = [_steps(shapes, node, path, depth + 1)]
    found += [_inside(shapes, child, depth + 1) for child in shapes.nodes(node, SH.property)]
    bounded = [n for n in found if n is not None]
    return None if len(bounded) < len(found) else max(bounded)


def _length(path: Path | None) -> int | None:
    if path is None:
        return 0
    if path.kind == "predicate":
        return 1
    if path.kind in {"*", "+"}:
        return None
    parts = [_length(part) for part in path.parts]
    bounded = [n for n in parts if n is not None]
    if len(bounded) < len(parts):
        return None
    return sum(bounded) if path.kind == "/" else max(bounded)


def concerned(graph: Graph, looks: Reach, changes: Iterable[ox.Quad]) -> frozenset[Subject] | None:
    """Return the nodes whose result some changes can alter; None is any node.

    The graph is looked at as it is; where it differs before and after the changes, ask twice.
    """
    changes = list(changes)
    if looks.reads is not None:
        changes = [q for q in changes if q.predicate in looks.reads]
    if not changes:
        return frozenset()
    if looks.steps is None or any(q.predicate == RDFS.subClassOf for q in changes):
        return None
    frontier: set[Subject] = set()
    for quad in changes:
        ends = (quad.subject,) if quad.predicate == TYPE else (quad.subject, quad.object)
        frontier |= {t for t in ends if isinstance(t, Subject)}
    seen = set(frontier)
    for _ in range(looks.steps):
        frontier = _neighbours(graph, frontier, looks.reads) - seen
        seen |= frontier
        if len(seen) > _MOST:
            return None
    return frozenset(seen)


def _neighbours(
    graph: Graph, nodes: set[Subject], reads: frozenset[ox.NamedNode] | None
) -> set[Subject]:
    inner = graph.store.inner
    out: set[Subject] = set()
    walked = [None] if reads is None else sorted(reads - {TYPE}, key=str)
    for node in nodes:
        for predicate in walked:
            for quad in inner.quads_for_pattern(None, predicate, node, _MERGE):
                if quad.predicate != TYPE and isinstance(quad.subject, Subject):
                    out.add(quad.subject)
            for quad in inner.quads_for_pattern(node, predicate, None, _MERGE):
                if quad.predicate != TYPE and isinstance(quad.object, Subject):
                    out.add(quad.object)
                if len(out) > _MOST:
                    return out
    return {node for node in out if node not in WORK}
