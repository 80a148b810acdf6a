"""Properties whose values say which thing a node is, as an ISBN or an ORCID does."""

from typing import Final

from pyoxigraph import DefaultGraph, Literal, NamedNode

from kgreason.context.view import View
from kgreason.hypothesize.conditions.paths import Path

_NEARLY: Final = 20
"""Of so many values one may be shared."""


def identifies(view: View, path: Path) -> bool:
    """Check whether a path is a property whose values are codes, each of one node.

    A node with two of them is two things under one IRI.
    """
    (step, *others) = path.steps or (None,)
    if step is None or others or step.kind != "forward":
        return False
    known = view.kept.setdefault("identifiers", {})
    if step.along not in known:
        known[step.along] = _are_codes(view, step.along)
    return bool(known[step.along])


def _are_codes(view: View, along: NamedNode) -> bool:
    values, shared = set[object](), 0
    for quad in view.graph.store.inner.quads_for_pattern(None, along, None, DefaultGraph()):
        value = quad.object
        if isinstance(value, Literal) and (value.language or len(value.value.split()) != 1):
            return False
        if value in values:
            shared += 1
            if shared * _NEARLY > len(view.marks.population.nodes):
                return False
        values.add(value)
    return shared * _NEARLY <= len(values)
