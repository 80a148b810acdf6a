"""What sh:or, sh:xone and sh:not ask, read as the constraints that stand in them."""

from pathlib import Path

import pytest

import kgreason
from kgreason.base.terms import TYPE
from kgreason.graph import load
from kgreason.shacl import Reading, compile_shapes, read_shapes

HEAD = """
@prefix ex: <https://example.org/v#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
NODES = 90
BAD = frozenset(range(0, NODES, 5))
TEXTS = "[ sh:datatype xsd:string ] [ sh:datatype rdf:langString ]"
NAMES = "[ sh:path ex:label ; sh:minCount 1 ] [ sh:path ex:title ; sh:minCount 1 ]"


def read(folder: Path, asked: str, path: str = "ex:label") -> tuple[Reading, ...]:
    shapes = folder / "shapes.ttl"
    inner = f"sh:property [ sh:path {path} ; {asked} ]" if path else asked
    shapes.write_text(f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; {inner} .")
    (folder / "data.ttl").write_text(f"{HEAD} ex:a a ex:Part .")
    return (
        compile_shapes(read_shapes([shapes]), load([folder / "data.ttl"])).constraints[0].readings
    )


@pytest.mark.parametrize(
    ("asked", "components"),
    [
        (f"sh:or ( {TEXTS} )", {"Datatype"}),
        (f"sh:xone ( {TEXTS} )", {"Datatype"}),
        ('sh:not [ sh:pattern "x" ]', {"Pattern"}),
        ("sh:or ( [ sh:class ex:A ] [ sh:nodeKind sh:Literal ] )", {"Class", "NodeKind"}),
        (
            "sh:qualifiedValueShape [ sh:nodeKind sh:Literal ] ; sh:qualifiedMaxCount 0",
            {"NodeKind"},
        ),
    ],
)
def test_values_at_fault_are_those_of_the_choice(
    tmp_path: Path, asked: str, components: set[str]
) -> None:
    (found,) = read(tmp_path, asked)
    assert (set(found.components), found.lacking) == (components, False)
    assert found.offending is not None
    assert "?value" in found.offending.text


def test_only_what_all_alternatives_ask_is_given_to_families(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"sh:or ( {TEXTS} )")
    assert not found.parameters
    (found,) = read(tmp_path, "sh:or ( [ sh:in ( ex:a ) ] [ sh:hasValue ex:b ] )")
    assert {term.value[-1] for term in found.allowed} == {"a", "b"}


def test_a_node_that_needs_one_of_two_properties_lacks_either(tmp_path: Path) -> None:
    found = read(tmp_path, f"sh:or ( {NAMES} )", path="")
    assert {one.path.text[-6:-1] for one in found if one.lacking} == {"label", "title"}


def test_a_choice_of_classes_asks_the_node_for_one_of_them(tmp_path: Path) -> None:
    (found,) = read(tmp_path, "sh:or ( [ sh:class ex:A ] [ sh:class ex:B ] )", path="")
    assert (found.predicate, found.lacking) == (TYPE, True)
    assert {one.value[-1] for one in found.allowed} == {"A", "B"}
    assert read(tmp_path, "sh:not [ sh:class ex:A ]", path="") == ()
    mixed = "sh:or ( [ sh:class ex:A ] [ sh:nodeKind sh:Literal ] )"
    assert read(tmp_path, mixed, path="") == ()


@pytest.mark.parametrize(
    ("asked", "path", "components"),
    [
        (
            'sh:qualifiedValueShape [ sh:languageIn ( "en" ) ] ; sh:qualifiedMinCount 1',
            "ex:label",
            {"LanguageIn", "MinCount", "QualifiedMinCount"},
        ),
        ("sh:node [ sh:class ex:A ; sh:nodeKind sh:IRI ]", "ex:to", {"Class", "NodeKind", "Node"}),
        ("sh:hasValue ex:A", "( ex:to rdf:type )", {"Class"}),
    ],
)
def test_what_an_inner_shape_asks_of_values_is_read(
    asked: str, path: str, components: set[str], tmp_path: Path
) -> None:
    (found,) = read(tmp_path, asked, path)
    assert found.components == components
    assert found.lacking == ("Node" not in components)
    assert found.predicate is not None


@pytest.mark.parametrize(
    "asked",
    [
        "sh:node [ sh:or ( [ sh:class ex:A ] [ sh:class ex:B ] ) ]",
        "sh:node [ sh:property [ sh:path ex:of ; sh:minCount 1 ] ]",
        "sh:hasValue ex:A",
        "sh:qualifiedValueShape [ sh:class ex:A ] ; sh:qualifiedMaxCount 1",
    ],
)
def test_an_inner_shape_that_says_nothing_of_the_value_is_not_read(
    asked: str, tmp_path: Path
) -> None:
    assert read(tmp_path, asked, "ex:to") == ()


@pytest.mark.parametrize(
    ("asked", "path", "statement"),
    [
        (
            'sh:qualifiedValueShape [ sh:languageIn ( "de" ) ] ; sh:qualifiedMaxCount 0',
            "ex:label",
            "The values of label were written as texts with the language “de”.",
        ),
        (
            'sh:qualifiedValueShape [ sh:languageIn ( "en" ) ] ; sh:qualifiedMinCount 1',
            "ex:label",
            "The values of label were written as texts with the language “de”.",
        ),
        (
            'sh:pattern "^Part" ; sh:not [ sh:languageIn ( "de" ) ]',
            "[ sh:alternativePath ( ex:title ex:label ) ]",
            "The values of label were written as texts with the language “de”.",
        ),
        (
            "sh:class ex:Maker",
            "[ sh:alternativePath ( ex:supplier ex:maker ) ]",
            "What maker points at is typed as Dealer, not as the shape asks.",
        ),
        (
            "sh:hasValue ex:Maker",
            "( ex:maker rdf:type )",
            "What maker points at is typed as Dealer, not as the shape asks.",
        ),
    ],
)
def test_what_is_wrong_with_values_of_an_inner_shape_is_told(
    asked: str, path: str, statement: str
) -> None:
    lines = [
        f'ex:n{n} a ex:Part ; ex:label "Part {n * 7 % 90}"@{"de" if n in BAD else "en"} ; '
        f"ex:maker ex:{'d' if n in BAD else 'm'}{n % 4} ."
        for n in range(NODES)
    ]
    lines += [f"ex:m{n} a ex:Maker . ex:d{n} a ex:Dealer ." for n in range(4)]
    shapes = f"""{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
      sh:property [ sh:path {path} ; {asked} ] ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes, policy="code")
    assert result.causes[0].statement.startswith(statement.removesuffix("."))


