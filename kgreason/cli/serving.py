"""The command that serves ledgers to a browser: serve."""

from typing import Annotated

import typer

from kgreason.cli import options as o
from kgreason.cli.errors import command, tell


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(serve)


@command(
    "serve",
    "serve .kgreason history/ --port 8080",
    "serve --events events.jsonl",
)
def serve(
    ledgers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LEDGER…",
            show_default=o.DEFAULT_LEDGER,
            help="The folders of the reasoning histories.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one."),
    ] = 7878,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on; by default this machine alone."
        ),
    ] = "127.0.0.1",
    known_as: Annotated[
        list[str] | None,
        typer.Option(
            "--known-as",
            metavar="NAME",
            show_default=False,
            help="Another name of this server that browsers use. Give it again for more.",
        ),
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Option(
            "--events",
            metavar="FILE",
            show_default=False,
            help="A file that `kgreason investigate --events FILE` writes, for live progress. "
            "Give it again for more.",
        ),
    ] = None,
    query_seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="What a query at /sparql may take.")
    ] = 30.0,
    max_rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows or triples that an answer may have.")
    ] = 100_000,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Take no verdicts; then nothing is written at all.")
    ] = False,
    extend: o.Extend = None,
) -> None:
    """Show ledgers in a browser, and answer SPARQL 1.1 queries over them at /sparql.

    Pages show each cause down to the very nodes and each step of its confidence. Nothing is loaded
    from other hosts, and only verdicts of people are written. Ctrl-C ends it.
    """
    from kgreason.base.errors import OptionError  # noqa: PLC0415 - keeps --help quick

    try:
        from kgreason.serve.protocol import Limits  # noqa: PLC0415 - an extra
        from kgreason.serve.website import Site  # noqa: PLC0415 - an extra
        from kgreason.serve.website import serve as run  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise OptionError(
            f"kgreason serve needs {error.name or 'more'}; install it with "
            "`pip install 'kgreason[serve]'`."
        ) from error
    if not query_seconds > 0:
        raise OptionError("--query-seconds must be more than 0.")
    site = Site(
        ledgers or [o.DEFAULT_LEDGER],
        host,
        port,
        tuple(known_as or ()),
        tuple(events or ()),
        Limits(query_seconds, max_rows),
        read_only,
        tuple(extend or ()),
    )
    run(site, lambda address: tell(f"serving at {address} (Ctrl-C ends it)."))
