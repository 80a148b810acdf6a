"""The path of who keeps a CI: what was known passes, what is new fails, nothing checked fails."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import kgreason
from kgreason.base.errors import OptionError
from kgreason.cli import app
from kgreason.review.comparison import compare
from kgreason.review.gate import Tolerance, failures
from tests.cli_support import Ran, run
from tests.following_support import investigated, shop
from tests.test_formats import VALID as SARIF_LOG


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a shop of main with its baseline, one with a slip more, one with another fault."""
    folder = tmp_path_factory.mktemp("ci")
    for name, changes in (
        ("main", {}),
        ("slip", {"nameless": 26}),
        ("fault", {"nameless": 25, "oversized": 30}),
    ):
        shop(folder / name, **changes)
    investigated(folder / "main", folder / "ledger")
    with kgreason.result(folder / "ledger") as result:
        (folder / "main.json").write_text(result.json(), encoding="utf-8")
    return folder


def gate(place: Path, branch: str, *more: str, fresh: Path) -> Ran:
    data, shapes = place / branch / "data", place / branch / "shapes.ttl"
    baseline = ("--baseline", place / "main.json")
    return run(
        "investigate", data, "--shapes", shapes, "--ledger", fresh / "ledger", *baseline, *more
    )


def test_a_new_violation_of_a_known_cause_passes(place: Path, tmp_path: Path) -> None:
    done = gate(place, "slip", "--fail-on", "new-cause", "--format", "json", fresh=tmp_path)
    assert done.code == 0, done.err
    assert "Causes compared with" in done.err
    assert "1 grown" in done.err
    told = json.loads(done.out)
    assert [one["explains"] for one in told["causes"]] == [26]
    # Told in other words, it takes the data to know it again.
    then = json.loads((place / "main.json").read_text(encoding="utf-8"))
    then["causes"][0] |= {"statement": "In other words.", "fingerprint": "0" * 64}
    again = kgreason.compare(then, tmp_path / "ledger")
    assert [(one.what, one.by) for one in again.causes] == [("grown", "nodes")]
    with kgreason.result(tmp_path / "ledger") as result:
        blind = kgreason.compare(then, result)
    assert [one.what for one in blind.causes] == ["new", "gone"]
    assert "not at hand" in blind.said[0]
    # A region of a file is not trusted to call elsewhere.
    leader = then["symptoms"][0]["hypotheses"][0]
    leader["region"] = "SELECT ?focus { SERVICE <http://127.0.0.1:9/> { ?focus ?p ?o } }"
    refused = kgreason.compare(then, tmp_path / "ledger")
    assert [one.what for one in refused.causes] == ["new", "gone"]
    assert "cannot be run" in refused.said[0]
    back = run("compare", tmp_path / "ledger", place / "ledger", "--format", "json")
    (cause,) = json.loads(back.out)["causes"]
    assert (cause["what"], cause["before"], cause["after"]) == ("shrunk", "C1", "C1")
    assert (cause["failing_before"], cause["failing_after"]) == (26, 25)


def test_a_new_cause_fails(place: Path, tmp_path: Path) -> None:
    done = gate(place, "fault", "--fail-on", "new-cause", fresh=tmp_path)
    assert done.code == 1
    assert "a new cause of 30 failures" in done.err
    assert "west" in done.err
    shown = run("compare", place / "main.json", "I1", "--ledger", tmp_path / "ledger")
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines() if line]
    assert [line[0] for line in lines if line[0] in {"new", "same"}] == [
        "new", "same", "new", "same",
    ]  # fmt: skip
    # Thirty of 120 things are no more than a quarter.
    with kgreason.result(tmp_path / "ledger") as result:
        for much, number in (("30", 0), ("25%", 0), ("29", 1), ("24.9%", 1), (None, 1)):
            found = kgreason.gate_failures(
                result, "new-cause", baseline=place / "main.json", tolerate=much
            )
            assert len(found) == number, much
        assert len(kgreason.gate_failures(result, "cause")) == 2
        assert len(kgreason.gate_failures(result, "violation", tolerate="27")) == 1


