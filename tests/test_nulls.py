"""Nulls whose clusters can be told, the paths they are drawn from, and the deep graph they need."""

import math

import pyoxigraph as ox
import pytest

from kgreason.base.errors import OptionError
from kgreason.inject import network
from kgreason.inject.base_graph import BaseGraph, base_of, table
from kgreason.inject.corrupt import Unfit
from kgreason.inject.designs import SETS, chosen, designs, operations
from kgreason.inject.fault import Target, Truth, draws
from kgreason.inject.inject import inject
from kgreason.inject.nulls import CLUSTERED, chances
from kgreason.inject.reached import Reached, reached
from kgreason.inject.site import Site
from kgreason.inject.true_constraints import derive
from tests.cli_support import run

SIZE = 600
NET = "https://example.org/network/vocab#"
NULLS = [d.name for d in chosen("nulls")]
DROP = "drop"


def base() -> BaseGraph:
    return base_of(f"network:{SIZE}")


@pytest.fixture(scope="module")
def made() -> BaseGraph:
    return base()


@pytest.fixture(scope="module")
def targets(made: BaseGraph) -> list[Target]:
    return derive(made)


def site(made: BaseGraph, targets: list[Target], *, seed: int = 1) -> Site:
    (known,) = made.tables
    target = next(t for t in targets if t.path.value == f"{NET}number")
    return Site(made, known, target, operations()[DROP], draws("nulls", seed))


# The graph


def test_the_network_has_the_size_asked_for_and_is_the_same_again(made: BaseGraph) -> None:
    assert [(t.cls.value, len(t.nodes)) for t in made.tables] == [(f"{NET}Result", SIZE)]
    assert set(made.store) == set(network.store(SIZE))


@pytest.mark.parametrize("name", ["network:5", "network:many"])
def test_a_size_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="write network:N"):
        base_of(name)


# Paths


def paths(made: BaseGraph, longest: int = 3) -> dict[str, Reached]:
    (known,) = made.tables
    barred = ox.NamedNode(f"{NET}number")
    short = {}
    for found in reached(made.store, known, barred, longest):
        names = [step.rstrip(">").replace("#", "/").rpartition("/")[2] for step in found.steps]
        back = ["^" if step.startswith("^") else "" for step in found.steps]
        short["/".join(b + n for b, n in zip(back, names, strict=True))] = found
    return short


def test_paths_lead_three_steps_away(made: BaseGraph) -> None:
    found = paths(made)
    assert {"sensor", "sensor/site", "sensor/site/region", "^cites/topic"} <= set(found)
    assert "wasGeneratedBy/wasAssociatedWith/actedOnBehalfOf" in found
    assert not any(name.startswith("number") for name in found)
    assert max(len(f.steps) for f in found.values()) == 3
    assert max(len(f.steps) for f in paths(made, 1).values()) == 1


@pytest.mark.parametrize("name", ["sensor/site/region", "^cites/topic", "state", "bottle"])
def test_what_a_path_reaches_is_what_its_pattern_finds(made: BaseGraph, name: str) -> None:
    (known,) = made.tables
    found = paths(made)[name]
    rows = made.store.query(f"SELECT DISTINCT ?focus ?x WHERE {{ {found.condition('?x')} }}")
    pairs = {(row["focus"], str(row["x"])) for row in rows}  # type: ignore[union-attr]
    own = {(known.nodes[p], str(end)) for end, places in found.ends.items() for p in places}
    assert own == {(focus, end) for focus, end in pairs if focus in known.index}


def test_a_path_through_an_origin_is_a_source(made: BaseGraph) -> None:
    found = paths(made)
    assert found["wasGeneratedBy/wasAssociatedWith/release"].kind == "source"
    assert found["sensor/model"].kind == "cohort"


def test_ways_count_the_things_between(made: BaseGraph) -> None:
    found = paths(made)
    sensors = {str(q.subject) for q in made.store.quads_for_pattern(
        None, ox.NamedNode(f"{NET}model"), None, None)}  # fmt: skip
    assert max(found["sensor/model/maker"].ways.values()) > 1
    assert sum(found["sensor/model"].ways.values()) <= len(sensors)
    assert set(found["sensor"].ways.values()) == {1}


