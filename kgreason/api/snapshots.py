"""What some ledgers held at one moment, kept in memory to be asked many times."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.api.ledgers import ListedInvestigation, OpenLedger
from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.extensions import Extension, read_all, using
from kgreason.base.locks import Lock
from kgreason.base.store import Answer, Store, check_query, guarded
from kgreason.base.templates import Template, check_extensions
from kgreason.base.terms import PREFIXES
from kgreason.record import Ledger, Record, extended
from kgreason.report import questions
from kgreason.report.document import Block, explored, part, section
from kgreason.report.result import Result
from kgreason.report.summary import Answer as ShortAnswer
from kgreason.report.summary import answer as short_answer
from kgreason.review.events import events
from kgreason.review.messages import chunks

USUAL: Final[Mapping[str, str]] = {p: iri for p, iri in PREFIXES.items() if p != "work"}
"""The prefixes that a query need not declare."""
_QUERY: Final = "/sparql"
_OURS: Final = ("kgreason.", "LOCK", "LOG", ".gitignore")
"""What begins the names of files that say nothing of what a ledger holds."""
_PATIENCE: Final = 2.0
_LONG: Final = 60.0
_REST: Final = 3.0
"""A snapshot is not taken again before this many times as long as it took has gone by."""


@dataclass(frozen=True)
class HeldInvestigation:
    """An investigation of a snapshot, and the folder of the ledger that it is in."""

    folder: Path
    listed: ListedInvestigation

    @property
    def name(self) -> str:
        """What people call it, such as I1."""
        return f"I{self.listed.number}"

    @property
    def nonce(self) -> str:
        """The last part of its IRI, which is the same in every ledger."""
        return self.listed.id.rpartition(":")[2]


class Snapshot:
    """Several ledgers as they were at one moment, in one dataset in memory.

    Its named graphs are those of the ledgers: one for each investigation, and `urn:kgreason:ledger`
    with their numbers. Nothing of it changes; several threads may ask it at once.
    """

    def __init__(self, folders: Sequence[Path], extend: Sequence[Extension] = ()) -> None:
        self._extend = tuple(extend)
        self._inner = ox.Store()
        self._told: dict[str, dict[str, Any]] = {}
        self._short: dict[str, ShortAnswer] = {}
        held: dict[str, HeldInvestigation] = {}
        for folder in folders:
            with Ledger.read(folder) as reader:
                self._inner.bulk_extend(reader.store.inner)
                for one in reader.entries():
                    told = ListedInvestigation(
                        one.iri.value, one.number, one.finished, one.state, one.begun, one.question
                    )
                    held.setdefault(told.id, HeldInvestigation(folder, told))
        self._held = held

    @property
    def investigations(self) -> tuple[HeldInvestigation, ...]:
        """The investigations, ledger by ledger, by number."""
        return tuple(self._held.values())

    def investigation(self, nonce: str) -> HeldInvestigation:
        """Return an investigation by the last part of its IRI; raises LedgerError for none."""
        for one in self._held.values():
            if one.nonce == nonce:
                return one
        raise LedgerError(f"There is no investigation {nonce} in the ledgers that are served.")

    @contextmanager
    def _opened(self, iri: str) -> Iterator[Record]:
        """Open a record with its extensions at hand."""
        record = Record(self._store(), ox.NamedNode(iri))
        with using(extended.reading(record, self._extend)):
            check_extensions()
            yield record

    def _store(self) -> Store:
        return Store(self._inner, "the ledgers")

    @contextmanager
    def result(self, iri: str) -> Iterator[Result]:
        """Open the result of an investigation."""
        with self._opened(iri) as record, Result(Ledger(record.store), record) as result:
            yield result

    def told(self, iri: str) -> dict[str, Any]:
        """Return the result of an investigation as in docs/result.schema.json."""
        if iri not in self._told:
            with self.result(iri) as result:
                self._told[iri] = result.as_dict()
        return self._told[iri]

    def short_answer(self, iri: str) -> ShortAnswer:
        """Return the short answer of an investigation, with its pictures."""
        if iri not in self._short:
            with self._opened(iri) as record:
                self._short[iri] = short_answer(record)
        return self._short[iri]

    def explored(self, iri: str, page: str, **about: str) -> Block:
        """Return a page of the explorer: the sections of `queries/explore/` that name it.

        `about` are IRIs that the sections ask for, such as hypothesis=….
        """
        with self._opened(iri) as record:
            return explored(record, page, {k: ox.NamedNode(v) for k, v in about.items()})

    def part(self, iri: str, symptom: str, hypothesis: str | None = None) -> Block:
        """Return what the report says, or would say, of a symptom or one of its hypotheses."""
        with self._opened(iri) as record:
            return part(record, symptom, hypothesis)

    def section(self, iri: str, name: str) -> Block:
        """Return one section of the report of an investigation."""
        with self._opened(iri) as record:
            return section(record, name)

    def events(self, iri: str) -> list[dict[str, Any]]:
        """Return what happened in an investigation, in order, as `--events` writes it."""
        with self._opened(iri) as record:
            return list(events(record))

    def chunks(self, iri: str) -> list[dict[str, Any]]:
        """Return what an investigation said, in order, as `ask --stream jsonl` writes it."""
        with self._opened(iri) as record:
            return [one.as_dict() for one in chunks(record)]

    def questions(self, iri: str) -> list[tuple[Template, str]]:
        """Return the stored questions about an investigation, each with its SPARQL text."""
        with self._opened(iri) as record:
            return [(one, questions.text(record, one)) for one in questions.questions()]

    def query(
        self,
        text: str,
        *,
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
        seconds: float = 60.0,
        most: int | None = None,
    ) -> Answer:
        """Ask any read-only SPARQL of all ledgers, in a process of its own.

        With `default_graphs` or `named_graphs` (IRIs) it is asked over these alone, whatever its
        FROM says; without FROM over the merge of all graphs. Raises QueryError, ServiceError,
        OptionError for a graph without an absolute IRI, TimeoutExceeded after `seconds`, and
        RowsExceeded for an answer of more than `most` rows or triples.
        """
        default = None if default_graphs is None else _graphs(default_graphs)
        named = None if named_graphs is None else _graphs(named_graphs)

        def ask() -> Answer:
            # Checked here too: the parser may take long, and works out what needs no data.
            check_query(text, _QUERY, prefixes=USUAL)
            return self._store().answer_over(text, default, named, USUAL, most)

        return guarded(ask, seconds, _QUERY, "make it narrower")


def _graphs(iris: Sequence[str]) -> list[ox.NamedNode]:
    found = []
    for iri in iris:
        try:
            found.append(ox.NamedNode(iri))
        except ValueError as error:
            raise OptionError(f"{iri}: this is no absolute IRI, and names no graph.") from error
    return found


class Snapshots:
    """The latest snapshot of some ledgers, taken anew when a folder has changed.

    Raises LedgerError where a folder holds no ledger.
    """

    def __init__(self, folders: Sequence[str | Path], *, extend: Sequence[str] = ()) -> None:
        self.folders = tuple(dict.fromkeys(Path(one) for one in folders))
        for folder in self.folders:
            OpenLedger(folder)
        self._extend = read_all(tuple(extend))
        self._lock = Lock()
        self._taking: threading.Thread | None = None
        self._rest_until = 0.0
        self._seen = self._signature()
        self._latest = Snapshot(self.folders, self._extend)

    def now(self, patience: float = _PATIENCE) -> Snapshot:
        """Return what the ledgers hold now, or what they held where that takes too long.

        A process that writes to one gives a copy after its next step only; after `patience`
        seconds the snapshot of before is returned, and the next one who asks gets the new one.
        """
        with self._lock:
            taking = self._taking
            if taking is None or not taking.is_alive():
                rested = time.monotonic() >= self._rest_until
                if not rested or self._signature() == self._seen:
                    return self._latest
                taking = self._taking = threading.Thread(target=self._take, daemon=True)
                taking.start()
        taking.join(patience)
        return self._latest

    def anew(self) -> Snapshot:
        """Return what the ledgers hold now, however long that takes."""
        with self._lock:
            self._rest_until = 0.0
        self.now(_LONG)
        return self.now(_LONG)

    def _take(self) -> None:
        seen, begun = self._signature(), time.monotonic()
        try:
            latest = Snapshot(self.folders, self._extend)
        except LedgerError:
            return  # another process writes, and gave no copy; what was held before is shown on
        self._latest, self._seen = latest, seen
        took = time.monotonic() - begun
        self._rest_until = time.monotonic() + _REST * took

    def _signature(self) -> tuple[tuple[str, int, int], ...]:
        """Return what tells that a folder was written to: its files, their sizes and times."""
        found = []
        for folder in self.folders:
            try:
                files = list(folder.iterdir())
            except OSError:
                continue  # the ledger is gone; what was held is shown on
            for one in files:
                if one.name.startswith(_OURS):
                    continue
                with suppress(FileNotFoundError):
                    about = one.stat()
                    found.append((str(one), about.st_size, about.st_mtime_ns))
        return tuple(sorted(found))
