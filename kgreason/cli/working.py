"""The command that works for others: worker."""

from typing import Annotated

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command, tell


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(worker)


@command(
    "worker --queue .kgreason",
    "worker --queue nats://127.0.0.1:4222 --idle 60",
    "worker --queue postgresql://me@db.example.org/kgreason",
)
def worker(
    queue: Annotated[
        str,
        typer.Option(
            "--queue",
            metavar="URL",
            show_default=False,
            help="The queue: nats://…, postgresql://…, or the folder of the ledger.",
        ),
    ] = o.DEFAULT_LEDGER,
    idle: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            show_default="goes on until Ctrl-C",
            help="End once there was nothing to do for so long.",
        ),
    ] = None,
) -> None:
    """Look into symptoms for investigations that were begun with --queue, as steps come.

    The data have to be where the investigation read them. A worker writes no ledger: what it found
    goes back through the queue, sealed. One that is killed loses nothing; its step is done again.
    """
    from kgreason.base.errors import OptionError  # noqa: PLC0415 - keeps --help quick
    from kgreason.queue.opening_queue import opened_queue  # noqa: PLC0415 - as above
    from kgreason.queue.worker import work  # noqa: PLC0415 - as above

    if idle is not None and not idle > 0:
        raise OptionError("--idle must be more than 0.")
    with opened_queue(queue) as opened:
        tell(f"waiting for steps at {queue} (Ctrl-C ends it).")
        done = work(opened, tell, idle)
    tell(f"did {done} {'step' if done == 1 else 'steps'}.")
