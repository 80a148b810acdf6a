"""The commands: what goes to stdout, what to stderr, and how they end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import typer
from typer.main import get_command

from kgreason import api
from kgreason.audit import AuditReport, Finding
from kgreason.base import templates
from kgreason.cli import app
from kgreason.cli.manual import page
from kgreason.observe import opening
from kgreason.record.nonce import names_of
from kgreason.report.questions import questions
from tests.cli_support import PREFIXES, process, run, write_graph

COMMANDS = (
    "worker",
    "serve",
    "mcp",
    "compare",
    "why",
    "nodes",
    "ledger",
    "repair",
    "ask",
    "route",
    "propose-task-types",
    "show",
    "investigate",
    "symptoms",
    "resume",
    "report",
    "audit",
    "query",
    "export",
    "history",
    "queries",
    "bench",
    "reassess",
    "correlation",
    "explain",
    "fragility",
    "replay",
    "verdict",
    "calibrate",
)
SYMPTOM_KEYS = ["id", "name", "shape", "constraint", "axiom", "path", "severity", "population"]
SYMPTOM_KEYS += ["failing"]
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph, shapes, and a ledger with one finished investigation."""
    folder = tmp_path_factory.mktemp("cli")
    write_graph(folder)
    done = run(
        "investigate",
        folder / "data",
        "--shapes",
        folder / "shapes.ttl",
        "--ledger",
        folder / "ledger",
        "--question",
        "Where are the names?",
        "--format",
        "json",
    )
    assert done.code == 0, done.err
    (folder / "result.json").write_text(done.out, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def group() -> Any:
    return get_command(app)


# Help


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples(command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.code == 0
    assert "Examples:" in done.out
    assert f"kgreason {command}".strip() in done.out
    assert done.err == ""


def test_the_commands_are_these() -> None:
    assert sorted(group().commands) == sorted(COMMANDS)


def examples() -> list[str]:
    texts = [group().help, *(command.help for command in group().commands.values())]
    lines = [line.strip() for text in texts for line in text.split("Examples:")[1].splitlines()]
    return [line.removeprefix("kgreason ") for line in lines if line]


@pytest.mark.parametrize("example", examples())
def test_every_example_is_a_valid_call(example: str) -> None:
    words = shlex.split(example)
    command = group().commands[words[0]]
    context = command.make_context(words[0], words[1:])  # raises for what is no option
    assert context.command.name == words[0]


def test_every_option_of_the_issue_is_there() -> None:
    names = (
        "shapes violations population ontology severity only outcome at question ledger format out "
        "policy seed max-hypotheses max-steps max-seconds query-seconds allow-service lenient "
        "strict fail-on"
    )
    wanted = [f"--{name}" for name in names.split()]
    known = {name for p in group().commands["investigate"].params for name in p.opts}
    assert set(wanted) <= known


def test_help_is_quick_for_it_loads_no_engine() -> None:
    code = (
        "import sys\nfrom kgreason.cli import main\nsys.argv = ['kgreason', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'rdflib', 'pyshacl', 'owlrl', 'numpy', 'pyoxigraph', 'jinja2', 'kgreason.api'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_command_line_seldom_looks_for_cycles() -> None:
    code = (
        "import gc, sys\nfrom kgreason.cli import main\nsys.argv = ['kgreason', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(gc.get_threshold()[0] >= 50_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"


def test_version() -> None:
    assert run("--version").out == f"kgreason {version('kgreason')}\n"


def test_an_unknown_option_or_command_is_wrong_input() -> None:
    assert run("investigate", "data", "--shape-file", "x").code == 2
    assert run("explain").code == 2
    assert run("investigate").code == 2
    done = run("validate", "data", "--shapes", "x")
    assert done.code == 2
    assert "kgreason investigate DATA --shapes FILE" in " ".join(done.err.split())


def test_the_reference_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page()


# investigate


def test_the_result_alone_is_on_stdout(place: Path) -> None:
    result = json.loads((place / "result.json").read_text(encoding="utf-8"))
    assert result["question"] == "Where are the names?"
    names = {s["path"]: (s["population"], s["failing"]) for s in result["symptoms"]}
    assert names == {"<http://example.org/name>": (80, 27), "<http://example.org/size>": (80, 2)}


def test_progress_is_for_terminals_only(place: Path) -> None:
    done = process("investigate", place / "data", "--shapes", place / "shapes.ttl")
    assert done.code == 0
    assert done.err == ""
    assert "\x1b" not in done.out
    assert done.out.startswith("# ")


def test_a_terminal_gets_progress_on_stderr(place: Path) -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "kgreason", "investigate", str(place / "data")]
    command += ["--shapes", str(place / "shapes.ttl"), "--format", "json"]
    terminal = os.environ | {"TERM": "xterm"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=slave, check=True, env=terminal)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert "reading the data" in shown
    assert json.loads(done.stdout)["symptoms"]


def test_notices_go_to_stderr(place: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra.ttl"
    extra.write_text(
        "<http://example.org/o> <http://www.w3.org/2002/07/owl#imports> <http://example.org/x> ."
    )
    done = run("symptoms", place / "data", extra, "--shapes", place / "shapes.ttl")
    assert "owl:imports <http://example.org/x> is not among the data" in done.err
    assert "owl:imports" not in done.out


def test_a_store_folder_is_read_with_a_notice_and_left_alone(place: Path) -> None:
    store = ox.Store("store")
    for file in sorted((place / "data").iterdir()):
        source = ox.NamedNode(f"http://example.org/{file.stem}")
        store.load(path=str(file), format=ox.RdfFormat.TURTLE, to_graph=source)
    store.flush()
    del store
    before = {p.name: p.read_bytes() for p in Path("store").iterdir()}
    done = run("symptoms", "store", "--shapes", place / "shapes.ttl", "--format", "json")
    assert [s["failing"] for s in json.loads(done.out)] == [27, 2]
    assert "store: a store has lost lexical forms" in done.err
    assert {p.name: p.read_bytes() for p in Path("store").iterdir()} == before


def test_a_folder_of_shapes_stands_for_the_files_in_it(place: Path) -> None:
    text = (place / "shapes.ttl").read_text(encoding="utf-8")
    inside = place / "rules" / "deep"
    inside.mkdir(parents=True)
    (inside.parent / "first.ttl").write_text(text.replace("ex:NameShape ,", ""), encoding="utf-8")
    (inside / "second.ttl").write_text(text.replace(", ex:SizeShape", ""), encoding="utf-8")
    (inside / "README.md").write_text("These are the rules.", encoding="utf-8")
    whole = run("symptoms", place / "data", "--shapes", place / "shapes.ttl", "--format", "csv")
    parts = run("symptoms", place / "data", "--shapes", place / "rules", "--format", "csv")
    assert (parts.code, parts.out) == (whole.code, whole.out)
    (place / "none").mkdir()
    done = run("symptoms", place / "data", "--shapes", place / "none")
    assert done.code == 2
    assert "none: no file in this folder ends in one of .ttl, .nt" in done.err


def test_several_files_may_follow_an_option_once_data_were_given(place: Path) -> None:
    text = (place / "shapes.ttl").read_text(encoding="utf-8")
    first, second = Path("first.ttl"), Path("second.ttl")
    first.write_text(text.replace("ex:NameShape ,", ""), encoding="utf-8")
    second.write_text(text.replace(", ex:SizeShape", ""), encoding="utf-8")
    calls: list[list[str | Path]] = [
        [place / "data", "--shapes", first, second],
        ["--shapes", first, "--shapes", second, place / "data"],
        ["--shapes", first, place / "data", "--lenient", "--shapes", second],
        [place / "data", "--severity=violation", "--lenient", f"--shapes={first}", second],
    ]
    for args in calls:
        done = run("symptoms", *args, "--format", "json")
        assert done.code == 0, done.err
        paths = {symptom["path"] for symptom in json.loads(done.out)}
        assert "<http://example.org/name>" in paths
    assert run("symptoms", "--shapes", first, place / "data", "--format", "json").code == 0


@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.html", "<!DOCTYPE html>"), ("r.json", "{"), ("r.ttl", "@prefix"), ("r.md", "# ")],
)
def test_the_ending_of_the_file_says_the_format(place: Path, name: str, begins: str) -> None:
    done = run("report", "--ledger", place / "ledger", "--out", name)
    assert (done.code, done.out) == (0, "")
    assert Path(name).read_text(encoding="utf-8").startswith(begins)
    assert [p.name for p in Path().iterdir()] == [name]


def test_a_result_replaces_a_file_and_keeps_its_permissions(place: Path) -> None:
    out = Path("result.json")
    out.write_text("old")
    out.chmod(0o640)
    assert run("report", "--ledger", place / "ledger", "--out", out).code == 0
    assert json.loads(out.read_text(encoding="utf-8"))["symptoms"]
    assert out.stat().st_mode & 0o777 == 0o640


def test_turtle_can_be_read_again(place: Path) -> None:
    done = run("report", "--ledger", place / "ledger", "--format", "ttl")
    assert len(list(ox.parse(done.out.encode(), format=ox.RdfFormat.TURTLE))) > 100


@pytest.mark.parametrize(
    ("shape", "fail_on", "code"),
    [
        ("NameShape", None, 0),
        ("NameShape", "violation", 1),
        ("NameShape", "cause", 1),
        ("SizeShape", "violation", 1),
        ("SizeShape", "cause", 0),  # two nodes fail, in both feeds: too few for a cause
        ("NoShape", "violation", 0),
    ],
)
def test_fail_on(place: Path, shape: str, fail_on: str | None, code: int) -> None:
    shapes = Path("shapes.ttl")
    text = (place / "shapes.ttl").read_text(encoding="utf-8")
    text += "ex:NoShape sh:targetClass ex:Thing ; sh:path ex:size ; sh:minCount 1 .\n"
    shapes.write_text(text, encoding="utf-8")
    args = ["--fail-on", fail_on] if fail_on else []
    only = f"http://example.org/{shape}"
    done = run("investigate", place / "data", "--shapes", shapes, "--only", only, *args)
    assert done.code == code
    assert done.out.startswith("# ")


def test_data_that_conform_are_said_to(place: Path) -> None:
    shapes = Path("shapes.ttl")
    shapes.write_text(PREFIXES + "ex:S sh:targetClass ex:Thing ; sh:path ex:size ; sh:minCount 1 .")
    done = run("investigate", place / "data", "--shapes", shapes, "--format", "json")
    assert done.code == 0
    assert "The data conform" in done.err
    found = json.loads(done.out)
    assert (found["symptoms"], found["causes"]) == ([], [])
    assert run("report").code == 0
    looked = run("symptoms", place / "data", "--shapes", shapes)
    assert (looked.code, looked.out) == (0, "Nothing fails.\n")


# symptoms


def test_symptoms_are_those_of_the_contract(place: Path) -> None:
    args = (place / "data", "--shapes", place / "shapes.ttl", "--format", "json")
    listed = json.loads(run("symptoms", *args).out)
    result = json.loads((place / "result.json").read_text(encoding="utf-8"))
    assert [list(symptom) for symptom in listed] == [SYMPTOM_KEYS, SYMPTOM_KEYS]
    told = [{k: s[k] for k in SYMPTOM_KEYS[1:]} for s in result["symptoms"]]
    assert [{k: s[k] for k in SYMPTOM_KEYS[1:]} for s in listed] == told
    assert len({ox.NamedNode(symptom["id"]) for symptom in listed}) == 2
    assert not Path(".kgreason").exists()


def test_symptoms_as_a_table(place: Path) -> None:
    done = run("symptoms", place / "data", "--shapes", place / "shapes.ttl")
    lines = [re.split(r"\s{2,}", line) for line in done.out.splitlines()]
    heads = ["name", "shape", "constraint", "path", "severity", "population", "failing"]
    assert lines[0] == heads
    first = ["MinCount of name in NameShape", "NameShape", "MinCount", "name", "Violation"]
    assert lines[2] == [*first, "80", "27"]
    second = ["MaxInclusive of size in SizeShape", "SizeShape", "MaxInclusive", "size", "Warning"]
    assert lines[3] == [*second, "80", "2"]


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        (["--severity", "warning"], ["size"]),
        (["--severity", "Violation"], ["name"]),
        (["--severity", "http://www.w3.org/ns/shacl#Warning"], ["size"]),
        (["--only", "http://example.org/NameShape"], ["name"]),
        (["--only", "<http://example.org/size>"], ["size"]),
    ],
)
def test_severity_and_only_narrow_the_shapes(
    place: Path, args: list[str], paths: list[str]
) -> None:
    shapes = ("--shapes", place / "shapes.ttl", "--format", "json")
    done = run("symptoms", place / "data", *shapes, *args)
    assert [s["path"] for s in json.loads(done.out)] == [f"<http://example.org/{p}>" for p in paths]


def test_an_outcome_query_stands_in_place_of_shapes(place: Path) -> None:
    done = run("symptoms", place / "data", "--outcome", place / "late.rq", "--format", "json")
    found = json.loads(done.out)
    assert [(s["shape"], s["population"], s["failing"]) for s in found] == [(None, 80, 27)]


def test_a_number_is_cut_at_a_value(place: Path) -> None:
    query = "SELECT ?focus ?outcome { ?focus <http://example.org/size> ?outcome }"
    Path("size.rq").write_text(query)
    done = run("symptoms", place / "data", "--outcome", "size.rq", "--at", "38", "--format", "json")
    assert [s["failing"] for s in json.loads(done.out)] == [4]


# report, resume, audit


def test_a_ledger_keeps_several_investigations(place: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for only in ("NameShape", "SizeShape"):
        shape = f"http://example.org/{only}"
        args = ("--shapes", place / "shapes.ttl", "--only", shape, "--ledger", ledger)
        assert run("investigate", place / "data", *args).code == 0
    found = {
        which: json.loads(run("report", *which, "--ledger", ledger, "--format", "json").out)
        for which in ((), ("1",), ("2",))
    }
    assert [s["path"] for s in found["1",]["symptoms"]] == ["<http://example.org/name>"]
    assert found[()] == found["2",] != found["1",]
    by_iri = run("report", found["1",]["investigation"], "--ledger", ledger, "--format", "json")
    assert json.loads(by_iri.out) == found["1",]
    wrong = run("report", "7", "--ledger", ledger)
    assert wrong.code == 2
    assert "There is no investigation 7" in wrong.err
    assert "I1, I2" in wrong.err


def test_a_report_again_is_the_same_and_passes_the_audit(place: Path) -> None:
    again = run("report", "--ledger", place / "ledger", "--format", "json")
    assert again.out == (place / "result.json").read_text(encoding="utf-8")
    assert again.err == ""
    audited = run("audit", "--ledger", place / "ledger")
    assert audited.code == 0, audited.out
    assert "0 findings" in audited.out


def test_resuming_what_is_finished_prints_its_result(place: Path) -> None:
    done = run("resume", "--ledger", place / "ledger", "--format", "json")
    assert done.code == 0
    assert done.out == (place / "result.json").read_text(encoding="utf-8")


def test_nothing_to_resume_is_wrong_input() -> None:
    done = run("resume")
    assert done.code == 2
    assert len(done.sentences) == 1
    assert "there is no ledger here; run `kgreason investigate` first" in done.err


def _plain(result: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result)
    del found["budget"]["seconds"]
    return found


def _unnamed(result: str) -> dict[str, Any]:
    """Give a result under another name of its investigation."""
    found = json.loads(result)["investigation"]
    return _plain(names_of(ox.NamedNode(found)).sub("urn:kgreason:it", result))


@pytest.mark.parametrize("after", [0, 1])
def test_an_interrupted_run_says_how_to_go_on_and_does(
    place: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    from kgreason import loop  # noqa: PLC0415 - patched here only

    whole, calls = loop.execute, []  # type: ignore[attr-defined]

    def interrupted(*args: Any) -> None:
        calls.append(args)
        if len(calls) > after:
            raise KeyboardInterrupt
        whole(*args)

    args = (place / "data", "--shapes", place / "shapes.ttl", "--ledger", "a b")
    with monkeypatch.context() as patch:
        patch.setattr(loop, "execute", interrupted)
        stopped = run("investigate", *args, "--question", "Where are the names?")
        again = run("resume", "--ledger", "a b")
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.sentences == [
        "kgreason: stopped; go on with `kgreason resume I1 --ledger 'a b'`."
    ]
    so_far = run("report", "--ledger", "a b", "--format", "json")
    assert so_far.code == 0
    assert "This investigation is not finished" in so_far.err
    assert json.loads(so_far.out)["causes"] == []
    assert again.code == 130
    assert "go on with `kgreason resume --ledger 'a b'`" in again.err
    done = run("resume", "--ledger", "a b", "--format", "json")
    assert done.code == 0
    assert _unnamed(done.out) == _unnamed((place / "result.json").read_text(encoding="utf-8"))


def test_an_interrupt_before_anything_was_recorded(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(opening, "load_graph", interrupted)
    done = run("investigate", place / "data", "--shapes", place / "shapes.ttl")
    assert done.code == 130
    assert done.sentences == ["kgreason: stopped before anything was recorded."]
    assert not Path(".kgreason").exists()


def test_data_that_changed_cannot_be_resumed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgreason import loop  # noqa: PLC0415 - patched here only

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    data = write_graph(Path("graph"))
    with monkeypatch.context() as patch:
        patch.setattr(loop, "execute", interrupted)
        assert run("investigate", data, "--shapes", place / "shapes.ttl").code == 130
    with (data / "north.ttl").open("a") as file:
        file.write("ex:new a ex:Thing .\n")
    done = run("resume")
    assert done.code == 2
    assert "have changed since it began" in done.err


@pytest.mark.parametrize("severity", [None, "violation"])
def test_the_audit_ends_with_1_if_it_found_something(
    place: Path, monkeypatch: pytest.MonkeyPatch, severity: str | None
) -> None:
    found = [Finding("update-after", "urn:x", "It is 0.9.", "violation")] if severity else []
    report = AuditReport("urn:i", tuple(found), (), {"steps": 3})
    monkeypatch.setattr("kgreason.audit.audit", lambda _: report)
    text = run("audit", "--ledger", place / "ledger")
    made = run("audit", "--ledger", place / "ledger", "--format", "json")
    assert text.code == made.code == (1 if severity else 0)
    assert ("update-after urn:x" in text.out) is bool(severity)
    assert json.loads(made.out)["ok"] is not bool(severity)
    assert [f["rule"] for f in json.loads(made.out)["findings"]] == [f.rule for f in found]


# query, history, queries


def test_query_answers_every_form(place: Path) -> None:
    ledger = ("--ledger", place / "ledger")
    count = "SELECT (COUNT(*) AS ?n) { ?h a trails:Hypothesis }"
    rows = run("query", count, *ledger, "--format", "csv").out
    number = int(list(csv.reader(io.StringIO(rows)))[1][0])
    assert number >= 3
    made = json.loads(run("query", count, *ledger, "--format", "json").out)
    assert made["head"] == {"vars": ["n"]}
    assert made["results"]["bindings"][0]["n"]["value"] == str(number)
    assert str(number) in run("query", count, *ledger).out
    assert run("query", "ASK { ?h a trails:Hypothesis }", *ledger).out == "true\n"
    asked = run("query", "ASK { ?h a trails:Nothing }", *ledger, "--format", "json")
    assert json.loads(asked.out) == {"head": {}, "boolean": False}
    wanted = "{ ?h trails:statement ?s } WHERE { ?h a trails:Hypothesis ; trails:statement ?s }"
    built = run("query", f"CONSTRUCT {wanted}", *ledger)
    assert len(list(ox.parse(built.out.encode(), format=ox.RdfFormat.TURTLE))) == number
    assert run("query", "SELECT * { ?s a trails:Nothing }", *ledger).out == "No rows.\n"


def test_query_reads_files(place: Path) -> None:
    Path("ask.rq").write_bytes("ASK { ?h a trails:Hypothesis }".encode("utf-8-sig"))
    ledger = ("--ledger", place / "ledger")
    for args in (["@ask.rq"], ["--file", "ask.rq"], ["--file", "ask.rq", "1"], ["@ask.rq", "1"]):
        assert run("query", *args, *ledger).out == "true\n"
    assert run("query", "--file", "ask.rq", "9", *ledger).code == 2


def test_the_default_graph_is_that_of_the_investigation(place: Path) -> None:
    ledger = ("--ledger", place / "ledger")
    here = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    there = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    counts = [
        int(run("query", text, *ledger, "--format", "csv").out.split()[1]) for text in (here, there)
    ]
    assert 0 < counts[0] < counts[1]  # the mark of the ledger's version is in a graph of its own


@pytest.mark.parametrize("name", [template.name for template in questions()])
def test_every_stored_question_is_answered(place: Path, name: str) -> None:
    ledger = ("--ledger", place / "ledger")
    table = run("history", name, *ledger)
    rows = list(csv.reader(io.StringIO(run("history", name, *ledger, "--format", "csv").out)))
    assert table.code == 0
    assert set(rows[0]) >= set(table.out.split("\n", 1)[0].split()) or len(rows) == 1
    assert run("history", f"{name.replace('-', ' ').capitalize()}?", *ledger).out == table.out


def test_history_lists_and_refuses(place: Path) -> None:
    listed = run("history").out
    assert all(template.name in listed for template in questions())
    ledger = ("--ledger", place / "ledger")
    wrong = run("history", "what-now", *ledger)
    assert wrong.code == 2
    assert "There is no question 'what-now'" in wrong.err
    assert run("history", "why-this-confidence", "--hypothesis", "99", *ledger).code == 2
    one = run("history", "why-this-confidence", "--hypothesis", "1", *ledger, "--format", "csv")
    numbers = {row["number"] for row in csv.DictReader(io.StringIO(one.out))}
    assert numbers == {"1"}


def test_queries_lists_every_template_with_its_summary() -> None:
    listed = run("queries").out
    for role in templates.roles():
        for template in templates.role(role).values():
            line = next(x for x in listed.splitlines() if x.startswith(f"  {template.name} "))
            assert line
            assert " ".join(template.summary.split()) in listed


def test_queries_shows_a_template() -> None:
    text = (ROOT / "queries" / "confidence" / "frame.ru").read_text(encoding="utf-8")
    for name in ("confidence/frame", "confidence/frame.ru", "queries/confidence/frame"):
        assert run("queries", name).out == text
    several = run("queries", "frame") if run("queries", "frame").code else None
    assert several is None or "give one of these" in several.err
    assert run("queries", "status").out.splitlines()[0] == "status"
    unknown = run("queries", "no-such")
    assert unknown.code == 2
    assert "`kgreason queries` lists them" in unknown.err


# How processes end


def test_a_reader_that_stops_reading_is_no_error(place: Path) -> None:
    command = [sys.executable, "-m", "kgreason", "report", "--ledger", str(place / "ledger")]
    shell = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert shell.stdout is not None
    assert shell.stderr is not None
    shell.stdout.close()
    assert shell.stderr.read() == b""
    assert shell.wait() == 0
    shell.stderr.close()


def test_a_full_stdout_is_told(place: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kgreason", "report", "--ledger", str(place / "ledger")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "kgreason: The result cannot be written (No space left on device)."
    ]


def test_an_unexpected_error_is_one_sentence_and_a_traceback_only_if_asked(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("no\nway")

    monkeypatch.setattr(api, "symptoms", broken)
    args = ("symptoms", place / "data", "--shapes", place / "shapes.ttl")
    done = run(*args)
    assert done.code == 1
    assert len(done.sentences) == 1
    assert "unexpected ZeroDivisionError: no" in done.err
    assert "please report it" in done.err
    for debug in (("--debug", *args), (*args, "--debug")):
        assert "Traceback" in run(*debug).err
    assert "Traceback" not in run(*args).err


def test_the_module_is_the_command(place: Path) -> None:
    assert process("--version").out == f"kgreason {version('kgreason')}\n"
    wrong = process("report", "--ledger", place / "nothing")
    assert wrong.code == 2
    assert len(wrong.sentences) == 1


def test_shell_completion_is_offered() -> None:
    names = {name for p in group().params for name in p.opts}
    assert {"--install-completion", "--show-completion"} <= names
    environment = {
        "_KGREASON_COMPLETE": "complete_bash",
        "COMP_WORDS": "kgreason queries confid",
        "COMP_CWORD": "2",
    }
    code = "from kgreason.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert "confidence" in done.stdout.split()


def test_typer_exits_are_passed_on() -> None:
    from kgreason.cli.errors import command  # noqa: PLC0415 - only here

    @command("x")
    def ends() -> None:
        """End."""
        raise typer.Exit(7)

    with pytest.raises(typer.Exit) as ended:
        ends()
    assert ended.value.exit_code == 7
