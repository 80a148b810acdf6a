"""What an outcome query names where it says who fails, beside what it names of all it looks at.

`?focus a ?type FILTER (?type IN (ex:Part, ex:Tool))` says who is looked at. That tools fail is no
repetition of a query which asks for a label of both.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from kgreason.shacl.asked_tests import asked_truth
from kgreason.shacl.query_row import Row, UnreadError, variables
from kgreason.shacl.query_tree import parsed, rows_of, settled, truth_of
from kgreason.shacl.readings import failing_rows

_PARTS: Final = ("args", "arg", "path")


@lru_cache(maxsize=32)
def asked_terms(query: str, focus: str = "focus", at: str | None = None) -> frozenset[str] | None:
    """Return the IRIs and texts that a SELECT of ?focus and ?outcome names of those that fail.

    None for a query that is not read, or in which branches say true and false by themselves.
    """
    try:
        rows = [one for row in rows_of(parsed(query)) for one in settled(row)]
        if any(truth_of(dict(row.binds).get("outcome")) is not None for row in rows):
            return None
        ways = list(failing_rows(query, at))
    except (UnreadError, RecursionError):
        return None
    found = {text for base, more in ways for text in _named(base, more, focus)}
    return frozenset(found) if ways else None


def _named(base: Row, more: Row, focus: str) -> Iterator[str]:
    """Return what stands in a way to fail, and in what is said of the variables in it."""
    said: list[Any] = [more.triples, more.tests, more.lacks]
    left: list[Any] = [*base.triples, *base.tests, *base.lacks, *base.options]
    binds = {**dict(base.binds), **dict(more.binds)}
    names: set[str] = set()
    while True:
        beyond = variables(said) - {focus}
        if beyond == names:
            break
        names = beyond
        said += [made for name, made in binds.items() if name in names]
        said += [one for one in left if names & variables([one])]
    yield from _terms(said)
    # `!?late` names the value false, though it does not write it.
    asked = (asked_truth(test) for test in more.tests)
    yield from ("true" if truth else "false" for truth in asked if truth is not None)


def _terms(thing: Any) -> Iterator[str]:
    """Return the IRIs and texts of triples, tests, paths and rows."""
    kind = type(thing).__name__
    if kind in {"URIRef", "Literal"}:
        yield str(thing)
    elif getattr(thing, "name", "") == "literal":
        yield str(thing.string)
    elif isinstance(thing, Row):
        yield from _terms([thing.triples, thing.tests, thing.lacks, dict(thing.binds)])
    elif isinstance(thing, Mapping):
        yield from _terms(list(thing.values()))
    elif any(hasattr(thing, part) for part in _PARTS) and not isinstance(thing, str):
        yield from _terms([getattr(thing, part, ()) for part in _PARTS])
    elif isinstance(thing, Iterable) and not isinstance(thing, str):
        for inner in thing:
            yield from _terms(inner)
