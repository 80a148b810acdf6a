"""Joining: put what workers wrote into the record, in an order that the record fixes.

The steps of a segment get the next numbers of the record and seals of its chain; a step of the
phase Join after them names the segment, what it began from and its own last seal. All of it is one
transaction. From the record alone the segment can be made again, which the audit does.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RecordError
from kgreason.base.store import Term
from kgreason.base.terms import PROV, TRAILS, TYPE, XSD
from kgreason.record.closing import later
from kgreason.record.record import Node, Preface, Record, Step
from kgreason.record.seal import Written
from kgreason.record.segment import (
    TIMES,
    WHOLE,
    Segment,
    by_step,
    highest,
    into_record,
    into_segment,
    kind_and_number,
    names_within,
    numbered_kinds,
    renamed,
    sealed,
    steps_of,
)

_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Joined:
    """A segment that is in a record, and why its work was cut short, where it was."""

    iri: Node
    cut: str | None


def joined(record: Record) -> dict[str, Joined]:
    """Return the segments that were joined to a record, by the name of their step of work."""
    return {
        row["name"].value: Joined(
            ox.NamedNode(row["segment"].value), row["cut"].value if "cut" in row else None
        )
        for row in record.select("joined")
    }


def join(record: Record, segment: Segment) -> bool:
    """Write a segment into the record, as one transaction; False where it is there already.

    Raises RecordError for one of another investigation, one that began from what the record does
    not have, whose seals are wrong, or which would write what it may not; nothing is written then.
    """
    if segment.name in joined(record):
        return False
    made = _Joining(record, segment)
    step = made.step()
    preface = Preface(made.last, made.hash, made.updates())
    try:
        record.commit(step, expect={"Segment": 1}, preface=preface)
    finally:
        record.forget()
    for node in made.steps:
        record.told(node)
    return True


@dataclass
class _Joining:
    """A segment on its way into a record."""

    record: Record
    segment: Segment

    def __post_init__(self) -> None:
        record, segment = self.record, self.segment
        self._begins()
        own = names_within(segment.graph)
        self._in_scope(own)
        self.before = _numbers(record)
        head = next(iter(record.store.values(record.iri, TRAILS.head, record.iri)))
        (before,) = record.store.values(head, TRAILS.hash, record.iri)
        self.head, self.own = ox.NamedNode(head.value), own
        steps = steps_of(segment.sealed, own)
        if not steps:
            raise self._refused("it has no step")
        self.shift = _shift(segment.sealed, self._after(), datetime.now(UTC))
        moved = list(self._moved(segment.sealed, numbered_kinds(segment.sealed, own)))
        self.steps = steps_of(moved, names_within(record.iri))
        linked = list(self._linked(moved))
        chain = sealed(linked, names_within(record.iri), before.value)
        self.triples, self.hash, self.last = chain.triples, chain.hash, self.steps[-1]
        self._check()

    def _refused(self, why: str) -> RecordError:
        return RecordError(f"{self.segment.graph.value}: this segment is not joined: {why}.")

    def _begins(self) -> None:
        """Refuse a segment that did not begin from a step of this record, or is not sealed."""
        segment, record = self.segment, self.record
        if segment.investigation != record.iri:
            raise self._refused(f"it is of the investigation {segment.investigation.value}")
        hashes = record.store.values(segment.head, TRAILS.hash, record.iri)
        heads = record.store.values(record.iri, TRAILS.head, record.iri)
        if segment.name == WHOLE and segment.head not in heads:
            raise self._refused("the investigation has gone on since")
        if not hashes:
            raise self._refused(f"it began from {segment.head.value}, which is not in the record")
        own = names_within(segment.graph)
        if sealed(segment.sealed, own, hashes[0].value).hash != segment.hash:
            raise self._refused("what it holds is not what was sealed")

    def _in_scope(self, own: re.Pattern[str]) -> None:
        """Refuse a segment that says more than its steps and current values of earlier nodes."""
        record, graph = self.record, self.segment.graph
        nodes = {n for among in by_step(self.segment.sealed).values() for n in among}
        for triple in self.segment.sealed:
            known = isinstance(triple.subject, ox.NamedNode) and triple.subject in nodes
            if not known or isinstance(triple.object, ox.BlankNode | ox.Triple):
                raise self._refused(f"no step of it wrote {triple.subject}")
            if kind_and_number(triple.subject, own) is None and any(
                record.store.values(triple.subject, TRAILS.step, record.iri)  # type: ignore[arg-type]
            ):
                raise self._refused(f"{triple.subject} is known already")
        for triple in (*self.segment.added, *self.segment.removed):
            if triple.predicate not in later() or str(triple.subject).startswith(f"<{graph.value}"):
                raise self._refused(f"{triple.predicate} may not be written later")

    def _after(self) -> datetime:
        times = self.record.store.values(self.segment.head, PROV.endedAtTime, self.record.iri)
        return _time(times[0].value)

    def _moved(
        self, triples: Iterable[ox.Triple], numbered: frozenset[str] = frozenset()
    ) -> Iterator[ox.Triple]:
        rename = into_record(self.record.iri, self.before)
        return shifted(renamed(triples, self.own, rename, numbered), self.shift)

    def _linked(self, triples: Iterable[ox.Triple]) -> Iterator[ox.Triple]:
        """Link the steps to the head of the record, in place of what the segment began from."""
        for triple in triples:
            if triple.predicate == TRAILS.previous and triple.subject == self.steps[0]:
                yield ox.Triple(triple.subject, TRAILS.previous, self.head)
            else:
                yield triple

    def _check(self) -> None:
        """Hold each step to what a step may write, as if it were written here."""
        types: dict[Term, list[Term]] = {}
        for triple in self.triples:
            if triple.predicate == TYPE and not isinstance(triple.object, ox.Triple):
                types.setdefault(triple.subject, []).append(triple.object)  # type: ignore[arg-type]

        def earlier(node: Term) -> Iterable[Term]:
            return types.get(node) or [
                kind
                for kind in self.record.store.values(node, TYPE, self.record.iri)
                if not isinstance(kind, ox.Triple)
            ]

        found = by_step(self.triples)
        for step in self.steps:
            written = Written(earlier)
            for node, about in found.get(step, {}).items():
                for predicate, values in about.items():
                    for value in values:
                        written.note(node, predicate, value)
            for fault in self.record.check(written):
                raise self._refused(fault.rstrip("."))

    def step(self) -> Step:
        """Return the step that names the segment."""
        record, segment = self.record, self.segment
        record.forget()
        record.pass_over("Step", len(self.steps))
        step = record.step("Join")
        step.make(
            "Segment",
            PROV.Entity,
            segmentStep=segment.name,
            beganFrom=segment.head,
            segmentHash=segment.hash,
            firstStep=self.steps[0],
            lastStep=self.last,
            workerVersion=segment.version,
            worker=segment.worker,
            clockShift=_seconds(self.shift),
            cut=segment.cut,
        )
        return step

    def updates(self) -> list[str]:
        """Return what is written before that step: the steps, and current values."""
        graph = self.record.iri
        gone = [t for t in self._moved(self.segment.removed) if t.predicate != TRAILS.head]
        new = [t for t in self._moved(self.segment.added) if t.predicate != TRAILS.head]
        parts = [_data("DELETE", gone, graph)] if gone else []
        return [*parts, _data("INSERT", [*self.triples, *new], graph)]


def _data(verb: str, triples: Iterable[ox.Triple], graph: Node) -> str:
    body = "\n".join(f"  {t.subject} {t.predicate} {t.object} ." for t in triples)
    return f"{verb} DATA {{ GRAPH {graph} {{\n{body}\n}} }}"


def _numbers(record: Record) -> dict[str, int]:
    """Return the highest number of each kind of node in a record."""
    quads = record.store.inner.quads_for_pattern(None, TRAILS.step, None, record.iri)
    return highest((q.subject for q in quads), names_within(record.iri))


# Clocks


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _shift(triples: Iterable[ox.Triple], earliest: datetime, latest: datetime) -> timedelta:
    """Return by how much the clock of a worker has to be put right, in whole milliseconds.

    What a worker did lies between the step that it began from and the time when it is joined. Times
    outside of that are those of a clock that is wrong; then its last step ends as it is joined.
    """
    times = [_time(t.object.value) for t in triples if t.predicate in TIMES]  # type: ignore[union-attr]
    if not times or (earliest <= min(times) and max(times) <= latest):
        return timedelta()
    return (latest - max(times)) // _MILLISECOND * _MILLISECOND


def shifted(triples: Iterable[ox.Triple], shift: timedelta) -> Iterator[ox.Triple]:
    """Return statements with their times moved."""
    for triple in triples:
        if shift and triple.predicate in TIMES and isinstance(triple.object, ox.Literal):
            moved = (_time(triple.object.value) + shift).astimezone(UTC)
            # As a store writes times, which drops zeros at the end: that is what is sealed.
            fraction = f"{moved.microsecond // 1000:03}".rstrip("0")
            text = f"{moved:%Y-%m-%dT%H:%M:%S}{'.' if fraction else ''}{fraction}Z"
            yield ox.Triple(
                triple.subject, triple.predicate, ox.Literal(text, datatype=XSD.dateTime)
            )
        else:
            yield triple


def _seconds(shift: timedelta) -> Decimal:
    return Decimal(shift // _MILLISECOND) / 1000


# Made again


def hash_again(
    investigation: Node,
    name: str,
    triples: Iterable[ox.Triple],
    began_from: Node,
    before: str,
    shift: Decimal,
    numbers: Mapping[str, int],
) -> str:
    """Return the last seal of a segment, worked out from the steps that were joined.

    `triples` are what the record says of the nodes of these steps; `before` is the seal of the step
    that it began from, `numbers` the highest of each kind of node that were there before them.
    """
    said = list(triples)
    own = names_within(investigation)
    scope = ox.NamedNode(f"{investigation.value}:segment:{name}")
    steps = steps_of(said, own)
    first = steps[0] if steps else None
    back = (
        ox.Triple(t.subject, t.predicate, began_from)
        if t.predicate == TRAILS.previous and t.subject == first
        else t
        for t in said
    )
    moved = renamed(back, own, into_segment(scope, numbers), numbered_kinds(said, own))
    milliseconds = timedelta(milliseconds=-int(shift * 1000))
    return sealed(shifted(moved, milliseconds), names_within(scope), before).hash
