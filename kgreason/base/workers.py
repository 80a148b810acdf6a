"""Work that only reads, done side by side in forked processes.

A child shares what its parent has loaded, and what it changes is changed in the child alone. It
takes the next piece of work that nobody has begun, and writes what it gives into a file of its own,
so that it never waits for the parent. It dies with its parent.
"""

import contextlib
import faulthandler
import gc
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import struct
import tempfile
from collections.abc import Callable, Sequence
from typing import IO, Any, Final, Generic, NoReturn, Self, TypeVar

from kgreason.base.store import die_with, forking, left_behind

T = TypeVar("T")
FORKS: Final = hasattr(os, "fork")
"""Whether this system can copy a process with all that it has loaded."""
_PLACE: Final = struct.Struct("<I")
_MOST: Final = 10_000
"""Pieces of work at a time; more of them would not fit into the pipe from which they are taken."""


def side_by_side(pieces: int, jobs: int) -> bool:
    """Check whether so many pieces of work can be done in so many processes.

    Not where there is no fork, nor while a thread that was given up may still read the store.
    """
    return FORKS and not left_behind() and jobs > 1 and 1 < pieces <= _MOST


class Workers(Generic[T]):
    """Does pieces of work in at most so many processes; each result is there for who asks for it.

    Close it, or use it in a `with`: what nobody asked for is then given up.
    """

    def __init__(self, works: Sequence[Callable[[], T]], jobs: int) -> None:
        self._works = works
        self._found: dict[int, tuple[bool, Any]] = {}
        self._children: dict[multiprocessing.connection.Connection, _Child] = {}
        # All are there before the first child begins, so that an empty pipe is the end of them.
        queue, end = os.pipe()
        os.write(end, b"".join(_PLACE.pack(place) for place in range(len(works))))
        os.close(end)
        try:
            for _ in range(min(jobs, len(works))):
                self._fork(queue)
        finally:
            os.close(queue)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def result(self, place: int) -> T:
        """Return what a piece of work gave, or raise its error; waits where it is not done yet.

        What a process did not end, for it died, is done in this one.
        """
        while place not in self._found and self._children:
            for receiver in multiprocessing.connection.wait(list(self._children)):
                self._receive(receiver)  # type: ignore[arg-type] # only connections were given
        if place not in self._found:
            return self._works[place]()
        good, given = self._found.pop(place)
        if not good:
            raise given
        return given  # type: ignore[no-any-return] # what the work gave, pickled and read again

    def close(self) -> None:
        """End the processes."""
        for receiver in list(self._children):
            self._end(receiver)

    def _fork(self, queue: int) -> None:
        kept = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the child
        with forking():
            receiver, sender = multiprocessing.Pipe(duplex=False)
            parent = os.getpid()
            pid = os.fork()
            if not pid:
                _work(self._works, queue, kept, sender, parent)
            sender.close()
        self._children[receiver] = _Child(pid, kept)

    def _receive(self, receiver: multiprocessing.connection.Connection) -> None:
        child = self._children[receiver]
        try:
            place, start, size = receiver.recv()
        except (EOFError, OSError):
            self._end(receiver)
            return
        self._found[place] = pickle.loads(os.pread(child.kept.fileno(), size, start))  # noqa: S301 - written by our own child

    def _end(self, receiver: multiprocessing.connection.Connection) -> None:
        child = self._children.pop(receiver)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
        receiver.close()
        child.kept.close()


class _Child:
    """A process, and the file into which it writes what its work gave."""

    def __init__(self, pid: int, kept: IO[bytes]) -> None:
        self.pid, self.kept = pid, kept


def _work(
    works: Sequence[Callable[[], Any]],
    queue: int,
    kept: IO[bytes],
    sender: multiprocessing.connection.Connection,
    parent: int,
) -> NoReturn:
    """Do pieces of work until there are no more, and end this process."""
    try:
        die_with(parent)
        gc.freeze()  # what the parent left behind, such as an open ledger, is not ours to close
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        start = 0
        while taken := os.read(queue, _PLACE.size):
            (place,) = _PLACE.unpack(taken)
            text = _outcome(works[place])
            kept.write(text)
            kept.flush()
            sender.send((place, start, len(text)))
            start += len(text)
    finally:
        os._exit(0)


def _outcome(work: Callable[[], Any]) -> bytes:
    """Return what a piece of work gives, or the error that it raises, pickled."""
    try:
        return pickle.dumps((True, work()))
    except Exception as error:  # noqa: BLE001 - whatever happened is told to the parent
        return pickle.dumps((False, error))
