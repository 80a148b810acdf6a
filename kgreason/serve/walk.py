"""The provenance as a graph one can walk: a node of the record, and what is next to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from kgreason.report.document import Block, Section
from kgreason.serve.addresses import called, href

_MOST: Final = 14
_ROW: Final = 34
_BOX: Final = 260
_WIDTH: Final = 1000
_LONGEST: Final = 22
_TOP: Final = 24


@dataclass(frozen=True)
class Neighbour:
    """A node beside another one: along which property, in which direction, and of what kind."""

    iri: str
    along: str
    kind: str
    outward: bool

    @property
    def name(self) -> str:
        """What it is called."""
        return called(self.iri)


def neighbours(page: Block) -> list[Neighbour]:
    """Return what the sections `leads-to` and `comes-from` of a page tell."""
    return [one for section in page.sections for one in _of(section)]


def _of(section: Section) -> Iterator[Neighbour]:
    if section.name not in {"leads-to", "comes-from"}:
        return
    for row in section.content.rows:
        cells = dict(zip(section.content.columns, row, strict=True))
        kind = cells["Kind"].text if "Kind" in cells else ""
        yield Neighbour(cells["Other"].full, cells["Along"].text, kind, section.name == "leads-to")


def elements(nonce: str, node: str, beside: list[Neighbour]) -> dict[str, Any]:
    """Return nodes and links as JSON for a drawing; what has no page is left out."""
    nodes = {node: {"id": node, "label": called(node), "page": href(nonce, node)}}
    links = []
    for one in beside:
        page = href(nonce, one.iri)
        if page is None:
            continue
        nodes.setdefault(
            one.iri, {"id": one.iri, "label": one.name, "kind": one.kind, "page": page}
        )
        ends = (node, one.iri) if one.outward else (one.iri, node)
        links.append({"source": ends[0], "target": ends[1], "label": one.along})
    return {"nodes": list(nodes.values()), "links": links}


@dataclass(frozen=True)
class Box:
    """A box of the drawing: its text, where it is, where it leads; `along` stands at its line."""

    text: str
    whole: str
    x: float
    y: float
    page: str | None
    along: str = ""
    outward: bool = True


@dataclass(frozen=True)
class Drawing:
    """A node in the middle, what leads to it at the left, and what it leads to at the right."""

    middle: Box
    boxes: tuple[Box, ...]
    height: float
    left_out: int
    width: float = _WIDTH
    box: float = _BOX


def drawing(nonce: str, node: str, beside: list[Neighbour]) -> Drawing:
    """Draw a node with its neighbours, without any script."""
    told = [one for one in beside if href(nonce, one.iri)]
    sides = [[one for one in told if one.outward is outward] for outward in (False, True)]
    rows = max(1, *(min(len(side), _MOST) for side in sides))
    boxes = [
        Box(
            _cut(one.name),
            one.iri,
            _WIDTH - _BOX if one.outward else 0,
            _TOP + place * _ROW,
            href(nonce, one.iri),
            _cut(one.along.rpartition(":")[2]),
            one.outward,
        )
        for side in sides
        for place, one in enumerate(side[:_MOST])
    ]
    height = 2 * _TOP + rows * _ROW
    middle = Box(called(node), node, (_WIDTH - _BOX) / 2, (height - _ROW) / 2, None)
    return Drawing(middle, tuple(boxes), height, len(told) - len(boxes))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
