"""Pictures of the data behind a cause: rates as bars, and the way from a node to its condition.

Geometry alone, in the pixels of a view box; the page draws it as SVG. Every bar says in words and
figures what it shows.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.errors import OptionError
from kgreason.base.store import Row, Term
from kgreason.base.weights import weighted_rate
from kgreason.graph.names import unlabelled
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.seam import recorded
from kgreason.record import Record
from kgreason.report.cells import clean, percent, short_iri

WIDTH: Final = 440
_NAME: Final = 150
_FIGURE: Final = 120
_ROW: Final = 22
_BAR: Final = 12
_COLUMNS: Final = 120
_LONGEST: Final = 24
_MOST: Final = 8
_SOURCE: Final = "urn:src:"
_BOUND: Final = r"( or (?:earlier|higher|later|narrower))"
_MONTH: Final = re.compile(r"“(\d{4}-\d{2})")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, where it is drawn, and what it says; `marked` is what the cause is about."""

    name: str
    whole: str
    says: str
    x: float
    y: float
    width: float
    height: float
    marked: bool


@dataclass(frozen=True)
class Bars:
    """Bars under one title, which say `label` to who cannot see them; `cut` is where a line is."""

    title: str
    label: str
    bars: tuple[Bar, ...]
    height: float
    upright: bool = False
    cut: float | None = None
    width: float = WIDTH
    name: float = _NAME - 8


@dataclass(frozen=True)
class Stop:
    """A box on the way from a node to a condition, and the property that leads on from it."""

    text: str
    whole: str
    x: float
    y: float
    width: float
    along: str
    after: float


@dataclass(frozen=True)
class Ways:
    """The ways from a node to the conditions of a cause, a row each."""

    label: str
    rows: tuple[tuple[Stop, ...], ...]
    height: float
    width: float = WIDTH


def rates(row: Row) -> Bars:
    """Draw how many fail inside a cause and outside of it; `row` is one of `summary/cause`."""
    things = row["things"].value
    sides: list[tuple[str, int, int, bool]] = [
        ("in this cause", int(row["bad"].value), int(row["inside"].value), True),
        ("all others", int(row["others"].value), int(row["outside"].value), False),
    ]
    return _rates(
        f"Share of {things} that {row['fail'].value}",
        [side for side in sides if side[2]],
        weight_of(row),
    )


def weight_of(row: Row) -> float:
    """Return what a passing node counts beside a failing one; 1 where none was left out."""
    return float(row["weight"].value) if "weight" in row else 1.0


def slices(
    rows: Sequence[Row], statement: str, fail: str = "fail", weight: float = 1.0
) -> tuple[Bars, ...]:
    """Draw how a symptom is spread, by source, by month and by bad value, as far as is recorded.

    `fail` is the verb for what is bad; an outcome that was asked about has no bad values. A passing
    node counts with `weight`.
    """
    share = "Share that fails" if fail == "fail" else "Share that has the outcome"
    kinds: dict[str, list[tuple[str, int, int]]] = {}
    for row in rows:
        counts = int(row["failing"].value), int(row["nodes"].value)
        kinds.setdefault(row["of"].value, []).append((row["level"].value, *counts))
    found = []
    if "month" in kinds:
        found.append(_months(kinds["month"], statement, share, weight))
    if "source" in kinds:
        named = [(_source(level), bad, of) for level, bad, of in kinds["source"]]
        marked = [(name, bad, of, f"source {name} " in statement) for name, bad, of in named]
        found.append(_rates(f"{share}, by source", marked[:_MOST], weight))
    if "value" in kinds and fail == "fail":
        found.append(_values(kinds["value"]))
    return tuple(found)


def _rates(title: str, rows: Sequence[tuple[str, int, int, bool]], weight: float) -> Bars:
    room = WIDTH - _NAME - _FIGURE
    shares = [weighted_rate(bad, of, weight) for _, bad, of, _ in rows]
    bars = [
        _bar(place, name, f"{percent(share)} of {of:,}", room * share, marked=marked)
        for place, ((name, _, of, marked), share) in enumerate(zip(rows, shares, strict=True))
    ]
    return _titled(title, bars)


def _values(rows: Sequence[tuple[str, int, int]]) -> Bars:
    room = WIDTH - _NAME - _FIGURE
    most = max(number for _, number, _ in rows)
    bars = [
        _bar(place, clean(value) or "(empty)", f"{number:,} times", room * number / most)
        for place, (value, number, _) in enumerate(rows)
    ]
    return _titled("Most frequent bad values", bars)


