"""Intervene: commit to a hypothesis, try its repair on the scratch copy, and let that be evidence.

One hypothesis is acted on at a time. A repair that cannot be made wholly inside the region is never
tried, one that failed is not tried again, and one that touched what it did not declare ends what
is done about its hypothesis.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import ask
from kgreason.base.errors import QueryError, RunError
from kgreason.base.store import Row
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import members
from kgreason.record import Step
from kgreason.record.permits import authorise, commit_to, release
from kgreason.record.record import literal, now
from kgreason.record.test_kinds import modality_of, role_of
from kgreason.repair import intervention
from kgreason.repair.feasible import MOST, Claim, Option, claims, describe_option, options, query
from kgreason.repair.trial import Feasibility, Trial, infeasible, trial
from kgreason.test.finding import Finding, decimal
from kgreason.test.run import ask_test, cite_finding, close_as_error, execute, update

KIND: Final = "intervention"
_TRIES: Final = 2
"""Failed attempts after which a hypothesis is left alone."""
REPAIR: Final = 4
"""The stage in which repairs are designed, once all symptoms of a round are looked into."""
_SPLIT: Final = "whole"
_OPEN: Final = frozenset({TRAILS.Proposed, TRAILS.Testing, TRAILS.Inconclusive, TRAILS.Supported})


def run(context: Context, symptom: Symptom, test: ox.NamedNode) -> None:
    """Run a registered test of the engine: an intervention is tried, all others are executed."""
    if context.record.select("test", test=test)[0]["modality"] == TRAILS.ScratchIntervention:
        attempt(context, symptom, test)
    else:
        execute(context, symptom, test)


def pending_tests(context: Context, symptom: Symptom) -> list[Row]:
    """Return tests of a symptom that may be run now, in their order; repairs have their turn."""
    rows = context.record.select("pending-tests", symptom=symptom.node)
    return [row for row in rows if row["kind"].value != KIND]


def intervene(
    context: Context,
    symptoms: Sequence[Symptom],
    round_: int,
    most: int = 5,
) -> int:
    """Try repairs for the leading hypotheses of a round; gives the number of attempts.

    In each frame the hypothesis that was most likely when the first repair of the round was
    designed comes first; where its repair fails, the next one takes over. At most `most` attempts
    an investigation. What was done before the run was interrupted is read from the record. Raises
    Spent where the budget allows no more; what was tried until then is recorded.
    """
    done = 0
    for symptom in symptoms:
        for row in context.record.select("pending-tests", symptom=symptom.node):
            if row["kind"].value == KIND and row["tried"].value == "0":
                attempt(context, symptom, ox.NamedNode(row["test"].value))
                done += 1
    for frame in _frames(context, symptoms, round_):
        for claim in frame:
            tried, cleared = _try(context, claim, most)
            done += tried
            if cleared:
                break
    return done


def _frames(context: Context, symptoms: Sequence[Symptom], round_: int) -> list[list[Claim]]:
    """Return hypotheses of each frame of a round that may be acted on, likeliest frame first."""
    least = context.policy.numbers.get("refuteBelow", 0)
    rows = context.record.select("line-up", round=literal(round_))
    likely = {row["hypothesis"]: Decimal(row["confidence"].value) for row in rows}
    frames: dict[str, list[Claim]] = {}
    for claim in claims(context, symptoms):
        if likely.get(claim.node, Decimal(-1)) >= least and claim.row["status"] in _OPEN:
            frames.setdefault(claim.row["frame"].value, []).append(claim)
    for frame in frames.values():
        frame.sort(key=lambda c: (-likely[c.node], int(c.row["number"].value)))
    return sorted(frames.values(), key=lambda f: -likely[f[0].node])


def _try(context: Context, claim: Claim, most: int) -> tuple[int, bool]:
    """Try the repairs of a hypothesis until one clears; gives the attempts, and whether one did."""
    number = 0
    while True:
        turns = context.record.select("repair-turns", hypothesis=claim.node)
        last = turns[-1] if turns else {}
        if "outcome" in last and last["outcome"].value == "cleared":
            return number, True
        before = attempts(context, claim.node)
        # What was offered without a test had nothing that could be made; an error ends it too.
        over = bool(turns) and "outcome" not in last
        if over or ended(before) or most <= len(context.record.select("repair-attempts")):
            return number, False
        ask(context.budget, "repair")
        known = {row["repair"].value for row in before}
        same = {row["patch"].value for row in before}
        offered = [
            o if o.verdict.patch not in same else Option(o.repair, _stalled(o.verdict))
            for o in options(context, claim, MOST)
            if o.repair.name not in known
        ]
        test = design(context, claim, offered) if offered else None
        if test is None:
            return number, False
        number += 1
        attempt(context, claim.symptom, test)


def _stalled(verdict: Feasibility) -> Feasibility:
    """Return the verdict on a repair that would make the very change that failed before."""
    why = "It is the same change as one that failed: nothing new would be learned."
    return infeasible(why, verdict.changes, verdict.obstacles)


def attempts(context: Context, hypothesis: ox.NamedNode) -> list[Row]:
    """Return the attempts for a hypothesis so far."""
    return [r for r in context.record.select("repair-attempts") if r["hypothesis"] == hypothesis]


def ended(before: Sequence[Row]) -> bool:
    """Check whether nothing more may be tried for a hypothesis: it cleared, or failed twice."""
    outcomes = [row["outcome"].value for row in before]
    return bool({"out-of-scope", "cleared"} & set(outcomes)) or len(outcomes) >= _TRIES


def design(context: Context, claim: Claim, offered: Sequence[Option]) -> ox.NamedNode | None:
    """Record the options of a hypothesis, commit to the first feasible one, register its test.

    One step. Gives the test, or None where none is feasible or the policy does not allow it.
    """
    step = context.record.step("Design")
    step.describe(
        step.node,
        symptom=claim.symptom.node,
        round=int(claim.row["round"].value),
        stage=REPAIR,
    )
    test = None
    for option in offered:
        chosen = describe_option(step, claim, option.repair, option.verdict, context.names)
        if test is None and option.verdict.feasible:
            test = _committed(context, step, claim, option)
            if test is not None:
                step.describe(test, option=chosen)
    context.record.commit(step)
    return test


def _committed(context: Context, step: Step, claim: Claim, option: Option) -> ox.NamedNode | None:
    """Commit to a hypothesis for an option, where that is allowed, and register the test."""
    grant, permit = authorise(context.record, step, TRAILS.TryRepair, claim.node)
    if not permit.granted:
        return None
    reason = f"{option.repair.name}: {option.verdict.why} {permit.why.capitalize()}."
    commit_to(context.record, step, claim.node, grant, claim.row["region"].value, reason)
    return _register(context, step, claim, option)


def _register(context: Context, step: Step, claim: Claim, option: Option) -> ox.NamedNode:
    """Register the test of a repair."""
    rows = context.record.select("frame-members", frame=ox.NamedNode(claim.row["frame"].value))
    rival = _rival(claim, rows)
    region = None if rival is None else pattern(rival["pattern"].value)
    text = query(context, claim, option.repair, region, MOST)
    node = step.make(
        "Test",
        PROV.Plan,
        PROV.Entity,
        kind=KIND,
        testRole=role_of(KIND),
        modality=modality_of(KIND),
        query=text,
        split=_SPLIT,
        fingerprint=hashlib.sha256(f"{KIND} {_SPLIT} {text}".encode()).hexdigest(),
        hypothesis=claim.node,
        rival=None if rival is None else ox.NamedNode(rival["hypothesis"].value),
    )
    for row in rows:
        role, overlap = _stands(claim, row, rival)
        expectation = step.make(
            "Expectation",
            PROV.Entity,
            hypothesis=ox.NamedNode(row["hypothesis"].value),
            role=role,
            overlap=overlap,
        )
        step.describe(node, expects=expectation)
    return node


def _rival(claim: Claim, rows: Sequence[Row]) -> Row | None:
    """Return the most likely rival that claims failing nodes of its own; they are the placebo."""
    mine = members(claim.view, claim.pattern)
    best = sorted(rows, key=lambda r: -Decimal(r["confidence"].value))
    for row in best:
        if row["hypothesis"] != claim.node and "pattern" in row:
            theirs = members(claim.view, pattern(row["pattern"].value))
            if theirs & claim.view.marks.failing_mask & ~mine:
                return row
    return None


def _stands(claim: Claim, row: Row, rival: Row | None) -> tuple[str, Decimal]:
    """Return what a member of the frame is to the test, and how much of its region is shared."""
    if row["hypothesis"] == claim.node:
        return "self", Decimal(1)
    if "pattern" not in row:
        return "none", Decimal(0)
    one = members(claim.view, claim.pattern)
    other = members(claim.view, pattern(row["pattern"].value))
    union = (one | other).bit_count()
    overlap = decimal((one & other).bit_count() / union if union else 0.0)
    named = rival is not None and row["hypothesis"] == rival["hypothesis"]
    return ("named" if named else "rival"), overlap


def attempt(context: Context, symptom: Symptom, test: ox.NamedNode) -> str:
    """Try a registered repair, record what it did, and let it count: one step.

    Gives the outcome, or "error" where the trial could not be run. The commitment ends with it.
    """
    row = context.record.select("test", test=test)[0]
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    step = context.record.step("Execute", TRAILS.Execution)
    tries = len(context.record.select("attempts", test=test))
    step.describe(step.node, test=test, symptom=symptom.node, attempt=tries + 1)
    step.add(step.node, PROV.used, test)
    view = view_of(context, symptom, int(row["round"].value))
    standing = context.record.select("commitments")
    commitment = ox.NamedNode(standing[0]["commitment"].value) if standing else None
    try:
        rows = ask_test(context, view, row)
        named = row.get("level"), row.get("dimension")
        tried = trial(context.graph, symptom.constraint, rows, *named)
    except (QueryError, RunError) as error:
        why = close_as_error(step, error)
        if commitment is not None:
            release(step, commitment, f"The trial could not be run: {why}")
        context.record.commit(step, expect={"Evidence": 0})
        return "error"
    found = intervention.found(tried)
    evidence = _evidence(context, step, symptom, hypothesis, test, found)
    step.describe(step.node, closed=TRAILS.Result)
    cite_finding(context, step, symptom, view, evidence, row, found)
    made = describe_attempt(step, hypothesis, tried, found, commitment)
    step.describe(made, test=test, option=_option(context, test))
    step.add(made, PROV.used, test)
    if commitment is not None:
        release(step, commitment, f"The repair was tried; it came out as {found.outcome}.")
    update(context, step, test, evidence, found)
    return found.outcome


def _option(context: Context, test: ox.NamedNode) -> ox.NamedNode | None:
    found = context.record.store.inner.quads_for_pattern(
        test, TRAILS.option, None, context.record.iri
    )
    return next((q.object for q in found if isinstance(q.object, ox.NamedNode)), None)


def _evidence(
    context: Context,
    step: Step,
    symptom: Symptom,
    hypothesis: ox.NamedNode,
    test: ox.NamedNode,
    found: Finding,
) -> ox.NamedNode:
    likely = context.policy.row(KIND, found.outcome)
    evidence = step.make(
        "Evidence",
        PROV.Entity,
        hypothesis=hypothesis,
        test=test,
        testKind=KIND,
        testRole=role_of(KIND),
        modality=modality_of(KIND),
        evidenceSource=context.graph.fingerprint,
        outcomeClass=found.outcome,
        polarity=likely.polarity,
        strength=likely.strength,
        note=found.note,
        group=test.value,
        **found.figures,
    )
    step.add(evidence, PROV.wasDerivedFrom, symptom.node)
    lists = {TRAILS.Supports: "supportingEvidence", TRAILS.Contradicts: "contradictingEvidence"}
    if likely.polarity in lists:
        step.describe(hypothesis, **{lists[likely.polarity]: evidence})
    return evidence


def describe_attempt(
    step: Step,
    hypothesis: ox.NamedNode,
    tried: Trial,
    found: Finding,
    commitment: ox.NamedNode | None,
) -> ox.NamedNode:
    """Write into a step what a trial did."""
    figures = tried.figures
    made = step.make(
        "RepairAttempt",
        PROV.Activity,
        hypothesis=hypothesis,
        commitment=commitment,
        repair=tried.repair,
        patchDigest=tried.patch.digest,
        changes=figures["changes"],
        nodesChanged=figures["nodesChanged"],
        violationsBefore=figures["claimed"],
        violationsRemoved=figures["holds"],
        violationsLeft=figures["claimed"] - figures["holds"],
        violationsCaused=figures["violationsCaused"],
        alsoRemoved=figures["alsoRemoved"],
        touchedOutside=figures["touchedOutside"],
        placeboTried=figures["placeboTried"],
        placeboCleared=figures["placeboCleared"],
        unchecked=figures["unchecked"],
        spared=figures["spared"],
        fingerprintBefore=tried.before,
        fingerprintAfter=tried.after,
        repairOutcome=found.outcome,
        note=found.note,
    )
    step.add(made, PROV.startedAtTime, now())
    step.add(made, PROV.endedAtTime, now())
    return made
