"""What a report shows of one RDF term: a short text, the whole of it, a link where it is safe."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES, XSD
from kgreason.record import node_name

Look = Literal["text", "iri", "number", "bar", "badge"]

LONGEST: Final = 300
"""Characters of a text that are shown; literals may be of a megabyte."""
_NUMBERS: Final = {XSD.integer, XSD.decimal, XSD.double, XSD.float}
_LINKED: Final = re.compile(r"https?://[^\s<>\"'`{}|\\^]+", re.IGNORECASE)
_SURE: Final = 0.9995
_FAINT: Final = 0.0005
_WHOLE: Final = 100


@dataclass(frozen=True)
class Cell:
    """A term to be shown.

    `text` is short, `full` the whole (cut where it is very long), `link` an http(s) address or
    None, `share` the value of a bar from 0 to 1.
    """

    look: Look
    text: str
    full: str
    link: str | None = None
    share: float | None = None


EMPTY: Final = Cell("text", "", "")


def cell(term: Term | None, look: str = "") -> Cell:
    """Make a cell of a term, with nothing in it where there is none.

    `look` may ask for a bar of a number from 0 to 1, the same as a share (in per cent), or a badge
    (of a status).
    """
    if term is None:
        return EMPTY
    if not isinstance(term, ox.Literal):
        return _node(term)
    full = clean(term.value)
    if look == "badge":
        return Cell("badge", full, full)
    if term.datatype in _NUMBERS:
        text = number(term.value)
        if look in {"bar", "share"}:
            share = min(1.0, max(0.0, float(term.value)))
            shown = percent(share) if look == "share" else text
            return Cell("bar", shown, full, share=share)
        return Cell("number", text, full)
    return Cell("text", full, full)


def _node(term: ox.NamedNode | ox.BlankNode) -> Cell:
    name = clean(node_name(term) if isinstance(term, ox.NamedNode) else f"_:{term.value}")
    if name.startswith("_:"):
        return Cell("iri", name, name)
    link = name if _LINKED.fullmatch(name) else None
    return Cell("iri", short_iri(name), name, link)


def short_iri(iri: str) -> str:
    """Return a prefixed name where the prefix is well known, else what follows the last / or #."""
    for prefix, namespace in PREFIXES.items():
        if prefix != "work" and iri.startswith(namespace) and len(iri) > len(namespace):
            return f"{prefix}:{iri.removeprefix(namespace)}"
    tail = re.split(r"[/#]", iri.rstrip("/#"))[-1]
    return tail or iri


def clean(text: str, longest: int = LONGEST) -> str:
    """Make a text fit for one line: no control or direction marks, at most `longest` characters."""
    shown = text[: longest + 1]
    if not shown.isprintable():
        shown = "".join(_visible(char) for char in shown)
    shown = re.sub(r"\s+", " ", shown).strip()
    if len(text) > longest:
        return f"{shown[:longest]}… ({len(text):,} characters)"
    return shown


def _visible(char: str) -> str:
    if char.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in {"Cc", "Cf", "Cs"} else char


def number(text: str) -> str:
    """Write a number as people read it: groups of thousands, three places at most."""
    try:
        value = float(text)
    except ValueError:
        return clean(text)
    if value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - beyond, a float is not exact
        return f"{int(value):,}"
    if _SURE <= value < 1:
        return "> 0.999"
    if 0 < value < _FAINT:
        return "< 0.001"
    return f"{value:,.1f}" if abs(value) >= _WHOLE else f"{value:.3f}".rstrip("0")


def percent(share: float) -> str:
    """Write a share as people read it; what is not quite all or nothing is not rounded to it."""
    value = 100 * share
    if 0 < value < 0.1:  # noqa: PLR2004 - one place is shown
        return "< 0.1 %"
    if 99.9 < value < 100:  # noqa: PLR2004 - one place is shown
        return "> 99.9 %"
    return f"{value:.0f} %" if value.is_integer() else f"{value:.1f} %"


def column(variable: str) -> str:
    """Return the title of a column from the name of its variable."""
    return variable.replace("_", " ").capitalize()
