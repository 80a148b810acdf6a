"""Fan-out and fan-in of a round: symptoms are looked into by workers, and joined in one order.

The record decides what is open: what was sent is an open step of it until its work is there. So a
message that comes twice, a segment that comes late, a worker that dies or the death of this process
change nothing: what is joined is not joined again, and what is not is asked for again, or done
here.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgreason.base.errors import LedgerError, RecordError
from kgreason.context.symptom import Symptom
from kgreason.loop import Investigation, work_name
from kgreason.queue.queue_port import Queue
from kgreason.queue.session_state import build, state_of
from kgreason.queue.worker import FAILED, segment_name, state_name
from kgreason.record import Record
from kgreason.record.joining import join, joined
from kgreason.record.open_steps import send
from kgreason.record.segment import WHOLE, Segment, names_within, read_segment, steps_of

PATIENCE: Final = 600.0
"""Seconds without a word from any worker after which the work is done here."""
_NOTICE: Final = 10.0
_PAUSE: Final = 0.05

_Work = tuple[Record, str]


@dataclass
class Dispatch:
    """Has symptoms looked into by the workers of a queue.

    Where no worker finishes anything for `patience` seconds, the rest is left to the caller;
    `notice` is told so.
    """

    queue: Queue
    patience: float = PATIENCE
    notice: Callable[[str], None] = lambda _: None
    _heard: float = field(default=0.0, init=False)
    _sessions: set[str] = field(default_factory=set, init=False)

    def __call__(
        self, investigation: Investigation, symptoms: Sequence[Symptom], round_: int
    ) -> None:
        """Send a round out and join what comes back, symptom by symptom."""
        record, session = investigation.record, investigation.record.iri.value
        self._sessions.add(session)
        there = joined(record)
        left = [symptom for symptom in symptoms if work_name(symptom, round_) not in there]
        names = [work_name(symptom, round_) for symptom in left]
        if not names:
            return
        nodes = {work_name(symptom, round_): symptom.node for symptom in left}
        send(record, nodes, round_)
        foreign = investigation.context.foreign
        state = state_of(record, investigation.elapsed, foreign=foreign)
        self.queue.keep(session, state_name(names[0]), state.packed())
        work = [(record, name) for name in names]
        self._send(work)
        for symptom, one in zip(left, work, strict=True):
            content = self._awaited(one, work, None)
            if content is None:
                return
            # In this order whoever does it, so that the record is the same.
            fits = _fits(content, investigation)
            joined_ = fits and self._join(record, content)
            done = investigation.look_outside if joined_ else investigation.look_into
            if done(symptom.index, round_):
                return

    def whole(self, records: Sequence[Record], seconds: float | None) -> list[Record]:
        """Have open investigations carried on to their ends; returns those that were not.

        After `seconds`, where given, nobody waits any more: what is not there then is not joined.
        """
        work = [(record, WHOLE) for record in records if WHOLE not in joined(record)]
        for record, _ in work:
            self._sessions.add(record.iri.value)
            state = state_of(record, 0.0).packed()
            self.queue.keep(record.iri.value, state_name(WHOLE), state)
        self._send(work)
        until = None if seconds is None else time.monotonic() + seconds
        for one in work:
            content = self._awaited(one, work, until)
            if content is None:
                break
            self._join(one[0], content)
        return [record for record, _ in work if WHOLE not in joined(record)]

    def _send(self, work: Sequence[_Work]) -> None:
        """Send what is not done yet."""
        for record, name in work:
            if not self._there(record, name):
                self.queue.put(record.iri.value, name)
        self._heard = time.monotonic()

    def _there(self, record: Record, name: str) -> bool:
        return self.queue.kept(record.iri.value, segment_name(name)) is not None

    def clear(self) -> None:
        """Clear away what is left in the queue of the sessions that were carried."""
        for session in sorted(self._sessions):
            self.queue.drop(session)
        self._sessions.clear()

    def _awaited(self, one: _Work, work: Sequence[_Work], until: float | None) -> bytes | None:
        """Return a segment, once it is there; None where patience or the time is at its end."""
        record, name = one
        told, known = False, 0
        while True:
            content = self.queue.kept(record.iri.value, segment_name(name))
            if content is not None:
                self._heard = time.monotonic()
                return content
            if until is not None and time.monotonic() > until:
                return None
            silent = time.monotonic() - self._heard
            if silent > _NOTICE / 2:
                there = sum(self._there(*other) for other in work)
                if there > known:
                    known, self._heard = there, time.monotonic()
            if silent > self.patience:
                self.notice(
                    f"No worker finished a step for {self.patience:g} seconds; what is left "
                    "is done here."
                )
                return None
            if silent > _NOTICE and not told:
                told = True
                self.notice(
                    f"No worker has finished a step for {_NOTICE:g} seconds; `kgreason worker` "
                    "with the same --queue starts one."
                )
            time.sleep(_PAUSE)

    def _join(self, record: Record, content: bytes) -> bool:
        """Join a segment; False for one that cannot be, whose step is done here."""
        if content.startswith(FAILED):
            said = content.removeprefix(FAILED).decode(errors="replace")
            self.notice(f"A worker failed ({said}); its step is done here.")
            return False
        try:
            segment = _of_this_version(read_segment(content))
            join(record, segment)
        except (LedgerError, RecordError) as error:
            self.notice(f"{error} The step is done here.")
            return False
        return True


def _fits(content: bytes, investigation: Investigation) -> bool:
    """Check whether a segment fits into a budget of steps; what may not is done by the parent.

    Workers of one round do not know of each other's steps; the parent is cut where one process is.
    """
    most = investigation.request.max_steps
    if most is None or content.startswith(FAILED):
        return True
    try:
        segment = read_segment(content)
    except LedgerError:
        return True  # which the joining will tell of
    steps = len(steps_of(segment.sealed, names_within(segment.graph)))
    return segment.cut is None and investigation.steps + steps < most


def _of_this_version(segment: Segment) -> Segment:
    """Return a segment; raises RecordError where another version of kgreason wrote it."""
    if segment.version != build():
        raise RecordError(
            f"{segment.graph.value}: this segment was written by kgreason {segment.version}, and "
            f"this is {build()}."
        )
    return segment
