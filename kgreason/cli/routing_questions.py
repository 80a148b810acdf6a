"""The commands about types of task: route, and propose-task-types."""

from typing import Annotated

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command
from kgreason.cli.output import checked, deliver, json_text

_AT_HAND = "What is at hand"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(route)
    app.command("propose-task-types")(propose_task_types)


@command(
    'route "why do so many shipments lack a mass?"',
    'route "which suppliers have no address?" --format json',
    'route "what would break if we drop the class Part?" --strategy react',
)
def route(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", show_default=False, help="What you want to know.")
    ],
    shapes: Annotated[
        bool, typer.Option("--with-shapes", rich_help_panel=_AT_HAND, help="There are shapes.")
    ] = False,
    outcome: Annotated[
        bool,
        typer.Option("--with-outcome", rich_help_panel=_AT_HAND, help="There is an outcome query."),
    ] = False,
    symptoms: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            rich_help_panel=_AT_HAND,
            show_default="not known",
            help="How many constraints fail.",
        ),
    ] = None,
    small_budget: Annotated[
        bool,
        typer.Option(
            "--small-budget", rich_help_panel=_AT_HAND, help="Steps or seconds are limited."
        ),
    ] = False,
    model: Annotated[
        bool,
        typer.Option("--with-model", rich_help_panel=_AT_HAND, help="A model can be asked."),
    ] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            show_default="the best of the type",
            help="Force this pattern, whatever the type of task.",
        ),
    ] = None,
    extend: o.Extend = None,
    format_: Annotated[
        o.ListFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="table|json",
            show_default="by the ending of --out, else table",
            help="How the decision is written.",
        ),
    ] = None,
    out: o.Out = None,
) -> None:
    """Say which type of task a question is, and by which pattern it would be worked on.

    Nothing is run, recorded or asked of a model. Each type has a score, the sum of the weights of
    the cues that the question has; docs/strategies.md tells how to add types and cues.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    chosen = checked(out, format_, o.LISTS)
    found = api.route(
        question.encode("utf-8", "replace").decode(),
        shapes=shapes,
        outcome=outcome,
        symptoms=symptoms,
        small_budget=small_budget,
        model=model,
        strategy=strategy,
        extend=extend or (),
    )
    deliver(json_text(found.as_dict()) if chosen is o.ListFormat.JSON else str(found), out)


@command(
    "propose-task-types",
    "propose-task-types --ledger history/ --out proposed.ttl",
)
def propose_task_types(
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    extend: o.Extend = None,
    out: o.Out = None,
) -> None:
    """Propose types of task for questions of the past that no type fits well, as Turtle.

    Questions that are alike make one type, with the words they share as cues and the sessions as
    evidence. Nothing changes by itself: read it, put it into better words, and save what is a type
    as ontology/patterns/NAME.ttl in a folder that you give with --extend.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    found = api.proposed_task_types(ledger, extend=extend or ())
    deliver(found.turtle(), out)
