"""Findings that rest on how literals are written, where a store has rewritten the literals."""

from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import SH, XSD
from kgreason.graph import Graph
from kgreason.shacl.constraint import Constraint, Observation
from kgreason.shacl.form_reading import reads_forms

_TEXT_KINDS: Final = ("normalizedString", "token", "language", "Name", "NCName", "NMTOKEN")
_KEPT: Final = frozenset({XSD.string, XSD.anyURI, *(XSD[name] for name in _TEXT_KINDS)})
_LOOKING: Final = frozenset(
    SH[name]
    for name in (
        *("datatype", "pattern", "minLength", "maxLength", "in", "hasValue", "equals", "disjoint"),
        *("qualifiedMinCount", "qualifiedMaxCount"),
    )
)
_COUNTING: Final = SH.minCount
_TEXTS: Final = frozenset({SH.select, SH.ask})


def rests_on_forms(graph: Graph, constraint: Constraint, observation: Observation) -> bool:
    """Check whether a finding may be due to a store that had rewritten the literals.

    It may where the constraint, or a shape within it, looks at the form of literals, and a failing
    node has a literal of a kind that a store rewrites. A wrong string is still found: strings, and
    the kinds of text that are made from them, are kept as they are.
    """
    return _looks(constraint) and any(
        any(map(_rewritten, values)) or (not values and _has_rewritten(graph, focus))
        for focus, values in _reached(observation)
    )


def _looks(constraint: Constraint) -> bool:
    """Check whether a constraint looks at forms, by its own parameters or those of its shapes."""
    parameters = constraint.parameters
    if any(name in _LOOKING for name in parameters):
        return True
    if any(v.value not in {"0", "1"} for v in parameters.get(_COUNTING, ())):
        return True  # two forms of one value may have become one
    inner: list[Term] = [v for values in parameters.values() for v in values]
    inner += [constraint.source] if constraint.source is not None else []
    index = constraint.shapes.index if constraint.shapes else {}
    seen: set[Term] = set()
    while inner:
        node = inner.pop()
        if node in seen or isinstance(node, ox.Literal):
            continue
        seen.add(node)
        for name, values in index.get(node, {}).items():
            if name in _LOOKING:
                return True
            if name in _TEXTS and any(reads_forms(v.value) for v in values):
                return True
            inner += values
    return False


def _reached(observation: Observation) -> list[tuple[Term, tuple[Term, ...]]]:
    """Return failing nodes with the literals at fault, and the nodes at fault as failing nodes."""
    found: list[tuple[Term, tuple[Term, ...]]] = []
    for focus, values in observation.failing.items():
        literals = tuple(v for v in values if isinstance(v, ox.Literal))
        found.append((focus, literals))
        found += [(v, ()) for v in values if not isinstance(v, ox.Literal)]
    return found


def _has_rewritten(graph: Graph, node: Term) -> bool:
    if isinstance(node, ox.Literal):
        return _rewritten(node)
    quads = graph.store.inner.quads_for_pattern(node, None, None, ox.DefaultGraph())
    return any(_rewritten(quad.object) for quad in quads)


def _rewritten(term: object) -> bool:
    """Check whether a literal is of a datatype whose values a store writes in its own form."""
    return isinstance(term, ox.Literal) and term.datatype in XSD and term.datatype not in _KEPT
