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
from functools import cached_property
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import integer
from kgreason.base.store import Term
from kgreason.base.terms import MARKS_GRAPH, WORK
from kgreason.graph.graph import Graph

Focus = ox.NamedNode | ox.BlankNode
HALVES: Final = ("discovery", "heldout")
_MOST_SHARE: Final = 0.2  # a cluster that holds more than this is no fine one
_LEAST_CLUSTERS: Final = 20
_LEAST_COVERED: Final = 0.8  # the share of nodes that must state their cluster
_CLUSTERS_A_SOURCE: Final = 4
_SAMPLE: Final = integer("miningNodes")
_SOUND: Final = 200
_FEW: Final = 8  # nodes of a set that are found one by one; of more its digits are gone through
_DENSE: Final = 10  # digits to a node, up to which all digits are gone through at once
_DIGITS: Final = bytes.maketrans(b"01", b"\0\1")


class Mark:
    """A set of nodes, a bit for each, that is marked on the graph once its name is asked for.

    Most halves of later rounds are never looked at, and each mark makes its nodes slower to read.
    Without a `store` the nodes are marked already.
    """

    def __init__(
        self, name: ox.NamedNode, mask: int, nodes: Sequence[Focus], store: ox.Store | None = None
    ) -> None:
        self.mask = mask
        self._name, self._nodes, self._store = name, nodes, store

    def named_in(self, query: str) -> None:
        """Mark the nodes if a query that was written before names them."""
        if self._store is not None and self._name.value in query:
            self._write(self._store)

    @property
    def name(self) -> ox.NamedNode:
        """The IRI of the mark, to be used in a query."""
        if self._store is not None:
            self._write(self._store)
        return self._name

    def _write(self, store: ox.Store) -> None:
        _mark(store, WORK.member, self._name, self._nodes, self.mask)
        self._store = None


@dataclass(frozen=True)
class Split:
    """The two halves of a population under one scheme, and how it was made.

    `chosen` is the part of the discovery half in which candidates are looked for, where that is
    not all of it: in a large population all failing nodes and a sample of all, which is `sample`.
    `sound` are a few of the passing nodes there.
    Counts are always taken on the whole half. Masks are sets of positions in `Population.nodes`, a
    bit for each; IRIs are marks that can be queried.
    """

    scheme: str
    first: Mark = field(repr=False)
    second: Mark = field(repr=False)
    sample: Mark | None = field(default=None, repr=False)
    chosen: Mark | None = field(default=None, repr=False)
    sound: Mark | None = field(default=None, repr=False)

    @property
    def discovery(self) -> ox.NamedNode:
        """The mark of the half that hypotheses are found on."""
        return self.first.name

    @property
    def discovery_mask(self) -> int:
        """The half that hypotheses are found on."""
        return self.first.mask

    @property
    def heldout(self) -> ox.NamedNode:
        """The mark of the half that they are tested on."""
        return self.second.name

    @property
    def heldout_mask(self) -> int:
        """The half that they are tested on."""
        return self.second.mask

    @property
    def mining(self) -> ox.NamedNode:
        """The mark of the nodes among which candidates are looked for."""
        return (self.chosen or self.first).name

    @property
    def mining_mask(self) -> int:
        """The nodes among which candidates are looked for."""
        return (self.chosen or self.first).mask

    @property
    def common(self) -> ox.NamedNode:
        """The mark of those of them that no symptom has to itself."""
        return (self.sample or self.first).name

    @property
    def sample_mask(self) -> int:
        """The sample, with nothing in it where the whole half is looked at."""
        return self.sample.mask if self.sample else 0


@dataclass(frozen=True)
class Population:
    """A marked population; symptoms with the same focus nodes share it.

    `nodes` are in a fixed order, and sets of nodes are integers with a bit for each. `everyone` are
    those that count: in later rounds the nodes of found causes are left out, while the order stays.
    `key` names the order. `node` and `cluster` are the halves (the same where there are no
    clusters); they do not depend on who fails. `nested` says that each source holds several
    clusters. `unexposed` is the number of nodes that were left out because they cannot fail.
    """

    key: str
    mark: ox.NamedNode
    node: Split
    cluster: Split
    nested: bool
    nodes: tuple[Focus, ...] = field(repr=False)
    index: Mapping[Term, int] = field(repr=False)
    everyone: int = field(repr=False)
    unexposed: int = 0

    @property
    def count(self) -> int:
        """Number of nodes that count."""
        return self.everyone.bit_count()

    def mask(self, found: Iterable[Term]) -> int:
        """Return the set of those nodes that are in the population, left out ones too."""
        return _mask(self.index, found)


