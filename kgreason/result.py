"""The result of an investigation: a view of its record."""

import json
from typing import Any, Self

from kgreason.ledger import Ledger, Record


class Result:
    """What an investigation found, read from its record alone.

    `ledger` is where the record is; close it (or use the result as a context manager) when done.
    """

    def __init__(self, ledger: Ledger, record: Record) -> None:
        self.ledger = ledger
        self.record = record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the ledger back."""
        self.ledger.close()

    def as_dict(self) -> dict[str, Any]:
        """Give the result as in docs/result.schema.json."""
        from kgreason.report.result import as_dict  # noqa: PLC0415 - only when asked for

        return as_dict(self.record)

    def json(self) -> str:
        """Give the result as JSON text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def markdown(self) -> str:
        """Give the report as Markdown."""
        from kgreason.report.markdown import render  # noqa: PLC0415 - only when asked for

        return render(self.record)

    def html(self) -> str:
        """Give the report as one HTML page that needs nothing else."""
        from kgreason.report.html import render  # noqa: PLC0415 - only when asked for

        return render(self.record)

    def turtle(self) -> str:
        """Give the record as Turtle."""
        from kgreason.report.turtle import render  # noqa: PLC0415 - only when asked for

        return render(self.record)

    def _repr_html_(self) -> str:
        return self.html()
