"""Folders of a user's own (`--extend`): what they bring, how they are recorded, what is refused."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.base import extensions
from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.extensions import installed, read, using
from kgreason.base.templates import role, template
from kgreason.record import policy
from kgreason.report.result import Result
from tests.cli_support import run
from tests.test_contributing import BLOCK, ROOT, SHAPES, data

GIVEN = ("queries/hypothesize", "queries/test", "ontology/policies", "queries/report")
QUESTION = """#+ summary: Each kind of test of an investigation, once.
#+ question: Which kinds of test were there?
#+ reads: ledger
#+ param investigation: iri, the investigation
PREFIX trails: <https://w3id.org/trails#>
SELECT DISTINCT ?kind WHERE {
  GRAPH {{ investigation }} { ?test a trails:Test ; trails:kind ?kind . }
} ORDER BY ?kind
"""
CHECK = """#+ summary: An investigation that looked at fewer than a million triples.
#+ shape: Investigation
#+ message: Only {?value} triples were looked at.
PREFIX trails: <https://w3id.org/trails#>
SELECT $this ?value WHERE { $this trails:triples ?value . FILTER (?value < 1000000) }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write an extension with a family, a test, its policy rows, a section and a question."""
    root = tmp_path / "labels"
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for name, text in blocks:
        if name.startswith(GIVEN):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    write(root, "queries/history/which-kinds.rq", QUESTION)
    (tmp_path / "data.ttl").write_text(data(), encoding="utf-8")
    (tmp_path / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    return root


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def investigated(folder: Path | None, **options: Any) -> Result:
    """Investigate under the default policy, whose search in conditions finds the same nodes."""
    place = Path(options.pop("place", folder.parent if folder else None))
    return kgreason.investigate(
        place / "data.ttl", shapes=place / "shapes.ttl", extend=folder or (), **options
    )


def leading(result: Result) -> str:
    (symptom,) = result.symptoms
    return symptom.hypotheses[0].statement


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.*")
    }


def test_what_a_folder_brings_is_used(folder: Path) -> None:
    with investigated(folder) as result:
        assert leading(result) == "Nodes without a label fail."
        (cause,) = result.causes
        assert cause.statement == "Nodes without a label fail."
        (symptom,) = result.symptoms
        assert "majority" in {e.test for e in symptom.hypotheses[0].evidence}
        assert "Tests by kind" in result.markdown()
        assert "Tests by kind" in result.html()
        kinds = {str(row["kind"]) for row in result.ask("which-kinds")}
        assert '"majority"' in kinds
    with investigated(None, place=folder.parent) as result:
        assert leading(result) == "Nodes without label fail."  # as the search in conditions has it
        assert "Tests by kind" not in result.markdown()


def test_a_family_of_a_higher_order_yields_to_a_condition_of_the_same_nodes(folder: Path) -> None:
    file = folder / "queries" / "hypothesize" / "unlabelled.rq"
    given = file.read_text(encoding="utf-8")
    file.write_text(given.replace("#+ order: 25", "#+ order: 50"), encoding="utf-8")
    with investigated(folder) as result:
        assert leading(result) == "Nodes without label fail."
        dropped = {
            row["candidate"].value: row["filter"].value for row in result.ask("why-not-proposed")
        }
        assert dropped["Nodes without a label fail."] == "near-duplicate"


def test_the_files_are_in_the_record_with_their_digests(folder: Path) -> None:
    with investigated(folder) as result:
        rows = result.record.select("extensions")
        assert {row["file"].value: row["digest"].value for row in rows} == digests(folder)
        assert len(rows) == 6
        assert {(row["name"].value, row["folder"].value) for row in rows} == {
            ("labels", folder.as_posix())
        }
    with investigated(None, place=folder.parent) as result:
        assert result.record.select("extensions") == []
        assert "Extension" not in result.turtle()


@pytest.mark.slow
def test_audit_replay_and_the_second_engine_know_the_extension(
    folder: Path, tmp_path: Path
) -> None:
    investigated(folder, ledger=tmp_path / "ledger").close()
    with kgreason.open(tmp_path / "ledger") as ledger:
        found = ledger.audit(
            data=tmp_path / "data.ttl", shapes=tmp_path / "shapes.ttl", second_engine=True
        )
        assert [str(one) for one in found.findings] == []
        assert ledger.replay().same
        assert ledger.reassess(policies=["frame", "delta"]).standings


@pytest.mark.slow
def test_an_extension_that_is_gone_or_changed_is_asked_for(folder: Path, tmp_path: Path) -> None:
    investigated(folder, ledger=tmp_path / "ledger").close()
    moved = shutil.move(folder, tmp_path / "elsewhere")
    ledger = kgreason.open(tmp_path / "ledger")
    asked = rf"extension labels \({re.escape(str(folder))}\).*not there.*--extend DIR.*unlabelled"
    for ask in (ledger.audit, ledger.replay, ledger.reassess):
        with pytest.raises(LedgerError, match=asked):
            ask()
    with ledger.result() as result:  # a report needs none of it
        assert leading(result) == "Nodes without a label fail."
        assert "Tests by kind" not in result.markdown()
    again = kgreason.open(tmp_path / "ledger", extend=moved)
    assert again.audit().ok
    assert again.replay().same
    with again.result() as result:
        assert "Tests by kind" in result.markdown()
    changed = Path(moved) / "queries" / "test" / "majority.rq"
    changed.write_text(changed.read_text("utf-8").replace("fail.", "do."), encoding="utf-8")
    moved = shutil.move(moved, folder)
    with pytest.raises(LedgerError, match=r"has changed since: queries/test/majority\.rq"):
        ledger.replay()


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_its_extension(folder: Path, tmp_path: Path) -> None:
    steps: list[object] = []

    def stop(_: object, step: object) -> None:
        steps.append(step)
        if len(steps) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        investigated(folder, ledger=tmp_path / "ledger", told=stop)
    moved = shutil.move(folder, tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match=r"extension labels .* not there"):
        kgreason.resume(tmp_path / "ledger")
    with kgreason.resume(tmp_path / "ledger", extend=moved) as result:
        assert result.finished
        assert leading(result) == "Nodes without a label fail."


def test_a_check_of_ones_own_is_part_of_the_audit(folder: Path, tmp_path: Path) -> None:
    investigated(None, place=folder.parent, ledger=tmp_path / "ledger").close()
    write(tmp_path / "checks", "queries/audit/too-small.rq", CHECK)
    assert kgreason.open(tmp_path / "ledger").audit().ok
    found = kgreason.open(tmp_path / "ledger", extend=tmp_path / "checks").audit()
    assert [one.rule for one in found.findings] == ["too-small"]


def test_threads_do_not_share_extensions(folder: Path) -> None:
    both = threading.Barrier(2)
    seen: dict[str, list[bool]] = {"with": [], "without": []}

    def look(name: str, extended: tuple[extensions.Extension, ...]) -> None:
        with using(extended):
            for _ in range(20):
                both.wait(timeout=60)
                seen[name].append("unlabelled" in role("hypothesize"))

    own = (read(folder),)
    threads = [
        threading.Thread(target=look, args=args) for args in (("with", own), ("without", ()))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"with": [True] * 20, "without": [False] * 20}
    assert "unlabelled" not in role("hypothesize")


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Give what installs a package with an entry point, of which the folder is the package."""
    name = "kgreason_labels_of_mine"
    write(folder.parent / name, "__init__.py", "")
    for part in ("queries", "ontology"):
        shutil.copytree(folder / part, folder.parent / name / part)
    monkeypatch.syspath_prepend(str(folder.parent))

    def install(value: str) -> None:
        entry = EntryPoint("mine", value, extensions.GROUP)
        monkeypatch.setattr(extensions, "entry_points", lambda **_: [entry])
        installed.cache_clear()

    yield install
    monkeypatch.undo()
    installed.cache_clear()


