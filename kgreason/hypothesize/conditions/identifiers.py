"""Properties whose values say which thing a node is, as an ISBN or an ORCID does."""

from typing import Final

from pyoxigraph import DefaultGraph, Literal, NamedNode

from kgreason.context.view import View
from kgreason.hypothesize.conditions.ends import is_code
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
    values, uses = set[object](), 0
    for quad in view.graph.store.inner.quads_for_pattern(None, along, None, DefaultGraph()):
        if isinstance(quad.object, Literal) and not is_code(quad.object):
            return False
        values.add(quad.object)
        uses += 1
    return (uses - len(values)) * _NEARLY <= len(values)
