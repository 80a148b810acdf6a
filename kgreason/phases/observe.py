"""Observe: write down what is wrong."""

from collections.abc import Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.phases.bench import Bench, Symptom
from kgreason.phases.cite import cite, path_of
from kgreason.phases.complete import record_declared
from kgreason.terms import PREFIXES, PROV, TRAILS

_SAMPLED: Final = 10


def record_symptoms(bench: Bench, symptoms: Sequence[Symptom]) -> None:
    """Write down what is wrong, with samples cited, and what is declared complete."""
    step = bench.record.step("Observe")
    for symptom in symptoms:
        constraint = symptom.constraint
        step.add(symptom.node, ox.NamedNode(PREFIXES["rdf"] + "type"), TRAILS.Symptom, PROV.Entity)
        step.add(symptom.node, PROV.wasGeneratedBy, step.node)
        step.describe(
            symptom.node,
            step=step.node,
            investigation=bench.record.iri,
            index=symptom.index,
            key=constraint.key,
            shape=constraint.named_shape,
            constraint=constraint.component,
            path=constraint.path.text if constraint.path else None,
            severity=constraint.severity,
            message=constraint.message,
            cutAt=constraint.at,
            population=symptom.population if symptom.counted else None,
            failing=len(symptom.failing),
            outcomeQuery=constraint.outcome_query,
            failingQuery=constraint.failing_query,
        )
        for node in sorted(symptom.failing, key=str)[:_SAMPLED]:
            values = symptom.failing[node] or (None,)
            cite(bench, step, symptom.node, node, path_of(constraint), values[0], "fails")
    told = record_declared(step, bench.declared, bench.record.iri)
    bench.record.commit(step, expect={"Symptom": len(symptoms), "Declaration": told})