def test_an_installed_package_extends_without_an_option(
    folder: Path, package: Callable[[str], None]
) -> None:
    package("kgreason_labels_of_mine")
    with investigated(None, place=folder.parent) as result:
        assert leading(result) == "Nodes without a label fail."
        assert {r["name"].value for r in result.record.select("extensions")} == {"mine"}


def test_a_package_that_is_broken_is_named(folder: Path, package: Callable[[str], None]) -> None:
    package("there_is_no_such_package")
    with pytest.raises(OptionError, match=r"extension mine \(there_is_no_such_package\) cannot"):
        investigated(None, place=folder.parent)


FAMILY = "queries/hypothesize/unlabelled.rq"
ROWS = "ontology/policies/majority.ttl"
POLICY = """@prefix policy: <https://w3id.org/trails/policy#> .
@prefix trails: <https://w3id.org/trails#> .
"""
ROW = """[ a trails:Likelihood ; policy:testKind "%s" ; policy:outcomeClass "%s" ;
  policy:underSelf %s ; policy:underRival 0.40 ; policy:underNone 0.30 ;
  policy:polarity trails:Supports ; policy:strength 0.40 ] .
"""
REFUSED = {
    "a name that is taken": (
        "queries/hypothesize/drift.rq",
        "#+ summary: Mine.\nSELECT * WHERE { }\n",
        r"drift\.rq: the name hypothesize/drift is taken already \(by kgreason\)",
    ),
    "a role of the engine's own": (
        "queries/record/mine.rq",
        "#+ summary: Mine.\nSELECT * WHERE { }\n",
        r"nothing reads queries/record/mine\.rq; .* ROLE is one of audit, confidence",
    ),
    "a role that is misspelt": (
        "queries/hypothesise/mine.rq",
        "#+ summary: Mine.\nSELECT * WHERE { }\n",
        r"nothing reads queries/hypothesise/mine\.rq",
    ),
    "Turtle elsewhere": ("ontology/mine.ttl", POLICY, r"nothing reads ontology/mine\.ttl"),
    "no header": (
        "queries/report/mine.rq",
        "SELECT * WHERE { }\n",
        r"queries/report/mine\.rq: the header has no summary",
    ),
    "no text": (
        "queries/report/mine.rq",
        "#+ summary: \udcff",
        r"mine\.rq: this is not text in UTF",
    ),
    "no Turtle": ("ontology/policies/mine.ttl", "policy:x", r"mine\.ttl: this is not Turtle"),
    "a policy that is there": (
        "ontology/policies/mine.ttl",
        POLICY + "policy:delta a trails:Policy .",
        r"mine\.ttl: there is a policy delta already",
    ),
    "a row that is there": (
        "ontology/policies/mine.ttl",
        POLICY + "policy:frame policy:likelihood " + ROW % ("majority", "most", "0.7"),
        r"the policy frame has a row for the outcome 'most' of the test 'majority' already",
    ),
    "a row of no policy": (
        "ontology/policies/mine.ttl",
        POLICY + "policy:nowhere policy:likelihood " + ROW % ("mine", "most", "0.7"),
        r"there is no policy https://w3id\.org/trails/policy#nowhere",
    ),
    "a row that is no probability": (
        "ontology/policies/mine.ttl",
        POLICY + "policy:frame policy:likelihood " + ROW % ("mine", "most", "7.0"),
        r"mine\.ttl: underSelf",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_told_before_anything_is_written(
    folder: Path, tmp_path: Path, case: str
) -> None:
    name, content, message = REFUSED[case]
    path = write(folder, name, "")
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(OptionError, match=message):
        investigated(folder, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def test_two_extensions_may_not_share_a_name(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    with pytest.raises(OptionError, match=r"copy/.* is taken already \(by .*labels/"):
        kgreason.investigate(
            tmp_path / "data.ttl",
            shapes=tmp_path / "shapes.ttl",
            extend=[folder, tmp_path / "copy"],
        )


def test_a_template_of_a_stranger_reaches_nothing_in_python(tmp_path: Path) -> None:
    sly = "{% set out = cycler.__init__.__globals__.os.system('touch gone') %}"
    text = f"#+ summary: Sly.\n#+ title: Sly\n{sly}SELECT * WHERE {{ }}\n"
    write(tmp_path / "sly", "queries/report/sly.rq", text)
    with using((read(tmp_path / "sly"),)), pytest.raises(Exception, match=r"sly\.rq"):
        template("report", "sly").render()


def test_an_extension_may_bring_a_policy(tmp_path: Path) -> None:
    shipped = (ROOT / "ontology" / "policies" / "delta.ttl").read_text(encoding="utf-8")
    own = re.sub(r"policy:delta\b(?!\w)(?= )", "<https://example.org/policies#mine>", shipped)
    write(tmp_path / "own", "ontology/policies/mine.ttl", own)
    with using((read(tmp_path / "own"),)):
        assert "mine" in policy.names()
        assert policy.load("mine").iri.value == "https://example.org/policies#mine"
        assert policy.load("mine").numbers == policy.load("delta").numbers
    assert "mine" not in policy.names()


@pytest.mark.slow
def test_the_command_line_takes_folders(folder: Path, tmp_path: Path) -> None:
    given = (tmp_path / "data.ttl", "--shapes", tmp_path / "shapes.ttl", "--extend", folder)
    ledger = ("--ledger", tmp_path / "ledger")
    done = run("investigate", *given, *ledger)
    assert done.code == 0, done.err
    assert "Nodes without a label fail." in done.out
    assert "which-kinds" in run("history", "--extend", folder).out
    assert "majority" in run("history", "which-kinds", *ledger).out
    assert run("audit", *ledger).code == 0
    moved = shutil.move(folder, tmp_path / "elsewhere")
    gone = run("audit", *ledger)
    assert gone.code == 2
    assert "--extend DIR" in gone.err
    assert run("audit", *ledger, "--extend", moved).code == 0
    assert run("investigate", *given).code == 2
