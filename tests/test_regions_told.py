"""A region that is told is the region that was counted, however the data are loaded."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit.regions import miscounted
from kgreason.base.store import Store
from kgreason.base.templates import Fragment, Value, role, template
from kgreason.base.terms import TRAILS, WORK
from kgreason.graph import Graph, load
from kgreason.graph.regions import region_count
from kgreason.record import Record
from kgreason.record.ranking import Hypothesis, hypotheses
from kgreason.shacl import Constraint, Located, located, outcome_symptom
from kgreason.shacl.constraint import Texts
from kgreason.shacl.fallback import all_listed
from tests.casebook import KNOWN, Case, cases, parameters_of, term, value, wanted
from tests.example_support import EXAMPLES
from tests.region_support import answers, in_rdflib, rdflib_nodes, sources, ways

REGIONS: Final = [case for case in cases("hypothesize") if "region" in case.sections]
EX: Final = KNOWN["ex"]


def asked_of(nodes: list[ox.NamedNode]) -> Constraint:
    """Give a symptom whose population is some nodes."""
    texts = Texts(all_listed(list(nodes)), Fragment(""))
    none: dict[ox.NamedNode, Any] = {}
    return Constraint(
        "key", None, None, TRAILS.OutcomeQuery, None, None, None, none, texts, texts, len(nodes)
    )


def given(case: Case) -> tuple[Constraint, Graph, Fragment]:
    """Give the population, the data and the region of a case."""
    family = case.template
    params = case.settings["params"]
    values = {n: value(family.parameters[n], text) for n, text in params.items()}
    used = {n: values[n] for n in parameters_of(family, "region")}
    quads, half = case.quads(), values.get("half", term("ex:half"))
    nodes = {q.subject for q in quads if q.predicate == WORK.member and q.object == half}
    store = ox.Store()
    store.extend(quads)
    named = sorted((n for n in nodes if isinstance(n, ox.NamedNode)), key=str)
    return (
        asked_of(named),
        Graph(Store(store, "case"), (), "", 0, 0),
        family.fragment("region", **used),
    )


@pytest.mark.parametrize("case", REGIONS, ids=str)
def test_every_family_tells_its_region_for_any_way_of_loading(case: Case) -> None:
    constraint, graph, region = given(case)
    expected = {row[0][0] for row in wanted(case.expected["region"]) if row[0]}
    told = located(constraint, graph, [region])
    stores = ways(case.quads())
    for way, nodes in answers(told, stores):
        assert {str(node) for node in nodes} == expected, way
    bare = {iri.strip("<>") for iri in expected}
    assert rdflib_nodes(in_rdflib(stores["named graphs"]).query(told.anywhere)) == bare
    if told.plain is not None:
        merged = in_rdflib(stores["the default graph"])
        assert rdflib_nodes(merged.query(told.anywhere)) == bare
        assert rdflib_nodes(merged.default_graph.query(told.plain)) == bare


def test_every_family_with_a_region_is_looked_at() -> None:
    families = {name for name, made in role("hypothesize").items() if "region" in made.sections}
    assert {case.template.name for case in REGIONS} == families


# --- what people point kgreason at --------------------------------------------------------

HEAD: Final = f"@prefix ex: <{EX}> .\n@prefix sh: <{KNOWN['sh']}> .\n"
OUTCOMES: Final = {
    "a count": "SELECT ?focus (COUNT(?by) > 1 AS ?outcome) WHERE { ?focus ex:code ?code . "
    "OPTIONAL { ?by ex:part ?focus } } GROUP BY ?focus",
    "an inner query": "SELECT ?focus ?outcome WHERE { { SELECT ?focus (MAX(?n) AS ?most) WHERE { "
    "?focus ex:number|ex:code/ex:number ?n } GROUP BY ?focus } BIND (?most > 4 AS ?outcome) }",
    "abbreviated": "SELECT ?focus ?outcome WHERE { ?focus a ex:Part ; ex:number ?n , ?m ; "
    "ex:code [ ex:number ?k ] ; . FILTER (?n >= ?m) "
    "BIND (EXISTS { ?focus ex:late true } AS ?outcome) }",
    "against the arrow": "SELECT ?focus ?outcome WHERE { _:lot ex:part ?focus ; ex:kind 'x'@en . "
    "MINUS { ?focus ex:number 3 . } BIND (bound(?focus) AS ?outcome) VALUES ?any { 1 } }",
    "a walk": "SELECT ?focus ?outcome WHERE { ?focus (a|ex:kind)/ex:below* ex:Thing . "
    "BIND (NOT EXISTS { ?focus !(ex:number|ex:code) true } AS ?outcome) }",
}


def world() -> ox.Store:
    """Give parts, codes and lots, told in three graphs, some of it twice."""
    lines = []
    for n in range(12):
        feeds = {n % 3, n % 2}
        late = str(n > 6).lower()
        said = f"ex:p{n} a ex:Part ; ex:number {n % 7} ; ex:code ex:c{n} ; ex:late {late} ."
        lines += [f"ex:feed{f} {{ {said} }}" for f in feeds]
        lines.append(f"ex:feed{n % 3} {{ ex:c{n} ex:number {n} . ex:l{n % 5} ex:part ex:p{n} . }}")
        lines.append(f"ex:feed{n % 2} {{ ex:l{n % 5} ex:kind 'x'@en . }}")
    lines.append("ex:feed2 { ex:Part ex:below ex:Good . } ex:feed1 { ex:Good ex:below ex:Thing . }")
    store = ox.Store()
    store.load(HEAD + "\n".join(lines), format=ox.RdfFormat.TRIG)
    return store


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_population_that_a_user_asks_for_is_found_anywhere(name: str) -> None:
    stores = ways(world())
    graph = Graph(Store(stores["both"], "test"), (), "", 0, 0)
    constraint = outcome_symptom(f"PREFIX ex: <{EX}> {OUTCOMES[name]}", graph)
    population = {
        row["focus"]
        for row in graph.store.select(
            f"SELECT DISTINCT ?focus WHERE {{ {constraint.target.text} }}"
        )
    }
    assert population
    told = located(constraint, graph, [Fragment(f"?focus <{EX}number> ?value1 .")])
    assert told.needs is None
    for way, found in answers(told, stores):
        assert found == population, way


def test_what_only_merged_data_can_answer_says_so() -> None:
    stores = ways(world())
    graph = Graph(Store(stores["both"], "test"), (), "", 0, 0)
    text = "SELECT ?focus ?outcome WHERE { ?focus a/ex:below+ ?top BIND (true AS ?outcome) }"
    told = located(
        outcome_symptom(f"PREFIX ex: <{EX}> {text}", graph),
        graph,
        [Fragment("FILTER (BOUND(?focus))")],
    )
    assert told.needs == "merged data"
    assert "# It needs all data in the default graph" in told.anywhere
    assert [len(found) for _, found in answers(told, stores)] == [12, 12, 12]


def test_conditions_that_name_a_graph_alike_need_no_named_graphs() -> None:
    stores = ways(world())
    graph = Graph(Store(stores["both"], "test"), (), "", 0, 0)
    one = f"{{ SELECT DISTINCT ?focus WHERE {{ GRAPH ?graph1 {{ ?focus <{EX}late> true . }} }} }}"
    other = f"{{ SELECT DISTINCT ?focus WHERE {{ GRAPH ?graph1 {{ ?focus <{EX}number> ?n . }} }} }}"
    shared = other.replace("?focus WHERE", "?focus ?graph1 WHERE")
    constraint = asked_of([ox.NamedNode(f"{EX}p{n}") for n in range(12)])
    told = located(constraint, graph, [Fragment(f"{one}\n{other}")])
    assert told.needs is None
    assert {len(found) for _, found in answers(told, stores)} == {5}
    kept = located(constraint, graph, [Fragment(f"{shared}\n{shared}")])
    assert kept.needs == "named graphs"  # that one graph says both


def regions_told(result: Mapping[str, Any]) -> Iterator[tuple[str, Located, int]]:
    """Give each region of a result with its statement and the nodes counted in it."""
    for symptom in result["symptoms"]:
        for one in symptom["hypotheses"]:
            if one["region"] is not None:
                told = Located(one["region"], one["region_plain"], one["region_needs"])
                yield one["statement"], told, one["inside"]["population"]


def assert_counted(result: Mapping[str, Any], stores: Mapping[str, ox.Store]) -> int:
    """Hold every region that is told to the count told with it; gives how many there are."""
    number = 0
    for statement, told, count in regions_told(result):
        number += 1
        for way, found in answers(told, stores):
            assert len(found) == count, (statement, way)
    return number


def investigated(data: Path, **asked: Any) -> tuple[Mapping[str, Any], dict[str, ox.Store]]:
    """Investigate; gives the result, and the data in every way they can be loaded."""
    with kgreason.investigate(data, **asked) as result:
        ontology = [Path(asked["ontology"])] if "ontology" in asked else []
        graph = load([data], ontology=ontology, lenient=asked.get("lenient", False))
        return result.as_dict(), ways(sources(graph))


SHIPPED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "supply-chain": ("supply-chain", {"shapes": "shapes.ttl", "ontology": "ontology.ttl"}),
    "violations": (
        "violations",
        {"shapes": "shapes.ttl", "ontology": "ontology.ttl", "violations": "report.ttl"},
    ),
    "open access": ("academic", {"outcome": "open-access.rq"}),
    "often cited": ("academic", {"outcome": "often-cited.rq", "at": 12}),
    "retracted": ("academic", {"outcome": "retracted.rq"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_region_told_of_a_shipped_example_gives_the_count_told(name: str) -> None:
    folder, given_ = SHIPPED[name]
    asked = {k: EXAMPLES / folder / v if isinstance(v, str) else v for k, v in given_.items()}
    result, stores = investigated(EXAMPLES / folder / "data", **asked)
    assert assert_counted(result, stores) >= 5
    (_, told, count), *_ = (r for r in regions_told(result) if r[1].plain is not None)
    assert len(rdflib_nodes(in_rdflib(stores["named graphs"]).query(told.anywhere))) == count
    merged = in_rdflib(stores["the default graph"]).default_graph
    assert len(rdflib_nodes(merged.query(told.plain or ""))) == count


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("cohort-missing", {"level": ox.NamedNode(EX + "owner")}),
        ("cohort-outside", {"level": ox.NamedNode(EX + "Part")}),
        ("cohort-namespace", {"level": ox.Literal(EX)}),
    ],
)
def test_a_node_that_nothing_describes_is_in_a_region_of_what_lacks(
    family: str, values: dict[str, Value]
) -> None:
    described, silent = ox.NamedNode(EX + "a"), ox.NamedNode(EX + "b")
    quads = [ox.Quad(described, WORK.member, silent, ox.NamedNode("urn:feed"))]
    graph = Graph(Store(ox.Store(), "test"), (), "", 0, 0)
    region = template("hypothesize", family).fragment("region", **values)
    told = located(asked_of([described, silent]), graph, [region])
    for way, found in answers(told, ways(quads)):
        assert found == {described, silent}, way


POINTED: Final = f"""{HEAD}
ex:LinkShape a sh:PropertyShape ; sh:targetObjectsOf ex:link ; sh:path ex:checked ; sh:minCount 1 .
"""


def test_nodes_without_a_statement_of_their_own_are_in_the_region_told(tmp_path: Path) -> None:
    """Of 240 nodes that are pointed at, a third is nowhere described, and fails."""
    lines = [HEAD]
    for n in range(240):
        place = "dead" if n % 3 == 0 else "live"
        lines.append(f"ex:s{n} ex:link <https://{place}.example.org/{n}> .")
        if n % 3:
            lines.append(
                f"<https://{place}.example.org/{n}> ex:checked true ; ex:owner ex:o{n % 5} ."
            )
    (tmp_path / "data.ttl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(POINTED, encoding="utf-8")
    result, stores = investigated(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl")
    assert assert_counted(result, stores)
    silent = [t for s, t, _ in regions_told(result) if "says nothing" in s]
    assert silent, [s for s, *_ in regions_told(result)]
    for told in silent:
        assert region_count(stores["the default graph"], told.anywhere) == 80


def test_the_audit_sees_a_region_of_which_the_data_hold_other_nodes(tmp_path: Path) -> None:
    lines = [f"ex:p{n} a ex:Part ; ex:feed ex:f{n % 3} ." for n in range(120)]
    lines += [f"ex:p{n} ex:price 9 ." for n in range(120) if n % 3]
    (tmp_path / "data.ttl").write_text("\n".join([HEAD, *lines]), encoding="utf-8")
    shape = "ex:S sh:targetClass ex:Part ; sh:path ex:price ; sh:minCount 1 ."
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl") as result:
        told = {h.id: h.counts.inside for h in of_record(result.record) if h.counts}
        assert told
        assert miscounted(result.record, load([tmp_path / "data.ttl"]).store.inner) == []
        found = miscounted(result.record, ox.Store())
        assert {m.hypothesis: (m.told, m.found) for m in found} == {
            h: (n, 0) for h, n in told.items()
        }


def of_record(record: Record) -> Iterator[Hypothesis]:
    for known in hypotheses(record).values():
        yield from known


def test_a_malformed_iri_is_asked_for_as_it_stands_in_the_file(tmp_path: Path) -> None:
    """Parts of the maker with a blank in its IRI fail; a file read leniently keeps the blank."""
    maker = f"<{EX}maker/Bad Wolf>"
    lines = []
    for n in range(240):
        bad = n % 4 == 0
        lines += [
            f"<{EX}p{n}> <{KNOWN['rdf']}type> <{EX}Part> .",
            f"<{EX}p{n}> <{EX}maker> {maker if bad else f'<{EX}maker/{n % 7}>'} .",
            *([] if bad and n % 20 else [f'<{EX}p{n}> <{EX}price> "9" .']),
        ]
    text = "\n".join(lines) + "\n"
    (tmp_path / "data.nt").write_text(text, encoding="utf-8")
    shape = "ex:S sh:targetClass ex:Part ; sh:path ex:price ; sh:minCount 1 ."
    (tmp_path / "shapes.ttl").write_text(HEAD + shape, encoding="utf-8")
    result, stores = investigated(
        tmp_path / "data.nt", shapes=tmp_path / "shapes.ttl", lenient=True
    )
    raw = list(ox.parse(text, format=ox.RdfFormat.N_TRIPLES, lenient=True))
    named = [
        ox.Quad(q.subject, q.predicate, q.object, ox.NamedNode("urn:src:data.nt")) for q in raw
    ]
    assert assert_counted(result, stores)
    assert assert_counted(result, ways(named))
    assert any(
        "Bad%20Wolf" in told.anywhere and count == 60 for _, told, count in regions_told(result)
    )
