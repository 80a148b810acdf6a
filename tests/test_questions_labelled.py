"""The labelled questions of `benchmarks/questions`: their form, not what a router makes of them."""

import csv
import re
from collections import Counter
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks" / "questions"
HALVES = {"learn": "L", "unseen": "U"}
COLUMNS = ["id", "question", "task_type", "also_right", "note"]
TYPES = {
    "general",
    "research",
    "risk-assessment",
    "summarisation",
    "data-quality",
    "root-cause",
}
NOTES = {"plain", "paraphrase", "misleading"}
# The half that decides stays as it was when the rules were written; another text is another set.
UNSEEN = "7a79368e19d60321927c6112630dab07a3707fca3ead8194d87aa63d36f0f5c4"

Row = dict[str, str]


def rows(half: str) -> list[Row]:
    with (FOLDER / f"{half}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        assert reader.fieldnames == COLUMNS
        return list(reader)


def words(question: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", question.lower()))


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words of both that each has (Jaccard)."""
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("half", HALVES)
def test_each_row_has_a_question_a_type_and_a_note(half: str) -> None:
    for row in rows(half):
        assert set(row) == set(COLUMNS), f"{row['id']}: too many cells"
        assert None not in row.values(), f"{row['id']}: too few cells"
        assert row["question"], row["id"]
        assert row["question"] == row["question"].strip(), row["id"]
        assert row["task_type"] in TYPES, row["id"]
        assert row["note"] in NOTES, row["id"]
        also = row["also_right"].split(";") if row["also_right"] else []
        assert set(also) <= TYPES - {row["task_type"]}, row["id"]
        assert len(set(also)) == len(also), row["id"]


@pytest.mark.parametrize(("half", "letter"), HALVES.items())
def test_names_are_given_once(half: str, letter: str) -> None:
    names = [row["id"] for row in rows(half)]
    assert names == [f"{letter}{place:03}" for place in range(1, len(names) + 1)]


@pytest.mark.parametrize("half", HALVES)
def test_each_type_has_questions_enough_easy_and_hard(half: str) -> None:
    found = rows(half)
    assert len(found) >= 180
    by_type = Counter(row["task_type"] for row in found)
    hard = Counter(row["task_type"] for row in found if row["note"] != "plain")
    assert set(by_type) == TYPES
    for kind in TYPES:
        assert by_type[kind] >= 28, kind
        assert hard[kind] >= by_type[kind] / 4, kind
    assert hard.total() <= len(found) / 3


@pytest.mark.parametrize("half", HALVES)
def test_one_right_answer_is_the_rule(half: str) -> None:
    found = rows(half)
    assert sum(bool(row["also_right"]) for row in found) <= len(found) / 10


def test_no_question_is_there_twice_nor_with_a_word_changed() -> None:
    found = [(row["id"], words(row["question"])) for half in HALVES for row in rows(half)]
    near = [
        (one, other)
        for (one, mine), (other, its) in combinations(found, 2)
        if alike(mine, its) > 0.5
    ]
    assert not near


def test_the_unseen_half_is_the_one_that_was_landed() -> None:
    assert sha256((FOLDER / "unseen.csv").read_bytes()).hexdigest() == UNSEEN


def test_each_type_is_defined() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (\S+)$", text, re.MULTILINE)) == TYPES
