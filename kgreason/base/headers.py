"""The keys of template headers: which there are for a role, and what each may say.

They are data, in `queries/headers.toml`; a header is held to them when its template is read.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from kgreason.base.resources import folder
from kgreason.base.terms import PREFIXES

FILE: Final = "headers.toml"


@dataclass(frozen=True)
class Key:
    """A header key: the roles that may have it, what it may say, and what that means.

    `choice` are the words it may say, `catalogue` is where names in it are found; both are empty
    where any will do. `default` says in words what holds where it is left out.
    """

    key: str
    roles: tuple[str, ...]
    value: str
    meaning: str
    needed: bool = False
    default: str = ""
    choice: tuple[str, ...] = ()
    catalogue: str = ""

    def fault(self, said: str) -> str | None:
        """Explain what is wrong with a value; None where nothing is."""
        return _FAULTS[self.value](self, said)


@cache
def table() -> tuple[Key, ...]:
    """Return every key of `queries/headers.toml`, in its order."""
    text = (folder("queries") / FILE).read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["key"]
    lists = ("roles", "choice")
    return tuple(Key(**row | {n: tuple(row.get(n, ())) for n in lists}) for row in rows)


@cache
def keys_of(role: str) -> Mapping[str, Key]:
    """Return the keys that a header of a role may have, by name; none for an unknown role."""
    return {one.key: one for one in table() if role in one.roles}


def faults(role: str, header: Mapping[str, str]) -> Iterator[tuple[str | None, str]]:
    """Describe what is wrong with a header: the key (None for one that is missing) and why.

    The header of a role that the table does not know is not looked at.
    """
    known = keys_of(role)
    if not known:
        return
    for name, said in header.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
            yield name, f"queries/{role} has no header key {name!r}; {hint}"
        elif fault := known[name].fault(said):
            yield name, f"the header key {name!r} {fault}"
    for one in known.values():
        if one.needed and one.key not in header:
            yield None, f"the header has no {one.key}; add a line '#+ {one.key}: …'."


def _any(_: Key, __: str) -> str | None:
    return None


def _word(_: Key, said: str) -> str | None:
    return None if re.fullmatch(r"\S+", said) else f"takes one word, not {said!r}."


def _integer(_: Key, said: str) -> str | None:
    return None if re.fullmatch(r"-?\d+", said) else f"takes a whole number, not {said!r}."


def _number(_: Key, said: str) -> str | None:
    return None if re.fullmatch(r"-?\d+(\.\d+)?", said) else f"takes a number, not {said!r}."


def _yes(_: Key, said: str) -> str | None:
    return None if said == "yes" else f"is 'yes' or left out, not {said!r}."


def _one_of(key: Key, said: str) -> str | None:
    return None if said in key.choice else f"takes one of {', '.join(key.choice)}, not {said!r}."


def _some_of(key: Key, said: str) -> str | None:
    wrong = [word for word in re.split(r"[,\s]+", said) if word not in key.choice]
    return f"takes some of {', '.join(key.choice)}, not {wrong[0]!r}." if wrong else None


def _terms(_: Key, said: str) -> str | None:
    for word in said.split():
        if word.partition(":")[0] not in PREFIXES or ":" not in word:
            return f"takes IRIs with a known prefix such as sh:, not {word!r}."
    return None


_FAULTS: Final[Mapping[str, Callable[[Key, str], str | None]]] = {
    "text": _any,
    "word": _word,
    "words": _any,
    "integer": _integer,
    "number": _number,
    "yes": _yes,
    "one of": _one_of,
    "some of": _some_of,
    "terms": _terms,
}
