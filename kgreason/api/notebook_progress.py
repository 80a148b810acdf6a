"""A progress bar in a notebook, where an investigation runs in one and nobody gave another."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from kgreason.observe.opening import Progress


@contextmanager
def progressing(given: Progress | None) -> Iterator[Progress | None]:
    """Open what shows progress: what was given, else a bar in a notebook that goes in the end."""
    shell = _notebook() if given is None else None
    if shell is None:
        yield given
        return
    show = sys.modules["IPython"].display
    bar = show.display(show.HTML(_html("reading", 0, 0)), display_id=True)

    def shown(phase: str, done: int, total: int) -> None:
        bar.update(show.HTML(_html(phase, done, total)))

    try:
        yield shown
    finally:
        bar.update(show.HTML(""))


def _notebook() -> Any:
    """Return the shell of the notebook that this runs in, None in a terminal or a program."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if type(shell).__name__ == "ZMQInteractiveShell" else None


def _html(phase: str, done: int, total: int) -> str:
    figures = f'value="{done}" max="{total}"' if total else ""
    return f"<label>kgreason: {escape(phase)} <progress {figures}></progress></label>"
