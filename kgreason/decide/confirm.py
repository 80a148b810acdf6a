"""Confirm: count what is supported where the data came from, beside what the extract gives.

An extract holds some of the failing and some of the passing nodes of a symptom. What a region holds
of each is multiplied up to what it should hold at the endpoint, with an interval for a sample
without replacement; two plain counts there say what it does hold.
"""

from collections.abc import Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.fetching import SourceError
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.base.weights import Drawn, confirmed_by
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.script import Script, rewritten
from kgreason.context.symptom import Symptom
from kgreason.endpoint import dialect
from kgreason.endpoint.class_lists import ClassLists
from kgreason.endpoint.extract import Asked, Extract
from kgreason.endpoint.local_store import asking_of
from kgreason.endpoint.named_endpoint import NamedEndpoint
from kgreason.endpoint.paging import ROLE
from kgreason.endpoint.pull import failing_nodes
from kgreason.observe.extracted import extract_of
from kgreason.observe.request import Request
from kgreason.record import Step
from kgreason.record.agents import ENGINE, associate
from kgreason.record.record import Value

_NOT_THERE: Final = "work:"


def confirm(context: Context, symptoms: Sequence[Symptom], request: Request) -> None:
    """Count what is supported at the endpoint that the data came from: one step, if any is.

    What is counted otherwise than the sample gives is supported no longer.
    """
    if request.extract is None or request.endpoint is None:
        return
    extract = extract_of(request)
    named = NamedEndpoint(
        request.endpoint,
        graphs=extract.merged,
        pause=request.pause,
        seconds=request.query_seconds,
        headers=request.headers,
    )
    asking = asking_of(named)
    asking.union = extract.union
    classes = ClassLists(asking, dialect.named(extract.dialect))
    step = context.record.step("Settle")
    associate(context.record, step, ENGINE)
    told = [
        _confirmed(context, step, symptom, asked, row, classes, extract)
        for symptom in symptoms
        if (asked := extract.asked(symptom.constraint.key)) is not None
        for row in context.record.select("supported-regions", symptom=symptom.node)
        if row["confirmed"].value == "false"
    ]
    if told:
        _take_back(context, step, len(told))
    else:
        context.record.forget()


def confirm_again(context: Context, script: Script, row: Row) -> None:
    """Write again what a recorded step counted at the endpoint; nothing where it counted nothing.

    No endpoint is asked: what becomes of statuses is worked out from the recorded counts.
    """
    written = list(script.statements(row))
    counted = [t for t in written if t.predicate == TYPE and t.object == TRAILS.Confirmation]
    if counted:
        step, _ = rewritten(context, script, row)
        _take_back(context, step, len(counted))


def _take_back(context: Context, step: Step, counted: int) -> None:
    """Make inconclusive what was counted otherwise in a step, and end the step."""
    names = {"investigation": context.record.iri, "step": step.node}
    step.apply(template("record", "settle-status").render(**names))
    context.record.commit(step, expect={"Confirmation": counted})


def _confirmed(
    context: Context,
    step: Step,
    symptom: Symptom,
    asked: Asked,
    row: Row,
    classes: ClassLists,
    extract: Extract,
) -> ox.NamedNode:
    view = view_of(context, symptom, 1)
    nodes = mark_inside(context, view, pattern(row["pattern"].value))
    failing = (nodes & view.marks.failing_mask).bit_count()
    passing = (nodes & view.marks.population.everyone).bit_count() - failing
    taken = len(extract.lists[asked.members]) - len(asked.failed)
    drawn = Drawn(asked.failing, len(asked.failed), asked.population - asked.failing, taken)
    bad, good = confirmed_by(drawn, failing, passing)
    counts = _counted(symptom, context, row, classes)
    if isinstance(counts, str):
        found: dict[str, Value] = {"notCounted": counts}
    else:
        there, failing_there = counts
        fits = bad.fits(failing_there) and good.fits(there - failing_there)
        found = {"insideThere": there, "insideFailingThere": failing_there, "agrees": fits}
    return step.make(
        "Confirmation",
        PROV.Entity,
        hypothesis=ox.NamedNode(row["hypothesis"].value),
        **bad.figures("Failing"),
        **good.figures("Passing"),
        **found,
    )


def _counted(
    symptom: Symptom, context: Context, row: Row, classes: ClassLists
) -> tuple[int, int] | str:
    """Count a region at the endpoint, and who fails in it; gives why where it cannot be counted."""
    constraint = symptom.constraint
    if constraint.asked is None:
        return "More nodes fail by the report than an endpoint can be asked about in one query."
    record, cause = context.record, row["hypothesis"]
    plain = record.store.values(cause, TRAILS.plainRegion, record.iri)
    text = plain[0].value if plain else row["region"].value
    default = {source.iri.value for source in context.graph.sources}
    if _NOT_THERE in text or any(f"<{iri}>" in text for iri in default):
        return "The region is made of what only the extract has, such as how literals are written."
    made, asking = template(ROLE, "confirm"), classes.asking
    try:
        region = classes.fragment(pattern(text))
        there = asking.count(made.render("inside", region=region))
        failing = failing_nodes(constraint.asked, region, tested=classes.dialect.holds_joins)
        return there, asking.count(made.render("failing", failing=failing))
    except (SourceError, RunError) as error:
        return str(error).partition("\n")[0]
