"""The result of an investigation: a view of its record."""

import json
import re
from html import escape
from typing import TYPE_CHECKING, Any, Self

from kgreason.base.errors import OptionError
from kgreason.base.extensions import active, using
from kgreason.base.store import Results
from kgreason.base.templates import template
from kgreason.record import Ledger, Record
from kgreason.report import frames
from kgreason.report.entries import ReportedCause, ReportedHypothesis, ReportedSymptom
from kgreason.report.focus_nodes import AtHand, FocusNodes, focus_nodes
from kgreason.report.narrator import TEMPLATES, Narrator
from kgreason.report.questions import ask, find

if TYPE_CHECKING:
    from kgreason.report.screen import Pictures


class Result:
    """What an investigation found, read from its record alone.

    `ledger` is where the record is; close it (or use the result as a context manager) when done.
    """

    def __init__(self, ledger: Ledger, record: Record, at_hand: AtHand | None = None) -> None:
        self.ledger = ledger
        self.record = record
        self._at_hand = at_hand
        self._closed = False
        self._extensions = active()

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

    @property
    def headline(self) -> str:
        """The answer in one or two sentences, as it begins the report."""
        naming = template("record", "symptom-name").fragment()
        asked = template("report", "question")
        text = asked.render(investigation=self.record.iri, naming=naming)
        (row,) = self.record.store.select(text)
        return row["sentence"].value.strip()

    @property
    def symptoms(self) -> tuple[ReportedSymptom, ...]:
        """The constraints (or the outcome) that somebody fails, each with its hypotheses."""
        return tuple(map(ReportedSymptom.of, self.as_dict()["symptoms"]))

    @property
    def causes(self) -> tuple[ReportedCause, ...]:
        """Each supported cause once, with all the symptoms it is behind."""
        return tuple(map(ReportedCause.of, self.as_dict()["causes"]))

    def nodes(self, cause: ReportedCause | ReportedHypothesis) -> FocusNodes:
        """Return the focus nodes in the region of a cause, whether each fails, and its values.

        A result of `investigate` or `resume` looks them all up in the data it has read. One that
        was read from a ledger knows only those that its evidence cites; `complete` and `source` of
        the answer say which it is.
        """
        with using(self._extensions):
            return focus_nodes(cause, self.symptoms, self.record, self._at_hand)

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
            iri = find(self.record, wanted).value
            (found,) = (h for s in self.symptoms for h in s.hypotheses if h.id == iri)
            return found
        causes = {one.id: one for one in self.causes}
        known = f"it has {', '.join(causes)}" if causes else "none was found"
        if f"C{int(wanted[1:])}" not in causes:
            raise OptionError(f"There is no cause {wanted} in {self.record.iri.value}; {known}.")
        return causes[f"C{int(wanted[1:])}"]

    def rows(self, of: str = frames.SYMPTOMS) -> list[dict[str, Any]]:
        """Return a plain dict a row of the symptoms, causes, nodes or evidence.

        `nodes` are those of all causes, with a row for each of their values. Raises OptionError
        for another name.
        """
        return frames.rows_of(self, of)

    def to_pandas(self, of: str = frames.SYMPTOMS) -> Any:
        """Return such rows as a pandas.DataFrame; raises OptionError without pandas."""
        return frames.to_pandas(self.rows(of))

    def to_polars(self, of: str = frames.SYMPTOMS) -> Any:
        """Return such rows as a polars.DataFrame; raises OptionError without polars."""
        return frames.to_polars(self.rows(of))

    def to_arrow(self, of: str = frames.SYMPTOMS) -> Any:
        """Return such rows as a pyarrow.Table; raises OptionError without pyarrow."""
        return frames.to_arrow(self.rows(of))

    def as_dict(self) -> dict[str, Any]:
        """Return the result as in docs/result.schema.json."""
        from kgreason.report.as_json import as_dict  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return as_dict(self.record)

    def json(self) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def summary(
        self, *, ledger: str | None = None, everything: bool = False, width: int | None = None
    ) -> str:
        """Return the short answer as plain text: for each cause why, how sure, what to do next.

        Three causes are told unless `everything` is asked for; lines are wrapped to `width`. The
        commands in it name the `ledger`, where one is given.
        """
        from kgreason.report import summary  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            told = summary.answer(self.record)
            return summary.text(told, ledger=ledger, everything=everything, width=width)

    def markdown(self, narrator: Narrator = TEMPLATES) -> str:
        """Return the report as Markdown; a `narrator` may add passages, marked as its own."""
        from kgreason.report.markdown import render  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return render(self.record, narrator)

    def html(self, narrator: Narrator = TEMPLATES, *, ledger: str | None = None) -> str:
        """Return the report as one HTML page that needs nothing else; `narrator` as above.

        The commands on it name the `ledger`, where one is given.
        """
        from kgreason.report.html import render  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return render(self.record, narrator, ledger)

    def turtle(self) -> str:
        """Return the record as Turtle."""
        from kgreason.report.turtle import render  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return render(self.record)

    def formatted(self, name: str) -> str:
        """Return the result for other tools: sarif, junit, github, csv, shacl, earl or dqv.

        With the data at hand all failing nodes are in it, else those that the record cites. Raises
        OptionError for another name.
        """
        from kgreason.report.formats import formatted  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return formatted(self, name)

    def job_summary(self) -> str:
        """Return the causes as a job summary for GitHub Actions, in Markdown."""
        from kgreason.report.formats import job_summary  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            return job_summary(self)

    def ask(self, question: str, hypothesis: str | None = None) -> Results:
        """Ask a stored question about how the result came about; `kgreason history` lists them."""
        with using(self._extensions):
            return ask(self.record, question, hypothesis=hypothesis)

    def __repr__(self) -> str:
        iri = self.record.iri.value
        return f"<Result {iri}: {'closed' if self._closed else self.headline}>"

    def _repr_html_(self) -> str:
        """Return the first screen of the report for a notebook, in a frame of its own."""
        if self._closed:
            return f"<p>{escape(repr(self))}</p>"
        from kgreason.report import screen, summary  # noqa: PLC0415 - only when asked for

        with using(self._extensions):
            told = summary.answer(self.record)
            page = screen.first_screen(told, "kgreason")
            return screen.framed(page, "What kgreason found")

    def plot(self, cause: ReportedCause | str) -> "Pictures":
        """Return the pictures of a cause (or of its name, such as C1) as SVG, as the page has them.

        A notebook shows them; `svgs` are documents for files. Raises OptionError for a name that
        there is not.
        """
        from kgreason.report import screen, summary  # noqa: PLC0415 - only when asked for

        name = cause if isinstance(cause, str) else cause.id
        with using(self._extensions):
            told = {one.cause.name: one for one in summary.answer(self.record).causes}
            if name not in told:
                known = ", ".join(told) or "none"
                raise OptionError(f"There are no pictures of {name}; there are those of: {known}.")
            return screen.pictures(told[name])