def test_an_empty_target_fails_and_that_is_said(place: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    shutil.copytree(place / "main", empty)
    text = (empty / "shapes.ttl").read_text(encoding="utf-8")
    (empty / "shapes.ttl").write_text(text.replace("ex:Thing ;", "ex:Nothing ;"), encoding="utf-8")
    done = run(
        "investigate", empty / "data", "--shapes", empty / "shapes.ttl", "--ledger",
        tmp_path / "ledger", "--baseline", place / "main.json", "--fail-on", "new-cause",
    )  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert "Nothing was checked" in done.err


EMPTY_REPORT = """@prefix sh: <http://www.w3.org/ns/shacl#> .
[] a sh:ValidationReport ; sh:conforms true .
"""


def test_an_empty_report_without_shapes_fails_and_that_is_said(place: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.ttl"
    report.write_text(EMPTY_REPORT, encoding="utf-8")
    asked = ("investigate", place / "main" / "data", "--violations", report)
    ledger = ("--ledger", tmp_path / "ledger")
    done = run(*asked, *ledger, "--fail-on", "violation")
    assert done.code == 2
    assert "holds no result" in done.err
    assert "--allow-empty" in done.err
    assert run(*asked, *ledger, "--fail-on", "violation", "--allow-empty").code == 0
    assert "holds no result" in run(*asked, *ledger).err


def test_a_gate_without_meaning_is_refused_before_any_work(place: Path, tmp_path: Path) -> None:
    asked = ("investigate", place / "main" / "data", "--shapes", place / "main" / "shapes.ttl")
    for more, said in (
        (("--fail-on", "new-cause"), "new compared with what?"),
        (("--tolerate", "3"), "is of use with --fail-on"),
        (("--fail-on", "cause", "--tolerate", "some"), "give a number of nodes (10)"),
        (("--fail-on", "cause", "--tolerate", "101%"), "a share (1%)"),
        (("--baseline", "gone.json"), "there is no such file"),
        (("--baseline", str(place / "main" / "shapes.ttl")), "cannot be read as JSON"),
        (("--baseline", "I7"), "there is no ledger here"),
    ):
        done = run(*asked, "--ledger", tmp_path / "ledger", *more)
        assert done.code == 2, more
        assert said in done.err
        assert not (tmp_path / "ledger").exists()
    with pytest.raises(OptionError, match="give one of violation"):
        kgreason.gate_failures({"symptoms": [], "causes": []}, "anything")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["report", "resume"])
def test_what_is_recorded_is_held_to_a_gate_as_well(
    place: Path, tmp_path: Path, command: str
) -> None:
    asked = (command, "--ledger", place / "ledger", "--format", "json")
    known = json.loads((place / "main.json").read_text(encoding="utf-8"))
    (tmp_path / "none.json").write_text(json.dumps(known | {"causes": []}), encoding="utf-8")
    for more, code, said in (
        (("--fail-on", "cause"), 1, "C1 is a cause of 25 failures"),
        (("--fail-on", "cause", "--tolerate", "25"), 0, ""),
        (("--fail-on", "violation"), 1, "nodes fail."),
        (("--fail-on", "new-cause", "--baseline", place / "main.json"), 0, "1 the same"),
        (("--fail-on", "new-cause", "--baseline", tmp_path / "none.json"), 1, "C1 is a new cause"),
        (("--fail-on", "new-cause"), 2, "new compared with what?"),
    ):
        done = run(*asked, *more)
        assert done.code == code, (more, done.err)
        assert said in done.err
        assert bool(done.out) == (code != 2)
    done = run("report", "--ledger", place / "ledger", "--fail-on", "cause", "--rerun")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r.pop("causes"),
        lambda r: r.update(symptoms={}),
        lambda r: r["causes"][0].pop("hypotheses"),
        lambda r: r["causes"][0].update(explains="many"),
        lambda r: r["symptoms"][0].update(hypotheses=[1]),
        lambda r: r["symptoms"].append(None),
    ],
)
def test_a_baseline_that_is_no_result_is_refused(
    place: Path, tmp_path: Path, spoil: Callable[[dict[str, Any]], object]
) -> None:
    result = json.loads((place / "main.json").read_text(encoding="utf-8"))
    spoil(result)
    file = tmp_path / "spoilt.json"
    file.write_text(json.dumps(result), encoding="utf-8")
    with pytest.raises(OptionError, match="this is no result of kgreason"):
        kgreason.compare(file, place / "main.json")


