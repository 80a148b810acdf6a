"""Targets in named graphs: the population as anyone can ask for it in the data as loaded.

Inside kgreason the data are merged; a region that is handed out must not need that.
"""

from collections.abc import Iterator

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.symptoms.model import Constraint
from kgreason.symptoms.targets import Target
from kgreason.templates import Fragment, template
from kgreason.terms import RDFS

_ROLE = "symptom"


def located_target(constraint: Constraint, graph: Graph) -> Fragment:
    """Give the pattern that binds ?focus to the population, with each triple in a GRAPH.

    Where the target is a query of somebody, or a walk from other nodes, it stays as it is and
    needs the graphs merged.
    """
    if constraint.aim is None:
        return constraint.target
    return _located(constraint.aim, graph) or constraint.target


def _located(target: Target, graph: Graph) -> Fragment | None:
    term = target.terms[0] if target.terms else None
    if target.kind == "class" and isinstance(term, ox.NamedNode):
        classes = [term, *sorted(_below(term, graph), key=str)]
        return template(_ROLE, "located-class").fragment(classes=list(classes))
    if target.kind == "subjects" and isinstance(term, ox.NamedNode):
        return template(_ROLE, "located-subjects").fragment(given=term)
    if target.kind == "objects" and isinstance(term, ox.NamedNode):
        return template(_ROLE, "located-objects").fragment(given=term)
    if target.kind == "node":
        named = [t for t in target.terms if isinstance(t, ox.NamedNode | ox.Literal)]
        return template(_ROLE, "target-node").fragment(focus=Fragment("?focus"), given=list(named))
    if target.kind == "union":
        parts = [_located(part, graph) for part in target.parts]
        whole = [part for part in parts if part is not None]
        if len(whole) == len(parts):
            return template(_ROLE, "target-union").fragment(parts=list(whole))
    return None


def _below(top: ox.NamedNode, graph: Graph) -> Iterator[ox.NamedNode]:
    seen, waiting = {top}, [top]
    while waiting:
        found = graph.store.inner.quads_for_pattern(
            None, RDFS.subClassOf, waiting.pop(), ox.DefaultGraph()
        )
        for quad in found:
            if isinstance(quad.subject, ox.NamedNode) and quad.subject not in seen:
                seen.add(quad.subject)
                waiting.append(quad.subject)
                yield quad.subject
