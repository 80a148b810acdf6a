"""Hard designs: their regions are what they say, and answers to them are judged fairly."""

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.terms import MARKS_GRAPH
from kgreason.inject import hard
from kgreason.inject.base_graph import BaseGraph, base_of
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import chosen, designs
from kgreason.inject.fault import NODE_SHAPE, PROPERTY_SHAPE, Cause, Target, Truth
from kgreason.inject.inject import inject
from kgreason.inject.reached import reached
from kgreason.inject.scoring import same, score
from kgreason.inject.trials import told
from kgreason.inject.true_constraints import derive
from kgreason.observe import opening

SIZE = 700
HARD = [d for d in chosen("hard") if d.group == "hard"]
RESTATED = [d for d in chosen("hard") if d.group == "restatement"]
WAYS = 3


def base() -> BaseGraph:
    return base_of(f"network:{SIZE}")


@pytest.fixture(scope="module")
def targets() -> list[Target]:
    return derive(base())


def injected(name: str, targets: list[Target], seed: int = 1) -> tuple[Truth, BaseGraph]:
    made = base()
    return inject(made, targets, designs()[name], seed), made


def nodes_of(made: BaseGraph, condition: str) -> set[Any]:
    rows = made.store.query(f"SELECT DISTINCT ?focus WHERE {{ {condition} }}")
    return {row["focus"] for row in rows}  # type: ignore[union-attr]


def failing(made: BaseGraph, folder: Path) -> set[Any]:
    """Give the nodes that fail, as an investigation sees them."""
    shapes, data = folder / "shapes.ttl", folder / "data.nq"
    triples = [q.triple for q in made.store.quads_for_pattern(None, None, None, SHAPES_GRAPH)]
    ox.serialize(triples, str(shapes), format=ox.RdfFormat.TURTLE)
    for graph in (SHAPES_GRAPH, ONTOLOGY_GRAPH, MARKS_GRAPH):
        made.store.remove_graph(graph)
    ox.serialize(made.quads(), str(data), format=ox.RdfFormat.N_QUADS)
    _, seen = opening.symptoms(data, shapes=shapes)
    return set().union(*(s.observation.failing for s in seen.failing))


def test_every_hard_form_has_a_design_and_the_other_way_round() -> None:
    assert {form for d in HARD for form in d.forms} == set(hard.FORMS)
    assert {d.name for d in RESTATED} >= {"restated-bound", "restated-count", "restated-unlisted"}


@pytest.mark.parametrize("name", [d.name for d in HARD])
@pytest.mark.slow
def test_the_region_is_everything_that_meets_the_condition(
    name: str, targets: list[Target]
) -> None:
    truth, made = injected(name, targets)
    (cause,) = truth.causes
    assert nodes_of(made, cause.condition) & truth.population == cause.nodes
    assert 15 <= len(cause.nodes) <= 0.4 * SIZE
    assert len(cause.corrupted) >= 0.4 * len(cause.nodes)


@pytest.mark.parametrize("name", [d.name for d in RESTATED])
def test_what_is_corrupted_fails_and_nothing_else(
    name: str, targets: list[Target], tmp_path: Path
) -> None:
    truth, made = injected(name, targets)
    failed = failing(made, tmp_path)
    assert failed
    if truth.causes:
        assert failed == truth.causes[0].corrupted
        assert truth.silence
    assert told(truth)["silence"] is bool(truth.causes)


@pytest.mark.parametrize(("name", "steps"), [("two-steps", 2), ("three-steps", 3), ("activity", 2)])
def test_what_is_far_is_not_told_by_a_shorter_path(
    name: str, steps: int, targets: list[Target]
) -> None:
    truth, _ = injected(name, targets, 3)
    (cause,) = truth.causes
    clean = base()
    (known,) = clean.tables
    for path in reached(clean.store, known, truth.target.path, steps - 1):
        for places in path.ends.values():
            nodes = {known.nodes[place] for place in places}
            assert len(nodes & cause.nodes) < 0.8 * len(nodes | cause.nodes)
    assert cause.condition.count("GRAPH") >= steps


def test_none_of_three_conditions_can_be_left_out(targets: list[Target]) -> None:
    truth, made = injected("three-conditions", targets)
    (cause,) = truth.causes
    parts = [f"GRAPH ?x{part}" for part in cause.condition.split("GRAPH ?x") if part]
    groups = {n: " ".join(p for p in parts if p.startswith(f"GRAPH ?x{n}_")) for n in range(3)}
    for left_out in range(3):
        others = " ".join(text for n, text in groups.items() if n != left_out)
        more = nodes_of(made, others) & truth.population
        assert len(cause.nodes) <= 0.75 * len(more)


