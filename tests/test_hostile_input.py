"""Damaged and hostile input: no hang, no crash, no flood; one clear sentence instead."""

from __future__ import annotations

import gzip
import json
import re
import resource
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreason.base.errors import GraphError, OptionError
from kgreason.cli.options import size
from kgreason.graph import load
from kgreason.graph.bounds import check_depth
from kgreason.graph.reading import as_utf8, is_plain
from kgreason.inject.true_constraints import _matches
from kgreason.shacl.tokens import tokenize
from tests.cli_support import PREFIXES, SHAPES, Ran, process, run, write_graph

HANG = 240  # seconds; what is tested here takes a hundredth of that, or for ever
GOOD = PREFIXES + 'ex:a a ex:Thing ; ex:name "a" ; ex:size 3 .\n'
OPEN = b'<http://e/a> <http://e/p> "'
XML = (
    '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:e="http://example.org/">\n{}\n</r:RDF>'
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, but for good data and shapes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    (tmp_path / "good.ttl").write_text(GOOD, encoding="utf-8")
    return tmp_path


def refused(done: Ran, sentence: str, code: int = 2) -> None:
    assert done.code == code, done.err[-2000:]
    assert done.out == ""
    assert re.search(sentence, done.sentences[-1]), done.err[-2000:]
    assert all(line.startswith("kgreason: ") for line in done.sentences), done.err[-2000:]
    assert not Path(".kgreason").exists()


# Texts that would make an expression go back without bound

TWO_MB = 2_000_000
DAMAGED: list[tuple[str, bytes]] = [
    ("quote.nt", OPEN + b"never closed " * (TWO_MB // 13)),
    ("quote.ttl", OPEN + b"never closed\n" + b'<http://e/a> <http://e/p> "b" .\n' * 60_000),
    ("escapes.ttl", OPEN + rb"\"" * TWO_MB),
    ("escapes.nt.gz", gzip.compress(OPEN + rb"\"" * TWO_MB)),
    ("long.ttl", OPEN + b'""' + rb'\""" ' * TWO_MB),
    ("angle.ttl", b"<a" * TWO_MB),
    ("marks.ttl", b'"' * TWO_MB + b"x"),
    ("comments.rdf", XML.format("<!--" * TWO_MB).encode()),
    ("attributes.rdf", XML.format('<e:X a="' * TWO_MB).encode()),
    ("entities.rdf", b"<!DOCTYPE r [" + b'<!ENTITY a "' * (TWO_MB // 4)),
    ("quote.jsonld", b'{"@id": "a' + rb"\"" * TWO_MB),
]


@pytest.mark.parametrize(("name", "content"), DAMAGED, ids=[d[0] for d in DAMAGED])
@pytest.mark.parametrize("option", ["data", pytest.param("shapes", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_megabytes_after_a_missing_quote_are_refused(
    name: str, content: bytes, option: str
) -> None:
    Path(name).write_bytes(content)
    args = [name, "--shapes", "shapes.ttl"] if option == "data" else ["good.ttl", "--shapes", name]
    refused(process("symptoms", *args, timeout=HANG), re.escape(name) + ": ")


QUERIES: list[tuple[str, str]] = [
    ("escapes", 'SELECT ?focus ?outcome { ?focus a "' + r"\"" * 500_000),
    ("marks", "SELECT ?focus ?outcome { ?focus a '''" + r"\'''" * 300_000),
    ("dots", "SELECT ?focus ?outcome { ?focus a " + "a." * 150_000),
    ("colons", "SELECT ?focus ?outcome { ?focus a a:" + "." * 300_000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), QUERIES, ids=[q[0] for q in QUERIES])
def test_megabytes_of_a_broken_query_are_refused(name: str, text: str) -> None:
    Path("q.rq").write_text(text)
    refused(process("symptoms", "good.ttl", "--outcome", "q.rq", timeout=HANG), r"q\.rq: the query")
    select = json.dumps(text.replace("?focus", "$this"))
    Path("s.ttl").write_text(
        PREFIXES + f"ex:S sh:targetClass ex:Thing ; sh:sparql [ sh:select {select} ] ."
    )
    done = process("symptoms", "good.ttl", "--shapes", "s.ttl", timeout=HANG)
    refused(done, r"s\.ttl: no shape can be used")
    assert "".join(token.text for token in tokenize(text)) == text
    assert name


def test_a_pattern_of_shapes_does_not_go_back() -> None:
    long = "a" * 50_000 + "!"
    Path("long.ttl").write_text(PREFIXES + f'ex:a a ex:Thing ; ex:name "{long}" .')
    Path("s.ttl").write_text(
        PREFIXES + 'ex:S sh:targetClass ex:Thing ; sh:path ex:name ; sh:pattern "^(a+)+$" .'
    )
    done = process("symptoms", "long.ttl", "--shapes", "s.ttl", "--format", "json", timeout=HANG)
    assert [s["failing"] for s in json.loads(done.out)] == [1]
    assert not _matches(long, "^(a+)+$")  # as the benchmark of faults looks at it
    assert _matches("aaa", "^(a+)+$")
    assert not _matches("aaa", "(")


PLAIN = [
    *("<a:a> ", "<a:p> ", "<a:b> .\n", '"x" ', '"""y"z""" ', '"\\"" ', "ex:a_b ", "; ", "1.5 "),
    *("# it's [\n", '# a "quote\n', '# """\n', "_:b ", "[] ", "( ) ", "'q' ", '"', '"""', "\\"),
    *("<<", "<< <a:a> <a:p> 1 >> ", "{ } ", "_", "<http://e/#x> ", "#", "\n", '"new\nline"'),
]


@given(st.lists(st.sampled_from(PLAIN), max_size=12).map("".join))
def test_a_plain_file_has_no_blank_nodes_and_no_graphs(text: str) -> None:
    content = ("@prefix ex: <http://e/> .\n" + text).encode()
    if not is_plain(content, ox.RdfFormat.TURTLE):
        return
    try:
        quads = list(ox.parse(content, format=ox.RdfFormat.TURTLE, base_iri="file:///x"))
    except SyntaxError:
        return
    for quad in quads:
        assert not isinstance(quad.subject, ox.BlankNode | ox.Triple)
        assert not isinstance(quad.object, ox.BlankNode | ox.Triple)


def test_plain_files_are_known_as_such() -> None:
    turtle = b'# it\'s "a" [comment]\n<a:a> <a:p> "x_y[\\"" , """a"b\n(""" ; <a:q#(> <a:b_c> .\n'
    assert is_plain(turtle * 1000, ox.RdfFormat.TURTLE)
    for other in (
        b"_:b <a:p> 1 .",
        b"<a:a> <a:p> [] .",
        b"<a:a> <a:p> ( 1 ) .",
        b"<a:a> <a:p> 'x'",
    ):
        assert not is_plain(turtle + other, ox.RdfFormat.TURTLE)
    hidden = b'# """\n_:b <a:p> "x" .\n<a:a> <a:p> """y""" .\n'
    assert not is_plain(hidden, ox.RdfFormat.TURTLE)


# Nesting

N = 100_000
DEEP: list[tuple[str, str]] = [
    ("objects.jsonld", '{"@id":"http://e/a","http://e/p":' * N + '"x"' + "}" * N),
    ("short.jsonld", '{"@id":"http://e/a","http://e/p":' * 20_000 + '"x"' + "}" * 20_000),
    ("arrays.jsonld", '{"@id":"http://e/a","http://e/p":' + "[" * N + "1" + "]" * N + "}"),
    ("context.jsonld", '{"@context":' + '{"a":' * N + "1" + "}" * (N + 1)),
    ("graphs.jsonld", '{"@graph":\n' * N + "{}" + "}" * N),
    ("open.jsonld", '{"a":' * N),
    ("nodes.rdf", XML.format("<e:T><e:p>\n" * N + "</e:p></e:T>" * N)),
    ("literal.rdf", XML.format('<e:T><e:p r:parseType="Literal">' + "<e:p a='>'>" * N)),
    ("quoted.nt", "<a:a> <a:p> " + "<<( <a:p> <a:p> " * N + "<a:p>" + " )>>" * N + " ."),
    ("quoted.ttl", "<a:a> <a:p> " + "<< <a:p> <a:p> " * N + "1" + " >>" * N + " ."),
    ("hidden.ttl", "<a:a> <a:p\\'> " + "<<( <a:p> <a:p> " * N + "1" + " )>>" * N + " ."),
]


@pytest.mark.parametrize(("name", "text"), DEEP, ids=[d[0] for d in DEEP])
@pytest.mark.parametrize(
    "option", ["data", *(pytest.param(o, marks=pytest.mark.slow) for o in ("lenient", "shapes"))]
)
@pytest.mark.slow
def test_deep_nesting_is_refused_with_its_line(name: str, text: str, option: str) -> None:
    Path(name).write_text(text)
    args = (
        [name, "--shapes", "shapes.ttl"] if option != "shapes" else ["good.ttl", "--shapes", name]
    )
    if option == "lenient":
        args.append("--lenient")
    done = process("symptoms", *args, timeout=HANG)
    refused(done, rf"{re.escape(name)}: line \d+: .* nested more than [\d,]+ levels deep.*; ")


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("<a:a> <a:p> " + "[ <a:p> " * N + "1" + " ]" * N + " .", N + 1),
        ("<a:a> <a:p> " + "( " * N + "1" + " )" * N + " .", 2 * N + 1),
    ],
    ids=["blank nodes", "collections"],
)
@pytest.mark.slow
def test_turtle_may_be_nested_as_one_likes(text: str, triples: int) -> None:
    Path("deep.ttl").write_text(text)
    assert load([Path("deep.ttl")]).triples == triples


@pytest.mark.parametrize("option", ["--policy", "--calibration"])
@pytest.mark.slow
def test_files_of_rules_are_bounded_too(option: str) -> None:
    Path("deep.ttl").write_text(
        dict(DEEP)["quoted.ttl"].replace("<< ", "<<( ").replace(">>", ")>>")
    )
    args = ("good.ttl", "--shapes", "shapes.ttl", option, "deep.ttl", "--out", "r.md")
    done = process("investigate", *args, timeout=HANG)
    refused(done, r"deep\.ttl: line 1: triples about triples are nested more than 1,000 levels")


@pytest.mark.parametrize("inner", ["[ sh:not ", "[ sh:path [ sh:inversePath "])
@pytest.mark.slow
def test_shapes_nested_deeply_are_named(inner: str) -> None:
    ends = " ]" * inner.count("[") * 20_000
    text = f"ex:S sh:targetClass ex:Thing ; sh:property {inner * 20_000} ex:p {ends} ."
    Path("s.ttl").write_text(PREFIXES + text)
    done = process("symptoms", "good.ttl", "--shapes", "s.ttl", timeout=HANG)
    refused(done, r"s\.ttl: (shapes or paths are nested too deeply|no shape can be used)")


def test_what_only_looks_deep_is_read() -> None:
    brackets = json.dumps("{[" * 3000 + '"')
    objects = ",".join('{"@id": "http://e/x", "http://e/p": [[]]}' for _ in range(3000))
    flat = f'{{"@id": "http://e/a", "http://e/q": {brackets}, "http://e/p": [{objects}]}}'
    Path("flat.jsonld").write_text(flat)
    assert load([Path("flat.jsonld")]).triples > 0
    element = '<e:T><!-- <e:T> --><e:p a="</e:T>"><![CDATA[<e:T>]]></e:p><e:q e:r="/>"/></e:T>'
    path, content = Path("flat.rdf"), XML.format(element * 12_000).encode()
    check_depth(path, content, ox.RdfFormat.RDF_XML)
    turtle = ('<a:a> <a:p> \'<<\' , """<<""" , <a:b> . # <<\n' * 2000).encode()
    check_depth(path, turtle, ox.RdfFormat.TURTLE)
    deep = XML.format("<e:T><!-- </e:T> --><e:p a='</e:T>'>" * 12_000).encode()
    with pytest.raises(GraphError, match="line 2: it is nested"):
        check_depth(path, deep, ox.RdfFormat.RDF_XML)


def test_entities_in_single_quotes_and_in_masses_are_bounded() -> None:
    bombs = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 12))
    head = f"<!DOCTYPE r:RDF [<!ENTITY e0 'ha'>{bombs}]>\n"
    bomb = head + XML.format("<e:X><e:name>&e11;</e:name></e:X>")
    with pytest.raises(GraphError, match="entities would grow"):
        as_utf8(Path("bomb.rdf"), bomb.encode(), ox.RdfFormat.RDF_XML)
    many = "".join(f'<!ENTITY e{i} "&e{i - 1};&e{i - 1};">' for i in range(1, 50_000))
    with pytest.raises(GraphError, match="entities would grow"):
        as_utf8(Path("bomb.rdf"), (many + "&e49999;").encode(), ox.RdfFormat.RDF_XML)


# Memory


def limited(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


@pytest.mark.slow
def test_a_limit_of_memory_is_told_in_a_sentence() -> None:
    lines = (f'<http://e/{i % 9000}> <http://e/{i % 9}> "text {i}" .\n' for i in range(150_000))
    Path("large.nt").write_text("".join(lines))
    ends = []
    for megabytes in range(110, 300, 30):
        done = process(
            *("symptoms", "large.nt", "--shapes", "shapes.ttl", "--format", "json"),
            preexec_fn=limited(megabytes << 20),
            timeout=HANG,
        )
        ends.append(done.code)
        if done.code:
            refused(
                done,
                rf"^kgreason: there is not enough memory for this input under the limit of "
                rf"{megabytes} MB that `ulimit` tells; raise it, or give less data\.$",
                code=1,
            )
            assert len(done.sentences) == 1, done.err
    assert ends[0] == 1


PROGRAM = """
import os, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))
from kgreason.cli.ending import in_order
def program():
    {}
in_order(program)
"""


def watched(line: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM.format(line)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)


def test_native_code_that_gives_up_is_told_by_the_parent() -> None:
    for line in ("os.write(2, b'terminate called'); os.abort()", "os.kill(os.getpid(), 11)"):
        done = watched(line)
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(r"kgreason: there is not enough memory.*\n", done.stderr)
    done = watched("print('out'); print('err', file=sys.stderr); os.write(2, b'raw'); sys.exit(3)")
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\nraw")
    assert watched("raise MemoryError").returncode == 1
    assert watched("os.kill(os.getpid(), signal.SIGTERM)").returncode == -signal.SIGTERM


def test_a_signal_to_the_parent_reaches_the_child() -> None:
    line = "print('ready', flush=True); time.sleep(1000)"
    command = [sys.executable, "-c", PROGRAM.format(line)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(HANG) == -signal.SIGTERM


# What unpacks to more than was thought


def bomb(path: str, megabytes: int) -> None:
    packer = zlib.compressobj(level=1, wbits=31)
    block = b"\n" * (1 << 20)
    with Path(path).open("wb") as file:
        file.writelines(packer.compress(block) for _ in range(megabytes))
        file.write(packer.flush())


@pytest.mark.slow
def test_a_packed_file_is_not_unpacked_beyond_a_gigabyte() -> None:
    bomb("bomb.nt.gz", 1100)
    assert Path("bomb.nt.gz").stat().st_size < 10 << 20
    done = process(  # unpacked, it would not fit
        *("symptoms", "bomb.nt.gz", "--shapes", "shapes.ttl"),
        preexec_fn=limited(400 << 20),
        timeout=HANG,
    )
    refused(done, r"bomb\.nt\.gz: it unpacks to more than 1G; .* a larger --max-bytes, or the unp")


def test_what_a_packed_file_says_of_its_size_is_not_trusted() -> None:
    Path("parts.nt.gz").write_bytes(gzip.compress(b"\n" * 40_000_000) * 5 + gzip.compress(b"\n"))
    args = ("symptoms", "parts.nt.gz", "--shapes", "shapes.ttl", "--max-bytes", "64M")
    done = process(*args, preexec_fn=limited(400 << 20), timeout=HANG)
    refused(done, r"parts\.nt\.gz: it unpacks to more than 64M; .*--max-bytes")


@pytest.mark.parametrize("command", ["investigate", "symptoms"])
def test_every_packed_input_is_bounded(command: str) -> None:
    for name in ("data.ttl.gz", "shapes.ttl.gz", "ontology.ttl.gz", "report.ttl.gz"):
        Path(name).write_bytes(gzip.compress((GOOD if name[0] in "do" else SHAPES).encode()))
    good = ["good.ttl", "--shapes", "shapes.ttl"]
    for name, args in (
        ("data", ["data.ttl.gz", "--shapes", "shapes.ttl"]),
        ("shapes", ["good.ttl", "--shapes", "shapes.ttl.gz"]),
        ("ontology", [*good, "--ontology", "ontology.ttl.gz"]),
        ("report", ["good.ttl", "--violations", "report.ttl.gz"]),
    ):
        done = run(command, *args, "--max-bytes", "100")
        refused(done, rf"{name}\.ttl\.gz: it unpacks to more than 100 bytes; .*--max-bytes")
    assert run("symptoms", "data.ttl.gz", "--shapes", "shapes.ttl.gz").code == 0


def test_the_bound_is_kept_for_a_run_that_is_resumed() -> None:
    data = write_graph(Path("graph"))
    for file in data.iterdir():
        file.with_suffix(".ttl.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    args = ("investigate", data, "--shapes", "shapes.ttl", "--max-bytes", "1.5k", "--out", "r.md")
    refused(run(*args), r"north\.ttl\.gz: it unpacks to more than 1536 bytes")
    assert run(*args[:-4], "--max-bytes", "10kB", "--max-steps", "3", "--out", "r.md").code == 0
    select = "SELECT ?o { ?i trails:options ?o }"
    rows = run("query", select, "--format", "csv").out
    assert '""max_bytes"": 10240' in rows


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("5K", 5 << 10), ("1.5M", 3 << 19), ("2g", 2 << 30), ("1 TiB", 1 << 40), ("7B", 7)],
)
def test_sizes_have_units(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1X", "1e9", "nan", "0.1", "9" * 30])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"--max-bytes .*: give a number of bytes"):
        size(text)


# Standard streams that are closed, full or broken


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    data = write_graph(folder)
    args = ("--shapes", folder / "shapes.ttl", "--ledger", folder / "ledger")
    assert run("investigate", data, *args, "--max-steps", "30").code == 0
    return folder / "ledger"


COMMANDS: list[list[str]] = [
    ["report"],
    ["--help"],
    ["--version"],
    ["symptoms", "good.ttl", "--shapes", "shapes.ttl"],
    *(["audit"], ["query", "ASK {}"], ["history"], ["history", "which-hypotheses"]),
    *(["resume"], ["queries"], ["queries", "audit"]),
    *(["report", "--help"], ["report", "--format", "html"], ["repair", "I1", "--dry-run"]),
]
QUICK = 3
EACH = [
    pytest.param(words, marks=[] if i < QUICK else [pytest.mark.slow], id=" ".join(words))
    for i, words in enumerate(COMMANDS)
]


def ends(words: list[str], ledger: Path, shell: str) -> Ran:
    """Run a command with a redirection of the shell; gives its own exit code."""
    own = [] if words[0] in {"--help", "--version", "symptoms", "queries"} else ["--ledger", ledger]
    if "--help" in words:
        own = []
    command = ["bash", "-c", f'"$@" {shell}', "bash", sys.executable, "-m", "kgreason"]
    asked = [*command, *words, *map(str, own)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=HANG)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("words", EACH)
@pytest.mark.slow
def test_a_result_that_nobody_can_take_is_told(words: list[str], ledger: Path) -> None:
    for shell, why in (
        (">&-", "stdout is closed"),
        (">&- <&-", "stdout is closed"),
        (">/dev/full", "No space left on device"),
    ):
        done = ends(words, ledger, shell)
        assert done.code == 1, done.err
        assert re.fullmatch(
            rf"kgreason: The result cannot be written \({why}\)(; give --out FILE)?\.",
            done.sentences[-1],
        )
        assert "Traceback" not in done.err
        assert "Exception" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("words", EACH)
def test_stderr_that_is_closed_or_full_changes_nothing(words: list[str], ledger: Path) -> None:
    usual = ends(words, ledger, "")
    assert usual.code == 0, usual.err
    for shell in ("2>&-", "2>/dev/full", "2>&- <&-"):
        done = ends(words, ledger, shell)
        assert (done.code, done.err) == (0, "")
        assert len(done.out) == len(usual.out)
    assert ends(words, ledger, ">&- 2>&-").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("words", EACH)
def test_a_reader_that_goes_away_is_no_error(words: list[str], ledger: Path) -> None:
    done = ends(words, ledger, '| head -1; exit "${PIPESTATUS[0]}"')
    assert done.code == 0, done.err
    gone = ends(words, ledger, "> >(exec >/dev/null <&-; sleep 0.1)")
    assert (gone.code, gone.out) == (0, "")
    assert "Traceback" not in done.err + gone.err


@pytest.mark.parametrize("shell", ["2>&-", "2>/dev/full", ">&- 2>&-"])
@pytest.mark.slow
def test_an_error_keeps_its_code_without_stderr(shell: str) -> None:
    out = ["--out", "r.md"]
    words = ["symptoms", "missing.ttl", "--shapes", "shapes.ttl", *out]
    assert ends(words, Path(), shell).code == 2


def test_nothing_is_begun_that_could_not_be_told() -> None:
    data = write_graph(Path("graph"))
    words = ["investigate", str(data), "--shapes", "shapes.ttl"]
    done = ends(words, Path("ledger"), ">&-")
    refused(done, r"The result cannot be written \(stdout is closed\); give --out FILE\.", code=1)
    assert not Path("ledger").exists()
    done = ends([*words, "--out", "r.md"], Path("ledger"), ">&- 2>&- <&-")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert Path("r.md").stat().st_size > 0
    assert run("audit", "--ledger", "ledger").code == 0


def test_events_on_a_full_disk_end_in_a_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    data = write_graph(Path("graph"))
    args = ("investigate", data, "--shapes", "shapes.ttl", "--events", "/dev/full", "--out", "r.md")
    done = process(*args, timeout=HANG)
    assert done.code == 1
    assert re.search(r"/dev/full: events cannot be written \(No space left", done.sentences[-1])
    assert "go on with `kgreason resume" in done.sentences[-1]
