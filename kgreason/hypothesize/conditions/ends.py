"""How the ends of a path are read: of what kind they are, as numbers, as dates."""

import re
from datetime import date
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.base.terms import NUMERIC, SH, XSD

_DATE: Final = re.compile(r"[12][0-9]{3}(-[01][0-9](-[0-3][0-9].*)?)?")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FULL: Final = 10  # letters of a date with its day
_MONTH: Final = 7  # letters of a date up to its month
_CLOCK: Final = re.compile(
    r"(?:[12][0-9]{3}-[01][0-9]-[0-3][0-9]T)?([01][0-9]|2[0-3]):[0-5][0-9](?::|Z|[+-]|$)"
)


def is_code(end: Literal) -> bool:
    """Check whether a literal is a text of one word, which may be a code."""
    return end.datatype == XSD.string and len(end.value.split()) == 1


def datatype_of(end: Term) -> NamedNode | None:
    """Return the datatype of a literal."""
    return end.datatype if isinstance(end, Literal) else None


def language_of(end: Term) -> Literal | None:
    """Return the language of a literal, empty where it has none."""
    return Literal(end.language or "") if isinstance(end, Literal) else None


def node_kind_of(end: Term) -> NamedNode:
    """Return the node kind, as SHACL names it."""
    if isinstance(end, NamedNode):
        return SH.IRI
    return SH.Literal if isinstance(end, Literal) else SH.BlankNode


def number_of(end: Literal) -> float | None:
    """Return a number, or a text that is one; None for anything else, and for a year."""
    if end.datatype not in NUMERIC and (end.datatype != XSD.string or _DATE.fullmatch(end.value)):
        return None
    try:
        value = float(end.value)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def date_of(end: Literal) -> str | None:
    """Return a date, or the beginning of one, as text; None for anything else."""
    return end.value if end.datatype not in NUMERIC and _DATE.fullmatch(end.value) else None


def is_date(end: Term) -> bool:
    """Check whether an end is a date, or the beginning of one."""
    return isinstance(end, Literal) and date_of(end) is not None


def weekday_of(end: Term) -> Literal | None:
    """Return the day of the week of a date or time, in English; None for anything else."""
    place = _weekday(end)
    return None if place is None else Literal(_DAYS[place])


def part_of_week_of(end: Term) -> Literal | None:
    """Return whether a date or time lies on a weekend day; None for anything else."""
    place = _weekday(end)
    if place is None:
        return None
    return Literal("weekend day" if place >= _DAYS.index("Saturday") else "working day")


def _weekday(end: Term) -> int | None:
    text = date_of(end) if isinstance(end, Literal) else None
    if text is None or len(text) < _FULL:
        return None
    try:
        return date.fromisoformat(text[:_FULL]).weekday()
    except ValueError:
        return None


def hour_of(end: Term) -> int | None:
    """Return the hour of a time, as it is written; None for anything else."""
    found = _CLOCK.match(end.value) if isinstance(end, Literal) else None
    return None if found is None else int(found[1])


def month_of(end: Term) -> int | None:
    """Return the month of a date, from 0 to 11, as it is written; None for anything else."""
    text = date_of(end) if isinstance(end, Literal) else None
    if text is None or len(text) < _MONTH or text[5:7] > "12":
        return None
    return int(text[5:7]) - 1


def written_as(key: float | str) -> Literal:
    """Return a number or a date as a query writes it."""
    if isinstance(key, str):
        return Literal(key)
    return Literal(repr(key).removesuffix(".0"), datatype=XSD.double)
