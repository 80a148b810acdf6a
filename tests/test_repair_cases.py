"""Every repair does what its cases say: as an update, and as the rows of what would change."""

import csv

import pyoxigraph as ox
import pytest

from kgreason.base.errors import TemplateError
from kgreason.base.store import Row, Store
from kgreason.base.templates import Fragment, Template, role
from kgreason.base.terms import PREFIXES
from kgreason.graph.graph import exact
from kgreason.repair.catalogue import check
from kgreason.repair.update import Update, read_update, rows
from tests import casebook
from tests.casebook import Case, cases

CASES = cases("repair")
FORMED = {"cast-datatype/as-written"}
"""Cases in which a literal is read as it was written: no engine can remove it as such."""
ARM, NAME = ox.Literal("claimed"), ox.Literal("repair")


def named(case: Case) -> str:
    return str(case).removeprefix("repair/")


def parts(case: Case, section: str) -> Update:
    made = case.template
    given = case.settings["params"]
    values = {n: casebook.value(made.parameters[n], text) for n, text in given.items()}
    if section != "main":
        values = {n: values[n] for n in casebook.parameters_of(made, section)}
    return read_update(made.fragment(section, **values), made.name)


def found(case: Case, section: str) -> list[Row]:
    store = ox.Store()
    store.extend(case.quads())
    update = parts(case, section)
    selects = rows(update, arm=ARM, repair=NAME, obstacles=section == "obstacles")
    text = " UNION ".join(select.text for select in selects)
    head = "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in PREFIXES.items())
    known = f"{head}PREFIX ex: <https://example.org/>\n"
    return list(Store(store, "a case").select(f"{known}SELECT * WHERE {{ {text} }}"))


@pytest.mark.parametrize("engine", ["oxigraph", "rdflib"])
@pytest.mark.parametrize("case", CASES, ids=named)
def test_update_changes_what_is_expected_and_nothing_else(engine: str, case: Case) -> None:
    if engine == "rdflib" and named(case) in FORMED:
        pytest.skip("it needs what the embedded store makes of literals")
    run = {"oxigraph": casebook.changed_in_oxigraph, "rdflib": casebook.changed_in_rdflib}[engine]
    added, removed = run(case.quads(), case.text("main"))
    assert added == expected(case, "added")
    assert removed == expected(case, "removed")


def expected(case: Case, what: str) -> set[casebook.Row]:
    return set(map(casebook.row, casebook.trig(case.folder / f"{what}.trig")))


@pytest.mark.parametrize("case", CASES, ids=named)
def test_rows_are_what_the_update_changes(case: Case) -> None:
    """What is there already, or not there, is no change; the journal leaves it out too."""
    before = {q for q in case.quads() if q.graph_name != ox.DefaultGraph()}
    store = ox.Store()
    store.extend(before)
    sets: dict[str, set[ox.Quad]] = {"remove": set(), "add": set()}
    for row in found(case, "main"):
        graph, subject, predicate = (row.get(n) for n in ("graph", "subject", "predicate"))
        value = row.get("object")
        if value is None:
            continue
        assert isinstance(subject, ox.NamedNode | ox.BlankNode)
        assert isinstance(predicate, ox.NamedNode)
        assert isinstance(graph, ox.NamedNode)
        quad = ox.Quad(subject, predicate, exact(value), graph)
        sets[row["change"].value].add(quad)
    for quad in sets["remove"] - sets["add"]:
        store.remove(quad)
    store.extend(sets["add"])
    after = set(store)
    kept = ox.Store()
    kept.extend(before)
    before = set(kept)
    assert set(map(casebook.row, after - before)) == expected(case, "added")
    if named(case) not in FORMED:
        assert set(map(casebook.row, before - after)) == expected(case, "removed")


def test_a_value_is_removed_as_it_was_written() -> None:
    (case,) = (c for c in CASES if named(c) in FORMED)
    removed = {
        str(exact(r["object"])) for r in found(case, "main") if r["change"].value == "remove"
    }
    assert '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>' in removed


@pytest.mark.parametrize(
    "case", [c for c in CASES if (c.folder / "obstacles.csv").is_file()], ids=named
)
def test_obstacles_are_named(case: Case) -> None:
    with (case.folder / "obstacles.csv").open(encoding="utf-8", newline="") as file:
        wanted = [tuple(casebook.term(cell) for cell in row) for row in list(csv.reader(file))[1:]]
    assert {(r["focus"], r["object"]) for r in found(case, "obstacles")} == set(wanted)


def test_every_section_with_obstacles_has_a_case() -> None:
    covered = {c.template.name for c in CASES if (c.folder / "obstacles.csv").is_file()}
    assert {t.name for t in role("repair").values() if "obstacles" in t.sections} == covered


@pytest.mark.parametrize("made", role("repair").values(), ids=lambda t: t.name)
def test_a_repair_declares_what_there_is(made: Template) -> None:
    check(made)
    families = made.header["families"].split()
    assert sorted(set(families) - set(role("hypothesize"))) == []
    assert made.header["mends"] in {"data", "shapes"}
    assert int(made.header["order"]) > 0
    for key in ("title", "explanation", "example"):
        assert made.header[key]


ODD = {
    "two triples in one": "DELETE { GRAPH ?g { ?s <urn:p> ?o , ?x . } } WHERE { ?s ?p ?o }",
    "no graph": "INSERT { ?s <urn:p> ?o . } WHERE { ?s ?p ?o }",
    "no where": "INSERT { GRAPH ?g { ?s <urn:p> ?o . } }",
    "something else": "CLEAR ALL",
    "a blank node": "INSERT { GRAPH ?g { _:x <urn:p> ?o . } } WHERE { ?s ?p ?o }",
}


@pytest.mark.parametrize("name", ODD)
def test_an_update_that_is_not_plain_is_refused(name: str) -> None:
    with pytest.raises(TemplateError, match="odd"):
        read_update(Fragment(ODD[name]), "odd")


@pytest.mark.parametrize("graph", ["?graph", "<urn:g>"])
def test_slots_keep_their_terms(graph: str) -> None:
    inside = '?s a "x" . ?s <urn:p> "y"^^<urn:d> . ?s <urn:p> "z"@en . ?s <urn:p> 5'
    text = f"DELETE {{ GRAPH {graph} {{ {inside} }} }} WHERE {{ ?s ?p ?o }}"
    update = read_update(Fragment(text), "plain")
    assert {s.graph for s in update.removes} == {graph}
    assert update.removes[0].predicate.endswith("rdf-syntax-ns#type>")
    assert [s.object for s in update.removes] == ['"x"', '"y"^^<urn:d>', '"z"@en', "5"]
    assert update.adds == ()
