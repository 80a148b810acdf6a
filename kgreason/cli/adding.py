"""The command about a ledger as a whole: ledger."""

from typing import Annotated

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import checked, deliver, json_text, table


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(ledger)


@command(
    "ledger",
    "ledger --ledger history/ --format json",
    "ledger add ../colleague/.kgreason",
    "ledger add crate/record.nq --ledger history/",
)
def ledger(
    action: Annotated[
        str | None,
        typer.Argument(metavar="add", show_default="the investigations are listed", help="Add."),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OTHER",
            show_default=False,
            help="What to add: folders of ledgers, or files with records (.nq, .trig, .ttl, .nt).",
        ),
    ] = None,
    folder: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """List the investigations of a ledger, or add those of other ledgers to it.

    What is added stays as it was recorded: it keeps its name and its seals, and gets a number of
    this ledger. What is here already is not added again; an investigation that went on since is
    continued. Where a record is not as it was sealed, nothing of that ledger is added.
    """
    from dataclasses import asdict  # noqa: PLC0415 - keeps --help quick

    from kgreason import api  # noqa: PLC0415

    chosen = checked(out, format_, o.LISTS)
    opened = api.OpenLedger(folder)
    if action is None:
        listed = [asdict(one) for one in opened.investigations]
        heads: tuple[str, ...] = ("number", "state", "begun", "question", "id")
    elif action != "add":
        raise OptionError(f"{action}: a ledger can be listed, or added to: `kgreason ledger add`.")
    elif not others:
        raise OptionError("What is to be added? Name the folder of a ledger, or a file of records.")
    else:
        listed = [asdict(one) for other in others for one in opened.add(other)]
        heads = ("number", "what", "id")
    if chosen is o.ListFormat.JSON:
        deliver(json_text(listed), out)
        return
    rows = [[_cell(name, one[name]) for name in heads] for one in listed]
    deliver(table(heads, rows), out)


def _cell(name: str, value: object) -> str:
    return f"I{value}" if name == "number" else str(value or "")
