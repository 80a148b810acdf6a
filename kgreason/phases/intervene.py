"""Intervene: commit to a hypothesis, try its repair on the scratch copy, and let that be evidence.

One hypothesis is acted on at a time. A repair that cannot be made wholly inside the region is never
tried, one that failed is not tried again, and one that touched what it did not declare ends what
is done about its hypothesis.
"""

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.errors import QueryError, RunError
from kgreason.ledger import Step
from kgreason.ledger.record import now
from kgreason.phases.act import authorise, commit_to, release
from kgreason.phases.bench import Bench, Symptom, ask_test, pattern, view_of
from kgreason.phases.execute import cite_finding, execute, update
from kgreason.phases.options import MOST, Claim, Option, claims, describe_option, options, query
from kgreason.probes import intervention
from kgreason.probes.finding import Finding, decimal
from kgreason.reasoners.candidates import members
from kgreason.repairs.trial import Feasibility, Trial, infeasible, trial
from kgreason.store import Row
from kgreason.terms import PROV, TRAILS

KIND: Final = "intervention"
_TRIES: Final = 2
"""Failed attempts after which a hypothesis is left alone."""
_STAGE: Final = 4
_SPLIT: Final = "whole"
_OPEN: Final = frozenset({TRAILS.Proposed, TRAILS.Testing, TRAILS.Inconclusive, TRAILS.Supported})


def run(bench: Bench, symptom: Symptom, test: ox.NamedNode) -> None:
    """Run a registered test of any kind: an intervention is tried, all others are executed."""
    if bench.record.select("test", test=test)[0]["kind"].value == KIND:
        attempt(bench, symptom, test)
    else:
        execute(bench, symptom, test)


def intervene(bench: Bench, symptoms: Sequence[Symptom], round_: int, most: int = 5) -> int:
    """Try repairs for the leading hypotheses of a round; gives the number of attempts.

    In each frame the most likely hypothesis with a repair that can be made comes first; where its
    repair fails, the next one takes over. At most `most` attempts an investigation.
    """
    done = 0
    for symptom in symptoms:
        for row in bench.record.select("pending-tests", symptom=symptom.node):
            test = ox.NamedNode(row["test"].value)
            if bench.record.select("test", test=test)[0]["kind"].value == KIND:
                attempt(bench, symptom, test)  # registered before the run was interrupted
                done += 1
    for frame in _frames(bench, symptoms, round_):
        for claim in frame:
            left = most - len(bench.record.select("repair-attempts"))
            if left <= 0:
                return done
            tried, cleared = _try(bench, claim, left)
            done += tried
            if cleared:
                break
    return done


def _frames(bench: Bench, symptoms: Sequence[Symptom], round_: int) -> Iterator[list[Claim]]:
    """Give the hypotheses of each frame of a round that may be acted on, likeliest frame first."""
    frames: dict[str, list[Claim]] = {}
    for claim in claims(bench, symptoms):
        likely = Decimal(claim.row["confidence"].value) >= bench.policy.numbers.get(
            "refuteBelow", 0
        )
        if int(claim.row["round"].value) == round_ and likely and claim.row["status"] in _OPEN:
            frames.setdefault(claim.row["frame"].value, []).append(claim)
    yield from sorted(
        frames.values(), key=lambda f: -max(Decimal(c.row["confidence"].value) for c in f)
    )


def _try(bench: Bench, claim: Claim, left: int) -> tuple[int, bool]:
    """Try the repairs of a hypothesis until one clears; gives the attempts, and whether one did."""
    number = 0
    while number < left:
        before = attempts(bench, claim.node)
        if ended(before):
            break
        known = {row["repair"].value for row in before}
        same = {row["patch"].value for row in before}
        offered = [
            o if o.verdict.patch not in same else Option(o.repair, _stalled(o.verdict))
            for o in options(bench, claim, MOST)
            if o.repair.name not in known
        ]
        test = design(bench, claim, offered) if offered else None
        if test is None:
            break
        number += 1
        outcome = attempt(bench, claim.symptom, test)
        if outcome in {"cleared", "error"}:
            return number, outcome == "cleared"
    return number, False


def _stalled(verdict: Feasibility) -> Feasibility:
    """Give the verdict on a repair that would make the very change that failed before."""
    why = "It is the same change as one that failed: nothing new would be learned."
    return infeasible(why, verdict.changes, verdict.obstacles)


def attempts(bench: Bench, hypothesis: ox.NamedNode) -> list[Row]:
    """Give the attempts for a hypothesis so far."""
    return [r for r in bench.record.select("repair-attempts") if r["hypothesis"] == hypothesis]


def ended(before: Sequence[Row]) -> bool:
    """Say whether nothing more may be tried for a hypothesis: it strayed, cleared, failed twice."""
    outcomes = [row["outcome"].value for row in before]
    return bool({"out-of-scope", "cleared"} & set(outcomes)) or len(outcomes) >= _TRIES


