"""A queue without a server: files beside the ledger, for processes on one machine.

A message is a file, and whoever has it locked has taken it. The system gives the lock back when a
process ends, however it ends, so that nothing hangs on clocks or on time limits.
"""

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from kgreason.base.errors import LedgerError
from kgreason.queue.queue_port import Message

_PAUSE: Final = 0.05


class FolderQueue:
    """A queue in a folder; raises LedgerError where that cannot be written."""

    def __init__(self, ledger: Path) -> None:
        self._root = ledger.with_name(f"{ledger.name}.queue")
        self._taken: dict[Path, int] = {}
        with self._writing():
            self._root.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = error.strerror or error
            raise LedgerError(f"{self._root}: the queue cannot be written ({why}).") from error

    def put(self, session: str, step: str, /) -> None:
        """Send a message."""
        path = self._place(session) / f"{step}.message"
        if not path.exists():
            self._write(path, json.dumps({"session": session, "step": step}).encode())

    def take(self, seconds: float, /) -> Message | None:
        """Return a message that nobody has, or None where there is none."""
        until = time.monotonic() + seconds
        while True:
            for path in sorted(self._root.glob("*/*.message")):
                found = self._locked(path)
                if found is not None:
                    return found
            if time.monotonic() >= until:
                return None
            time.sleep(_PAUSE)

    def keep(self, session: str, name: str, content: bytes, /) -> None:
        """Keep something of a session."""
        self._write(self._place(session) / name, content)

    def kept(self, session: str, name: str, /) -> bytes | None:
        """Return what is kept of a session."""
        try:
            return (self._place(session) / name).read_bytes()
        except OSError:
            return None

    def drop(self, session: str, /) -> None:
        """Forget a session."""
        shutil.rmtree(self._place(session), ignore_errors=True)

    def close(self) -> None:
        """Give back what was taken."""
        for path in list(self._taken):
            self._give_back(path)

    def _place(self, session: str) -> Path:
        return self._root / sha256(session.encode()).hexdigest()[:32]

    def _write(self, path: Path, content: bytes) -> None:
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            beside.write_bytes(content)
            beside.replace(path)

    def _locked(self, path: Path) -> Message | None:
        if path in self._taken:
            return None
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:  # it was done in the meantime
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(handle), path.stat()):
                raise FileNotFoundError
            said = json.loads(os.read(handle, 10_000))
        except (OSError, ValueError):
            os.close(handle)
            return None
        self._taken[path] = handle
        return Message(
            said["session"], said["step"], lambda: self._ack(path), lambda: self._give_back(path)
        )

    def _ack(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._give_back(path)

    def _give_back(self, path: Path) -> None:
        handle = self._taken.pop(path, None)
        if handle is not None:
            os.close(handle)
