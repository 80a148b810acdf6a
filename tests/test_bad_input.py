"""Bad input: each gives one clear sentence and the right exit code, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import gzip
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, beside
from tests.cli_support import PREFIXES, SHAPES, Ran, process, run, write_graph

GOOD = PREFIXES + 'ex:a a ex:Thing ; ex:name "a" ; ex:size 3 .\n'
NT = "<http://example.org/{}> <http://example.org/name> {} .\n"
XML = (
    '<?xml version="1.0"?>\n<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:e="http://example.org/">\n{}\n</r:RDF>'
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, but for good shapes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    return tmp_path


def refused(done: Ran, sentence: str, code: int = 2) -> None:
    """Hold a command to one sentence (after its notices), the code, and to leaving nothing."""
    assert done.code == code, done.err
    assert done.out == ""
    assert done.sentences, "nothing was said"
    assert re.search(sentence, done.sentences[-1]), done.err
    assert all(line.startswith("kgreason: ") for line in done.sentences), done.err
    assert len(done.sentences[-1]) < 600
    assert "Traceback" not in done.err
    assert not Path(".kgreason").exists()
    assert not list(Path().glob("*.tmp")) + list(Path().glob(".*.tmp"))


def investigate(*args: str | Path, **options: Any) -> Ran:
    return run("investigate", *args, "--out", "result.md", **options)


# Data

BROKEN: list[tuple[str, bytes, str]] = [
    ("empty.ttl", b"", r"empty\.ttl: the file is empty\.$"),
    ("blank.nt", b" \n\n", r"blank\.nt: the file is empty\.$"),
    ("empty.ttl.gz", gzip.compress(b"", mtime=0), r"empty\.ttl\.gz: the file is empty\.$"),
    ("nothing.ttl", b"# no triples\n", r"There are no triples in nothing\.ttl; is it the right"),
    ("nothing.jsonld", b"{}", r"There are no triples in nothing\.jsonld"),
    (
        "text.ttl",
        b"To be,\nor not to be.",
        r"text\.ttl: line 1, column 1: .*To is not.*; mend it there, or give --lenient",
    ),
    ("page.ttl", b"<html><body>hi</body></html>", r"page\.ttl: line 1, column 13: "),
    (
        "image.ttl",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        r"image\.ttl: this is no text, so it is no RDF",
    ),
    ("half.ttl", GOOD.encode()[:-8], r"half\.ttl: line 4, .*(end of file|expected)"),
    (
        "third.nt",
        (NT.format("a", '"a"') * 2 + "rubbish\n").encode(),
        r"third\.nt: line 3, column 1",
    ),
    (
        "cut.ttl.gz",
        gzip.compress(GOOD.encode() * 50, mtime=0)[:-20],
        r"cut\.ttl\.gz: the gzip file is cut off",
    ),
    ("plain.nt.gz", b"<a:a> <a:a> <a:a> .", r"plain\.nt\.gz: the gzip file is cut off or broken"),
    (
        "flipped.nt.gz",
        gzip.compress(GOOD.encode(), mtime=0)[:20] + b"\xff" * 30,
        r"cut off or broken",
    ),
    (
        "latin.ttl",
        GOOD.replace('"a"', '"ä"').encode("latin-1"),
        r"latin\.ttl: line 4: the text is not UTF-8 \(byte 0xE4\); convert it.*iconv -f LATIN1",
    ),
    (
        "wide.ttl",
        GOOD.encode("utf-16"),
        r"wide\.ttl: line 1: the text is not UTF-8.*iconv -f UTF-16",
    ),
    ("data.csv", b"a,b\n1,2\n", r"data\.csv: the ending \.csv is not known; use one of \.ttl"),
    (
        "spaces.ttl",
        (GOOD + "ex:b ex:knows <http://example.org/b c> .").encode(),
        r"spaces\.ttl: line 5, column 15: .*--lenient takes such IRIs",
    ),
    (
        "quotes.nt",
        NT.format("a", '<http://example.org/"b">').encode(),
        r"quotes\.nt: line 1, column \d+: .*--lenient takes such IRIs",
    ),
    (
        "spaces.rdf",
        XML.format(
            '<r:Description r:about="http://example.org/a b"/>\n'
            '<e:X r:about="http://example.org/a b"/>'
        ).encode(),
        r"spaces\.rdf: line 3: .*--lenient takes",
    ),
    ("broken.rdf", XML.format("<e:X>").encode(), r"broken\.rdf: line 4: "),
    (
        "silent.jsonld",
        b'{"@id": "http://example.org/a",\n "http://example.org/p": {"@id": "b c:d>"}}',
        r"silent\.jsonld: line 2: 'b c:d>' is no valid IRI|silent\.jsonld: .*is no valid IRI",
    ),
    (
        "remote.jsonld",
        b'{"@context": "http://127.0.0.1:9/c", "@id": "http://example.org/a"}',
        r"remote\.jsonld: it has a remote @context; nothing is ever fetched",
    ),
    ("cut.jsonld", b'{"@id": "http://example.org/a",', r"cut\.jsonld: line 1, column \d+"),
]


@pytest.mark.parametrize(("name", "content", "sentence"), BROKEN, ids=[b[0] for b in BROKEN])
def test_a_broken_file_is_named_with_its_line(name: str, content: bytes, sentence: str) -> None:
    Path(name).write_bytes(content)
    refused(investigate(name, "--shapes", "shapes.ttl"), sentence)
    assert not Path("result.md").exists()


def test_a_missing_file_among_good_ones() -> None:
    Path("good.ttl").write_text(GOOD)
    done = investigate("good.ttl", "missing.ttl", "good.ttl", "--shapes", "shapes.ttl")
    refused(done, r"missing\.ttl: there is no such file or folder\.$")


def test_a_folder_without_graphs() -> None:
    Path("folder").mkdir()
    (Path("folder") / "readme.txt").write_text("nothing here")
    done = investigate("folder", "--shapes", "shapes.ttl")
    refused(done, r"There is no RDF in folder; give files that end in \.ttl, ")


def test_a_name_that_is_no_path() -> None:
    for name in ("x" * 5000, "a\nb.ttl", "\udcff.ttl", ""):
        done = investigate(name, "--shapes", "shapes.ttl")
        assert done.code == 2
        assert "Traceback" not in done.err


def test_a_file_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("secret.ttl").write_text(GOOD)

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    loading = importlib.import_module("kgreason.graph.bounds")
    monkeypatch.setattr(loading, "_open", refuse)  # root may read everything
    refused(
        investigate("secret.ttl", "--shapes", "shapes.ttl"),
        r"secret\.ttl: cannot be read \(Permission denied\)",
    )


def test_what_a_dot_hides_in_a_folder_is_not_read() -> None:
    folder = Path("folder")
    (folder / ".cache").mkdir(parents=True)
    (folder / "data.ttl").write_text("<urn:a> a <urn:B> .\n")
    (folder / ".hidden.ttl").write_text("")
    (folder / ".cache" / "old.ttl").write_text("this is no Turtle")
    done = investigate("folder", "--shapes", "shapes.ttl")
    assert "hidden" not in done.err
    assert "old" not in done.err
    assert done.code == 0


def test_a_store_folder_that_is_damaged() -> None:
    store = ox.Store("store")
    store.add(ox.Quad(ox.NamedNode("a:a"), ox.NamedNode("a:a"), ox.NamedNode("a:a")))
    store.flush()
    del store
    Path("store/CURRENT").write_text("rubbish")
    refused(
        investigate("store", "--shapes", "shapes.ttl"),
        r"store: the store folder cannot be opened \(.*\)\.",
    )


ACCEPTED: list[tuple[str, bytes, int, str]] = [
    (
        "spaces.ttl",
        (GOOD + "ex:b ex:knows <http://example.org/b c> .").encode(),
        4,
        r"1 IRI or language tag is not valid and mended, such as '.*b c' to '.*b%20c'",
    ),
    ("hashes.nt", NT.format("a", "<http://example.org/a##b>").encode(), 1, r"a#%23b"),
    ("quotes.nt", NT.format("a", '<http://example.org/"b">').encode(), 1, r"%22b%22"),
    ("breaks.nt", NT.format("a", r"<http://e/\u003E\u0020.\u0020\u007D>").encode(), 1, r"%3E%20"),
    (
        "lines.nt",
        (NT.format("a", '"a"') + "rubbish\n" + NT.format("b", '"b"')).encode(),
        2,
        r"lines\.nt: Lines passed over as unreadable: 1",
    ),
    (
        "latin.nt",
        (NT.format("a", '"a"') + NT.format("b", '"é"')).encode("latin-1"),
        1,
        r"latin\.nt: Lines passed over as unreadable: 1",
    ),
    ("end.ttl", (GOOD + "ex:b ex:knows ").encode(), 3, r"end\.ttl: read up to an error: line \d+"),
    (
        "break.jsonld",
        b'{"@id": "http://e/a> ;", "http://e/p": {"@value": "v", "@language": "e n"}}',
        1,
        r"break\.jsonld: 2 IRIs or language tags are not valid and mended",
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "triples", "notice"), ACCEPTED, ids=[a[0] for a in ACCEPTED]
)
@pytest.mark.slow
def test_lenient_accepts_and_counts(name: str, content: bytes, triples: int, notice: str) -> None:
    Path(name).write_bytes(content)
    refused_strictly = investigate(name, "--shapes", "shapes.ttl")
    assert refused_strictly.code == 2
    done = run("investigate", name, "--shapes", "shapes.ttl", "--lenient", "--format", "json")
    assert done.code == 0, done.err
    assert re.search(notice, done.err)
    assert json.loads(done.out)["graph"]["triples"] == triples
    assert run("audit").code in {0, 1}


def test_who_asks_for_the_fault_of_a_mended_iri_is_told_how_a_rule_sees_it() -> None:
    Path("blank.nt").write_text("<http://e/a> <http://e/p> <http://e/b c> .\n")
    ask = 'SELECT ?focus ?outcome { ?focus ?p ?o BIND (CONTAINS(STR(?o), " ") AS ?outcome) }'
    Path("blank.rq").write_text(ask)
    done = run("investigate", "blank.nt", "--outcome", "blank.rq", "--lenient")
    assert "a rule sees 'http://e/b%20c' where the data have 'http://e/b c'" in done.err


def test_encodings_that_are_right_are_read() -> None:
    Path("mark.ttl").write_bytes(GOOD.encode("utf-8-sig"))
    described = '<e:Thing r:about="http://example.org/ü"><e:name>ü</e:name></e:Thing>'
    text = XML.format(described).replace('"1.0"', '"1.0" encoding="{}"')
    Path("old.rdf").write_bytes(text.replace("{}", "ISO-8859-1").encode("latin-1"))
    Path("wide.rdf").write_bytes(text.replace("{}", "UTF-16").encode("utf-16"))
    for name in ("mark.ttl", "old.rdf", "wide.rdf"):
        done = run("symptoms", name, "--shapes", "shapes.ttl", "--format", "json")
        assert (done.code, done.out) == (0, "[]\n"), done.err


def test_entities_that_would_fill_the_memory_are_refused() -> None:
    bombs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    text = XML.format("<e:X><e:name>&e11;</e:name></e:X>")
    head = f'<!DOCTYPE r:RDF [<!ENTITY e0 "ha">{bombs}]>\n'
    Path("bomb.rdf").write_text(text.replace("<r:RDF", head + "<r:RDF"))
    refused(
        investigate("bomb.rdf", "--shapes", "shapes.ttl"),
        r"bomb\.rdf: its XML entities would grow far beyond the file; it is refused",
    )


@pytest.mark.slow
def test_literals_of_a_megabyte() -> None:
    lines = [PREFIXES]
    for i in range(30):
        name = "x" * (1 << 20) if i % 10 == 0 else "short"
        lines.append(f'ex:n{i} a ex:Thing ; ex:size {i} ; ex:name "{name}{i}" .\n')
    Path("large.ttl").write_text("".join(lines))
    Path("short.ttl").write_text(
        PREFIXES + "ex:S sh:targetClass ex:Thing ; sh:path ex:name ; sh:maxLength 9 ."
    )
    done = run("investigate", "large.ttl", "--shapes", "short.ttl", "--out", "r.html")
    assert done.code == 0, done.err
    assert Path("r.html").stat().st_size < 1 << 20
    result = json.loads(run("report", "--format", "json").out)
    assert [(s["population"], s["failing"]) for s in result["symptoms"]] == [(30, 3)]
    assert len(run("symptoms", "large.ttl", "--shapes", "short.ttl").out) < 1000


def test_text_that_tries_to_break_out() -> None:
    evil = [
        '"} ; DROP ALL ; INSERT DATA { <a:a> <a:a> <a:a> } #',
        "</script><script>alert(1)</script><img src=x onerror=alert(2)>",
        "$(touch pwned) `touch pwned` ; touch pwned",
        "{{ 7 * 7 }} {% raw %} {# #}",
        "\x1b[31mred\x1b[0m \x07 \u202egnp.exe",
        "[bold]x[/bold] | a | b | ``` <!-- -->",
        "x\x85PREFIX trails: <http://evil/>\u2028@prefix prov: <http://evil/> .\u2029} } ;",
    ]
    lines = [PREFIXES]
    for i in range(40):
        text = json.dumps(evil[i % len(evil)])
        name = f" ; ex:name {text}" if i % 2 else ""
        lines.append(f"ex:n{i} a ex:Thing ; ex:kind {text} ; ex:size 99 {name} .\n")
    folder = Path("$(touch pwned);`touch pwned`' \"<b>")
    folder.mkdir()
    (folder / "<script>alert(3)<!--.ttl").write_text("".join(lines), encoding="utf-8")
    ledger = Path("led'ger $(touch pwned)")
    done = run(
        "investigate",
        folder,
        "--shapes",
        "shapes.ttl",
        "--ledger",
        ledger,
        "--question",
        evil[1] + evil[-1],
        "--out",
        "$(touch pwned).html",
    )
    assert done.code == 0, done.err
    page = Path("$(touch pwned).html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert not Path("pwned").exists()
    result = json.loads(run("report", "--ledger", ledger, "--format", "json").out)
    assert result["question"] == evil[1] + evil[-1]
    turtle = run("report", "--ledger", ledger, "--format", "ttl").out.encode()
    kept = {triple.object.value for triple in ox.parse(turtle, format=ox.RdfFormat.TURTLE)}
    assert result["question"] in kept
    assert run("audit", "--ledger", ledger).code == 0
    assert "49" not in {h["statement"] for s in result["symptoms"] for h in s["hypotheses"]}
    count = "SELECT (COUNT(*) AS ?n) { GRAPH <a:a> { ?s ?p ?o } }"
    assert run("query", count, "--ledger", ledger, "--format", "csv").out.split() == ["n", "0"]
    table = run("query", "SELECT ?v { ?c trails:value ?v }", "--ledger", ledger)
    assert "\x1b" not in table.out
    assert "\u202e" not in table.out
    again = run("resume", "--ledger", ledger, "--format", "json")
    assert json.loads(again.out) == result


# Shapes

S = "ex:S a sh:NodeShape ; sh:targetClass ex:Thing ; "
UNUSABLE: list[tuple[str, str, str]] = [
    ("empty", "", r"there is no SHACL in it"),
    ("no SHACL", PREFIXES + "ex:S a ex:Shape .", r"s\.ttl: there is no SHACL in it"),
    ("syntax", PREFIXES + "ex:S a\n sh:NodeShape ;; sh:path , .", r"s\.ttl: line 5"),
    (
        "literal path",
        PREFIXES + S + 'sh:property [ sh:path "x" ; sh:minCount 1 ] .',
        r"no shape can be used.*<http://example\.org/S>: sh:path is the literal",
    ),
    (
        "no number",
        PREFIXES + S + 'sh:property [ sh:path ex:name ; sh:minCount "x" ] .',
        r"no shape can be used.*sh:minCount is \"x\"",
    ),
    (
        "loop",
        PREFIXES + S + "sh:property ex:P . ex:P sh:path ex:name ; sh:property ex:P .",
        r"no shape can be used.*leads back to the shape",
    ),
    ("broken list", PREFIXES + S + "sh:or ex:list .", r"no shape can be used.*sh:or is no list"),
    (
        "broken query",
        PREFIXES + S + 'sh:sparql [ sh:select "SELECT $this { $this " ] .',
        r"no shape can be used.*query",
    ),
    (
        "service",
        PREFIXES
        + S
        + 'sh:sparql [ sh:select "SELECT $this { SERVICE <http://e/> { $this ?p ?o } }" ] .',
        r"no shape can be used.*SERVICE",
    ),
    (
        "breaks out",
        PREFIXES
        + S.replace("ex:Thing", r"<http://e/\u003E\u0020\u007D>")
        + "sh:property [ sh:path ex:name ; sh:minCount 1 ] .",
        r"no valid IRI",
    ),
    (
        "deep",
        PREFIXES + S + "sh:not [ " * 400 + "sh:nodeKind sh:IRI" + " ]" * 400 + " .",
        r"nested too deeply",
    ),
]


@pytest.mark.parametrize(("name", "text", "sentence"), UNUSABLE, ids=[u[0] for u in UNUSABLE])
def test_shapes_of_which_none_can_be_used(name: str, text: str, sentence: str) -> None:
    Path("data.ttl").write_text(GOOD)
    Path("s.ttl").write_text(text)
    refused(investigate("data.ttl", "--shapes", "s.ttl"), sentence)
    assert name


@pytest.mark.parametrize("args", [["--shapes", "no.ttl"], ["--shapes", "shapes.ttl", "no.ttl"]])
def test_shapes_that_are_not_there(args: list[str]) -> None:
    Path("data.ttl").write_text(GOOD)
    refused(investigate("data.ttl", *args), r"no\.ttl: there is no such file")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "latin.ttl",
            (SHAPES + 'ex:S ex:p "é" .').encode("latin-1"),
            r"latin\.ttl: line \d+: .*iconv -f LATIN1",
        ),
        ("wide.ttl", SHAPES.encode("utf-16"), r"wide\.ttl: line 1: .*iconv -f UTF-16"),
        (
            "cut.ttl.gz",
            gzip.compress(SHAPES.encode(), mtime=0)[:60],
            r"cut\.ttl\.gz: the gzip file is",
        ),
        (
            "bad.ttl.gz",
            gzip.compress(b"x" * 9999, mtime=0)[:12] + b"\xff" * 40,
            r"bad\.ttl\.gz: the gzip",
        ),
        ("long.ttl", b"x" * 9999, r"long\.ttl: line 1, column 1: x{200} …; mend it there\.$"),
    ],
)
def test_shapes_that_cannot_be_read(name: str, content: bytes, sentence: str) -> None:
    Path("data.ttl").write_text(GOOD)
    Path(name).write_bytes(content)
    refused(investigate("data.ttl", "--shapes", name), sentence)


def test_shapes_with_a_byte_order_mark() -> None:
    Path("data.ttl").write_text(GOOD)
    Path("mark.ttl").write_bytes(SHAPES.encode("utf-8-sig"))
    done = run("symptoms", "data.ttl", "--shapes", "mark.ttl", "--format", "json")
    assert (done.code, done.out) == (0, "[]\n"), done.err


REPORT = (
    PREFIXES
    + """[] a sh:ValidationReport ; sh:conforms false ; sh:result [ a sh:ValidationResult ;
  sh:focusNode ex:n0 ; sh:resultPath ex:name ; sh:resultSeverity sh:Violation ;
  sh:sourceShape ex:NameShape ; sh:sourceConstraintComponent sh:MinCountConstraintComponent ] .
