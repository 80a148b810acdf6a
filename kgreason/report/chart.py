"""The geometry of a chart of how confidence moved; the page draws it as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.report.cells import number
from kgreason.report.layouts import Series

WIDTH: Final = 720
HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 14, 12, 30
_MARKED: Final = 60
"""Points of a line beyond which they are not marked one by one."""
_SPARKS: Final = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Mark:
    """A point of a line: its place on the page, and what it says."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Line:
    """A line to be drawn; `colour` is a position in the palette, `course` is "first → last"."""

    name: str
    role: str
    colour: int
    path: str
    marks: tuple[Mark, ...]
    course: str


@dataclass(frozen=True)
class Chart:
    """A chart to be drawn: lines, the height of the threshold, and the scales."""

    lines: tuple[Line, ...]
    threshold: tuple[float, str] | None
    levels: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    bottom: float = HEIGHT - _BOTTOM
    width: float = WIDTH
    height: float = HEIGHT


def draw(series: Sequence[Series], threshold: float | None) -> Chart:
    """Lay out lines whose values run from 0 to 1 over numbered positions."""
    last = max(point.position for line in series for point in line.points)
    lines = []
    rivals = 0
    for one in series:
        rivals += one.role == "rival"
        marks = tuple(
            Mark(_x(p.position, last), _y(p.value), f"{p.what}: {number(str(p.value))}")
            for p in one.points
        )
        path = " ".join(f"{mark.x:g},{mark.y:g}" for mark in marks)
        shown = marks if len(marks) <= _MARKED else ()
        colour = rivals if one.role == "rival" else 0
        lines.append(Line(one.name, one.role, colour, path, shown, course(one)))
    step = max(1, -(-last // 12))
    return Chart(
        lines=tuple(lines),
        threshold=None if threshold is None else (_y(threshold), number(str(threshold))),
        levels=tuple((_y(value), f"{value:g}") for value in (0.0, 0.25, 0.5, 0.75, 1.0)),
        ticks=tuple((_x(n, last), str(n)) for n in range(0, last + 1, step)),
    )


def _x(position: int, last: int) -> float:
    return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * position / max(1, last), 1)


def _y(value: float) -> float:
    return round(_TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - min(1.0, max(0.0, value))), 1)


def course(series: Series) -> str:
    """Write where a line starts and ends."""
    first, last = series.points[0].value, series.points[-1].value
    return f"{number(str(first))} → {number(str(last))}"


def sparks(series: Series) -> str:
    """Write a line as a row of blocks, one a point."""
    top = len(_SPARKS) - 1
    return "".join(_SPARKS[round(top * min(1.0, max(0.0, p.value)))] for p in series.points)
