"""Write results: to stdout, or to a file all at once."""

import csv
import fcntl
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from kgreason.base.errors import OptionError, RunError
from kgreason.base.files import replace_file
from kgreason.cli.ending import let_go, unwritten
from kgreason.cli.errors import clean, tell

F = TypeVar("F")
_CELL: Final = 200
_WIDE: Final = 10_000
_GAP: Final = 3
"""Columns between two cells of a table."""
_STDOUT: Final = "-"


def check_out(out: str | None) -> None:
    """Refuse a file that could not be written, before any work is done for it."""
    if out is None or out == _STDOUT:
        _check_stdout()
        return
    path = Path(out)
    if path.is_dir():
        raise OptionError(f"{out}: this is a folder; give --out a file.")
    if not path.absolute().parent.is_dir():
        raise OptionError(f"{out}: there is no folder {path.parent}; make it first.")
    if not os.access(path.absolute().parent, os.W_OK) or (
        path.exists() and not os.access(path, os.W_OK)
    ):
        raise OptionError(f"{out}: no permission to write this file.")


def checked(out: str | None, format_: F | None, endings: Mapping[str, F]) -> F:
    """Return the format that was asked for, else the one of the ending of the file.

    `endings` maps known endings to formats, first that of stdout and of a file without an ending.
    Raises OptionError for an ending that is not known, and as `check_out`.
    """
    check_out(out)
    if format_ is not None:
        return format_
    ending = "" if out is None or out == _STDOUT else Path(out).suffix.lower()
    if not ending:
        return next(iter(endings.values()))
    if ending[1:] not in endings:
        known = ", ".join(f".{name}" for name in endings)
        raise OptionError(f"{out}: the ending {ending} is not known; use one of {known}.")
    return endings[ending[1:]]


def _check_stdout() -> None:
    try:
        writable = fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, AttributeError, ValueError):
        return  # no file at all; what writes to it will tell
    if not writable:
        raise RunError("The result cannot be written (stdout is closed); give --out FILE.")


def deliver(text: str, out: str | None = None) -> None:
    """Write a result to stdout, or to a file and say so; raises RunError if that fails.

    A file is there as a whole or not at all. A reader that closes stdout early is no error.
    """
    if not text.endswith("\n"):
        text += "\n"
    if out is None or out == _STDOUT:
        _to_stdout(text)
        return
    data = text.encode("utf-8", "backslashreplace")
    path = Path(os.path.realpath(out))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe
        else:
            replace_file(path, data)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error.strerror or error}).") from error
    tell_written(out)


def on_terminal(out: str | None) -> bool:
    """Check whether what is delivered is read on a terminal."""
    return (out is None or out == _STDOUT) and sys.stdout.isatty()


def tell_written(out: str) -> None:
    """Write to stderr what is there now, and how much it is."""
    path = Path(out)
    if path.is_file():
        tell(f"Written: {out} ({_size(path.stat().st_size)}).")
    elif path.is_dir():
        number = sum(1 for inner in path.rglob("*") if inner.is_file())
        tell(f"Written: {out} (a folder of {number} file{'' if number == 1 else 's'}).")


def _size(number: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= factor:
            return f"{number / factor:.0f} {unit}"
    return f"{number} bytes"


def _to_stdout(text: str) -> None:
    if sys.stdout.isatty():
        text = "".join(f"{clean(line)}\n" for line in text.split("\n")[:-1])
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        let_go(sys.stdout.fileno())
        raise RunError(unwritten(error)) from error


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()
) -> str:
    """Return rows as a table for people; `numbers` are the heads of columns to align right."""
    from rich import box  # noqa: PLC0415 - keeps --help quick
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from kgreason.report.questions import in_lines, longest_words  # noqa: PLC0415

    cells = [[_cell(value) for value in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE
    longest = longest_words(heads, cells)
    if sum(longest) + _GAP * (len(longest) - 1) > width:
        return in_lines(heads, cells, width)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    right = set(numbers)
    for head, least in zip(heads, longest, strict=True):
        side: Literal["left", "right"] = "right" if head in right else "left"
        made.add_column(head, justify=side, overflow="fold", min_width=least)
    for row in cells:
        made.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(made)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _cell(text: str) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV (RFC 4180)."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return file.getvalue()


def json_text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return a value as JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
