"""Follow a strategy at work: an asynchronous iterator over what its sessions say."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

import pyoxigraph as ox

from kgreason.api.planning import plan
from kgreason.graph.given import Sources
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.record import Record
from kgreason.review.messages import Chunk, chunks
from kgreason.run import Told


class ChunkStream:
    """The chunks of a strategy at work, as an asynchronous iterator; it begins with the first.

    The work is done in a thread of its own. Whoever leaves the loop early, or is cancelled, loses
    what is said, not what is done: the work goes on to its end, every message is in the record, and
    `result` waits for it. An error of the work is raised where the chunks end.
    """

    def __init__(self, work: Callable[[Told], PlanResult]) -> None:
        self._work = work
        self._made: Future[PlanResult] = Future()
        self._queue: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        if self._over:
            raise StopAsyncIteration
        self._begin()
        chunk = await self._queue.get()
        if chunk is not None:
            return chunk
        self._over = True
        error = self._made.exception()
        if error is not None:
            raise error
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Listen no more; the work goes on to its end."""
        self._over = True

    async def result(self) -> PlanResult:
        """Wait for the end of the work, and return what came of it; raises its error."""
        self._begin()
        return await asyncio.wrap_future(self._made)

    def _begin(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._made.set_running_or_notify_cancel()  # so that nobody who waits can cancel it
            context = contextvars.copy_context()
            threading.Thread(target=context.run, args=(self._worked,), name="kgreason").start()

    def _worked(self) -> None:
        try:
            self._made.set_result(self._work(self._told))
        except BaseException as error:  # noqa: BLE001 - it is raised where the chunks end
            self._made.set_exception(error)
        self._give(None)

    def _told(self, record: Record, step: ox.NamedNode) -> None:
        if not self._over:
            for chunk in chunks(record, step):
                self._give(chunk)

    def _give(self, chunk: Chunk | None) -> None:
        if self._loop is not None and not self._over:
            try:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, chunk)
            except RuntimeError:  # the loop is closed: nobody listens any more
                self._over = True


def stream(question: str, data: Sources, **options: Any) -> ChunkStream:
    """Answer a question about a graph by a strategy, and follow what is said meanwhile.

    `async for chunk in kgreason.stream(…)` gives each chunk (docs/chunks.schema.json) once its
    message is in the record; `await ….result()` is what `kgreason.plan` returns. The options are
    those of `kgreason.plan`; a `told` among them is called too.
    """
    also: Told | None = options.pop("told", None)

    def work(told: Told) -> PlanResult:
        def both(record: Record, step: ox.NamedNode) -> None:
            told(record, step)
            if also is not None:
                also(record, step)

        return plan(question, data, **options, told=both)

    return ChunkStream(work)
