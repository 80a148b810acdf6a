"""The shipped supply-chain example: made again byte for byte, and faulty exactly as it says."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib
from rdflib import RDF, SH, Graph, URIRef

from tests.example_support import (
    EXAMPLES,
    assert_same_bytes,
    assert_same_content,
    data,
    filled,
    focus_nodes,
    generate,
    make_again,
    readme,
    rows_of,
    section,
    sizes,
)

EXAMPLE = EXAMPLES / "supply-chain"
DATA = data(EXAMPLE)
PREFIXES = """
PREFIX ex: <https://example.org/supply/vocab#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
# Who fails which constraint, written down apart from generate.py and from shapes.ttl.
SHIPMENTS = "?focus a/rdfs:subClassOf* ex:Shipment ."
PARTS = "?focus a/rdfs:subClassOf* ex:Part ."
LINES = "?focus a ex:OrderLine ."
CONSTRAINTS = {
    "weight-left-out": (SHIPMENTS, "FILTER NOT EXISTS { ?focus ex:grossWeight ?weight }"),
    "price-under-cost": (LINES, "FILTER NOT EXISTS { ?focus ex:unitPrice ?price }"),
    "freight-sign": (SHIPMENTS, "?focus ex:freightCost ?cost FILTER(?cost < 0)"),
    "registry-not-imported": (
        PARTS,
        "?focus ex:certificate ?of FILTER NOT EXISTS { ?of a/rdfs:subClassOf* ex:Certificate }",
    ),
    "old-part-numbers": (
        PARTS,
        '?focus ex:partNumber ?number FILTER(!REGEX(?number, "^[A-Z]{2}-[0-9]{5}$"))',
    ),
    "promise-forgotten": (SHIPMENTS, "FILTER NOT EXISTS { ?focus ex:promisedOn ?day }"),
    "early-arrival": (
        SHIPMENTS,
        "?focus ex:shippedOn ?left ; ex:arrivedOn ?came FILTER(?came < ?left)",
    ),
}


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLE / "truth.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_again(EXAMPLE, tmp_path_factory.mktemp("again"), "faults")


@pytest.fixture(scope="module")
def store() -> ox.Store:
    return filled(DATA, EXAMPLE / "ontology.ttl")


def assert_counts(
    fault: dict[str, Any], population: set[str], failing: set[str], region: set[str]
) -> None:
    """Hold what the truth says of a fault to sets of nodes that were found without it."""
    assert (len(failing), len(population)) == (fault["failing"], fault["population"])
    for side, nodes in (("inside", population & region), ("outside", population - region)):
        assert fault["region"][side] == {
            "failing": len(failing & nodes),
            "population": len(nodes),
        }


def test_the_data_are_made_again_with_the_same_content(again: Path) -> None:
    assert_same_content(DATA, again / "data")


@pytest.mark.skipif(
    "ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng compresses the same text to other bytes"
)
def test_the_data_are_made_again_byte_for_byte(again: Path) -> None:
    assert_same_bytes(DATA, again / "data")


@pytest.mark.parametrize("name", ["truth.json", "README.md"])
def test_the_truth_and_its_table_are_made_again(again: Path, name: str) -> None:
    assert (again / name).read_bytes() == (EXAMPLE / name).read_bytes()


def test_truth_is_printed_and_nothing_written(tmp_path: Path) -> None:
    assert generate(EXAMPLE, "--truth", "--out", tmp_path) == (EXAMPLE / "truth.json").read_bytes()
    assert not list(tmp_path.iterdir())


def test_another_seed_gives_another_graph_with_the_same_faults(
    tmp_path: Path, truth: dict[str, Any]
) -> None:
    generate(EXAMPLE, "--seed", "7", "--out", tmp_path)
    other = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    assert [fault["name"] for fault in other["faults"]] == [f["name"] for f in truth["faults"]]
    assert all(fault["failing"] for fault in other["faults"])
    for path in DATA:
        assert (tmp_path / "data" / path.name).read_bytes() != path.read_bytes(), path.name


def test_the_table_of_the_readme_agrees_with_the_truth(truth: dict[str, Any]) -> None:
    rows = rows_of(section("faults", readme(EXAMPLE)))
    assert len(rows) == len(truth["faults"])
    for (name, constraint, kind, failing, of, region, inside, inside_of), fault in zip(
        rows, truth["faults"], strict=True
    ):
        assert (name, kind) == (fault["name"], fault["kind"])
        assert constraint.split("`")[0] == fault["shape"].rsplit("#")[1]
        assert (int(failing), int(of)) == (fault["failing"], fault["population"])
        if fault["region"]:
            assert region == fault["region"]["description"]
            counted = {"failing": int(inside), "population": int(inside_of)}
            assert counted == fault["region"]["inside"]
        else:
            assert (region, inside, inside_of) == ("none", "-", "-")