@dataclass(frozen=True)
class Marks:
    """The marks of one symptom in one round.

    `failing` marks the failing nodes, `failing_mask` is their set. `node` and `cluster` are the
    splits. `split` is False where there are too few failing nodes to split; then both halves are
    the whole. In `whole` they always are: it is for what pays for its search in another way.
    """

    population: Population
    failing: ox.NamedNode
    node: Split
    cluster: Split
    whole: Split
    split: bool
    failing_mask: int = field(repr=False)

    @property
    def failing_count(self) -> int:
        """Number of failing nodes."""
        return self.failing_mask.bit_count()

    @property
    def everyone(self) -> ox.NamedNode:
        """The mark of the population, without those of it that could not fail."""
        return self.whole.discovery if self.population.unexposed else self.population.mark

    def anonymous(self, query: str) -> str:
        """Return a query with what the marks hold in place of their names.

        It is the same for symptoms of which the very same nodes fail.
        """
        key = self.failing.value.removeprefix(f"{WORK.iri}fails:")
        out = query.replace(f":fails:{key}>", ":fails>")
        for what in ("mining", "sound"):
            out = out.replace(f":{what}:{key}:", f":{what}:")
        return out if out == query else f"{out}\n# {self._digest}"

    @cached_property
    def _digest(self) -> str:
        own = (
            f"{self.population.key} {self.population.everyone:x} {self.failing_mask:x} {self.split}"
        )
        return hashlib.sha256(own.encode()).hexdigest()

    def named_in(self, query: str) -> None:
        """Mark what a query names that was written before, perhaps by another process."""
        for split in (self.node, self.cluster, self.whole):
            for mark in (split.first, split.second, split.sample, split.chosen):
                if mark is not None:
                    mark.named_in(query)

    def scheme(self, name: str) -> Split:
        """Return the split of that name: `node`, `cluster`, `within` or `whole`."""
        if name == self.whole.scheme:
            return self.whole
        clustered = name == "cluster" or (name == "within" and self.population.nested)
        return self.cluster if clustered else self.node


def mark_population(
    graph: Graph,
    key: str,
    sources: Mapping[Focus, Iterable[str]],
    stated: Sequence[Mapping[Focus, str]],
    seed: int,
) -> Population:
    """Mark a population and each node's sources, and draw its halves.

    `sources` gives the named graphs each node is in; `stated` are the ways in which nodes say what
    document or activity they come from, each with that origin by node.
    """
    nodes = tuple(sorted(sources, key=str))
    index: dict[Term, int] = {node: place for place, node in enumerate(nodes)}
    everyone = (1 << len(nodes)) - 1
    name, member, source = _name(f"population:{key}"), WORK.member, WORK.source
    graph.store.inner.extend(ox.Quad(node, member, name, MARKS_GRAPH) for node in nodes)
    graph.store.inner.extend(
        ox.Quad(node, source, ox.NamedNode(g), MARKS_GRAPH)
        for node, graphs in sources.items()
        for g in graphs
    )
    clusters = _clusters(sources, stated)

    def made(scheme: str, half: Mapping[Focus, int]) -> Split:
        first = _mask(index, (node for node in nodes if half[node] == 0))
        return _halved(graph, key, scheme, nodes, (first, everyone & ~first))

    node = made("node", _by_node(sources, seed))
    cluster = node if clusters is None else made("cluster", _by_cluster(sources, clusters, seed))
    nested = clusters is not None and _nested(sources, clusters)
    return Population(key, name, node, cluster, nested, nodes, index, everyone)


def without(graph: Graph, key: str, population: Population, left_out: int) -> Population:
    """Return a population without some of its nodes; `key` names what is left."""
    everyone = population.everyone & ~left_out

    def narrowed(split: Split) -> Split:
        masks = split.discovery_mask & everyone, split.heldout_mask & everyone
        return _halved(graph, key, split.scheme, population.nodes, masks)

    node = narrowed(population.node)
    same = population.cluster is population.node
    return replace(
        population,
        node=node,
        cluster=node if same else narrowed(population.cluster),
        everyone=everyone,
    )


def exposed_of(graph: Graph, key: str, population: Population, could: int) -> Population:
    """Return those of a population that could fail; `key` names them."""
    left_out = population.everyone & ~could
    made = without(graph, key, population, left_out)
    return replace(made, unexposed=left_out.bit_count())


def _halved(
    graph: Graph, key: str, scheme: str, nodes: Sequence[Focus], masks: tuple[int, int]
) -> Split:
    """Return both halves; of a large discovery half a sample too."""
    store = graph.store.inner
    first, second = (
        Mark(_name(f"split:{key}:{scheme}:{half}"), mask, nodes, store)
        for half, mask in zip(HALVES, masks, strict=True)
    )
    if masks[0].bit_count() <= _SAMPLE * 2:
        return Split(scheme, first, second)
    some = _some(masks[0], _SAMPLE)
    return Split(scheme, first, second, Mark(_name(f"sample:{key}:{scheme}"), some, nodes, store))


