"""What happened in an investigation, for other programs: one JSON object a change."""

import json
from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox

from kgreason.ledger import Record

_NUMBERS = ("before", "after")


def events(record: Record) -> Iterator[dict[str, Any]]:
    """Give what the record tells of each change, in order; what is not known is left out."""
    for row in record.select("events"):
        out: dict[str, Any] = {"investigation": record.iri.value}
        for name, value in row.items():
            if name == "step":
                out[name] = int(value.value)
            elif name in _NUMBERS:
                out[name] = float(value.value)
            else:
                out[name] = value.value if isinstance(value, ox.Literal | ox.NamedNode) else None
        yield out


def lines(record: Record) -> str:
    """Give the events as JSON lines."""
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events(record))
