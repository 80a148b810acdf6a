"""What is injected is what fails, the truth is what was injected, and scores are what they say."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.errors import OptionError
from kgreason.base.terms import SH, XSD
from kgreason.inject import conditions as levels
from kgreason.inject import dimensions as add_dimension
from kgreason.inject import generated
from kgreason.inject.base_graph import BaseGraph, base_of, table
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import Design, chosen, designs, operations
from kgreason.inject.fault import PROPERTY_SHAPE, Cause, Target, Truth, draws, jaccard
from kgreason.inject.inject import inject
from kgreason.inject.scoring import score, tail
from kgreason.inject.summary import added, calibration
from kgreason.inject.trials import Trial, attempt
from kgreason.inject.true_constraints import derive, given, pattern_of
from kgreason.observe import opening

SIZE = 500
EX = "https://example.org/orders/vocab#"
DESIGNS = designs()


def base() -> BaseGraph:
    return base_of(f"generated:{SIZE}")


@pytest.fixture(scope="module")
def targets() -> list[Target]:
    return derive(base())


# What holds in the clean data


def test_constraints_are_derived_from_what_holds(targets: list[Target]) -> None:
    found = {(t.path.value.removeprefix(EX), t.component): t for t in targets}
    assert {t.cls.value for t in targets} == {f"{EX}Order"}
    assert found["amount", "Datatype"].value == XSD.decimal
    assert found["customer", "Class"].value == ox.NamedNode(f"{EX}Customer")
    assert ("depot", "Class") not in found  # depots are not described
    assert found["depot", "NodeKind"].value == SH.IRI
    assert found["orderNumber", "Pattern"].value == ox.Literal("^[A-Z]+\\-[0-9]+$")
    assert all(t.failing == 0 and t.population == SIZE for t in targets)


def test_derived_constraints_do_hold(targets: list[Target], tmp_path: Path) -> None:
    store = base().store
    data = tmp_path / "data.nq"
    ox.serialize(store, str(data), format=ox.RdfFormat.N_QUADS)
    shapes = tmp_path / "shapes.nt"
    texts = []
    for number, target in enumerate(targets):
        text = (ox.serialize(target.shapes(), format=ox.RdfFormat.N_TRIPLES) or b"").decode()
        texts.append(text.replace("sown/shapes#", f"sown/shapes/{number}#"))
    shapes.write_text("".join(texts), encoding="utf-8")
    _, seen = opening.symptoms(data, shapes=shapes)
    assert len(seen.symptoms) == len(targets) > 20
    assert seen.failing == []


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("AB-12", r"^[A-Z]+\-[0-9]+$"),
        ("a.b", r"^[a-z]+\.[a-z]+$"),
        ("Müller", "^[A-Z]+ü[a-z]+$"),
        ("", "^$"),
    ],
)
def test_a_pattern_has_the_form_of_its_text(text: str, pattern: str) -> None:
    assert pattern_of(text) == pattern


def test_given_shapes_lend_their_simple_constraints(tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(
        f"""@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> .
        [] a sh:NodeShape ; sh:targetClass ex:Order ;
          sh:property [ sh:path ex:amount ; sh:minCount 1 ; sh:maxCount 3 ] ;
          sh:property [ sh:path ex:orderNumber ; sh:pattern "^[KLM]-[0-9]{{7}}$" ] ;
          sh:property [ sh:path ex:contact ; sh:pattern "@example.com$" ] ;
          sh:property [ sh:path ex:customer ; sh:class ex:Customer ; sh:nodeKind sh:IRI ] ;
          sh:property [ sh:path ex:placedOn ; sh:datatype <{XSD.dateTime.value}> ] ;
          sh:property [ sh:path ex:missing ; sh:minCount 1 ] ;
          sh:property [ sh:path ( ex:customer ex:country ) ; sh:minCount 1 ] .""",
        encoding="utf-8",
    )
    found = given(base(), [shapes])
    assert sorted((t.path.value.removeprefix(EX), t.component) for t in found) == [
        ("amount", "MinCount"),
        ("customer", "Class"),
        ("customer", "NodeKind"),
        ("orderNumber", "Pattern"),
    ]


def test_literals_are_written_as_they_were_read(tmp_path: Path) -> None:
    lines = [f'<urn:n{i}> a <urn:C> ; <urn:p> "0{i}"^^<{XSD.int.value}> .' for i in range(200)]
    data = tmp_path / "odd.ttl"
    data.write_text("\n".join(lines), encoding="utf-8")
    found = {str(q.object) for q in base_of(str(data)).quads() if q.predicate.value == "urn:p"}
    assert found == {f'"0{i}"^^<{XSD.int.value}>' for i in range(200)}


def test_a_graph_without_a_large_class_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "small.ttl"
    data.write_text("<urn:a> a <urn:C> .", encoding="utf-8")
    with pytest.raises(OptionError, match="no class has 200 instances"):
        base_of(str(data))


# What is injected


def sown(name: str, seed: int, targets: list[Target]) -> tuple[Truth, BaseGraph]:
    made = base()
    return inject(made, targets, DESIGNS[name], seed), made


def failing_nodes(made: BaseGraph, folder: Path) -> set[Any]:
    """Give the nodes that fail what is to be broken, as an investigation sees them."""
    shapes, data, axioms = folder / "shapes.ttl", folder / "data.nq", folder / "axioms.ttl"
    for graph, file in ((SHAPES_GRAPH, shapes), (ONTOLOGY_GRAPH, axioms)):
        triples = [q.triple for q in made.store.quads_for_pattern(None, None, None, graph)]
        ox.serialize(triples, str(file), format=ox.RdfFormat.TURTLE)
        made.store.remove_graph(graph)
    ox.serialize(made.quads(), str(data), format=ox.RdfFormat.N_QUADS)
    _, seen = opening.symptoms(data, shapes=shapes)
    return set().union(*(s.observation.failing for s in seen.failing))


@pytest.mark.parametrize("name", sorted(DESIGNS))
@pytest.mark.slow
def test_what_is_struck_fails_and_hardly_anything_else(
    name: str, targets: list[Target], tmp_path: Path
) -> None:
    try:
        truth, made = sown(name, 3, targets)
    except Unfit as why:
        pytest.skip(f"the generated graph has no place for it: {why}")
    failed = failing_nodes(made, tmp_path)
    corrupted = {node for cause in truth.causes for node in cause.corrupted}
    # A shifted number may still lie within its bounds, and a shape may spare a few.
    least = {
        "wrong-scale": 0.1,
        "unit-of-model": 0.1,
        "strict-count": 0.95,
        "strict-length": 0.95,
    }.get(name, 1.0)
    assert len(corrupted & failed) >= least * len(corrupted)
    others = truth.population - corrupted
    limit = truth.background * len(others)
    assert len(failed - corrupted) <= limit + 5 * math.sqrt(limit)
    assert failed <= truth.population


@pytest.mark.parametrize("name", ["source", "wrong-predicate", "null-clustered", "proxy-cohort"])
def test_the_same_seed_sows_the_same(name: str, targets: list[Target]) -> None:
    one, first = sown(name, 5, targets)
    other, second = sown(name, 5, targets)
    assert one == other
    assert set(first.store) == set(second.store)
    another, _ = sown(name, 6, targets)
    assert another != one


def test_the_region_is_everything_that_meets_the_condition(targets: list[Target]) -> None:
    for name in ("source", "batch", "cohort", "drift", "conjunction"):
        truth, made = sown(name, 1, targets)
        (cause,) = truth.causes
        rows = made.store.query(f"SELECT DISTINCT ?focus WHERE {{ {cause.condition} }}")
        found = {row["focus"] for row in rows}  # type: ignore[union-attr]
        assert found & truth.population == cause.nodes, name
        assert cause.corrupted < cause.nodes
        assert 0.6 <= cause.severity <= 1


def test_weak_causes_are_weak(targets: list[Target]) -> None:
    for seed in range(5):
        truth, _ = sown("weak-cohort", seed, targets)
        (cause,) = truth.causes
        assert 30 <= len(cause.nodes) <= 100
        assert 0.15 <= cause.severity <= 0.4


def test_several_causes_are_apart(targets: list[Target]) -> None:
    truth, _ = sown("two-causes", 2, targets)
    one, other = (cause.nodes for cause in truth.causes)
    assert len(one & other) < min(len(one), len(other)) / 2


@pytest.mark.slow
def test_a_proxy_agrees_in_most_nodes() -> None:
    made = base_of("generated:5000")
    (orders,) = [t for t in made.tables if t.cls.value == f"{EX}Order"]
    nodes = frozenset(range(0, 5000, 4))
    inside = add_dimension.proxy(made.store, orders, nodes, 0.97, draws("proxy"))
    path = ox.NamedNode(f"{add_dimension.VOCABULARY}desk")
    desks = table(made.store, orders.cls, orders.nodes).values[path]
    assert inside == {place for place, vs in desks.items() if vs[0][0] == ox.Literal("desk 1")}
    agree = sum((place in inside) == (place in nodes) for place in range(5000)) / 5000
    assert 0.96 < agree < 0.98


@pytest.mark.slow
def test_hidden_batches_spread_more_than_chance(targets: list[Target]) -> None:
    """Rates of small groups of one feed vary more under the clustered null than under the other."""

    def spread(name: str) -> float:
        out = 0.0
        for seed in range(6):
            truth, made = sown(name, seed, targets)
            lacking = set(truth.population) - {
                q.subject for q in made.store.quads_for_pattern(None, truth.target.path, None, None)
            }
            (orders,) = [t for t in made.tables if t.cls == truth.target.cls]
            known = [v for v in levels.levels(orders, truth.target.path) if len(v.nodes) >= 20]
            rate = len(lacking) / len(truth.population)
            bad = {orders.index[n] for n in lacking}
            pulls = [
                (len(v.nodes & bad) - rate * len(v.nodes)) ** 2 / (rate * len(v.nodes))
                for v in known
            ]
            out += sum(pulls) / len(pulls)
        return out / 6

    assert spread("null-clustered") > 1.2 * spread("null-independent")


@pytest.mark.parametrize("form", ["source", "batch", "cohort", "class", "drift"])
def test_what_a_graph_lacks_is_added(form: str) -> None:
    store = ox.Store()
    one = ox.NamedNode("urn:src:one.ttl")
    nodes = [ox.NamedNode(f"urn:n:{i}") for i in range(400)]
    cls, path = ox.NamedNode("urn:C"), ox.NamedNode("urn:p")
    rdf_type = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    for i, node in enumerate(nodes):
        store.add(ox.Quad(node, rdf_type, cls, one))
        store.add(ox.Quad(node, path, ox.Literal(i), one))
    made = BaseGraph("bare", store, (), {}, [table(store, cls, nodes)])
    clean = {q.triple for q in store}
    truth = inject(made, derive(made), DESIGNS[form], 0)
    assert truth.added == (form,)
    assert [cause.kind for cause in truth.causes] == [
        {"batch": "source", "class": "cohort"}.get(form, form)
    ]
    (cause,) = truth.causes
    lost = clean - {q.triple for q in made.quads()}
    assert {triple.subject for triple in lost} <= cause.corrupted | truth.population
    assert {triple.predicate for triple in lost} <= {path}
    if truth.background == 0:
        assert {triple.subject for triple in lost} in (cause.corrupted, set())


def test_every_operation_can_be_sown_by_name() -> None:
    own = {name for name, made in operations().items() if made.header["cause"] != "region"}
    assert own <= set(DESIGNS)
    assert {d.name for d in chosen("all")} == set(DESIGNS)
    with pytest.raises(OptionError, match="no fault 'flood'"):
        chosen("source,flood")


def test_the_generated_graph_has_the_size_asked_for() -> None:
    store = generated.store(300)
    orders = store.quads_for_pattern(None, None, ox.NamedNode(f"{EX}Order"), None)
    assert len(list(orders)) == 300
    assert set(store) == set(generated.store(300))


# Scores

NODES = [ox.NamedNode(f"urn:n:{i}") for i in range(100)]
TARGET = Target(ox.NamedNode("urn:C"), ox.NamedNode("urn:p"), "MinCount", None, 100, 0)


def data(failing: int) -> ox.Store:
    """Give 100 nodes, the first `failing` without urn:p; the first 20 are red."""
    store, graph = ox.Store(), ox.NamedNode("urn:g")
    for i, node in enumerate(NODES):
        colour = "red" if i < 20 else "blue"
        store.add(ox.Quad(node, ox.NamedNode("urn:colour"), ox.Literal(colour), graph))
        if i >= failing:
            store.add(ox.Quad(node, ox.NamedNode("urn:p"), ox.Literal(i), graph))
    return store


def truth_of(*sizes: tuple[int, int], kind: str = "cohort", severity: float = 1.0) -> Truth:
    causes = [
        Cause(kind, frozenset({kind}), "", nodes := frozenset(NODES[a:b]), nodes, 5, severity)
        for a, b in sizes
    ]
    return Truth(TARGET, tuple(causes), ("drop",), 0.0, frozenset(NODES))


def hypothesis(kind: str, colour: str | None, status: str, confidence: float) -> dict[str, Any]:
    select = f"SELECT ?focus WHERE {{ GRAPH ?g {{ ?focus <urn:colour> '{colour}' }} }}"
    return {
        "id": f"urn:h:{kind}:{colour}",
        "rank": 1,
        "kind": kind,
        "statement": f"{colour}",
        "status": status,
        "confidence": confidence,
        "posterior": confidence,
        "proof": "halves",
        "e_value": None,
        "region": select if colour else None,
        "evidence": [1],
    }


def scored(truth: Truth, *hypotheses: dict[str, Any], failing: int = 20) -> dict[str, Any]:
    symptom = {
        "shape": PROPERTY_SHAPE.value,
        "constraint": TARGET.iri,
        "verdict": "explained",
        "failing": failing,
        "features": None,
        "hypotheses": list(hypotheses),
    }
    result = {"policy": "urn:x:policy", "symptoms": [symptom], "budget": {"seconds": 1.0}}
    return score(result, truth, data(failing))


RED = hypothesis("cohort", "red", "supported", 0.9)
NONE = hypothesis("none", None, "proposed", 0.1)


def test_the_right_cause_is_right() -> None:
    found = scored(truth_of((0, 20)), RED, NONE)
    assert found["top1"]
    assert found["f1"] == 1
    assert not found["wrong"]
    assert found["leader_right"]
    assert found["detectable"]


def test_the_right_place_with_a_wrong_kind_is_wrong() -> None:
    found = scored(truth_of((0, 20), kind="source"), RED, NONE)
    assert found["wrong"]
    assert found["place_right"]
    assert not found["kind_right"]


@pytest.mark.parametrize(("size", "right"), [(25, True), (26, False), (16, True), (15, False)])
def test_a_region_is_right_from_four_fifths_on(size: int, right: bool) -> None:  # noqa: FBT001
    assert scored(truth_of((0, size)), RED)["top1"] is right


def test_what_is_not_supported_is_no_answer() -> None:
    open_ = hypothesis("cohort", "red", "inconclusive", 0.7)
    found = scored(truth_of((0, 20)), open_, NONE)
    assert not found["top1"]
    assert found["top3"]
    assert found["abstained"]
    refuted = hypothesis("cohort", "red", "refuted", 0.0)
    assert not scored(truth_of((0, 20)), NONE, refuted)["top3"]


def test_one_of_two_causes_found_has_two_thirds() -> None:
    assert scored(truth_of((0, 20), (60, 80)), RED)["f1"] == pytest.approx(2 / 3)


def test_a_cause_where_there_is_none_is_a_false_report() -> None:
    found = scored(truth_of(), RED, NONE)
    assert found["wrong"]
    assert found["wrong_answers"] == 1
    assert not found["leader_right"]
    quiet = scored(truth_of(), NONE)
    assert quiet["abstained"]
    assert quiet["leader_right"]


def test_a_part_of_a_cause_is_told_from_a_wrong_one() -> None:
    found = scored(truth_of((0, 60)), RED)
    assert (found["parts"], found["wrong_answers"]) == (1, 0)


def test_the_proxy_of_a_cause_is_not_the_cause() -> None:
    proxied = replace(truth_of((0, 21)), decoy=frozenset(NODES[:20]))
    found = scored(proxied, RED)
    assert not found["top1"]
    assert found["wrong"]
    assert scored(replace(truth_of((0, 20)), decoy=frozenset(NODES[:21])), RED)["top1"]


def test_nothing_is_right_where_an_oracle_sees_nothing() -> None:
    truth = truth_of((30, 60), severity=0.2)
    found = scored(truth, NONE, failing=33)  # 3 of 30 fail inside, 30 of 70 outside
    assert not found["detectable"]
    assert found["leader_right"]


@pytest.mark.parametrize(
    ("bad", "inside", "failing", "population"), [(3, 10, 12, 60), (0, 4, 4, 9)]
)
def test_the_tail_is_hypergeometric(bad: int, inside: int, failing: int, population: int) -> None:
    whole = math.comb(population, inside)
    wanted = sum(
        Fraction(math.comb(failing, k) * math.comb(population - failing, inside - k), whole)
        for k in range(bad, min(inside, failing) + 1)
    )
    assert tail(bad, inside, failing, population) == pytest.approx(float(wanted))


def test_no_more_can_fail_than_there_are() -> None:
    assert tail(5, 4, 4, 9) == 0


def test_jaccard() -> None:
    assert jaccard(frozenset(NODES[:3]), frozenset(NODES[1:4])) == 0.5
    assert jaccard(frozenset(), frozenset()) == 0


def result(**said: Any) -> dict[str, Any]:
    usual = {
        "outcome": "done",
        "group": "one strong cause",
        "truth": {"causes": [1]},
        "detectable": True,
        "top1": True,
        "top3": True,
        "f1": 1.0,
        "wrong": False,
        "wrong_answers": 0,
        "parts": 0,
        "place_right": True,
        "kind_right": True,
        "abstained": False,
        "supported": [1],
        "seconds": 1.0,
        "tests": 3,
        "confidence": 0.95,
        "leader_right": True,
    }
    return usual | said


def test_figures_add_up() -> None:
    results = [
        result(),
        result(top1=False, wrong=True, wrong_answers=1, f1=0.0, kind_right=False),
        result(group="weak", detectable=False, top1=False, abstained=True, supported=[]),
        result(truth={"causes": []}, group="null", abstained=True, supported=[]),
        result(truth={"causes": []}, group="null", wrong_answers=2, supported=[1, 2]),
        {"outcome": "failed", "group": "null"},
        {"outcome": "not sown", "group": "null"},
    ]
    found = added(results)
    assert (found["trials"], found["done"], found["failed"], found["not_sown"]) == (7, 5, 1, 1)
    assert found["top1"] == 0.5
    assert found["kind"] == 0.5
    assert found["abstained"] == 1
    assert found["false_report"] == 0.5
    assert found["fdr"] == 3 / 4


def test_calibration_by_hand() -> None:
    results = [
        result(confidence=0.95),
        result(confidence=0.85, leader_right=False),
        result(confidence=0.85),
        result(confidence=1.0),
    ]
    found = calibration(results)
    # Bins: two leaders at 0.975, both right; two at 0.85, one right.
    assert found["ece"] == pytest.approx((0.025 * 2 + 0.35 * 2) / 4)
    assert found["brier"] == pytest.approx((0.05**2 + 0.85**2 + 0.15**2 + 0) / 4)
    assert [row["leaders"] for row in found["reliability"]] == [2, 2]


def test_a_trial_from_end_to_end(targets: list[Target], tmp_path: Path) -> None:
    made = base()
    design: Design = DESIGNS["wrong-predicate"]
    found = attempt(Trial(made, tuple(targets), design, 1, tmp_path))
    assert found["outcome"] == "done"
    assert found["truth"]["causes"][0]["kind"] == "mapping"
    assert found["failing"] == found["truth"]["causes"][0]["struck"]
    kept = tmp_path / "generated-500-wrong-predicate-1"
    assert sorted(p.name for p in kept.iterdir()) == ["data.nq", "shapes.ttl"]
