"""Nodes that are called by a text: by their IRI, a label, or the end of their IRI."""

import pyoxigraph as ox

from kgreason.base.templates import template
from kgreason.base.terms import OWL, RDFS, TYPE
from kgreason.graph import Graph
from kgreason.planner.question_places import iri_of


def called_node(graph: Graph, text: str) -> ox.NamedNode | None:
    """Return the node that is called by a text and is no class, if there is one.

    A property is one only where the text is written as a name of it (`ex:unitCost`).
    """
    iri = iri_of(text)
    if iri is not None and there(graph, iri):
        return iri
    name = ox.Literal(text.rpartition(":")[2])
    nodes = (row["node"] for row in graph.store.select(template("look", "named").render(name=name)))
    plain = ":" not in text
    for node in nodes:
        if not isinstance(node, ox.NamedNode) or _is_class(graph, node):
            continue
        if not (plain and there(graph, None, node)):
            return node
    return None


def _is_class(graph: Graph, node: ox.NamedNode) -> bool:
    """Check whether a node has instances, is called a class, or is above or below one."""
    return (
        there(graph, None, TYPE, node)
        or any(there(graph, node, TYPE, kind) for kind in (OWL.Class, RDFS.Class))
        or there(graph, None, RDFS.subClassOf, node)
        or there(graph, node, RDFS.subClassOf, None)
    )


def there(
    graph: Graph,
    subject: ox.NamedNode | None,
    predicate: ox.NamedNode | None = None,
    value: ox.NamedNode | None = None,
) -> bool:
    """Check whether a graph has a statement of a subject, predicate and value, None for any."""
    quads = graph.store.inner.quads_for_pattern(subject, predicate, value, None)
    return next(iter(quads), None) is not None
