"""The seals of segments, worked out again from the steps that were joined to a record."""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History
from kgreason.base.terms import TRAILS
from kgreason.record.joining import hash_again
from kgreason.record.segment import highest, names_within

RULE: Final = "segment-seal"


def findings(history: History) -> Iterator[Finding]:
    """Check that what stands in the record of each segment is what its worker sealed."""
    segments = history.instances(TRAILS.Segment)
    if not segments:
        return
    index = {
        step: int(values[0])
        for step in history.instances(TRAILS.Step)
        if (values := history.values(step, TRAILS.index)) and values[0].isdigit()
    }
    for segment in segments:
        expected = _expected(history, segment, index)
        given = history.values(segment, TRAILS.segmentHash)
        if given != [expected]:
            message = (
                f"What its steps hold in the record has the seal {expected or 'of nothing'}, but "
                f"its worker wrote {', '.join(given) or 'none'}."
            )
            yield Finding(RULE, str(segment).strip("<>"), message)


def _expected(history: History, segment: object, index: Mapping[Any, int]) -> str:
    """Return the seal of a segment; "" where the record does not say what it takes."""

    def only(name: str) -> str:
        found = history.values(segment, TRAILS[name])  # type: ignore[arg-type] # a node
        return found[0] if len(found) == 1 else ""

    head, ends = only("beganFrom"), (only("firstStep"), only("lastStep"))
    places = [index.get(ox.NamedNode(end)) if end else None for end in ends]
    hashes = history.values(ox.NamedNode(head), TRAILS.hash) if head else []
    try:
        shift = Decimal(only("clockShift"))
    except InvalidOperation:
        return ""
    first, last = places
    if first is None or last is None or len(hashes) != 1:
        return ""
    steps = [step for step, place in index.items() if first <= place <= last]
    said = [
        ox.Triple(s.subject, s.predicate, s.object)
        for step in steps
        for node in history.written(step)
        for s in history.statements(node)
    ]
    earlier = (
        link.subject
        for link in history.statements(None, TRAILS.step)
        if index.get(link.object, first) < first
    )
    numbers = highest(earlier, names_within(history.iri))
    return hash_again(
        history.iri, only("segmentStep"), said, ox.NamedNode(head), hashes[0], shift, numbers
    )
