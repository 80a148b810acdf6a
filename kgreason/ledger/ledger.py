"""Open, lock and list a ledger folder; one named graph in it for each investigation."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import pyoxigraph as ox

from kgreason.errors import LedgerError
from kgreason.ledger.record import Record
from kgreason.store import Store
from kgreason.templates import template
from kgreason.terms import TRAILS

VERSION: Final = "1"
_ABOUT: Final = ox.NamedNode("urn:kgreason:ledger")
_LOCK: Final = "kgreason.lock"


@dataclass(frozen=True)
class Entry:
    """An investigation in the ledger: IRI, number, and whether it was finished."""

    iri: ox.NamedNode
    number: int
    finished: bool


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
    def write(cls, folder: Path) -> Self:
        """Open for writing, and make the folder if it is missing.

        Raises LedgerError if it is in use, cannot be written or is of another version.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            strangers = [p.name for p in folder.iterdir() if p.name != _LOCK]
            if strangers and not (folder / "CURRENT").is_file():
                raise LedgerError(
                    f"{folder}: this folder holds other files ({strangers[0]}, …); "
                    "give --ledger an empty or new folder."
                )
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            _take(lock, folder)
            inner = ox.Store(str(folder))
        except OSError as error:
            raise LedgerError(
                f"{folder}: the ledger cannot be opened for writing ({error.strerror or error})."
            ) from error
        ledger = cls(Store(inner, f"the ledger {folder}"), lock)
        ledger._begin()
        return ledger

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
        except OSError as error:
            raise LedgerError(f"{folder}: the ledger cannot be opened ({error}).") from error
        ledger = cls(Store(inner, f"the ledger {folder}"))
        ledger._check_version()
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to disk, and give the folder back; the ledger is of no use after."""
        if self._lock is not None:
            self.store.inner.flush()
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
            )
            for row in rows
        ]

    def entry(self, which: str | None = None) -> Entry:
        """Find an investigation by IRI or number, the latest when left out.

        Raises LedgerError if there is none.
        """
        entries = self.entries()
        if not entries:
            raise LedgerError(f"There is no investigation in {self.store.where}.")
        if which is None:
            return entries[-1]
        for entry in entries:
            if which in {str(entry.number), entry.iri.value}:
                return entry
        raise LedgerError(
            f"There is no investigation {which} in {self.store.where}; "
            f"it has {', '.join(str(e.number) for e in entries)}."
        )

    def record(self, entry: Entry) -> Record:
        """Give the record of one investigation."""
        return Record(self.store, entry.iri)

    def new(self, fingerprint: str) -> Record:
        """Mint the next investigation; nothing is written before its first step."""
        number = max((entry.number for entry in self.entries()), default=0) + 1
        iri = ox.NamedNode(f"urn:kgreason:{fingerprint[:12]}:{number}")
        return Record(self.store, iri, number)

    def _begin(self) -> None:
        if len(self.store.inner) == 0:
            mark = ox.Quad(_ABOUT, TRAILS.softwareVersion, ox.Literal(VERSION), _ABOUT)
            self.store.inner.add(mark)
        self._check_version()

    def _check_version(self) -> None:
        found = [
            q.object.value
            for q in self.store.inner.quads_for_pattern(
                _ABOUT, TRAILS.softwareVersion, None, _ABOUT
            )
        ]
        if found != [VERSION]:
            version = found[0] if found else "none"
            raise LedgerError(
                f"{self.store.where} is of version {version}, this kgreason reads {VERSION}; "
                "use another --ledger folder."
            )


def _take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise LedgerError(
            f"{folder}: another process is writing to this ledger; "
            "wait for it, or give --ledger another folder."
        ) from error
