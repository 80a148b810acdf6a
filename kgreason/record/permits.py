"""Act: what the policy allows to be done about a hypothesis, and the one that is acted on."""

from dataclasses import dataclass
from decimal import Decimal

import pyoxigraph as ox

from kgreason.base.errors import RecordError
from kgreason.base.terms import PROV
from kgreason.record import Record, Step


@dataclass(frozen=True)
class Permit:
    """Whether an action on a hypothesis is allowed, why, and by which status and confidence."""

    why: str
    status: ox.NamedNode
    confidence: Decimal
    granted: bool


def permitted(record: Record, action: ox.NamedNode, hypothesis: ox.NamedNode) -> Permit:
    """Ask the policy of an investigation whether an action on a hypothesis is allowed.

    Raises RecordError where the record has no such hypothesis.
    """
    rows = record.select("permitted", action=action, hypothesis=hypothesis)
    if not rows:
        raise RecordError(f"{hypothesis.value}: {record.iri.value} has no such hypothesis.")
    row = rows[0]
    status, confidence = ox.NamedNode(row["status"].value), Decimal(row["confidence"].value)
    name = status.value.rpartition("#")[2].lower()
    if "least" not in row:
        why = f"the policy does not allow it at status {name}"
        return Permit(why, status, confidence, granted=False)
    least = Decimal(row["least"].value)
    if confidence < least:
        why = f"its confidence {confidence:f} is below {least:f}"
        return Permit(why, status, confidence, granted=False)
    why = f"the policy allows it at status {name} from confidence {least:f} on"
    return Permit(why, status, confidence, granted=True)


def authorise(
    record: Record, step: Step, action: ox.NamedNode, hypothesis: ox.NamedNode
) -> tuple[ox.NamedNode, Permit]:
    """Write into a step what the policy says to an action; refusals are recorded as grants are."""
    permit = permitted(record, action, hypothesis)
    node = step.make(
        "Authorisation",
        PROV.Entity,
        action=action,
        hypothesis=hypothesis,
        granted=permit.granted,
        atStatus=permit.status,
        atConfidence=permit.confidence,
        reason=permit.why,
    )
    return node, permit


def commit_to(
    record: Record,
    step: Step,
    hypothesis: ox.NamedNode,
    authorisation: ox.NamedNode,
    region: str,
    reason: str,
) -> ox.NamedNode:
    """Write into a step that one hypothesis, with its region, is what is acted on from now on.

    Raises RecordError while another commitment stands.
    """
    for row in record.select("commitments"):
        raise RecordError(
            f"{row['commitment'].value} stands: {row['hypothesis'].value} is acted on; "
            "release it before another is chosen."
        )
    return step.make(
        "Commitment",
        PROV.Entity,
        hypothesis=hypothesis,
        authorisation=authorisation,
        region=region,
        reason=reason,
    )


def release(step: Step, commitment: ox.NamedNode, reason: str) -> ox.NamedNode:
    """Write into a step that a commitment has ended, and what came of it."""
    return step.make("Release", PROV.Entity, commitment=commitment, reason=reason)
