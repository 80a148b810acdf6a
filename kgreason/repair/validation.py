"""Validate again only what a change can concern, over every constraint of the shapes."""

import hashlib
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import MARKS_GRAPH, TYPE, WORK
from kgreason.graph import Graph
from kgreason.repair.patch import Patch, Subject
from kgreason.repair.scratch import changed
from kgreason.repair.touched import Reach, concerned, reach
from kgreason.shacl import Constraint, Shapes, compile_shapes, observe_all
from kgreason.shacl.constraint import Texts
from kgreason.shacl.values import Exact, Variables


class Violation(NamedTuple):
    """One thing that is wrong, as it is counted: a constraint, a node, a property, a value."""

    key: str
    focus: Term
    path: Term | None
    value: Term | None

    @property
    def line(self) -> str:
        """The violation as text."""
        return f"{self.key} {self.focus} {self.path or '-'} {self.value or '-'}"


@dataclass(frozen=True)
class Effect:
    """The violations at the touched nodes before and after a patch.

    `made` is each quad in which the copies in fact differ, and whether it was added; `unchecked`
    are the constraints whose query was stopped or failed, `known` all that hold after it.
    """

    before: frozenset[Violation]
    after: frozenset[Violation]
    made: tuple[tuple[bool, ox.Quad], ...]
    unchecked: tuple[str, ...]
    known: tuple[Constraint, ...] = field(default=(), repr=False)

    @property
    def caused(self) -> frozenset[Violation]:
        """What is wrong after the patch and was not before."""
        return self.after - self.before


def fingerprint(violations: Iterable[Violation]) -> str:
    """Return SHA-256 over the sorted violations, in hexadecimal."""
    return hashlib.sha256("\n".join(sorted(v.line for v in violations)).encode()).hexdigest()


def effect(
    graph: Graph, own: Constraint, patch: Patch, nodes: Iterable[Term], *, seconds: float = 60.0
) -> Effect:
    """Return what a patch does: the graph is changed, validated and put back.

    Every constraint of the shapes that `own` belongs to is run where it reads what was changed, on
    the nodes it can concern (and `own` on `nodes` too); an outcome of a user, or a constraint that
    may look anywhere, on all nodes. A query of a user may take `seconds`.
    """
    claimed = frozenset(n for n in nodes if isinstance(n, Subject))
    with changed(graph, patch) as journal:
        made = tuple(journal.made())
        quads = [quad for _, quad in made]
        after_it = constraints(graph, own, _classes(made))
        touched = _near(graph, after_it, quads)
    before_it = constraints(graph, own)
    for key, found in _near(graph, before_it, quads).items():
        touched[key] = _both(touched.get(key, frozenset()), found)
    # The claimed nodes are looked at in any case, so that what is left of theirs can be counted.
    touched[own.key] = _both(touched.get(own.key, frozenset()), claimed)
    before, failed = _violations(graph, before_it, touched, seconds)
    with changed(graph, patch):
        after, failed_too = _violations(graph, after_it, touched, seconds)
    unchecked = tuple(dict.fromkeys((*failed, *failed_too)))
    return Effect(before, after, made, unchecked, after_it)


Nodes = frozenset[Subject] | None
"""Nodes to look at again; None is all."""


def _classes(made: Iterable[tuple[bool, ox.Quad]]) -> frozenset[ox.NamedNode]:
    """Return the classes that got instances: a shape without nodes so far may have some now."""
    quads = (quad for added, quad in made if added and quad.predicate == TYPE)
    return frozenset(q.object for q in quads if isinstance(q.object, ox.NamedNode))


def _near(graph: Graph, known: Sequence[Constraint], quads: Sequence[ox.Quad]) -> dict[str, Nodes]:
    """Return by constraint the nodes that changes can concern in the graph as it is."""
    asked: dict[Reach, Nodes] = {}
    out: dict[str, Nodes] = {}
    for constraint in known:
        looks = reach(constraint)
        if looks not in asked:
            asked[looks] = concerned(graph, looks, quads)
        out[constraint.key] = asked[looks]
    return out


def _both(one: Nodes, other: Nodes) -> Nodes:
    return None if one is None or other is None else one | other


def _violations(
    graph: Graph, known: Sequence[Constraint], touched: Mapping[str, Nodes], seconds: float
) -> tuple[frozenset[Violation], list[str]]:
    chosen: list[Constraint] = []
    marks: dict[frozenset[Subject], ox.NamedNode] = {}
    for constraint in known:
        nodes = touched.get(constraint.key, frozenset())
        if nodes is None or (nodes and _may_be_literal(constraint)):
            chosen.append(constraint)
        elif nodes:
            name = marks.setdefault(nodes, WORK[f"touched:{len(marks)}"])
            chosen.append(narrowed(constraint, name))
    quads = [
        ox.Quad(node, WORK.touched, name, MARKS_GRAPH)
        for nodes, name in marks.items()
        for node in nodes
    ]
    graph.store.inner.extend(quads)
    found: set[Violation] = set()
    failed = []
    try:
        for constraint, observed in observe_all(graph, chosen, seconds=seconds):
            if isinstance(observed, KgreasonError):
                failed.append(constraint.label)
                continue
            found |= {Violation(constraint.key, r.focus, r.path, r.value) for r in observed.results}
    finally:
        for quad in quads:
            graph.store.inner.remove(quad)
    return frozenset(found), failed


def _may_be_literal(constraint: Constraint) -> bool:
    return constraint.aim is not None and constraint.aim.may_be_literal


def narrowed(constraint: Constraint, mark: ox.NamedNode) -> Constraint:
    """Return a constraint that looks at the nodes alone that a mark touched."""
    guard = template("context", "touched").fragment(mark=mark)
    texts, target = constraint.exact, constraint.exact.target
    if constraint.aim is not None and not texts.whole:
        # Each node once is for counting; here it would cost a look at all of them.
        # What is narrowed has no literals among its focus nodes, so no form matters to the target.
        target = constraint.aim.pattern(Fragment("?focus"), Variables("t"), Exact(frozenset()))
    violation = _joined(guard, texts.violation) if texts.whole else texts.violation
    return replace(
        constraint, exact=Texts(_joined(guard, target), violation, texts.whole, texts.gives_path)
    )


def _joined(one: Fragment, other: Fragment) -> Fragment:
    return Fragment(f"{one.text}{other.text}", {**one.prefixes, **other.prefixes})


# The constraints of the shapes as they are compiled for a graph in the state it is in


@dataclass
class _Last:
    graph: "weakref.ref[Graph]"
    shapes: Shapes
    made: dict[tuple[frozenset[ox.NamedNode], ...], tuple[Constraint, ...]]


_last: list[_Last] = []


def constraints(
    graph: Graph, own: Constraint, classes: frozenset[ox.NamedNode] = frozenset()
) -> tuple[Constraint, ...]:
    """Return every constraint of the shapes that one belongs to, as compiled for the graph now.

    `classes` are those that have more instances now than in the graph as it was loaded. An axiom
    belongs to the axioms of its files; an outcome of a user, which belongs to no shape, is alone. A
    constraint that only pySHACL can check is not among them.
    """
    shapes = own.shapes
    if shapes is None:
        return (own,) if own.peers is None else own.peers(graph)
    kept = next((k for k in _last if k.graph() is graph and k.shapes is shapes), None)
    if kept is None:
        kept = _Last(weakref.ref(graph), shapes, {})
        _last[:] = [kept]
    state = (graph.formed, classes)
    if state not in kept.made:
        kept.made[state] = compile_shapes(shapes, graph).constraints
    return kept.made[state]
