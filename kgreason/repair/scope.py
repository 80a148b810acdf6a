"""What a repair may touch: the kind of thing, the operation and the region that it declares."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import TYPE
from kgreason.graph import Graph

GraphName = ox.NamedNode | ox.BlankNode | ox.DefaultGraph
Made = tuple[bool, ox.Quad]
"""A quad in which two copies differ, and whether it was added."""


@dataclass(frozen=True)
class Scope:
    """What is declared: region kind and operation by their notation, the nodes, the properties.

    `predicate` is the property that the repair is given, else the constrained one; `level` the one
    used instead (where the repair renames) or the value or class it is about.
    """

    region: str
    operation: str
    nodes: frozenset[Term]
    predicate: ox.NamedNode | None
    level: Term | None = None


class Others:
    """The quads that were changed the other way, found by some of their places."""

    def __init__(self, quads: Sequence[ox.Quad]) -> None:
        self._quads = quads
        self._known: dict[tuple[str, ...], dict[tuple[object, ...], list[ox.Quad]]] = {}

    def like(self, quad: ox.Quad, *places: str) -> list[ox.Quad]:
        """Return those that are the same as a quad in some places."""
        if places not in self._known:
            index = self._known[places] = {}
            for other in self._quads:
                key = tuple(getattr(other, place) for place in places)
                index.setdefault(key, []).append(other)
        return self._known[places].get(tuple(getattr(quad, place) for place in places), [])


def outside(graph: Graph, scope: Scope, made: Sequence[Made]) -> list[ox.Quad]:
    """Return the quads that were changed outside the scope; the graph is as it was loaded."""
    if scope.region == "named-graph":
        return list(_outside_graphs(graph, scope, made))
    return list(_outside(graph, scope, made))


def _outside_graphs(graph: Graph, scope: Scope, made: Sequence[Made]) -> Iterator[ox.Quad]:
    """Return what was changed beside taking out, as a whole, graphs that tell of the region.

    Of a graph that was taken out in part, all that was taken out is given.
    """
    inner, taken = graph.store.inner, dict[GraphName, set[ox.Quad]]()
    told = _graphs_of(graph, scope)
    for is_added, quad in made:
        if is_added or quad.graph_name not in told:
            yield quad
        else:
            taken.setdefault(quad.graph_name, set()).add(quad)
    for name, quads in taken.items():
        if set(inner.quads_for_pattern(None, None, None, name)) - quads:
            yield from sorted(quads, key=str)


def _graphs_of(graph: Graph, scope: Scope) -> set[object]:
    """Return the named graphs that describe nodes of the region; only the level, if it is one."""
    described = set[object]()
    for node in scope.nodes:
        if isinstance(node, ox.NamedNode | ox.BlankNode):
            found = graph.store.inner.quads_for_pattern(node, None, None, None)
            described |= {q.graph_name for q in found if q.graph_name != ox.DefaultGraph()}
    return described & {scope.level} if scope.level is not None else described


def _outside(graph: Graph, scope: Scope, made: Sequence[Made]) -> Iterator[ox.Quad]:
    pointed = _pointed_at(graph, scope) if scope.region in {"type-assertion", "node"} else set()
    if scope.region == "node":
        pointed = _named_too(pointed, made)
    subjects = scope.nodes | pointed
    if scope.operation == "move":
        subjects = subjects | _linked(graph, scope)
    removed = Others([quad for added, quad in made if not added])
    added = Others([quad for is_added, quad in made if is_added])
    fits = _KINDS[scope.region]
    may, turned = _OPERATIONS[scope.operation], scope.operation == "turn"
    for is_added, quad in made:
        known = quad.subject in subjects or (turned and quad.object in scope.nodes)
        if scope.region == "node" and any(True for _ in _told(graph, quad.subject)):
            known = False  # what is described already is no missing node
        others = removed if is_added else added
        if not (known and fits(scope, quad) and may(scope, is_added, quad, others)):
            yield quad


def _pointed_at(graph: Graph, scope: Scope) -> set[Term]:
    if scope.predicate is None:
        return set()
    out: set[Term] = set()
    for node in scope.nodes:
        if not isinstance(node, ox.Literal):
            found = graph.store.inner.quads_for_pattern(
                node, scope.predicate, None, ox.DefaultGraph()
            )
            out |= {q.object for q in found if not isinstance(q.object, ox.Triple)}
    return out


def _linked(graph: Graph, scope: Scope) -> set[Term]:
    """Return what is linked with a node of the region, in either direction, by what values move."""
    if not isinstance(scope.level, ox.NamedNode):
        return set()
    inner, out = graph.store.inner, set[Term]()
    for node in scope.nodes:
        if isinstance(node, ox.NamedNode | ox.BlankNode):
            there = inner.quads_for_pattern(node, scope.level, None, ox.DefaultGraph())
            back = inner.quads_for_pattern(None, scope.level, node, ox.DefaultGraph())
            ends = [*(q.object for q in there), *(q.subject for q in back)]
            out |= {end for end in ends if isinstance(end, ox.NamedNode | ox.BlankNode)}
    return out


def _named_too(pointed: set[Term], made: Sequence[Made]) -> set[Term]:
    """Return some things with those that what is added says of them names, and so on."""
    named: dict[Term, set[Term]] = {}
    for is_added, quad in made:
        if is_added and not isinstance(quad.subject, ox.Triple | ox.Literal):
            objects = named.setdefault(quad.subject, set())
            if isinstance(quad.object, ox.NamedNode | ox.BlankNode) and quad.predicate != TYPE:
                objects.add(quad.object)
    out, front = set(pointed), set(pointed)
    while front:
        front = {other for thing in front for other in named.get(thing, ())} - out
        out |= front
    return out


def _told(graph: Graph, node: object) -> Iterable[ox.Quad]:
    if not isinstance(node, ox.NamedNode | ox.BlankNode):
        return ()
    return graph.store.inner.quads_for_pattern(node, None, None, ox.DefaultGraph())


_KINDS: Final[dict[str, Callable[[Scope, ox.Quad], bool]]] = {
    "literal-value": lambda s, q: q.predicate == s.predicate and isinstance(q.object, ox.Literal),
    "property-assertion": lambda _, q: q.predicate != TYPE,
    "type-assertion": lambda _, q: q.predicate == TYPE,
    "node": lambda *_: True,
}
"""Whether a quad is of the kind of thing declared."""


def _renames(scope: Scope, is_added: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    """Let a statement keep subject, value and graph, and go from one property to the other.

    An added one needs a removed one; a removed one may have stood under the right property too.
    """
    if is_added:
        twin = any(others.like(quad, "subject", "object", "graph_name"))
        return twin and (quad.predicate == scope.predicate or _namesakes(scope, quad))
    return quad.predicate == scope.level or _namesakes(scope, quad)


def _exchanges(scope: Scope, _: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    """Let a value go to the other of two properties, so that none goes and none comes alone."""
    named = {scope.predicate, scope.level}
    twins = others.like(quad, "subject", "object", "graph_name")
    return any({quad.predicate, twin.predicate} == named for twin in twins)


def _turns(_: Scope, __: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    """Let a statement go from its value to its subject, so that none goes and none comes alone."""
    if not isinstance(quad.object, ox.NamedNode | ox.BlankNode):
        return False
    back = ox.Quad(quad.object, quad.predicate, quad.subject, quad.graph_name)
    return bool(others.like(back, "subject", "predicate", "object", "graph_name"))


def _namesakes(scope: Scope, quad: ox.Quad) -> bool:
    """Check whether a property stands in one of the two namespaces of a renaming of namespaces."""
    if not isinstance(scope.level, ox.NamedNode) or scope.predicate is None:
        return False
    if local(scope.level) != local(scope.predicate):
        return False
    return space(quad.predicate) in {space(scope.level), space(scope.predicate)}


def local(iri: ox.NamedNode) -> str:
    """Return the last part of an IRI, after the last / # or :."""
    return min((iri.value.rpartition(mark)[2] for mark in "/#:"), key=len)