def test_a_choice_in_a_choice_is_not_read(tmp_path: Path) -> None:
    assert read(tmp_path, f"sh:or ( [ sh:or ( {TEXTS} ) ] )") == ()


def test_values_of_a_kind_have_to_be_as_the_other_shapes_say(tmp_path: Path) -> None:
    asked = 'sh:or ( [ sh:not [ sh:pattern "^http" ] ] [ sh:datatype xsd:anyURI ] )'
    (found,) = read(tmp_path, asked)
    assert set(found.components) == {"Datatype"}
    assert [str(term) for (term,) in found.parameters.values()] == [
        "<http://www.w3.org/2001/XMLSchema#anyURI>"
    ]
    assert read(tmp_path, 'sh:or ( [ sh:not [ sh:pattern "^http" ] ] )') == ()


def test_a_wrong_datatype_is_told_of_values_of_a_kind() -> None:
    lines = (
        f'ex:n{n} a ex:Part ; ex:page "http://example.org/{n}"{"" if n in BAD else "^^xsd:anyURI"}'
        f"{f' . ex:m{n} a ex:Part ; ex:page 7{n}' if n < 5 else ''} ."
        for n in range(NODES)
    )
    asked = 'sh:or ( [ sh:datatype xsd:anyURI ] [ sh:not [ sh:pattern "^http" ] ] )'
    shapes = f"""{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
      sh:property [ sh:path ex:page ; {asked} ] ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes)
    assert result.causes[0].statement == "The values of page were written as xsd:string."


def test_a_wrong_datatype_is_told_of_a_choice_of_datatypes() -> None:
    lines = (
        f'ex:n{n} a ex:Part ; ex:label "Part {n}"{"^^rdfs:Literal" if n in BAD else "@en"} .'
        for n in range(NODES)
    )
    shapes = f"""{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
      sh:property [ sh:path ex:label ; sh:or ( {TEXTS} ) ] ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes)
    (cause,) = result.causes
    assert cause.statement.startswith("The values of label were written as")
    assert "rdf-schema#Literal" in cause.statement


def test_a_property_under_another_name_is_told_of_a_choice_of_properties() -> None:
    lines = (
        f'ex:n{n} a ex:Part ; ex:{"lable" if n in BAD else "label"} "Part {n}" .'
        for n in range(NODES)
    )
    shapes = f"{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:or ( {NAMES} ) ."
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes)
    assert result.causes[0].statement == "The value of label was written under lable instead."


def test_wrong_codes_of_a_choice_are_told_one_after_the_other() -> None:
    codes = ("QA", "ZB", "QX", "ZY", "QZ", "QX", "ZY", "QZ")
    lines = (f'ex:n{n} a ex:Part ; ex:label "Part {n} ({codes[n % 8]})" .' for n in range(NODES))
    asked = r'[ sh:not [ sh:pattern "\\([A-Z]{2}\\)$" ] ] [ sh:pattern "\\((QX|ZY|QZ)\\)$" ]'
    shapes = f"""{HEAD} ex:S a sh:NodeShape ; sh:targetClass ex:Part ;
      sh:property [ sh:path ex:label ; sh:or ( {asked} ) ] ."""
    result = kgreason.investigate(HEAD + "\n".join(lines), shapes=shapes, policy="code")
    told = {one.statement.partition(" fail")[0] for one in result.causes}
    assert told == {f"Nodes whose label contains “{code})”" for code in ("QA", "ZB")}
