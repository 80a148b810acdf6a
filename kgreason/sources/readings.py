"""Readings: what somebody who read a passage found it to say of a hypothesis.

The engine reads nothing. A person writes a file of readings (the keys stand in the report), and a
program may be a reader of its own.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from kgreason.base.errors import OptionError

READINGS: Final = ("supports", "contradicts", "neither")


class Reader(Protocol):
    """Says what a passage says of a hypothesis."""

    def read(self, statement: str, quote: str, /) -> str:
        """Return one of `READINGS`, or an empty text where it has not read the passage."""
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
