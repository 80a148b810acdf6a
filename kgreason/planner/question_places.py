"""Where words stand in a question, and what looks like a name in it."""

import re
from collections.abc import Iterable
from typing import Final

import pyoxigraph as ox

from kgreason.base.words import content

NAMED: Final = re.compile(
    r'"(?P<quoted>[^"]+)"|[\u201c](?P<curly>[^\u201d]+)[\u201d]|<(?P<iri>[^<>\s]+)>'
    r"|\b(?P<curie>[A-Za-z][\w-]*:[\w-]+)\b|(?<![\w.-])(?P<code>[A-Za-z][\w.-]*\d[\w-]*)(?![\w-])"
)
CODES: Final = ("iri", "curie", "code")
"""Forms of a name that only a node has."""
SHORT: Final = re.compile(r"(?<![\w.-])[A-Z]{2}(?![\w-])")
"""Codes that are too short for a word, such as those of countries."""
CAPITAL: Final = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")


class Places:
    """The words of a question in their order; words that name something are told as `content`."""

    def __init__(self, question: str) -> None:
        self._said = re.findall(r"[^\W_]+", question)
        self._named = [content(one) | {one} for one in self._said]

    def of(self, word: str) -> list[int]:
        """Return where a word stands."""
        return [n for n, one in enumerate(self._named) if word in one]

    def first(self, words: Iterable[str]) -> int:
        """Return where the first of some words stands; behind the last where none does."""
        wanted = set(words)
        return next((n for n, one in enumerate(self._named) if one & wanted), len(self._named))

    def behind(self, words: Iterable[str]) -> int:
        """Return the place right behind the first of some words, and what follows of them."""
        wanted, place = set(words), self.first(words)
        while place < len(self._named) and self._named[place] & wanted:
            place += 1
        return place

    def together(self, words: Iterable[str]) -> bool:
        """Check whether some words stand together: "concept scheme", "certificate of origin"."""
        places = [self.of(one) for one in words]
        return any(
            all(any(abs(place - other) <= len(places) for other in each) for each in places)
            for place in places[0]
        )

    def follows(self, words: Iterable[str], after: frozenset[str]) -> bool:
        """Check whether the first of some words stands at most two after one of some others."""
        place = self.first(words)
        said = [one.casefold() for one in self._said[max(0, place - 2) : place]]
        return bool(after.intersection(said))


def is_loud(question: str) -> bool:
    """Check whether a question is in capitals throughout, so that these say nothing of a word."""
    return question.isupper() and len(question.split()) > 1


def iri_of(text: str) -> ox.NamedNode | None:
    """Return the IRI that a text is, None where it is none."""
    if ":" not in text:
        return None
    try:
        return ox.NamedNode(text)
    except ValueError:
        return None
