"""Trials noted in a file as they end, so that a long benchmark can be stopped and gone on with."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.inject.trials import Trial

FILE: Final = "trials.jsonl"
_NAMES: Final = ("graph", "fault", "group", "seed")


def read(folder: Path, trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return the results of those trials that are noted in a folder and did not fail.

    Raises OptionError where the file there is not what `taken` writes.
    """
    file = folder / FILE
    if not file.exists():
        return []
    wanted = {_key(trial.named) for trial in trials}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            result = json.loads(line)
            key = _key(result)
        except (ValueError, KeyError, TypeError) as error:
            raise OptionError(
                f"{file}, line {number}: no result of a trial; delete the file, or leave out "
                "--continue."
            ) from error
        if key in wanted and result["outcome"] != "failed":
            found[key] = result
    return list(found.values())


def missing(trials: Sequence[Trial], done: Sequence[Mapping[str, Any]]) -> list[Trial]:
    """Return the trials that have no result yet."""
    known = {_key(result) for result in done}
    return [trial for trial in trials if _key(trial.named) not in known]


def taken(
    folder: Path, results: Iterable[dict[str, Any]], *, anew: bool
) -> Iterator[dict[str, Any]]:
    """Note each result in a folder as it comes, and give it; `anew` begins an empty file."""
    with (folder / FILE).open("w" if anew else "a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
            file.flush()
            yield result


def _key(named: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(named[name] for name in _NAMES)
