"""Open the queue that a URL names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.observe.opening import Notice
from kgreason.queue.dispatch import Dispatch
from kgreason.queue.folder_queue import FolderQueue
from kgreason.queue.queue_port import Queue

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://")
_SERVERS: Final = {"nats": "nats", "tls": "nats", "postgresql": "postgres", "postgres": "postgres"}


@contextmanager
def opened_queue(url: str | Path) -> Iterator[Queue]:
    """Open a queue: nats://…, postgresql://…, or beside a ledger folder; close it in the end.

    Raises OptionError for a URL of another scheme or a client that is not installed, QueueError
    (an OptionError) for a server that does not answer.
    """
    queue = _queue(str(url))
    try:
        yield queue
    finally:
        queue.close()


@contextmanager
def carried(url: str | Path | None, notice: Notice | None) -> Iterator[Dispatch | None]:
    """Have rounds sent to the workers of a queue within; None where no queue is named.

    What is left in the queue of sessions that came to their end is cleared away. After an error it
    stays, for whoever resumes them.
    """
    if url is None:
        yield None
        return
    with opened_queue(url) as queue:
        made = Dispatch(queue, notice=notice or (lambda _: None))
        yield made
        made.clear()


def _queue(url: str) -> Queue:
    scheme = _SCHEME.match(url)
    if scheme is None:
        return FolderQueue(Path(url))
    server = _SERVERS.get(scheme[1])
    if server is None:
        raise OptionError(
            f"--queue {url}: there is no queue of this kind; give nats://…, postgresql://… or the "
            "folder of a ledger."
        )
    try:
        if server == "nats":
            from kgreason.queue.nats_queue import NatsQueue  # noqa: PLC0415 - an extra

            return NatsQueue(url)
        from kgreason.queue.postgres_queue import PostgresQueue  # noqa: PLC0415 - an extra

        return PostgresQueue(url)
    except ImportError as error:
        raise OptionError(
            f"--queue {url} needs {error.name or 'more'}; install it with "
            f"`pip install 'kgreason[{server}]'`."
        ) from error
