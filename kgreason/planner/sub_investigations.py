"""Sub-investigations: opened in the ledger with their whole request, and carried on by somebody.

An open sub-investigation is an investigation whose request is recorded and which is not finished.
Whoever has its IRI can carry it on; `InTurn` does so in this process, one after the other. Another
carrier may hand the IRIs to a queue.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pyoxigraph as ox

from kgreason.base.budget import Limits
from kgreason.base.errors import KgreasonError, OptionError
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.observe.opening import Progress, recorded_request
from kgreason.observe.request import Request
from kgreason.queue.dispatch import Dispatch
from kgreason.record import Ledger, Record
from kgreason.record.fanning import Part
from kgreason.record.record import Node
from kgreason.run import Told, carry_on, open_session, telling


@dataclass(frozen=True)
class Place:
    """Where sub-investigations are carried on: the ledger, and the graph that was looked at.

    `request` is that of the investigation which divided the question; `folder` is that of the
    ledger, None in memory. `told` is called with each step of each of them.
    """

    ledger: Ledger
    graph: Graph
    observed: Observed
    request: Request
    folder: Path | None = None
    progress: Progress | None = None
    jobs: int = 1
    told: Told | None = None


class Carrier(Protocol):
    """Sees to it that open sub-investigations are carried on."""

    def carry(self, sessions: Sequence[Node], place: Place, wait: float | None, /) -> None:
        """Carry on as many as can be within `wait` seconds; each ends with a completion."""
        ...


class InTurn:
    """Carries them on in this process, one after the other."""

    def carry(self, sessions: Sequence[Node], place: Place, wait: float | None, /) -> None:
        """Carry each on to its end; an error ends one of them, and not the others."""
        del wait  # each has its share of the time
        for number, session in enumerate(sessions):
            if place.progress is not None:
                place.progress("sub-investigations", number, len(sessions))
            record = telling(Record(place.ledger.store, session, place.ledger.blobs), place.told)
            request = replace(recorded_request(record), objects=place.request.objects)
            try:
                carry_on(
                    record,
                    place.graph,
                    place.observed,
                    request,
                    ledger=place.folder,
                    jobs=place.jobs,
                )
            except KgreasonError:
                continue  # its record says what went wrong, as a completion


@dataclass(frozen=True)
class Queued:
    """Has them carried on by the workers of a queue; what these leave is done in this process."""

    dispatch: Dispatch

    def carry(self, sessions: Sequence[Node], place: Place, wait: float | None, /) -> None:
        """Send them out and join what comes back; nobody waits for longer than `wait` seconds."""
        if place.request.objects:
            raise OptionError(
                "--queue: workers read files; data given as objects cannot reach them."
            )
        records = [Record(place.ledger.store, one, place.ledger.blobs) for one in sessions]
        asked = place.request
        begun = time.monotonic()
        alone = asked.model or asked.sources or asked.tests  # these are asked in one process
        left = records if alone else self.dispatch.whole(records, wait)
        if wait is None or time.monotonic() - begun < wait:
            InTurn().carry([one.iri for one in left], place, wait)


def session_of(parent: Node, fan_out: int, place: int) -> Node:
    """Return the IRI of the sub-investigation for a part: always the same for the same part."""
    return ox.NamedNode(f"urn:kgreason:{_nonce(parent, fan_out, place)}")


def _nonce(parent: Node, fan_out: int, place: int) -> str:
    return hashlib.sha256(f"{parent.value} {fan_out} {place}".encode()).hexdigest()[:32]


def opened(place: Place, parent: Node, session: Node, assignment: Node, part: Part,
           share: Limits, depth: int) -> Record:  # fmt: skip
    """Record the request of a sub-investigation in the ledger; gives its record, which is open."""
    asked = replace(
        place.request,
        question=part.goal,
        correlation=place.request.correlation,
        parent=parent.value,
        assignment=assignment.value,
        depth=depth,
        symptoms=part.symptoms,
        max_steps=share.steps,
        max_seconds=share.seconds,
        max_tokens=share.tokens if place.request.model else None,
        max_usd=share.usd if place.request.model else None,
        routing=None,
    )
    nonce = session.value.rpartition(":")[2]
    return open_session(place.ledger, place.graph, asked, nonce, place.told)
