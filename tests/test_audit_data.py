"""What a record cannot show by itself is shown by the data, or by a second engine."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from kgreason.audit import AuditReport, Sample, audit, recheck
from kgreason.audit.findings import DATA, PIN
from kgreason.audit.second_engine import recomputed
from kgreason.base.terms import TRAILS
from kgreason.graph import load
from kgreason.record import Record
from kgreason.review.held import Given, held
from tests.audit_forger import forged
from tests.audit_support import CASES, kept_in, lab, relinked, statements, tampered, tiny
from tests.cli_support import run

CAREFUL: Final = {
    mutant["name"]: mutant["update"]
    for mutant in tomllib.loads((CASES / "careful.toml").read_text(encoding="utf-8"))["mutant"]
}
UPDATE: Final = """DELETE { ?u trails:after ?a . ?h trails:confidence ?a }
INSERT { ?u trails:after ?b . ?h trails:confidence ?b }
WHERE { ?h trails:kind trails:SourceCause ; trails:lastUpdate ?u . ?u trails:after ?a
  BIND (?a - 0.000001 AS ?b) }"""
CAUSE: Final = """DELETE { ?t trails:cause ?c } INSERT { ?t trails:cause "passed every gate" }
WHERE { ?t trails:rule "support" ; trails:cause ?c }"""
FIGURE: Final = """DELETE { ?e trails:holds ?n } INSERT { ?e trails:holds 3 }
WHERE { ?e trails:testKind "placebo" ; trails:holds ?n }"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def laboratory(place: Path) -> Record:
    return lab(place)


@pytest.fixture
def on_data(place: Path) -> Callable[..., AuditReport]:
    """Hold a record to the data of the laboratory."""

    def made(record: Record, most: int | None = None, **given: Any) -> AuditReport:
        asked = Given([str(place / "data")], **given)
        return held(audit(record), record, asked, Sample(most))

    return made


def test_what_is_not_checked_is_told(laboratory: Record) -> None:
    found = audit(laboratory)
    assert found.unchecked == (DATA, PIN)
    assert str(found).count("\nnot checked whether ") == len(found.unchecked)


def test_the_data_give_what_is_recorded(
    laboratory: Record, on_data: Callable[..., AuditReport]
) -> None:
    found = on_data(laboratory)
    assert found.ok, str(found)
    assert found.unchecked == (PIN,)
    (said,) = found.said
    assert "2 of 2 symptoms, 3 of 3 regions" in said
    assert "13 of 13 tests." in said


def test_a_sample_is_told_and_always_the_same(
    laboratory: Record, on_data: Callable[..., AuditReport]
) -> None:
    found = on_data(laboratory, most=1)
    assert found.said[0].startswith("Done again on the data: 1 of 2 symptoms, 1 of 3 regions")
    assert found.said[0].endswith("(drawn with seed 0).")
    assert [one.by for one in found.unchecked] == ["--data PATH --all", PIN.by] or [
        one.by for one in found.unchecked
    ] == [PIN.by, "--data PATH --all"]
    assert Sample(3).of("x", range(99)) == Sample(3).of("x", range(99))
    assert Sample(3).of("x", range(99)) != Sample(3, seed=1).of("x", range(99))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("the query of who fails gives another set of nodes", "failing by its query"),
        ("a node is cited that is not in the graph", "no such node"),
        ("a node is cited that does not fail", "that https://example.org/lab/s0"),
        ("more nodes pass in all, outside every region", "population is recorded as 160"),
    ],
)
def test_the_data_show_what_was_forged(
    name: str, says: str, laboratory: Record, on_data: Callable[..., AuditReport]
) -> None:
    record = forged(laboratory, tampered(laboratory, CAREFUL[name]))
    assert audit(record).ok
    found = on_data(record)
    assert found.rules == {"data"}
    assert says in str(found)


