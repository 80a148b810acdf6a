"""Questions for the first of an order, for numbers in words, and for nodes that have a value."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.base.words import content
from kgreason.graph import load
from kgreason.planner.going_on import goes_on, made_whole
from kgreason.planner.measures import number_in, period_in
from tests.cli_support import run

DATA = """@prefix e: <https://example.org/yard/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:red a e:Company . e:blue a e:Company . e:idle a e:Company .
e:dock a e:Quay . e:plum a e:Person ; e:at e:gate . e:gate a e:Gate ; e:of e:yard .
e:yard a e:Yard ; e:owner e:red .
"""


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give twelve boxes of two companies, with masses and days, some without a note."""
    rows = [DATA]
    for n in range(12):
        note = ' ; e:note "x"' if n % 4 else ""
        rows.append(
            f"e:b{n} a e:Box ; e:sender e:{'blue' if n % 3 else 'red'} ; e:grossMass {n} ; e:colour"
            f' "{"green" if n % 2 else "black"}" ; e:sentOn "2026-01-{n + 10}"^^xsd:date{note} .'
        )
    file = tmp_path_factory.mktemp("yard") / "yard.ttl"
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "answered", "said"),
    [
        ("Which box is the heaviest?", True, "with the highest grossMass: b11 (11), b10 (10)"),
        ("Which boxes are lightest?", True, "with the lowest grossMass: b0 (0), b1 (1)"),
        ("What is the latest box?", True, "with the latest sentOn: b11 (2026-01-21), b10"),
        ("Which boxes are heavier than nine?", True, "more than 9: b11 (11), b10 (10)."),
        ("The two oldest boxes", True, "earliest sentOn: b0 (2026-01-10), b1 (2026-01-11) and 10"),
        ("The 3 heaviest boxes", True, "b11 (11), b10 (10), b9 (9) and 9 more"),
        ("Which box is the longest?", False, "by which they could be ordered"),
        ("Which box has the lowest colour?", False, "so none is the lowest"),
        ("Which company sent the latest box?", True, "Box of the latest sentOn (by sender), each"),
        ("Which company has the box of the lowest gross mass?", True, "red b0 0; blue b1 1"),
        ("Which company sends the fewest boxes?", True, "(by sender): idle (0), red (4), blue (8)"),
        ("Which company has the largest number of boxes?", True, "(by sender): blue (8), red (4)"),
        ("Which company has the deepest boxes?", False, "could be ordered in this way"),
        ("The company with the most boxes", True, "(by sender): blue (8), red (4)."),
        (
            "Which companies have more than five boxes?",
            True,
            "more than 5 of Box (by sender): blue",
        ),
        ("How many people are there?", True, "Person has 1 nodes: plum"),
        (
            "How are people and companies connected?",
            True,
            "Gate node that is at of Person and whose",
        ),
        ("How are people and quays connected?", True, "in up to three steps"),
        ("Which company has most people?", True, "(by owner, of and at): red (1)."),
        ("How many black boxes have no note?", True, "3 of 6 nodes of Box with “black” as colour"),
        ("What is the average gross mass of green boxes?", True, "nodes 6, least 1, mean 6,"),
        ("Which green box has the lowest gross mass?", True, "lowest grossMass: b1 (1), b3 (3)"),
        ("The latest black box", True, "with “black” as colour with the latest sentOn: b10"),
        ("How many senders do black boxes have?", True, "nodes of Box with “black” as colour"),
        # Times, numbers and nodes narrow down, or are told as left.
        ("How many boxes were sent in 2026?", True, "12 of 12 nodes of Box have sentOn in 2026"),
        ("How many boxes were sent before 2026-01-12?", True, "2 of 12 nodes of Box have sentOn"),
        ("Which boxes were sent in February 2026?", True, "0 of 12 nodes of Box have sentOn in"),
        ("How many black boxes were sent since 2026-01-18?", True, "2 of 6 nodes of Box with “bla"),
        ("How many boxes per sender in 2026?", True, "is called “2026”; the answer takes no"),
        ("How many boxes have a colour 7?", True, "is called “7”; the answer takes no account"),
        ("List three boxes", True, "Box has 12 nodes: b0, b1, b10 and 9 more."),
        ("Which boxes does <https://example.org/yard/red> send?", True, "4 of 12 nodes of Box"),
        (
            "How many colours does b3 have in 2026?",
            True,
            "green. Nothing near what is asked about is called “20",
        ),
        ("Do boxes of b4 have a colour in 2026?", True, "is called “2026”; the answer takes no"),
        ("What gross mass does b3 have?", True, "grossMass of b3: 3."),
        ("Who is the sender company of b3?", True, "sender of b3: red"),
        ("Which box has been out the longest since it was sent?", True, "earliest sentOn: b0"),
    ],
)
@pytest.mark.slow
def test_what_comes_first_and_how_many_is_told(
    yard: Path, question: str, answered: object, said: str
) -> None:
    found = kgreason.plan(question, yard, strategy="react")
    assert said in found.answer
    assert found.answered is answered
    assert audit(found.result.record).rules == set()


