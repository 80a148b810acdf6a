"""The live view: hypotheses with status and confidence as they move, the last test, the cost.

On a terminal it is a table that changes; elsewhere each change is a plain line on stderr.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from kgreason.cli.errors import clean, tell

if TYPE_CHECKING:
    from rich.table import Table

MOST: Final = 12
"""Rows of the table, the most probable hypotheses."""
_WORDS: Final = 70
_STATUSES: Final = frozenset(
    [
        "proposed",
        "testing",
        "supported",
        "refined",
        "converged",
        "refuted",
        "pruned",
        "archived",
        "inconclusive",
    ]
)
_TOLD: Final = _STATUSES | {"created", "revised", "tested", "failed", "called", "concluded"}


Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Show hypotheses with status and confidence as they move, the last test and the cost: "
        "a table on a terminal, else plain lines on stderr.",
    ),
]


@dataclass
class _Line:
    statement: str
    confidence: float
    status: str = "proposed"


@dataclass
class LiveView:
    """Takes the steps of a run as they are recorded; `changed` draws the table anew."""

    on_terminal: bool = False
    changed: Any = None
    _known: dict[str, _Line] = field(default_factory=dict)
    _last: str = ""
    _cost: str = ""

    def __call__(self, record: Any, step: Any) -> None:
        """Take up what a step changed."""
        from kgreason.review.events import events  # noqa: PLC0415 - keeps --help quick

        row = record.select("costs")[0]
        tokens, usd = int(row["tokens"].value), float(row["usd"].value)
        self._cost = f"{tokens} tokens, {usd:.4f} USD" if tokens else ""
        told = [line for event in events(record, step) if (line := self._take(event))]
        if not self.on_terminal:
            for line in told:
                tell(line)
        elif self.changed is not None:
            self.changed()

    def _take(self, event: dict[str, Any]) -> str:
        """Take up an event, and return it as a plain line; "" for what is not told."""
        kind, about = event["event"], event.get("about", "")
        name, note = _name(about), clean(event.get("note", ""))
        if kind in {"created", "revised"}:
            self._known[about] = _Line(note, event.get("after", 0.0))
        known = self._known.get(about)
        if known is not None and kind in {"strengthened", "weakened"}:
            before, known.confidence = known.confidence, event["after"]
            return f"{name}: {before:.2f} to {known.confidence:.2f}"
        if known is not None and kind in _STATUSES:
            known.status = kind
        if kind not in _TOLD:
            return ""
        self._last = f"{name} {kind}: {note}".strip()
        return self._last + (f" ({self._cost})" if kind == "called" and self._cost else "")

    def table(self) -> "Table":
        """Return what is drawn on a terminal."""
        from rich.table import Table  # noqa: PLC0415 - keeps --help quick
        from rich.text import Text  # noqa: PLC0415

        made = Table(title=None, caption=Text(self._caption()), box=None, pad_edge=False)
        for head in ("", "confidence", "status", "hypothesis"):
            made.add_column(head, no_wrap=True)
        for name, line in self._ranked():
            made.add_row(name, f"{line.confidence:.2f}", line.status, Text(line.statement[:_WORDS]))
        return made

    def _ranked(self) -> Sequence[tuple[str, _Line]]:
        rows = sorted(self._known.items(), key=lambda each: -each[1].confidence)
        return [(_name(iri), line) for iri, line in rows[:MOST]]

    def _caption(self) -> str:
        return " | ".join(part for part in (self._last[: 2 * _WORDS], self._cost) if part)


def both(one: Any, other: Any) -> Any:
    """Return what calls both, or the one that there is, or None."""
    several = [each for each in (one, other) if each is not None]
    if len(several) < 2:  # noqa: PLR2004 - both
        return several[0] if several else None

    def call(record: Any, step: Any) -> None:
        for each in several:
            each(record, step)

    return call


def _name(iri: str) -> str:
    """Return what people call a node: H3 for a hypothesis, S1 for a symptom."""
    kind, _, number = iri.rpartition(":")
    letters = {"hypothesis": "H", "symptom": "S"}
    letter = letters.get(kind.rpartition(":")[2])
    return f"{letter}{number}" if letter else "the question"
