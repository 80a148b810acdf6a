"""Marks on the scratch copy: who is in a population, who fails, and which half a node is in.

Nodes are split within each source by a seeded digest of their IRI (scheme `node`). Where there are
finer clusters (activities, documents, many named graphs), whole clusters go to one half instead
(scheme `cluster`), so that what clusters share is not counted as independent. Scheme `within` is
for regions made of sources: it is `cluster` where each source holds several clusters, else `node`,
for a source that is a cluster could never be found on one half and confirmed on the other.
"""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyoxigraph as ox

from kgreason.graph.graph import Graph
from kgreason.store import Term
from kgreason.terms import MARKS_GRAPH, WORK

Focus = ox.NamedNode | ox.BlankNode
HALVES: Final = ("discovery", "heldout")
_MOST_SHARE: Final = 0.2  # a cluster that holds more than this is no fine one
_LEAST_CLUSTERS: Final = 20
_LEAST_COVERED: Final = 0.8  # the share of nodes that must state their cluster
_CLUSTERS_A_SOURCE: Final = 4
_BATCH: Final = 5_000
_SAMPLE: Final = 10_000


@dataclass(frozen=True)
class Split:
    """The two halves of a population under one scheme, and how it was made.

    The masks are sets of positions in `Marks.nodes`, a bit for each. `mining` is the part of the
    discovery half in which candidates are looked for: all of it, or in a large population all
    failing nodes and a seeded sample of the others. Counts are always taken on the whole half.
    """

    discovery: ox.NamedNode
    heldout: ox.NamedNode
    scheme: str
    discovery_mask: int = field(default=0, repr=False)
    heldout_mask: int = field(default=0, repr=False)
    mining: ox.NamedNode | None = None
    mining_mask: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Marks:
    """The marks of one symptom in one round; `key` names its population.

    `nodes` are the population in a fixed order; sets of nodes are integers with a bit for each.
    `failing` marks its failing nodes, `population` all its nodes; `node` and `cluster` are the
    splits (the same one where there are no clusters); `nested` says that each source holds several
    clusters. `split` is False where there are too few failing nodes to split; then both halves are
    the whole.
    """

    key: str
    failing: ox.NamedNode
    population: ox.NamedNode
    node: Split
    cluster: Split
    nested: bool
    split: bool
    nodes: tuple[Focus, ...] = field(repr=False)
    index: Mapping[Term, int] = field(repr=False)
    failing_mask: int = field(repr=False)

    @property
    def failing_count(self) -> int:
        """Number of failing nodes."""
        return self.failing_mask.bit_count()

    @property
    def population_count(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    def mask(self, found: Iterable[Term]) -> int:
        """Give the set of those nodes that are in the population, a bit for each."""
        return _mask(self.index, found)

    def scheme(self, name: str) -> Split:
        """Give the split of that name: `node`, `cluster` or `within`."""
        clustered = name == "cluster" or (name == "within" and self.nested)
        return self.cluster if clustered else self.node


@dataclass(frozen=True)
class Population:
    """A marked population; symptoms with the same focus nodes share it.

    `key` names it, `nodes` are its nodes in a fixed order. `node` and `cluster` are its halves;
    they do not depend on who fails. `nested` says that each source holds several clusters.
    """

    key: str
    mark: ox.NamedNode
    node: Split
    cluster: Split
    nested: bool
    nodes: tuple[Focus, ...] = field(repr=False)
    index: Mapping[Term, int] = field(repr=False)


def mark_population(
    graph: Graph,
    key: str,
    sources: Mapping[Focus, Iterable[str]],
    stated: Sequence[Mapping[Focus, str]],
    seed: int,
) -> Population:
    """Mark a population and its halves.

    `sources` gives the named graphs each node is in; `stated` are the ways in which nodes say what
    document or activity they come from, each with that origin by node.
    """
    nodes = tuple(sorted(sources, key=str))
    index: dict[Term, int] = {node: place for place, node in enumerate(nodes)}
    name = _name(f"population:{key}")
    halves = {"node": _by_node(sources, seed)}
    clusters = _clusters(sources, stated)
    if clusters is not None:
        halves["cluster"] = _by_cluster(sources, clusters, seed)
    names = {
        scheme: [_name(f"split:{key}:{scheme}:{half}") for half in HALVES] for scheme in halves
    }
    _write(graph.store.inner, sources, name, halves, names)
    everyone = (1 << len(nodes)) - 1

    def made(scheme: str) -> Split:
        first = _mask(index, (node for node in nodes if halves[scheme][node] == 0))
        discovery, heldout = names[scheme]
        return Split(discovery, heldout, scheme, first, everyone & ~first)

    by_node = made("node")
    by_cluster = made("cluster") if clusters is not None else by_node
    nested = clusters is not None and _nested(sources, clusters)
    return Population(key, name, by_node, by_cluster, nested, nodes, index)


def mark_failing(
    graph: Graph, key: str, population: Population, failing: Iterable[Term], least: int
) -> Marks:
    """Mark the failing nodes of a symptom; with fewer than `least` of them nothing is split."""
    failed = [node for node in failing if node in population.index]
    fails = _name(f"fails:{key}")
    graph.store.inner.extend(
        ox.Quad(node, WORK.fails, fails, MARKS_GRAPH)
        for node in failed
        if not isinstance(node, ox.Literal)
    )
    split = len(failed) >= least
    everyone = (1 << len(population.nodes)) - 1
    bad = _mask(population.index, failed)
    whole = Split(population.mark, population.mark, "none", everyone, everyone)
    by_node = _mining(graph, key, population, population.node if split else whole, bad)
    by_cluster = by_node
    if split and population.cluster != population.node:
        by_cluster = _mining(graph, key, population, population.cluster, bad)
    return Marks(
        population.key,
        fails,
        population.mark,
        by_node,
        by_cluster,
        population.nested,
        split,
        population.nodes,
        population.index,
        bad,
    )


def _mining(graph: Graph, key: str, population: Population, split: Split, bad: int) -> Split:
    """Say where to look for candidates, and mark it where that is not the whole half."""
    half = split.discovery_mask
    if half.bit_count() <= _SAMPLE * 2:
        return replace(split, mining=split.discovery, mining_mask=half)
    # Nodes are sorted by IRI and halves were drawn by digest, so every n-th place is a fair sample.
    every = half.bit_count() // _SAMPLE
    sample = _bits(itertools.islice(places(half), 0, None, every), len(population.nodes))
    chosen = (half & bad) | sample
    name = _name(f"mining:{key}:{split.scheme}")
    graph.store.inner.extend(
        ox.Quad(population.nodes[place], WORK.member, name, MARKS_GRAPH) for place in places(chosen)
    )
    return replace(split, mining=name, mining_mask=chosen)


def _bits(found: Iterable[int], size: int) -> int:
    bits = bytearray(size // 8 + 1)
    for place in found:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def mark_region(graph: Graph, marks: Marks, digest: str, mask: int) -> ox.NamedNode:
    """Mark the nodes of a region within a population; gives the name of the mark."""
    name = region_name(marks, digest)
    inside = (marks.nodes[place] for place in places(mask))
    graph.store.inner.extend(ox.Quad(node, WORK.inside, name, MARKS_GRAPH) for node in inside)
    return name


def _mask(index: Mapping[Term, int], found: Iterable[Term]) -> int:
    return _bits((index[node] for node in found if node in index), len(index))


def region_name(marks: Marks, digest: str) -> ox.NamedNode:
    """Give the name of a region's mark."""
    return _name(f"region:{marks.key}:{digest}")


def places(mask: int) -> Iterator[int]:
    """Give the positions in a set, ascending."""
    text = bin(mask)[:1:-1]
    place = text.find("1")
    while place >= 0:
        yield place
        place = text.find("1", place + 1)


def _write(
    store: ox.Store,
    sources: Mapping[Focus, Iterable[str]],
    population: ox.NamedNode,
    halves: Mapping[str, Mapping[Focus, int]],
    names: Mapping[str, list[ox.NamedNode]],
) -> None:
    quads: list[ox.Quad] = []
    for node, graphs in sources.items():
        quads.append(ox.Quad(node, WORK.member, population, MARKS_GRAPH))
        quads += [ox.Quad(node, WORK.source, ox.NamedNode(g), MARKS_GRAPH) for g in graphs]
        quads += [
            ox.Quad(node, WORK.member, names[scheme][half[node]], MARKS_GRAPH)
            for scheme, half in halves.items()
        ]
        if len(quads) > _BATCH:
            store.extend(quads)
            quads.clear()
    store.extend(quads)


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


def _clusters(
    sources: Mapping[Focus, Iterable[str]], stated: Sequence[Mapping[Focus, str]]
) -> dict[Focus, str] | None:
    """Give each node its cluster, in the finest way that has clusters; None where there is none."""
    graphs = {node: min(graphs, default="") for node, graphs in sources.items()}
    ways = [graphs]
    for origins in stated:
        known = {node: origins[node] for node in sources if node in origins}
        if len(known) >= _LEAST_COVERED * len(sources):
            ways.append({node: known.get(node, graphs[node]) for node in sources})
    fine = [way for way in ways if _is_fine(way)]
    return max(fine, key=lambda way: len(set(way.values())), default=None)


def _is_fine(cluster: Mapping[Focus, str]) -> bool:
    sizes = Counter(cluster.values())
    several = sum(1 for size in sizes.values() if size > 1)
    return several >= _LEAST_CLUSTERS and max(sizes.values()) <= _MOST_SHARE * len(cluster)


def _nested(sources: Mapping[Focus, Iterable[str]], clusters: Mapping[Focus, str]) -> bool:
    """Say whether each source (of some size) holds several clusters."""
    held: dict[str, set[str]] = defaultdict(set)
    sizes: dict[str, int] = defaultdict(int)
    for node, graphs in sources.items():
        name = min(graphs, default="")
        held[name].add(clusters[node])
        sizes[name] += 1
    return all(
        len(held[name]) >= _CLUSTERS_A_SOURCE
        for name in held
        if sizes[name] >= _CLUSTERS_A_SOURCE
    )


def _by_cluster(
    sources: Mapping[Focus, Iterable[str]], clusters: Mapping[Focus, str], seed: int
) -> dict[Focus, int]:
    source = {clusters[node]: min(graphs, default="") for node, graphs in sources.items()}
    # Clusters of one source stand together, so that both halves hold part of it.
    groups = source if _nested(sources, clusters) else dict.fromkeys(source, "")
    order = sorted(groups, key=lambda name: (groups[name], _digest(seed, name)))
    place = {name: position % 2 for position, name in enumerate(order)}
    return {node: place[clusters[node]] for node in sources}
