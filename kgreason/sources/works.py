"""Works: what a source gives, and which of them tell of one and the same study."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

_DOI: Final = re.compile(r"10\.\d{4,9}/\S+")
_NO_WORD: Final = re.compile(r"[\W_]+")
_LEAST_WORDS: Final = 4
_ORDER: Final = ("doi", "pmid", "pmcid", "arxiv")


@dataclass(frozen=True)
class Part:
    """A part of the text of a work, with where it begins, as a person can find it."""

    text: str
    locator: str


@dataclass(frozen=True)
class Work:
    """A work: its IRI or path, its title, the parts of its text, and the numbers that it has.

    `ids` are texts such as `doi:10.1/2`, `pmid:7`, `arxiv:2101.1`.
    """

    work: str
    title: str
    parts: tuple[Part, ...]
    ids: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """All by which it can be known as the same study as another work, the surest first."""
        title = _NO_WORD.sub(" ", self.title.casefold()).strip()
        # A short title ("Editorial") is that of many works.
        title = title if len(title.split()) >= _LEAST_WORDS else ""
        kinds = {name: place for place, name in enumerate(_ORDER)}
        own = sorted(self.ids, key=lambda one: (kinds.get(one.partition(":")[0], 9), one))
        return (*own, *([f"title:{title}"] if title else []), f"work:{self.work}")


class Studies:
    """Which study a work tells of: works that share a number or a title are one study.

    `known` are the studies that keys of works were found to belong to before.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, str] = dict(known or {})

    def of(self, work: Work) -> str:
        """Return the key of the study of a work, the same for all works that share one of theirs.

        A source whose works are files has no numbers; there each file is a study by its title.
        """
        found = next((self._known[key] for key in work.keys if key in self._known), None)
        study = found or work.keys[0]
        for key in work.keys:
            self._known.setdefault(key, study)
        return study


class Source(Protocol):
    """A source that can be asked for works."""

    @property
    def name(self) -> str:
        """By what a user asks for it."""
        ...

    def search(self, terms: Sequence[str], most: int, /) -> "Answer":
        """Return works in which all the terms stand; raises SourceError where it cannot."""
        ...


@dataclass(frozen=True)
class Answer:
    """What a source gives: works, and its answers as they came, for the record."""

    works: tuple[Work, ...]
    raw: tuple[str, ...] = ()


def doi(text: object) -> str | None:
    """Return a DOI within a text, small, without the address before it; None where there is none.

    DOIs are compared without regard to case (DOI Handbook, 2.4).
    """
    found = _DOI.search(text) if isinstance(text, str) else None
    return found[0].rstrip(".,;)").casefold() if found else None


def address(ids: Sequence[str], otherwise: str) -> str:
    """Return the IRI of a work with some numbers: that of its DOI, or another one."""
    number = next((one.removeprefix("doi:") for one in ids if one.startswith("doi:")), None)
    return otherwise if number is None else f"https://doi.org/{number}"
