"""Core terms: for what a hypothesis, or a question, is looked up."""

import re
from typing import Final

from kgreason.base.figures import integer
from kgreason.base.words import content

_QUOTED: Final = re.compile(r"“([^”]+)”")
_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W\d_]+)*")
_LETTERS: Final = re.compile(r"[^\W\d_]{3}")
_DIGEST: Final = re.compile(r"^[0-9a-f]{8,}$")
_COMMON_TEXT: Final = """
always case come common commonly contain contains data described graph high higher instead lack
lacking later low lower narrower never node often other outcome rate rest share source value whose
written
"""
_COMMON: Final = frozenset(_COMMON_TEXT.split())
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX: Final = re.compile(r"\.(?:ttl|nt|nq|trig|rdf|owl|jsonld|xml|csv|gz)\b")
_LONGEST: Final = 60
MOST: Final = integer("coreTerms")
"""As many terms a look-up asks for together at most."""


def core_terms(text: str) -> tuple[str, ...]:
    """Return up to `coreTerms` terms of a text: names in quotation marks first, then its words."""
    return all_terms(text)[:MOST]


def all_terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text: names in quotation marks first, then its words.

    Numbers, dates and digests of values that are kept out are no terms. They stand in the order of
    the text, each once, whether in the singular or the plural.
    """
    names = [one.strip() for one in _QUOTED.findall(text) if len(one) <= _LONGEST]
    rest = _SUFFIX.sub(" ", _QUOTED.sub(" ", text))
    found: dict[frozenset[str], str] = {}
    for term in (*names, *_WORD.findall(rest)):
        words = content(term)
        known = any(words <= other for other in found)
        if (
            words
            and not known
            and _LETTERS.search(term)
            and not words <= _COMMON
            and not _digests(words)
        ):
            found[words] = _CAMEL.sub(" ", term)
    return tuple(found.values())


def _digests(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if _DIGEST.match(word))
