"""The port of queues: what is asked of one, whoever carries the messages.

A message holds the IRI of a session and the name of a step of work, and no more. It is delivered
at least once: whoever takes it and dies before it is acknowledged loses nothing, since somebody
else is given it. The state of a session and the segments that workers wrote are kept under names,
so that what is kept twice is there once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Message:
    """A session, by the IRI of its investigation, and a step of work that is open in it.

    Call `ack` once the step is done and its segment is kept, or `back` to have another worker take
    it.
    """

    session: str
    step: str
    ack: Callable[[], None]
    back: Callable[[], None]


class Queue(Protocol):
    """Carries messages to workers, and keeps what they and the session leave for each other."""

    def put(self, session: str, step: str, /) -> None:
        """Send a message; one that is still on its way may be sent again."""
        ...

    def take(self, seconds: float, /) -> Message | None:
        """Return a message, or None where there is none within so many seconds."""
        ...

    def keep(self, session: str, name: str, content: bytes, /) -> None:
        """Keep something of a session under a name; what was there under it is replaced."""
        ...

    def kept(self, session: str, name: str, /) -> bytes | None:
        """Return what is kept of a session under a name, if it is there."""
        ...

    def drop(self, session: str, /) -> None:
        """Forget a session: its messages, and what is kept of it."""
        ...

    def close(self) -> None:
        """Let go of files and connections; what was taken and not acknowledged is given back."""
        ...
