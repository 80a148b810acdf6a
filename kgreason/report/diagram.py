"""The geometry of a diagram of what came from what; the page draws it as SVG.

Boxes stand in columns, from left to right as one thing leads to the next. Within a column each
stands at the height of what it is connected with, as far as there is room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.report.layouts import Drawn

_BOX: Final = 112
_GAP: Final = 30
_HIGH: Final = 28
_ROW: Final = 38
_EDGE: Final = 8
_LONGEST: Final = 16


@dataclass(frozen=True)
class DiagramBox:
    """A box: where its left upper corner is, its text, and what it says in full."""

    iri: str
    kind: str
    text: str
    whole: str
    x: float
    y: float


@dataclass(frozen=True)
class Diagram:
    """Boxes, the lines between them as SVG paths, and the heads of the columns."""

    boxes: tuple[DiagramBox, ...]
    links: tuple[str, ...]
    heads: tuple[tuple[float, str], ...]
    width: float
    height: float
    box: float = _BOX
    high: float = _HIGH


def lay_out(nodes: Sequence[Drawn]) -> Diagram:
    """Lay out nodes in their columns; what a node comes from and is not there draws no line."""
    columns: dict[int, list[Drawn]] = {}
    for node in nodes:
        columns.setdefault(node.column, []).append(node)
    heights = _heights(columns)
    places = {number: place for place, number in enumerate(sorted(columns))}
    top = _EDGE + _ROW
    boxes = {
        node.iri: DiagramBox(
            node.iri,
            node.kind,
            _cut(node.name),
            node.said,
            _EDGE + places[node.column] * (_BOX + _GAP),
            top + heights[node.iri] * _ROW,
        )
        for node in nodes
    }
    links = [
        _link(boxes[other], boxes[node.iri])
        for node in nodes
        for other in node.comes_from
        if other in boxes and other != node.iri
    ]
    heads = [(box.x + _BOX / 2, columns[n][0].kind) for n, box in _first(columns, boxes)]
    width = 2 * _EDGE + len(columns) * (_BOX + _GAP) - _GAP
    rows = max(heights.values(), default=0) + 1
    return Diagram(tuple(boxes.values()), tuple(links), tuple(heads), width, top + rows * _ROW)


def _first(
    columns: Mapping[int, Sequence[Drawn]], boxes: Mapping[str, DiagramBox]
) -> list[tuple[int, DiagramBox]]:
    return [(number, boxes[columns[number][0].iri]) for number in sorted(columns)]


def _heights(columns: Mapping[int, Sequence[Drawn]]) -> dict[str, float]:
    """Return the row of each node: those of the fullest column one by one, the others by these."""
    fullest = max(columns, key=lambda number: len(columns[number]))
    out = {node.iri: float(row) for row, node in enumerate(columns[fullest])}
    beside: dict[str, set[str]] = {}
    for several in columns.values():
        for node in several:
            for other in node.comes_from:
                beside.setdefault(node.iri, set()).add(other)
                beside.setdefault(other, set()).add(node.iri)
    numbers = sorted(columns)
    at = numbers.index(fullest)
    for number in (*reversed(numbers[:at]), *numbers[at + 1 :]):
        _place(columns[number], beside, out, len(columns[fullest]))
    return out


def _place(
    several: Sequence[Drawn], beside: Mapping[str, set[str]], out: dict[str, float], rows: int
) -> None:
    """Give each node of a column the mean height of what it is connected with, one row apart."""
    middle = (rows - 1) / 2
    wanted = {}
    for node in several:
        known = [out[one] for one in beside.get(node.iri, ()) if one in out]
        wanted[node.iri] = sum(known) / len(known) if known else middle
    ordered = sorted(several, key=lambda node: wanted[node.iri])
    # Where they crowd, they spread evenly about the middle of what they want.
    low = 0.0
    for place, node in enumerate(ordered):
        left = len(ordered) - place - 1
        crowd = sum(wanted[n.iri] for n in ordered[place:]) / (left + 1) - left / 2
        low = max(low, min(wanted[node.iri], max(crowd, 0.0)))
        out[node.iri] = low
        low += 1


def _link(one: DiagramBox, other: DiagramBox) -> str:
    """Return a path from the right side of a box to the left side of another one."""
    from_, to = one.y + _HIGH / 2, other.y + _HIGH / 2
    if one.x == other.x:  # in one column: round the left side
        out = one.x - _GAP / 3
        return f"M{one.x:g},{from_:g} C{out:g},{from_:g} {out:g},{to:g} {other.x:g},{to:g}"
    x, end = one.x + _BOX, other.x
    bend = _GAP / 2
    return f"M{x:g},{from_:g} C{x + bend:g},{from_:g} {end - bend:g},{to:g} {end:g},{to:g}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
