"""What a question measures and by how much: “heaviest” is about a weight, “three” is a number."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.extensions import cached
from kgreason.base.store import Row
from kgreason.base.terms import TRAILS, TYPE
from kgreason.base.words import content
from kgreason.planner.tool_catalogue import catalogue, text, values
from kgreason.routing.phrases import Phrases, words_of

_DATE: Final = "date"
"""A measure that every property of dates has, whatever it is called."""
_GROUPED: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_FIGURES: Final = re.compile(
    rf"(?<![\w.-])(?P<grouped>-?{_GROUPED})(?![\w.,-]*\d)|(?<![\w.-])-?\d+(?:[.,]\d+)?(?![\w.-])"
)
"""A comma with three digits behind it groups thousands; any other one stands before decimals."""
_SPELT: Final[Mapping[str, int]] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50,
    "hundred": 100, "thousand": 1000,
}  # fmt: skip
"""“One” is none of them, for it mostly stands in place of a noun; after “than” it is."""
_WORDS: Final = re.compile(
    rf"\b(?:an?\s+)?(?P<word>{'|'.join(_SPELT)})\b|\bthan\s+(?P<one>one|an?)\b", re.IGNORECASE
)
_LONG: Final = re.compile(r"\b(?:longest|shortest)\b", re.IGNORECASE)
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_TIME: Final = re.compile(
    r"\b(?P<word>in|of|during|since|from|after|before|until|on)\s+(?:the\s+year\s+)?"
    rf"(?:(?P<day>\d{{4}}-\d\d(?:-\d\d)?)|(?:(?P<month>{'|'.join(_MONTHS)})\s+)?"
    r"(?P<year>(?:1[5-9]|20)\d\d))(?![\w.-]*\d)",
    re.IGNORECASE,
)
_AFTER_ALL: Final = "~"
"""What stands after every text of a date that begins in the same way."""
_LEADS: Final = 2
"""Different numbers or dates that a property needs to order anything."""


class Measured(NamedTuple):
    """A property, and whether it has numbers or dates by which nodes can be ordered."""

    name: ox.NamedNode
    numeric: bool = False
    dated: bool = False


class _Measure(NamedTuple):
    phrases: re.Pattern[str]
    words: frozenset[str]


@cached
def _measures() -> tuple[_Measure, ...]:
    store, phrases = catalogue(), Phrases({})
    found = []
    for quad in store.quads_for_pattern(None, TYPE, TRAILS.Measure, None):
        if not isinstance(quad.subject, ox.Triple):
            said = sorted(text(one) for one in values(store, quad.subject, TRAILS.phrase))
            names = " ".join(text(one) for one in values(store, quad.subject, TRAILS.measures))
            found.append(_Measure(phrases.any_of(said), content(names)))
    return tuple(sorted(found, key=lambda one: one.phrases.pattern))


def measured_in(question: str) -> frozenset[str]:
    """Return the words by which a property may be called that the question orders by."""
    words = words_of(question)
    return frozenset().union(*(one.words for one in _measures() if one.phrases.search(words)))


def longest_in(question: str) -> bool:
    """Check whether a question asks for the longest or shortest time: since the earliest date."""
    return bool(_LONG.search(question))


def best_measured(wanted: frozenset[str], rows: Sequence[Row]) -> Measured | None:
    """Return the property of some rows that is called by words wanted, or has dates if these are.

    Of several the one is taken that most of its words name, then that most nodes have.
    """
    found: dict[Measured, tuple[int, int, str]] = {}
    for row in rows:
        known = row["property"]
        if not isinstance(known, ox.NamedNode):
            continue
        numeric, dated = (int(row[one].value) >= _LEADS for one in ("numbers", "dates"))
        named = len(content(known.value) & wanted) if numeric or dated else 0
        if named or (dated and _DATE in wanted):
            made = Measured(known, numeric, dated)
            found[made] = (named, int(row["having"].value), known.value)
    return max(found, key=lambda one: found[one], default=None)


class Period(NamedTuple):
    """A time that a question names: the least text of a date in it, and a text after its last."""

    first: str
    last: str
    said: str


def period_in(question: str) -> Period | None:
    """Return the first time that a question names: a year, a month of one, or a day."""
    hit = _TIME.search(question)
    if hit is None:
        return None
    day = hit["day"] or hit["year"]
    if hit["month"]:
        day = f"{day}-{_MONTHS.index(hit['month'].casefold()) + 1:02}"
    end = f"{day}{_AFTER_ALL}"
    word = hit["word"].casefold()
    if word in {"since", "from"}:
        return Period(day, _AFTER_ALL, hit[0])
    if word == "after":
        return Period(end, _AFTER_ALL, hit[0])
    if word == "until":
        return Period("", end, hit[0])
    return Period("", day, hit[0]) if word == "before" else Period(day, end, hit[0])


def number_in(question: str) -> tuple[str, str] | None:
    """Return the first number of a question and the word that says it; figures go first."""
    hit = _FIGURES.search(question)
    if hit is not None:
        return hit[0].replace(",", "" if hit["grouped"] else "."), hit[0]
    for word in _WORDS.finditer(question):
        if word["one"]:
            return "1", word["one"]
        return str(_SPELT[word["word"].casefold()]), word["word"]
    return None
