"""Findings that rest on how literals are written, where a store has rewritten the literals."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import SH
from kgreason.graph import Graph
from kgreason.shacl.constraint import Constraint, Observation
from kgreason.shacl.form_reading import reads_forms
from kgreason.shacl.seen_forms import (
    has_one_form,
    is_rewritten,
    may_be_of,
    may_be_of_another_form,
)

_LOOKING: Final = frozenset(
    SH[name]
    for name in (
        *("datatype", "pattern", "minLength", "maxLength", "in", "hasValue", "equals", "disjoint"),
        *("qualifiedMinCount", "qualifiedMaxCount"),
    )
)
_COMPARED: Final = frozenset({SH["in"], SH.hasValue})
_COUNTING: Final = SH.minCount
_TEXTS: Final = frozenset({SH.select, SH.ask})


def rests_on_forms(graph: Graph, constraint: Constraint, observation: Observation) -> bool:
    """Check whether a finding may be due to a store that had rewritten the literals.

    It may where the constraint, or a shape within it, looks at the form of literals, and a failing
    node has a literal of a kind that a store rewrites. A wrong string is still found: strings, and
    the kinds of text that are made from them, are kept as they are.
    """
    return any(_looking(constraint)) and any(
        any(map(is_rewritten, values))
        or (not values and any(map(is_rewritten, _said(graph, node))))
        for node, values in _reached(observation)
    )


def unproven(
    graph: Graph, constraint: Constraint, observation: Observation, seen: Mapping[str, bool]
) -> tuple[str, ...]:
    """Return the datatypes by which a finding may be due to a store that rewrites its literals.

    `seen` are the datatypes that stand in the store, and of which of them a literal shows that they
    are given as they were written. That a datatype is wrong is believed where the right one stands
    there too: it is not made another one.
    """
    found: set[str] = set()
    for look in _looking(constraint):
        literals = _literals(graph, look, observation)
        if look.name == SH.datatype:
            others = [v for v in look.values if isinstance(v, ox.NamedNode) and v.value not in seen]
            found.update(
                one.datatype.value for one in literals for v in others if may_be_of(one.datatype, v)
            )
        elif not _has_one_form(constraint, look):
            found.update(
                one.datatype.value
                for one in literals
                if may_be_of_another_form(one) and not seen.get(one.datatype.value)
            )
    return tuple(sorted(found))


class _Look(NamedTuple):
    """A parameter that looks at forms, of the values of a property; None where that is not known.

    It is a constraint's `own`, or stands in a shape within it.
    """

    name: ox.NamedNode
    values: tuple[Term, ...]
    property: Term | None
    own: bool


def _looking(constraint: Constraint) -> Iterator[_Look]:
    """Return what looks at forms: a constraint's own parameters, and those of its shapes."""
    parameters = constraint.parameters
    own = constraint.path.predicate if constraint.path else None
    for name, said in parameters.items():
        # Two forms of one value may have become one.
        several = name == _COUNTING and any(v.value not in {"0", "1"} for v in said)
        if name in _LOOKING or several:
            yield _Look(name, said, own, own=True)
    inner: list[tuple[Term, Term | None]]
    inner = [(v, own) for values in parameters.values() for v in values]
    inner += [(constraint.source, None)] if constraint.source is not None else []
    index = constraint.shapes.index if constraint.shapes else {}
    seen: set[tuple[Term, Term | None]] = set()
    while inner:
        node, of = inner.pop()
        if isinstance(node, ox.Literal) or (node, of) in seen:
            continue
        seen.add((node, of))
        described = index.get(node, {})
        paths = described.get(SH.path, ())
        of = paths[0] if paths else of
        of = of if isinstance(of, ox.NamedNode) else None
        for name, values in described.items():
            if name in _LOOKING:
                yield _Look(name, values, of, own=False)
            if name in _TEXTS and any(reads_forms(v.value) for v in values):
                yield _Look(name, values, None, own=False)
            inner += [(v, of) for v in values if name != SH.path]


def _literals(graph: Graph, look: _Look, observation: Observation) -> Iterator[ox.Literal]:
    """Return the literals at which something looked that failed, as far as that is known."""
    if not look.own and isinstance(look.property, ox.NamedNode):
        yield from _only(
            q.object
            for q in graph.store.inner.quads_for_pattern(
                None, look.property, None, ox.DefaultGraph()
            )
        )
        return
    for node, values in _reached(observation):
        yield from _only(values or _said(graph, node, look.property))


def _only(terms: Iterable[object]) -> Iterator[ox.Literal]:
    return (one for one in terms if isinstance(one, ox.Literal))


def _has_one_form(constraint: Constraint, look: _Look) -> bool:
    """Check whether values are compared with terms of which rewriting makes no others."""
    if look.name not in _COMPARED:
        return False
    shapes = constraint.shapes
    if shapes is None:
        return False
    terms = list(look.values)
    if look.name == SH["in"]:
        terms = [one for v in look.values for one in (shapes.list(v) or [v])]
    return all(not isinstance(one, ox.Literal) or has_one_form(one) for one in terms)


def _reached(observation: Observation) -> list[tuple[Term, tuple[Term, ...]]]:
    """Return failing nodes with the literals at fault, and the nodes at fault as failing nodes."""
    found: list[tuple[Term, tuple[Term, ...]]] = []
    for focus, values in observation.failing.items():
        literals = tuple(v for v in values if isinstance(v, ox.Literal))
        found.append((focus, literals))
        found += [(v, ()) for v in values if not isinstance(v, ox.Literal)]
    return found


def _said(graph: Graph, node: Term, of: Term | None = None) -> Iterator[object]:
    """Return what is said of a node, by one property where given; of a literal itself."""
    if isinstance(node, ox.Literal):
        return iter((node,))
    link = of if isinstance(of, ox.NamedNode) else None
    quads = graph.store.inner.quads_for_pattern(node, link, None, ox.DefaultGraph())
    return (quad.object for quad in quads)
