"""Literals just as they were written: a store would rewrite them, pySHACL on rdflib does not."""

from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreason.base.terms import SH
from kgreason.graph import Graph, load
from kgreason.shacl import Constraint, Observation, Shapes, compile_shapes, read_shapes
from kgreason.shacl.pyshacl_run import exact_literals
from tests.symptoms_support import DIFFERENCES, Found, observed, ours, short, theirs

PREFIXES = """PREFIX ex: <http://example.org/>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
WHOLE = ["5", "05", "+5", "-5", "-0", "0", "005", "5.0", "five", "", " 5", "1e3", "300", "-300"]
WHOLE_TYPES = [
    *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
    *("nonPositiveInteger", "negativeInteger", "unsignedLong", "unsignedInt"),
    *("unsignedShort", "unsignedByte"),
]
BIG = ["70000", "-70000", "3000000000", "-3000000000", "9223372036854775808"]
REAL = ["1.5", "1.50E0", "1e3", "1E+03", "INF", "-INF", "NaN", "inf.", "abc", "", ".5", "1."]
FORMS = {
    **{datatype: [*WHOLE, *BIG] for datatype in WHOLE_TYPES},
    "decimal": ["1.5", "1.50", "01.5", "+1.5", ".5", "1.", "1", "1,5", "abc", "", "1.5e3", "-0.0"],
    "double": REAL,
    "float": REAL,
    "boolean": ["true", "false", "1", "0", "TRUE", "yes", "", "01"],
    "string": ["", "a", " a ", "05"],
    "normalizedString": ["a b", " a "],
    "token": ["a b", "a"],
    "anyURI": ["http://example.org/", "x", ""],
    "dateTime": [
        *("2024-02-29T10:00:00", "2024-02-29T10:00:00Z", "2024-02-29T10:00:00.000+00:00"),
        *("2024-02-29T10:00:00.50-05:00", "2023-02-29T10:00:00", "2024-13-01T10:00:00"),
        *("2024-01-01T25:00:00", "2024-01-01", "soon", ""),
    ],
    "dateTimeStamp": ["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.0+02:00"],
    "date": [
        *("2024-02-29", "2024-02-29Z", "2024-02-29+02:00", "2023-02-29", "2024-13-01", "2024-1-1"),
        *("soon", "", "29-02-2024"),
    ],
    "time": ["10:00:00", "10:00:00Z", "10:00:00.50", "10:00:00+02:00", "25:00:00", "soon", ""],
    "gYear": ["2024", "02024", "24", "soon"],
    "gYearMonth": ["2024-01", "2024-13"],
    "gMonthDay": ["--02-29", "02-29"],
    "gDay": ["---31", "31"],
    "gMonth": ["--12", "12"],
    "duration": ["P1Y2M3DT4H5M6S", "P1D", "PT24H", "-P1M", "P", "1D", "soon"],
    "dayTimeDuration": ["P1D", "PT24H", "PT1.50S", "soon"],
    "yearMonthDuration": ["P1Y", "P12M", "soon"],
    "hexBinary": ["0FB7", "0fb7", "", "0FB", "xyz"],
    "base64Binary": ["aGVsbG8=", ""],
}


def literal(datatype: str, form: str) -> str:
    # rdflib takes "a" and "a"^^xsd:string for two terms, which they are not.
    return f'"{form}"' if datatype == "string" else f'"{form}"^^xsd:{datatype}'


def data_text() -> str:
    lines = [
        f"ex:{datatype}-{number} ex:{datatype} {literal(datatype, form)} ."
        for datatype, forms in FORMS.items()
        for number, form in enumerate(forms)
    ]
    # All forms of one value at one node, plain and language-tagged ones among them.
    lines += [
        'ex:many ex:any 5, "05"^^xsd:integer, "5"^^xsd:int, 5.0, "5.00"^^xsd:decimal .',
        'ex:many ex:any "5"^^xsd:double, "5", "x"@en, "x"@EN, "x"@de-CH, ex:five .',
        'ex:many ex:other 5, "5"^^xsd:int, "x"@EN-gb .',
        "ex:few ex:any 5 ; ex:other 5 .",
        'ex:flags ex:flag "1"^^xsd:boolean, "0"^^xsd:boolean, true .',
        'ex:tags ex:tag "a"@en, "b"@EN, "c"@en-GB, "d"@EN-gb .',
    ]
    return PREFIXES + "\n".join(lines)


def shapes_text() -> str:
    lines = []
    for datatype in FORMS:
        some = " ".join(literal(datatype, form) for form in FORMS[datatype][::2])
        lines.append(
            f"""ex:{datatype}Shape a sh:NodeShape ; sh:targetSubjectsOf ex:{datatype} ;
  sh:property [ sh:path ex:{datatype} ; sh:datatype xsd:{datatype} ; sh:nodeKind sh:Literal ;
    sh:maxCount 1 ; sh:minCount 1 ; sh:pattern "^[^0]" ; sh:minLength 2 ; sh:maxLength 3 ] .