def test_those_that_tie_with_the_last_are_told_too(tmp_path: Path) -> None:
    rows = [f"<urn:b{n}> a <urn:v:Box> ; <urn:v:mass> {n // 2} ." for n in range(8)]
    (tmp_path / "boxes.ttl").write_text("\n".join(rows), encoding="utf-8")
    found = kgreason.plan("The three heaviest boxes", tmp_path / "boxes.ttl", strategy="react")
    assert found.answer.count("(3)") == found.answer.count("(2)") == 2
    assert "and 4 more" in found.answer
    assert len(found.citations) == 4


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("Which company has most boxes?", "and the fewest?", "Which company has fewest boxes?"),
        ("Which company has the fewest boxes?", "And the most?", "company has the most boxes?"),
        ("Which box is the heaviest?", "and which one is the lightest?", "box is the lightest?"),
        ("Which company has most boxes?", "and the fewest people?", "company has fewest people?"),
        ("How many boxes were sent in 2025?", "and since May 2026?", "were sent since May 2026?"),
        ("The three heaviest boxes", "and the two heaviest?", "The two heaviest boxes"),
    ],
)
def test_another_order_takes_the_place_of_the_one_before(
    yard: Path, before: str, question: str, whole: str
) -> None:
    assert goes_on(question)
    assert whole in made_whole(question, before, load([yard]))


def test_an_order_goes_on_from_no_question_without_one(yard: Path) -> None:
    asked = "and the fewest?"
    assert made_whole(asked, "How many boxes are there?", load([yard])) == asked


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("more than five", "5"), ("the twelve", "12"), ("more than one", "1"), ("which one", None),
        ("more than 2.5", "2.5"), ("a hundred", "100"), ("two of 7", "7"), ("someone", None),
        ("more than 1,000", "1000"), ("12,345,678.5 of", "12345678.5"), ("2,5 metres", "2.5"),
        ("1,0000", "1.0000"),
    ],
)  # fmt: skip
def test_numbers_are_read_in_words(text: str, number: str | None) -> None:
    found = number_in(text)
    assert (found and found[0]) == number


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("companies", "company"), ("boxes", "box"), ("people", "person"), ("persons", "person"),
        ("taxa", "taxon"), ("churches", "church"), ("classes", "class"), ("analyses", "analysis"),
        ("caches", "cache"), ("movies", "movie"), ("statuses", "status"), ("houses", "house"),
        ("species", "species"), ("axes", "axis"), ("indices", "index"),
    ],
)  # fmt: skip
def test_plurals_have_the_word_of_their_singular(several: str, one: str) -> None:
    assert content(several) == content(one)


