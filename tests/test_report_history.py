"""The stored questions about the reasoning history, each with a case in cases/history."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from kgreason.errors import OptionError
from kgreason.ledger import Record
from kgreason.report import history
from kgreason.store import Results
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


@pytest.mark.parametrize("name", [n for n in NAMES if n != "what-was-done"])
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
        product = float(row["before"].value) * float(row["likelihood"].value)
        assert product / float(row["normaliser"].value) == pytest.approx(
            float(row["after"].value), abs=1e-5
        )


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
