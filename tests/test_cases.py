"""Every template does what its cases say (see `casebook`), on both engines."""

import tomllib
from collections.abc import Iterable, Iterator

import pytest
from _pytest.mark import ParameterSet

from kgreason.base.templates import role, roles
from tests import casebook
from tests.casebook import Case, cases

ROLES = (
    *(
        "audit",
        "break",
        "condition",
        "confidence",
        "context",
        "endpoint",
        "explore",
        "hypothesize",
        "inject",
        "look",
        "path",
        "phrase",
        "record",
        "refine",
    ),
    *("next", "status", "summary", "test"),
)
"""The roles run here; the others have runners that know more of what they are about."""

ENGINES = {
    "oxigraph": (casebook.in_oxigraph, casebook.changed_in_oxigraph),
    "rdflib": (casebook.in_rdflib, casebook.changed_in_rdflib),
}
IN_OPTIONAL = "rdflib drops outer variables in the filter of an OPTIONAL with a sub-select"
IN_GRAPH = "rdflib looks for the pattern of EXISTS in the default graph, though inside GRAPH"
NESTED = "rdflib does not see the outer focus in an EXISTS that stands in another one"
AFTER_SELECT = "rdflib drops an OPTIONAL inside GRAPH that stands after a sub-select"
BOUND_AGAIN = "rdflib keeps the value of an outer variable that a sub-select of an OPTIONAL binds"
NO_ROWS = "rdflib makes a group of no rows at all"
RDFLIB_DIFFERS = {
    "hypothesize/artefact-inverse/an-axiom-is-known propose": NO_ROWS,
    "hypothesize/cohort-class/class-is-constrained propose": NO_ROWS,
    "hypothesize/cohort-class/nameless-class propose": NO_ROWS,
    "hypothesize/datatype/rewritten-ints prediction": NESTED,
    "hypothesize/inference-class/no-axiom propose": NO_ROWS,
    "hypothesize/inference-domain/no-axiom propose": NO_ROWS,
    "hypothesize/inference-inverse/no-axiom propose": NO_ROWS,
    "hypothesize/inference-range/no-axiom propose": NO_ROWS,
    "hypothesize/inference-subproperty/no-axiom propose": NO_ROWS,
    "hypothesize/mapping-predicate/cost-for-price arm": IN_OPTIONAL,
    "hypothesize/mapping-values/years-for-days propose": BOUND_AGAIN,
    "hypothesize/source-provenance/nothing-told propose": NO_ROWS,
    "record/refuse/sealed": "rdflib has no CREATE",
    "record/seal/second-step": "rdflib has not the functions of the ledger",
    "status/archive/failed-twice": IN_GRAPH,
    "status/e-bh/one-alone main": IN_OPTIONAL,
    "status/e-bh/refused main": IN_OPTIONAL,
    "status/e-bh/two-together main": IN_OPTIONAL,
    "status/refine/revised-in-the-step": AFTER_SELECT,
    "status/support/direct": IN_GRAPH,
    "status/support/proxy": IN_GRAPH,
    "status/support/shadow": IN_GRAPH,
    "status/support/statistics": IN_GRAPH,
}
"""Where rdflib departs from SPARQL 1.1, or from how the store that keeps ledgers fills it out."""


SLOW_ON_RDFLIB = "hypothesize/"
"""The long queries that look for causes in the data: rdflib takes most of their time."""


def on_engines(given: Iterable[tuple[Case | str, ...]]) -> list[ParameterSet]:
    """Give each case for each engine."""
    made = []
    for values in given:
        name = " ".join(map(str, values))
        for engine in ENGINES:
            reason = RDFLIB_DIFFERS.get(name) if engine == "rdflib" else None
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            if engine == "rdflib" and name.startswith(SLOW_ON_RDFLIB):
                marks.append(pytest.mark.slow)
            made.append(pytest.param(engine, *values, id=f"{name} {engine}", marks=marks))
    return made


QUERIES = on_engines(
    (case, section)
    for case in cases(*ROLES)
    if not case.template.is_update
    for section in case.sections
)
UPDATES = on_engines((case,) for case in cases(*ROLES) if case.template.is_update)


@pytest.mark.parametrize(("engine", "case", "section"), QUERIES)
def test_query_gives_the_rows_expected(engine: str, case: Case, section: str) -> None:
    path, text = case.expected[section], case.text(section)
    found = ENGINES[engine][0](case.quads(), text, casebook.names(path))
    expected = casebook.wanted(path)
    if not casebook.is_ordered(text):
        found, expected = sorted(found, key=str), sorted(expected, key=str)
    assert found == expected


@pytest.mark.parametrize(("engine", "case"), UPDATES)
def test_update_changes_what_is_expected_and_nothing_else(engine: str, case: Case) -> None:
    added, removed = ENGINES[engine][1](case.quads(), case.text("main"))
    assert added == set(map(casebook.row, casebook.trig(case.folder / "added.trig")))
    assert removed == set(map(casebook.row, casebook.trig(case.folder / "removed.trig")))


def test_exceptions_are_about_cases() -> None:
    known = {" ".join(map(str, p.values[1:])) for p in QUERIES + UPDATES}
    assert sorted(set(RDFLIB_DIFFERS) - known) == []


NOTICED = {"unfinished"}
"""Audit queries that find no fault but give a notice: shown in tests/test_audit.py."""


@pytest.mark.parametrize("name", [name for name in roles() if name != "probe"])  # in its header
def test_every_template_has_a_case(name: str) -> None:
    wanted = {t.name for t in role(name).values() if t.sections}  # words alone have none
    place = casebook.CASES / name
    covered = {path.name for path in place.glob("*") if path.is_dir() and any(path.iterdir())}
    # Audit queries are shown by what is done to a record, and which of them have to speak.
    lists = [tomllib.loads(path.read_text(encoding="utf-8")) for path in place.glob("*.toml")]
    covered |= NOTICED | set(texts(lists))
    assert sorted(wanted - covered) == []


def texts(found: object) -> Iterator[str]:
    """Give every text in nested lists and tables."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        yield from texts(list(found.values()))
    elif isinstance(found, list):
        for item in found:
            yield from texts(item)


@pytest.mark.parametrize("name", [name for name in ROLES if name != "audit"])
def test_every_section_has_a_case(name: str) -> None:
    covered = {(c.template.name, s) for c in cases(name) for s in c.sections}
    sections = {(t.name, s) for t in role(name).values() for s in t.sections}
    assert sorted(sections - covered) == []


def test_every_case_is_about_a_template() -> None:
    about = {(c.folder.parts[-3], c.folder.parts[-2]) for c in cases("*")}
    known = {(name, each) for name in roles() for each in role(name)}
    assert sorted(about - known) == []
