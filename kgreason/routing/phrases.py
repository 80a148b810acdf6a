"""Phrases of cues: how a question is read, and which phrases occur in it.

`ontology/patterns.ttl` tells at its beginning how a phrase is written.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from kgreason.base.errors import OptionError

POLITE: Final = "polite"
"""The group of words that may stand before what is asked; `^` passes over them."""
_GAP: Final = r"(?:[^ .?]+ ){0,8}"
_NUMBERS: Final = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|"
    "fifty|sixty|ninety|hundred|thousand"
)
_SHORT: Final = (
    (r"\btl ?; ?dr\b", " tldr "),
    (r"<[^<>\s]+>", " term "),
    (r"\be\.g\.|\bi\.e\.", " "),
    (r"[\u201c\u201d\u00ab\u00bb]", '"'),
    (r"[\u2018\u2019`]", "'"),
    (r'"[^"]*"', " quoted "),
    (r"(?<![\w'])'[^']*'(?!\w)", " quoted "),
    (r"\b[a-z][\w-]*:[a-z_]\w*", " term "),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(what|who|where|when|how|why|that|there|here)'?s\b", r"\1 is"),
    (r"\bit's\b", "it is"),
    (r"\bi'm\b", "i am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'d\b", " would"),
    (r"\b(wich|whcih|whihc)\b", "which"),
    (r"\b(waht|whta|wat)\b", "what"),
    (r"\b(wy|wyh|hwy)\b", "why"),
    (r"%", " percent "),
    (r"([.!;:]|--|\u2013|\u2014)(?=\s|$)", " . "),
    (r"\?", " ? "),
    (r"'s\b", ""),
    (r"[^\w.?]+|(?<=\w)\.(?=\w)", " "),
)
"""How a question in small letters is made into words, in this order."""
_STEPS: Final = tuple((re.compile(pattern), by) for pattern, by in _SHORT)


def words_of(question: str) -> str:
    """Return a question as words between single spaces; a dot stands before and after each."""
    text = question.casefold()
    for pattern, by in _STEPS:
        text = pattern.sub(by, text)
    return f". {' '.join(text.split())} . "


class Phrases:
    """Compiles phrases, in which `{name}` is any phrase of that group of words."""

    def __init__(self, groups: Mapping[str, Iterable[str]]) -> None:
        self._groups = {name: sorted(several) for name, several in groups.items()}
        self._made: dict[str, str] = {}
        polite = self._group(POLITE) if POLITE in self._groups else ""
        self._begin = rf"(?<=[.?] )(?:{polite})*" if polite else r"(?<=[.?] )"

    def compiled(self, phrase: str) -> re.Pattern[str]:
        """Return what finds a phrase in words; raises OptionError for one that names no group."""
        return re.compile(rf"(?<= ){self._sequence(phrase)}")

    def any_of(self, several: Iterable[str]) -> re.Pattern[str]:
        """Return what finds any of several phrases; raises OptionError as `compiled` does."""
        return re.compile(rf"(?<= )(?:{'|'.join(self._sequence(one) for one in several)})")

    def opening(self) -> re.Pattern[str]:
        """Return what finds, at the beginning of words, all words of politeness."""
        polite = self._group(POLITE) if POLITE in self._groups else ""
        return re.compile(rf"[.] (?:{polite})*" if polite else r"[.] ")

    def _sequence(self, phrase: str) -> str:
        return "".join(map(self._piece, phrase.replace("^", "^ ").replace("$", " $").split()))

    def _piece(self, piece: str) -> str:
        if piece == "^":
            return self._begin
        if piece == "...":
            return _GAP
        return f"(?:{'|'.join(self._word(one) for one in piece.split('|') if one)})"

    def _word(self, text: str) -> str:
        """Return what finds one word and the space behind it, or a phrase of a group."""
        if text.startswith("{") and text.endswith("}"):
            return self._group(text[1:-1])
        if text == "$":
            return r"(?=[.?] )"
        if text == "#":
            return rf"(?:\d[^ ]*|{_NUMBERS}) "
        return (
            re.escape(text.replace("_", " "))
            .replace("\\ ", " ")
            .replace(r"\*", r"[^ .?]*")
            .replace(r"\#", r"\d+")
            + " "
        )

    def _group(self, name: str) -> str:
        if name not in self._groups:
            raise OptionError(f"There is no group of words {name!r} that a phrase could name.")
        if name not in self._made:
            self._made[name] = ""  # a group that names itself adds nothing
            inner = "|".join(self._sequence(one) for one in self._groups[name])
            self._made[name] = f"(?:{inner})"
        return self._made[name]
