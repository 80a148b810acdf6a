"""Compare investigations, and tell a build whether to fail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreason import run
from kgreason.api.asking import LEDGER, result
from kgreason.base.errors import InputError, OptionError
from kgreason.report.result import Result

if TYPE_CHECKING:
    from kgreason.review.comparison import Comparison

Compared = str | int | Path | Mapping[str, Any] | Result
"""An investigation of the ledger by number or IRI, a ledger folder (its latest investigation), a
file with a result as JSON, such a result as a dict, or a result itself."""
_CAUSE = ("id", "statement", "explains", "narrows", "hypotheses", "symptoms")
_SYMPTOM = ("id", "name", "shape", "failing", "hypotheses")
_HYPOTHESIS = ("id", "region")


def compare(
    before: Compared, after: Compared, *, ledger: str | Path = LEDGER, extend: str | Path = ""
) -> Comparison:
    """Compare two investigations: causes and symptoms new, gone, grown, shrunk or the same.

    Causes are matched by what they say, then by their nodes: for that the data of `after` are read
    again from where they were. Where that cannot be done the answer says so (`said`). `extend` is
    a folder of extensions. Raises OptionError or LedgerError for what is no investigation.
    """
    from kgreason.review import comparison  # noqa: PLC0415 - only when asked for

    own = (extend,) if extend else ()
    with (
        _opened(before, ledger, own, data=False) as (old, _, then),
        _opened(after, ledger, own, data=True) as (new, found, now),
    ):
        return comparison.compare(old, new, found, names=(then, now))


def told(given: Compared, ledger: str | Path = LEDGER) -> dict[str, Any]:
    """Return what `compare` takes as a dict, as in docs/result.schema.json."""
    with _opened(given, ledger, (), data=False) as (found, _, _name):
        return dict(found)


def gate_failures(
    found: Result | Mapping[str, Any],
    fail_on: str,
    *,
    baseline: Compared | None = None,
    compared: Comparison | None = None,
    tolerate: str | None = None,
    ledger: str | Path = LEDGER,
) -> list[str]:
    """Return why a build should fail, a sentence each; an empty list where it should not.

    `fail_on` is violation, cause or new-cause, which is one that the `baseline` does not tell (or
    that is new by a comparison with it, `compared`).
    `tolerate` is how many nodes may fail by one rule or cause: a count ("10") or a share ("1%").
    """
    from kgreason.review import gate  # noqa: PLC0415 - only when asked for

    at_least = gate.Tolerance.of(tolerate)
    if baseline is not None:
        compared = compare(baseline, found, ledger=ledger)
    entries = found.as_dict() if isinstance(found, Result) else found
    return gate.failures(entries, fail_on, compared, at_least)


def gate_doubts(found: Result | Mapping[str, Any]) -> list[str]:
    """Return the notices of a result that doubt whether anything was checked: a gate refuses it."""
    from kgreason.review import gate  # noqa: PLC0415 - only when asked for

    return gate.doubts(found.as_dict() if isinstance(found, Result) else found)


def check_gate(fail_on: str | None, tolerate: str | None, baseline: object) -> None:
    """Refuse a gate that could not be asked of any result; raises OptionError."""
    from kgreason.review import gate  # noqa: PLC0415 - only when asked for

    gate.check(fail_on, gate.Tolerance.of(tolerate), compared=baseline is not None)


@contextmanager
def _opened(
    given: Compared, ledger: str | Path, extend: tuple[str | Path, ...], *, data: bool
) -> Iterator[tuple[Mapping[str, Any], Result | None, str]]:
    """Open a result: as a dict, the result itself where there is one, and what to call it."""
    if isinstance(given, Result):
        yield given.as_dict(), given, given.record.iri.value
    elif isinstance(given, Mapping):
        yield given, None, str(given.get("investigation", "the one before"))
    elif Path(given if isinstance(given, Path) else str(given)).is_file():
        yield _of_file(Path(str(given))), None, str(given)
    else:
        folder, which = (given, None) if Path(str(given)).is_dir() else (ledger, str(given))
        if str(given).lower().endswith(".json"):
            raise OptionError(f"{given}: there is no such file.")
        with ExitStack() as stack:
            found = stack.enter_context(result(str(folder), which, extend=extend))
            if data:
                with suppress(InputError):  # the comparison says that the data are not at hand
                    found = stack.enter_context(run.with_data(Path(str(folder)), which))
            yield found.as_dict(), found, str(given)


def _of_file(path: Path) -> dict[str, Any]:
    """Read a result from a JSON file; raises OptionError for anything else."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"{path}: this cannot be read as JSON ({error}).") from error
    if not _is_result(found):
        raise OptionError(
            f"{path}: this is no result of kgreason; make one with "
            "`kgreason investigate … --format json --out FILE.json`."
        )
    return found


def _is_result(found: object) -> bool:
    """Check whether JSON has what a comparison reads, in this or a later version of the schema."""
    if not isinstance(found, dict) or "investigation" not in found:
        return False
    causes, symptoms = found.get("causes"), found.get("symptoms")
    if not _all_have(causes, _CAUSE) or not _all_have(symptoms, _SYMPTOM):
        return False
    counts = [one["explains"] for one in causes or ()] + [one["failing"] for one in symptoms or ()]
    return all(isinstance(number, int) for number in counts) and all(
        _all_have(one["hypotheses"], _HYPOTHESIS) for one in symptoms or ()
    )


def _all_have(entries: object, names: tuple[str, ...]) -> bool:
    return isinstance(entries, list) and all(
        isinstance(one, dict) and all(name in one for name in names) for one in entries
    )
