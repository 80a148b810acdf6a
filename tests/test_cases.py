"""Every template does what its cases say (see `casebook`), on both engines."""

from collections.abc import Callable

import pytest

from kgreason.templates import role, roles
from tests import casebook
from tests.casebook import CASES, Case, cases

ROLES = ("confidence", "hypothesize", "observe", "record", "status", "test")
"""The roles run here; the others have runners that know more of what they are about."""

ENGINES = {
    "oxigraph": (casebook.in_oxigraph, casebook.changed_in_oxigraph),
    "rdflib": (casebook.in_rdflib, casebook.changed_in_rdflib),
}
QUERIES = [(c, s) for c in cases(*ROLES) if not c.template.is_update for s in c.sections]
UPDATES = [c for c in cases(*ROLES) if c.template.is_update]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("case", "section"), QUERIES, ids=str)
def test_query_gives_the_rows_expected(engine: str, case: Case, section: str) -> None:
    path, text = case.expected[section], case.text(section)
    found = ENGINES[engine][0](case.quads(), text, casebook.names(path))
    expected = casebook.wanted(path)
    if not casebook.is_ordered(text):
        found, expected = sorted(found, key=str), sorted(expected, key=str)
    assert found == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", UPDATES, ids=str)
def test_update_changes_what_is_expected_and_nothing_else(engine: str, case: Case) -> None:
    added, removed = ENGINES[engine][1](case.quads(), case.text("main"))
    assert added == set(map(casebook.row, casebook.trig(case.folder / "added.trig")))
    assert removed == set(map(casebook.row, casebook.trig(case.folder / "removed.trig")))


@pytest.mark.parametrize("name", roles())
def test_every_template_of_a_role_has_a_case(name: str) -> None:
    covered = {case.folder.parent.name for case in cases(name)}
    assert sorted(set(role(name)) - covered) == []


@pytest.mark.parametrize("name", ROLES)
def test_every_section_of_a_template_has_a_case(name: str) -> None:
    covered = {(c.template.name, s) for c in cases(name) for s in c.sections}
    sections = {(t.name, s) for t in role(name).values() for s in t.sections}
    assert sorted(sections - covered) == []


@pytest.mark.parametrize("name", roles())
def test_every_case_is_about_a_template(name: str) -> None:
    folders = {path.name for path in (CASES / name).iterdir() if path.is_dir()}
    assert sorted(folders - set(role(name))) == []
