"""The gate of a build: what --fail-on, --baseline and --tolerate ask of a result."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self

import typer

from kgreason.base.errors import RunError, ShapesError
from kgreason.cli import options as o
from kgreason.cli.errors import tell

FailOnOption = Annotated[
    o.FailOn | None,
    typer.Option(
        "--fail-on",
        metavar="violation|cause|new-cause",
        rich_help_panel=o.GATE,
        show_default=False,
        help="End with exit code 1 if anything fails, if a cause was found (what only narrows the "
        "failures down is none, nor is what its proof leaves of low certainty), or if one was "
        "found that the --baseline does not tell; with 2 if no constraint has a node to look at, "
        "or an ontology seems to be missing.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE.json|I1|DIR",
        rich_help_panel=o.GATE,
        show_default=False,
        help="Compare with an earlier result: JSON of `--format json`, an investigation of the "
        "ledger, or another ledger.",
    ),
]
Tolerate = Annotated[
    str | None,
    typer.Option(
        "--tolerate",
        metavar="N|P%",
        rich_help_panel=o.GATE,
        show_default="nothing",
        help="With --fail-on: so many nodes may fail by one rule or cause, or such a share of "
        "those that were looked at.",
    ),
]
AllowEmpty = Annotated[
    bool,
    typer.Option(
        "--allow-empty",
        rich_help_panel=o.GATE,
        help="With --fail-on: data may lack all that the shapes are about.",
    ),
]
_SUMMARY: Final = "GITHUB_STEP_SUMMARY"


def add_summary(result: Any) -> None:
    """Add the causes to the job summary of GitHub Actions, where the command runs there."""
    file = os.environ.get(_SUMMARY)
    if not file:
        return
    try:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(result.job_summary())
    except OSError as error:
        why = error.strerror or error
        raise RunError(f"{file}: the job summary cannot be written ({why}).") from error


@dataclass(frozen=True)
class Gate:
    """What a result is held to; `before` is the result that it is compared with.

    `allow_empty` lets a result pass of which it is in doubt whether anything was checked.
    """

    fail_on: o.FailOn | None
    name: str | None
    before: dict[str, Any] | None
    tolerate: str | None
    allow_empty: bool = False

    @classmethod
    def of(
        cls,
        fail_on: o.FailOn | None,
        baseline: str | None,
        tolerate: str | None,
        ledger: str,
        *,
        allow_empty: bool = False,
    ) -> Self:
        """Make it of the options, before any work is done; raises OptionError."""
        from kgreason import api  # noqa: PLC0415 - keeps --help quick

        api.check_gate(None if fail_on is None else fail_on.value, tolerate, baseline)
        before = None if baseline is None else api.told(baseline, ledger)
        return cls(fail_on, baseline, before, tolerate, allow_empty)

    @property
    def asked(self) -> bool:
        """Whether anything was asked of the result."""
        return self.fail_on is not None or self.before is not None

    def refuse(self, result: Any) -> None:
        """Raise ShapesError where a gate is asked for and it is in doubt what was checked."""
        from kgreason import api  # noqa: PLC0415 - as above

        if self.fail_on is None or self.allow_empty:
            return
        doubts = api.gate_doubts(result)
        if doubts:
            raise ShapesError(f"{' '.join(doubts)} If that is as it should be, give --allow-empty.")

    def closes(self, result: Any) -> bool:
        """Return whether the build fails; stderr says why, and how the result differs."""
        from kgreason import api  # noqa: PLC0415 - as above

        compared = None
        if self.before is not None:
            compared = api.compare(self.before, result)
            for text in (compared.summary, *compared.said):
                tell(text)
        if self.fail_on is None:
            return False
        why = api.gate_failures(
            result, self.fail_on.value, compared=compared, tolerate=self.tolerate
        )
        for text in why:
            tell(text)
        return bool(why)
