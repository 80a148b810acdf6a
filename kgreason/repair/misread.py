"""Texts in UTF-8 that were read as Latin-1 or Windows-1252, and how they are read again.

SPARQL cannot decode, but it can put one sign in the place of others: so which signs stand for
which letters is found here, and the texts are changed by a query that shows it.
"""

import re
from collections.abc import Iterator
from functools import reduce
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment
from kgreason.graph import Graph

_LETTER: Final = re.compile(
    rb"[\xC2-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF4][\x80-\xBF]{3}"
)
"""The bytes of one letter in UTF-8, beyond ASCII."""
_NESTED: Final = 16
"""Calls inside each other in one expression; engines parse them by recursion."""


def reading(graph: Graph, predicate: ox.NamedNode, form: ox.Literal) -> Fragment | None:
    """Return what binds ?read to ?text as it is when it is read as UTF-8.

    It knows the letters that stand in the values of `predicate` which the regular expression
    `form` fits; None where there are no such letters.
    """
    letters: dict[str, str] = {}
    for row in graph.store.select(
        f"SELECT DISTINCT ?text WHERE {{ ?node {predicate} ?value . FILTER (isLiteral(?value)) "
        f"BIND (STR(?value) AS ?text) FILTER (REGEX(?text, {form})) }}"
    ):
        letters.update(misread(row["text"].value))
    if not letters:
        return None
    # The longest first: what was made of two signs is not taken for the first of three.
    ordered = sorted(letters.items(), key=lambda pair: (-len(pair[0]), pair))
    lines, last = [], "?text"
    for start in range(0, len(ordered), _NESTED):
        made = reduce(_replaced, ordered[start : start + _NESTED], last)
        last = f"?read{start}"
        lines.append(f"BIND ({made} AS {last})")
    return Fragment("\n".join([*lines, f"BIND ({last} AS ?read)"]))


def misread(text: str) -> Iterator[tuple[str, str]]:
    """Yield the signs that together are one letter of UTF-8, and that letter."""
    signs = b"".join(_byte(sign) for sign in text)
    for found in _LETTER.finditer(signs):
        try:
            yield text[found.start() : found.end()], found.group().decode("utf-8")
        except UnicodeDecodeError:
            continue


def _byte(sign: str) -> bytes:
    """Return the byte that a sign was read from; a question mark for one of no such byte."""
    try:
        return sign.encode("cp1252")
    except UnicodeEncodeError:
        return sign.encode("latin-1", "replace")


def _replaced(expression: str, pair: tuple[str, str]) -> str:
    signs, letter = (ox.Literal(text) for text in pair)
    return f"REPLACE({expression}, {signs}, {letter})"
