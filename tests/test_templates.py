"""Every template is a document that fits itself, and nothing but RDF terms gets into a query."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, meta
from rdflib.plugins.sparql.algebra import translateQuery, translateUpdate
from rdflib.plugins.sparql.parser import parseQuery, parseUpdate

from kgreason.base.errors import TemplateError
from kgreason.base.templates import (
    Fragment,
    Parameter,
    Template,
    Value,
    balanced,
    parse,
    role,
    roles,
    template,
)
from kgreason.base.terms import PREFIXES
from kgreason.record.seal import Functions

ALL = [made for name in roles() for made in role(name).values()]
WIDENED = {made.header["into"] for made in role("refine").values() if "into" in made.header}
"""Families whose candidates come from those of others alone."""
EXPRESSION = re.compile(r"\{\{ [a-z_0-9]+(?: \| balanced\(.*?\))? \}\}")
STATEMENT = re.compile(
    r"\{% (?:if|elif|else|endif|for|endfor|set) ?[^%{}]*%\}"  # no others, or this test learns them
)
STRINGS_AND_IRIS = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>"{}|^`\\\s]*>')
PREFIXED = re.compile(r"(?<![\w:$?.%-])([a-z][\w-]*):(?=[A-Za-z_]|$|[\s)*])", re.MULTILINE)
# What a pattern stands for, by the name of the parameter; any other is a triple pattern.
PATTERNS = {
    **dict.fromkeys(
        ["value", "other", "holder", "object", "stored", "any", "focus", "bound"], "?{name}"
    ),
    **dict.fromkeys(["datatype", "same", "plain", "other_plain", "number"], "?value"),
    **dict.fromkeys(
        [
            "fails",
            "tests",
            "each_fails",
            "unqualified",
            "among",
            "below",
            "above",
            "within",
            "ordered",
        ],
        "isBlank(?value)",
    ),
    "path": "<urn:example:p>",
    "select": "SELECT ?focus ?outcome WHERE {{ ?focus <urn:example:o> ?outcome }}",
    "body": "SELECT (1 AS ?claimed) (0 AS ?holds) WHERE {{ }}",
    "arms": "{{ SELECT (1 AS ?armClaimed) (0 AS ?armHolds) WHERE {{ }} }}",
}
WORDING = ("statement", "mechanism", "prediction", "explanation", "example")
WANTED = {
    "hypothesize": ("kind", "aspect", "split", "levels", "order", "tests", *WORDING),
    "test": ("title", "explanation", "example"),
    "confidence": ("title", "explanation", "example"),
    "status": ("to",),
    "report": ("title", "order"),
    "history": ("question",),
}


def named(made: Template) -> str:
    return f"{made.role}/{made.name}"


def sweep(check: Callable[[Template], None], templates: Iterable[Template]) -> None:
    """Check every template, and tell of all that fail, each by its name."""
    wrong = []
    for made in templates:
        try:
            check(made)
        except AssertionError as error:
            wrong.append(f"{named(made)}: {error}")
    assert not wrong, "\n".join(wrong)


def body(made: Template) -> str:
    return "\n".join(made.sections.values())


def used(text: str) -> set[str]:
    environment = Environment(autoescape=True)
    environment.filters["balanced"] = balanced
    return meta.find_undeclared_variables(environment.parse(text))


def sparql_of(made: Template) -> str:
    """Give the text without strings, IRIs, comments and jinja."""
    text = STATEMENT.sub(" ", EXPRESSION.sub(" ", body(made)))
    return re.sub(r"(?m)#.*$", " ", STRINGS_AND_IRIS.sub(" ", text))


def test_header_says_what_it_is() -> None:
    sweep(_header_says_what_it_is, ALL)


def _header_says_what_it_is(made: Template) -> None:
    summary = made.summary.splitlines()[0]
    assert summary.endswith(".")
    assert summary[0].isupper() or summary[0] == "?"
    assert all(parameter.meaning for parameter in made.parameters.values())
    keys = WANTED.get(made.role, ())
    if made.role == "status" and not made.is_update:
        keys = ("title", "explanation", "example")
    assert [key for key in keys if key not in made.header] == []


def test_parameters_declared_are_those_used() -> None:
    sweep(_parameters_declared_are_those_used, ALL)


def _parameters_declared_are_those_used(made: Template) -> None:
    assert sorted(used(body(made))) == sorted(made.parameters)


def test_prefixes_declared_are_those_used() -> None:
    sweep(_prefixes_declared_are_those_used, ALL)


def _prefixes_declared_are_those_used(made: Template) -> None:
    # That each is the one in terms is checked when a template is read.
    found = set(PREFIXED.findall(sparql_of(made)))
    assert sorted(made.prefixes) == sorted(found)


def test_braces_of_sparql_are_not_taken_for_jinja() -> None:
    sweep(_braces_of_sparql_are_not_taken_for_jinja, ALL)


def _braces_of_sparql_are_not_taken_for_jinja(made: Template) -> None:
    text = body(made)
    left = STATEMENT.sub("", EXPRESSION.sub("", text))
    # What is left of "{{ ?s ?p ?o }}", of "{#x}" or of a jinja statement that is not listed above.
    assert re.findall(r"\{\{|\}\}|\{#|#\}|\{%|%\}", left) == []


def test_words_of_a_family_can_be_filled_in() -> None:
    sweep(_words_of_a_family_can_be_filled_in, role("hypothesize").values())


def _words_of_a_family_can_be_filled_in(made: Template) -> None:
    bound = set(made.parameters) | set(re.findall(r"\?(\w+)", made.sections.get("propose", "")))
    bound |= {"fail", "Failures"}  # what failing is called
    bound |= {"parts"} if made.name == "conjunction" else set()
    bound |= {"condition"} if made.name.startswith("condition-") else set()
    wanted = {name for key in WORDING for name in re.findall(r"\{(\w+)\}", made.header[key])}
    assert sorted(wanted - bound) == []


def test_header_of_a_family_names_what_there_is() -> None:
    sweep(_header_of_a_family_names_what_there_is, role("hypothesize").values())


def _header_of_a_family_names_what_there_is(made: Template) -> None:
    tests = made.header["tests"].split()
    assert sorted(set(tests) - set(role("test"))) == []
    components = {t.header.get("component", "") for t in role("observe").values()}
    known = {c.removeprefix("sh:").removesuffix("ConstraintComponent") for c in components}
    assert sorted(set(made.header.get("components", "").split()) - known) == []
    needed = {"region"} if made.sections else set()
    needed |= {"propose"} if made.sections and made.name not in WIDENED else set()
    needed |= (
        {"levels"} if {"sibling-spread", "period-spread"} & set(tests) and made.sections else set()
    )
    needed |= {"prediction"} if "direct-check" in tests else set()
    needed |= {"placebo"} if "placebo" in tests else set()
    assert sorted(needed - set(made.sections)) == []


def dummies(parameter: Parameter, text: str) -> list[Value]:
    """Give values of a parameter's type: one, or one for each way a text may turn."""
    if parameter.type == "flag":
        return [True, False]
    if parameter.type == "pattern":
        shape = PATTERNS.get(parameter.name, "?focus <urn:example:p> ?value .")
        return [Fragment(shape.format(name=parameter.name))]
    if parameter.type.endswith("s"):
        single = Parameter(parameter.name, parameter.type[:-1], parameter.meaning)
        (one,) = dummies(single, text)
        several: list[Any] = [one, one]
        optional = re.search(rf"\{{% if [^%]*\b{parameter.name}\b", text)
        return [several, []] if optional else [several]
    if parameter.type == "literal":
        return [ox.Literal("7", datatype=ox.NamedNode(PREFIXES["xsd"] + "integer"))]
    return [ox.NamedNode("urn:example:node")]


