"""The command that mends: try a repair, show what it does, write it where the policy allows."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.output import check_out, deliver, json_text, table

if TYPE_CHECKING:
    from kgreason.repair.results import Mended, Tried


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(repair)


@command(
    "repair I2 --dry-run",
    "repair I2 data/ --out mended.rdfp",
    "repair I2 --hypothesis H5 --using rename-predicate --out mended.ru",
    "repair I2 --import-from register.ttl --out mended.nq",
)
def repair(
    which: Annotated[
        str,
        typer.Argument(
            metavar="INVESTIGATION",
            help="The investigation, such as I1, or its IRI.",
            show_default=False,
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]…", help="The data it was about.", show_default="as recorded"
        ),
    ] = None,
    hypothesis: Annotated[
        str | None,
        typer.Option(
            metavar="HYPOTHESIS",
            show_default="all that are supported",
            help="Only this one, such as H1, or its IRI.",
        ),
    ] = None,
    using: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="the first that can be made",
            help="The repair to try; see `kgreason queries repair`.",
        ),
    ] = None,
    import_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Bring what is missing from this source, as little of it as mends; repeatable.",
        ),
    ] = None,
    max_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            show_default="as recorded",
            help="The most that a packed file (.gz) of --import-from may unpack to, such as 4G.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only try and tell; write and record nothing.")
    ] = False,
    in_place: Annotated[
        bool,
        typer.Option("--in-place", help="Change the input files themselves; backups are kept."),
    ] = False,
    as_: o.As = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: Annotated[
        o.ListFormat, typer.Option("--format", "-f", metavar="table|json", help="How it is told.")
    ] = o.ListFormat.TABLE,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            show_default=False,
            help="Write an RDF Patch (.rdfp), a SPARQL UPDATE (.ru), or the mended data or shapes "
            "(.nq .nt .ttl .trig).",
        ),
    ] = None,
) -> None:
    """Repair what an investigation found: on a scratch copy first, then as a patch or mended data.

    Each repair is tried, validated again and put back; what it removes, leaves and causes is told,
    with what else would do. It is written where the policy allows that for the hypothesis, else
    the command ends with 1, and the refusal is recorded. The input stays as it is without
    --in-place.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.record import lettered  # noqa: PLC0415

    which = lettered(which, "I", "with --hypothesis")
    if dry_run and (out or in_place):
        raise OptionError("--dry-run writes nothing; leave out --out and --in-place.")
    check_out(None)  # what is done is always told
    check_out(out)
    most = None if max_bytes is None else o.size(max_bytes)
    done = api.OpenLedger(ledger, extend=extend or ()).repair(
        which,
        data or (),
        hypothesis=hypothesis,
        using=using,
        out=out,
        in_place=in_place,
        dry_run=dry_run,
        import_from=import_from or (),
        max_bytes=most,
        principal=as_,
        notice=tell,
    )
    deliver(json_text(done.as_dict()) if format_ is o.ListFormat.JSON else _told(done))
    if done.refused:
        raise typer.Exit(1)


_HEADS = (
    "hypothesis",
    "repair",
    "changes",
    "before",
    "removed",
    "left",
    "new",
    "placebo",
    "outcome",
)


def _told(done: "Mended") -> str:
    if not done.tried:
        return "No hypothesis is supported, so there is nothing to repair.\n"
    rows = [_row(one) for one in done.tried]
    text = table(_HEADS, rows, numbers=_HEADS[2:7])
    for one in done.tried:
        text += f"\nH{one.number}. {one.statement}\n   {one.note}\n"
        for offer in one.offers:
            can = "" if offer.feasible else "; it cannot be made"
            text += (
                f"   - {offer.repair} ({offer.operation} {offer.region}): {offer.changes} triples "
                f"of the {offer.mends}{can}. {offer.why}\n"
            )
            if offer.caution:
                text += f"     {offer.caution}\n"
    for path in done.written:
        text += f"\nWritten: {path}"
    for path in done.backups:
        text += f"\nBackup: {path}"
    if done.after is not None:
        text += f"\nFailures of all constraints: {done.before} before, {done.after} after.\n"
    for why in done.refused:
        text += f"\n{why}\n"
    return text


def _row(one: "Tried") -> list[str]:
    if one.repair is None:
        return [f"H{one.number}", "-", "", "", "", "", "", "", one.outcome or "none can be made"]
    figures = one.figures
    claimed, holds = figures["claimed"], figures["holds"]
    return [
        f"H{one.number}",
        one.repair,
        str(figures["changes"]),
        str(claimed),
        str(holds),
        str(claimed - holds),
        str(figures["violationsCaused"]),
        f"{figures['placeboCleared']} of {figures['placeboTried']}",
        one.outcome,
    ]
