"""The figures of docs/concepts.md are those of the shipped example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgreason
from kgreason.report.entries import ReportedHypothesis, ReportedSymptom
from kgreason.report.result import Result

pytestmark = pytest.mark.slow  # whole investigations of an example

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "supply-chain"
PAGE = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    with kgreason.investigate(
        EXAMPLE / "data",
        shapes=EXAMPLE / "shapes.ttl",
        ontology=EXAMPLE / "ontology.ttl",
        ledger=tmp_path_factory.mktemp("concepts") / "ledger",
    ) as made:
        yield made


@pytest.fixture(scope="module")
def symptom(result: Result) -> ReportedSymptom:
    (one,) = (s for s in result.symptoms if "arrive before it leaves" in s.name)
    return one


def member(symptom: ReportedSymptom, words: str) -> ReportedHypothesis:
    (one,) = (h for h in symptom.hypotheses if words in h.statement)
    return one


def test_the_counts_are_those_of_the_run(symptom: ReportedSymptom) -> None:
    pelagos = member(symptom, "pelagos")
    assert f"{symptom.failing} of {symptom.population:,} shipments break it" in PAGE
    assert pelagos.inside is not None
    inside = pelagos.inside.failing
    assert f"{inside} of the {symptom.failing} failing shipments lie in the region, 92 %" in PAGE
    assert round(100 * inside / symptom.failing) == 92
    assert symptom.verdict == "explained"
    assert pelagos.status.endswith("supported")
    assert member(symptom, "sea").status.endswith("refuted")


def test_the_notes_of_the_tests_are_told(result: Result, symptom: ReportedSymptom) -> None:
    number = member(symptom, "pelagos").id.rpartition(":")[2]
    rows = result.ask("what-supports", f"H{number}")
    notes = " ".join(row["found"].value for row in rows)
    assert "69 of 122 nodes inside fail (57 %), 6 of 978 outside (0.6 %)" in notes
    assert "69 of 122 shipments by pelagos fail (57 %), and 6 of 978 others (0.6 %)" in PAGE
    assert "55/98 against 2/161, 14/24 against 4/817" in notes
    assert "fail in 55 of 98 cases, the others in 2 of 161" in PAGE
    number = member(symptom, "sea").id.rpartition(":")[2]
    notes = " ".join(row["found"].value for row in result.ask("what-supports", f"H{number}"))
    assert "57 of 259 nodes inside fail (22 %), 18 of 841 outside (2.1 %)" in notes
    assert "57 of 259 shipments by sea fail (22 %), and 18 of 841 others (2.1 %)" in PAGE


def test_each_update_is_that_of_the_record(result: Result, symptom: ReportedSymptom) -> None:
    pattern = r"^\| (\d+) \| ([a-z ]+) \| (\w+) \| (\w+) \| ([\d.]+) \|$"
    told = re.findall(pattern, PAGE, re.MULTILINE)
    assert len(told) == 10
    number = member(symptom, "pelagos").id.rpartition(":")[2]
    rows = [
        row
        for row in result.ask("how-confidence-came-about", f"H{number}")
        if row["rule"].value == "frame"
    ]
    found = [
        (
            row["step"].value,
            row["test"].value.replace("-", " "),
            row["outcome"].value,
            f"{float(row['after'].value):.3f}",
        )
        for row in rows
    ]
    assert [(step, test, outcome, after) for step, test, _, outcome, after in told] == found
    assert f"H{number}" in PAGE
