"""Nodes as statements: what the data say of them, in the words by which a record cites nodes."""

from collections.abc import Iterable, Iterator

import pyoxigraph as ox

from kgreason.base.terms import PREFIXES, TRAILS, TYPE
from kgreason.report.export.rdf import turtle
from kgreason.report.focus_nodes import FocusNode

FAILS, PASSES = "fails inside the region", "passes although inside the region"
"""Why a record cites a node of a region."""


def citation(
    node: ox.NamedNode | ox.BlankNode, one: FocusNode, value: str | None, source: str | None
) -> Iterator[ox.Triple]:
    """Return what a citation of one value of a focus node says."""
    said = {
        TYPE: TRAILS.Citation,
        TRAILS.node: named(one.node),
        TRAILS.symptom: ox.NamedNode(one.symptom),
        TRAILS.field: None if one.field is None else named(one.field),
        TRAILS.value: None if value is None else ox.Literal(value),
        TRAILS.relevance: ox.Literal(PASSES if one.fails is False else FAILS),
    }
    for predicate, term in said.items():
        if term is not None:
            yield ox.Triple(node, predicate, term)
    for graph in (source or "").split():
        yield ox.Triple(node, TRAILS.graph, named(graph))


def named(text: str) -> ox.NamedNode | ox.Literal:
    """Return the term that a text names: an IRI, or a literal for anything else."""
    if not text.startswith("_:") and ":" in text:
        try:
            return ox.NamedNode(text)
        except ValueError:
            pass
    return ox.Literal(text)


def as_turtle(nodes: Iterable[FocusNode]) -> str:
    """Return focus nodes as Turtle: a trails:Citation for each value."""
    pairs = [(one, *pair) for one in nodes for pair in one.statements]
    triples = (
        made
        for number, (one, value, source) in enumerate(pairs, start=1)
        for made in citation(ox.BlankNode(f"n{number}"), one, value, source)
    )
    return turtle(triples, PREFIXES).decode()
