"""The command that shows what an investigation did, step by step: show."""

from dataclasses import asdict

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import checked, deliver, json_text


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(show)


@command("show", "show I2 --ledger history/", "show --format json")
def show(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """Show the steps of an investigation: what was thought, done and seen, whatever the strategy.

    The same view serves all strategies. In JSON each step has the IRIs that it wrote.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    steps = api.steps(ledger, which, extend=extend or ())
    if chosen is o.ListFormat.JSON:
        deliver(json_text([asdict(one) for one in steps]), out)
        return
    rows = []
    before = 0
    for one in steps:
        place = f"{one.index:>3}" if one.index != before else "   "
        before = one.index
        failed = " (failed)" if one.status == "failed" else ""
        rows.append(f"{place}  {one.phase}: {one.action}{failed}")
        rows += [f"       {text}" for text in (one.thought, one.observation) if text]
    deliver("\n".join(rows), out)
