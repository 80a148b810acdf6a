"""Which condition says better what another one says of the same nodes."""

from collections.abc import Callable, Iterable
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Term
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.paths import OF_CLASS

_PIECES: Final = frozenset({"contains", "prefix"})
_SPELT: Final = frozenset({"contains", "form", "prefix"})
"""Tests on how an end is spelt, and not on what it is."""
_BOUNDS: Final = frozenset({"from", "until", "window"})
_THINGS: Final = frozenset({"equals", "under"})


def better_words(
    part: Condition, ends: Iterable[Term], *, alone: bool
) -> Callable[[Condition, Condition], bool] | None:
    """Return what tells of another condition whether it says better what `part` says.

    None where nothing does. `ends` are those of its path; `alone` says whether it is the only
    condition of a region.
    """
    if part.test in _SPELT and all(isinstance(e, NamedNode) for e in ends):
        return _by_thing
    if part.test in _BOUNDS:
        return _in_order
    if not alone:
        return None
    if part.test == "form" and _is_sign(part):
        return _in_letters
    further = part.test == "exists" or part.path.steps[-1:] == (OF_CLASS,)
    return _on_the_way if len(part.path) > 1 and further else None


def _in_letters(other: Condition, part: Condition) -> bool:
    """Check whether a condition names a piece of the text of which the other has a sign."""
    return other.path == part.path and other.test in _PIECES


def _in_order(other: Condition, part: Condition) -> bool:
    """Check whether a condition holds an end that is bounded against one of the node's own."""
    return other.test == "later" and part.path in {other.path, other.beside}


def _by_thing(other: Condition, part: Condition) -> bool:
    """Check whether a condition names a thing at the end of a path, or one further on."""
    way = part.path.steps
    return other.test in _THINGS and other.path.steps[: len(way)] == way


def _on_the_way(other: Condition, part: Condition) -> bool:
    """Check whether a condition asks only for something on the way to the end of the other."""
    way = other.path.steps
    return other.test == "exists" and way == part.path.steps[: len(way)] != part.path.steps


def _is_sign(part: Condition) -> bool:
    """Check whether the form of a text is no more than one sign in it, such as a hyphen."""
    return all(isinstance(term, Literal) and len(term.value) == 1 for term in part.named)
