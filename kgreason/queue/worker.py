"""A worker: takes steps of work from a queue, does them, and keeps what it wrote as segments."""

import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from kgreason.base import extensions
from kgreason.base.errors import GraphError, KgreasonError, OptionError
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.loop import Investigation
from kgreason.observe.opening import recorded_request
from kgreason.observe.request import Request
from kgreason.queue.queue_port import Message, Queue
from kgreason.queue.session_state import SessionState, build, unpacked
from kgreason.record import Record, extended
from kgreason.record.segment import WHOLE, began, cut_off
from kgreason.run import opened_elsewhere, read_elsewhere

_LOOK: Final = re.compile(r"(?P<state>round-(?P<round>[0-9]+))-symptom-(?P<symptom>[0-9]+)")
_ITS_OWN: Final[dict[str, Any]] = {
    **dict.fromkeys(("question", "correlation", "parent", "assignment", "routing")),
    **dict.fromkeys(("max_steps", "max_seconds")),
    "depth": 0,
    "symptoms": (),
}
"""What sub-investigations of one question have of their own; the rest says what is read."""
_WAIT: Final = 1.0
FAILED: Final = b"failed: "
"""How what is kept in place of a segment begins, where the work raised an error."""

Told = Callable[[str], None]


class RefusedError(OptionError):
    """This worker cannot take the steps of a session; another one may."""


def state_name(step: str) -> str:
    """Return under what name the state is kept from which a step of work begins."""
    return f"state-{WHOLE if step == WHOLE else _parts(step)['state']}"


def segment_name(step: str) -> str:
    """Return under what name the segment of a step of work is kept."""
    return f"segment-{step}"


def _parts(step: str) -> re.Match[str]:
    match = _LOOK.fullmatch(step)
    if match is None:
        raise RefusedError(f"{step}: this worker knows no such step of work.")
    return match


def work(queue: Queue, told: Told, idle: float | None = None) -> int:
    """Do steps of work as they come; returns how many, once there were none for `idle` seconds.

    Without `idle` it goes on for ever. Raises RefusedError for a session of another version or of
    other data; its step is given back.
    """
    bench, done, last = Bench(), 0, time.monotonic()
    while idle is None or time.monotonic() - last < idle:
        message = queue.take(_WAIT if idle is None else min(_WAIT, idle))
        if message is None:
            continue
        if _do(queue, bench, message, told):
            done += 1
        last = time.monotonic()
    return done


def _do(queue: Queue, bench: "Bench", message: Message, told: Told) -> bool:
    """Do one step, unless it is done already or nobody waits for it."""
    session, step = message.session, message.step
    try:
        content = queue.kept(session, state_name(step))
        if content is None or queue.kept(session, segment_name(step)) is not None:
            message.ack()
            return False
        begun = time.monotonic()
        found = bench.segment(unpacked(content), step)
    except BaseException:
        message.back()
        raise
    queue.keep(session, segment_name(step), found)
    message.ack()
    told(f"{session} {step}: done in {time.monotonic() - begun:.1f} s")
    return True


class Bench:
    """What a worker has open: the graph that it read, and the session that it works for."""

    def __init__(self) -> None:
        self._read: tuple[Request, Graph, Observed] | None = None
        self._open: tuple[str, Investigation] | None = None
        self._name = f"{os.getpid()} at {socket.gethostname()}"

    def segment(self, state: SessionState, step: str) -> bytes:
        """Do a step of work from a state, and return its segment as N-Quads.

        Where the work itself raises an error, that is returned in its place.
        """
        if state.version != build():
            raise RefusedError(
                f"The session {state.session} was begun by kgreason {state.version}, and this "
                f"worker is {build()}; install the same on both."
            )
        record = state.record()
        with self._extensions(record):
            investigation = self._opened(state.session, record)
            investigation.take_state(record, state.seconds)
            investigation.context.foreign |= state.foreign
            start = began(record)
            try:
                cut = _done(investigation, step)
            except KgreasonError as error:
                self._open = None
                return FAILED + str(error).encode()
            return cut_off(record, start, step, build(), self._name, cut).n_quads()

    @contextmanager
    def _extensions(self, record: Record) -> Iterator[None]:
        with extensions.using(extended.again(record, extensions.read_all(()))):
            yield

    def _opened(self, session: str, record: Record) -> Investigation:
        if self._open is None or self._open[0] != session:
            request = recorded_request(record)
            graph, observed = self._at_hand(record, request)
            self._open = session, opened_elsewhere(record, request, graph, observed)
        return self._open[1]

    def _at_hand(self, record: Record, request: Request) -> tuple[Graph, Observed]:
        """Return the graph of a session, and what fails in it; several sessions may share it."""
        shared = replace(request, **_ITS_OWN)
        if self._read is None or self._read[0] != shared:
            self._read = None
            try:
                self._read = shared, *read_elsewhere(record, request)
            except GraphError as error:
                raise RefusedError(str(error)) from error
        return self._read[1], self._read[2]


def _done(investigation: Investigation, step: str) -> str | None:
    """Do a step of work; returns why it was cut short, if it was."""
    if step == WHOLE:
        investigation.run()
        return None
    named = _parts(step)
    return investigation.look_into(int(named["symptom"]), int(named["round"]))