ex:{datatype}Values a sh:NodeShape ; sh:targetObjectsOf ex:{datatype} ;
  sh:datatype xsd:{datatype} ; sh:maxLength 2 ; sh:pattern "5" ; sh:in ( {some} ) ."""
        )
    counts = " , ".join(
        f"[ sh:path ex:any ; sh:{p} {n} ]" for p in ("minCount", "maxCount") for n in (9, 10, 11)
    )
    lines.append(
        f"""ex:AnyShape a sh:NodeShape ; sh:targetSubjectsOf ex:any ; sh:property {counts} ,
  [ sh:path ex:any ; sh:in ( "05"^^xsd:integer "x"@En ex:five ) ] ,
  [ sh:path ex:any ; sh:hasValue "05"^^xsd:integer ] , [ sh:path ex:any ; sh:hasValue 5 ] ,
  [ sh:path ex:any ; sh:hasValue "005"^^xsd:integer ] , [ sh:path ex:any ; sh:hasValue "X"@en ] ,
  [ sh:path ex:any ; sh:equals ex:other ] , [ sh:path ex:any ; sh:disjoint ex:other ] ,
  [ sh:path ex:other ; sh:equals ex:any ] , [ sh:path ex:any ; sh:uniqueLang true ] ,
  [ sh:path ex:any ; sh:languageIn ( "EN" "de" ) ] ,
  [ sh:path ex:any ; sh:minInclusive 5 ; sh:maxExclusive 5.5 ] ,
  [ sh:path ex:any ; sh:or ( [ sh:datatype xsd:int ] [ sh:pattern "^0" ] ) ] ,
  [ sh:path ex:any ; sh:not [ sh:datatype xsd:integer ] ] ,
  [ sh:path ex:any ; sh:qualifiedValueShape [ sh:datatype xsd:integer ] ;
    sh:qualifiedMinCount 3 ; sh:qualifiedMaxCount 1 ] .
ex:FlagShape a sh:NodeShape ; sh:targetSubjectsOf ex:flag ;
  sh:property [ sh:path ex:flag ; sh:in ( true false ) ; sh:maxCount 2 ] .
ex:TagShape a sh:NodeShape ; sh:targetSubjectsOf ex:tag ;
  sh:property [ sh:path ex:tag ; sh:uniqueLang true ; sh:languageIn ( "EN-GB" ) ] .