def _bar(place: int, name: str, says: str, width: float, *, marked: bool = False) -> Bar:
    y = place * _ROW + (_ROW - _BAR) / 2
    return Bar(_short(name), name, says, _NAME, y, round(max(1.0, width), 1), _BAR, marked)


def _titled(title: str, bars: Sequence[Bar]) -> Bars:
    label = f"{title}: " + "; ".join(f"{bar.whole} {bar.says}" for bar in bars)
    return Bars(title, label, tuple(bars), len(bars) * _ROW)


def _months(
    rows: Sequence[tuple[str, int, int]], statement: str, share: str, weight: float
) -> Bars:
    """Draw a column a month, with a line where the cause begins."""
    step = WIDTH / len(rows)
    found = _MONTH.search(statement)
    bars = []
    for place, (month, bad, of) in enumerate(rows):
        fail = weighted_rate(bad, of, weight)
        height = round(max(1.0, _COLUMNS * fail), 1)
        x, y = round(place * step + 1, 1), round(_COLUMNS - height, 1)
        says = f"{percent(fail)} of {of:,}"
        bars.append(Bar(month, month, says, x, y, round(step - 2, 1), height, _after(month, found)))
    title = f"{share}, by month"
    label = f"{title}: " + "; ".join(f"{bar.whole} {bar.says}" for bar in bars)
    cut = next((bar.x - 1 for bar in bars if bar.marked), None)
    return Bars(title, label, tuple(bars), _COLUMNS + 18, upright=True, cut=cut)


def _after(month: str, found: re.Match[str] | None) -> bool:
    return found is not None and month >= found[1]


def way(record: Record, hypothesis: NamedNode, thing: str, statement: str) -> Ways | None:
    """Draw the way from a node to each condition of a cause; None where it has none."""
    (row,) = record.select("bindings", role="summary", hypothesis=hypothesis)
    try:
        parts = recorded(row["bindings"].value) if "bindings" in row else ()
    except (OptionError, json.JSONDecodeError):
        parts = ()
    ways = [_condition(part) for part in parts]
    if not ways and "dimension" in row and "level" in row:
        level = _level(row["level"])
        bound = re.search(re.escape(level) + _BOUND, statement)
        ways = [[(_name(row["dimension"]), level + bound[1] if bound else level)]]
    if not ways:
        return None
    rows = tuple(_stops(thing, steps, place) for place, steps in enumerate(ways))
    said = "; ".join(
        ", ".join([thing, *(f"{along} leads to {end or 'something'}" for along, end in steps)])
        for steps in ways
    )
    return Ways(f"The way from a node to the condition: {said}", rows, len(rows) * 44)


def _condition(part: Condition) -> list[tuple[str, str]]:
    """Return the steps of a condition: each property, and what lies there where that is said."""
    along = [step.template.header["words"].format(property=_name(step.along)) for step in
             part.path.steps]  # fmt: skip
    said = part.words(lambda term: "" if term is None else _level(term))
    path = part.path.words(lambda term: "" if term is None else _name(term))
    end = said.partition(path)[2].strip().removeprefix("is ").strip() or said
    if not along:
        return [("IRI", end)]
    return [*((name, "") for name in along[:-1]), (along[-1], end)]


def _stops(thing: str, steps: Sequence[tuple[str, str]], place: int) -> tuple[Stop, ...]:
    """Lay boxes out from left to right, with room for the properties between them."""
    boxes = [thing, *(end or "…" for _, end in steps)]
    along = [*(name for name, _ in steps), ""]
    weights = [min(len(_short(text)), _LONGEST) + 3 for text in boxes]
    gaps = [min(len(name), 18) + 5 for name in along[:-1]]
    unit = WIDTH / (sum(weights) + sum(gaps))
    unit, x, out = min(unit, 7.5), 0.0, []
    for n, text in enumerate(boxes):
        width = round(weights[n] * unit, 1)
        after = round(gaps[n] * unit, 1) if n < len(gaps) else 0.0
        out.append(Stop(_short(text), text, round(x, 1), place * 44 + 8, width, along[n], after))
        x += width + after
    return tuple(out)


def _name(term: Term) -> str:
    return unlabelled(term)


def _level(term: Term) -> str:
    return _source(term.value) if isinstance(term, NamedNode) else unlabelled(term)


def _source(iri: str) -> str:
    return iri.removeprefix(_SOURCE) if iri.startswith(_SOURCE) else short_iri(iri)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
