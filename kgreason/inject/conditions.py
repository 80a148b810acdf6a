"""The conditions by which the nodes of a class can be parted, taken from the graph itself."""

import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import PREFIXES, TYPE
from kgreason.inject.fault import Level, Table

ORIGINS: Final = frozenset(
    ox.NamedNode(PREFIXES[prefix] + name)
    for prefix, names in {
        "dct": "source creator contributor publisher provenance",
        "prov": "wasDerivedFrom hadPrimarySource wasAttributedTo wasGeneratedBy",
        "pav": "importedFrom retrievedFrom derivedFrom createdBy providedBy",
    }.items()
    for name in names.split()
)
"""Properties that say where a node comes from; their levels are sources."""
DATE: Final = re.compile(r"[12]\d{3}(-[01]\d(-[0-3]\d.*)?)?")
_MANY: Final = 400
_COVERED: Final = 0.5
_DATED: Final = 0.9
_DAYS: Final = 20
_FEW_GRAPHS: Final = 60

Groups = dict[str, set[int]]


def levels(table: Table, path: ox.NamedNode, *, covered: float = _COVERED) -> list[Level]:
    """Return every level of every dimension but those of the constrained path.

    Dimensions are named graphs (or what their IRIs begin with, where there are many), stated
    origins, classes, and values that at least two nodes share, of properties that at least the
    share `covered` of the nodes has.
    """
    out = [*_by_graph(table)]
    for name in sorted(table.values, key=lambda p: p.value):
        if name == path:
            continue
        groups = _groups(table, name)
        shared = {level: nodes for level, nodes in groups.items() if len(nodes) > 1}
        common = len(table.values[name]) >= covered * len(table.nodes)
        if name == TYPE:
            out += _made("cohort", "class", str(name), shared, "GRAPH ?g { ?focus a %s . }")
        elif name in ORIGINS:
            condition = f"GRAPH ?g {{ ?focus {name} %s . }}"
            out += _made("source", "batch", str(name), shared, condition)
        elif common and len(shared) <= _MANY and len(shared) > 1:
            condition = f"GRAPH ?g {{ ?focus {name} %s . }}"
            out += _made("cohort", "cohort", str(name), shared, condition)
    return out


def _made(kind: str, form: str, dimension: str, groups: Groups, condition: str) -> Iterator[Level]:
    for level in sorted(groups):
        told = condition.replace("%s", level)
        nodes = frozenset(groups[level])
        yield Level(kind, form, dimension, level, told, nodes, len(groups))


def _groups(table: Table, path: ox.NamedNode) -> Groups:
    out: Groups = defaultdict(set)
    for place, values in table.values[path].items():
        for value, _ in values:
            if not isinstance(value, ox.BlankNode):
                out[str(value)].add(place)
    return out


def _by_graph(table: Table) -> Iterator[Level]:
    groups: Groups = defaultdict(set)
    for place, names in table.graphs.items():
        for name in names:
            groups[name.value].add(place)
    exact = {f"<{name}>": nodes for name, nodes in groups.items()}
    yield from _made("source", "source", "graph", exact, "GRAPH %s { ?focus ?p ?o . }")
    if len(groups) <= _FEW_GRAPHS:
        return
    begun: Groups = defaultdict(set)
    for graph, nodes in groups.items():
        parts = re.findall(r"[^/]*/", graph)
        for depth in range(1, len(parts) + 1):
            begun["".join(parts[:depth])] |= nodes
    begun = {name: nodes for name, nodes in begun.items() if len(nodes) < len(table.nodes)}
    quoted = {str(ox.Literal(name)): nodes for name, nodes in begun.items()}
    condition = "GRAPH ?g { ?focus ?p ?o . } FILTER (STRSTARTS(STR(?g), %s))"
    yield from _made("source", "source", "begin of the graph", quoted, condition)


def days(table: Table, path: ox.NamedNode) -> dict[ox.NamedNode, dict[int, str]]:
    """Return each date-like property that nearly all nodes have, with first day of each node."""
    out = {}
    for name, values in sorted(table.values.items(), key=lambda item: item[0].value):
        if name == path or len(values) < _DATED * len(table.nodes):
            continue
        texts = {
            place: min(v.value for v, _ in vs if isinstance(v, ox.Literal))
            for place, vs in values.items()
            if any(isinstance(v, ox.Literal) for v, _ in vs)
        }
        if all(map(DATE.fullmatch, texts.values())) and len(set(texts.values())) >= _DAYS:
            out[name] = texts
    return out


def since(table: Table, path: ox.NamedNode, rng: Random, low: int, high: int) -> Level | None:
    """Draw a dated property and a day from which on there are `low` to `high` nodes."""
    known = days(table, path)
    names = sorted(known, key=lambda p: p.value)
    rng.shuffle(names)
    for name in names:
        texts = known[name]
        order = sorted(texts.items(), key=lambda item: (item[1], item[0]))
        firsts = [n for n in range(1, len(order)) if order[n][1] != order[n - 1][1]]
        usable = [n for n in firsts if low <= len(order) - n <= high]
        if usable:
            start = rng.choice(usable)
            day = order[start][1]
            told = ox.Literal(day)
            condition = f"GRAPH ?g {{ ?focus {name} ?day . }} FILTER (STR(?day) >= {told})"
            nodes = frozenset(place for place, _ in order[start:])
            return Level("drift", "drift", str(name), day, condition, nodes, len(firsts))
    return None