def texts(made: Template) -> Iterator[tuple[str, str]]:
    """Give each section, made a whole query, for every combination of dummies."""
    for section, text in made.sections.items():
        names = [n for n in made.parameters if section == "main" or n in used(text)]
        choices = [dummies(made.parameters[name], text) for name in names]
        for values in itertools.product(*choices):
            part = made.fragment(section, **dict(zip(names, values, strict=True)))
            yield section, whole(made, part.text)


def whole(made: Template, text: str) -> str:
    head = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in PREFIXES.items())
    if re.match(r"\s*(SELECT|ASK|CONSTRUCT|DELETE|INSERT)\b", text):
        return head + text
    if made.header.get("form") == "test" or made.header.get("use") == "expression":
        text = f"FILTER ({text})"
    return f"{head}SELECT * WHERE {{ ?focus a ?class . {text} }}"


def run_update(store: ox.Store, text: str) -> None:
    """Run an update with the functions that a ledger gives its templates."""
    functions = Functions(lambda _: ())
    store.update(text, custom_functions=functions.plain)


def test_every_section_is_standard_sparql() -> None:
    sweep(_every_section_is_standard_sparql, ALL)


def _every_section_is_standard_sparql(made: Template) -> None:
    for section, text in texts(made):
        try:
            if made.is_update:
                run_update(ox.Store(), text)
                translateUpdate(parseUpdate(text))
            else:
                ox.Store().query(text)
                translateQuery(parseQuery(text))
        except Exception as error:
            if named(made) == "record/refuse" and "already exists" in str(error):
                continue  # to fail on an empty store is what it is for
            raise AssertionError(f"{named(made)}, {section}: {error}\n{text}") from error


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
        parse(path, "test").render(node=ox.NamedNode("urn:example:x"))


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
    "another prefix": (
        "#+ summary: x\nPREFIX prov: <urn:other:>\nSELECT * WHERE { }\n",
        "'prov' is not the one in terms",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, name: str) -> None:
    text, message = BROKEN[name]
    path = tmp_path / "broken.rq"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TemplateError, match=rf"broken\.rq.*{re.escape(message)}"):
        parse(path, "test")


def test_two_meanings_of_a_prefix_are_refused() -> None:
    region = Fragment("?focus prov:x ?y .", {"prov": "urn:other:"})
    target = Fragment("?focus a prov:Entity .", {"prov": PREFIXES["prov"]})
    flags = dict.fromkeys(("literals", "sources", "merged", "forms"), False)
    with pytest.raises(TemplateError, match="prefix 'prov' stands for"):
        template("context", "region").render(regions=[region], target=target, **flags)
