"""Where results are written: the ending says the format, and what was written is said."""

from pathlib import Path

import pytest

from tests.cli_support import run, write_graph


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    data = write_graph(folder)
    done = run("investigate", data, "--shapes", folder / "shapes.ttl", "--ledger", folder / "led")
    assert done.code == 0
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


COMMANDS = {
    "report": (),
    "audit": (),
    "query": ("ASK { ?s ?p ?o }",),
    "history": ("which-hypotheses",),
    "explain": ("H1",),
    "fragility": (),
    "resume": (),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_ending_that_is_not_known_is_refused_and_the_known_are_named(
    place: Path, command: str
) -> None:
    done = run(command, *COMMANDS[command], "--ledger", place / "led", "--out", "x.pdf")
    assert done.code == 2
    assert "x.pdf: the ending .pdf is not known" in done.err
    assert ".json" in done.err
    assert not Path("x.pdf").exists()


@pytest.mark.parametrize("command", ["investigate", "symptoms"])
def test_it_is_refused_before_any_work(place: Path, command: str) -> None:
    done = run(command, "not-there.ttl", "--shapes", place / "shapes.ttl", "--out", "x.docx")
    assert done.code == 2
    assert "x.docx: the ending .docx is not known" in done.err


def test_who_says_the_format_may_name_the_file_as_they_like(place: Path) -> None:
    done = run("report", "--ledger", place / "led", "--format", "json", "--out", "result.old")
    assert done.code == 0
    assert Path("result.old").read_text(encoding="utf-8").startswith("{")


@pytest.mark.parametrize(
    ("command", "name", "begins"),
    [
        ("report", "plain", "# "),
        ("report", "r.markdown", "# "),
        ("audit", "a.json", "{"),
        ("audit", "a.txt", "urn:kgreason:"),
        ("history", "h.csv", "agent,number,hypothesis"),
        ("query", "q.json", "{"),
        ("fragility", "f.json", "["),
    ],
)
def test_the_ending_says_the_format_everywhere(
    place: Path, command: str, name: str, begins: str
) -> None:
    done = run(command, *COMMANDS[command], "--ledger", place / "led", "--out", name)
    assert (done.code, done.out) == (0, "")
    assert Path(name).read_text(encoding="utf-8").startswith(begins)


def test_what_was_written_is_said(place: Path) -> None:
    done = run("report", "--ledger", place / "led", "--out", "r.html")
    size = Path("r.html").stat().st_size
    assert done.sentences == [f"kgreason: Written: r.html ({size / 1000:.0f} kB)."]
    done = run("query", "ASK { ?s ?p ?o }", "--ledger", place / "led", "--out", "q.txt")
    assert done.sentences == ["kgreason: Written: q.txt (5 bytes)."]
    done = run("export", "--as", "prov-json", "--ledger", place / "led", "--out", "p.json")
    size = Path("p.json").stat().st_size
    assert done.sentences == [f"kgreason: Written: p.json ({size / 1000:.0f} kB)."]
    done = run("export", "--as", "nanopub", "--ledger", place / "led", "--out", "n")
    files = sum(1 for path in Path("n").rglob("*") if path.is_file())
    assert done.sentences == [f"kgreason: Written: n (a folder of {files} file)."]
