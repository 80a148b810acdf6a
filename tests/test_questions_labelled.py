"""The labelled questions of `benchmarks/questions`: their form, not what a router makes of them."""

import csv
import re
from collections import Counter
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks" / "questions"
# Each file with the letter and the first number of its names, and the least number of questions it
# has in all and of each type.
FILES = {
    "learn": ("L", 1, 180, 28),
    "unseen": ("U", 1, 180, 28),
    "learn-2": ("L", 222, 500, 80),
    "unseen-2": ("U", 216, 200, 30),
    "learn-3": ("L", 722, 1000, 160),
    "learn-4": ("L", 2042, 1500, 240),
    "unseen-3": ("V", 1, 300, 50),
    "unseen-4": ("V", 301, 150, 25),
}
# What is hard was wanted more than what is plain here.
HARD = {"learn-3"}
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
# The questions that decide stay as they were landed; another text is another set.
UNSEEN = {
    "unseen": "7a79368e19d60321927c6112630dab07a3707fca3ead8194d87aa63d36f0f5c4",
    "unseen-2": "9d402788354d4e3f6000858a82d7f55d34102536520e5830d36a588520cdacdd",
    "unseen-3": "17fe278092f7956f8b4f74b7d282dec6b53bd28194acd66eb8eb5643384989e6",
    "unseen-4": "5536eaf49952a168b46054c3ed07274bf9dc00aa2747aeaa209ef7645ab56023",
}

Row = dict[str, str]


def rows(name: str) -> list[Row]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        assert reader.fieldnames == COLUMNS
        return list(reader)


def words(question: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", question.lower()))


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words of both that each has (Jaccard)."""
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("name", FILES)
def test_each_row_has_a_question_a_type_and_a_note(name: str) -> None:
    for row in rows(name):
        assert set(row) == set(COLUMNS), f"{row['id']}: too many cells"
        assert None not in row.values(), f"{row['id']}: too few cells"
        assert row["question"], row["id"]
        assert row["question"] == row["question"].strip(), row["id"]
        assert row["task_type"] in TYPES, row["id"]
        assert row["note"] in NOTES, row["id"]
        also = row["also_right"].split(";") if row["also_right"] else []
        assert set(also) <= TYPES - {row["task_type"]}, row["id"]
        assert len(set(also)) == len(also), row["id"]


@pytest.mark.parametrize("name", FILES)
def test_names_are_given_once(name: str) -> None:
    letter, first, _, _ = FILES[name]
    names = [row["id"] for row in rows(name)]
    assert names == [f"{letter}{place:03}" for place in range(first, first + len(names))]


@pytest.mark.parametrize("half", ["learn", "unseen"])
def test_a_second_file_goes_on_numbering_where_the_first_ends(half: str) -> None:
    assert FILES[f"{half}-2"][1] == len(rows(half)) + 1


def test_later_files_to_learn_from_go_on_numbering() -> None:
    assert FILES["learn-3"][1] == len(rows("learn")) + len(rows("learn-2")) + 1
    assert FILES["learn-4"][1] == FILES["learn-3"][1] + len(rows("learn-3"))


@pytest.mark.parametrize("name", FILES)
def test_each_type_has_questions_enough_easy_and_hard(name: str) -> None:
    _, _, least, of_each_type = FILES[name]
    found = rows(name)
    assert len(found) >= least
    by_type = Counter(row["task_type"] for row in found)
    hard = Counter(row["task_type"] for row in found if row["note"] != "plain")
    assert set(by_type) == TYPES
    for kind in TYPES:
        assert by_type[kind] >= of_each_type, kind
        assert hard[kind] >= by_type[kind] / 4, kind
    assert name in HARD or hard.total() <= len(found) / 3
    # Both kinds of hard questions are there for each type.
    kinds = {(row["task_type"], row["note"]) for row in found}
    assert kinds == {(kind, note) for kind in TYPES for note in NOTES}


@pytest.mark.parametrize("name", FILES)
def test_one_right_answer_is_the_rule(name: str) -> None:
    found = rows(name)
    assert sum(bool(row["also_right"]) for row in found) <= len(found) / 10


@pytest.mark.slow
def test_no_question_is_there_twice_nor_with_a_word_changed() -> None:
    found = [(row["id"], words(row["question"])) for name in FILES for row in rows(name)]
    near = [
        (one, other)
        for (one, mine), (other, its) in combinations(found, 2)
        if alike(mine, its) > 0.5
    ]
    assert not near


@pytest.mark.parametrize(("name", "digest"), UNSEEN.items())
def test_the_unseen_questions_are_those_that_were_landed(name: str, digest: str) -> None:
    assert sha256((FOLDER / f"{name}.csv").read_bytes()).hexdigest() == digest


def test_each_type_is_defined() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (\S+)$", text, re.MULTILINE)) == TYPES