def _mark(
    store: ox.Store, how: ox.NamedNode, name: ox.NamedNode, nodes: Sequence[Focus], mask: int
) -> None:
    store.extend(ox.Quad(nodes[place], how, name, MARKS_GRAPH) for place in places(mask))


def mark_failing(
    graph: Graph, key: str, population: Population, failing: Iterable[Term], least: int
) -> Marks:
    """Mark the failing nodes of a symptom; with fewer than `least` of them nothing is split."""
    bad = population.mask(failing) & population.everyone
    name = _name(f"fails:{key}")
    _mark(graph.store.inner, WORK.fails, name, population.nodes, bad)
    split = bad.bit_count() >= least
    left = Mark(population.mark, population.everyone, population.nodes)
    if population.everyone.bit_count() < len(population.nodes):
        left = Mark(_name(f"whole:{key}"), population.everyone, population.nodes, graph.store.inner)
    none = Split("none", left, left)
    by_node = _mining(graph, key, population, population.node if split else none, bad)
    by_cluster = by_node
    if split and population.cluster is not population.node:
        by_cluster = _mining(graph, key, population, population.cluster, bad)
    uncut = Split("whole", left, left)
    passing = _some(population.everyone & ~bad, _SOUND)
    sound = Mark(_name(f"sound:{key}:whole"), passing, population.nodes, graph.store.inner)
    uncut = replace(uncut, sound=sound)
    return Marks(population, name, by_node, by_cluster, uncut, split, bad)


def _mining(graph: Graph, key: str, population: Population, split: Split, bad: int) -> Split:
    """Describe where to look for candidates."""

    def named(what: str, mask: int) -> Mark:
        name = _name(f"{what}:{key}:{split.scheme}")
        return Mark(name, mask, population.nodes, graph.store.inner)

    if split.sample is not None:
        chosen = (split.discovery_mask & bad) | split.sample_mask
        split = replace(split, chosen=named("mining", chosen))
    return replace(split, sound=named("sound", _some(split.mining_mask & ~bad, _SOUND)))


def _some(mask: int, most: int) -> int:
    """Return at most that many of a set of nodes.

    Nodes are sorted by IRI and halves were drawn by digest, so every n-th place is a fair sample.
    """
    size = mask.bit_count()
    if size <= most:
        return mask
    return _bits(itertools.islice(places(mask), 0, None, -(-size // most)), mask.bit_length())


def _bits(found: Iterable[int], size: int) -> int:
    bits = bytearray(size // 8 + 1)
    for place in found:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def mark_region(graph: Graph, population: Population, digest: str, mask: int) -> ox.NamedNode:
    """Mark the nodes of a region within a population; gives the name of the mark."""
    name = region_name(population, digest)
    _mark(graph.store.inner, WORK.inside, name, population.nodes, mask)
    return name


def _mask(index: Mapping[Term, int], found: Iterable[Term]) -> int:
    return _bits((index[node] for node in found if node in index), len(index))


def region_name(population: Population, digest: str) -> ox.NamedNode:
    """Return the name of a region's mark."""
    return _name(f"region:{population.key}:{digest}")


def places(mask: int) -> Iterator[int]:
    """Return the positions in a set, ascending."""
    size = mask.bit_count()
    if size <= _FEW:
        few = []
        while mask:
            few.append(mask.bit_length() - 1)
            mask ^= 1 << few[-1]
        return reversed(few)
    text = bin(mask)[:1:-1]
    if size * _DENSE >= len(text):
        return itertools.compress(range(len(text)), text.encode().translate(_DIGITS))
    return _found(text)


def _found(text: str) -> Iterator[int]:
    place = text.find("1")
    while place >= 0:
        yield place
        place = text.find("1", place + 1)


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
    """Return each node its cluster, in finest way that has clusters; None where there is none."""
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
    """Check whether each source (of some size) holds several clusters."""
    held: dict[str, set[str]] = defaultdict(set)
    sizes: dict[str, int] = defaultdict(int)
    for node, graphs in sources.items():
        name = min(graphs, default="")
        held[name].add(clusters[node])
        sizes[name] += 1
    return all(
        len(held[name]) >= _CLUSTERS_A_SOURCE for name in held if sizes[name] >= _CLUSTERS_A_SOURCE
    )


def _by_cluster(
    sources: Mapping[Focus, Iterable[str]], clusters: Mapping[Focus, str], seed: int
) -> dict[Focus, int]:
    # A cluster may reach over several sources; it stands with the first of them by name.
    source: dict[str, str] = {}
    for node, graphs in sources.items():
        name = min(graphs, default="")
        source[clusters[node]] = min(name, source.get(clusters[node], name))
    # Clusters of one source stand together, so that both halves hold part of it.
    groups = source if _nested(sources, clusters) else dict.fromkeys(source, "")
    order = sorted(groups, key=lambda name: (groups[name], _digest(seed, name)))
    place = {name: position % 2 for position, name in enumerate(order)}
    return {node: place[clusters[node]] for node in sources}
