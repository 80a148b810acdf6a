"""Add what a graph lacks so that a fault can be injected: feeds, batches, dates, groups."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES, TYPE, XSD
from kgreason.inject.base_graph import table
from kgreason.inject.fault import Table

VOCABULARY: Final = "https://example.org/sown/vocab#"
_GENERATED_BY: Final = ox.NamedNode(PREFIXES["prov"] + "wasGeneratedBy")
_FEEDS: Final = 8
_WEAK: Final = 60  # nodes of a level that a weak cause can be injected into, about
_STRONG: Final = 12


def add_dimension(store: ox.Store, old: Table, form: str, rng: Random, *, weak: bool) -> Table:
    """Add a dimension of a form to the nodes of a class; gives their table anew.

    The levels are of unequal size, or for a weak cause of about 60 nodes each.
    """
    some = max(6, len(old.nodes) // _WEAK)
    many = some if weak else min(_STRONG, some)
    if form == "source":
        _feeds(store, old, many if weak else min(many, _FEEDS), rng)
    elif form == "batch":
        _batches(store, old, many, rng)
    elif form == "drift":
        _dates(store, old, rng)
    elif form == "class":
        drawn = _drawn(len(old.nodes), many, rng)
        _state(store, old, TYPE, (ox.NamedNode(f"{VOCABULARY}Kind{n + 1}") for n in drawn))
    else:
        _groups(store, old, many, rng)
    return table(store, old.cls, old.nodes)


def _drawn(size: int, many: int, rng: Random) -> Iterator[int]:
    weights = [1.0] * many if many > _STRONG else [rng.uniform(0.3, 2.5) for _ in range(many)]
    yield from rng.choices(range(many), weights=weights, k=size)


def _feeds(store: ox.Store, old: Table, many: int, rng: Random) -> None:
    moved: list[ox.Quad] = []
    for node, feed in zip(old.nodes, _drawn(len(old.nodes), many, rng), strict=True):
        graph = ox.NamedNode(f"urn:src:feed-{feed + 1}.ttl")
        for quad in list(store.quads_for_pattern(node, None, None, None)):
            store.remove(quad)
            moved.append(ox.Quad(quad.subject, quad.predicate, quad.object, graph))
    store.extend(moved)


def _batches(store: ox.Store, old: Table, many: int, rng: Random) -> None:
    drawn = _drawn(len(old.nodes), many, rng)
    _state(
        store,
        old,
        _GENERATED_BY,
        (ox.NamedNode(f"https://example.org/sown/batch/{number + 1}") for number in drawn),
    )


def _dates(store: ox.Store, old: Table, rng: Random) -> None:
    first = date(2023, 1, 1)
    days = (first + timedelta(days=rng.randrange(1000)) for _ in old.nodes)
    path = ox.NamedNode(VOCABULARY + "recordedOn")
    _state(store, old, path, (ox.Literal(d.isoformat(), datatype=XSD.date) for d in days))


def _groups(store: ox.Store, old: Table, many: int, rng: Random) -> None:
    drawn = _drawn(len(old.nodes), many, rng)
    path = ox.NamedNode(VOCABULARY + "department")
    _state(store, old, path, (ox.Literal(f"D{number + 1}") for number in drawn))


def proxy(
    store: ox.Store, old: Table, nodes: frozenset[int], agree: float, rng: Random
) -> frozenset[int]:
    """Add an innocent property that tells the given nodes from the others in most cases.

    `agree` is the share of nodes for which it is right. Gives the nodes that it takes for inside.
    """
    inside = frozenset(
        place for place in range(len(old.nodes)) if (place in nodes) == (rng.random() < agree)
    )
    desks = (1 if place in inside else rng.randrange(2, 8) for place in range(len(old.nodes)))
    path = ox.NamedNode(VOCABULARY + "desk")
    _state(store, old, path, (ox.Literal(f"desk {number}") for number in desks))
    return inside


def _state(
    store: ox.Store,
    old: Table,
    path: ox.NamedNode,
    values: Iterable[Term],
) -> None:
    quads = []
    for place, value in enumerate(values):
        graph = min(old.graphs[place], key=lambda g: g.value)
        quads.append(ox.Quad(old.nodes[place], path, value, graph))
    store.extend(quads)
