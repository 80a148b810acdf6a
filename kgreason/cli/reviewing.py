"""The commands that look at a record again: reassess, explain, fragility, correlation, replay."""

from typing import Annotated, Any

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import model_options as m
from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import checked, deliver, json_text, table
from kgreason.cli.progress import Shown

ToldAs = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="md|json",
        show_default="by the ending of --out, else md",
        help="How it is written.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for made in (reassess, explain, fragility, correlation, replay):
        app.command()(made)


@command("reassess", "reassess I2 --policy delta --policy net-weight --format json")
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
    extend: o.Extend = None,
    format_: ToldAs = None,
    out: o.Out = None,
) -> None:
    """Judge the recorded evidence by other policies, and show where they disagree.

    No test is run again, and the investigation stays as it is.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, {"md": "md", "txt": "md", "json": "json"})
    if chosen not in {"md", "json"}:
        raise OptionError(f"--format {format_}: give md or json.")
    found = api.OpenLedger(ledger, extend=extend or ()).reassess(which, policy or ())
    deliver(json_text(found.as_dict()) if chosen == "json" else found.markdown(), out)


@command("explain H3", "explain H3 --investigation I2 --format json")
def explain(
    hypothesis: Annotated[
        str,
        typer.Argument(metavar="HYPOTHESIS", help="The hypothesis, such as H1, or its IRI."),
    ],
    investigation: Annotated[
        str | None,
        typer.Option(
            metavar="INVESTIGATION",
            show_default="the latest",
            help="The investigation, such as I1, or its IRI.",
        ),
    ] = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.TableAs = None,
    out: o.Out = None,
) -> None:
    """Tell why a hypothesis has its confidence: each update with its inputs, in order."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick
    from kgreason.cli import answers  # noqa: PLC0415
    from kgreason.record import lettered  # noqa: PLC0415

    chosen = checked(out, format_, o.TABLES)
    hypothesis = lettered(hypothesis, "H", "with --investigation")
    rows = api.OpenLedger(ledger).explain(hypothesis, investigation)
    deliver(answers.stored(rows) if chosen is chosen.TABLE else answers.written(rows, chosen), out)


@command("fragility", "fragility I2 --format json")
def fragility(
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """Find the least evidence on each symptom whose removal gives it other causes.

    Exact up to three items, an upper bound beyond.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    opened = api.OpenLedger(ledger, extend=extend or ())
    with Shown() as shown:
        found = [one.as_dict() for one in opened.fragility(which, progress=shown)]
    if chosen is o.ListFormat.JSON:
        deliver(json_text(found), out)
        return
    heads = ("name", "causes", "size", "exact", "evidence")
    rows = [[_cell(one[head]) for head in heads] for one in found]
    deliver(table(("symptom", *heads[1:]), rows), out)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "at most"
    return " ".join(value) if isinstance(value, list) else str(value or "none")


@command("correlation prices", "correlation prices --ledger history/ --format json")
def correlation(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name or IRI that --correlation gave to investigations."
        ),
    ],
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    format_: ToldAs = None,
    out: o.Out = None,
) -> None:
    """Judge the parts of a divided question as one: e-BH over all their hypotheses.

    Says which supported hypotheses do not stand in the wider family, and which causes explain the
    failures of all parts together, each counted once. Different graphs are kept apart.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, {"md": "md", "txt": "md", "json": "json"})
    if chosen not in {"md", "json"}:
        raise OptionError(f"--format {format_}: give md or json.")
    found = api.OpenLedger(ledger, extend=extend or ()).correlation(name)
    deliver(json_text(found.as_dict()) if chosen == "json" else found.markdown(), out)


def _with_model(
    opened: Any, which: str | None, limits: dict[str, Any], out: str | None, *, alone: bool
) -> None:
    """Print what came out of a question then, and what comes out with another model."""
    chosen = checked(out, None, {"txt": "txt", "json": "json"})
    if limits["model"] is None:
        raise OptionError("--max-tokens, --max-usd and --prices are about --model; give one.")
    if not alone:
        raise OptionError("--against and --model are two comparisons; give one.")
    both = opened.with_model(which=which, **limits)
    deliver(json_text(both.as_dict()) if chosen == "json" else str(both), out)


@command("replay", "replay I2", "replay --against newer/", "replay I1 --model openai:qwen3")
def replay(
    which: o.Which = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", show_default=False, help="Newer data to compare with."),
    ] = None,
    model: m.Model = None,
    max_tokens: m.MaxTokens = None,
    max_usd: m.MaxUsd = None,
    prices: m.Prices = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    out: o.Out = None,
) -> None:
    """Run an investigation again, and end with 1 where another record comes out.

    With --model, put its question to that model instead, and print what came out then and now; the
    ledger stays as it is.

    With --against, run its recorded tests on newer data instead, count its symptoms and look up
    what it cites: what changed, and which conclusions are stale (then 1, too).
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    opened = api.OpenLedger(ledger, extend=extend or ())
    limits = m.model_options(model, max_tokens, max_usd, prices)
    if model is not None or max_tokens or max_usd or prices:
        _with_model(opened, which, limits, out, alone=not against)
        return
    checked(out, None, {"json": 0} if against else {"txt": 0})
    if against:
        newer = opened.against(against, which)
        deliver(json_text(newer.as_dict()), out)
        differs = bool(newer.stale)
    else:
        found = opened.replay(which)
        first = [f"- {x}" for x in found.recorded[:5]] + [f"+ {x}" for x in found.replayed[:5]]
        same = f"The same record: {found.statements} statements."
        deliver(same if found.same else "\n".join(first), out)
        differs = not found.same
    if differs:
        raise typer.Exit(1)
