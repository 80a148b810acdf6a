"""Read how many claimed failures are gone under closure without the axiom in question."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.terms import OWL, RDFS
from kgreason.graph import Graph
from kgreason.record.test_kinds import CLEARS
from kgreason.shacl import Constraint
from kgreason.test.closure import cleared
from kgreason.test.finding import Finding, Setting, decimal

_OF_CLASSES: Final = (RDFS.subClassOf, OWL.equivalentClass)
_BY_PLACE: Final = frozenset({RDFS.domain, RDFS.range})


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return specific (at most 5 % are gone) or unspecific."""
    claimed = [row["focus"] for row in rows]
    graph, constraint, level = setting.graph, setting.constraint, setting.level
    gone, engine = (
        cleared(graph, constraint, claimed, left_out(graph, constraint, level))
        if claimed and graph and constraint
        else (set(), "none")
    )
    rate = len(gone) / len(claimed) if claimed else 0.0
    note = told(len(claimed), len(gone), engine)
    figures: dict[str, int | Decimal] = {
        "rate": decimal(rate),
        "claimed": len(claimed),
        "holds": len(gone),
    }
    return Finding("specific" if rate <= CLEARS else "unspecific", note, figures)


def told(claimed: int, holds: int, engine: str) -> str:
    """Describe how many failures are gone under the closure of an engine without the axiom."""
    return f"Closed ({engine}) without the axiom, {holds} of {claimed} failures are gone."


def left_out(
    graph: Graph, constraint: Constraint, level: Term | None
) -> Callable[[ox.Triple], bool]:
    """Describe which axioms the placebo is closed without: those about a term, and what is weaker.

    The range of the constrained property types whatever stands there, right or wrong, and so does a
    restriction to all values from a class; beside a class that the things were given, so does every
    domain or range. That such an axiom would do as well says nothing against the one in question.
    """
    own = constraint.path.predicate if constraint.path is not None else None
    of_classes = level is not None and _is_class(graph, level)

    def out(axiom: ox.Triple) -> bool:
        if level is not None and level in {axiom.subject, axiom.object}:
            return True
        by_place = axiom.predicate in _BY_PLACE and (of_classes or axiom.subject == own)
        return by_place or axiom.predicate == OWL.allValuesFrom

    return out


def _is_class(graph: Graph, term: Term) -> bool:
    store, merged = graph.store.inner, ox.DefaultGraph()
    if isinstance(term, ox.Literal):
        return False
    return any(
        next(store.quads_for_pattern(subject, predicate, object_, merged), None) is not None
        for predicate in _OF_CLASSES
        for subject, object_ in ((term, None), (None, term))
    )
