"""The program: its commands, and what holds for all of them."""

import gc
import sys
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

from kgreason.cli import (
    adding,
    asking,
    bench,
    catalogue,
    ending,
    errors,
    exporting,
    following,
    for_agents,
    judging,
    looking,
    posing_questions,
    repairing,
    reviewing,
    routing_questions,
    serving,
    showing,
    working,
)


class _Program(TyperGroup):
    """Takes --debug anywhere, since it is asked for after something went wrong."""

    # Typer hands its own class of context to what click declares with another.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        end = args.index("--") if "--" in args else len(args)
        if "--debug" in args[:end]:
            args = ["--debug", *(a for a in args[:end] if a != "--debug"), *args[end:]]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        if args[0] in _VALIDATING and args[0] not in self.list_commands(ctx):
            ctx.fail(
                f"No such command '{args[0]}'. `kgreason symptoms DATA --shapes FILE` validates "
                "and tells who fails; `kgreason investigate DATA --shapes FILE` also finds out why."
            )
        return super().resolve_command(ctx, args)


_VALIDATING: Final = frozenset({"validate", "check", "lint", "shacl", "verify"})
"""What other tools call what is asked for here by `symptoms` and `investigate`."""

app = typer.Typer(
    cls=_Program,
    name="kgreason",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"kgreason {version('kgreason')}\n")
        raise typer.Exit


@app.callback(
    help=errors.described(
        """Find out why a knowledge graph is wrong.

        kgreason reads RDF data and SHACL shapes (or a query of yours), proposes causes for what
        fails, tests them against the data, and reports what it found with its evidence. The whole
        reasoning is kept as RDF in a folder, the ledger, which can be asked and audited.

        Results go to stdout, progress and notices to stderr. Exit codes: 0 done, 1 the audit found
        something or the run could not finish (or what --fail-on names), 2 wrong input, 130 stopped.
        """,
        "investigate data/ --shapes shapes.ttl",
        "symptoms data/ --shapes shapes.ttl",
        "report --out report.html",
        "audit",
    )
)
def program(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from (a traceback).")
    ] = False,
    version: Annotated[  # noqa: ARG001 - typer calls _version with it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    errors.show_tracebacks(on=debug)


looking.add_to(app)
posing_questions.add_to(app)
routing_questions.add_to(app)
following.add_to(app)
asking.add_to(app)
reviewing.add_to(app)
exporting.add_to(app)
repairing.add_to(app)
serving.add_to(app)
showing.add_to(app)
judging.add_to(app)
adding.add_to(app)
catalogue.add_to(app)
bench.add_to(app)
for_agents.add_to(app)
working.add_to(app)

_PANELS: Final = {
    "Everyday": (
        "investigate",
        "ask",
        "route",
        "show",
        "report",
        "nodes",
        "why",
        "repair",
        "compare",
        "symptoms",
        "serve",
        "query",
        "resume",
        "worker",
        "ledger",
        "mcp",
    ),
    "Trust and audit": (
        "audit",
        "history",
        "explain",
        "fragility",
        "reassess",
        "correlation",
        "replay",
        "verdict",
        "calibrate",
        "propose-task-types",
        "export",
    ),
    "For developers": ("queries", "bench"),
}
"""Under what the commands stand in the help, in this order."""


def _in_panels(commands: list[CommandInfo]) -> None:
    """Put the commands in the order of the help; raises KeyError for one without a panel."""
    order = [name for names in _PANELS.values() for name in names]
    places = {name: panel for panel, names in _PANELS.items() for name in names}
    for info in commands:
        info.rich_help_panel = places[_called(info)]
    commands.sort(key=lambda info: order.index(_called(info)))


def _called(info: CommandInfo) -> str:
    return info.name or str(getattr(info.callback, "__name__", ""))


_in_panels(app.registered_commands)


_COLLECTED: Final = (50_000, 10, 10)
"""After how many new containers cycles are looked for, and how seldom among what is older.

Rows of queries are containers that stay, with hardly a cycle among them. Python's own 700, 10 and
10 spend a fourteenth of an investigation of 100 k triples on looking through them.
"""


def main() -> None:
    """Run the command line; ends the process with the exit code."""
    gc.set_threshold(*_COLLECTED)
    ending.in_order(lambda: app(prog_name="kgreason"))
