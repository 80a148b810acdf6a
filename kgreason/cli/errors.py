"""How a command ends when something goes wrong: one sentence, the right code, no traceback."""

import functools
import inspect
import re
import resource
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn, ParamSpec

import typer

from kgreason.base.errors import InputError, KgreasonError, LedgerError, QueryError, RunError

INTERRUPTED: Final = 130
LEDGER: Final = ".kgreason"
# Control characters, line ends, halves of characters, and what turns the direction of writing.
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]"
)
_LINE_END: Final = re.compile(r"(?<!\n)\n(?!\n)")
"""The end of a line within a paragraph."""
_P = ParamSpec("_P")
_settings = {"traceback": False}


def show_tracebacks(*, on: bool) -> None:
    """Show where errors came from, or not."""
    _settings["traceback"] = on


def clean(text: str) -> str:
    """Return a text without what would steer a terminal; data may hold anything."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def memory_limit() -> int | None:
    """Return the bytes of memory that this process may have (`ulimit -v`), None without a limit."""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((one for one in limits if one != resource.RLIM_INFINITY), default=None)


def no_memory() -> str:
    """Explain that the memory is not enough, and of which limit, where there is one."""
    most = memory_limit()
    under = "" if most is None else f" under the limit of {most >> 20} MB that `ulimit` tells"
    more = "allow more memory" if most is None else "raise it"
    return f"there is not enough memory for this input{under}; {more}, or give less data."


def tell(text: str) -> None:
    """Write one thing to stderr."""
    try:
        sys.stderr.write(f"kgreason: {clean(' '.join(text.split()))}\n")
        sys.stderr.flush()
    except OSError:
        pass  # there is nobody left to tell


def sentence(error: BaseException) -> str:
    """Return an error as one line; a query that follows on further lines is for --debug."""
    lines = str(error).split("\n") if str(error).strip() else [type(error).__name__]
    whole = isinstance(error, InputError) and not isinstance(error, QueryError)
    return " ".join((" ".join(lines) if whole else lines[0]).split())


def described(text: str, *examples: str) -> str:
    """Return the text of a help page, with examples that keep their lines."""
    lines = "\n".join(f"  kgreason {example}" for example in examples)
    told = _LINE_END.sub(" ", inspect.cleandoc(text))  # the terminal is as wide as it is
    return f"{told}\n\n\b\nExamples:\n{lines}\n"


def command(*examples: str) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Make a function a command: with examples in its help, and an orderly end."""

    def decorate(function: Callable[_P, None]) -> Callable[_P, None]:
        made = _orderly(function)
        made.__doc__ = described(function.__doc__ or "", *examples)
        return made

    return decorate


def _orderly(function: Callable[_P, None]) -> Callable[_P, None]:
    """Make a command end in an orderly way, whatever it raises."""

    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                if not _settings["traceback"]:
                    warnings.simplefilter("ignore")  # of libraries; ours are notices
                function(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except KgreasonError as error:
            _end(error, sentence(error), error.exit_code)
        except KeyboardInterrupt as error:
            _end(error, "stopped.", INTERRUPTED)
        except RecursionError as error:
            _end(error, "the input is nested too deeply to be read.", 2)
        except MemoryError as error:
            _end(error, no_memory(), 1)
        except Exception as error:  # noqa: BLE001 - the last resort, told as such
            _end(
                error,
                f"unexpected {type(error).__name__}: {sentence(error)} (this is a fault of "
                "kgreason; please report it with the output of --debug).",
                1,
            )

    return run


def _end(error: BaseException, text: str, code: int) -> NoReturn:
    if _settings["traceback"]:
        traceback.print_exception(error, file=sys.stderr)
    tell(text)
    raise typer.Exit(code) from error


@contextmanager
def resumable(ledger: str, which: str | None = None, *, new: bool) -> Iterator[None]:
    """Describe how to go on where a run was interrupted, or failed, with something recorded.

    `new` says that the run begins an investigation; else it goes on with `which`.
    """
    before = _latest(ledger) if new else None
    try:
        yield
    except (KeyboardInterrupt, RunError, MemoryError) as error:
        stopped = isinstance(error, KeyboardInterrupt)
        number = _latest(ledger) if new else None
        said = no_memory() if isinstance(error, MemoryError) else sentence(error)
        why, code = ("stopped", INTERRUPTED) if stopped else (said, RunError.exit_code)
        if new and number == before:
            if stopped:
                _end(error, "stopped before anything was recorded.", code)
            raise
        words = ["kgreason", "resume", *([which] if which else [f"I{number}"] if number else [])]
        words += [] if ledger == LEDGER else ["--ledger", ledger]
        _end(error, f"{why.rstrip('.')}; go on with `{shlex.join(words)}`.", code)


def _latest(ledger: str) -> int:
    """Return the number of the latest investigation, 0 if there is none."""
    from kgreason.record import Ledger  # noqa: PLC0415 - keeps --help quick

    try:
        with Ledger.read(Path(ledger)) as reader:
            return max((entry.number for entry in reader.entries()), default=0)
    except LedgerError:
        return 0
