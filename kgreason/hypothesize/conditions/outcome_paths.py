"""The paths that an outcome query goes by: what lies there is the outcome, and no cause of it."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.store import Term
from kgreason.base.terms import iris_in
from kgreason.shacl import Path, Reading, bound_to

Way = tuple[tuple[bool, NamedNode], ...]
"""The steps of a path, each backwards or not."""
_FIXED: Final = re.compile(r"[?$]value\s+<([^<>\s]+)>\s+[^?$\s]")
"""What is said of ?value by a property, and is no variable."""
_ON: Final = re.compile(r"<([^<>\s]+)>\s*\)?\s*[+*]")
"""A property that is gone along however many times."""
_VARIABLE: Final = re.compile(r"[?$](\w+)")
_HELD: Final = re.compile(r"[?$]\w+\s*\)*\s*[<>=!]=?\s*\(*\s*[?$]\w+")
"""Two variables that are compared."""


def made_of(text: str) -> frozenset[tuple[bool, NamedNode]]:
    """Return the links of ?focus, each backwards or not, whose ends or number are the outcome.

    A link whose end has to pass a filter is none: what its ends are like may tell a cause. Nor is
    one whose end is held against another one: neither alone is the outcome.
    """
    made = set()
    for expression in ("", *bound_to(text, "?outcome")):
        if "FILTER" in expression.upper() or _HELD.search(expression):
            continue
        made |= {(False, iri) for iri in re.findall(r"[?$]focus\s+<([^<>\s]+)>", expression)}
        if "EXISTS" in expression.upper():
            continue  # the value is looked up elsewhere, and what it is like may tell why
        named = {"outcome", *_VARIABLE.findall(expression)} - {"focus"}
        ends = "|".join(sorted(named))
        made |= {(False, iri) for iri in re.findall(rf"<([^<>\s]+)>\s+[?$](?:{ends})\b", text)}
        backward = rf"[?$](?:{ends})\s+<([^<>\s]+)>\s+[?$]focus\b"
        made |= {(True, iri) for iri in re.findall(backward, text)}
    return frozenset((back, NamedNode(iri)) for back, iri in made)


def brought_by(readings: Iterable[Reading], nearly_all: Callable[[str], bool]) -> frozenset[Way]:
    """Return the paths on which a query looks for something of which it names what is said.

    That is the very property that it names there; and whatever is said of what points at a node,
    such as a notice or a report, where not `nearly_all` nodes have any along the path: who has none
    cannot have the outcome.
    """
    made: set[Way] = set()
    for one in readings:
        way = plain(one.path)
        if not way or one.lacking or one.offending is None or not one.described:
            continue
        said = _FIXED.findall(one.offending.text)
        made |= {(*way, (False, NamedNode(iri))) for iri in said}
        if said and way[0][0] and not nearly_all(one.path.text):
            made.add(way)
    return frozenset(made)


def gone_along(text: str) -> frozenset[NamedNode]:
    """Return the properties that a rule goes along however many steps, as in “above itself”.

    How many steps there are along these, and what things there are like, says the rule again.
    """
    named = set(iris_in(text))
    return frozenset(NamedNode(iri) for iri in _ON.findall(text) if iri in named)


def both_ends(pairs: Iterable[frozenset[Path]], ways: Iterable[Sequence[object]]) -> bool:
    """Check whether some ways go to both of two ends that a query compares, or are on the way.

    Whoever has A at one and anything but A at the other has the outcome that they differ; and what
    a thing on the way is tells what lies at the end.
    """
    gone = [tuple(way) for way in ways if way]
    compared = [[plain(path) for path in pair] for pair in pairs]
    return any(
        all(any(end[: len(way)] == way for way in gone) for end in ends)
        for ends in compared
        if all(ends)
    )


def behind_both(pairs: Iterable[frozenset[Path]], ways: Iterable[Sequence[object]]) -> bool:
    """Check whether two ways lead to the same behind both of two ends that a query compares.

    Where the towns of a parcel and of its street are two, so are their names.
    """
    gone = [tuple(way) for way in ways]
    ends = [[plain(path) for path in pair] for pair in pairs]
    return any(
        one[: len(own)] == own and other[: len(its)] == its and one[len(own) :] == other[len(its) :]
        for pair in ends
        for own in pair
        for its in pair
        if own != its and own and its
        for one in gone
        for other in gone
    )


def round_about(path: Way, other: Term, ways: Iterable[Sequence[object]]) -> bool:
    """Check whether ways lead from one to the other of two values that a rule compares.

    Forth by one and back by the other they come to the node itself where the two are one; and
    whatever lies behind both is the same then.
    """
    gone = [tuple(way) for way in ways]
    back = tuple((not against, along) for against, along in reversed(path))
    if any(
        way[: len(path) + 1] in {(*path, (True, other)), ((False, other), *back)} for way in gone
    ):
        return bool(path)
    behind = {way[len(path) :] for way in gone if way[: len(path)] == path}
    return bool(path) and any(way[:1] == ((False, other),) and way[1:] in behind for way in gone)


def plain(path: Path) -> Way:
    """Return a path of predicates, each forwards or backwards; nothing for any other path."""
    if path.iri is not None:
        return ((False, path.iri),)
    if path.kind == "^" and path.parts[0].iri is not None:
        return ((True, path.parts[0].iri),)
    if path.kind == "/":
        parts = [plain(part) for part in path.parts]
        return tuple(step for part in parts for step in part) if all(parts) else ()
    return ()
