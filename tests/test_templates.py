"""Every template is a document that fits itself, and nothing but RDF terms gets into a query."""

import re
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreason.base.errors import TemplateError
from kgreason.base.templates import (
    Fragment,
    Template,
    parse,
    role,
    roles,
    template,
)
from kgreason.base.terms import PREFIXES
from kgreason.record.seal import Functions
from kgreason.review.catalogue_faults import faults

ALL = [made for name in roles() for made in role(name).values()]


def test_the_catalogue_has_no_faults() -> None:
    """Headers, names, parameters, prefixes, sections, words, cases; the store parses all."""
    assert faults(engines=["Oxigraph"]) == []


@pytest.mark.slow
def test_both_engines_read_the_catalogue() -> None:
    assert faults() == []


def test_summaries_are_sentences() -> None:
    wrong = []
    for made in ALL:
        summary = made.summary.splitlines()[0]
        if not summary.endswith(".") or not (summary[0].isupper() or summary[0] == "?"):
            wrong.append(f"{made.role}/{made.name}: {summary}")
    assert wrong == []


def test_prefixes_are_those_of_the_project() -> None:
    # In a folder of a user's own there may be others.
    assert [made.path for made in ALL if not set(made.prefixes) <= set(PREFIXES)] == []


def test_a_gate_says_where_it_leads() -> None:
    gates = [made for made in role("status").values() if made.is_update]
    assert gates
    assert [made.name for made in gates if "to" not in made.header] == []


def run_update(store: ox.Store, text: str) -> None:
    """Run an update with the functions that a ledger gives its templates."""
    functions = Functions(lambda _: ())
    store.update(text, custom_functions=functions.plain)


HOSTILE = [
    '"',
    "'",
    '" . } ; DROP ALL ; #',
    "\\",
    '\\" } #',
    "a\nb\r\tc",
    '"""',
    "'''",
    "{{ 7 }}{% if %}{# #}",
    "\u2028\x00\U0001f600",
    "?x $x <urn:x> _:b @en ^^",
]


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Template:
    path = tmp_path_factory.mktemp("echo") / "echo.rq"
    path.write_text(
        "#+ summary: Gives a literal back.\n#+ param text: literal, any\n"
        "SELECT ?text WHERE { BIND ({{ text }} AS ?text) }\n",
        encoding="utf-8",
    )
    return parse(path, "echo")


@given(st.one_of(st.sampled_from(HOSTILE), st.text(), st.text(st.sampled_from("\"'\\\n\r}{#<>?"))))
def test_a_literal_stays_a_literal(echo: Template, text: str) -> None:
    literal = ox.Literal(text)
    (row,) = ox.Store().query(echo.render(text=literal))  # type: ignore[misc]
    assert row["text"] == literal


@pytest.mark.parametrize("text", HOSTILE)
def test_an_update_writes_a_hostile_literal_as_data(text: str) -> None:
    store = ox.Store()
    investigation = ox.NamedNode("urn:example:i")
    seal = template("record", "seal")
    step = ox.NamedNode("urn:example:step")
    given = seal.render(investigation=investigation, step=step, before=ox.Literal(text))
    run_update(store, given)
    (quad,) = store
    assert quad.subject == step


@pytest.mark.parametrize("wrong", ["urn:example:i", 7, None, 1.5, b"x", ["urn:x"], object()])
def test_only_rdf_terms_are_let_in(wrong: Any) -> None:
    with pytest.raises(TemplateError, match="investigation"):
        template("record", "head").render(investigation=wrong)


@pytest.mark.parametrize("wrong", [ox.Literal("x"), ox.BlankNode(), ox.Variable("x"), True])
def test_a_term_of_another_type_is_refused(wrong: Any) -> None:
    with pytest.raises(TemplateError, match="must be of type iri"):
        template("record", "head").render(investigation=wrong)


def test_a_string_that_slips_by_the_types_is_refused_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "sly.rq"
    path.write_text(
        "#+ summary: Puts the text of a node in.\n#+ param node: iri, any\n"
        "SELECT * WHERE { ?s ?p {{ node.value }} }\n",
        encoding="utf-8",
    )
    with pytest.raises(TemplateError, match="not str"):
        parse(path, "context").render(node=ox.NamedNode("urn:example:x"))


def test_what_a_family_binds_fits_or_is_left_out() -> None:
    family = template("hypothesize", "cohort-broader")
    assert family.takes("level", ox.NamedNode("urn:x"))
    assert not family.takes("level", ox.Literal("a text in place of a concept"))
    assert family.takes("told", ox.Literal("no parameter"))


def test_missing_and_unknown_parameters_are_named() -> None:
    node = ox.NamedNode("urn:example:x")
    with pytest.raises(TemplateError, match=r"head\.rq: takes \['investigation'\], got \[\]"):
        template("record", "head").render()
    with pytest.raises(TemplateError, match="'step'"):
        template("record", "head").render(investigation=node, step=node)
    with pytest.raises(TemplateError, match="no section 'other'"):
        template("record", "head").render("other", investigation=node)
    with pytest.raises(TemplateError, match="no template queries/record/other"):
        template("record", "other")
    with pytest.raises(TemplateError, match="no folder queries/other"):
        role("other")


BROKEN = {
    "no summary": ("#+ title: x\nSELECT * WHERE { }\n", "no summary"),
    "no header line": ("#+ what is this\n", "line 1: not a header line"),
    "unknown type": ("#+ summary: x\n#+ param a: string, x\n", "line 2: a parameter is written"),
    "unknown phrase": (
        "#+ summary: x\nSELECT * WHERE { FILTER ({{ no-such(?a) }}) }\n",
        "There is no phrase queries/phrase/no-such.rq",
    ),
    "phrase with too little": (
        "#+ summary: x\nSELECT * WHERE { FILTER ({{ one-slip(?a) }}) }\n",
        "should be {{ one-slip(one, other) }}, each a variable or the name of a parameter",
    ),
    "phrase of an expression": (
        "#+ summary: x\nSELECT * WHERE { FILTER ({{ local-name(STR ?a) }}) }\n",
        "should be {{ local-name(term) }}",
    ),
    "another prefix": (
        "#+ summary: x\nPREFIX prov: <urn:other:>\nSELECT * WHERE { }\n",
        "'prov' stands for <http://www.w3.org/ns/prov#> everywhere",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, name: str) -> None:
    text, message = BROKEN[name]
    path = tmp_path / "broken.rq"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TemplateError, match=rf"broken\.rq.*{re.escape(message)}"):
        parse(path, "context")


def test_two_meanings_of_a_prefix_are_refused() -> None:
    region = Fragment("?focus prov:x ?y .", {"prov": "urn:other:"})
    target = Fragment("?focus a prov:Entity .", {"prov": PREFIXES["prov"]})
    flags = dict.fromkeys(("literals", "sources", "merged", "forms"), False)
    with pytest.raises(TemplateError, match="prefix 'prov' stands for"):
        template("context", "region").render(regions=[region], target=target, **flags)
