"""How a population is split: by nodes, by whole clusters, and within sources."""

import pyoxigraph as ox
import pytest

from kgreason.base.store import Store
from kgreason.graph import Graph
from kgreason.graph.marks import Marks, Population, mark_failing, mark_population

Node = ox.NamedNode | ox.BlankNode


def focus(number: int) -> Node:
    return ox.NamedNode(f"https://example.org/{number:04}")


def split(sources: dict[Node, list[str]], *stated: dict[Node, str]) -> Population:
    graph = Graph(Store(ox.Store(), "test"), (), "", 0, 0)
    return mark_population(graph, "key", sources, stated, seed=0)


def halves(population: Population, mask: int, origin: dict[Node, str]) -> set[str]:
    return {origin[n] for i, n in enumerate(population.nodes) if mask >> i & 1}


FEEDS = {focus(i): [f"urn:feed{i % 3}"] for i in range(600)}
BATCHES = {focus(i): f"urn:feed{i % 3}:batch{i // 3 % 10}" for i in range(600)}


def test_whole_batches_go_to_one_half_and_each_source_to_both() -> None:
    population = split(FEEDS, BATCHES)
    first, second = population.cluster.discovery_mask, population.cluster.heldout_mask
    assert population.nested
    assert first & second == 0
    assert (first | second).bit_count() == len(FEEDS)
    one, other = halves(population, first, BATCHES), halves(population, second, BATCHES)
    assert one | other == set(BATCHES.values())
    assert not one & other
    feeds = {node: graphs[0] for node, graphs in FEEDS.items()}
    assert halves(population, first, feeds) == halves(population, second, feeds)


def test_without_clusters_nodes_are_split_within_each_source() -> None:
    population = split(FEEDS)
    assert population.cluster == population.node
    assert not population.nested
    for feed in range(3):
        inside = sum(1 << i for i, n in enumerate(population.nodes) if FEEDS[n][0][-1] == str(feed))
        assert (inside & population.node.discovery_mask).bit_count() == 100


def test_many_named_graphs_are_clusters_but_not_within_themselves() -> None:
    graphs: dict[Node, list[str]] = {focus(i): [f"urn:document{i % 40}"] for i in range(400)}
    population = split(graphs)
    assert population.cluster != population.node
    assert not population.nested


def test_clusters_that_reach_over_sources_are_split_the_same_in_any_order() -> None:
    """Runs that deliver to several feeds once went by the feed of whichever node came last."""
    runs: dict[Node, str] = {focus(i): f"urn:run{i * 7 % 41}" for i in range(600)}
    there = split(FEEDS, runs)
    back = split(dict(reversed(FEEDS.items())), dict(reversed(runs.items())))
    assert there.nested
    assert there.cluster != there.node
    assert there.cluster.discovery_mask == back.cluster.discovery_mask


@pytest.mark.parametrize(
    "stated",
    [
        {focus(i): f"urn:run{i % 10}" for i in range(600)},  # too few
        {focus(i): f"urn:run{i % 50}" for i in range(400)},  # a third says nothing
        {focus(i): f"urn:run{i}" for i in range(600)},  # each node has its own
        {focus(i): f"urn:run{i % 50 if i % 2 else 0}" for i in range(600)},  # one holds the half
    ],
)
def test_what_is_no_cluster(stated: dict[Node, str]) -> None:
    population = split(FEEDS, stated)
    assert population.cluster == population.node


def test_a_query_about_the_very_same_nodes_is_the_same_whatever_their_marks_are_called() -> None:
    graph = Graph(Store(ox.Store(), "test"), (), "", 0, 0)
    population = mark_population(graph, "key", FEEDS, (), seed=0)
    some, others = ([focus(i) for i in range(least, 600, 5)] for least in (0, 1))
    one, twin, other = (
        mark_failing(graph, f"{number}:1", population, failing, 8)
        for number, failing in ((1, some), (12, some), (2, others))
    )

    def asked(marks: Marks) -> str:
        assert marks.node.sound is not None
        names = marks.failing, marks.node.mining, marks.node.sound.name, population.mark
        return marks.anonymous(" ".join(map(str, names)))

    assert asked(one) == asked(twin)
    assert asked(one) != asked(other)
    assert asked(one).startswith("<urn:x-kgreason:work:fails> ")
    assert one.anonymous(str(twin.failing)) == str(twin.failing)  # another's mark keeps its name
    assert one.anonymous("SELECT 1") == "SELECT 1"  # what names no mark of its own is for all
