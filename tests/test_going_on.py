"""Questions that go on from the one before them in a conversation: what they take over from it."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.graph import load
from kgreason.planner.going_on import goes_on, made_whole
from kgreason.review.messages import chunks
from tests.cli_support import run

DATA = """@prefix e: <https://example.org/lab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:Preprint rdfs:subClassOf e:Paper . e:Article rdfs:subClassOf e:Paper .
e:promisedOn rdfs:label "promised on" .
e:north a e:Venue ; e:country "NO" . e:south a e:Venue ; e:country "IT" .
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give 24 papers: half are preprints, each third has no abstract; two venues."""
    rows = [DATA]
    for n in range(24):
        kind, venue = ("Article", "Preprint")[n % 2], ("north", "south")[n % 4 // 2]
        abstract = f' ; e:abstract "a{n}"' if n % 3 else ""
        rows.append(
            f'e:p{n} a e:{kind} ; e:venue e:{venue} ; e:pages {n} ; e:promisedOn "x{n}"{abstract} .'
        )
    file = tmp_path_factory.mktemp("going-on") / "papers.ttl"
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        (
            "How many papers lack an abstract?",
            "And for preprints?",
            "How many preprints lack an abstract?",
        ),
        ("How many papers lack an abstract", "what about articles", "How many articles lack"),
        ("Which venue has most papers?", "and for preprints?", "Which venue has most preprints?"),
        (
            "How many papers have no promised date?",
            "and no abstract?",
            "How many papers have no abstract?",
        ),
        ("How many venues are in NO?", "And in IT?", "How many venues are in IT?"),
        ("How many venues are in NO?", "What about IT?", "How many venues are in IT?"),
        ("number of papers per venue", "and per promised date", "number of papers per promised"),
        ("Which papers have more than 9 pages?", "and more than 20?", "have more than 20 pages?"),
        ("How many papers are there?", "and without abstract?", "are there without abstract?"),
        (
            "Why do papers lack an abstract?",
            "Is it a matter of the venue?",
            "Why do papers lack an abstract: Is it a matter of the venue?",
        ),
    ],
)
def test_what_the_rest_names_takes_the_place_of_what_was_named(
    data: Path, before: str, question: str, whole: str
) -> None:
    assert goes_on(question)
    assert whole in made_whole(question, before, load([data]))


@pytest.mark.parametrize(
    "question",
    [
        "How many papers are there?",
        "And how many venues are there?",
        "Is C1 the same in 2025?",
        "Why do papers lack an abstract?",
        "Is a missing abstract due to the venue?",
    ],
)
def test_a_question_of_its_own_goes_on_from_none(question: str) -> None:
    assert not goes_on(question)


def test_words_that_name_nothing_change_nothing(data: Path) -> None:
    question = "and for the moon?"
    assert made_whole(question, "How many papers are there?", load([data])) == question


def test_a_conversation_goes_on_and_its_record_says_how(data: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"ledger": tmp_path / "ledger", "conversation": "c"}
    first = kgreason.plan("and for preprints?", data, strategy="react", **asked)
    assert first.result.as_dict()["question"] == "and for preprints?"  # nothing to go on from
    first.result.close()
    kgreason.plan("How many papers lack an abstract?", data, **asked).result.close()
    found = kgreason.plan("and for preprints?", data, **asked)
    assert "4 of 12 nodes of Preprint have no abstract" in found.answer
    assert found.result.as_dict()["question"] == "How many preprints lack an abstract?"
    why, *_ = (one for one in chunks(found.result.record) if one.kind == "routing")
    assert why.content.startswith("“and for preprints?” goes on from the question before it")
    assert audit(found.result.record).rules == set()
    found.result.close()
    ask = ("ask", "and for articles?", data, "--ledger", tmp_path / "ledger")
    told = run(*ask, "--conversation", "c")
    assert told.code == 0, told.err
    assert "is read as: How many articles lack an abstract?" in told.err
    assert "4 of 12 nodes of Article have no abstract" in told.out


def test_of_a_question_about_a_finding_only_the_year_changes(data: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"ledger": tmp_path / "ledger", "conversation": "c"}
    for question in ("How many papers lack an abstract?", "Is C1 the same in 2025?"):
        kgreason.plan(question, data, **asked).result.close()
    later = api.whole_question("And in 2026?", data, **asked)
    assert later == "Is C1 the same in 2026?"
    others = api.whole_question("And for preprints?", data, **asked)
    assert others == "How many preprints lack an abstract?"


def test_each_thing_that_it_may_be_a_matter_of_is_suspected(data: Path) -> None:
    question = "Why do papers lack an abstract: is it a matter of the file or of the venue?"
    (first, *_) = api.readings(question, data)
    venue = {"factor": "<https://example.org/lab/venue>"}
    assert first.suspected == ({"factor": [{"step": "source"}]}, venue)
    assert not first.unread