# Nulls


def failing(truth: Truth, made: BaseGraph) -> set[ox.NamedNode]:
    held = {q.subject for q in made.store.quads_for_pattern(None, truth.target.path, None, None)}
    return set(truth.population) - held


@pytest.mark.parametrize("name", NULLS)
def test_a_null_has_failures_and_no_cause(name: str, targets: list[Target]) -> None:
    own = base()
    truth = inject(own, targets, designs()[name], 2)
    assert truth.causes == ()
    assert 0 < len(failing(truth, own)) < SIZE / 3


@pytest.mark.parametrize("null", sorted({*CLUSTERED} - {"crossed"}))
def test_clusters_have_rates_of_their_own(
    null: str, made: BaseGraph, targets: list[Target]
) -> None:
    """There are as many rates as clusters, spread on the logit scale as intercepts of sigma 1."""
    found = chances(site(made, targets), null, 0.05)
    pulls = sorted({math.log(c / (1 - c)) - math.log(0.05 / 0.95) for c in found})
    least = 5 if null == "by-few" else 10
    assert least <= len(pulls) <= SIZE / 2
    mean = sum(pulls) / len(pulls)
    spread = math.sqrt(sum((p - mean) ** 2 for p in pulls) / (len(pulls) - 1))
    assert (0.3 if null == "by-few" else 0.55) < spread < 2.2


def test_nodes_of_one_document_share_a_rate(made: BaseGraph, targets: list[Target]) -> None:
    place = site(made, targets)
    found = chances(place, "by-document", 0.05)
    rates: dict[object, set[float]] = {}
    for number, graphs in place.table.graphs.items():
        rates.setdefault(min(g.value for g in graphs), set()).add(found[number])
    assert {len(held) for held in rates.values()} == {1}
    assert len(rates) > 10


def test_without_clusters_all_have_the_same_rate(made: BaseGraph, targets: list[Target]) -> None:
    assert set(chances(site(made, targets), "independent", 0.04)) == {0.04}


def test_a_graph_without_a_dimension_gets_one_or_is_unfit() -> None:
    store, one = ox.Store(), ox.NamedNode("urn:src:one.ttl")
    cls, path = ox.NamedNode("urn:C"), ox.NamedNode("urn:p")
    rdf_type = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    for i in range(700):
        node = ox.NamedNode(f"urn:n:{i}")
        store.add(ox.Quad(node, rdf_type, cls, one))
        store.add(ox.Quad(node, path, ox.Literal(i), one))
    nodes = [ox.NamedNode(f"urn:n:{i}") for i in range(700)]
    bare = BaseGraph("bare", store, (), {}, [table(store, cls, nodes)])
    known = derive(bare)
    assert inject(bare, known, designs()["null-by-run"], 0).added == ("batch",)
    with pytest.raises(Unfit, match="thing"):
        inject(bare, known, designs()["null-by-thing"], 0)


# Sets of designs


def test_sets_name_several_designs() -> None:
    every = set(designs())
    names = {name: {d.name for d in chosen(name)} for name in SETS}
    assert names["all"] == every
    assert names["nulls"] == {name for name in every if name.startswith("null-")}
    assert names["usual"] & names["nulls"] == {"null-independent", "null-clustered"}
    assert [d.name for d in chosen("source,nulls,source")].count("source") == 1


def test_a_policy_that_is_none_is_told_before_anything_is_run() -> None:
    done = run("bench", "--graph", "network:200", "--faults", "nulls", "--policy", "nosuch")
    assert done.code == 2
    assert "nosuch" in done.err


def test_the_policy_asked_for_is_the_one_investigated_under() -> None:
    done = run(
        "bench", "--graph", "network:300", "--faults", "null-by-run", "--seeds", "0:1",
        "--policy", "delta", "--format", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert '"policy": "https://w3id.org/trails/policy#delta"' in done.out
