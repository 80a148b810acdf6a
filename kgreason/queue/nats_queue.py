"""A queue in NATS JetStream: a stream of messages, and an object store for what is kept.

The server gives a message to another worker where nobody acknowledged it for some seconds; while a
worker lives, a thread of its own tells the server that it is still at work. The seconds are those
of the server's clock.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Coroutine
from hashlib import sha256
from typing import Any, Final, TypeVar

import nats
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StreamConfig
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError, ObjectNotFoundError

from kgreason.base.errors import OptionError, RunError
from kgreason.queue.queue_port import Message

T = TypeVar("T")
_STREAM: Final = "KGREASON"
_BUCKET: Final = "kgreason"
_WORKERS: Final = "workers"
_WAIT: Final = 15.0
"""Seconds without a sign of life after which a message is given to another worker."""
_SIGN: Final = 4.0
_CALL: Final = 30.0
_REACHED: Final = 4.0
"""Seconds within which a server has to be reached."""


class NatsQueue:
    """A queue on a NATS server with JetStream; raises OptionError where that cannot be used."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._signs: set[asyncio.Task[None]] = set()
        try:
            self._run(self._open(url))
        except (NatsError, JetStreamError, OSError, TimeoutError) as error:
            self._end()
            raise OptionError(
                f"--queue {url}: the server cannot be used ({str(error) or type(error).__name__}); "
                "it has to run with JetStream (`nats-server -js`)."
            ) from error

    async def _open(self, url: str) -> None:
        # The client tries for minutes to reach a server that is not there.
        connecting = nats.connect(url, connect_timeout=2, error_cb=_silent)
        self._client = await asyncio.wait_for(connecting, _REACHED)
        self._stream = self._client.jetstream(timeout=_CALL)
        subjects = [f"{_BUCKET}.step.>"]
        config = StreamConfig(_STREAM, subjects=subjects, retention=RetentionPolicy.WORK_QUEUE)
        await self._stream.add_stream(config)
        consumer = ConsumerConfig(
            durable_name=_WORKERS, ack_policy=AckPolicy.EXPLICIT, ack_wait=_WAIT, max_ack_pending=-1
        )
        self._messages = await self._stream.pull_subscribe(
            f"{_BUCKET}.step.>", durable=_WORKERS, stream=_STREAM, config=consumer
        )
        try:
            self._objects = await self._stream.object_store(_BUCKET)
        except NotFoundError:
            self._objects = await self._stream.create_object_store(_BUCKET)

    def put(self, session: str, step: str, /) -> None:
        """Send a message."""
        said = json.dumps({"session": session, "step": step}).encode()
        self._asked(self._stream.publish(f"{_BUCKET}.step.{_short(session)}", said))

    def take(self, seconds: float, /) -> Message | None:
        """Return a message, and tell the server that it is worked on until it is acknowledged."""
        try:
            (found,) = self._asked(self._messages.fetch(1, timeout=max(seconds, 0.5)))
        except (NatsTimeout, TimeoutError):
            return None
        said = json.loads(found.data)
        sign = self._asked(self._begin(found))

        def end(what: Coroutine[Any, Any, Any]) -> None:
            self._loop.call_soon_threadsafe(sign.cancel)
            self._asked(what)

        return Message(
            said["session"],
            said["step"],
            lambda: end(found.ack_sync()),
            lambda: end(found.nak(delay=1)),
        )

    async def _begin(self, found: Any) -> asyncio.Task[None]:
        async def alive() -> None:
            while True:
                await asyncio.sleep(_SIGN)
                with contextlib.suppress(NatsError):
                    await found.in_progress()

        task = asyncio.create_task(alive())
        self._signs.add(task)
        task.add_done_callback(self._signs.discard)
        return task

    def keep(self, session: str, name: str, content: bytes, /) -> None:
        """Keep something of a session."""
        self._asked(self._objects.put(f"{_short(session)}.{name}", content))

    def kept(self, session: str, name: str, /) -> bytes | None:
        """Return what is kept of a session."""
        try:
            found = self._asked(self._objects.get(f"{_short(session)}.{name}"))
        except (NotFoundError, ObjectNotFoundError):
            return None
        return found.data

    def drop(self, session: str, /) -> None:
        """Forget a session."""
        self._asked(self._drop(_short(session)))

    async def _drop(self, short: str) -> None:
        await self._stream.purge_stream(_STREAM, subject=f"{_BUCKET}.step.{short}")
        with contextlib.suppress(NotFoundError):
            for one in await self._objects.list():
                if one.name.startswith(f"{short}."):
                    await self._objects.delete(one.name)

    def close(self) -> None:
        """Close the connection; what was taken is given to another worker after some seconds."""
        with contextlib.suppress(NatsError, TimeoutError):
            self._run(self._client.close())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL * 2)

    def _asked(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something with the server; raises RunError where it cannot be asked any more."""
        try:
            return self._run(work)
        except (NotFoundError, ObjectNotFoundError, NatsTimeout):
            raise
        except (NatsError, JetStreamError, OSError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            raise RunError(f"The server of the queue cannot be asked ({why}).") from error


async def _silent(_error: Exception) -> None:
    """Say nothing of a connection that is lost and made again; a call that fails says so."""


def _short(session: str) -> str:
    return sha256(session.encode()).hexdigest()[:32]