def told(*causes: dict[str, Any]) -> dict[str, Any]:
    return {"investigation": "urn:i", "symptoms": [], "causes": list(causes)}


def cause(name: str, statement: str, mark: str, explains: int, *, narrows: bool = False) -> Any:
    return {
        "id": name, "statement": statement, "fingerprint": mark, "explains": explains,
        "narrows": narrows, "hypotheses": ["urn:h"], "symptoms": ["urn:s"],
    }  # fmt: skip


def test_causes_are_matched_by_what_they_say_without_data() -> None:
    then = told(cause("C1", "one", "a", 5), cause("C2", "two", "b", 5), cause("C3", "x", "c", 1))
    now = told(
        cause("C1", "two", "new", 4), cause("C2", "other words", "a", 5), cause("C3", "y", "d", 9)
    )
    found = compare(then, now)
    assert [(one.what, one.before, one.after, one.by) for one in found.causes] == [
        ("new", None, "C3", None),
        ("same", "C1", "C2", "words"),
        ("shrunk", "C2", "C1", "words"),
        ("gone", "C3", None, None),
    ]
    assert "by what they say alone" in found.said[0]
    assert found.summary == "Causes compared with before: 1 new, 1 the same, 1 shrunk, 1 gone."
    only = compare(told(), told(cause("C1", "near", "n", 9, narrows=True)))
    assert only.new == ()
    assert failures(told(cause("C1", "near", "n", 9, narrows=True)), "new-cause", only) == []
    assert Tolerance.of("1.5%").allows(3, 200)


ROOT = Path(__file__).resolve().parents[1]


def script() -> str:
    """Give the last step of the action as it would be run."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    return textwrap.dedent(text.rpartition("run: |\n")[2])


@pytest.mark.slow
def test_the_action_fails_for_a_new_cause_and_writes_what_it_was_asked_for(
    place: Path, tmp_path: Path
) -> None:
    wanted = {
        "DATA": str(place / "fault" / "data"),
        "SHAPES": f"{place / 'fault' / 'shapes.ttl'}\n",
        "ONTOLOGY": "",
        "BASELINE": str(place / "main.json"),
        "FAIL_ON": "new-cause",
        "TOLERATE": "",
        "SARIF": "why.sarif",
        "JSON": "",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script()],
        cwd=tmp_path,
        env=os.environ | wanted,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "a new cause of 30 failures" in done.stderr
    assert "::warning " in done.stdout
    assert "| C1 |" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    log = json.loads((tmp_path / "why.sarif").read_text(encoding="utf-8"))
    SARIF_LOG.validate(log)
    (told,) = log["runs"]
    assert len(told["results"]) == 2
    declared = re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", (ROOT / "action.yml").read_text())
    assert {one.upper().replace("-", "_") for one in declared} == wanted.keys() - {
        "GITHUB_STEP_SUMMARY",
        "PATH",
    }


def test_the_hook_is_a_call_that_the_program_takes() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = re.search(r"^  entry: kgreason (\w+)$", text, re.MULTILINE)
    given = re.search(r"^  args: \[(.*)\]$", text, re.MULTILINE)
    assert entry is not None
    assert given is not None
    command = get_command(app).commands[entry[1]]  # type: ignore[attr-defined]
    context = command.make_context(entry[1], given[1].split(", "))
    assert context.params["data"] == ["data"]
    assert "pass_filenames: false" in text