def design(bench: Bench, claim: Claim, offered: Sequence[Option]) -> ox.NamedNode | None:
    """Record the options of a hypothesis, commit to the first feasible one, register its test.

    One step. Gives the test, or None where none is feasible or the policy does not allow it.
    """
    step = bench.record.step("Design")
    step.describe(
        step.node,
        symptom=claim.symptom.node,
        round=int(claim.row["round"].value),
        stage=_STAGE,
    )
    test = None
    for option in offered:
        chosen = describe_option(step, claim, option.repair, option.verdict)
        if test is None and option.verdict.feasible:
            test = _committed(bench, step, claim, option)
            if test is not None:
                step.describe(test, option=chosen)
    bench.record.commit(step)
    return test


def _committed(bench: Bench, step: Step, claim: Claim, option: Option) -> ox.NamedNode | None:
    """Commit to a hypothesis for an option, where that is allowed, and register the test."""
    grant, permit = authorise(bench.record, step, TRAILS.TryRepair, claim.node)
    if not permit.granted:
        return None
    reason = f"{option.repair.name}: {option.verdict.why} {permit.why.capitalize()}."
    commit_to(bench.record, step, claim.node, grant, claim.row["region"].value, reason)
    return _register(bench, step, claim, option)


def _register(bench: Bench, step: Step, claim: Claim, option: Option) -> ox.NamedNode:
    """Register the test of a repair."""
    rows = bench.record.select("frame-members", frame=ox.NamedNode(claim.row["frame"].value))
    rival = _rival(claim, rows)
    region = None if rival is None else pattern(rival["pattern"].value)
    text = query(bench, claim, option.repair, region, MOST)
    node = step.make(
        "Test",
        PROV.Plan,
        PROV.Entity,
        kind=KIND,
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
    """Give the most likely rival that claims failing nodes of its own; they are the placebo."""
    mine = members(claim.view, claim.pattern)
    best = sorted(rows, key=lambda r: -Decimal(r["confidence"].value))
    for row in best:
        if row["hypothesis"] != claim.node and "pattern" in row:
            theirs = members(claim.view, pattern(row["pattern"].value))
            if theirs & claim.view.marks.failing_mask & ~mine:
                return row
    return None


def _stands(claim: Claim, row: Row, rival: Row | None) -> tuple[str, Decimal]:
    """Give what a member of the frame is to the test, and how much of its region is shared."""
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


def attempt(bench: Bench, symptom: Symptom, test: ox.NamedNode) -> str:
    """Try a registered repair, record what it did, and let it count: one step.

    Gives the outcome, or "error" where the trial could not be run. The commitment ends with it.
    """
    row = bench.record.select("test", test=test)[0]
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    step = bench.record.step("Execute", TRAILS.Execution)
    tries = len(bench.record.select("attempts", test=test))
    step.describe(step.node, test=test, symptom=symptom.node, attempt=tries + 1)
    step.add(step.node, PROV.used, test)
    view = view_of(bench, symptom, int(row["round"].value))
    standing = bench.record.select("commitments")
    commitment = ox.NamedNode(standing[0]["commitment"].value) if standing else None
    try:
        rows = ask_test(bench, view, row)
        tried = trial(bench.graph, symptom.constraint, rows, row.get("level"))
    except (QueryError, RunError) as error:
        why = str(error).partition("\n")[0]
        step.describe(step.node, closed=TRAILS.Error, note=why)
        if commitment is not None:
            release(step, commitment, f"The trial could not be run: {why}")
        bench.record.commit(step, expect={"Evidence": 0})
        return "error"
    found = intervention.found(tried)
    evidence = _evidence(bench, step, symptom, hypothesis, test, found)
    step.describe(step.node, closed=TRAILS.Result)
    cite_finding(bench, step, symptom, view, evidence, row, found)
    made = describe_attempt(step, hypothesis, tried, found, commitment)
    step.describe(made, test=test, option=_option(bench, test))
    step.add(made, PROV.used, test)
    if commitment is not None:
        release(step, commitment, f"The repair was tried; it came out as {found.outcome}.")
    update(bench, step, test, evidence, found)
    return found.outcome


def _option(bench: Bench, test: ox.NamedNode) -> ox.NamedNode | None:
    found = bench.record.store.inner.quads_for_pattern(test, TRAILS.option, None, bench.record.iri)
    return next((q.object for q in found if isinstance(q.object, ox.NamedNode)), None)


def _evidence(
    bench: Bench,
    step: Step,
    symptom: Symptom,
    hypothesis: ox.NamedNode,
    test: ox.NamedNode,
    found: Finding,
) -> ox.NamedNode:
    likely = bench.policy.row(KIND, found.outcome)
    evidence = step.make(
        "Evidence",
        PROV.Entity,
        hypothesis=hypothesis,
        test=test,
        testKind=KIND,
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
