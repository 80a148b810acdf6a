"""The gate of a build: what --fail-on, --baseline and --tolerate ask of a result."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from kgreason.base.errors import RunError
from kgreason.cli import options as o
from kgreason.cli.errors import tell

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
    """What a result is held to; `before` is the result that it is compared with."""

    fail_on: o.FailOn | None
    name: str | None
    before: dict[str, Any] | None
    tolerate: str | None

    @classmethod
    def of(
        cls, fail_on: o.FailOn | None, baseline: str | None, tolerate: str | None, ledger: str
    ) -> Self:
        """Make it of the options, before any work is done; raises OptionError."""
        from kgreason import api  # noqa: PLC0415 - keeps --help quick

        api.check_gate(None if fail_on is None else fail_on.value, tolerate, baseline)
        before = None if baseline is None else api.told(baseline, ledger)
        return cls(fail_on, baseline, before, tolerate)

    def closes(self, result: Any) -> bool:
        """Say how a result differs from the one before, and why the build fails, if it does."""
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
