"""Decide: apply the gates, and give the verdict."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.detectable import Detectable, detectable
from kgreason.base.errors import RunError
from kgreason.base.figures import figure
from kgreason.base.statistics import Table
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import POLICY, PREFIXES, PROV, TRAILS
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import table
from kgreason.decide.claim import claim
from kgreason.decide.joint import explain
from kgreason.decide.settle import settle
from kgreason.decide.slices import slice_up
from kgreason.decide.two_parts import homes, join, origins
from kgreason.decide.whole_sources import whole_sources
from kgreason.hypothesize.candidates import excess_share
from kgreason.record import Step
from kgreason.record.calibration import Calibration
from kgreason.record.policy import Policy
from kgreason.record.record import Value, literal, now
from kgreason.test.finding import decimal

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
WITHOUT_CAUSE: Final = ("no systematic cause", "inconclusive")
_HALF: Final = figure("detectableShare")
_BOUNDS: Final = ("explainedFrom", "partlyFrom", "leastFailing")


def decide(context: Context, round_: int, cut: str | None = None) -> None:
    """Apply the gates to all hypotheses: one step. `cut` says what a budget cut short in the round.

    Raises RunError where there are symptoms and the round was about no hypothesis.
    """
    step = context.record.step("Decide")
    row = context.record.select("e-bh", role="status")[0]
    threshold = row.get("threshold")
    least = (
        threshold
        if isinstance(threshold, ox.Literal)
        else ox.Literal("100000000000", datatype=ox.NamedNode(PREFIXES["xsd"] + "decimal"))
    )
    step.describe(
        step.node,
        round=round_,
        cut=cut,
        ebhFamily=int(row["family"].value),
        ebhThreshold=least if threshold is not None else None,
    )
    rows = context.record.select("considered", round=literal(round_))
    considered = [ox.NamedNode(row["hypothesis"].value) for row in rows]
    if not considered and context.record.select("symptom-keys"):
        raise RunError(f"{context.record.iri.value}: round {round_} ended without a hypothesis.")
    step.describe(step.node, considered=considered)
    _thresholds(context, step, _GATES)
    given: dict[str, ox.NamedNode | ox.Literal] = {
        "investigation": context.record.iri,
        "step": step.node,
        "threshold": least,
    }
    for gate in context.policy.gates_of("Decide"):
        step.apply(gate.render(**{name: given[name] for name in gate.parameters}))
    context.record.commit(step)
    settle(context)


def _thresholds(context: Context, step: Step, names: Sequence[str]) -> None:
    """Copy the thresholds that a step uses into it, so that its seal covers them."""
    for triple in context.policy.triples:
        if triple.subject == context.policy.iri and triple.predicate in {POLICY[n] for n in names}:
            step.triples.append(ox.Triple(step.node, triple.predicate, triple.object))


def conclude(
    context: Context,
    symptoms: Sequence[Symptom],
    cut: str | None,
    calibration: Calibration | None = None,
) -> None:
    """Return the verdict on each symptom and on all together, and cancel what never ran: one step.

    With a calibration, estimate how probable it is that each hypothesis is right.
    """
    settle(context)  # a run may have ended between a decision and what follows from it
    step = context.record.step("Conclude")
    _thresholds(context, step, _BOUNDS)
    _cancel_open(context, step, cut or "never called for")
    undecided = {row["symptom"] for row in context.record.select("undecided")}
    needed = _needed(context)
    features = {row["symptom"]: row for row in context.record.select("features")}
    held: dict[str, int] = {}
    outcomes: dict[str, str] = {}
    for symptom in symptoms:
        counts, all_ = _held(context, symptom, held)
        share, wide = (decimal(excess_share(each)) for each in (counts, all_))
        seen = _seen(symptom, needed)
        open_ = (
            bool(cut) or symptom.node in undecided or _unseen(seen, len(symptom.failing), needed)
        )
        verdict = outcome(context.policy, share, wide, open_=open_)
        whole = None
        if verdict in WITHOUT_CAUSE and symptom.counted and symptom.failing:
            whole = whole_sources(view_of(context, symptom, 1))
            verdict = verdict if whole is None else "inconclusive"
        outcomes[symptom.node.value] = verdict
        step.make(
            "Verdict",
            PROV.Entity,
            symptom=symptom.node,
            explained=counts.inside_failing,
            excess=share,
            narrowed=all_.inside_failing - counts.inside_failing,
            narrowedExcess=wide,
            outcome=verdict,
            wholeSources=whole,
            **(smallest(seen) if seen and verdict in WITHOUT_CAUSE else {}),
            **_features(features[symptom.node]),
        )
    found = join(context, step, symptoms)
    expected = explain(context, step, symptoms, held, homes(found), origins(found))
    claim(context, step, outcomes, {each.mechanism.id: each.statement for each in found})
    estimates = 0 if calibration is None else _estimate(context, step, calibration)
    expected["Slice"] = slice_up(context, step, symptoms)
    expected |= {"Verdict": len(symptoms), "Report": 1, "Estimate": estimates}
    expected["JoinedFinding"] = len(found)
    context.record.commit(step, expect=expected)


def _cancel_open(context: Context, step: Step, cause: str) -> None:
    """Write down that tests which were registered and never ran are cancelled."""
    for row in context.record.select("open-tests"):
        node = step.make(
            "Cancellation",
            PROV.Activity,
            test=ox.NamedNode(row["test"].value),
            closed=TRAILS.Cancelled,
            cause=cause,
        )
        step.add(node, PROV.startedAtTime, now())
        step.add(node, PROV.endedAtTime, now())


def _held(context: Context, symptom: Symptom, held: dict[str, int]) -> tuple[Table, Table]:
    """Count what the supported regions of a symptom hold together, and add what each holds.

    First those of which at least half fails, then all. What is added, of the former, has bits
    beyond those of the symptoms before.
    """
    rows = context.record.select("supported-regions", symptom=symptom.node)
    if not rows:
        none = Table(0, 0, len(symptom.failing), symptom.population)
        return none, none
    view = view_of(context, symptom, 1)
    first = max((nodes.bit_length() for nodes in held.values()), default=0)
    explaining = together = 0
    for row in rows:
        nodes = mark_inside(context, view, pattern(row["pattern"].value))
        together |= nodes
        if row["narrows"].value == "false":
            explaining |= nodes
            held[row["hypothesis"].value] = (nodes & view.marks.failing_mask) << first
    return table(view, explaining), table(view, together)


def _needed(context: Context) -> float | None:
    """Return the e-value that e-BH asks of one hypothesis alone; None without an alpha."""
    alpha = context.policy.numbers.get("alpha")
    family = int(context.record.select("e-bh", role="status")[0]["family"].value)
    return None if alpha is None else float(max(1, family) / alpha)


def _seen(symptom: Symptom, needed: float | None) -> Detectable | None:
    """Return the smallest effects that would have been seen; None without an e-value needed."""
    return detectable(symptom.population, len(symptom.failing), needed) if needed else None


def _unseen(seen: Detectable | None, failing: int, needed: float | None) -> bool:
    """Check whether not even a condition would have been seen that holds much of the failing nodes.

    Without an e-value that is needed, nobody knows what would have been seen.
    """
    if needed is None:
        return False
    return seen is None or seen.fewest > _HALF * failing


def smallest(seen: Detectable) -> dict[str, Value]:
    """Return the smallest effects that would have been seen, by the names of their properties."""
    return {
        "detectableNodes": seen.nodes,
        "detectableFailing": seen.failing,
        "detectableFewest": seen.fewest,
    }


def _estimate(context: Context, step: Step, calibration: Calibration) -> int:
    """Add what a calibration makes of each confidence, and a copy of it; gives their number.

    Then the rules of the policy that go by it move confidence a last time.
    """
    step.triples += calibration.triples
    for node in calibration.nodes:
        step.describe(node, step=step.node)
    step.describe(step.node, calibration=calibration.iri)
    made = template("record", "estimate")
    names = {"investigation": context.record.iri, "step": step.node}
    for each in (made, *context.policy.last_rules):
        step.apply(each.render(**names))
    proofs = calibration.proofs
    rows = context.record.select("standings")
    return sum(not proofs or ("proof" in row and row["proof"].value in proofs) for row in rows)


def _features(row: Row) -> dict[str, Value]:
    """Return what calibration goes by, by the names of its properties."""
    named = {"round": "winningRound"}
    return {
        named.get(name, name): term
        for name, term in row.items()
        if name != "symptom" and isinstance(term, ox.Literal)
    }


def outcome(used: Policy, share: Decimal, wide: Decimal, *, open_: bool) -> str:
    """Return the verdict; `open_`: nobody can say that there is no systematic cause.

    `share` is what the supported regions hold of which at least half fails, `wide` what all do.
    """
    if share >= used.number("explainedFrom"):
        return "explained"
    if share >= used.number("partlyFrom"):
        return "partly explained"
    if wide >= used.number("partlyFrom"):
        return "narrowed down"
    return "inconclusive" if open_ else "no systematic cause"
