"""Decide: apply the gates, and give the verdict."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.calibration import Calibration
from kgreason.errors import RunError
from kgreason.ledger import Step
from kgreason.ledger.record import Value, literal, now
from kgreason.phases.bench import Bench, Symptom, mark_inside, pattern, view_of
from kgreason.phases.claim import claim
from kgreason.phases.joint import explain
from kgreason.probes.finding import decimal
from kgreason.probes.statistics import Table
from kgreason.reasoners.candidates import excess_share, table
from kgreason.store import Row
from kgreason.templates import template
from kgreason.terms import POLICY, PREFIXES, PROV, TRAILS

_GATES: Final = (
    "threshold",
    "refuteBelow",
    "alpha",
    "siblingLevels",
    "siblingTail",
    "directRate",
    "placeboRate",
    "leastFailing",
    "rejectRatio",
    "rejectItems",
    "refutedBy",
    "convergeFrom",
    "convergeRound",
    "pruneBelow",
    "pruneRound",
    "outlastFrom",
    "attempts",
)
_BOUNDS: Final = ("explainedFrom", "partlyFrom", "leastFailing")


def decide(bench: Bench, round_: int) -> None:
    """Apply the gates to all hypotheses: one step.

    Raises RunError where there are symptoms and the round was about no hypothesis.
    """
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
    rows = bench.record.select("considered", round=literal(round_))
    considered = [ox.NamedNode(row["hypothesis"].value) for row in rows]
    if not considered and bench.record.select("symptom-keys"):
        raise RunError(f"{bench.record.iri.value}: round {round_} ended without a hypothesis.")
    step.describe(step.node, considered=considered)
    _thresholds(bench, step, _GATES)
    given: dict[str, ox.NamedNode | ox.Literal] = {
        "investigation": bench.record.iri,
        "step": step.node,
        "threshold": least,
    }
    for gate in bench.policy.gates_of("Decide"):
        step.apply(gate.render(**{name: given[name] for name in gate.parameters}))
    bench.record.commit(step)


def _thresholds(bench: Bench, step: Step, names: Sequence[str]) -> None:
    """Copy the thresholds that a step uses into it, so that its seal covers them."""
    for triple in bench.policy.triples:
        if triple.subject == bench.policy.iri and triple.predicate in {POLICY[n] for n in names}:
            step.triples.append(ox.Triple(step.node, triple.predicate, triple.object))


def conclude(
    bench: Bench,
    symptoms: Sequence[Symptom],
    cut: str | None,
    calibration: Calibration | None = None,
) -> None:
    """Give the verdict on each symptom and on all together, and cancel what never ran: one step.

    With a calibration, estimate how probable it is that each hypothesis is right.
    """
    step = bench.record.step("Conclude")
    _thresholds(bench, step, _BOUNDS)
    cancelled = bench.record.select("open-tests")
    for row in cancelled:
        node = step.make(
            "Cancellation",
            PROV.Activity,
            test=ox.NamedNode(row["test"].value),
            closed=TRAILS.Cancelled,
            cause=cut or "never called for",
        )
        step.add(node, PROV.startedAtTime, now())
        step.add(node, PROV.endedAtTime, now())
    undecided = {row["symptom"] for row in bench.record.select("undecided")}
    features = {row["symptom"]: row for row in bench.record.select("features")}
    held: dict[str, int] = {}
    for symptom in symptoms:
        counts = _held(bench, symptom, held)
        share = decimal(excess_share(counts))
        step.make(
            "Verdict",
            PROV.Entity,
            symptom=symptom.node,
            explained=counts.inside_failing,
            excess=share,
            outcome=_outcome(bench, symptom, share, open_=bool(cut) or symptom.node in undecided),
            **_features(features[symptom.node]),
        )
    expected = explain(bench, step, symptoms, held)
    claim(bench, step)
    estimates = 0 if calibration is None else _estimate(bench, step, calibration)
    expected |= {"Verdict": len(symptoms), "Report": 1, "Estimate": estimates}
    bench.record.commit(step, expect=expected)


def _held(bench: Bench, symptom: Symptom, held: dict[str, int]) -> Table:
    """Count what the supported regions of a symptom hold together, and add what each holds.

    The sets that are added have bits beyond those of the symptoms before.
    """
    rows = bench.record.select("supported-regions", symptom=symptom.node)
    if not rows:
        return Table(0, 0, len(symptom.failing), symptom.population)
    view = view_of(bench, symptom, 1)
    first = max((nodes.bit_length() for nodes in held.values()), default=0)
    together = 0
    for row in rows:
        nodes = mark_inside(bench, view, pattern(row["pattern"].value))
        held[row["hypothesis"].value] = (nodes & view.marks.failing_mask) << first
        together |= nodes
    return table(view, together)


def _estimate(bench: Bench, step: Step, calibration: Calibration) -> int:
    """Add what a calibration makes of each confidence, and a copy of it; gives their number."""
    step.triples += calibration.triples
    for node in calibration.nodes:
        step.describe(node, step=step.node)
    step.describe(step.node, calibration=calibration.iri)
    made = template("record", "estimate")
    step.apply(made.render(investigation=bench.record.iri, step=step.node))
    return len(bench.record.select("standings"))


def _features(row: Row) -> dict[str, Value]:
    """Give what calibration goes by, by the names of its properties."""
    named = {"round": "winningRound"}
    return {
        named.get(name, name): term
        for name, term in row.items()
        if name != "symptom" and isinstance(term, ox.Literal)
    }


def _outcome(bench: Bench, symptom: Symptom, share: Decimal, *, open_: bool) -> str:
    """Give the verdict; `open_`: a budget ended the work, or rivals cannot be told apart."""
    if share >= bench.policy.number("explainedFrom"):
        return "explained"
    if share >= bench.policy.number("partlyFrom"):
        return "partly explained"
    failing = len(symptom.failing)
    # Where all nodes fail there is nothing to compare them with.
    too_few = failing < bench.policy.number("leastFailing") or failing >= symptom.population
    return "inconclusive" if open_ or too_few or not symptom.counted else "no systematic cause"
