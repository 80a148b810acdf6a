"""Claim: what is concluded, in sentences that each rest on evidence and cite nodes."""

from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType

import pyoxigraph as ox

from kgreason.base.store import Row
from kgreason.base.templates import role
from kgreason.base.terms import PROV
from kgreason.context.context import Context
from kgreason.record import Step


def claim(
    context: Context,
    step: Step,
    outcomes: Mapping[str, str],
    joined: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a report to a step: one claim a supported hypothesis, one a symptom that has none.

    `outcomes` are the verdicts by the IRI of the symptom, `joined` the sentences of
    the mechanisms that are told with their origin or their pieces, by the IRI of the hypothesis.
    What has no citation is not claimed. Where nothing fails, the report says so.
    """
    report = step.make("Report", PROV.Entity, investigation=context.record.iri)
    rows = context.record.select("claims")
    if not outcomes:
        step.describe(report, statement=role("record")["claims"].header["nothing"])
    for _, group in groupby(rows, key=lambda r: (r["symptom"], r.get("hypothesis"))):
        step.describe(report, claims=_claim(step, list(group), outcomes, joined))


def _claim(
    step: Step, rows: list[Row], outcomes: Mapping[str, str], joined: Mapping[str, str]
) -> ox.NamedNode:
    first = rows[0]
    without = without_cause(outcomes[first["symptom"].value])
    hypothesis, statement = first.get("hypothesis"), first.get("statement")
    said = without if statement is None else statement.value
    if hypothesis is not None:
        said = joined.get(hypothesis.value, said)
    made = step.make(
        "Claim",
        PROV.Entity,
        symptom=ox.NamedNode(first["symptom"].value),
        hypothesis=hypothesis if isinstance(hypothesis, ox.NamedNode) else None,
        statement=said,
        cites=[ox.NamedNode(v) for v in dict.fromkeys(r["citation"].value for r in rows)],
    )
    grounds = dict.fromkeys(r["ground"].value for r in rows)
    step.add(made, PROV.wasDerivedFrom, *(ox.NamedNode(ground) for ground in grounds))
    return made


def without_cause(outcome: str) -> str:
    """Return what is claimed of a symptom without a supported cause, by its verdict."""
    told = role("record")["claims"].header
    return told["unexplained" if outcome == "no systematic cause" else "open"]
