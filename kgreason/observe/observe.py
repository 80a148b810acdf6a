"""Observe: write down what is wrong."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES, PROV, RDFS, TRAILS
from kgreason.context.context import Context
from kgreason.context.declared import record_declared
from kgreason.context.symptom import Symptom
from kgreason.observe.called import class_label, focus_class
from kgreason.observe.cite import cite, path_of
from kgreason.observe.extracted import extract_of
from kgreason.observe.recorded_extract import record_extract
from kgreason.observe.request import Request
from kgreason.shacl import asks, names

_SAMPLED: Final = 10


def record_symptoms(context: Context, symptoms: Sequence[Symptom], request: Request) -> None:
    """Write down what is wrong, with samples cited, and what is declared complete.

    Where the data are an extract of an endpoint, what was taken and how is written too.
    """
    step = context.record.step("Observe")
    called = names([symptom.constraint for symptom in symptoms])
    first: dict[frozenset[Term], ox.NamedNode] = {}
    for symptom, name in zip(symptoms, called, strict=True):
        constraint, kind = symptom.constraint, focus_class(context, symptom)
        step.add(symptom.node, ox.NamedNode(PREFIXES["rdf"] + "type"), TRAILS.Symptom, PROV.Entity)
        step.add(symptom.node, PROV.wasGeneratedBy, step.node)
        step.add(symptom.node, RDFS.label, name)
        step.describe(
            symptom.node,
            step=step.node,
            investigation=context.record.iri,
            index=symptom.index,
            key=constraint.key,
            shape=constraint.named_shape,
            constraint=constraint.component,
            axiom=constraint.axiom,
            path=constraint.path.text if constraint.path else None,
            focusClass=kind,
            focusLabel=class_label(context.graph, kind),
            severity=constraint.severity,
            asks=asks(constraint),
            message=constraint.message,
            cutAt=constraint.at,
            cutBits=constraint.cut_bits,
            population=symptom.population if symptom.counted else None,
            failing=len(symptom.failing),
            passingWeight=None if symptom.drawn is None else Decimal(f"{symptom.weight:.9f}"),
            outcomeQuery=constraint.outcome_query,
            failingQuery=constraint.failing_query,
            sameNodes=_alike(first, symptom),
        )
        for node in sorted(symptom.failing, key=str)[:_SAMPLED]:
            values = symptom.failing[node] or (None,)
            cite(context, step, symptom.node, node, path_of(constraint), values[0], "fails")
    told = record_declared(step, context.declared, context.record.iri)
    expected = {"Symptom": len(symptoms), "Declaration": told}
    if request.extract:
        extract = extract_of(request)
        expected |= record_extract(context.record, step, request, extract, symptoms)
    context.record.commit(step, expect=expected)


def _alike(first: dict[frozenset[Term], ox.NamedNode], symptom: Symptom) -> ox.NamedNode | None:
    """Return the symptom before whose failing nodes are the very same, if several fail; note it."""
    failing = frozenset(symptom.failing)
    known = first.setdefault(failing, symptom.node)
    return known if known != symptom.node and len(failing) > 1 else None
