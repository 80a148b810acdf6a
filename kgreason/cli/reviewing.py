"""The commands that look at a record again: reassess, explain, fragility, replay."""

from typing import Annotated, Any

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import check_out, deliver, json_text, table

Json = Annotated[
    o.ListFormat, typer.Option("--format", metavar="table|json", help="How it is written.")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for made in (reassess, explain, fragility, replay):
        app.command()(made)


@command("reassess", "reassess 2 --policy delta --policy net-weight --format json")
def reassess(
    which: o.Which = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE.ttl",
            show_default="all that come along",
            help="A policy to judge by; may be given several times.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Annotated[
        str, typer.Option("--format", metavar="md|json", help="How it is written.")
    ] = "md",
    out: o.Out = None,
) -> None:
    """Judge the recorded evidence by other policies, and show where they disagree.

    No test is run again, and the investigation stays as it is.
    """
    from kgreason.errors import OptionError  # noqa: PLC0415 - keeps --help quick
    from kgreason.review import reassess as review  # noqa: PLC0415

    check_out(out)
    if format_ not in {"md", "json"}:
        raise OptionError(f"--format {format_}: give md or json.")
    found = review.reassess(ledger, which, policy or ())
    deliver(json_text(found.as_dict()) if format_ == "json" else found.markdown(), out)


@command("explain 3", "explain urn:kgreason:21a74249bc05:1:hypothesis:3 --format json")
def explain(
    hypothesis: Annotated[
        str, typer.Argument(metavar="HYPOTHESIS", help="Its number in the investigation, or IRI.")
    ],
    investigation: Annotated[
        str | None,
        typer.Option(metavar="N|IRI", show_default="the latest", help="The investigation."),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Annotated[
        o.TableFormat,
        typer.Option("--format", metavar="table|csv|json", help="How it is written."),
    ] = o.TableFormat.TABLE,
    out: o.Out = None,
) -> None:
    """Tell why a hypothesis has its confidence: each update with its inputs, in order."""
    from kgreason.cli import answers  # noqa: PLC0415 - keeps --help quick
    from kgreason.review.explain import explain as review  # noqa: PLC0415

    check_out(out)
    deliver(answers.written(review(ledger, hypothesis, investigation), format_), out)


@command("fragility", "fragility 2 --format json")
def fragility(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: Json = o.ListFormat.TABLE,
    out: o.Out = None,
) -> None:
    """Find the least evidence on each symptom whose removal gives it other causes.

    Exact up to three items, an upper bound beyond.
    """
    from kgreason.review import fragility as review  # noqa: PLC0415 - keeps --help quick

    check_out(out)
    found = [one.as_dict() for one in review.fragility(ledger, which)]
    if format_ is o.ListFormat.JSON:
        deliver(json_text(found), out)
        return
    heads = ("symptom", "causes", "size", "exact", "evidence")
    deliver(table(heads, [[_cell(one[head]) for head in heads] for one in found]), out)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "at most"
    return " ".join(value) if isinstance(value, list) else str(value or "none")


@command("replay", "replay 2", "replay --against newer/")
def replay(
    which: o.Which = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", show_default=False, help="Newer data to compare with."),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    out: o.Out = None,
) -> None:
    """Run an investigation again, and end with 1 where another record comes out.

    With --against, run its recorded tests on newer data instead, count its symptoms and look up
    what it cites: what changed, and which conclusions are stale (then 1, too).
    """
    from kgreason.review import newer as later  # noqa: PLC0415 - keeps --help quick
    from kgreason.review import replay as review  # noqa: PLC0415

    check_out(out)
    if against:
        newer = later.against(ledger, against, which)
        deliver(json_text(newer.as_dict()), out)
        differs = bool(newer.stale)
    else:
        found = review.replay(ledger, which)
        first = [f"- {x}" for x in found.recorded[:5]] + [f"+ {x}" for x in found.replayed[:5]]
        same = f"The same record: {found.statements} statements."
        deliver(same if found.same else "\n".join(first), out)
        differs = not found.same
    if differs:
        raise typer.Exit(1)
