"""What happens in an investigation, as it happens: server-sent events for the pages.

They come from the files that `kgreason investigate --events FILE` writes, else from the ledger.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from kgreason.api.snapshots import Snapshots
from kgreason.base.errors import KgreasonError

Event = dict[str, Any]
_PAUSE: Final = 1.0
"""Seconds between two looks."""
_QUIET: Final = 5
"""So many looks without news before the ledger is asked whether the end has come."""


def written(files: Sequence[Path], iri: str) -> list[Event]:
    """Return the events of an investigation that are in the files; whole lines alone are read."""
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # not written yet, or gone
        for line in text[: text.rfind("\n") + 1].splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("investigation") == iri:
                found.append(event)
    return found


class Live:
    """Knows what happened in the investigations of some ledgers, and sends it as it happens."""

    def __init__(
        self, snapshots: Snapshots, files: Sequence[Path], stopping: Callable[[], bool]
    ) -> None:
        self.snapshots = snapshots
        self.files = files
        self.stopping = stopping

    def events(self, iri: str) -> list[Event]:
        """Return what happened so far: from the files where they tell of it, else the ledger."""
        return written(self.files, iri) or self.snapshots.now().events(iri)

    def ended(self, iri: str) -> bool:
        """Check whether an investigation is over, or not to be found any more."""
        try:
            held = self.snapshots.now().investigations
        except KgreasonError:
            return True
        return all(one.listed.state != "running" for one in held if one.listed.id == iri)

    def response(self, request: Request, iri: str) -> StreamingResponse:
        """Send the events after the last that the client has, until the end."""
        return self._sent(request, iri, lambda: self.events(iri))

    def chunks(self, request: Request, iri: str) -> StreamingResponse:
        """Send what is said, after the last chunk that the client has, until the end."""
        return self._sent(request, iri, lambda: self.snapshots.now().chunks(iri))

    def _sent(
        self, request: Request, iri: str, known: Callable[[], list[Event]]
    ) -> StreamingResponse:
        last = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        sent = int(last) if last.isdecimal() else 0
        feed = feed_of(known, lambda: self.ended(iri), self.stopping, sent)
        return StreamingResponse(feed, media_type="text/event-stream")


async def feed_of(
    events: Callable[[], list[Event]],
    ended: Callable[[], bool],
    stopping: Callable[[], bool],
    sent: int,
    pause: float = _PAUSE,
) -> AsyncIterator[str]:
    """Yield each event after the first `sent` as it comes, and say when there will be no more.

    It breaks off where the server is `stopping`; a client then asks again, for the rest.
    """
    quiet = 0
    while not stopping():
        new = (await run_in_threadpool(events))[sent:]
        for event in new:
            sent += 1
            yield f"id: {sent}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
        quiet = 0 if new else quiet + 1
        if not new and quiet % _QUIET == 1 and await run_in_threadpool(ended):
            yield "event: end\ndata: {}\n\n"
            return
        if not new:
            yield ": waiting\n\n"  # so that a connection that was closed is noticed
        await asyncio.sleep(pause)
