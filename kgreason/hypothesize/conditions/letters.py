"""What a text is made of: its words and runs, the classes of letters in it, how an IRI begins.

The same texts lie at the ends of many paths, for several populations, so that each is taken apart
once. What texts have in common is kept once, too.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from kgreason.base.figures import integer
from kgreason.base.templates import template

_LONG: Final = integer("textLetters")
_PIECE: Final = integer("pieceLetters")
_KEPT: Final = 1 << 16  # texts of which the parts are kept
_SHORT: Final = 1_000  # letters; longer texts are not kept
_WORD: Final = re.compile(r"[^\W_]{2,30}")
# A run of letters that are not all plain ones; it takes up nothing, so that runs may overlap.
_RUN: Final = re.compile(
    "(?=({}))".format(
        "|".join(
            "." * place + r"[^A-Za-z0-9\s]" + "." * (_PIECE - place - 1) for place in range(_PIECE)
        )
    ),
    re.DOTALL,
)
# A date or time, up to its time zone: bounds, days of the week and hours tell more of it.
_DATED: Final = re.compile(
    r"[12][0-9]{3}-[01][0-9](?:-[0-3][0-9](?:T[0-2][0-9]:[0-5][0-9](?::[0-9.]+)?)?)?"
    r"(?=$|Z$|[+-][0-9]{2}:?[0-9]{2}$)"
)
_DIGITS: Final = re.compile("[0-9]+")
_CAPITALS: Final = re.compile("[A-Z]+")
_SMALL: Final = re.compile("[a-z]+")
_CUTS: Final = re.compile(r"[/#_.:-]+")
_ADDRESS: Final = re.compile(r"https?://\S+")  # as the test `prefix` has it
_DEEPER: Final = re.compile(r"[/#]")
_SPACE: Final = re.compile(r"(.*[/#])(?:[A-Za-z]+[_-](?=[0-9]+$))?", re.DOTALL)
_same: Final[dict[str, str]] = {}


def pieces_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, and its runs of three letters that words do not tell, each once.

    Three plain letters of a word say nothing to anybody; with a mark or a strange letter among them
    they may be a slip of coding, a wrong scheme, a suffix. Of a date or time it is the time zone.
    """
    return _pieces(text[:_LONG])


@lru_cache(maxsize=_KEPT)
def _pieces(short: str) -> tuple[str, ...]:
    short = short[dated.end() :] if (dated := _DATED.match(short)) else short
    found = dict.fromkeys((*_RUN.findall(short), *_WORD.findall(short)))
    if len(_same) > _KEPT:
        _same.clear()
    return tuple(_same.setdefault(piece, piece) for piece in found)


@cache
def forms() -> Mapping[str, str]:
    """Return the regular expressions of classes of letters, each with its words."""
    lines = template("condition", "form").header["forms"].splitlines()
    return dict(line.rsplit(" = ", 1) for line in lines)


def forms_of(text: str) -> tuple[str, ...]:
    """Return the classes of letters that a text has."""
    return _forms(text) if len(text) < _SHORT else _forms.__wrapped__(text)


@lru_cache(maxsize=_KEPT)
def _forms(text: str) -> tuple[str, ...]:
    found = tuple(form for form, fits in _patterns() if fits.search(text))
    return _alike.setdefault(found, found)


_alike: Final[dict[tuple[str, ...], tuple[str, ...]]] = {}


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((form, re.compile(form)) for form in forms())


@cache
def _outlined() -> Mapping[str, int]:
    """Return the tests that compare how texts are written, each with the letters of the longest."""
    return {
        name: int(template("condition", name).header["letters"]) for name in ("numbered", "outline")
    }


@lru_cache(maxsize=_KEPT)
def outline_of(text: str, test: str) -> str | None:
    """Return a text as a test has it that compares how texts are written; None for a long one.

    `numbered` takes runs of digits as one, `outline` those of capitals and small letters too.
    """
    if len(text) > _outlined()[test]:
        return None
    numbered = _DIGITS.sub("#", text)
    return numbered if test == "numbered" else _SMALL.sub("a", _CAPITALS.sub("A", numbered))


def is_address(text: str) -> bool:
    """Check whether a text is a web address."""
    return _ADDRESS.fullmatch(text) is not None


@lru_cache(maxsize=_KEPT)
def beginnings_of(iri: str) -> tuple[str, ...]:
    """Return the beginnings of an IRI that end at a mark, the shortest first."""
    found = (iri[: mark.end()] for mark in _CUTS.finditer(iri) if mark.end() < len(iri))
    if len(_same) > _KEPT:
        _same.clear()
    return tuple(_same.setdefault(beginning, beginning) for beginning in found)


@lru_cache(maxsize=_KEPT)
def namespaces_of(iri: str) -> tuple[str, ...]:
    """Return the namespaces of an IRI: up to its name, and with the letters before a number."""
    found = _SPACE.match(iri)
    if found is None or len(found[0]) == len(iri):
        return ()
    if len(_same) > _KEPT:
        _same.clear()
    return tuple(_same.setdefault(space, space) for space in dict.fromkeys((found[1], found[0])))


def lies_in(iri: str, space: str) -> bool:
    """Check whether an IRI lies in a namespace, and not in one below it."""
    return iri.startswith(space) and _DEEPER.search(iri, len(space)) is None
