"""The command that takes a record elsewhere: export."""

from enum import StrEnum
from typing import Annotated

import typer

from kgreason.base.errors import OptionError
from kgreason.cli import options as o
from kgreason.cli.errors import command, tell
from kgreason.cli.output import tell_written


class Kind(StrEnum):
    """What a record is exported as."""

    PROV_JSON = "prov-json"
    NANOPUB = "nanopub"
    RO_CRATE = "ro-crate"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(export)


@command(
    "export --as prov-json --out record.json",
    "export I2 --as nanopub --out nanopubs/ --license https://creativecommons.org/licenses/by/4.0/",
    "export --ledger history/ --as ro-crate --out crate.zip",
)
def export(
    which: o.Which = None,
    *,
    kind: Annotated[
        Kind,
        typer.Option(
            "--as",
            metavar="prov-json|nanopub|ro-crate",
            show_default=False,
            help="The record as one PROV-JSON file, its supported conclusions as nanopublications, "
            "or all that belongs to it as an RO-Crate.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            show_default=False,
            help="A new file for prov-json; else a new folder, or a file that ends in .zip.",
        ),
    ],
    ledger: o.LedgerFolder = o.DEFAULT_LEDGER,
    license_: Annotated[
        str | None,
        typer.Option(
            "--license",
            metavar="IRI",
            show_default="none is stated",
            help="The license of the nanopublications and the crate.",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="IRI/",
            show_default="https://w3id.org/np/",
            help="What the IRIs of nanopublications begin with.",
        ),
    ] = None,
) -> None:
    """Write the record of a finished investigation for other tools.

    The same record gives the same bytes. Nothing that is there is overwritten, and an
    investigation that is not finished is refused: go on with `kgreason resume` first.
    """
    from kgreason import api  # noqa: PLC0415 - keeps --help quick

    if out == "-":
        raise OptionError("--out -: an export goes to a new file or folder, not to stdout.")
    written = api.OpenLedger(ledger).export(out, kind.value, which, license=license_, base=base)
    tell_written(out)
    if not written:
        tell(f"{out}: it is empty, for no conclusion of this investigation is supported.")
