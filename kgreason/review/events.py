"""What happened in an investigation, for other programs: one JSON object a change."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.templates import Fragment, template
from kgreason.record import Record

_NUMBERS: Final = ("before", "after")


def events(record: Record, step: ox.NamedNode | None = None) -> Iterator[dict[str, Any]]:
    """Return what the record tells of each change, of one step or of all, in order.

    What is not known is left out.
    """
    only = Fragment("" if step is None else f"BIND ({step} AS ?made)")
    text = template("record", "events").render(investigation=record.iri, step=only)
    for row in record.store.select(text):
        out: dict[str, Any] = {"investigation": record.iri.value}
        for name, value in row.items():
            if name == "step":
                out[name] = int(value.value)
            elif name in _NUMBERS:
                out[name] = float(value.value)
            else:
                out[name] = value.value if isinstance(value, ox.Literal | ox.NamedNode) else None
        yield out


def lines(record: Record, step: ox.NamedNode | None = None) -> str:
    """Return the events of a step, or of all, as JSON lines."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in events(record, step))


class Stream:
    """Writes events to a file as they happen: first those that are recorded already."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._begun = False

    def __call__(self, record: Record, step: ox.NamedNode) -> None:
        """Write the events of a step that was just recorded; raises RunError."""
        text = lines(record, step if self._begun else None)
        self._write(text, "a" if self._begun else "w")
        self._begun = True

    def end(self, record: Record) -> None:
        """Write all events where no step was recorded meanwhile."""
        if not self._begun:
            self._write(lines(record), "w")

    def _write(self, text: str, mode: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{self.path}: events cannot be written ({why}).") from error
