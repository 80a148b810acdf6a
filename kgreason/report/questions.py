"""The stored questions that people ask of the reasoning history (`queries/history/`)."""

import re
import textwrap
from collections.abc import Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.store import Results, Term
from kgreason.base.templates import Template, Value, role
from kgreason.base.terms import TRAILS
from kgreason.record import Record, node_name, number_of
from kgreason.record.divided import Whole
from kgreason.report.cells import clean

_ROLE: Final = "history"
_NARROWEST: Final = 8
_NARROW: Final = 100
"""Columns below which a row is told line by line where a table would break words."""
_NUMBER: Final = "number"
"""What stored questions call the number of a hypothesis."""


def questions() -> list[Template]:
    """Return the stored questions by name; the header `question` is how people put it."""
    return list(role(_ROLE).values())


def text(record: Record, question: Template) -> str:
    """Return a stored question as a SPARQL text, about all hypotheses where it takes some."""
    values: dict[str, Value] = {"investigation": record.iri}
    if "hypotheses" in question.parameters:
        values["hypotheses"] = []
    return question.render(**values)


def ask(record: Record, name: str, *, hypothesis: str | ox.NamedNode | None = None) -> Results:
    """Ask a stored question of an investigation, about one hypothesis (IRI or number) or about all.

    Raises OptionError for a question or a hypothesis that there is not.
    """
    found = role(_ROLE).get(name)
    if found is None:
        raise OptionError(f"There is no question {name!r}; there are: {', '.join(role(_ROLE))}.")
    values: dict[str, Value] = {"investigation": record.iri}
    if "hypotheses" in found.parameters:
        values["hypotheses"] = [] if hypothesis is None else [find(record, hypothesis)]
    elif hypothesis is not None:
        raise OptionError(f"The question {name!r} is not about single hypotheses.")
    return record.store.select(found.render(**values))


def find(record: Record, hypothesis: str | ox.NamedNode) -> ox.NamedNode:
    """Return the IRI of a hypothesis named by IRI or number; raises OptionError if there is none.

    An H may stand before the number.
    """
    given = hypothesis.value if isinstance(hypothesis, ox.NamedNode) else hypothesis
    wanted = number_of(given, "H")
    known = {row["hypothesis"].value for row in record.select("result-hypotheses")}
    for iri in (wanted, f"{record.iri.value}:hypothesis:{wanted}"):
        if iri in known:
            return ox.NamedNode(iri)
    if isinstance(record, Whole):  # the hypotheses of its parts are numbered on
        for iri in sorted(known):
            numbers = record.store.values(ox.NamedNode(iri), TRAILS.index, record.iri)
            if wanted in {number.value for number in numbers}:
                return ox.NamedNode(iri)
    raise OptionError(
        f"There is no hypothesis {given} in {record.iri.value}; "
        f"it has {len(known)}, numbered from H1."
    )


def table(rows: Results, record: Record | None = None, *, width: int = 160) -> str:
    """Write rows as a plain table of about `width` characters; long cells are wrapped.

    With `record`, its own nodes are written without the part of the IRI that they share, and
    hypotheses by their numbers: H1.
    """
    own = f"{record.iri.value}:" if record is not None else None
    cells = [[_text(name, row.get(name), own) for name in rows.variables] for row in rows]
    if not cells:
        return "Nothing.\n"
    words = sum(longest_words(rows.variables, cells)) + 2 * (len(cells[0]) - 1)
    if width < _NARROW and words > width:
        return in_lines(rows.variables, cells, width)
    widths = _widths(rows.variables, cells, width)
    lines = [_line(list(rows.variables), widths), "  ".join("-" * w for w in widths) + "\n"]
    lines += [_line(row, widths) for row in cells]
    return "".join(lines)


def _text(variable: str, term: Term | None, own: str | None) -> str:
    if term is None:
        return ""
    if variable == _NUMBER:
        return f"H{term.value}"
    name = node_name(term) if isinstance(term, ox.NamedNode) else term.value
    if own is not None and isinstance(term, ox.NamedNode):
        name = re.sub(f"^{re.escape(own)}(hypothesis:(?=[0-9]+$))?", _shorter, name)
    return clean(name)


def _shorter(found: re.Match[str]) -> str:
    return "H" if found[1] else ""


def longest_words(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Return the length of the longest word of each column, which is not to be broken."""
    return [
        max((len(word) for text in column for word in text.split()), default=0)
        for column in zip(heads, *cells, strict=True)
    ]


def in_lines(heads: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> str:
    """Return each row as lines of a name and a value, where a table has no room."""
    blocks = (
        "\n".join(
            textwrap.fill(
                f"{head}: {text}",
                max(width, _NARROWEST),
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for head, text in zip(heads, row, strict=True)
            if text
        )
        for row in cells
    )
    return "\n\n".join(blocks) + "\n"


def _widths(variables: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return each column what it needs; the widest give way first until the table fits."""
    needs = [max(len(name), *(len(row[n]) for row in cells)) for n, name in enumerate(variables)]
    room = width - 2 * (len(needs) - 1)
    while sum(needs) > room:
        widest = max(range(len(needs)), key=lambda n: needs[n])
        if needs[widest] <= max(_NARROWEST, len(variables[widest])):
            break
        needs[widest] -= 1
    return needs


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    wrapped = [
        textwrap.wrap(text, w, break_on_hyphens=False) or [""]
        for text, w in zip(texts, widths, strict=True)
    ]
    height = max(len(parts) for parts in wrapped)
    rows = []
    for n in range(height):
        parts = [
            (cell[n] if n < len(cell) else "").ljust(w)
            for cell, w in zip(wrapped, widths, strict=True)
        ]
        rows.append("  ".join(parts).rstrip() + "\n")
    return "".join(rows)
