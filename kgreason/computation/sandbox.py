"""A sandbox for Python code of unknown authors.

The code runs in Monty (https://github.com/pydantic/monty), an interpreter of a part of Python in a
process of its own. It has no files, sockets, environment, processes or modules of the host: they do
not exist there, and nothing is handed in but values. Time, memory and output are limited.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, Literal

from kgreason.base.errors import OptionError, RunError
from kgreason.base.figures import figure, integer

_CHARACTERS: Final = integer("codeCharacters")
_SECONDS: Final = figure("codeSeconds")
_GRACE: Final = 2.0
_RECURSION: Final = 200


class SandboxError(RunError):
    """The code raised an exception, was stopped at a limit, or gave what is no plain value."""


class _Flood(Exception):  # noqa: N818 - what happened
    """The code printed more than it may."""


@dataclass(frozen=True)
class Computed:
    """What code gave: the value of its last expression as JSON, and what it printed."""

    value: str
    printed: str


def at_hand() -> bool:
    """Check whether the sandbox is installed."""
    return find_spec("pydantic_monty") is not None


def run_code(code: str, inputs: Mapping[str, Any]) -> Computed:
    """Run code with some values as its global names, and return what it gives.

    Raises SandboxError, and OptionError where the extra is not installed.
    """
    try:
        import pydantic_monty as monty  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise OptionError("Code needs an extra: pip install 'kgreason[sandbox]'.") from error
    printed: list[str] = []
    left = [_CHARACTERS]

    def collect(_stream: Literal["stdout", "stderr"], text: str) -> None:
        left[0] -= len(text)
        if left[0] < 0:
            raise _Flood
        printed.append(text)

    limits: monty.ResourceLimits = {
        "max_feed_duration_secs": _SECONDS,
        "max_turn_duration_secs": _SECONDS,
        "max_memory": integer("codeBytes"),
        "max_recursion_depth": _RECURSION,
        "max_total_sleep_secs": 0.0,
    }
    try:
        with (
            monty.Monty(max_processes=1, request_timeout=_SECONDS + _GRACE) as pool,
            pool.checkout(limits=limits) as session,
        ):
            found = session.feed_run(code, inputs=dict(inputs), print_callback=collect)
    except (monty.MontyError, _Flood) as error:
        why = f"The code was stopped: {_first(error)}" if left[0] >= 0 else _much("printed")
        raise SandboxError(why) from error
    if left[0] < 0:
        raise SandboxError(_much("printed"))
    return Computed(_plain(found), "".join(printed))


def _plain(found: object) -> str:
    """Return a value as JSON; raises SandboxError for one that is too long, or no plain value."""
    try:
        text = json.dumps(found, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SandboxError(
            f"The code gives a {type(found).__name__}; it may give texts, finite numbers, truth "
            "values, None, and lists and dicts of them."
        ) from error
    if len(text) > _CHARACTERS:
        raise SandboxError(_much("gave"))
    return text


def _much(did: str) -> str:
    return f"The code {did} more than {_CHARACTERS} characters."


def _first(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[-1][:200]
