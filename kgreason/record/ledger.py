"""Open, lock and list a ledger folder; one named graph in it for each investigation."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from weakref import WeakSet

import pyoxigraph as ox

from kgreason.base.errors import LedgerError, OptionError, RunError
from kgreason.base.files import unversioned
from kgreason.base.locks import Lock
from kgreason.base.store import Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.record import beside, remote
from kgreason.record.blobs import Blobs
from kgreason.record.mirror import Mirror, ServerBlobs
from kgreason.record.nonce import named
from kgreason.record.numbers import number_of
from kgreason.record.record import Record, literal

VERSION: Final = "3"
_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_LOCK: Final = "kgreason.lock"
_TRIES: Final = 10
"""A reader keeps the lock for a moment, while it opens the folder."""
_PAUSE: Final = 0.05


@dataclass(frozen=True)
class Entry:
    """An investigation in the ledger: IRI, number, and whether it was finished.

    `state` is "finished", "running" or "failed"; `begun` is when it began. `parent` is the IRI of
    the investigation that it is a part of, None where it is none.
    """

    iri: ox.NamedNode
    number: int
    finished: bool
    state: str = ""
    begun: str = ""
    question: str | None = None
    parent: str | None = None


class Ledger:
    """A ledger folder, a ledger on a server, or one in memory.

    Where a folder is asked for, a path made of an address (http://HOST:PORT) names a server.

    Use as a context manager; a writer holds the lock until it is closed.
    """

    def __init__(
        self, store: Store, writer: "_Writer | None" = None, folder: Path | None = None
    ) -> None:
        self.store = store
        self.blobs = Blobs(folder)
        self._writer = writer

    @classmethod
    def memory(cls) -> Self:
        """Open an empty ledger that is gone with the process."""
        ledger = cls(Store(ox.Store(), "the ledger in memory"))
        ledger._begin()
        return ledger

    @classmethod
    def ready(cls, folder: Path) -> None:
        """Look whether a folder can be written to as a ledger, and change nothing.

        Raises LedgerError if it is in use, cannot be written, is of another version or holds
        something else.
        """
        if remote.address_of(folder) is not None:
            cls._on_server(folder)
            return
        if _writer_of(folder) is not None:
            return
        place = next(p for p in (folder, *folder.absolute().parents) if p.exists())
        if not place.is_dir():
            raise LedgerError(f"{place}: this is a file; give --ledger a folder.")
        if not os.access(place, os.W_OK | os.X_OK):
            raise LedgerError(
                f"{folder}: the ledger cannot be written (no permission in {place}); "
                "give --ledger another folder."
            )
        if place != folder:
            return
        lock = folder / _LOCK
        if lock.is_file():
            handle = _opened(lock)
            try:
                _take(handle, folder)
            finally:
                os.close(handle)
        elif not (folder / "CURRENT").is_file():
            strangers = sorted(p.name for p in folder.iterdir())
            if strangers:
                raise LedgerError(
                    f"{folder}: this folder holds other files ({strangers[0]}, …); "
                    "give --ledger an empty or new folder."
                )
        if (folder / "CURRENT").is_file():
            with cls.read(folder):
                pass

    @classmethod
    def write(cls, folder: Path) -> Self:
        """Open for writing, and make the folder if it is missing.

        Threads of one process may write to a ledger at once; the last one to close it gives it
        back. Raises LedgerError as `ready` does.
        """
        if remote.address_of(folder) is not None:
            return cls._on_server(folder, begun=True)
        with _WRITING:
            writer = _writer_of(folder)
            if writer is None:
                cls.ready(folder)
                writer = _WRITERS[folder.resolve()] = cls._opened(folder)
            writer.users += 1
            return cls(writer.view(), writer, folder)

    @classmethod
    def _on_server(cls, folder: Path, *, begun: bool = False) -> Self:
        """Read what a server holds; raises LedgerError where that is no ledger of this version."""
        server = remote.Server(remote.address_of(folder) or "")
        ledger = cls(Mirror(server))
        ledger.blobs = ServerBlobs(server)
        if begun:
            ledger._begin()
        ledger._check_version()
        return ledger

    @classmethod
    def _opened(cls, folder: Path) -> "_Writer":
        new, lock = not folder.exists(), None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = _opened(folder / _LOCK)
            _take(lock, folder)
            writer = _Writer(folder.resolve(), ox.Store(str(folder)), lock, f"the ledger {folder}")
            beside.clear(folder)
            unversioned(folder)
            made = cls(writer.view())
            made._begin()
        except (OSError, RuntimeError, LedgerError) as error:
            if lock is not None:
                os.close(lock)
            if new:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, LedgerError):
                raise
            raise LedgerError(
                f"{folder}: the ledger cannot be opened for writing ({_reason(error)})."
            ) from error
        return writer

    @classmethod
    def append(cls, folder: Path) -> Self:
        """Open for writing a ledger that is there; raises LedgerError as `read` and `write` do."""
        if remote.address_of(folder) is not None:
            return cls.read(folder)
        with cls.read(folder):
            pass
        return cls.write(folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Open read-only; raises LedgerError if there is no ledger of this version.

        What another thread of this process is writing to is read through its store, what another
        process is writing to as a copy that it makes after a step.
        """
        if remote.address_of(folder) is not None:
            ledger = cls._on_server(folder)
            if next(ledger.store.quads(), None) is None:
                raise _no_ledger(str(remote.address_of(folder)))
            return ledger
        with _WRITING:
            writer = _writer_of(folder)
            if writer is not None:
                through = cls(writer.view(), writer, folder)
                writer.readers.add(through)
                return through
        if not (folder / "CURRENT").is_file():
            raise _no_ledger(str(folder))
        try:
            inner = beside.read(folder, folder / _LOCK)
        except (OSError, RuntimeError) as error:
            raise LedgerError(
                f"{folder}: the ledger cannot be opened ({_reason(error)}); it is damaged, or no "
                "ledger at all."
            ) from error
        ledger = cls(Store(inner, f"the ledger {folder}"), folder=folder)
        ledger._check_version()
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to disk, and give the folder back; the ledger is of no use after."""
        writer, self._writer = self._writer, None
        self.store.close()
        if writer is None:
            return
        try:
            writer.leave(self)
        except (OSError, RuntimeError) as error:
            raise RunError(f"{self.store.where} cannot be written ({_reason(error)}).") from error

    def read_on(self, inner: ox.Store) -> None:
        """Go on reading in another store of the same folder."""
        self.store.inner, self._writer = inner, None

    def entries(self) -> list[Entry]:
        """List the investigations by number."""
        rows = self.store.select(template("record", "investigations").render())
        return [
            Entry(
                ox.NamedNode(row["investigation"].value),
                int(row["number"].value),
                row["state"] == TRAILS.Finished,
                row["state"].value.rpartition("#")[2].lower(),
                row["begun"].value if "begun" in row else "",
                row["question"].value if "question" in row else None,
                row["parent"].value if "parent" in row else None,
            )
            for row in rows
        ]

    def entry(self, which: str | None = None) -> Entry:
        """Find an investigation by IRI or number (with an I before it or not), else the latest.

        The latest is none that is only a part of another one, if there are others. Raises
        LedgerError if there is none.
        """
        entries = self.entries()
        if not entries:
            raise LedgerError(f"There is no investigation in {self.store.where}.")
        if which is None:
            return [*entries[-1:], *(one for one in entries if one.parent is None)][-1]
        wanted = number_of(which, "I")
        for entry in entries:
            if wanted in {str(entry.number), entry.iri.value}:
                return entry
        raise LedgerError(
            f"There is no investigation {which} in {self.store.where}; "
            f"it has {', '.join(f'I{e.number}' for e in entries)}."
        )

    def number_of(self, investigation: ox.NamedNode) -> int:
        """Return the number of an investigation, or the next one where it has none yet."""
        marks = self.store.inner.quads_for_pattern(None, TRAILS.number, None, _ABOUT)
        taken = {q.subject: int(q.object.value) for q in marks if isinstance(q.object, ox.Literal)}
        return taken.get(investigation, max(taken.values(), default=0) + 1)

    @staticmethod
    def numbered(investigation: ox.NamedNode, number: int) -> ox.Quad:
        """Return the statement that a ledger calls an investigation by a number."""
        return ox.Quad(investigation, TRAILS.number, literal(number), _ABOUT)

    def record(self, entry: Entry) -> Record:
        """Return the record of one investigation."""
        return Record(self.store, entry.iri, self.blobs)

    def new(self, nonce: str | None = None) -> Record:
        """Name a new investigation; nothing is written before its first step.

        Its name is random unless a nonce is given, by which a run gets the names of another one.
        Raises OptionError for a nonce that is none, or is taken in this ledger.
        """
        iri = named(nonce)
        if next(self.store.quads(iri), None) is not None:
            raise OptionError(
                f"{self.store.where} has an investigation of the nonce {nonce} already; "
                "give another one, or none."
            )
        return Record(self.store, iri, self.blobs)

    def _begin(self) -> None:
        if next(self.store.quads(), None) is None:
            mark = f'{_ABOUT} {TRAILS.softwareVersion} "{VERSION}"'
            self.store.update(f"INSERT DATA {{ GRAPH {_ABOUT} {{ {mark} . }} }}")
        self._check_version()

    def _check_version(self) -> None:
        marks = self.store.inner.quads_for_pattern(_ABOUT, TRAILS.softwareVersion, None, _ABOUT)
        found = [q.object.value for q in marks if isinstance(q.object, ox.Literal)]
        if found == [VERSION] or next(self.store.quads(), None) is None:
            return
        if not found:
            raise LedgerError(
                f"{self.store.where} is a store that holds something else; "
                "give --ledger an empty or new folder."
            )
        raise LedgerError(
            f"{self.store.where} is of version {found[0]}, this kgreason reads {VERSION}; "
            "use another --ledger folder."
        )


class _Written(Store):
    """A store of which something is done after each update."""

    def __init__(
        self, inner: ox.Store, where: str, updates: Lock, after: Callable[[], None]
    ) -> None:
        super().__init__(inner, where, updates)
        self._after = after

    def update(
        self, text: str, functions: Mapping[ox.NamedNode, Callable[..., Any]] | None = None
    ) -> None:
        """Run a SPARQL UPDATE as one transaction, and then what is to be done after it."""
        super().update(text, functions)
        self._after()


class _Writer:
    """A ledger folder that this process writes to, however many of its threads do.

    `readers` read through the same store; when the last of `users` leaves they go on with a store
    that was opened read-only.
    """

    def __init__(self, folder: Path, inner: ox.Store, lock: int, where: str) -> None:
        self.folder, self.where = folder, where
        self.users = 0
        self.readers: WeakSet[Ledger] = WeakSet()
        self._inner: ox.Store | None = inner
        self._lock = lock
        self._updates = Lock()

    def view(self) -> Store:
        """Return the store, for one that reads it or writes to it."""
        inner = ox.Store() if self._inner is None else self._inner
        return _Written(inner, self.where, self._updates, self._copy)

    def _copy(self) -> None:
        """Write a copy for each process that waits for one."""
        with _WRITING:
            if self._inner is not None:
                beside.give(self.folder, self._inner)

    def leave(self, ledger: Ledger) -> None:
        """Write everything to disk; the last one that writes gives the folder back."""
        with _WRITING:
            if ledger in self.readers:
                self.readers.discard(ledger)
                return
            self.users -= 1
            try:
                if self._inner is not None:
                    self._inner.flush()
            finally:
                if not self.users:
                    self._close()

    def _close(self) -> None:
        _WRITERS.pop(self.folder, None)
        self._inner = None
        try:
            readers = list(self.readers)
            self.readers.clear()
            if readers:
                again = _read_only(self.folder)
                for reader in readers:
                    reader.read_on(again)
        finally:
            os.close(self._lock)


_WRITING: Final = Lock()
_WRITERS: Final[dict[Path, _Writer]] = {}
# A forked process must not touch the stores of its parent.
os.register_at_fork(after_in_child=_WRITERS.clear)


def _read_only(folder: Path) -> ox.Store:
    """Open a folder read-only that was written to until now.

    Whoever still reads through the store that wrote it keeps that one open, and it may put files
    together, and remove them, while it is read what files there are: then it is read again.
    """
    for _ in range(_TRIES):
        try:
            return ox.Store.read_only(str(folder))
        except (OSError, RuntimeError):
            time.sleep(_PAUSE)
    return ox.Store.read_only(str(folder))


def _writer_of(folder: Path) -> _Writer | None:
    """Return what this process writes to a folder with, if it does."""
    return _WRITERS.get(folder.resolve()) if _WRITERS else None


def _no_ledger(where: str) -> LedgerError:
    return LedgerError(
        f"{where}: there is no ledger here; run `kgreason investigate` first, "
        "or name the folder with --ledger."
    )


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LedgerError(
            f"{lock.parent}: the ledger cannot be opened for writing ({_reason(error)})."
        ) from error


def _take(lock: int, folder: Path) -> None:
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if left:
                time.sleep(_PAUSE)
                continue
            raise LedgerError(
                f"{folder}: another process is writing to this ledger; "
                "wait for it, or give --ledger another folder."
            ) from error
        return


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