"""
    )
    return PREFIXES + "\n".join(lines)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Shapes, Path]:
    folder = tmp_path_factory.mktemp("lexical")
    (folder / "data.ttl").write_text(data_text(), encoding="utf-8")
    (folder / "shapes.ttl").write_text(shapes_text(), encoding="utf-8")
    return load([folder / "data.ttl"]), read_shapes([folder / "shapes.ttl"]), folder / "data.ttl"


@pytest.fixture(scope="module")
def seen(world: tuple[Graph, Shapes, Path]) -> list[tuple[Constraint, Observation]]:
    graph, shapes, _ = world
    compiled = compile_shapes(shapes, graph)
    assert not compiled.fallback
    return observed(graph, compiled)


def row(found: Found) -> tuple[str, str, str]:
    return short(found.component), found.focus.value, lower_tag(str(found.value))


def lower_tag(text: str) -> str:
    head, at, tag = text.rpartition('"@')
    return head + at + tag.lower() if at else text


def test_the_same_results_as_pyshacl(
    world: tuple[Graph, Shapes, Path], seen: list[tuple[Constraint, Observation]]
) -> None:
    graph, shapes, path = world
    with exact_literals():
        import rdflib  # noqa: PLC0415 - slow to import

        data = rdflib.Graph().parse(path)
    mine = {(f.path, row(f)) for f in ours(seen)}
    reference = {(f.path, row(f)) for f in theirs(graph, shapes, data=data)}
    known = {(entry["component"], entry["form"]) for entry in DIFFERENCES["lexical"]}
    differing = mine ^ reference
    assert {(r[0], r[2].split('"')[1]) for _, r in differing} == known


def test_citations_show_the_form_that_was_written(
    world: tuple[Graph, Shapes, Path], seen: list[tuple[Constraint, Observation]]
) -> None:
    graph, _, path = world
    written = {quad.object for quad in ox.parse(path=str(path))}
    values = {r.value for _, o in seen for r in o.results if isinstance(r.value, ox.Literal)}
    stored = {
        q.object for q in graph.store.inner.quads_for_pattern(None, None, None, ox.DefaultGraph())
    }
    assert values <= written
    assert values - stored


def test_plain_predicates_do_not_read_the_forms(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(
        PREFIXES + 'ex:a ex:p 5 ; ex:q "05"^^xsd:integer .', encoding="utf-8"
    )
    (tmp_path / "shapes.ttl").write_text(
        PREFIXES + "ex:S sh:targetNode ex:a ; sh:property [ sh:path ex:p ; sh:datatype xsd:int ],"
        " [ sh:path ex:q ; sh:datatype xsd:int ] .",
        encoding="utf-8",
    )
    compiled = compile_shapes(read_shapes([tmp_path / "shapes.ttl"]), load([tmp_path / "data.ttl"]))
    uses = {c.path.text: "work:forms" in c.failing_query for c in compiled.constraints if c.path}
    assert uses == {"<http://example.org/p>": False, "<http://example.org/q>": True}
    assert all("work:forms" not in c.outcome_query for c in compiled.constraints)
    assert SH.DatatypeConstraintComponent in {c.component for c in compiled.constraints}


@pytest.mark.parametrize("order", [("data.ttl", "dump.nq"), ("dump.nq", "data.ttl")])
def test_a_graph_that_two_sources_fill_is_merged_whole(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    (tmp_path / "data.ttl").write_text("<urn:a> <urn:p> 1 .", encoding="utf-8")
    (tmp_path / "dump.nq").write_text(
        '<urn:b> <urn:p> "2" <urn:src:data.ttl> .\n', encoding="utf-8"
    )
    graph = load([tmp_path / name for name in order])
    assert graph.store.scalar("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }") == 2


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.ttl", "@base <things/> .\n<a> <urn:p> <b> .", "things/"),
        ("a.ttl", "BASE <#>\n<a> <urn:p> <b> .", "#"),
        ("a.ttl", "@base <https://example.org/> .\n<a> <urn:p> <b> .", None),
        ("a.ttl", "<a> <urn:p> <b> .", None),
        ("a.jsonld", '{"@context": {"@base": "things/"}, "@id": "a", "urn:p": "b"}', "things/"),
    ],
)
def test_a_base_that_is_no_full_iri_is_told(
    name: str, text: str, told: str | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    notices = " ".join(load([tmp_path / name]).notices)
    assert (told is not None) == ("is no full IRI" in notices)
    assert told is None or f"its base <{told}>" in notices
