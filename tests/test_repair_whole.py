"""Repairs from data to patch: an import of the least, a tag that is cast, a value that moves."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.terms import TRAILS, XSD
from kgreason.record import Ledger
from tests.cli_support import run

HEAD = """@prefix e: <https://example.org/> . @prefix r: <https://register.example.net/> .
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
FROM = TRAILS.importedFrom
REGISTER = "https://register.example.net/"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def investigated(place: Path, rows: Iterable[str], shapes: str) -> None:
    (place / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    (place / "shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
    done = run("investigate", "data.ttl", "--shapes", "shapes.ttl", "--format", "json")
    assert done.code == 0, done.err


def tried(*more: str) -> list[dict[str, Any]]:
    done = run("repair", "I1", "--dry-run", "--format", "json", *more)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["tried"]
    return found


# Import

CERTIFIED = """
e:PartShape a sh:NodeShape ; sh:targetClass e:Part ;
  sh:property [ sh:path e:cert ; sh:class e:Certificate ] .
e:CertShape a sh:NodeShape ; sh:targetClass e:Certificate ;
  sh:property [ sh:path e:number ; sh:minCount 1 ; sh:datatype xsd:integer ] ;
  sh:property [ sh:path e:issuer ; sh:minCount 1 ; sh:class e:Issuer ] .
e:IssuerShape a sh:NodeShape ; sh:targetClass e:Issuer ;
  sh:property [ sh:path e:name ; sh:minCount 1 ] .
"""


def parts() -> Iterable[str]:
    """Every fourth part points at one of three certificates of a register that was not loaded."""
    for n in range(120):
        yield f"e:p{n} a e:Part ; e:cert {f'r:c{n % 12}' if n % 4 == 1 else f'e:own{n % 10}'} ."
    for n in range(10):
        yield f"e:own{n} a e:Certificate ; e:number {n} ; e:issuer e:i{n % 2} ."
    for n in range(2):
        yield f'e:i{n} a e:Issuer ; e:name "I{n}" .'


def register(place: Path, numbers: Iterable[int]) -> None:
    rows = ['r:i1 a e:Issuer ; e:name "Register" ; e:phone "1" .', "r:c77 a e:Certificate ."]
    rows += [
        f'r:c{n} a e:Certificate , e:Document ; e:number "{n:03}"^^xsd:integer ; e:issuer r:i1 ; '
        f'e:history "long" ; e:seen e:p{n} ; e:box [ e:side 1 ] .'
        for n in numbers
    ]
    (place / "register.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")


def test_an_import_brings_what_the_shapes_ask_for_and_no_more(place: Path) -> None:
    investigated(place, parts(), CERTIFIED)
    (alone,) = tried()
    assert (alone["repair"], alone["outcome"]) == ("import-reference", "harmful")
    register(place, (1, 5, 9))
    (found,) = tried("--import-from", "register.ttl")
    assert (found["repair"], found["outcome"]) == ("import-described", "cleared")
    assert (found["figures"]["claimed"], found["figures"]["holds"]) == (30, 30)
    done = run("repair", "I1", "--import-from", "register.ttl", "--out", "mended.rdfp")
    assert done.code == 0, done.err
    assert "Failures of all constraints: 30 before, 0 after." in done.out
    lines = (place / "mended.rdfp").read_text(encoding="utf-8").splitlines()
    wanted = [f"<{REGISTER}i1> a <Issuer>", f'<{REGISTER}i1> <name> "Register"']
    for n in (1, 5, 9):
        wanted += [
            f"<{REGISTER}c{n}> a <Certificate>",
            f"<{REGISTER}c{n}> <issuer> <{REGISTER}i1>",
            f'<{REGISTER}c{n}> <number> "{n:03}"^^xsd:integer',
        ]
    assert sorted(map(short, (x for x in lines if x[:2] == "A "))) == sorted(wanted)
    assert not [x for x in lines if x[:2] == "D "]


def short(line: str) -> str:
    text = line.removeprefix("A ").removesuffix(" .").replace("https://example.org/", "")
    text = text.replace("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a")
    return text.replace("<http://www.w3.org/2001/XMLSchema#integer>", "xsd:integer")


def test_the_record_says_where_an_import_is_from(place: Path) -> None:
    investigated(place, parts(), CERTIFIED)
    register(place, (1, 5, 9))
    assert run("repair", "I1", "--import-from", "register.ttl", "--out", "mended.nq").code == 0
    with Ledger.read(place / ".kgreason") as store:
        record = store.record(store.entry())
        found = [q.object for q in record.store.quads(record.iri) if q.predicate == FROM]
        assert audit(record).ok
    assert [text.value.partition(" (SHA-256 ")[0] for text in found] == ["register.ttl"]  # type: ignore[union-attr]
    graphs = {
        str(q.graph_name)
        for q in ox.parse(path=str(place / "mended.nq"), format=ox.RdfFormat.N_QUADS)
    }
    assert graphs == {"DEFAULT"}


def test_a_source_that_knows_too_little_is_not_taken_from(place: Path) -> None:
    """Of three certificates the register has one: the others are obstacles."""
    investigated(place, parts(), CERTIFIED)
    register(place, (1,))
    (found,) = tried("--import-from", "register.ttl")
    assert found["repair"] == "import-reference"
    offer = next(o for o in found["offers"] if o["repair"] == "import-described")
    assert not offer["feasible"]
    assert offer["why"].startswith("20 of 30 claimed nodes cannot be mended so")


def test_a_source_that_cannot_be_read_is_told(place: Path) -> None:
    investigated(place, parts(), CERTIFIED)
    done = run("repair", "I1", "--dry-run", "--import-from", "nowhere.ttl")
    assert done.code == 2
    assert "nowhere.ttl: there is no such file" in done.err


# Languages

LISTED = """
e:S a sh:NodeShape ; sh:targetClass e:Thing ;
  sh:property [ sh:path e:label ; sh:languageIn ( "de" "en" ) ] ,
    [ sh:path e:label ; sh:uniqueLang true ] .
"""


@pytest.mark.parametrize(
    ("written", "repair", "made"),
    [("@ger", "cast-tag", "@de"), ("@eng-us", "cast-tag", "@en-us"), ("", "cast-language", "@de")],
)
def test_a_language_becomes_one_that_is_listed(
    written: str, repair: str, made: str, place: Path
) -> None:
    rows = [
        f'e:t{n} a e:Thing ; e:label "Zug {n}"{written if n % 5 == 0 else "@de"} .'
        for n in range(80)
    ]
    investigated(place, rows, LISTED)
    (found,) = (one for one in tried() if one["repair"])
    assert (found["repair"], found["outcome"]) == (repair, "cleared")
    assert (found["figures"]["claimed"], found["figures"]["holds"]) == (16, 16)
    assert run("repair", "I1", "--out", "mended.nt").code == 0
    after = ox.parse(path=str(place / "mended.nt"), format=ox.RdfFormat.N_TRIPLES)
    labels = {str(q.object) for q in after if q.predicate.value.endswith("label")}
    assert labels == {f'"Zug {n}"{made if n % 5 == 0 else "@de"}' for n in range(80)}


def test_a_text_in_another_language_is_not_cast(place: Path) -> None:
    rows = [
        f'e:t{n} a e:Thing ; e:label "train {n}"{"@fra" if n % 5 == 0 else "@de"} .'
        for n in range(80)
    ]
    investigated(place, rows, LISTED)
    assert [one for one in tried() if one["repair"]] == []


# Moves

WEIGHED = """
e:S a sh:NodeShape ; sh:targetClass e:Part ;
  sh:property [ sh:path e:weight ; sh:minCount 1 ; sh:datatype xsd:integer ] .
"""


@pytest.mark.slow
@pytest.mark.parametrize("outward", [True, False])
def test_a_value_on_the_neighbour_moves_to_the_node(outward: bool, place: Path) -> None:  # noqa: FBT001
    """In every fifth part the weight stands on its packing; four parts have none at all."""
    rows = []
    for n in range(150):
        link = f"e:p{n} e:pack e:k{n} ." if outward else f"e:k{n} e:holds e:p{n} ."
        bearer = "" if n in {1, 2, 3, 4} else f"e:{'k' if n % 5 == 0 else 'p'}{n} e:weight {n} ."
        rows.append(f"e:p{n} a e:Part . e:k{n} a e:Packing ; e:colour 1 . {link} {bearer}")
    investigated(place, rows, WEIGHED)
    found = next(one for one in tried() if one["repair"])
    assert (found["repair"], found["outcome"]) == ("move-value", "cleared")
    assert (found["figures"]["claimed"], found["figures"]["holds"]) == (30, 30)
    assert run("repair", "I1", "--out", "mended.nt").code == 0
    after = ox.parse(path=str(place / "mended.nt"), format=ox.RdfFormat.N_TRIPLES)
    weights = {
        (str(q.subject), str(q.object)) for q in after if q.predicate.value.endswith("weight")
    }
    assert weights == {
        (f"<https://example.org/p{n}>", f'"{n}"^^<{XSD.integer.value}>')
        for n in range(150)
        if n not in {1, 2, 3, 4}
    }
    with Ledger.read(place / ".kgreason") as store:
        assert audit(store.record(store.entry())).ok


def test_a_value_of_the_neighbour_itself_stays_there(place: Path) -> None:
    """What all packings have, and what only odd parts are linked to, is not the parts' own."""
    rows = []
    for n in range(150):
        odd = n % 5 == 0
        weight = "" if odd else f"e:p{n} e:weight {n} ."
        special = f"e:p{n} e:replaces e:q{n} . e:q{n} a e:Old ; e:weight 3 ." if odd else ""
        rows.append(f"e:p{n} a e:Part ; e:pack e:k{n} . e:k{n} e:weight 9 . {weight} {special}")
    investigated(place, rows, WEIGHED)
    assert [one for one in tried() if one["repair"]] == []


# Names that were misspelt


def shipments(wrong: str, right: str) -> Iterable[str]:
    """Every fifth shipment has a wrong state, the others the right one or another."""
    for n in range(100):
        state = wrong if n % 5 == 1 else right if n % 2 else "e:Open"
        yield f"e:s{n} a e:Shipment ; e:state {state} ."


@pytest.mark.parametrize(
    ("wrong", "right", "repair"),
    [
        ("e:Shiped", "e:Shipped", "respell-value"),
        ('"Shiped"', '"Shipped"', "respell-value"),
    ],
)
def test_a_misspelt_value_becomes_the_one_that_was_meant(
    place: Path, wrong: str, right: str, repair: str
) -> None:
    listed = f"sh:in ( {right} e:Open )"
    rule = f"sh:targetClass e:Shipment ; sh:property [ sh:path e:state ; {listed} ]"
    investigated(place, shipments(wrong, right), f"e:Shape a sh:NodeShape ; {rule} .")
    first = tried()[0]
    assert (first["repair"], first["outcome"]) == (repair, "cleared")


@pytest.mark.parametrize(
    ("wrong", "rest", "repair"),
    [
        ("a owl:DataTypeProperty", "a owl:DatatypeProperty", "respell-class"),
        (
            "rdfs:subPropertyOf dcmitype:hasPart",
            "rdfs:subPropertyOf dct:hasPart",
            "rename-published",
        ),
    ],
)
def test_names_that_a_vocabulary_does_not_have_become_its_own(
    place: Path, wrong: str, rest: str, repair: str
) -> None:
    head = (
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix dct: <http://purl.org/dc/terms/> .\n"
        "@prefix dcmitype: <http://purl.org/dc/dcmitype/> .\n"
    )
    rows = [head]
    for n in range(200):
        said = wrong.replace("hasPart", "date") if n % 8 == 1 else wrong if n % 8 == 5 else rest
        rows.append(f"e:p{n} {said} .")
    (place / "data.ttl").write_text(HEAD + "\n".join(rows), encoding="utf-8")
    path = "a" if "a " in wrong[:2] else "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    good = "http://www.w3.org/2002/07/owl#Datatype" if path == "a" else "http://purl.org/dc/terms/"
    (place / "outcome.rq").write_text(
        f"SELECT ?focus (!STRSTARTS(STR(?value), '{good}') AS ?outcome) "
        f"WHERE {{ ?focus {path} ?value }}",
        encoding="utf-8",
    )
    done = run("investigate", "data.ttl", "--outcome", "outcome.rq", "--format", "json")
    assert done.code == 0, done.err
    first = tried()[0]
    assert (first["repair"], first["outcome"]) == (repair, "cleared")


def test_texts_of_empty_cells_are_left_out(place: Path) -> None:
    rows = []
    for n in range(90):
        phone, street = ("" if n % step == 0 else f"{n}" for step in (3, 5))
        rows.append(f'e:m{n} a e:Member ; e:phone "{phone}" ; e:street "{street}" .')
    rule = "sh:targetClass e:Member ; sh:property [ sh:path e:phone ; sh:minLength 1 ]"
    investigated(place, rows, f"e:Shape a sh:NodeShape ; {rule} .")
    first = tried()[0]
    assert (first["repair"], first["outcome"]) == ("drop-empty", "cleared")


def test_numbers_get_the_zeros_back_that_they_lost(place: Path) -> None:
    rows = [
        f'e:p{n} a e:Place ; e:code "{1000 + n}" .'
        if n % 6 == 0
        else f'e:p{n} a e:Place ; e:code "{10000 + 101 * n}" .'
        for n in range(90)
    ]
    rule = "sh:targetClass e:Place ; sh:property [ sh:path e:code ; sh:pattern '^[0-9]{5}$' ]"
    investigated(place, rows, f"e:Shape a sh:NodeShape ; {rule} .")
    first = tried()[0]
    assert (first["repair"], first["outcome"]) == ("pad-number", "cleared")


def test_values_that_were_written_as_one_are_split(place: Path) -> None:
    kinds = ("history", "theory", "edition", "teaching")
    rows = [
        f'e:t{n} a e:Project ; e:task "{kinds[n % 4]}; {kinds[n % 3]}" .'
        if n % 6 == 0
        else f'e:t{n} a e:Project ; e:task "{kinds[n % 4]}" .'
        for n in range(90)
    ]
    listed = " ".join(f"'{kind}'" for kind in kinds)
    rule = f"sh:targetClass e:Project ; sh:property [ sh:path e:task ; sh:in ( {listed} ) ]"
    investigated(place, rows, f"e:Shape a sh:NodeShape ; {rule} .")
    first = tried()[0]
    assert (first["repair"], first["outcome"]) == ("split-value", "cleared")
