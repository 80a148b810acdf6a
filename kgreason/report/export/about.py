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

    `license` is an IRI or None, `base` what the IRIs of nanopublications begin with.
    """

    row: Row
    license: str | None
    base: str

    @classmethod
    def of(cls, record: Record, license_: str | None, base: str) -> Self:
        """Read it from a record; raises LedgerError where there is no investigation."""
        rows = record.select("about", role="export")
        if not rows:
            raise LedgerError(f"{record.iri.value}: there is no such investigation in the ledger.")
        return cls(rows[0], license_, base)

    def text(self, name: str) -> str | None:
        """Return one fact as text, None where the record has none."""
        return self.row[name].value if name in self.row else None

    @property
    def number(self) -> str:
        """Its number in the ledger."""
        return self.row["number"].value

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
