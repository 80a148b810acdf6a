"""The command that serves the tools of the Model Context Protocol: mcp."""

from typing import Annotated

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command

Folders = Annotated[
    list[str],
    typer.Argument(
        metavar="FOLDER…",
        show_default=False,
        help="What may be read and written: data, shapes and ledgers lie in these.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(mcp)


@command(
    "mcp .",
    "mcp data/ ledgers/ --redact https://example.org/name",
)
def mcp(folders: Folders, redact: o.Redact = None) -> None:
    """Serve an agent: the tools of the Model Context Protocol on stdin and stdout.

    The tools investigate, poll, and tell symptoms, causes, nodes, evidence and why a node fails;
    they query and audit the record. Only what lies in the folders can be read, and only an
    investigation writes: its ledger, in the folders too. What the graph says is marked as data. The
    command ends when its client goes. With --redact, records that hold the values are not told of
    at all. It needs the extra `mcp`.
    """
    try:
        from kgreason.mcp.mcp_server import serve  # noqa: PLC0415 - an extra, and it takes a second
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise OptionError(
            "kgreason mcp needs the Python SDK of the protocol; install it with "
            "`pip install 'kgreason[mcp]'`."
        ) from error
    serve(folders, redact or ())
