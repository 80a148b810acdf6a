"""How the rows of a section are read: one function for each layout.

- heading: ?heading, and perhaps ?badge and ?sentence: opens a block;
- sentence, list: ?sentence, and ?node (?field, ?value) for what it cites; rows of the same sentence
  are one item;
- table: a column for each variable;
- facts, figures: ?label ?value;
- query: ?check ?query: a query to be run on the data;
- diagram: ?column ?kind ?node ?name ?said ?from: boxes in columns, with a line from what each comes
  from;
- chart: ?member ?series ?role ?point ?value ?what ?threshold: lines over points, where the role is
  leading, rival or none.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import QueryError, TemplateError
from kgreason.base.store import Results, Row, check_query
from kgreason.base.templates import Template
from kgreason.report.cells import EMPTY, Cell, cell, clean, column

MOST: Final = 12
"""Rows of a table or list that are shown unless the header says otherwise."""
_CITED: Final = 4


@dataclass(frozen=True)
class Heading:
    """What opens a block."""

    text: str
    badge: str
    sentence: str


@dataclass(frozen=True)
class Citation:
    """A node with the field and value that are cited of it."""

    node: Cell
    field: Cell
    value: Cell


@dataclass(frozen=True)
class Item:
    """A sentence, the first of the nodes it cites, and how many more there are."""

    sentence: str
    citations: tuple[Citation, ...]
    more: int = 0

    @property
    def field(self) -> Cell | None:
        """The field, where all citations are of the same one."""
        fields = {citation.field for citation in self.citations}
        common = fields.pop() if len(fields) == 1 else EMPTY
        return common if common.text else None


@dataclass(frozen=True)
class Check:
    """A query to be run, and what it answers."""

    question: str
    query: str


@dataclass(frozen=True)
class Point:
    """A value from 0 to 1 at a position from 0, and what led to it."""

    position: int
    value: float
    what: str


@dataclass(frozen=True)
class Series:
    """One line of a chart; its role is leading, rival or none."""

    name: str
    role: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Drawn:
    """A box of a diagram: the node it stands for, what it is called and says, where it comes from.

    Columns run from left to right as one thing leads to the next.
    """

    iri: str
    column: int
    kind: str
    name: str
    said: str
    comes_from: tuple[str, ...]


@dataclass(frozen=True)
class Content:
    """What a section shows, read by its layout; `more` rows are there beyond what is shown."""

    heading: Heading | None = None
    items: tuple[Item, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    checks: tuple[Check, ...] = ()
    series: tuple[Series, ...] = ()
    threshold: float | None = None
    drawn: tuple[Drawn, ...] = ()
    more: int = 0
    empty: str = ""
    notices: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (
            self.heading or self.items or self.rows or self.checks or self.series or self.drawn
        )


def _heading(_: Template, rows: Results) -> Content:
    if not rows:
        return Content()
    row = rows[0]
    return Content(
        heading=Heading(_text(row, "heading"), _text(row, "badge"), _text(row, "sentence"))
    )


def _items(section: Template, rows: Results) -> Content:
    """Read sentences; where they are claims, those that cite nothing are left out."""
    found: dict[str, list[Citation]] = {}
    for row in rows:
        cited = found.setdefault(_text(row, "sentence"), [])
        if "node" in row:
            citation = Citation(*(cell(row.get(name)) for name in ("node", "field", "value")))
            if citation not in cited:
                cited.append(citation)
    claims = section.header.get("cited") == "yes"
    items = [
        Item(sentence, tuple(cited[:_CITED]), max(0, len(cited) - _CITED))
        for sentence, cited in found.items()
        if cited or not claims
    ]
    most = _most(section)
    return Content(
        items=tuple(items[:most]),
        more=max(0, len(items) - most),
        empty=section.header.get("empty", ""),
    )


def refused(section: Template, rows: Results) -> list[str]:
    """Name the claims of a section that cite no node; they are not told."""
    if section.header.get("cited") != "yes":
        return []
    cited = {_text(row, "sentence") for row in rows if "node" in row}
    bare = dict.fromkeys(_text(row, "sentence") for row in rows)
    return [
        f"A claim was refused, since nothing is cited for it: “{sentence}” (report/{section.name})."
        for sentence in bare
        if sentence not in cited
    ]


def _table(section: Template, rows: Results) -> Content:
    looks = {
        name: look
        for look in ("bar", "share", "badge")
        for name in section.header.get(f"{look}s", "").split()
    }
    bound = {name for row in rows for name in row}
    shown = [name for name in rows.variables if name in bound]
    most = _most(section)
    return Content(
        columns=tuple(column(name) for name in shown),
        rows=tuple(
            tuple(cell(row.get(name), looks.get(name, "")) for name in shown) for row in rows[:most]
        ),
        more=max(0, len(rows) - most),
        empty=section.header.get("empty", ""),
    )


def _checks(section: Template, rows: Results) -> Content:
    """Read queries; one that does not parse is left out, with a notice."""
    checks, notices = [], []
    for row in rows:
        question, query = _text(row, "check"), row["query"].value
        try:
            check_query(query, f"report/{section.name}", allow_service=True)
        except QueryError as error:
            notices.append(f"A query could not be offered ({question}): {clean(str(error))}")
            continue
        checks.append(Check(question, query.strip()))
    return Content(checks=tuple(checks), notices=tuple(notices))


def _diagram(_: Template, rows: Results) -> Content:
    """Read boxes; several rows of one node are one box that comes from several."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["node"].value, []).append(row)
    drawn = [
        Drawn(
            iri,
            int(own[0]["column"].value),
            _text(own[0], "kind"),
            _text(own[0], "name"),
            _text(own[0], "said"),
            tuple(dict.fromkeys(row["from"].value for row in own if "from" in row)),
        )
        for iri, own in found.items()
    ]
    return Content(drawn=tuple(drawn))


def _chart(_: Template, rows: Results) -> Content:
    """Read lines; points are numbered over all lines, so that the same step is the same place."""
    steps = sorted({int(row["point"].value) for row in rows})
    places = {step: place for place, step in enumerate(steps)}
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(row["member"].value, []).append(row)
    series = [
        Series(_text(own[0], "series"), _text(own[0], "role"), _points(own, places))
        for own in lines.values()
    ]
    limits = [float(row["threshold"].value) for row in rows if "threshold" in row]
    return Content(
        series=tuple(series) if len(steps) > 1 else (),
        threshold=next(iter(limits), None),
    )


def _points(rows: list[Row], places: Mapping[int, int]) -> tuple[Point, ...]:
    return tuple(
        Point(places[int(row["point"].value)], float(row["value"].value), _text(row, "what"))
        for row in rows
    )


def _most(section: Template) -> int:
    listed = section.header["layout"] in {"facts", "figures"}
    return int(section.header.get("most", sys.maxsize if listed else MOST))


def _text(row: Row, name: str) -> str:
    term = row.get(name)
    if term is None:
        return ""
    if not isinstance(term, ox.Literal):
        raise TemplateError(f"A report section must bind ?{name} to a text, not to {term}.")
    return clean(term.value, 2000)


LAYOUTS: Final[Mapping[str, Callable[[Template, Results], Content]]] = {
    "heading": _heading,
    "sentence": _items,
    "list": _items,
    "table": _table,
    "facts": _table,
    "figures": _table,
    "query": _checks,
    "chart": _chart,
    "diagram": _diagram,
}
