"""The commands that follow up an answer: nodes, why, compare."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.output import checked, csv_text, deliver, json_text, table

DataNow = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="PATH…",
        show_default="from where they were",
        help="The data that were investigated, where they have moved.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command(cls=o.FilesLast)(nodes)
    app.command(cls=o.FilesLast)(why)
    app.command()(compare)


@command(
    "nodes C1",
    "nodes C1 --format csv --out nodes.csv",
    "nodes H3 I2 --passing --ledger history/",
    "nodes C1 --data data/ --all --format jsonl",
)
def nodes(
    cause: Annotated[
        str,
        typer.Argument(
            metavar="CAUSE",
            show_default=False,
            help="A cause, such as C1, a hypothesis, such as H3, or a broken rule, such as S1.",
        ),
    ],
    which: o.Which = None,
    passing: Annotated[
        bool,
        typer.Option("--passing", help="Those that pass although the cause is about them, too."),
    ] = False,
    whole: Annotated[bool, typer.Option("--all", help="Those that fail and those that pass.")] = (
        False
    ),
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    data: DataNow = None,
    format_: Annotated[
        o.NodeFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="table|csv|ttl|jsonl",
            show_default="by the ending of --out, else table",
            help="How they are written; one row for each value of a node.",
        ),
    ] = None,
    out: o.Out = None,
) -> None:
    """List the nodes of a cause that fail, each with the property, the value and its source.

    They are looked up in the data, which are read again. Where these are gone or have changed, only
    the nodes that the record cites are listed, and stderr says so.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.NODES)
    if passing and whole:
        raise OptionError("--passing and --all: give one of them.")
    opened = api.OpenLedger(ledger, extend=extend or ())
    found = opened.nodes(cause, which, data=data or ())
    found = found.those(failing=not passing, passing=passing or whole)
    if not found.complete:
        tell(found.source)
    deliver(_nodes(found.rows(), found.turtle, chosen), out)


def _nodes(rows: Sequence[dict[str, Any]], turtle: Callable[[], str], format_: o.NodeFormat) -> str:
    heads = ("node", "fails", "field", "value", "source", "rule")
    if format_ is o.NodeFormat.TTL:
        return turtle()
    if format_ is o.NodeFormat.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    cells = [[_cell(row[head]) for head in heads] for row in rows]
    if format_ is o.NodeFormat.CSV:
        return csv_text(heads, cells)
    return table(heads, cells) if cells else "No nodes."


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


@command(
    "why https://example.org/order/17",
    "why ex:order-17 I2 --ledger history/",
    "why order-17 --data data/ --format json",
)
def why(
    node: Annotated[
        str,
        typer.Argument(
            metavar="NODE",
            show_default=False,
            help="An IRI, a name with a prefix of the shapes, or the last part of the IRI of a "
            "node that fails.",
        ),
    ],
    which: o.Which = None,
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    data: DataNow = None,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """Say why a node fails: the rules it breaks, with the values at fault, and the causes.

    Where no cause is about it, the passing node that is most like it is named, with what that one
    has and this one lacks. The data are read again.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    found = api.OpenLedger(ledger, extend=extend or ()).why(node, which, data=data or ())
    deliver(json_text(found.as_dict()) if chosen is o.ListFormat.JSON else str(found), out)


@command(
    "compare I1 I2",
    "compare baseline.json I2 --format json",
    "compare old-ledger/ new-ledger/",
)
def compare(
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE",
            show_default=False,
            help="The earlier one: an investigation of the ledger, such as I1, the folder of a "
            "ledger (its latest investigation), or a file with a result as JSON.",
        ),
    ],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", show_default=False, help="The later one, likewise.")
    ],
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    format_: o.ListAs = None,
    out: o.Out = None,
) -> None:
    """Say which causes and broken rules are new, gone, grown, shrunk or the same.

    A cause is known again by what it says, else by its nodes: for that the data of the later
    investigation are read again. Where these are not at hand, that is said.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    found = api.compare(before, after, ledger=ledger)
    for text in found.said:
        tell(text)
    as_json = chosen is o.ListFormat.JSON
    deliver(json_text(found.as_dict()) if as_json else compared(found), out)


def compared(found: Any) -> str:
    """Return a comparison as tables for people."""
    causes = [
        (one.what, one.before or "", one.after or "", *_counts(one), one.statement)
        for one in found.causes
    ]
    rules = [(one.what, *_counts(one), one.name) for one in found.symptoms]
    heads = ("before", "after", "failing before", "failing after")
    text = f"{found.summary}\n"
    if causes:
        text += "\n" + table(("cause", *heads, "what it says"), causes, numbers=heads[2:])
    if rules:
        text += "\n" + table(("rule", *heads[2:], "name"), rules, numbers=heads[2:])
    return text


def _counts(one: Any) -> tuple[str, str]:
    return str(one.failing_before), str(one.failing_after)
