"""Locks between threads that a forked process does not inherit.

A fork takes along one thread alone. A lock that another thread held at that moment would never be
given back in the child, so there every lock is a fresh one.
"""

import os
import threading
from typing import Self
from weakref import WeakSet


class Lock:
    """A lock that its thread may take more than once, and that is free in a forked process."""

    def __init__(self) -> None:
        self._inner = threading.RLock()
        _KNOWN.add(self)

    def renew(self) -> None:
        """Become free, whoever held it."""
        self._inner = threading.RLock()

    def __enter__(self) -> Self:
        self._inner.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.release()


_KNOWN: "WeakSet[Lock]" = WeakSet()


def _renewed() -> None:
    for lock in list(_KNOWN):
        lock.renew()


os.register_at_fork(after_in_child=_renewed)
