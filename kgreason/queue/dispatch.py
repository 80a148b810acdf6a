"""Fan-out and fan-in of a round: symptoms are looked into by workers, and joined in one order.

The record decides what is open. So a message that comes twice, a segment that comes late, a worker
that dies or the death of this process change nothing: what is joined is not joined again, and what
is not is asked for again, or done here.
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
from kgreason.record.joining import join, joined
from kgreason.record.segment import Segment, read_segment

PATIENCE: Final = 600.0
"""Seconds without a word from any worker after which the work is done here."""
_NOTICE: Final = 10.0
_PAUSE: Final = 0.05


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
        names = [work_name(symptom, round_) for symptom in symptoms]
        names = [name for name in names if name not in there]
        if not names:
            return
        state = state_of(record, investigation.elapsed).packed()
        self.queue.keep(session, state_name(names[0]), state)
        for name in names:
            if self.queue.kept(session, segment_name(name)) is None:
                self.queue.put(session, name)
        self._heard = time.monotonic()
        for name in names:
            content = self._awaited(session, name, names)
            if content is None:
                return
            self._join(investigation, content)

    def clear(self) -> None:
        """Clear away what is left in the queue of the sessions that were carried."""
        for session in sorted(self._sessions):
            self.queue.drop(session)
        self._sessions.clear()

    def _awaited(self, session: str, name: str, names: Sequence[str]) -> bytes | None:
        """Return the segment of a step, once it is there; None where patience is at its end."""
        told, known = False, 0
        while True:
            content = self.queue.kept(session, segment_name(name))
            if content is not None:
                self._heard = time.monotonic()
                return content
            silent = time.monotonic() - self._heard
            if silent > _NOTICE / 2:
                there = sum(self.queue.kept(session, segment_name(n)) is not None for n in names)
                if there > known:
                    known, self._heard = there, time.monotonic()
            if silent > self.patience:
                self.notice(
                    f"No worker finished a step for {self.patience:g} seconds; what is left of "
                    "this round is done here."
                )
                return None
            if silent > _NOTICE and not told:
                told = True
                self.notice(
                    f"No worker has finished a step for {_NOTICE:g} seconds; `kgreason worker` "
                    "with the same --queue starts one."
                )
            time.sleep(_PAUSE)

    def _join(self, investigation: Investigation, content: bytes) -> None:
        """Join a segment; one that cannot be is done here."""
        if content.startswith(FAILED):
            said = content.removeprefix(FAILED).decode(errors="replace")
            self.notice(f"A worker failed ({said}); its step is done here.")
            return
        try:
            segment = _of_this_version(read_segment(content))
            join(investigation.record, segment)
        except (LedgerError, RecordError) as error:
            self.notice(f"{error} The step is done here.")


def _of_this_version(segment: Segment) -> Segment:
    """Return a segment; raises RecordError where another version of kgreason wrote it."""
    if segment.version != build():
        raise RecordError(
            f"{segment.graph.value}: this segment was written by kgreason {segment.version}, and "
            f"this is {build()}."
        )
    return segment
