"""Sub-investigations in the record: what they are part of, and how they end.

A sub-investigation is open from its first step on, which holds its whole request, until its own
graph holds a completion. Nothing else says that it has ended, so that whoever asks, and however
often, gets the same answer.
"""

from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import PROV
from kgreason.record.record import Node, Record, Step

COMPLETE: Final = "complete"
ERROR: Final = "error"
PROVISIONAL: Final = (
    "This is a part of a divided question: what is supported here is provisional, and its final "
    "status is given where the parts are joined."
)
"""What a sub-investigation says of itself."""


def write_parent(
    step: Step, node: Node, parent: str | None, assignment: str | None, depth: int
) -> None:
    """Add to a first step what a sub-investigation is part of; nothing for any other."""
    if parent is None:
        return
    divided = ox.NamedNode(parent)
    step.describe(
        node,
        parent=divided,
        assignment=None if assignment is None else ox.NamedNode(assignment),
        depth=depth,
    )
    step.add(node, PROV.wasInformedBy, divided)


def write_completion(
    record: Record, step: Step, assignment: str | None, error: str | None = None
) -> None:
    """Add to a last step that a sub-investigation ended, with an `error` or without."""
    if assignment is None:
        return
    step.make(
        "Completion",
        PROV.Entity,
        session=record.iri,
        assignment=ox.NamedNode(assignment),
        completionStatus=COMPLETE if error is None else ERROR,
        reason=error or None,
    )
