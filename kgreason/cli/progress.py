"""What is going on, on stderr: a line that changes on a terminal, and notices everywhere."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kgreason.cli.errors import clean, tell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress, TaskID

    from kgreason.cli.live_view import LiveView


class Shown:
    """Shows progress while it is entered; call it as the API calls a progress function."""

    def __init__(self, view: "LiveView | None" = None) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._view = view
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = _bar()
            if self._view is None:
                self._bar.start()
            else:
                self._live = _live(self._bar.console)
                self._live.start()
                self._view.on_terminal, self._view.changed = True, self._draw
        return self

    def _draw(self) -> None:
        """Draw the live view, with the progress below it."""
        if self._live is not None and self._view is not None and self._bar is not None:
            from rich.console import Group  # noqa: PLC0415 - keeps --help quick

            self._live.update(Group(self._view.table(), self._bar), refresh=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        elif self._bar is not None:
            self._bar.stop()
        self._bar = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show what is done now; `total` 0 is not known."""
        if self._bar is None:
            return
        if self._task is None:
            self._task = self._bar.add_task(what, total=total or None)
        self._bar.update(self._task, description=what, completed=done, total=total or None)
        if self._live is None:
            self._bar.refresh()
        else:
            self._draw()

    def notice(self, text: str) -> None:
        """Write something on a line of its own."""
        if self._bar is None:
            tell(text)
        else:
            self._bar.console.print(clean(text), markup=False, highlight=False, soft_wrap=True)


def _live(console: "Console") -> "Live":
    from rich.live import Live  # noqa: PLC0415 - keeps --help quick

    return Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _bar() -> "Progress":
    from rich.console import Console  # noqa: PLC0415 - keeps --help quick
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        # No thread that draws by itself: queries of users run in forked processes, and a process
        # with threads should not fork.
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
