"""The records of the parts of a divided question, put together as if one investigation wrote them.

Fan-in judges such a copy; a report is told from one. The ledger itself is never changed by it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS, TYPE
from kgreason.record.fanning import expected_below
from kgreason.record.record import Node, Record

_LEDGER: Final = ox.NamedNode("urn:kgreason:ledger")
_NUMBERED: Final = (TRAILS.Hypothesis, TRAILS.Step)
"""What is numbered on from one part to the next."""
_ENDS: Final = frozenset(TRAILS[name] for name in ("Start", "Finish", "Fail", "Plan", "Send"))
"""Phases of a part that say nothing of its hypotheses."""
_CONCLUDED: Final = frozenset(
    TRAILS[name]
    for name in ("Verdict", "JointExplanation", "JointCause", "JoinedFinding", "Claim", "Report")
)
"""What a part concludes for itself alone, which is provisional."""


class Whole(Record):
    """A copy of the record of a divided question, with the parts in it and what they give together.

    It is made to be read; `parent` is the record that it was made of.
    """

    def __init__(self, store: Store, parent: Record) -> None:
        super().__init__(store, parent.iri, parent.blobs)
        self.parent = parent


def told_whole(record: Record) -> Record:
    """Return a record to tell a report from: of a divided question with all that its parts found.

    Statuses and verdicts are those of its last synthesis. Any other record is returned as it is,
    and so is one that nothing was joined in yet.
    """
    if isinstance(record, Whole) or not record.select("synthesis"):
        return record
    known = expected_below(record)
    ended = [one.session for one in known if one.complete and not one.missed and not one.divided]
    inner = put_together(record, ended, _ENDS, classes=_CONCLUDED)
    for one in known:
        # How a part was divided again stands in its own graph.
        every = record.store.quads(one.session) if one.divided else None
        inner.extend(every or _completions(record, one.session))
    inner.extend(record.store.quads(_LEDGER))
    store = Store(inner, f"the parts of {record.iri.value}")
    store.update(template("record", "tell-whole").render(investigation=record.iri))
    return Whole(store, record)


def _completions(record: Record, session: Node) -> Iterator[ox.Quad]:
    """Return what a sub-investigation says of its end, in its own graph."""
    asked = record.store.inner.quads_for_pattern
    for end in asked(None, TYPE, TRAILS.Completion, session):
        yield from asked(end.subject, None, None, session)


def part_of(record: Record, node: str) -> Record:
    """Return the record of the investigation that wrote a node of a record told as a whole."""
    if not isinstance(record, Whole) or node.startswith(f"{record.iri.value}:"):
        return record
    session = ox.NamedNode(node.rsplit(":", 2)[0])
    return Record(record.parent.store, session, record.blobs)


def put_together(
    parent: Record,
    sessions: Iterable[Node],
    phases: Collection[Node],
    kept: Collection[Node] = (),
    classes: Collection[Node] = (),
) -> ox.Store:
    """Put the records of sub-investigations into a copy of their parent's, under its name.

    What steps of the `phases` wrote is left out, unless it is of a class that is `kept`, and so are
    nodes of the `classes`. A symptom that several looked into is there once, as the first has it.
    """
    inner = ox.Store()
    inner.extend(parent.store.quads(parent.iri))
    offsets = dict.fromkeys(_NUMBERED, 0)
    offsets[TRAILS.Step] = _count(inner.quads_for_pattern(None, TYPE, TRAILS.Step, None))
    symptoms: dict[object, object] = {}
    for session in sessions:
        quads = list(parent.store.quads(session))
        alike = _symptoms(quads, symptoms)
        left = _left_out(quads, phases, kept, classes) | {session} | set(alike)
        _add(inner, parent.iri, quads, left, alike | {session: parent.iri}, offsets)
        for kind in _NUMBERED:
            offsets[kind] += _count(q for q in quads if q.predicate == TYPE and q.object == kind)
    return inner


def _symptoms(quads: Sequence[ox.Quad], known: dict[object, object]) -> dict[object, object]:
    """Return which symptoms are those of an earlier part, by their nodes; others become known."""
    own = {q.subject for q in quads if q.predicate == TYPE and q.object == TRAILS.Symptom}
    keys = {q.subject: q.object for q in quads if q.predicate == TRAILS.key and q.subject in own}
    out: dict[object, object] = {node: known[key] for node, key in keys.items() if key in known}
    known.update({key: node for node, key in keys.items() if key not in known})
    return out


def _left_out(
    quads: Sequence[ox.Quad],
    phases: Collection[Node],
    kept: Collection[Node],
    classes: Collection[Node],
) -> set[object]:
    gone = {q.subject for q in quads if q.predicate == TRAILS.phase and q.object in phases}
    out = {q.subject for q in quads if q.predicate == TRAILS.step and q.object in gone}
    types = [q for q in quads if q.predicate == TYPE]
    back = {q.subject for q in types if q.object in kept}
    return ((out | gone) - back) | {q.subject for q in types if q.object in classes}


def _add(
    inner: ox.Store,
    iri: Node,
    quads: Sequence[ox.Quad],
    left: Collection[object],
    renamed: Mapping[object, object],
    offsets: dict[Node, int],
) -> None:
    """Add what a sub-investigation wrote; its hypotheses and steps are numbered on."""
    numbered = {q.subject: q.object for q in quads if q.predicate == TYPE and q.object in offsets}
    for quad in quads:
        if quad.subject in left:
            continue
        value: Any = renamed.get(quad.object, quad.object)
        if quad.predicate == TRAILS.index and quad.subject in numbered:
            offset = offsets[numbered[quad.subject]]  # type: ignore[index]
            value = ox.Literal(int(value.value) + offset)
        inner.add(ox.Quad(quad.subject, quad.predicate, value, iri))


def _count(quads: Iterable[ox.Quad]) -> int:
    return sum(1 for _ in quads)
