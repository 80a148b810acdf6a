"""Read a ledger folder, also while another process writes to it.

A store that is opened read-only beside a writing process may see anything (the manual of pyoxigraph
calls it undefined). So the reader asks the writer for a copy: it makes a folder in the ledger, and
the writer, which looks for such folders after each step, puts a backup into it. A backup is made of
hard links, so that it costs next to nothing.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError

_ASKED: Final = "kgreason.reading-"
_MADE: Final = "kgreason.copying"
_COPY: Final = "copy"
SECONDS: Final = 15.0
"""How long a reader waits for the end of a step of the writer."""
_PAUSE: Final = 0.05


def read(folder: Path, lock: Path) -> ox.Store:
    """Open the store of a ledger read-only, or a copy of it in memory where somebody writes to it.

    Raises LedgerError where the writer gives no copy within SECONDS, OSError or RuntimeError where
    the folder holds no store.
    """
    until = time.monotonic() + SECONDS
    while True:
        with _unwritten(lock) as free:
            if free:
                return ox.Store.read_only(str(folder))
        copy = _copied(folder, lock, until)
        if copy is not None:
            return copy


@contextlib.contextmanager
def _unwritten(lock: Path) -> Iterator[bool]:
    """Keep writers away for a moment; gives False where one is there."""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError:
        yield True  # nobody has written to it since it was copied here, or nobody can
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _copied(folder: Path, lock: Path, until: float) -> ox.Store | None:
    """Ask for a copy and load it; None where the writer has ended meanwhile."""
    try:
        place = Path(tempfile.mkdtemp(prefix=_ASKED, dir=folder))
    except OSError as error:
        raise _busy(folder) from error
    try:
        while not (place / _COPY).is_dir():
            with _unwritten(lock) as free:
                if free or not place.is_dir():
                    return None
            if time.monotonic() > until:
                raise _busy(folder)
            time.sleep(_PAUSE)
        copy = ox.Store()
        copy.bulk_extend(ox.Store.read_only(str(place / _COPY)))
        return copy
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _busy(folder: Path) -> LedgerError:
    return LedgerError(
        f"{folder}: another process is writing to this ledger, and has given no copy to read; "
        "try again in a while, or wait until it has ended."
    )


def give(folder: Path, store: ox.Store) -> None:
    """Put a backup of a store into each folder that a reader has made for it."""
    for place in _asked(folder):
        if (place / _COPY).exists():
            continue
        # A backup makes the folders above it, too; a reader that has gone must not get one again.
        made = folder / _MADE
        try:
            store.backup(str(made))
            made.rename(place / _COPY)
        except OSError:  # the reader has gone, or there is no room; it will say that it got none
            shutil.rmtree(made, ignore_errors=True)


def clear(folder: Path) -> None:
    """Remove what readers that were killed have left; one that still waits asks again."""
    for place in (*_asked(folder), folder / _MADE):
        shutil.rmtree(place, ignore_errors=True)


def _asked(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(entry.path) for entry in entries if entry.name.startswith(_ASKED)]
