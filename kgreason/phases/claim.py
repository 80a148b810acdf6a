"""Claim: what is concluded, in sentences that each rest on evidence and cite nodes."""

from itertools import groupby

import pyoxigraph as ox

from kgreason.ledger import Step
from kgreason.phases.bench import Bench
from kgreason.store import Row
from kgreason.terms import PROV

_NO_CAUSE = "No systematic cause was found for these failures."


def claim(bench: Bench, step: Step) -> None:
    """Add a report to a step: one claim a supported hypothesis, one a symptom that has none.

    What has no citation is not claimed.
    """
    report = step.make("Report", PROV.Entity, investigation=bench.record.iri)
    rows = bench.record.select("claims")
    for _, group in groupby(rows, key=lambda r: (r["symptom"], r.get("hypothesis"))):
        step.describe(report, claims=_claim(step, list(group)))


def _claim(step: Step, rows: list[Row]) -> ox.NamedNode:
    first = rows[0]
    hypothesis, statement = first.get("hypothesis"), first.get("statement")
    made = step.make(
        "Claim",
        PROV.Entity,
        symptom=ox.NamedNode(first["symptom"].value),
        hypothesis=hypothesis if isinstance(hypothesis, ox.NamedNode) else None,
        statement=_NO_CAUSE if statement is None else statement.value,
        cites=[ox.NamedNode(v) for v in dict.fromkeys(r["citation"].value for r in rows)],
    )
    grounds = dict.fromkeys(r["ground"].value for r in rows)
    step.add(made, PROV.wasDerivedFrom, *(ox.NamedNode(ground) for ground in grounds))
    return made
