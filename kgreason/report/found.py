"""What an investigation found: its symptoms, causes and nodes, read from its record."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from kgreason.base.errors import OptionError
from kgreason.base.extensions import active, using
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record, number_of
from kgreason.record.divided import told_whole
from kgreason.report.entries import ReportedCause, ReportedHypothesis, ReportedSymptom
from kgreason.report.focus_nodes import AtHand, FocusNodes, focus_nodes
from kgreason.report.questions import find


@dataclass(frozen=True)
class _Entries:
    """What was told when the steps at the end of each investigation were these."""

    heads: frozenset[Any]
    symptoms: tuple[ReportedSymptom, ...]
    causes: tuple[ReportedCause, ...]


class Found:
    """What an investigation found, read from its record alone.

    `ledger` is where the record is; close it (or use the result as a context manager) when done.
    """

    def __init__(self, ledger: Ledger, record: Record, at_hand: AtHand | None = None) -> None:
        self.ledger = ledger
        self.record = record
        self._at_hand = at_hand
        self._closed = False
        self._extensions = active()
        self._entries: _Entries | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger and the data; a closed result cannot be asked any more."""
        self._closed = True
        self._at_hand = None
        self.ledger.close()

    @property
    def at_hand(self) -> AtHand | None:
        """The data of the investigation and what was seen of them, where they are at hand."""
        return self._at_hand

    @property
    def finished(self) -> bool:
        """Whether the investigation came to its end."""
        return self.ledger.entry(self.record.iri.value).finished

    @cached_property
    def told(self) -> Record:
        """The record that is told: of a divided question with all that its parts found."""
        return told_whole(self.record)

    @property
    def headline(self) -> str:
        """The answer in one or two sentences, as it begins the report."""
        naming = template("record", "symptom-name").fragment()
        asked = template("report", "question")
        text = asked.render(investigation=self.record.iri, naming=naming)
        (row,) = self.told.store.select(text)
        return row["sentence"].value.strip()

    @property
    def symptoms(self) -> tuple[ReportedSymptom, ...]:
        """The constraints (or the outcome) that somebody fails, each with its hypotheses."""
        return self._told_entries().symptoms

    @property
    def causes(self) -> tuple[ReportedCause, ...]:
        """Each supported cause once, with all the symptoms it is behind."""
        return self._told_entries().causes

    def _told_entries(self) -> "_Entries":
        """Return what is told; it is asked anew only when a step was added to the ledger."""
        moved = self.record.store.inner.quads_for_pattern(None, TRAILS.head, None, None)
        heads = frozenset(quad.object for quad in moved)
        if self._entries is None or self._entries.heads != heads:
            told = self.as_dict()
            symptoms = tuple(map(ReportedSymptom.of, told["symptoms"]))
            causes = tuple(map(ReportedCause.of, told["causes"]))
            self._entries = _Entries(heads, symptoms, causes)
        return self._entries

    def nodes(self, cause: ReportedCause | ReportedHypothesis | ReportedSymptom) -> FocusNodes:
        """Return the focus nodes in the region of a cause, whether each fails, and its values.

        Of a symptom they are those that fail.

        A result of `investigate` or `resume` looks them all up in the data it has read. One that
        was read from a ledger knows only those that its evidence cites; `complete` and `source` of
        the answer say which it is.
        """
        with using(self._extensions):
            return focus_nodes(cause, self.symptoms, self.told, self._at_hand)

    def symptom(self, name: str) -> ReportedSymptom:
        """Return a symptom by its name, such as S1; raises OptionError where there is none."""
        known = {f"S{one.id.rpartition(':')[2]}": one for one in self.symptoms}
        wanted = f"S{number_of(name, 'S')}"
        if wanted not in known:
            has = f"it has {', '.join(known)}" if known else "nobody fails"
            raise OptionError(f"There is no symptom {name} in {self.record.iri.value}; {has}.")
        return known[wanted]

    def cause(self, name: str) -> ReportedCause | ReportedHypothesis:
        """Return a cause by its name, such as C1, or a hypothesis by its name or IRI, such as H3.

        Raises OptionError where there is none of that name, or for a number alone.
        """
        wanted = name.strip()
        if wanted.isdecimal():
            raise OptionError(
                f"{wanted}: this could be a cause or a hypothesis; say C{wanted} or H{wanted}."
            )
        if not re.fullmatch(r"[Cc]\d+", wanted):
            iri = find(self.told, wanted).value
            (found,) = (h for s in self.symptoms for h in s.hypotheses if h.id == iri)
            return found
        causes = {one.id: one for one in self.causes}
        known = f"it has {', '.join(causes)}" if causes else "none was found"
        if f"C{int(wanted[1:])}" not in causes:
            raise OptionError(f"There is no cause {wanted} in {self.record.iri.value}; {known}.")
        return causes[f"C{int(wanted[1:])}"]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as in docs/result.schema.json."""
        from kgreason.report.as_json import as_dict  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return as_dict(self.record)

    def __repr__(self) -> str:
        iri = self.record.iri.value
        return f"<{type(self).__name__} {iri}: {'closed' if self._closed else self.headline}>"
