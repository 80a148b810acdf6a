"""Whether a query looks at how things are called: at a node's own IRI, or at its properties'."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import permutations
from typing import Any, Final, NamedTuple

from kgreason.base.templates import Fragment
from kgreason.shacl.query_row import UnreadError, name_of, plain, variables
from kgreason.shacl.query_tree import parsed

_SIDES: Final = {
    "RelationalExpression": ("expr", "other"),
    **{f"Builtin_{name}": ("arg1", "arg2") for name in ("CONTAINS", "STRSTARTS", "STRENDS")},
}
"""The two things that a comparison holds against each other."""
_FOCUS: Final = frozenset({"focus", "this"})


class AskedIris(NamedTuple):
    """Whether the text of the node's own IRI is asked about, and that of any of its properties.

    `held` says whether its own is held against what else is said of the node: then the query names
    no text that is wrong.
    """

    own: bool
    properties: bool
    held: bool = False


@lru_cache(maxsize=64)
def asked_iris(pattern: Fragment) -> AskedIris:
    """Read the pattern of a query's failing nodes; one that is not read asks of neither."""
    head = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in pattern.prefixes.items())
    try:
        parts = list(_parts(parsed(f"{head}SELECT * WHERE {{ {pattern.text} }}")))
    except (UnreadError, RecursionError):
        return AskedIris(own=False, properties=False)
    texts = {name_of(plain(one.arg)) for one in parts if one.name == "Builtin_STR"}
    properties = {
        name_of(predicate)
        for block in parts
        if block.name == "TriplesBlock"
        for triples in block.triples
        for subject, predicate in zip(triples[::3], triples[1::3], strict=True)
        if name_of(subject) in _FOCUS
    }
    return AskedIris(bool(texts & _FOCUS), bool(texts & properties - {""}), _held(parts))


def _held(parts: Iterable[Any]) -> bool:
    """Check whether the text of ?focus is compared with that of another variable."""
    for one in parts:
        two = _SIDES.get(one.name)
        sides = [variables(one.get(side)) for side in two] if two is not None else []
        if any(here & _FOCUS and there - _FOCUS for here, there in permutations(sides, 2)):
            return True
    return False


def _parts(thing: Any) -> Iterator[Any]:
    """Return every named part of a tree."""
    if isinstance(thing, Mapping):
        if hasattr(thing, "name"):
            yield thing
        thing = list(thing.values())
    if isinstance(thing, Iterable) and not isinstance(thing, str):
        for inner in thing:
            yield from _parts(inner)
