"""Passages: which words of works are quoted for some terms.

Ranked by BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, The Probabilistic Relevance
Framework: BM25 and Beyond, 2009).
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kgreason.base.figures import integer
from kgreason.base.words import content, every_word
from kgreason.sources.works import Part, Studies, Work

_K1: Final = 1.2
_B: Final = 0.75
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_WORD: Final = re.compile(r"[^\W_]+")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Found:
    """A passage of a work that has the terms: its words, where they stand, and the study."""

    work: Work
    quote: str
    locator: str
    study: str
    score: float


def windows(part: Part) -> Iterator[Part]:
    """Return a part in pieces of whole sentences with about `passageWords` words at most."""
    most, words = integer("passageWords"), 0
    held: list[str] = []
    for sentence in _SENTENCE.split(part.text):
        count = len(sentence.split())
        if held and words + count > most:
            yield Part(_SPACE.sub(" ", " ".join(held)).strip(), part.locator)
            held, words = [], 0
        held.append(sentence)
        words += count
    said = _SPACE.sub(" ", " ".join(held)).strip()
    if said:
        yield Part(said, part.locator)


def has_all(text: str, terms: Sequence[str]) -> bool:
    """Check whether a text has a word of each of the terms, all words of one in quotation marks."""
    words = content(text)
    return all(not (own := content(term)) or own <= words for term in terms)


def with_any(works: Sequence[Work], words: Sequence[str]) -> list[Work]:
    """Return works with those passages alone in which one of some words stands, if any are asked.

    Small words such as "not" count here, which name nothing.
    """
    if not words:
        return list(works)
    wanted = {word.casefold() for word in words}
    out = []
    for work in works:
        parts = [piece for part in work.parts for piece in windows(part)]
        kept = tuple(part for part in parts if every_word(part.text) & wanted)
        if kept:
            out.append(replace(work, parts=kept))
    return out


def best(works: Sequence[Work], terms: Sequence[str], studies: Studies) -> list[Found]:
    """Return the passages to quote, the best first: so many in all, and so many of each study."""
    pieces = [(work, piece) for work in works for part in work.parts for piece in windows(part)]
    wanted = sorted({word for term in terms for word in content(term)})
    bags = [Counter(_stems(piece.text)) for _, piece in pieces]
    mean = sum(bag.total() for bag in bags) / max(1, len(bags))
    rarity = {w: _rarity(sum(w in bag for bag in bags), len(bags)) for w in wanted}
    found = [
        Found(work, piece.text, piece.locator, studies.of(work), _score(bag, rarity, mean))
        for (work, piece), bag in zip(pieces, bags, strict=True)
    ]
    found.sort(key=lambda one: (-one.score, one.work.work, one.locator, one.quote))
    return list(_capped(found))


def _capped(found: Sequence[Found]) -> Iterator[Found]:
    """Return the first passages, no more of one study than the diversity cap lets through."""
    each, most = integer("passagesStudy"), integer("passagesQuoted")
    taken: Counter[str] = Counter()
    for one in found:
        if taken.total() == most:
            return
        if taken[one.study] < each:
            taken[one.study] += 1
            yield one


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        yield from content(word)


def _rarity(having: int, of: int) -> float:
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def _score(bag: Counter[str], rarity: dict[str, float], mean: float) -> float:
    length = _K1 * (1 - _B + _B * bag.total() / max(mean, 1))
    return sum(rare * bag[word] * (_K1 + 1) / (bag[word] + length) for word, rare in rarity.items())
