"""Marks on the scratch copy: who is in a population, who fails, and which half a node is in.

Nodes are split within each source by a seeded digest of their IRI (scheme `node`). Where sources
hold finer clusters (many named graphs, or activities), whole clusters go to one half instead
(scheme `cluster`), so that what clusters share is not counted as independent.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.graph.graph import Graph
from kgreason.store import Term
from kgreason.terms import MARKS_GRAPH, WORK

Focus = ox.NamedNode | ox.BlankNode
HALVES: Final = ("discovery", "heldout")
_MOST_SHARE: Final = 0.2  # a cluster that holds more than this is no fine one
_LEAST_CLUSTERS: Final = 20


@dataclass(frozen=True)
class Split:
    """The two halves of a population under one scheme, and how it was made."""

    discovery: ox.NamedNode
    heldout: ox.NamedNode
    scheme: str


@dataclass(frozen=True)
class Marks:
    """The marks of one symptom in one round.

    `failing` marks its failing nodes, `population` all its nodes; `node` and `cluster` are the
    splits (the same one where there are no clusters). `split` is False where there are too few
    failing nodes to split; then both halves are the whole.
    """

    failing: ox.NamedNode
    population: ox.NamedNode
    node: Split
    cluster: Split
    split: bool
    failing_count: int
    population_count: int

    def scheme(self, name: str) -> Split:
        """Give the split of that name, `node` or `cluster`."""
        return self.cluster if name == "cluster" else self.node


def mark(
    graph: Graph,
    key: str,
    sources: Mapping[Focus, Iterable[str]],
    failing: Iterable[Term],
    *,
    seed: int,
    least: int,
) -> Marks:
    """Mark one symptom's population (node to the named graphs it is in) and its failing nodes.

    `least` is the number of failing nodes under which nothing is split.
    """
    failed = [node for node in failing if node in sources]
    population = _name(f"population:{key}")
    fails = _name(f"fails:{key}")
    store = graph.store.inner
    store.extend(ox.Quad(node, WORK.fails, fails, MARKS_GRAPH) for node in failed)
    split = len(failed) >= least
    halves = {"node": _by_node(sources, seed)} if split else {}
    clusters = _clusters(sources) if split else None
    if clusters is not None:
        halves["cluster"] = _by_cluster(sources, clusters, seed)
    quads: list[ox.Quad] = []
    for node, graphs in sources.items():
        quads.append(ox.Quad(node, WORK.member, population, MARKS_GRAPH))
        quads += [ox.Quad(node, WORK.source, ox.NamedNode(g), MARKS_GRAPH) for g in graphs]
        for scheme, half in halves.items():
            place = _name(f"split:{key}:{scheme}:{HALVES[half[node]]}")
            quads.append(ox.Quad(node, WORK.member, place, MARKS_GRAPH))
        if len(quads) > 5_000:  # noqa: PLR2004 - a batch size, nothing depends on it
            store.extend(quads)
            quads.clear()
    store.extend(quads)

    def made(scheme: str) -> Split:
        if scheme not in halves:
            return Split(population, population, "none")
        parts = [_name(f"split:{key}:{scheme}:{half}") for half in HALVES]
        return Split(parts[0], parts[1], scheme)

    by_node = made("node")
    by_cluster = made("cluster") if clusters is not None else by_node
    return Marks(fails, population, by_node, by_cluster, split, len(failed), len(sources))


def unmark(graph: Graph, key: str, sources: Iterable[Focus]) -> None:
    """Take a symptom's marks away again, to keep the scratch copy small."""
    store = graph.store.inner
    suffixes = (f"population:{key}", f"fails:{key}", f"split:{key}:")
    for node in sources:
        for quad in list(store.quads_for_pattern(node, None, None, MARKS_GRAPH)):
            value = quad.object.value.removeprefix(WORK.iri)
            if value.startswith(suffixes) or quad.predicate == WORK.source:
                store.remove(quad)


def _name(text: str) -> ox.NamedNode:
    return ox.NamedNode(WORK.iri + text)


def _digest(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}\n{text}".encode()).hexdigest()


def _by_node(sources: Mapping[Focus, Iterable[str]], seed: int) -> dict[Focus, int]:
    groups: dict[str, list[tuple[str, Focus]]] = defaultdict(list)
    for node, graphs in sources.items():
        groups[min(graphs, default="")].append((_digest(seed, node.value), node))
    half: dict[Focus, int] = {}
    for name, members in groups.items():
        # Which half a source's first node goes to is drawn too, else single nodes all went to one.
        offset = int(_digest(seed, name)[-1], 16) % 2
        for position, (_, node) in enumerate(sorted(members, key=lambda m: m[0])):
            half[node] = (position + offset) % 2
    return half


def _clusters(sources: Mapping[Focus, Iterable[str]]) -> dict[Focus, str] | None:
    """Give each node its cluster, or None where the named graphs are no fine clusters."""
    cluster = {node: min(graphs, default="") for node, graphs in sources.items()}
    sizes: dict[str, int] = defaultdict(int)
    for name in cluster.values():
        sizes[name] += 1
    several = sum(1 for size in sizes.values() if size > 1)
    if several < _LEAST_CLUSTERS or max(sizes.values()) > _MOST_SHARE * len(cluster):
        return None
    return cluster


def _by_cluster(
    sources: Mapping[Focus, Iterable[str]], clusters: Mapping[Focus, str], seed: int
) -> dict[Focus, int]:
    order = sorted(set(clusters.values()), key=lambda name: _digest(seed, name))
    place = {name: position % 2 for position, name in enumerate(order)}
    return {node: place[clusters[node]] for node in sources}