def test_a_run_that_was_imported_twice_states_two_origins(targets: list[Target]) -> None:
    truth, made = injected("run-twice", targets)
    (cause,) = truth.causes
    path = cause.condition.split()[4]
    for node in cause.nodes:
        found = made.store.query(f"SELECT ?run {{ GRAPH ?g {{ {node} {path} ?run }} }}")
        assert len(list(found)) == 2  # type: ignore[arg-type]
    assert truth.added == ("second run",)


def test_wrong_units_are_told_by_what_delivers_them_or_by_the_numbers(
    targets: list[Target],
) -> None:
    truth, _ = injected("unit-of-model", targets)
    (cause,) = truth.causes
    assert {"value", cause.kind} <= cause.twins
    assert cause.also[0] >= cause.corrupted
    assert same(cause.also[0], cause, frozenset())
    assert same(cause.nodes, cause, frozenset())


def test_each_unlisted_property_tells_of_its_nodes(targets: list[Target]) -> None:
    truth, _ = injected("restated-unlisted", targets)
    (cause,) = truth.causes
    assert truth.shape == NODE_SHAPE.value
    assert len(cause.also) == 3
    assert frozenset().union(*cause.also) == cause.nodes
    assert same(cause.also[0], cause, frozenset())


def test_a_graph_without_such_a_place_is_unfit() -> None:
    made = base_of("generated:300")
    with pytest.raises(Unfit, match="no region of this form"):
        inject(made, derive(made), designs()["source-lacks"], 0)  # eight feeds are too few


# Silence

NODES = [ox.NamedNode(f"urn:n:{i}") for i in range(100)]
TARGET = Target(ox.NamedNode("urn:C"), ox.NamedNode("urn:p"), "MinCount", None, 100, 0)


def scored(*, silence: bool, supported: bool, first: int, last: int) -> dict[str, Any]:
    """Score a result about the nodes from `first` to `last`, where 0 to 20 are corrupted."""
    store, graph = ox.Store(), ox.NamedNode("urn:g")
    for node in NODES[first:last]:
        store.add(ox.Quad(node, ox.NamedNode("urn:red"), ox.Literal(1), graph))
    struck = frozenset(NODES[:20])
    cause = Cause("value", frozenset({"value"}), "", struck, struck, also=(frozenset(NODES[:5]),))
    truth = Truth(TARGET, (cause,), (), 0.0, frozenset(NODES), silence=silence)
    hypothesis = {
        "id": "urn:h",
        "rank": 1,
        "kind": "value",
        "statement": "",
        "status": "supported" if supported else "inconclusive",
        "confidence": 0.9,
        "posterior": 0.9,
        "proof": "halves",
        "e_value": None,
        "region": "SELECT ?focus { GRAPH ?g { ?focus <urn:red> 1 } }",
        "evidence": [1],
    }
    none = hypothesis | {"id": "urn:none", "kind": "none", "region": None, "status": "proposed"}
    symptom = {
        "shape": PROPERTY_SHAPE.value,
        "constraint": TARGET.iri,
        "verdict": "",
        "failing": 20,
        "features": None,
        "hypotheses": [hypothesis, none] if supported else [none, hypothesis],
    }
    result = {"policy": "urn:x", "symptoms": [symptom], "budget": {"seconds": 1.0}}
    return score(result, truth, store)


def test_silence_is_right_where_it_may_be() -> None:
    quiet = scored(silence=True, supported=False, first=0, last=20)
    assert (quiet["top1"], quiet["f1"], quiet["wrong"]) == (True, 1.0, False)
    assert quiet["leader_right"]
    missed = scored(silence=False, supported=False, first=0, last=20)
    assert (missed["top1"], missed["f1"]) == (False, 0.0)
    assert not missed["leader_right"]


def test_the_mechanism_is_right_and_anything_else_is_wrong() -> None:
    assert scored(silence=True, supported=True, first=0, last=20)["top1"]
    assert scored(silence=True, supported=True, first=0, last=5)["top1"]  # told by a part
    other = scored(silence=True, supported=True, first=40, last=60)
    assert other["wrong"]
    assert other["f1"] == 0
