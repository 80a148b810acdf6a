"""Dry run: try the repairs of the first causes on the scratch copy, so that a report can tell it.

It comes after the conclusion and is no evidence: no confidence and no status hangs on it. What it
finds is recorded as an act of the engine, as `kgreason repair` records what a person has tried.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import Spent
from kgreason.base.errors import QueryError, RunError
from kgreason.base.figures import integer
from kgreason.base.templates import role
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context
from kgreason.context.symptom import Symptom
from kgreason.graph.names import Names
from kgreason.record import Step
from kgreason.record.agents import ENGINE, associate
from kgreason.record.permits import authorise, commit_to, release
from kgreason.repair import intervention
from kgreason.repair.catalogue import ROLE
from kgreason.repair.feasible import Claim, Option, claims, describe_option, options, query
from kgreason.repair.intervene import attempts, describe_attempt
from kgreason.repair.trial import NOTHING, Trial, trial
from kgreason.report.causes import causes

_CAUSES: Final = integer("dryRunCauses")
_NODES: Final = integer("dryRunNodes")
_UNFIT: Final = "No repair fits it."
_UNSEEN: Final = "What fails cannot be validated again on a copy."


def dry_run(context: Context, symptoms: Sequence[Symptom]) -> int:
    """Try a repair for each of the first causes that were checked directly; gives how many.

    At most `policy:dryRunCauses` causes, and `policy:dryRunNodes` nodes of each. The scratch copy
    is as it was afterwards. What is over budget is not begun.
    """
    done = 0
    for claim in _direct(context, symptoms):
        if attempts(context, claim.node):  # the loop has tried one: its evidence tells more
            continue
        try:
            _try(context, claim)
        except Spent:
            break
        done += 1
    return done


def _direct(context: Context, symptoms: Sequence[Symptom]) -> Iterator[Claim]:
    """Return what the first causes claim that were checked directly and could have a repair."""
    data = [t for t in role(ROLE).values() if t.header["mends"] == "data"]
    mended = {family for t in data for family in t.header["families"].split()}
    first = [
        cause.hypotheses[0].id
        for cause in causes(context.record)
        if not (cause.told_with or cause.narrows)
        and cause.hypotheses[0].gate != "statistics"
        and cause.hypotheses[0].family in mended
    ][:_CAUSES]
    found = {c.node.value: c for c in claims(context, symptoms, frozenset(first))}
    return (found[one] for one in first if one in found)


def _try(context: Context, claim: Claim) -> None:
    """Try the first repair of a hypothesis that can be made, and record what came of it."""
    offered = options(context, claim, _NODES)
    chosen = next((one for one in offered if one.verdict.feasible), None)
    step = context.record.step("Act")
    associate(context.record, step, ENGINE)
    step.describe(step.node, symptom=claim.symptom.node, hypothesis=claim.node)
    made = {
        one.repair.name: describe_option(step, claim, one.repair, one.verdict, context.names)
        for one in offered
    }
    why = _why_not(offered, context.names) if chosen is None else None
    if chosen is not None:
        why = _attempt(context, step, claim, chosen, made[chosen.repair.name])
    if why is not None:
        step.describe(step.node, notTried=why)
    context.record.commit(step)


def _why_not(offered: Sequence[Option], names: Names) -> str:
    """Return which repairs fit and why none of them was tried; what would change nothing does not.

    Those are told that share the first obstacle.
    """
    why = next((o.verdict.why for o in offered if o.verdict.why != NOTHING), None)
    if why is None:
        return _UNFIT
    such = [f"“{o.repair.instruction(names)}”" for o in offered if o.verdict.why == why]
    verb = "fits" if len(such) == 1 else "fit"
    return f"{' and '.join(such)} {verb}, but {why[:1].lower()}{why[1:]}"


def _attempt(
    context: Context, step: Step, claim: Claim, chosen: Option, option: ox.NamedNode
) -> str | None:
    """Write what a repair does on the copy into a step; gives why not, where it was not tried."""
    grant, permit = authorise(context.record, step, TRAILS.TryRepair, claim.node)
    if not permit.granted:
        return f"It was not tried: {permit.why}."
    try:
        tried = _trial(context, claim, chosen)
    except (QueryError, RunError) as error:
        return f"The trial could not be run: {str(error).partition(chr(10))[0]}"
    if not tried.figures["claimed"]:
        return _UNSEEN
    found = intervention.found(tried)
    reason = f"{chosen.repair.name}: {permit.why.capitalize()}."
    region = claim.row["region"].value
    commitment = commit_to(context.record, step, claim.node, grant, region, reason)
    attempt = describe_attempt(step, claim.node, tried, found, commitment)
    step.describe(attempt, option=option)
    release(step, commitment, f"The repair was tried; it came out as {found.outcome}.")
    return None


def _trial(context: Context, claim: Claim, chosen: Option) -> Trial:
    # A cause that was checked directly has stood its placebo already: it is not asked again.
    text = query(context, claim, chosen.repair, None, _NODES, placebo=False)
    rows = chosen.repair.select(context.graph, text)
    return trial(context.graph, claim.symptom.constraint, rows, claim.level, claim.dimension)
