"""Open, lock and list a ledger folder; one named graph in it for each investigation."""

import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import pyoxigraph as ox

from kgreason.base.errors import LedgerError, OptionError, RunError
from kgreason.base.store import Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.record.nonce import named
from kgreason.record.numbers import number_of
from kgreason.record.record import Record, literal

VERSION: Final = "3"
_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_LOCK: Final = "kgreason.lock"


@dataclass(frozen=True)
class Entry:
    """An investigation in the ledger: IRI, number, and whether it was finished.

    `state` is "finished", "running" or "failed"; `begun` is when it began.
    """

    iri: ox.NamedNode
    number: int
    finished: bool
    state: str = ""
    begun: str = ""
    question: str | None = None


class Ledger:
    """A ledger folder (or a ledger in memory, without a folder).

    Use as a context manager; a writer holds the lock until it is closed.
    """

    def __init__(self, store: Store, lock: int | None = None) -> None:
        self.store = store
        self._lock = lock

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

        Raises LedgerError as `ready` does.
        """
        cls.ready(folder)
        new, lock = not folder.exists(), None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = _opened(folder / _LOCK)
            _take(lock, folder)
            ledger = cls(Store(ox.Store(str(folder)), f"the ledger {folder}"), lock)
            ledger._begin()
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
        return ledger

    @classmethod
    def append(cls, folder: Path) -> Self:
        """Open for writing a ledger that is there; raises LedgerError as `read` and `write` do."""
        with cls.read(folder):
            pass
        return cls.write(folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Open read-only; raises LedgerError if there is no ledger of this version."""
        if not (folder / "CURRENT").is_file():
            raise LedgerError(
                f"{folder}: there is no ledger here; run `kgreason investigate` first, "
                "or name the folder with --ledger."
            )
        try:
            inner = ox.Store.read_only(str(folder))
        except (OSError, RuntimeError) as error:
            raise LedgerError(
                f"{folder}: the ledger cannot be opened ({_reason(error)}); it is damaged, or no "
                "ledger at all."
            ) from error
        ledger = cls(Store(inner, f"the ledger {folder}"))
        ledger._check_version()
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to disk, and give the folder back; the ledger is of no use after."""
        try:
            if self._lock is not None:
                self.store.inner.flush()
        except (OSError, RuntimeError) as error:
            raise RunError(f"{self.store.where} cannot be written ({_reason(error)}).") from error
        finally:
            self.store.close()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

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
            )
            for row in rows
        ]

    def entry(self, which: str | None = None) -> Entry:
        """Find an investigation by IRI or number (with an I before it or not), else the latest.

        Raises LedgerError if there is none.
        """
        entries = self.entries()
        if not entries:
            raise LedgerError(f"There is no investigation in {self.store.where}.")
        if which is None:
            return entries[-1]
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
        return Record(self.store, entry.iri)

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
        return Record(self.store, iri)

    def _begin(self) -> None:
        if next(self.store.quads(), None) is None:
            mark = ox.Quad(_ABOUT, TRAILS.softwareVersion, ox.Literal(VERSION), _ABOUT)
            self.store.inner.add(mark)
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


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LedgerError(
            f"{lock.parent}: the ledger cannot be opened for writing ({_reason(error)})."
        ) from error


def _take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LedgerError(
            f"{folder}: another process is writing to this ledger; "
            "wait for it, or give --ledger another folder."
        ) from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
