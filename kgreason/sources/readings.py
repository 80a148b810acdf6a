"""Readings: what somebody who read a passage found it to say of a hypothesis.

The engine reads nothing. A person writes a file of readings (the keys stand in the report), a
program may be a reader of its own, and a model may read what neither has read.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from kgreason.base.errors import OptionError
from kgreason.context.view import View
from kgreason.record.model_calls import ModelCall
from kgreason.test.finding import Reading

READINGS: Final = ("supports", "contradicts", "neither")


class Reader(Protocol):
    """Says what a passage says of a hypothesis."""

    def read(self, statement: str, quote: str, /) -> str:
        """Return one of `READINGS`, or an empty text where it has not read the passage."""
        ...


class PassageReader(Protocol):
    """A model that reads several passages at once; what it finds weighs less than a person's."""

    def read_passages(
        self, view: View, statement: str, quotes: Mapping[str, str], /
    ) -> Mapping[str, Reading]:
        """Return what passages, by their keys, say of a hypothesis; those not read are left out."""
        ...

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls since the last time, and forget them."""
        ...


@dataclass(frozen=True)
class Readings:
    """The readings of a file, by the key of a passage under a hypothesis."""

    known: Mapping[str, str] = field(default_factory=dict)

    def read(self, statement: str, quote: str, /) -> str:
        """Return the reading of the passage, or an empty text."""
        return self.known.get(key_of(statement, quote), "")


def key_of(statement: str, quote: str) -> str:
    """Return by what a passage is named under a hypothesis: twelve digits of a SHA-256."""
    return hashlib.sha256(f"{statement}\n{quote}".encode()).hexdigest()[:12]


def readings_of(path: str | Path) -> Readings:
    """Return the readings of a JSON file, an object of keys and readings; raises OptionError."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "it is no JSON"
        raise OptionError(f"--readings {path}: the file cannot be read ({why}).") from error
    if not isinstance(found, dict):
        raise OptionError(f"--readings {path}: write a JSON object of keys and readings.")
    for key, said in found.items():
        if said not in READINGS:
            raise OptionError(
                f"--readings {path}: the reading of {key} is {said!r}; it can be one of: "
                f"{', '.join(READINGS)}."
            )
    return Readings(found)
