"""The stored questions about the reasoning history, each with a case in cases/history."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from kgreason.base.errors import OptionError
from kgreason.base.store import Results, Store
from kgreason.base.terms import TRAILS
from kgreason.record import Record, policy
from kgreason.report import questions as history
from tests import audit_support
from tests.report_support import CASE, case

CASES = Path(__file__).parent / "cases" / "history"
NAMES = [question.name for question in history.questions()]


@pytest.fixture(scope="module")
def record() -> Record:
    return case()


@pytest.mark.parametrize("name", NAMES)
def test_question_is_answered_as_its_case_expects(record: Record, name: str) -> None:
    expected = CASES / name / "expected.txt"
    assert expected.is_file(), f"{expected} is missing; a question comes with a case"
    made = history.table(history.ask(record, name), record, width=150)
    assert made == expected.read_text(encoding="utf-8")


def test_every_case_has_a_question() -> None:
    assert sorted(path.name for path in CASES.iterdir()) == sorted(NAMES)


def test_every_question_is_put_as_people_do() -> None:
    for question in history.questions():
        assert question.header["question"].endswith("?")
        assert set(question.parameters) <= {"investigation", "hypotheses"}


OF_ALL = {
    "what-was-done",
    "which-origin-wins",
    "how-was-it-divided",
    "what-it-cost",
    "what-was-asked",
}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in OF_ALL])
def test_question_about_one_hypothesis(record: Record, name: str) -> None:
    by_number = history.ask(record, name, hypothesis="2")
    by_iri = history.ask(record, name, hypothesis=NamedNode(f"{CASE.value}:hypothesis:2"))
    assert list(by_number) == list(by_iri)
    assert {row["number"].value for row in by_number} <= {"2"}


def test_why_this_confidence_leads_from_the_prior_to_the_value(record: Record) -> None:
    rows = [r for r in history.ask(record, "why-this-confidence", hypothesis="1")
            if r["rule"].value == "frame"]  # fmt: skip
    values = [(float(r["before"].value), float(r["after"].value)) for r in rows]
    assert values[0][0] == 0.25
    assert values[-1][1] == 0.97619
    assert all(a[1] == b[0] for a, b in pairwise(values))
    for row in rows:
        told = re.fullmatch(r"likelihood (\S+), divided by (\S+)", row["inputs"].value)
        assert told is not None
        product = float(row["before"].value) * float(told[1])
        assert product / float(told[2]) == pytest.approx(float(row["after"].value), abs=1e-5)


@pytest.mark.parametrize("name", policy.names())
def test_why_this_confidence_shows_every_input_under_every_policy(
    name: str, tmp_path: Path
) -> None:
    record = audit_support.history(tmp_path, name)
    found = Store(record.store.inner, "the history").select(
        f"SELECT ?update ?number ?step ?rule ?property ?value WHERE {{ GRAPH {record.iri} {{ "
        f"?update a {TRAILS.ConfidenceUpdate} ; ?property ?value ; {TRAILS.rule} ?rule ; "
        f"{TRAILS.hypothesis}/{TRAILS.index} ?number ; {TRAILS.step}/{TRAILS.index} ?step }} "
        f"FILTER (isNumeric(?value) && ?property NOT IN ({TRAILS.before}, {TRAILS.after})) }}"
    )
    inputs: dict[tuple[str, ...], set[str]] = {}
    for row in found:
        key = tuple(row[name].value for name in ("number", "step", "rule"))
        inputs.setdefault(key, set()).add(row["value"].value)
    assert inputs
    numbers = {number for number, _, _ in inputs}
    for number in numbers:
        for row in history.ask(record, "why-this-confidence", hypothesis=number):
            key = (number, row["step"].value, row["rule"].value)
            told = set(re.findall(r"(?<= )[\d.-]+(?=,|$)", row["inputs"].value))
            assert told == inputs.pop(key)
    assert not inputs


def test_supported_ones_unless_others_are_named(record: Record) -> None:
    asked = {row["number"].value for row in history.ask(record, "what-supports")}
    assert asked == {"1", "4"}
    assert not history.ask(record, "what-supports", hypothesis="7")


@pytest.mark.parametrize(
    ("name", "hypothesis", "message"),
    [
        ("what-is-love", None, "there are: how-confidence-came-about"),
        ("what-supports", "99", "no hypothesis 99"),
        ("what-supports", f"{CASE.value}:frame:1", "no hypothesis"),
        ("what-supports", "1> } DROP ALL #", "no hypothesis"),
        ("what-was-done", "1", "not about single hypotheses"),
    ],
)
def test_what_cannot_be_asked(
    record: Record, name: str, hypothesis: str | None, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        history.ask(record, name, hypothesis=hypothesis)


def test_table_fits_its_width_and_loses_nothing(record: Record) -> None:
    rows = history.ask(record, "what-was-tested")
    for width in (60, 100, 400):
        made = history.table(rows, record, width=width)
        assert "stratification" in re.sub(r"\s", "", made) or width < 100
        if width >= 100:
            assert max(map(len, made.splitlines())) <= width


def test_table_of_nothing() -> None:
    assert history.table(Results(["a"], [])) == "Nothing.\n"