"""
)


def test_a_report_that_cannot_be_used() -> None:
    data = write_graph(Path("graph"))
    Path("report.ttl").write_text(REPORT)
    Path("no.rq").write_text("SELECT ?node { ?node a ?type }")
    Path("bad.rq").write_text("SELECT ?focus {\n ?focus a }")
    for args, sentence in (
        (["shapes.ttl"], r"shapes\.ttl: there is no validation report in it"),
        (["missing.ttl"], r"missing\.ttl: there is no such file"),
        (["report.ttl", "--population", "no.rq"], r"the query must give \?focus"),
        (["report.ttl", "--population", "bad.rq"], r"does not parse: line 2, column 11"),
        (["report.ttl", "--population", "missing.rq"], r"missing\.rq: there is no such file"),
    ):
        refused(investigate(data, "--violations", *args), sentence)


def test_a_report_alone_only_groups() -> None:
    data = write_graph(Path("graph"))
    Path("report.ttl").write_text(REPORT)
    done = run("investigate", data, "--violations", "report.ttl", "--format", "json")
    assert done.code == 0, done.err
    assert [s["verdict"] for s in json.loads(done.out)["symptoms"]] == ["inconclusive"]


def test_shapes_of_no_known_format() -> None:
    Path("data.ttl").write_text(GOOD)
    Path("shapes.txt").write_text(SHAPES)
    refused(investigate("data.ttl", "--shapes", "shapes.txt"), r"shapes\.txt: the ending \.txt")
    Path("notes").mkdir()
    Path("notes", "read.me").write_text(SHAPES)
    refused(investigate("data.ttl", "--shapes", "notes"), r"notes: no file in this folder ends in")


def test_an_ill_formed_shape_among_good_ones_is_named_and_passed_over() -> None:
    write_graph(Path("graph"))
    text = SHAPES + 'ex:Bad sh:targetClass ex:Thing ; sh:path ex:name ; sh:maxLength "long" .'
    Path("s.ttl").write_text(text)
    done = run("symptoms", "graph/data", "--shapes", "s.ttl", "--format", "json")
    assert done.code == 0
    assert re.search(r'<http://example.org/Bad>: sh:maxLength is "long".*passed over', done.err)
    assert len(json.loads(done.out)) == 2


def test_strict_refuses_ill_formed_shapes() -> None:
    Path("data.ttl").write_text(GOOD)
    text = SHAPES + 'ex:Bad sh:targetClass ex:Thing ; sh:path ex:name ; sh:maxLength "long" .'
    Path("s.ttl").write_text(text)
    refused(investigate("data.ttl", "--shapes", "s.ttl", "--strict"), r"sh:maxLength is \"long\"")


HARMLESS: list[tuple[str, str, str]] = [
    (
        "no target",
        PREFIXES + "ex:S a sh:NodeShape ; sh:property [ sh:path ex:name ; sh:minCount 1 ] .",
        r"no shape has a target, so nothing is checked",
    ),
    (
        "no nodes",
        PREFIXES
        + S.replace("ex:Thing", "ex:Nothing")
        + "sh:property [ sh:path ex:name ; sh:minCount 1 ] .",
        r"without a node to look at",
    ),
    (
        "recursion",
        PREFIXES + S + "sh:property [ sh:path ex:knows ; sh:node ex:S ] .",
        r"refer to one another in a circle, so pySHACL checks it",
    ),
    ("conform", SHAPES, r"The data conform"),
    (
        "sh:js and sh:rule",
        PREFIXES
        + S
        + "sh:js [ ] ; sh:rule [ ] ; sh:property [ sh:path ex:name ; sh:minCount 1 ] .",
        r"in JavaScript \(sh:js\) of <http://example\.org/S>\.(?s:.)*the rules \(sh:rule\) would",
    ),
]


@pytest.mark.parametrize(("name", "text", "notice"), HARMLESS, ids=[h[0] for h in HARMLESS])
def test_shapes_that_find_nothing_are_said_to(name: str, text: str, notice: str) -> None:
    Path("data.ttl").write_text(GOOD)
    Path("s.ttl").write_text(text)
    done = run("investigate", "data.ttl", "--shapes", "s.ttl", "--format", "json")
    assert done.code == 0, done.err
    assert re.search(notice, done.err)
    conforms = "The data conform" in done.err
    assert conforms is (name in {"recursion", "conform", "sh:js and sh:rule"})
    assert conforms or "Nothing was checked" in done.err
    assert json.loads(done.out)["symptoms"] == []


def test_only_and_severity_that_fit_nothing() -> None:
    Path("data.ttl").write_text(GOOD)
    only = investigate("data.ttl", "--shapes", "shapes.ttl", "--only", "http://example.org/None")
    refused(only, r"No constraint belongs to http://example\.org/None")
    severity = investigate("data.ttl", "--shapes", "shapes.ttl", "--severity", "terrible")
    refused(severity, r"--severity terrible: use violation, warning, info or the IRI")


# Queries

QUERIES: list[tuple[str, str, str]] = [
    ("empty", " \n", r"q\.rq: the query is empty"),
    ("no focus", "SELECT ?node ?outcome { ?node a ?outcome }", r"q\.rq: .*\?focus is missing"),
    ("neither", "SELECT ?x { ?x a ?y }", r"q\.rq: .*\?focus and \?outcome are missing"),
    (
        "a well-known prefix",
        "SELECT ?focus ?outcome { ?focus a ?o BIND (xsd:boolean(?o) AS ?outcome) }",
        r"prefix xsd:; begin with PREFIX xsd: <http://www\.w3\.org/2001/XMLSchema#>",
    ),
    ("no outcome", "SELECT ?focus { ?focus a ?type }", r"q\.rq: .*\?outcome is missing"),
    (
        "syntax",
        "SELECT ?focus ?outcome {\n  ?focus a ex:Thing\n}",
        r"q\.rq: the query does not parse: line 2, column 12, at 'ex:Thing': Prefix not found",
    ),
    (
        "brace",
        "SELECT ?focus ?outcome {\n ?focus a ?outcome .\n",
        r"q\.rq: the query does not parse: line 3, column 1: it ends too early",
    ),
    (
        "stop",
        "SELECT ?focus ?outcome {\n ?focus ?outcome }\n ORDER BY ?focus",
        r"q\.rq: the query does not parse: line 2, column 18, at '}'",
    ),
    (
        "update",
        "PREFIX ex: <http://example.org/>\nDELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        r"q\.rq: the query does not parse: line 2, column 1, .*Updates are not allowed here",
    ),
    ("drop", "DROP ALL", r"q\.rq: the query does not parse: line 1, .*Updates are not allowed"),
    (
        "service",
        "SELECT ?focus ?outcome { SERVICE <http://127.0.0.1:9/> { ?focus a ?outcome } }",
        r"q\.rq: SERVICE is off; allow it with --allow-service",
    ),
    ("ask", "ASK { ?focus a ?outcome }", r"q\.rq|SELECT"),
    (
        "deep",
        "SELECT ?focus ?outcome { " + "{" * 30_000 + "}" * 30_000 + " }",
        r"q\.rq: the query cannot be read; it is nested too deeply",
    ),
    (
        "no rows",
        "SELECT ?focus ?outcome { ?focus a <http://e/None> ; ?p ?outcome }",
        r"q\.rq: the query gives no rows",
    ),
    (
        "unbound",
        "SELECT ?focus ?outcome { ?focus a ?kind BIND (1 / ?kind > 2 AS ?outcome) }",
        r"q\.rq: the query gives [0-9]+ rows on this data, and \?outcome is unbound in every one",
    ),
]


def test_an_outcome_that_is_true_and_false_is_told() -> None:
    Path("data.ttl").write_text(GOOD + "ex:b a ex:Thing ; ex:name ex:c .\n")
    # Of a one value is an IRI (its class), of b two; each has a row for each of its values.
    Path("q.rq").write_text("SELECT ?focus ?outcome { ?focus ?p ?o BIND (isIRI(?o) AS ?outcome) }")
    told = investigate("data.ttl", "--outcome", "q.rq").err
    assert "q.rq: for 1 of 2 nodes ?outcome is both true and false; they are taken to" in told


def test_an_outcome_that_all_nodes_have_is_told() -> None:
    Path("data.ttl").write_text(GOOD)
    Path("q.rq").write_text("SELECT ?focus ?outcome { ?focus a ?c BIND (true AS ?outcome) }")
    told = investigate("data.ttl", "--outcome", "q.rq").err
    assert "nodes have the outcome, so there are none to compare them with" in told


@pytest.mark.parametrize(("name", "text", "sentence"), QUERIES, ids=[q[0] for q in QUERIES])
def test_an_outcome_query_that_cannot_be_used(name: str, text: str, sentence: str) -> None:
    Path("data.ttl").write_text(GOOD)
    Path("q.rq").write_text(text)
    refused(investigate("data.ttl", "--outcome", "q.rq"), sentence)
    assert name


def test_an_outcome_query_that_does_not_end_is_stopped() -> None:
    lines = [f"<http://e/{i}> <http://e/p> <http://e/{i + 1}> .\n" for i in range(400)]
    Path("data.nt").write_text("".join(lines))
    product = " ".join(f"?s{i} ?p{i} ?o{i} ." for i in range(6))
    Path("q.rq").write_text(
        f"SELECT ?focus ?outcome {{ ?focus ?p ?o . {{ SELECT (COUNT(*) AS ?outcome) "
        f"{{ {product} }} }} }}"
    )
    done = investigate("data.nt", "--outcome", "q.rq", "--query-seconds", "0.5")
    refused(done, r"q\.rq: the query was stopped after 0\.5 s", code=1)


def test_options_that_do_not_go_together() -> None:
    Path("data.ttl").write_text(GOOD)
    Path("q.rq").write_text("SELECT ?focus ?outcome { ?focus a ?outcome }")
    for args, sentence in (
        (["--outcome", "q.rq", "--shapes", "shapes.ttl"], r"--outcome stands in place of"),
        (["--shapes", "shapes.ttl", "--at", "3"], r"--at cuts the number"),
        (["--outcome", "q.rq", "--at", "nan"], r"--at must be a number"),
        (["--shapes", "shapes.ttl", "--population", "q.rq"], r"--population goes with"),
        (["--shapes", "shapes.ttl", "--max-hypotheses", "0"], r"--max-hypotheses must be at least"),
        (["--shapes", "shapes.ttl", "--max-seconds", "-1"], r"--max-seconds must be more than 0"),
        (["--shapes", "shapes.ttl", "--query-seconds", "inf"], r"--query-seconds must be a number"),
        (["--shapes", "shapes.ttl", "--policy", "none"], r"There is no policy 'none'; there are"),
        ([], r"Give --shapes FILE, --axioms FILE, --violations FILE or --outcome FILE"),
    ):
        refused(run("investigate", "data.ttl", *args), sentence)


# The ledger


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    data = write_graph(folder)
    done = run(
        "investigate", data, "--shapes", folder / "shapes.ttl", "--ledger", folder / "ledger"
    )
    assert done.code == 0, done.err
    return folder / "ledger"


ASKED = ["report", "audit", "resume", "history which-hypotheses", "query ASK{}"]
WORDS = [command.split(" ") for command in ASKED]


@pytest.mark.parametrize("words", WORDS, ids=[w[0] for w in WORDS])
def test_no_ledger(words: list[str]) -> None:
    refused(run(*words), r"\.kgreason: there is no ledger here; run `kgreason investigate` first")
    Path("file").write_text("x")
    refused(run(*words, "--ledger", "file"), r"file: there is no ledger here")


@pytest.mark.parametrize("words", WORDS, ids=[w[0] for w in WORDS])
def test_no_such_investigation(ledger: Path, words: list[str]) -> None:
    done = run(*words, "I99", "--ledger", ledger)
    refused(done, r"There is no investigation I?99 in the ledger .*; it has I1\.")


@pytest.mark.parametrize("words", [*WORDS, ["investigate"]], ids=lambda w: w[0])
def test_a_ledger_of_another_version(ledger: Path, words: list[str]) -> None:
    shutil.copytree(ledger, "old")
    about = ox.NamedNode("urn:kgreason:ledger")
    store = ox.Store("old")
    store.remove(next(store.quads_for_pattern(about, TRAILS.softwareVersion, None, about)))
    store.add(ox.Quad(about, TRAILS.softwareVersion, ox.Literal("0"), about))
    store.flush()
    del store
    Path("data.ttl").write_text(GOOD)
    args = ["data.ttl", "--shapes", "shapes.ttl"] if words == ["investigate"] else []
    done = run(*words, *args, "--ledger", "old")
    refused(done, r"the ledger old is of version 0, this kgreason reads 3; use another --ledger")


@pytest.mark.parametrize("words", [*WORDS, ["investigate"]], ids=lambda w: w[0])
def test_a_store_that_is_no_ledger_and_a_damaged_one(ledger: Path, words: list[str]) -> None:
    store = ox.Store("other")
    store.add(ox.Quad(ox.NamedNode("a:a"), ox.NamedNode("a:a"), ox.NamedNode("a:a")))
    store.flush()
    del store
    before = sorted(p.name for p in Path("other").iterdir())
    Path("data.ttl").write_text(GOOD)
    args = ["data.ttl", "--shapes", "shapes.ttl"] if words == ["investigate"] else []
    refused(run(*words, *args, "--ledger", "other"), r"a store that holds something else")
    assert sorted(p.name for p in Path("other").iterdir()) == before
    shutil.copytree(ledger, "damaged")
    Path("damaged/CURRENT").write_text("rubbish")
    refused(run(*words, *args, "--ledger", "damaged"), r"damaged: the ledger cannot be opened")


def test_a_ledger_in_use(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "SECONDS", 0.1)
    Path("data.ttl").write_text(GOOD)
    shutil.copytree(ledger, "used")
    handle = os.open("used/kgreason.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        done = investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", "used")
        reading = run("report", "--ledger", "used")
    finally:
        os.close(handle)
    refused(done, r"used: another process is writing to this ledger; wait for it")
    refused(reading, r"used: another process is writing to this ledger, and has given no copy")
    with Ledger.write(Path("used")):  # by another thread of this process
        assert investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", "used").code == 0
    assert investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", "used").code == 0


def test_a_folder_of_other_files_is_no_ledger() -> None:
    Path("data.ttl").write_text(GOOD)
    done = investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", ".")
    refused(done, r"\.: this folder holds other files \(data\.ttl, …\); give --ledger an empty")
    done = investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", "data.ttl")
    refused(done, r"data\.ttl: this is a file; give --ledger a folder")
    done = investigate("data.ttl", "--shapes", "shapes.ttl", "--ledger", "data.ttl/x")
    refused(done, r"data\.ttl: this is a file")


def test_a_folder_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("data.ttl").write_text(GOOD)
    Path("locked").mkdir(mode=0o555)
    if os.geteuid() == 0:  # root may write everywhere
        allowed = os.access
        monkeypatch.setattr(
            os, "access", lambda path, mode: Path(path).name != "locked" and allowed(path, mode)
        )
    done = run("investigate", "data.ttl", "--shapes", "shapes.ttl", "--ledger", "locked/ledger")
    refused(done, r"locked/ledger: the ledger cannot be written \(no permission in .*locked\)")
    done = run("investigate", "data.ttl", "--shapes", "shapes.ttl", "--out", "locked/result.md")
    refused(done, r"locked/result\.md: no permission to write this file")


def test_a_result_that_cannot_be_written_is_told_before_the_work() -> None:
    Path("data.ttl").write_text(GOOD)
    args = ("investigate", "data.ttl", "--shapes", "shapes.ttl", "--out")
    refused(run(*args, "."), r"\.: this is a folder; give --out a file")
    refused(run(*args, "no/result.md"), r"no/result\.md: there is no folder no; make it first")


def test_a_result_is_written_as_a_whole_or_not_at_all(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    Path("result.md").write_text("what was there")
    monkeypatch.setattr(os, "fsync", full)
    for name in ("result.md", "new.md"):
        done = run("report", "--ledger", ledger, "--out", name)
        refused(done, rf"{name}: cannot be written \(No space left on device\)", code=1)
    assert Path("result.md").read_text() == "what was there"
    assert sorted(p.name for p in Path().iterdir()) == ["result.md", "shapes.ttl"]


def test_a_device_is_written_to_and_not_replaced(ledger: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    assert run("report", "--ledger", ledger, "--out", "/dev/null").code == 0
    done = run("report", "--ledger", ledger, "--out", "/dev/full")
    refused(done, r"/dev/full: cannot be written \(No space left on device\)", code=1)
    assert not Path("/dev/null").is_file()
    assert not Path("/dev/full").is_file()


@pytest.mark.slow
def test_a_disk_that_fills_up_leaves_a_ledger_that_goes_on() -> None:
    """No file may grow beyond a limit, which the store meets as it would a full disk."""
    data = write_graph(Path("graph"))
    args = ("investigate", data, "--shapes", "shapes.ttl")

    def small(size: int) -> Any:
        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return limit

    none = process(*args, "--ledger", "none", preexec_fn=small(20_000))
    refused(none, r"none: the ledger cannot be opened for writing", code=2)
    assert not Path("none").exists()
    part = process(*args, "--ledger", "part", preexec_fn=small(1_000_000))
    assert part.code == 1, part.err
    assert len(part.sentences) == 1
    assert re.search(r"too large|No space|failed|cannot be written", part.err)
    assert "go on with `kgreason resume" in part.err
    done = process("resume", "--ledger", "part", "--format", "json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["symptoms"]) == 2


# Queries of the ledger

LEDGER_QUERIES = [
    q for q in QUERIES if q[0] in {"empty", "syntax", "brace", "update", "drop", "deep"}
]


@pytest.mark.parametrize(
    ("name", "text", "sentence"), LEDGER_QUERIES, ids=[q[0] for q in LEDGER_QUERIES]
)
def test_a_query_that_cannot_be_used(ledger: Path, name: str, text: str, sentence: str) -> None:
    Path("q.rq").write_text(text)
    refused(run("query", "@q.rq", "--ledger", ledger), sentence)
    as_text = run("query", text, "--ledger", ledger) if len(text) < 1000 else None
    assert as_text is None or as_text.code == 2
    assert name


def test_a_query_cannot_write_or_run_forever(ledger: Path) -> None:
    before = {p.name: p.read_bytes() for p in ledger.iterdir() if p.is_file()}
    text = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?a != ?l && ?b = ?l) }"
    done = run("query", text, "--ledger", ledger, "--query-seconds", "0.5")
    refused(done, r"the query: the query was stopped after 0\.5 s; make it narrower", code=1)
    refused(run("query", text, "--ledger", ledger, "--query-seconds", "0"), r"must be more than 0")
    service = run(
        "query", "SELECT * { FILTER(1<2) SERVICE <http://127.0.0.1:9/> {} }", "--ledger", ledger
    )
    refused(service, r"the query: SERVICE is off; allow it with --allow-service")
    refused(
        run("query", "SELECT (<http://e/f>(1) AS ?x) {}", "--ledger", ledger), r"custom function"
    )
    refused(
        run("query", "@no.rq", "--ledger", ledger), r"no\.rq: the query cannot be read \(No such"
    )
    Path("bad.rq").write_bytes(b"ASK {} # \xe9")
    refused(run("query", "@bad.rq", "--ledger", ledger), r"bad\.rq: the query is not UTF-8 text")
    refused(run("query", "--ledger", ledger), r"What do you ask\?")
    assert before == {p.name: p.read_bytes() for p in ledger.iterdir() if p.is_file()}


def test_the_process_of_a_query_may_not_take_all_memory(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = os.sysconf
    monkeypatch.setattr(
        os, "sysconf", lambda name: 10_000 if name == "SC_PHYS_PAGES" else pages(name)
    )
    text = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    done = run("query", text, "--ledger", ledger, "--query-seconds", "60")
    refused(done, r"the query: the query (takes too much memory|ended its process)", code=1)


def test_sigint_stops_a_process_with_one_sentence() -> None:
    lines = [f"<http://e/{i}> <http://e/p> <http://e/{i + 1}> .\n" for i in range(400)]
    Path("data.nt").write_text("".join(lines))
    product = " ".join(f"?s{i} ?p{i} ?o{i} ." for i in range(6))
    Path("q.rq").write_text(f"SELECT ?focus ?outcome {{ {product} }}")
    command = [sys.executable, "-m", "kgreason", "symptoms", "data.nt", "--outcome", "q.rq"]
    # A job in the background may have been told to ignore it, and what it starts would too.
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, heeded)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    if not children.exists():
        running.kill()
        pytest.skip("this system does not tell the children of a process")
    while not children.read_text() and running.poll() is None:
        time.sleep(0.01)  # until the query runs, in a process of its own
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, out) == (130, ""), err
    assert err.splitlines() == ["kgreason: stopped."]
