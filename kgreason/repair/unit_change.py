"""Whether a repair moves numbers from one unit to another, as names and numbers have it.

It is a caution for people; nothing is decided by it.
"""

import re
from collections.abc import Collection, Iterator
from statistics import median
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import figure, integer, word_list
from kgreason.context.view import View
from kgreason.graph import Graph
from kgreason.graph.names import Names, local_name
from kgreason.repair.patch import Change, Patch

_FACTOR: Final = figure("unitFactor")
_APART: Final = figure("unitApart")
_LEAST: Final = integer("unitLeast")
_WORDS: Final = word_list("unitWords")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_LOOKED_AT: Final = 20_000
"""Values of the property that are compared at most, the first of the graph."""


def caution(graph: Graph, view: View, patch: Patch, names: Names) -> str | None:
    """Return why the unit should be looked at before a repair, None where nothing speaks for it.

    That is so where it moves values from a property to another one whose name has another unit, or
    none, and where the numbers that are moved are of another size than those that stand there.
    """
    moved = list(_moved(patch))
    pairs = {(old, new) for old, new, _ in moved}
    if len(pairs) != 1:
        return None
    (old, new) = pairs.pop()
    said = _by_name(local_name(old.value), local_name(new.value))
    own = {change.subject for _, _, change in moved}
    where: Collection[object] | None = set(view.marks.population.nodes)
    if not own <= set(where or ()):
        where = None  # the values stand at the end of a path
    here = [value for *_, change in moved for value in _number(change.value)]
    there = list(_others(graph, new, own, where))
    sizes = _by_size(names(old), here, names(new), there)
    told = " ".join(filter(None, (said, sizes)))
    return f"{told} Check the unit before you apply it." if told else None


def _moved(patch: Patch) -> Iterator[tuple[ox.NamedNode, ox.NamedNode, Change]]:
    """Yield each addition of a value that is taken away under another property of its node."""
    gone = {(c.subject, c.value): c.predicate for c in patch.changes if not c.adds}
    for change in patch.changes:
        old = gone.get((change.subject, change.value)) if change.adds else None
        if old is not None and old != change.predicate:
            yield old, change.predicate, change


def unit_of(name: str) -> str | None:
    """Return the word for a unit in the name of a property, None where it has none.

    What a name begins with is what is measured: `metre` is no unit in `metreReading`.
    """
    parts = [part.lower() for part in _PARTS.findall(name)]
    return next((part for part in reversed(parts[1:]) if part in _WORDS), None)


def _by_name(old: str, new: str) -> str | None:
    was, is_ = unit_of(old), unit_of(new)
    if was == is_:
        return None
    if is_ is None:
        return f"The name {old} says “{was}”, and {new} names no unit."
    if was is None:
        return f"The name {new} says “{is_}”, and {old} names no unit."
    return f"The name {old} says “{was}”, and {new} says “{is_}”."


def _by_size(old: str, here: list[float], new: str, there: list[float]) -> str | None:
    """Return how far the numbers of two properties lie apart, None where they do not."""
    if min(len(here), len(there)) < _LEAST:
        return None
    own, others = median(here), median(there)
    if own * others <= 0 or max(own / others, others / own) < _FACTOR:
        return None
    beyond = sum((value > others) == (own > others) and value != others for value in here)
    if beyond < _APART * len(here):
        return None
    return f"The median of the values under {old} is {own:.6g}, of those under {new} {others:.6g}."


def _others(
    graph: Graph, predicate: ox.NamedNode, own: Collection[object], where: Collection[object] | None
) -> Iterator[float]:
    found = graph.store.inner.quads_for_pattern(None, predicate, None, None)
    for _, quad in zip(range(_LOOKED_AT), found, strict=False):
        if quad.subject not in own and (where is None or quad.subject in where):
            yield from _number(quad.object)


def _number(term: object) -> Iterator[float]:
    if isinstance(term, ox.Literal):
        try:
            value = float(term.value)
        except ValueError:
            return
        if abs(value) < float("inf"):
            yield value