def test_a_question_that_asks_for_no_cause_and_names_nothing_is_only_looked_at(
    yard: Path, tmp_path: Path
) -> None:
    """The router takes this for a cause; nothing in the graph can be tested for it."""
    question = "Explain the reason behind box failures of the company"
    shown = run("route", question, "--format", "json")
    assert '"root-cause"' in shown.out
    assert not api.asks_for_a_look(question)
    assert api.asks_for_a_look("Which company has most boxes?")
    routed = api.routed("Which company has most boxes?", unread="hypothesis").decision
    assert routed.pattern == "react"
    assert "names nothing that hypothesis could test" in routed.rationale
    asked = ("ask", "Trace how the boxes got there", str(yard), "--ledger", str(tmp_path / "l"))
    ran = run(*asked)
    assert ran.code in {0, 1}, ran.err


def test_a_class_narrows_a_broken_rule_down(tmp_path: Path) -> None:
    rows = [
        "@prefix e: <https://example.org/v#> . @prefix sh: <http://www.w3.org/ns/shacl#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "e:Small rdfs:subClassOf e:Crate . e:Large rdfs:subClassOf e:Crate .",
        "e:New rdfs:subClassOf e:Crate .",
    ]
    for n in range(60):
        kind = ("Small", "Large")[n % 2] if n < 50 else "New"
        seal = "" if n % 5 == 0 and n < 50 else ' ; e:seal "s"'
        rows.append(f"e:c{n} a e:{kind} ; e:from e:{'north' if n % 5 == 0 else 'south'}{seal} .")
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    shape = (
        "e:S a sh:NodeShape ; sh:targetClass e:Crate ; "
        "sh:property [ sh:path e:seal ; sh:minCount 1 ] ."
    )
    (tmp_path / "shapes.ttl").write_text("\n".join([*rows[:2], shape]), encoding="utf-8")
    files: dict[str, Any] = {"data": tmp_path / "data.ttl", "shapes": tmp_path / "shapes.ttl"}
    (first, *_) = api.readings("Why do small crates lack a seal?", **files)
    assert (first.failing, first.nodes, first.within) == (5, 25, True)
    (whole, *_) = api.readings("Why do crates lack a seal?", **files)
    assert (whole.failing, whole.nodes, whole.within) == (10, 60, False)
    with pytest.raises(api.UnreadError, match="none of 10 nodes breaks the rule"):
        api.readings("Why do new crates lack a seal?", **files)
    found = kgreason.plan("Why do small crates lack a seal?", strategy="hypothesis", **files)
    assert [one["failing"] for one in found.result.as_dict()["symptoms"]] == [5]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in 2020", "2020", "2020~"),
        ("in March 2020", "2020-03", "2020-03~"),
        ("since 2020-03", "2020-03", "~"),
        ("after 2020", "2020~", "~"),
        ("before May 2021", "", "2021-05"),
        ("until May 2021", "", "2021-05~"),
        ("in 20201", None, None),
        ("2020 boxes", None, None),
    ],
)
def test_times_are_read(text: str, first: str | None, last: str | None) -> None:
    found = period_in(text)
    assert (found and found.first, found and found.last) == (first, last)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "How many notices have the procedure neg-wo-call?",
            "12 of 48 nodes of Notice have “neg-wo",
        ),
        ("How many notices have procedure no-call?", "12 of 48 nodes of Notice have “no-call”"),
        ("Are urgent notices related to the sender?", "Sender"),
    ],
)
def test_a_code_in_a_question_is_that_code(tmp_path: Path, question: str, said: str) -> None:
    """What begins with “no” denies nothing, and the code that stands there is the one meant."""
    rows = ["@prefix e: <https://example.org/n/> .", "e:s a e:Sender ."]
    for n in range(48):
        code = ("neg-wo-call", "neg-w-call", "no-call", "open")[n % 4]
        urgent = "urgent" if n % 5 else "plain"
        rows.append(f'e:n{n} a e:Notice ; e:procedure "{code}" ; e:pace "{urgent}" ; e:by e:a{n} .')
        rows.append(f"e:a{n} a e:Agent ; e:sender e:s .")
    file = tmp_path / "notices.ttl"
    file.write_text("\n".join(rows), encoding="utf-8")
    assert said in kgreason.plan(question, file, strategy="react").answer
