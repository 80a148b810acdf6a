"""Confirm: count what is supported where the data came from, beside what the extract gives.

An extract holds some of the failing and some of the passing nodes of a symptom. What a region holds
of each is multiplied up to what it should hold at the endpoint, with an interval for a sample
without replacement; two plain counts there say what it does hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.fetching import SourceError
from kgreason.base.figures import figure
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.endpoint.asking_endpoint import AskingEndpoint
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

_DEVIATIONS: Final = figure("confirmDeviations")
_SLACK: Final = figure("confirmSlack")
_NOT_THERE: Final = "work:"


@dataclass(frozen=True)
class Expected:
    """How many nodes there should be at the endpoint, by a sample: at least, likely, at most."""

    least: float
    likely: float
    most: float

    def fits(self, counted: int) -> bool:
        """Check whether a count is within the interval."""
        return self.least <= counted <= self.most


def expected(inside: int, taken: int, there: int) -> Expected:
    """Return what a region should hold of nodes of which some were taken without replacement.

    `inside` of those `taken` are in the region, `there` are all. The interval is that of a normal
    distribution with the correction for a finite population (Cochran, Sampling Techniques, 3rd
    edition, 1977, section 3.2), over a rate that is moved a little to a half. It is never narrower
    than the slack of the engine's figures: an extract that is whole still ends at a rim.
    """
    if not taken:
        return Expected(0.0, 0.0, float(there))
    rate, moved = inside / taken, (inside + 1) / (taken + 2)
    wide = sqrt(moved * (1 - moved) / taken * (1 - taken / there)) * _DEVIATIONS * there
    wide = max(wide, _SLACK * there)
    return Expected(max(0.0, rate * there - wide), rate * there, min(there, rate * there + wide))


def confirm(context: Context, symptoms: Sequence[Symptom], request: Request) -> None:
    """Count what is supported at the endpoint that the data came from: one step, if any is."""
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
    step = context.record.step("Act")
    associate(context.record, step, ENGINE)
    told = [
        _confirmed(context, step, symptom, asked, row, asking, extract)
        for symptom in symptoms
        if (asked := extract.asked(symptom.constraint.key)) is not None
        for row in context.record.select("supported-regions", symptom=symptom.node)
    ]
    if told:
        context.record.commit(step, expect={"Confirmation": len(told)})
    else:
        context.record.forget()


def _confirmed(
    context: Context,
    step: Step,
    symptom: Symptom,
    asked: Asked,
    row: Row,
    asking: AskingEndpoint,
    extract: Extract,
) -> ox.NamedNode:
    view = view_of(context, symptom, 1)
    nodes = mark_inside(context, view, pattern(row["pattern"].value))
    failing = (nodes & view.marks.failing_mask).bit_count()
    passing = (nodes & view.marks.population.everyone).bit_count() - failing
    taken = len(extract.lists[asked.members]) - len(asked.failed)
    bad = expected(failing, len(asked.failed), asked.failing)
    good = expected(passing, taken, asked.population - asked.failing)
    counts = _counted(symptom, context, row, asking)
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
        **dict(_figures("Failing", bad)),
        **dict(_figures("Passing", good)),
        **found,
    )


def _figures(what: str, by: Expected) -> Iterator[tuple[str, Value]]:
    for name, value in (("least", by.least), ("likely", by.likely), ("most", by.most)):
        yield f"{name}{what}", Decimal(f"{value:.1f}")


def _counted(
    symptom: Symptom, context: Context, row: Row, asking: AskingEndpoint
) -> tuple[int, int] | str:
    """Count a region at the endpoint, and who fails in it; gives why where it cannot be counted."""
    constraint = symptom.constraint
    if constraint.asked is None:
        return "The endpoint was not asked for this rule."
    record, cause = context.record, row["hypothesis"]
    plain = record.store.values(cause, TRAILS.plainRegion, record.iri)
    text = plain[0].value if plain else row["region"].value
    default = {source.iri.value for source in context.graph.sources}
    if _NOT_THERE in text or any(f"<{iri}>" in text for iri in default):
        return "The region is made of what only the extract has, such as how literals are written."
    given = {"region": pattern(text), "failing": failing_nodes(constraint.asked)}
    made = template(ROLE, "confirm")
    try:
        there = asking.count(made.render("inside", region=given["region"]))
        return there, asking.count(made.render("failing", **given))
    except (SourceError, RunError) as error:
        return str(error).partition("\n")[0]
