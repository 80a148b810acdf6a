"""What people type: short options, shapes in the wrong place, prefixes, stdin, narrow terminals."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import kgreason
from kgreason.cli import app
from kgreason.cli import output as written
from kgreason.record import Ledger
from kgreason.shacl.shapes import expanded
from tests.cli_support import run, write_graph

OWL = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ex: <http://example.org/> .
ex:Thing a owl:Class .
"""
XML = (
    '<?xml version="1.0"?><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<r:Description r:about="urn:a" r:type="urn:c"/></r:RDF>'
)
REPORT = "@prefix sh: <http://www.w3.org/ns/shacl#> .\n[] a sh:ValidationReport .\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_graph(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_short_options_are_the_long_ones() -> None:
    Path("more.ttl").write_text(Path("shapes.ttl").read_text(encoding="utf-8"), encoding="utf-8")
    for given in (("-s", "shapes.ttl", "more.ttl"), ("-sshapes.ttl", "more.ttl")):
        short = run("symptoms", "data", *given, "-f", "json", "-o", "out.json")
        assert short.code == 0, short.err
        told = json.loads(Path("out.json").read_text(encoding="utf-8"))
        assert [one["failing"] for one in told] == [27, 2]
    program = get_command(app)
    for name, command in program.commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            for long, short_ in (("--format", "-f"), ("--out", "-o")):
                if long in parameter.opts:
                    assert short_ in parameter.opts or name == "bench", name


@pytest.mark.usefixtures("place")
def test_what_was_given_as_data_by_mistake_is_named() -> None:
    Path("report.ttl").write_text(REPORT, encoding="utf-8")
    for given, meant in (
        ("shapes.ttl", "holds SHACL shapes; did you mean --shapes shapes.ttl?"),
        ("report.ttl", "validation report; did you mean --violations report.ttl?"),
        ("late.rq", "is a query; did you mean --outcome late.rq?"),
    ):
        done = run("investigate", "data", given)
        assert done.code == 2
        assert meant in done.err, done.err
    assert "Give --shapes FILE, --axioms FILE" in run("symptoms", "data").err


@pytest.mark.usefixtures("place")
def test_only_knows_the_prefixes_of_the_shapes() -> None:
    for only, names in (
        ("ex:NameShape", ["NameShape"]),
        ("ex:size", ["SizeShape"]),
        ("<http://example.org/size>", ["SizeShape"]),
    ):
        told = json.loads(
            run("symptoms", "data", "-s", "shapes.ttl", "--only", only, "-f", "json").out
        )
        assert [one["shape"].rpartition("/")[2] for one in told] == names
    done = run("symptoms", "data", "-s", "shapes.ttl", "--only", "no:size")
    assert done.code == 2
    assert "No constraint belongs to no:size" in done.err


def test_paths_are_written_with_full_iris() -> None:
    known = {"ex": "http://example.org/", "": "urn:x:"}
    for short, full in (
        ("^ex:a/(ex:b|:c)*", "^<http://example.org/a>/(<http://example.org/b>|<urn:x:c>)*"),
        ("<http://other.org/ex:a>", "<http://other.org/ex:a>"),
        ("http://other.org/ex", "http://other.org/ex"),
        ("urn:a:b", "urn:a:b"),
    ):
        assert expanded(short, known) == full


@pytest.mark.usefixtures("place")
def test_an_owl_file_may_be_turtle() -> None:
    Path("thing.owl").write_text(OWL, encoding="utf-8")
    xml = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="urn:x"/></rdf:RDF>'
    )
    Path("other.owl").write_text(xml, encoding="utf-8")
    Path("bare.owl").write_text("<urn:x> a <urn:y> .", encoding="utf-8")
    Path("shapes.owl").write_text(Path("shapes.ttl").read_text(encoding="utf-8"), encoding="utf-8")
    found = kgreason.symptoms(
        "data", shapes="shapes.owl", ontology=["thing.owl", "other.owl", "bare.owl"]
    )
    assert len(found) == 2


@pytest.mark.usefixtures("place")
def test_what_was_passed_over_in_a_folder_is_said() -> None:
    assert "passed over" not in run("symptoms", "data", "-s", "shapes.ttl").err
    for name in ("notes.txt", "table.xlsx", ".hidden"):
        (Path("data") / name).write_text("no RDF", encoding="utf-8")
    done = run("symptoms", "data", "-s", "shapes.ttl")
    assert "Read 2 files, passed over 2 with another ending: notes.txt, table.xlsx." in done.err


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("@prefix ex: <http://example.org/> . ex:a ex:b 1 .", 1),
        ("<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> <urn:d> .\n", 2),
        ('# two\n<urn:a> <urn:b> "x y"@en <urn:g> .\n<urn:a> <urn:b> <urn:c> <urn:g> .\n', 2),
        ('{"@id": "urn:a", "urn:b": "c"}', 1),
        (XML, 1),
        ("<urn:g> { <urn:a> <urn:b> <urn:c> }", 1),
    ],
)  # fmt: skip
def test_data_may_come_from_stdin(text: str, triples: int) -> None:
    asked = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    done = run("query", asked, "--data", "-", "-f", "csv", input=text)
    assert (done.code, done.out.split()) == (0, ["n", str(triples)]), done.err


@pytest.mark.usefixtures("place")
def test_symptoms_of_stdin() -> None:
    text = Path("data/south.ttl").read_text(encoding="utf-8")
    done = run("symptoms", "-", "-s", "shapes.ttl", "-f", "json", input=text)
    assert [one["failing"] for one in json.loads(done.out)] == [25, 1]
    empty = run("symptoms", "-", "-s", "shapes.ttl", input="")
    assert empty.code == 2
    assert "there is nothing on stdin" in empty.err


@pytest.mark.usefixtures("place")
def test_data_can_be_asked_as_they_are_loaded() -> None:
    asked = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"
    done = run("query", asked, "--data", "data", "-f", "csv")
    assert done.out.split() == ["g,n", "urn:src:north.ttl,118", "urn:src:south.ttl,95"]
    assert kgreason.query("data", "ASK { ?thing rdfs:label ?name }") is False
    for more, said in (
        (("--data", "gone"), "there is no such file"),
        (("--ontology", "late.rq"), "of use with --data"),
        (("I1", "--data", "data"), "no investigation"),
    ):
        wrong = run("query", asked, *more)
        assert wrong.code == 2
        assert said in wrong.err
    called = run("query", "SELECT * { SERVICE <http://a/> { ?s ?p ?o } }", "--data", "data")
    assert called.code == 2


def test_help_is_in_panels() -> None:
    text = run("--help").out
    places = [text.index(name) for name in ("Everyday", "Trust and audit", "For developers")]
    assert places == sorted(places)
    assert places[0] < text.index("│ investigate ") < text.index("│ nodes ") < places[1]
    assert places[1] < text.index("│ audit ") < places[2] < text.index("│ bench ")


def test_git_ignores_a_ledger(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with Ledger.write(tmp_path / "ledger"):
        pass
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    own = tmp_path / "ledger" / ".gitignore"
    own.write_text("# kept\n", encoding="utf-8")
    with Ledger.write(tmp_path / "ledger"):
        pass
    assert own.read_text(encoding="utf-8") == "# kept\n"


def test_a_narrow_terminal_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    iri = "https://example.org/a/rather/long/name"
    rows = [(iri, "some words that may be wrapped"), ("short", "")]

    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    for columns in (20, 40, 60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = written.table(("node", "what"), rows)
        words = text.split()
        assert iri in words
        assert {"some", "words", "wrapped"} <= set(words)
    assert "node" in text.splitlines()[0].split()
