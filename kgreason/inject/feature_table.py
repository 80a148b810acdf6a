"""One table of features for the baselines: a row a focus node, a column a dimension."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import TYPE
from kgreason.inject.base_graph import table
from kgreason.inject.conditions import days, levels
from kgreason.inject.fault import Focus, Table, Truth

LEAST: Final = 20
"""The least number of nodes that a level has; no baseline is asked for regions of fewer."""
YES: Final = "yes"

Item = tuple[str, str]
"""A column and one of its values."""


@dataclass(frozen=True)
class Features:
    """What the baselines look at; places are those of the nodes.

    `columns` hold one text for each node, or None; `numbers` the day of each node, counted from
    1 January of year 1, or None. `failing` are the places of the nodes that fail the constraint.
    """

    nodes: tuple[Focus, ...] = field(repr=False)
    failing: frozenset[int] = field(repr=False)
    columns: Mapping[str, tuple[str | None, ...]] = field(repr=False)
    numbers: Mapping[str, tuple[int | None, ...]] = field(repr=False)

    @cached_property
    def items(self) -> dict[Item, frozenset[int]]:
        """Return the places of each value that at least LEAST nodes have, and not all."""
        found: dict[Item, set[int]] = {}
        for name, cells in self.columns.items():
            for place, value in enumerate(cells):
                if value is not None:
                    found.setdefault((name, value), set()).add(place)
        size = len(self.nodes)
        return {i: frozenset(held) for i, held in found.items() if LEAST <= len(held) < size}


def features(store: ox.Store, truth: Truth, failing: frozenset[Focus]) -> Features:
    """Make the table of a trial from the data as they were injected, by named graph.

    Columns are the named graphs (and what their IRIs begin with, where there are many), stated
    origins, classes, values of other properties, whether another property is stated, and days, as
    numbers and by year and month. The constrained path gives none. A dimension of which a node may
    have several levels at once gives a column for each level.
    """
    known = table(store, truth.target.cls, truth.population)
    path = truth.target.path
    numbers = {
        str(name): tuple(_day(texts.get(place)) for place in range(len(known.nodes)))
        for name, texts in days(known, path).items()
    }
    columns = dict(_of_levels(known, path))
    columns |= dict(_of_presence(known, path))
    columns |= dict(_of_periods(numbers))
    hit = frozenset(place for node, place in known.index.items() if node in failing)
    return Features(tuple(known.nodes), hit, columns, numbers)


def _of_levels(known: Table, path: ox.NamedNode) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    dimensions: dict[str, dict[str, frozenset[int]]] = {}
    for level in levels(known, path, covered=0.0):
        if LEAST <= len(level.nodes) < len(known.nodes):
            dimensions.setdefault(level.dimension, {})[level.level] = level.nodes
    size = len(known.nodes)
    for dimension, held in dimensions.items():
        if sum(map(len, held.values())) == len(frozenset().union(*held.values())):
            yield dimension, _cells(size, held)
        else:
            for name, nodes in held.items():
                yield f"{dimension} {name}", _cells(size, {YES: nodes})


def _of_presence(known: Table, path: ox.NamedNode) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    size = len(known.nodes)
    for name in sorted(known.values, key=lambda p: p.value):
        held = frozenset(known.values[name])
        if name not in {path, TYPE} and LEAST <= len(held) <= size - LEAST:
            others = frozenset(range(size)) - held
            yield f"{name} is stated", _cells(size, {YES: held, "no": others})


def _cells(size: int, held: Mapping[str, frozenset[int]]) -> tuple[str | None, ...]:
    cells: list[str | None] = [None] * size
    for value, places in held.items():
        for place in places:
            cells[place] = value
    return tuple(cells)


def _of_periods(
    numbers: Mapping[str, tuple[int | None, ...]],
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    for name, held in numbers.items():
        found = [None if day is None else date.fromordinal(day).isoformat() for day in held]
        yield f"year of {name}", tuple(text and text[:4] for text in found)
        yield f"month of {name}", tuple(text and text[:7] for text in found)


def _day(text: str | None) -> int | None:
    """Return the number of a day; of a year or month its first; None for what is no day."""
    if text is None:
        return None
    whole = text[:10] + "0001-01-01"[len(text[:10]) :]
    try:
        return date.fromisoformat(whole).toordinal()
    except ValueError:
        return None
