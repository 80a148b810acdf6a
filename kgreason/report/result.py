"""The result of an investigation: what was found, in each form that it can be had in."""

import json
from html import escape
from typing import TYPE_CHECKING, Any

from kgreason.base.errors import OptionError
from kgreason.base.extensions import using
from kgreason.base.store import Results
from kgreason.report import frames
from kgreason.report.entries import ReportedCause
from kgreason.report.found import Found
from kgreason.report.narrator import TEMPLATES, Narrator
from kgreason.report.questions import ask
from kgreason.report.tables import SYMPTOMS, rows_of

if TYPE_CHECKING:
    from kgreason.report.screen import Pictures


class Result(Found):
    """What an investigation found, with its report, its tables and its exports.

    `ledger` is where the record is; close it (or use the result as a context manager) when done.
    """

    def rows(self, of: str = SYMPTOMS) -> list[dict[str, Any]]:
        """Return a plain dict a row of the symptoms, causes, nodes or evidence.

        `nodes` are those of all causes, with a row for each of their values. Raises OptionError
        for another name.
        """
        return rows_of(self, of)

    def to_pandas(self, of: str = SYMPTOMS) -> Any:
        """Return such rows as a pandas.DataFrame; raises OptionError without pandas."""
        return frames.to_pandas(self.rows(of))

    def to_polars(self, of: str = SYMPTOMS) -> Any:
        """Return such rows as a polars.DataFrame; raises OptionError without polars."""
        return frames.to_polars(self.rows(of))

    def to_arrow(self, of: str = SYMPTOMS) -> Any:
        """Return such rows as a pyarrow.Table; raises OptionError without pyarrow."""
        return frames.to_arrow(self.rows(of))

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
