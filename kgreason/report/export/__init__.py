"""The record of an investigation for other tools: PROV-JSON, nanopublications, an RO-Crate.

The ledger is only read. What goes into an export is said by `queries/export/`; the same record
gives the same bytes, since every time in them is one of the record.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError, OptionError
from kgreason.record import Ledger, Record
from kgreason.report.export import crate, nanopub, prov_json
from kgreason.report.export.about import About
from kgreason.report.export.atomic import check_target, put

__all__ = ["BASE", "KINDS", "export", "write"]

BASE: Final = "https://w3id.org/np/"
"""What the IRIs of nanopublications begin with where nothing else is asked for: the place where
the network of nanopublication servers looks them up once they are published."""
Files = bytes | Mapping[str, bytes]
KINDS: Final[Mapping[str, Callable[[Record, About], Files]]] = {
    "prov-json": prov_json.render,
    "nanopub": nanopub.files,
    "ro-crate": crate.files,
}
"""The kinds of export by name: one file (bytes), or several by their path in a folder."""


def export(
    ledger: str | Path,
    out: str | Path,
    kind: str,
    which: str | None = None,
    *,
    license: str | None = None,  # noqa: A002 - what it is called everywhere else
    base: str = BASE,
) -> list[str]:
    """Write an investigation of a ledger as `kind`, and give the paths of the files written.

    The arguments are those of `write`. Raises LedgerError if there is no such investigation.
    """
    with Ledger.read(Path(ledger)) as reader:
        record = reader.record(reader.entry(which))
        return write(record, out, kind, license=license, base=base)


def write(
    record: Record,
    out: str | Path,
    kind: str,
    *,
    license: str | None = None,  # noqa: A002 - as above
    base: str = BASE,
) -> list[str]:
    """Write a record as `kind` (one of KINDS) to `out`, and give the paths of the files written.

    PROV-JSON is a file; nanopublications and an RO-Crate are folders, or ZIP files where `out` ends
    in .zip. `license` is the IRI under which nanopublications and crate may be used, `base` what
    the IRIs of nanopublications begin with. It is there as a whole or not at all.

    Raises OptionError for a wrong option or an `out` that is there already or cannot be made,
    LedgerError if the investigation is not finished, RunError if writing fails.
    """
    if kind not in KINDS:
        raise OptionError(f"There is no export as {kind}; use {', '.join(KINDS)}.")
    for name, iri in (("license", license), ("base", base)):
        if iri is not None:
            _check_iri(name, iri)
    if not base.endswith("/"):
        raise OptionError(f"The base {base} must end with a slash, since a code follows it.")
    check_target(out)
    about = About.of(record, license, base)
    if not about.finished:
        raise LedgerError(
            f"Investigation {about.handle} is not finished, and only what is concluded is "
            "exported; `kgreason resume` goes on with it."
        )
    return put(out, KINDS[kind](record, about), about.ended)


def _check_iri(name: str, iri: str) -> None:
    try:
        ox.NamedNode(iri)
    except ValueError as error:
        raise OptionError(f"The {name} {iri} is no absolute IRI.") from error
