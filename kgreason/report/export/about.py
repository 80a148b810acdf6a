"""What an export says of an investigation as a whole."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from kgreason.base.errors import LedgerError
from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.record import Record


@dataclass(frozen=True)
class About:
    """An investigation by `queries/export/about.rq`, and what a user asked of the export.

    `iri` is its own, `license` is an IRI or None, `base` what the IRIs of nanopublications begin
    with.
    """

    iri: str
    row: Row
    license: str | None
    base: str

    @classmethod
    def of(cls, record: Record, license_: str | None, base: str) -> Self:
        """Read it from a record; raises LedgerError where there is no investigation."""
        rows = record.select("about", role="export")
        if not rows:
            raise LedgerError(f"{record.iri.value}: there is no such investigation in the ledger.")
        return cls(record.iri.value, rows[0], license_, base)

    def text(self, name: str) -> str | None:
        """Return one fact as text, None where the record has none."""
        return self.row[name].value if name in self.row else None

    @property
    def handle(self) -> str:
        """What it is called in the ledger, such as I1; its IRI where it has no number there."""
        number = self.text("number")
        return self.iri if number is None else f"I{number}"

    @property
    def finished(self) -> bool:
        """Whether it came to its end."""
        return self.row["state"] == TRAILS.Finished and "ended" in self.row

    @property
    def ended(self) -> datetime:
        """When it came to its end."""
        return datetime.fromisoformat(self.row["ended"].value)

    @property
    def request(self) -> dict[str, Any]:
        """What was asked for: the fields of `Request`, empty where it was not kept."""
        kept = json.loads(self.text("options") or "{}")
        return kept if isinstance(kept, dict) else {}