def space(iri: ox.NamedNode) -> str:
    """Return an IRI without its last part."""
    return iri.value[: len(iri.value) - len(local(iri))]


def _casts(scope: Scope, is_added: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    """Let a value keep its text, or the beginning of it, under the constrained property."""
    here = quad.predicate == scope.predicate
    twins = others.like(quad, "subject", "predicate", "graph_name")
    return here and (not is_added or any(_alike(o.object, quad.object) for o in twins))


def _alike(one: object, other: object) -> bool:
    texts = [t.value.strip() for t in (one, other) if isinstance(t, ox.NamedNode | ox.Literal)]
    if len(texts) < 2:  # noqa: PLR2004 - a blank node has no text
        return False
    low, high = sorted(texts, key=len)
    return high.startswith(low) or _number(low) == _number(high) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _replaces(_: Scope, is_added: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    return not is_added or any(others.like(quad, "subject", "predicate", "graph_name"))


def _moves(scope: Scope, is_added: bool, quad: ox.Quad, others: Others) -> bool:  # noqa: FBT001
    """Let a value of the constrained property go to a node of the region from one that is not."""
    here = quad.predicate == scope.predicate and (quad.subject in scope.nodes) == is_added
    return here and any(others.like(quad, "predicate", "object", "graph_name"))


def _removes(scope: Scope, is_added: bool, quad: ox.Quad, _: object) -> bool:  # noqa: FBT001
    return not is_added and quad.predicate == scope.predicate


def _adds(_: Scope, is_added: bool, *__: object) -> bool:  # noqa: FBT001
    return is_added


def _materialises(scope: Scope, is_added: bool, quad: ox.Quad, _: object) -> bool:  # noqa: FBT001
    return is_added and quad.predicate in {scope.predicate, TYPE}


_OPERATIONS: Final[dict[str, Callable[[Scope, bool, ox.Quad, Others], bool]]] = {
    "rename": _renames,
    "turn": _turns,
    "exchange": _exchanges,
    "cast": _casts,
    "replace": _replaces,
    "move": _moves,
    "remove": _removes,
    "merge": _removes,
    "add": _adds,
    "materialise": _materialises,
}
"""Whether a change is one that the operation declared may make."""
