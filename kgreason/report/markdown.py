"""The report as Markdown (GitHub's dialect): plain enough to be read as it is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from kgreason.record import Record
from kgreason.report.cells import Cell
from kgreason.report.chart import course, sparks
from kgreason.report.document import Block, Document, Section, build
from kgreason.report.layouts import Citation, Content, Drawn, Item
from kgreason.report.narrator import TEMPLATES, Narrator, narrated

_SPECIAL: Final = re.compile(r"[\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING: Final = re.compile(r"^([#+=-]+|\d+[.)])(?=\s|$)")
_LEVELS: Final = {"report": 1, "symptom": 2, "hypothesis": 3}


def render(record: Record, narrator: Narrator = TEMPLATES) -> str:
    """Return the report of an investigation as Markdown; text from the graph is escaped."""
    return write(narrated(build(record), narrator))


def write(document: Document) -> str:
    """Write a report that was built before."""
    parts = [part for block in document.blocks for part in _block(block)]
    if document.notices:
        parts.append("## Left out of this report")
        parts.append("\n".join(f"- {escape(notice)}" for notice in document.notices))
    if document.narrator:
        parts.append(f"*{escape(document.narrator)}*")
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    level = _LEVELS[block.level]
    if block.heading is not None:
        badge = f" — *{escape(block.heading.badge)}*" if block.heading.badge else ""
        yield f"{'#' * level} {escape(block.heading.text)}{badge}"
        if block.heading.sentence:
            yield escape(block.heading.sentence)
    if block.narration is not None:
        yield f"> **{escape(block.narration.by)}:** {escape(block.narration.text)}"
    for section in block.sections:
        if section.layout != "heading":
            yield from _section(section, level + 1)
    for inner in block.blocks:
        yield from _block(inner)


def _section(section: Section, level: int) -> Iterator[str]:
    if section.title:
        yield f"{'#' * level} {escape(section.title)}"
    content = section.content
    if content.is_empty:
        yield escape(content.empty)
    else:
        intro = section.template.header.get("intro", "")
        if intro:
            yield escape(intro)
        yield _WRITERS[section.layout](content)
    yield f"<!-- report/{section.name} sha256={section.digest} -->"


def _sentences(content: Content) -> str:
    return "\n\n".join(_item(item) for item in content.items)


def _list(content: Content) -> str:
    lines = [f"- {_item(item)}" for item in content.items]
    return "\n".join([*lines, *_more(content.more, "- ")])


def _item(item: Item) -> str:
    text = escape(item.sentence)
    if not item.citations:
        return text
    cited = ", ".join(_citation(citation, item.field) for citation in item.citations)
    more = f" and {item.more:,} more" if item.more else ""
    field = f" ({_cell(item.field)})" if item.field else ""
    return f"{text} *Cites* {cited}{more}{field}."


def _citation(citation: Citation, field: Cell | None) -> str:
    text = _cell(citation.node)
    if citation.field.text and citation.field != field:
        text += f" {_cell(citation.field)}"
    return f"{text} “{escape(citation.value.text)}”" if citation.value.text else text


def _table(content: Content) -> str:
    rows = [
        "| " + " | ".join(escape(title) for title in content.columns) + " |",
        "|" + "|".join(_rule(content.rows, n) for n in range(len(content.columns))) + "|",
    ]
    rows += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in content.rows]
    return "\n".join(rows) + "".join(f"\n\n{line}" for line in _more(content.more, ""))


def _rule(rows: Sequence[Sequence[Cell]], column: int) -> str:
    looks = {row[column].look for row in rows if row[column].text}
    return "---:" if looks and looks <= {"number", "bar"} else "---"


def _facts(content: Content) -> str:
    return "\n".join(f"- **{_cell(label)}:** {_cell(value)}" for label, value in content.rows)


def _figures(content: Content) -> str:
    return " · ".join(f"**{_cell(value)}** {_cell(label)}" for label, value in content.rows)


def _checks(content: Content) -> str:
    parts = []
    for number, check in enumerate(content.checks, start=1):
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", check.query))])
        parts.append(f"{number}. {escape(check.question)}\n\n{fence}sparql\n{check.query}\n{fence}")
    return "\n\n".join(parts)


def _chart(content: Content) -> str:
    rows = ["| Hypothesis | Before → after | Test by test |", "|---|---|---|"]
    rows += [
        f"| {escape(line.name)} | {escape(course(line))} | {sparks(line)} |"
        for line in content.series
    ]
    return "\n".join(rows)


def _diagram(content: Content) -> str:
    names = {box.iri: f"{box.kind} {box.name}" for box in content.drawn}
    return "\n".join(
        f"- **{escape(names[box.iri])}**{_from(box, names)}: {escape(box.said)}"
        for box in content.drawn
    )


def _from(box: Drawn, names: Mapping[str, str]) -> str:
    came = [escape(names[one]) for one in box.comes_from if one in names]
    return f" (from {', '.join(came)})" if came else ""


def _more(count: int, lead: str) -> list[str]:
    return [f"{lead}… and {count:,} more"] if count else []


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.link is not None:
        return f"[{text}](<{cell.link}>)"
    if cell.look == "iri" and cell.text != cell.full:
        return f"{text} ({escape(cell.full)})"
    return text


def escape(text: str) -> str:
    """Make text from anywhere mean itself in Markdown; it stays on one line."""
    line = " ".join(text.split())
    return _OPENING.sub(_backslash, _SPECIAL.sub(r"\\\g<0>", line))


def _backslash(match: re.Match[str]) -> str:
    """Keep what opens a heading, list or rule from doing so."""
    mark = match[0]
    return f"{mark[:-1]}\\{mark[-1]}"


_WRITERS: Final[Mapping[str, Callable[[Content], str]]] = {
    "sentence": _sentences,
    "list": _list,
    "table": _table,
    "facts": _facts,
    "figures": _figures,
    "query": _checks,
    "chart": _chart,
    "diagram": _diagram,
}
