"""What the nodes that a symptom looks at are called: a class that all of them are of."""

from collections.abc import Iterable
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import OWL, RDFS, TYPE
from kgreason.context.context import Context, population_of
from kgreason.context.symptom import Symptom
from kgreason.graph import Graph

_OF_ALL: Final = {OWL.NamedIndividual, OWL.Thing, RDFS.Resource}
"""Classes that say nothing of what a node is."""
_LANGUAGES: Final = ("en", "", None)


def focus_class(context: Context, symptom: Symptom) -> ox.NamedNode | None:
    """Return the class that the nodes of a symptom go by, None where they have none in common.

    It is the one that the shape targets, else of the classes that all its nodes are of the one with
    the fewest instances in the graph.
    """
    aimed = symptom.constraint.focus_class
    if aimed is not None:
        return aimed
    nodes: Iterable[Term] = symptom.failing
    if symptom.counted:
        nodes = population_of(context, symptom).nodes
    return _common(context.graph, nodes)


def class_label(graph: Graph, named: ox.NamedNode | None) -> str | None:
    """Return the English label of a class, or the one without a language; None for none."""
    if named is None:
        return None
    found = graph.store.inner.quads_for_pattern(named, RDFS.label, None, None)
    labels = [one.object for one in found if isinstance(one.object, ox.Literal)]
    known = [one for one in labels if one.language in _LANGUAGES]
    best = min(known, key=lambda one: (_LANGUAGES.index(one.language), one.value), default=None)
    return None if best is None else best.value


def _common(graph: Graph, nodes: Iterable[Term]) -> ox.NamedNode | None:
    shared: set[ox.NamedNode] | None = None
    for node in nodes:
        if isinstance(node, ox.Literal):
            return None
        found = graph.store.inner.quads_for_pattern(node, TYPE, None, None)
        own = {one.object for one in found if isinstance(one.object, ox.NamedNode)}
        shared = own - _OF_ALL if shared is None else shared & own
        if not shared:
            return None
    return min(shared or (), key=lambda one: (_instances(graph, one), one.value), default=None)


def _instances(graph: Graph, named: ox.NamedNode) -> int:
    found = graph.store.inner.quads_for_pattern(None, TYPE, named, None)
    return len({one.subject for one in found})