def test_the_files_have_the_size_that_is_told(truth: dict[str, Any]) -> None:
    counted = sizes(DATA)
    assert counted == truth["graphs"]
    assert 30_000 <= sum(counted.values()) == truth["triples"] <= 50_000
    assert sum(path.stat().st_size for path in DATA) < 1_000_000


def test_every_fault_is_large_and_yet_not_plain(truth: dict[str, Any]) -> None:
    kinds = [fault["kind"] for fault in truth["faults"]]
    assert kinds == ["source", "mapping", "drift", "reference", "shape", "none", "cohort"]
    for fault in truth["faults"]:
        assert fault["failing"] >= 60, fault["name"]
        if fault["kind"] == "none":
            assert 0.02 <= fault["failing"] / fault["population"] <= 0.04
        elif fault["kind"] == "shape":
            assert 0.9 <= fault["failing"] / fault["population"] < 1
        else:
            inside, outside = fault["region"]["inside"], fault["region"]["outside"]
            assert 0.3 <= inside["failing"] / inside["population"] <= 0.92, fault["name"]
            assert 0 < outside["failing"] / outside["population"] <= 0.03, fault["name"]


def test_every_term_in_use_is_in_the_ontology(store: ox.Store) -> None:
    undeclared = store.query(
        PREFIXES
        + """SELECT DISTINCT ?term WHERE {
            { GRAPH ?g { ?node ?term ?value } } UNION { GRAPH ?g { ?node a ?term } }
            FILTER(STRSTARTS(STR(?term), STR(ex:)))
            FILTER NOT EXISTS { ?term a ?meta ; rdfs:label ?label }
        }"""
    )
    assert isinstance(undeclared, ox.QuerySolutions)
    assert [str(row["term"]) for row in undeclared] == []


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_counts_agree_with_sparql(store: ox.Store, truth: dict[str, Any], name: str) -> None:
    fault = next(fault for fault in truth["faults"] if fault["name"] == name)
    target, condition = CONSTRAINTS[name]
    select = f"{PREFIXES} SELECT DISTINCT ?focus WHERE {{ {target} "
    population = focus_nodes(store, f"{select} }}")
    failing = focus_nodes(store, f"{select} {condition} }}")
    if fault["region"]:
        assert_counts(fault, population, failing, focus_nodes(store, fault["region"]["query"]))
    else:
        assert (len(failing), len(population)) == (fault["failing"], fault["population"])


def test_a_price_under_cost_is_the_price(store: ox.Store) -> None:
    """Where both stand side by side they agree: it is a slip of the name, not another figure."""
    rows = store.query(
        PREFIXES
        + """SELECT (COUNT(*) AS ?both) (SUM(IF(?price = ?cost, 1, 0)) AS ?equal) WHERE {
            GRAPH ?g { ?line a ex:OrderLine ; ex:unitPrice ?price ; ex:unitCost ?cost }
        }"""
    )
    assert isinstance(rows, ox.QuerySolutions)
    row = next(iter(rows))
    assert int(row["both"].value) == int(row["equal"].value) > 0


@pytest.mark.slow
def test_the_counts_agree_with_pyshacl(
    store: ox.Store, truth: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    graph = Graph()
    for path in DATA:
        form = "turtle" if path.name.endswith(".ttl.gz") else "nt"
        graph.parse(data=gzip.decompress(path.read_bytes()), format=form)
    conforms, report, _ = pyshacl.validate(
        graph,
        shacl_graph=Graph().parse(EXAMPLE / "shapes.ttl"),
        ont_graph=Graph().parse(EXAMPLE / "ontology.ttl"),
        meta_shacl=True,
    )
    assert not conforms
    assert isinstance(report, Graph)
    failing: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for result in report.subjects(RDF.type, SH.ValidationResult):
        result_path = report.value(result, SH.resultPath)
        key = (
            str(report.value(result, SH.sourceShape)),
            str(report.value(result, SH.sourceConstraintComponent)),
            f"<{result_path}>" if isinstance(result_path, URIRef) else "",
        )
        failing[key].add(str(report.value(result, SH.focusNode)))
    faults = {(f["shape"], f["component"], f["path"] or ""): f for f in truth["faults"]}
    # Nothing fails but what was planted.
    assert failing.keys() == faults.keys()
    for key, fault in faults.items():
        assert len(failing[key]) == fault["failing"]
        if fault["region"]:
            inside = failing[key] & focus_nodes(store, fault["region"]["query"])
            assert len(inside) == fault["region"]["inside"]["failing"]