@pytest.mark.slow
def test_a_count_of_a_test_is_counted_again(
    laboratory: Record, on_data: Callable[..., AuditReport]
) -> None:
    record = forged(laboratory, tampered(laboratory, FIGURE))
    found = on_data(record)
    assert "holds is recorded as 3, but the data give 0." in str(found)


@pytest.mark.slow
def test_a_query_of_the_same_number_of_other_nodes_is_found(
    laboratory: Record, on_data: Callable[..., AuditReport]
) -> None:
    """The count fits; only the shapes say that these are others."""
    update = """DELETE { ?s trails:failingQuery ?q } INSERT { ?s trails:failingQuery ?other }
WHERE { ?s trails:index 1 ; trails:failingQuery ?q ; trails:failing ?n
  BIND (CONCAT("SELECT ?focus WHERE { ?focus a <https://example.org/lab/Sample> } LIMIT ", STR(?n))
    AS ?other) }"""
    record = relinked(tampered(laboratory, update))
    assert audit(record).ok
    assert "failing by its query is recorded as" in str(on_data(record))


def test_other_data_are_told_first_in_one_sentence(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    south = tmp_path / "data" / "south.ttl"
    south.write_text(south.read_text(encoding="utf-8") + "e:more a e:Sample .", encoding="utf-8")
    found = held(audit(record), record, Given([str(tmp_path / "data")]), Sample())
    lines = str(found).splitlines()
    assert lines[1].startswith("These are other data than those that were investigated (finger")
    assert {record.iri.value} < {finding.node for finding in found.findings}


def test_the_same_files_under_other_names_are_told(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    (tmp_path / "data").rename(tmp_path / "moved")
    given = Given([str(tmp_path / "moved")])
    assert held(audit(record), record, given, Sample()).ok
    (tmp_path / "moved" / "south.ttl").rename(tmp_path / "moved" / "other.ttl")
    found = held(audit(record), record, given, Sample())
    assert found.said[0].startswith("These are the data that were investigated, but under other")


def test_without_the_shapes_no_test_is_run_and_that_is_told(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    shapes = tmp_path / "shapes.ttl"
    shapes.rename(tmp_path / "elsewhere.ttl")
    data = [str(tmp_path / "data")]
    found = held(audit(record), record, Given(data), Sample())
    assert found.ok, str(found)
    assert "tests" not in found.said[0]
    assert [one.by for one in found.unchecked] == [PIN.by, "--data PATH --shapes FILE"]
    again = held(audit(record), record, Given(data, [str(tmp_path / "elsewhere.ttl")]), Sample())
    assert again.ok
    assert " tests" in again.said[0]


def test_a_region_that_gives_other_nodes_is_told(laboratory: Record, place: Path) -> None:
    update = """DELETE { ?h trails:region ?q } INSERT { ?h trails:region ?none }
WHERE { ?h trails:kind trails:SourceCause ; trails:region ?q
  BIND (REPLACE(?q, "feed-3", "feed-9") AS ?none) }"""
    differences = recheck(tampered(laboratory, update), load([place / "data"]))
    assert {(d.figure, d.found) for d in differences} >= {("inside", "0"), ("insideFailing", "0")}


# --- a second engine --------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["frame", "delta", "competing-scores"])
@pytest.mark.slow
def test_the_second_engine_comes_to_the_very_figures(tmp_path: Path, policy: str) -> None:
    record = tiny(tmp_path, policy=policy)
    found = recomputed(audit(record), record)
    assert found.ok, str(found)
    written = [q for q in statements(record) if q.object == TRAILS.ConfidenceUpdate]
    assert found.checked["recomputed"] == len(written) > 0
    assert found.said[0].startswith(f"Worked out again in rdflib: {len(written)} updates of")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "says"),
    [
        (UPDATE, "after comes to 0."),
        (CAUSE, "cause comes to passes every gate, but passed every gate is recorded"),
    ],
    ids=["a millionth", "a cause"],
)
def test_the_second_engine_sees_the_least_difference(
    update: str, says: str, laboratory: Record
) -> None:
    record = relinked(tampered(laboratory, update))
    found = recomputed(audit(laboratory), record)
    assert found.rules == {"second-engine"}
    assert says in str(found)


@pytest.mark.slow
def test_the_command_line_holds_a_record_to_its_data(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    kept_in(tmp_path / "ledger", record).store.close()
    held_ = run("audit", "--ledger", tmp_path / "ledger", "--data", tmp_path / "data", "--all")
    assert held_.code == 0, held_.out
    assert "Done again on the data: " in held_.out
    both = run(
        "audit", "--second-engine", "--format", "json", "--ledger", tmp_path / "ledger",
        "--data", tmp_path / "data" / "north.ttl", tmp_path / "data" / "south.ttl",
    )  # fmt: skip
    told = json.loads(both.out)
    assert both.code == 0, both.out
    assert [one["by"] for one in told["unchecked"]] == [PIN.by, "--data PATH --all"]
    assert told["checked"]["recomputed"] > 0
    wrong = run("audit", "--ledger", tmp_path / "ledger", "--all")
    assert wrong.code == 2


# --- a report given out before ----------------------------------------------------------


@pytest.mark.parametrize("ending", ["md", "html"])
@pytest.mark.slow
def test_a_report_is_run_again_and_what_differs_is_named(tmp_path: Path, ending: str) -> None:
    record = tiny(tmp_path)
    ledger, out = tmp_path / "ledger", tmp_path / f"report.{ending}"
    kept_in(ledger, record).store.close()
    assert run("report", "--ledger", ledger, "--out", out).code == 0
    again = run(
        "report", "--rerun", "--ledger", ledger, "--given", out, "--data", tmp_path / "data"
    )
    assert again.code == 0, again.out
    assert "; 0 come out otherwise." in again.out.splitlines()[0]
    text = out.read_text(encoding="utf-8")
    assert text.count("south.ttl") > 1
    out.write_text(text.replace("south.ttl", "north.ttl", 1), encoding="utf-8")
    words = run("report", "--rerun", "--ledger", ledger, "--given", out)
    assert words.code == 1
    assert "its query gives the same, but the report says something else." in words.out
    update = """DELETE { ?s trails:population ?n } INSERT { ?s trails:population 47 }
WHERE { ?s trails:population ?n }"""
    other = tampered(record, update)
    kept_in(tmp_path / "other", other).store.close()
    out.write_text(text, encoding="utf-8")
    changed = run("report", "--rerun", "--ledger", tmp_path / "other", "--given", out)
    assert changed.code == 1
    assert "report/" in changed.out
    assert "its query gives " in changed.out


def test_a_claim_that_the_data_do_not_bear_out_is_named(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    ledger = tmp_path / "ledger"
    kept_in(ledger, record).store.close()
    south = tmp_path / "data" / "south.ttl"
    text = south.read_text(encoding="utf-8").replace("e:south1 a e:Sample .", "")
    south.write_text(text + "e:south1 a e:Sample ; e:mass 3.5 .", encoding="utf-8")
    found = run("report", "--rerun", "--ledger", ledger, "--data", tmp_path / "data")
    assert found.code == 1
    assert "These are other data than those that were investigated" in found.out
    assert "“Nodes described in the source south.ttl fail.”: " in found.out


@pytest.mark.parametrize(
    "asked",
    [("--rerun",), ("--given", "x.md"), ("--rerun", "--given", "nowhere.md")],
    ids=["nothing", "no rerun", "no file"],
)
def test_what_cannot_be_run_again_is_refused(tmp_path: Path, asked: tuple[str, ...]) -> None:
    kept_in(tmp_path / "ledger", tiny(tmp_path)).store.close()
    assert run("report", "--ledger", tmp_path / "ledger", *asked).code == 2
