"""What `ask` is told about strategies, and how it writes what they say and what they found."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from kgreason.base.errors import OptionError
from kgreason.cli.ending import let_go
from kgreason.cli.errors import tell
from kgreason.cli.output import deliver, json_text, table
from kgreason.cli.progress import Shown

if TYPE_CHECKING:
    from kgreason.review.messages import ChunkWriter

_STRATEGIES: Final = "Strategy"

Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        rich_help_panel=_STRATEGIES,
        show_default="the question is routed",
        help="Work on it by this strategy: hypothesis, react, plan-then-execute, supervisor or "
        "reflexion.",
    ),
]
Strategies = Annotated[
    str | None,
    typer.Option(
        "--strategies",
        metavar="A,B,…",
        rich_help_panel=_STRATEGIES,
        show_default=False,
        help="Work on it by each of these, and compare what comes out.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="KIND,…",
        rich_help_panel=_STRATEGIES,
        show_default="symptom",
        help="By what the strategy supervisor divides what is wrong: symptom, class or source. "
        "Several, such as source,symptom, divide each part again. With goal and --model, a model "
        "proposes the goals.",
    ),
]


Goals = Annotated[
    list[str] | None,
    typer.Option(
        "--goal",
        metavar="TEXT",
        rich_help_panel=_STRATEGIES,
        show_default=False,
        help="A goal that the strategy supervisor makes a part of: it names broken rules, "
        "properties or classes. Can be given several times.",
    ),
]


class StreamFormat(StrEnum):
    """How what is said meanwhile is written."""

    JSONL = "jsonl"


Stream = Annotated[
    StreamFormat | None,
    typer.Option(
        "--stream",
        metavar="jsonl",
        rich_help_panel=_STRATEGIES,
        show_default=False,
        help="Write each thought, observation, answer and the like to stdout once it is recorded: "
        "chunks of messages as JSON lines. The report then goes to --out FILE alone.",
    ),
]


def streamed(wanted: StreamFormat | None, out: str | None, format_: object) -> "ChunkWriter | None":
    """Return what writes chunks to stdout, where that is asked for.

    Raises OptionError where a report is to be written there too.
    """
    if wanted is None:
        return None
    if out == "-" or (out is None and format_ is not None):
        raise OptionError("--stream writes to stdout; give --out FILE for the report.")
    from kgreason.review.messages import ChunkWriter  # noqa: PLC0415 - keeps --help quick

    return ChunkWriter(sys.stdout, _broken)


def _broken(error: OSError) -> None:
    let_go(sys.stdout.fileno())
    tell(
        f"The stream cannot be written ({error.strerror or error}). The work goes on, and all of "
        "it is recorded; `kgreason show` tells it."
    )


_HEADS: Final = ("strategy", "answered", "confidence", "cited", "valid", "steps", "tests",
                 "tokens", "USD", "seconds")  # fmt: skip


def dividing(split: str | None, goals: Sequence[str] | None, pattern: str) -> dict[str, Any]:
    """Return what a strategy is told of --split and --goal.

    Raises OptionError where it divides nothing.
    """
    if split is None and not goals:
        return {}
    if pattern != "supervisor":
        named = "--goal" if goals else "--split"
        raise OptionError(f"{named} is about --strategy supervisor; leave it out.")
    return {"split": split} | ({"goals": tuple(goals)} if goals else {})


def compared(rows: Sequence[dict[str, Any]]) -> str:
    """Return what several strategies found, as a table with the answers below."""
    cells = [
        (
            row["strategy"],
            "yes" if row["answered"] else "no",
            "" if row["confidence"] is None else f"{row['confidence']:.2f}",
            str(row["citations"]),
            str(row["citations_valid"]),
            str(row["steps"]),
            str(row["tests"]),
            str(row["tokens"]),
            f"{row['usd']:.2f}",
            f"{row['seconds']:.1f}",
        )
        for row in rows
    ]
    told = [table(_HEADS, cells, numbers=_HEADS[2:])]
    for row in rows:
        told.append(f"{row['strategy']}: {row['answer']}")
        if row["cause"]:
            told.append(f"  Cause: {row['cause']}")
    return "\n".join(one.rstrip("\n") for one in told) + "\n"


def compare(
    question: str,
    data: Sequence[Any],
    names: str,
    options: dict[str, Any],
    out: str | None,
    *,
    as_json: bool,
) -> None:
    """Work on a question by several strategies, and write what each found."""
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    several = [one.strip() for one in names.split(",") if one.strip()]
    with Shown() as shown:
        found = api.compare_strategies(
            question, data, several, progress=shown, notice=shown.notice, **options
        )
    rows = [asdict(one) for one in found]
    deliver(json_text(rows) if as_json else compared(rows), out)
