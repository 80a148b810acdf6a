"""What literals of an engine show of it: whether it gives them as they were written.

An engine may keep a literal of a query and still rewrite what it stores (a TDB of Jena packs
numbers and times into the places where others have pointers). Only what is stored shows it: a
literal in a form that no engine would give it is one that was kept.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import INTEGERS, NUMERIC, XSD

_TEXT_KINDS: Final = ("normalizedString", "token", "language", "Name", "NCName", "NMTOKEN")
KEPT: Final = frozenset({XSD.string, XSD.anyURI, *(XSD[name] for name in _TEXT_KINDS)})
"""Datatypes whose values every engine keeps as they are: texts."""
_TIMES: Final = frozenset({XSD.dateTime, XSD.dateTimeStamp})
_DAYS: Final = frozenset(
    XSD[name] for name in ("date", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")
)
# What does not fit where an engine packs values stands as it was written even in one that rewrites
# the others, so only short numbers and times of our day show anything. No engine puts a plus or
# zeros before a number. Zeros behind a decimal show nothing: TDB keeps these, and no others.
_BEFORE: Final = r"(?:\+\d+|-?0\d+)"
_ODD_INTEGER: Final = re.compile(rf"(?=.{{2,9}}$){_BEFORE}")
_ODD_DECIMAL: Final = re.compile(rf"(?=.{{2,9}}$){_BEFORE}(?:\.\d+)?")
_ODD_FLOAT: Final = re.compile(
    rf"(?=.{{2,12}}$)(?:{_BEFORE}(?:\.\d+)?|-?\d+\.\d{{1,3}}0)(?:[eE]-?\d)?"
)
_MOMENT: Final = r"(?:(?:19|20)\d\d-\d\d-\d\dT)?\d\d:\d\d:\d\d"
_ZONE: Final = r"(?:Z|[+-]\d\d:[03]0)?"
_ODD_TIME: Final = re.compile(rf"{_MOMENT}\.\d0{_ZONE}")
_ODD: Final[Mapping[ox.NamedNode, re.Pattern[str]]] = {
    **dict.fromkeys(INTEGERS, _ODD_INTEGER),
    **dict.fromkeys((XSD.double, XSD.float), _ODD_FLOAT),
    **dict.fromkeys((*_TIMES, XSD.time), _ODD_TIME),
    XSD.decimal: _ODD_DECIMAL,
}
# Two ways to write the same kind of value: an engine that rewrites has one of them.
_WAYS: Final[Mapping[ox.NamedNode, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    XSD.boolean: (re.compile("true|false"), re.compile("[01]")),
    **dict.fromkeys(
        (*_TIMES, XSD.time),
        (re.compile(rf"{_MOMENT}{_ZONE}"), re.compile(rf"{_MOMENT}\.0+{_ZONE}")),
    ),
}
_ONE_FORM: Final[Mapping[ox.NamedNode, re.Pattern[str]]] = {
    **dict.fromkeys(INTEGERS, re.compile("0|-?[1-9][0-9]*")),
    XSD.boolean: re.compile("true|false"),
}
"""The forms of which engines that rewrite make no other."""
_UTC: Final = re.compile(r".*(?:Z|[+-]00:00)")


def seen_of(literals: Iterable[object]) -> dict[ox.Literal, bool]:
    """Return a literal of each datatype that engines may rewrite, and whether it shows none did.

    Where one does, it is that one. Terms that are no literals are passed over.
    """
    plain: dict[ox.NamedNode, ox.Literal] = {}
    odd: dict[ox.NamedNode, ox.Literal] = {}
    ways: dict[ox.NamedNode, set[int]] = {}
    for one in literals:
        if not isinstance(one, ox.Literal) or one.datatype in odd or not is_rewritten(one):
            continue
        kind, form = one.datatype, one.value
        plain.setdefault(kind, one)
        both = ways.setdefault(kind, set())
        both.update(n for n, way in enumerate(_WAYS.get(kind, ())) if way.fullmatch(form))
        if len(both) == len(_WAYS.get(kind, "..")) or (
            kind in _ODD and _ODD[kind].fullmatch(form) is not None
        ):
            odd[kind] = one
    return {odd.get(kind, one): kind in odd for kind, one in plain.items()}


def is_rewritten(term: object) -> bool:
    """Check whether a literal is of a datatype whose values a store writes in its own form."""
    return isinstance(term, ox.Literal) and term.datatype in XSD and term.datatype not in KEPT


def has_one_form(literal: ox.Literal) -> bool:
    """Check whether no engine would give a literal that stands in this form another one."""
    if not is_rewritten(literal):
        return True
    form = _ONE_FORM.get(literal.datatype)
    return form is not None and form.fullmatch(literal.value) is not None


def may_be_of_another_form(literal: ox.Literal) -> bool:
    """Check whether a literal that an engine gave may have been written otherwise."""
    days = literal.datatype in _DAYS and _UTC.fullmatch(literal.value) is None
    return is_rewritten(literal) and not days


def may_be_of(kind: ox.NamedNode, wanted: ox.NamedNode) -> bool:
    """Check whether an engine might give values of a datatype another one, if it has that."""
    families = (NUMERIC, _TIMES)
    return kind != wanted and any(kind in family and wanted in family for family in families)
