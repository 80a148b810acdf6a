"""Features of a question: what the learned weights of the router are about.

A feature is told by its name: `frame why` (a phrase of that frame occurs), `frame why twice`,
`frames cause + why` (both occur), `opens with frame why`, `word reason` (a stem), `words so many`,
`begins rea`, `begins reaso` and `ends son` (letters of a word, so that a word that nobody learned
from counts as its kin do), `opens with how`, and `shape` with what the question looks like.
`ontology/frames.ttl` holds the frames.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

from kgreason.routing.phrases import words_of

ALWAYS: Final = "always"
"""The feature that each question has; its weight is what a type starts from."""
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "es", "ed", "ly", "s")
_TOLD: Final = 4
_SHORTEST_STEM: Final = 3
_BEGINNINGS: Final = (3, 5)
"""The numbers of letters by which a longer word begins."""
_END: Final = 3
"""The number of letters by which a word ends that is longer by two at least."""
_LENGTHS: Final = ((4, "up to 4 words"), (9, "5 to 9 words"), (18, "10 to 18 words"))
_LONG: Final = ((35, "19 to 35 words"), (10_000, "more than 35 words"))
_MARKS: Final = {
    "a question mark": re.compile(r"\?"),
    "two question marks": re.compile(r"\?.*\?", re.DOTALL),
    "several sentences": re.compile(r"[.!?]\s.*[.!?]\s+\S", re.DOTALL),
    "a figure": re.compile(r"\d"),
    "an identifier": re.compile(r"[A-Z0-9]+-\d|\d{4}\d+|\w:\w|<[^<>\s]+>"),
    "a quotation": re.compile(r"[\"\u201c\u201d]"),
    "a past form": re.compile(r"\b\w+ed\b"),
    "a list": re.compile(r",.*,", re.DOTALL),
    "a colon or dash": re.compile(r":\s| - |[\u2013\u2014]"),
    "a name": re.compile(r"(?<=[\w,;:] )[A-Z][a-z]"),
    "two names": re.compile(r"(?<=[\w,;:] )[A-Z][a-z]+\b(?! [A-Z][a-z]).* [A-Z][a-z]", re.DOTALL),
    "an acronym": re.compile(r"\b[A-Z]{2,}\b"),
    "an alternative": re.compile(r"\bor\b"),
    "a small first letter": re.compile(r"\A[a-z]"),
}


@dataclass(frozen=True)
class Frame:
    """Phrases that mean the same to the router, under a name; `combines` where pairs count."""

    name: str
    label: str
    combines: bool
    phrases: re.Pattern[str]

    def found(self, words: str) -> list[tuple[int, str]]:
        """Return where its phrases begin in the words of a question, with their text."""
        hits = self.phrases.finditer(words)
        return [(hit.start(), _told(hit[0].strip(" .?").split())) for hit in hits]


def _told(words: Sequence[str]) -> str:
    """Return a phrase as a reason tells it: of a long one, its two ends."""
    return " ".join(words) or "?" if len(words) <= _TOLD else f"{words[0]} … {words[-1]}"


def stem(word: str) -> str:
    """Return a word without its ending, where at least three letters stay."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def features(question: str, frames: Sequence[Frame], opening: re.Pattern[str]) -> dict[str, str]:
    """Return the features of a question, each with the words that gave it.

    `opening` finds in the words where what is asked begins, after words of politeness.
    """
    words = words_of(question)
    start = _start(words, opening)
    made = {ALWAYS: "any question"}
    made |= _of_frames({one.name: (one, one.found(words)) for one in frames}, start)
    plain = [one for one in words.split() if one not in {".", "?"}]
    first = [one for one in words[start:].split() if one not in {".", "?"}][:2]
    if first:
        made[f"opens with {first[0]}"] = f"{first[0]} at the beginning"
        made[f"opens with {' '.join(first)}"] = f"{' '.join(first)} at the beginning"
    for word in plain:
        made[f"word {stem(word)}"] = word
        made |= _of_letters(word)
    for one, other in pairwise(words.split()):
        made[f"words {stem(one)} {stem(other)}"] = f"{one} {other}"
    for name, mark in _MARKS.items():
        if mark.search(question):
            made[f"shape {name}"] = name
    length = next(name for most, name in (*_LENGTHS, *_LONG) if len(plain) <= most)
    made[f"shape {length}"] = length
    return made


def _of_letters(word: str) -> dict[str, str]:
    """Return the features that the letters of a word give, where there are more than these."""
    made = {f"begins {word[:many]}": word for many in _BEGINNINGS if len(word) > many}
    return made | ({f"ends {word[-_END:]}": word} if len(word) > _END + 1 else {})


def _start(words: str, opening: re.Pattern[str]) -> int:
    found = opening.match(words)
    return found.end() if found else 0


def _of_frames(
    found: Mapping[str, tuple[Frame, list[tuple[int, str]]]], start: int
) -> dict[str, str]:
    """Return the features that frames give."""
    made: dict[str, str] = {}
    said = {name: hits for name, (_, hits) in found.items() if hits}
    for name, hits in said.items():
        made[f"frame {name}"] = hits[0][1]
        if len({where for where, _ in hits}) > 1:
            made[f"frame {name} twice"] = f"{hits[0][1]} and {hits[1][1]}"
        if hits[0][0] <= start:
            made[f"opens with frame {name}"] = f"{hits[0][1]} at the beginning"
    pairs = sorted(name for name in said if found[name][0].combines)
    for one, other in combinations(pairs, 2):
        made[f"frames {one} + {other}"] = f"{said[one][0][1]} with {said[other][0][1]}"
    return made
