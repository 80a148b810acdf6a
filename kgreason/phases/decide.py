"""Decide: apply the gates, and give the verdict."""

from collections.abc import Sequence
from decimal import Decimal

import pyoxigraph as ox

from kgreason.phases.bench import Bench, Symptom, mark_inside, pattern, view_of
from kgreason.phases.claim import claim
from kgreason.probes.finding import decimal
from kgreason.probes.statistics import Table
from kgreason.reasoners.candidates import excess_share, table
from kgreason.templates import template
from kgreason.terms import PREFIXES, PROV


def decide(bench: Bench, round_: int) -> None:
    """Apply the gates to all hypotheses: one step."""
    step = bench.record.step("Decide")
    row = bench.record.select("e-bh", role="status")[0]
    threshold = row.get("threshold")
    least = (
        threshold
        if isinstance(threshold, ox.Literal)
        else ox.Literal("100000000000", datatype=ox.NamedNode(PREFIXES["xsd"] + "decimal"))
    )
    step.describe(
        step.node,
        round=round_,
        ebhFamily=int(row["family"].value),
        ebhThreshold=least if threshold is not None else None,
    )
    names = {"investigation": bench.record.iri, "step": step.node}
    step.apply(template("status", "support").render(**names, threshold=least))
    step.apply(template("status", "demote").render(**names, threshold=least))
    step.apply(template("status", "refute").render(**names))
    step.apply(template("status", "leave-open").render(**names))
    bench.record.commit(step)


def conclude(bench: Bench, symptoms: Sequence[Symptom], cut: str | None) -> None:
    """Give the verdict on each symptom: one step."""
    step = bench.record.step("Conclude")
    for symptom in symptoms:
        regions = [
            pattern(r["pattern"].value)
            for r in bench.record.select("supported-regions", symptom=symptom.node)
        ]
        counts = Table(0, 0, len(symptom.failing), symptom.population)
        if regions:
            view = view_of(bench, symptom, 1)
            nodes = 0
            for region in regions:
                nodes |= mark_inside(bench, view, region)
            counts = table(view, nodes)
        share = decimal(excess_share(counts))
        step.make(
            "Verdict",
            PROV.Entity,
            symptom=symptom.node,
            explained=counts.inside_failing,
            excess=share,
            outcome=_outcome(bench, symptom, share, cut),
        )
    claim(bench, step)
    bench.record.commit(step, expect={"Verdict": len(symptoms), "Report": 1})


def _outcome(bench: Bench, symptom: Symptom, share: Decimal, cut: str | None) -> str:
    if share >= bench.policy.number("explainedFrom"):
        return "explained"
    if share >= bench.policy.number("partlyFrom"):
        return "partly explained"
    too_few = len(symptom.failing) < bench.policy.number("leastFailing")
    return "inconclusive" if cut or too_few or not symptom.counted else "no systematic cause"
