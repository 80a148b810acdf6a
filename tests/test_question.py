"""An open question: what it may mean, who chooses, and that the answer is like any other."""

import json
from pathlib import Path

import pytest

from kgreason import api
from kgreason.base.errors import KgreasonError
from kgreason.graph import load
from kgreason.model.choosing import choose
from kgreason.model.spending import Spending
from kgreason.observe.question import outcomes
from kgreason.observe.question_words import Vocabulary
from tests.cli_support import run
from tests.model_support import Stub

DATA = """@prefix e: <https://example.org/lab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:Paper rdfs:label "article"@en .
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [DATA]
    for n in range(24):
        state = "retracted" if n % 3 == 0 else "published"
        doi = "" if n % 4 == 0 else f' ; e:doi "d{n}"'
        rows.append(f'e:p{n} a e:Paper ; e:state "{state}" ; e:daysInReview {n}{doi} .')
    file = tmp_path_factory.mktemp("question") / "data.ttl"
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "first", "failing"),
    [
        ("Which papers were retracted, and why?", "whose state is “retracted”", 8),
        ("Why do articles have no DOI?", "without doi", 6),
        ("Why do some stay long in review?", "daysInReview is in the upper quarter", 6),
        ("Why do so few days go to the review?", "daysInReview is in the lower quarter", 6),
    ],
)
def test_a_question_is_read_by_the_names_of_the_graph(
    data: Path, question: str, first: str, failing: int
) -> None:
    found = outcomes(question, Vocabulary(load([data])))
    assert first in found[0].words
    assert found[0].failing == failing
    assert found == sorted(found, key=lambda one: -one.score)


def test_what_few_have_is_asked_about_and_not_what_most_lack(tmp_path: Path) -> None:
    rows = [DATA]
    for n in range(24):
        gone = f' ; e:retractedOn "2026-01-{n + 1:02}"' if n % 6 == 0 else ""
        rows.append(f'e:p{n} a e:Paper ; e:doi "d{n}"{gone} .')
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    names = Vocabulary(load([tmp_path / "data.ttl"]))
    (first, *_) = outcomes("Why are papers retracted?", names)
    assert (first.words, first.failing) == ("Paper with retractedOn", 4)
    (first, *_) = outcomes("Why are papers without retractedOn?", names)
    assert (first.words, first.failing) == ("Paper without retractedOn", 20)


def test_what_something_points_at_can_be_asked_about(tmp_path: Path) -> None:
    """That papers were retracted is said by notices, and of no paper itself."""
    rows = [DATA, *(f'e:p{n} a e:Paper ; e:doi "d{n}" .' for n in range(24))]
    rows += [f"e:n{n} a e:Notice ; e:retracts e:p{6 * n} ." for n in range(4)]
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    names = Vocabulary(load([tmp_path / "data.ttl"]))
    for question in ("Which factors go with retraction of papers?", "Why are papers retracted?"):
        first = outcomes(question, names)[0]
        assert first.words == "Paper that something points at by retracts"
        assert (first.failing, first.nodes) == (4, 24)


def test_a_class_of_findings_is_about_what_they_were_found_in(tmp_path: Path) -> None:
    """The anomalies of a graph are nodes, and what is puzzling is where they were detected."""
    rows = [DATA, *(f'e:d{n} a e:Delivery ; e:sent "d{n}" .' for n in range(24))]
    rows += [f"e:a{n} a e:Anomaly ; e:detectedIn e:d{6 * n} ." for n in range(4)]
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    for question in (
        "What is the root cause of the anomalies in this supply chain graph?",
        "Why do some deliveries have an anomaly?",
    ):
        first, *others = api.readings(question, [tmp_path / "data.ttl"])
        said = "Delivery that a thing of the class Anomaly points at by detectedIn"
        assert (first.words, first.failing, first.nodes) == (said, 4, 24)
        assert not others
        assert not first.unread


def test_broken_rules_are_meant_where_a_question_names_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(f"{DATA}\ne:p a e:Paper .", encoding="utf-8")
    shapes = DATA + (
        "@prefix sh: <http://www.w3.org/ns/shacl#> . e:Shape a sh:NodeShape ; "
        "sh:targetClass e:Paper ; sh:property [ sh:path e:doi ; sh:minCount 1 ] ."
    )
    (tmp_path / "shapes.ttl").write_text(shapes, encoding="utf-8")
    for question in (
        "Why does SHACL report these violations?",
        "What is the cause of the SHACL violations in this graph?",
    ):
        (only,) = api.readings(question, [tmp_path / "data.ttl"], shapes=[tmp_path / "shapes.ttl"])
        assert only.every
        with pytest.raises(KgreasonError, match="Give them with --shapes FILE"):
            api.readings(question, [tmp_path / "data.ttl"])


def test_a_question_in_other_words_is_told_so(data: Path) -> None:
    with pytest.raises(KgreasonError, match="is called by a word of this question"):
        api.readings("Why is the moon yellow?", data)


def test_without_a_choice_the_readings_are_told_and_nothing_is_run(
    data: Path, tmp_path: Path
) -> None:
    question = "Why do papers stay so long in review?"  # long, or long in review
    ran = run(
        "ask", question, str(data), "--strategy", "hypothesis", "--ledger", str(tmp_path / "l")
    )
    assert ran.code == 2
    assert "2 Paper" in ran.err
    assert "--choose N" in ran.err
    assert not (tmp_path / "l").exists()
    wrong = run("ask", "which papers were retracted?", str(data), "--choose", "99")
    assert wrong.code == 2
    assert "there are" in wrong.err


def test_the_answer_is_that_of_investigate(data: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    asked = ("ask", "which papers were retracted?", str(data), "--yes", "--ledger", str(ledger))
    ran = run(*asked, "--strategy", "hypothesis", "--format", "json")
    assert ran.code == 0, ran.err
    assert "SELECT ?focus ?outcome" in ran.err  # shown before it is run
    found = json.loads(ran.out)
    assert found["question"] == "which papers were retracted?"
    assert [s["failing"] for s in found["symptoms"]] == [8]
    (kept,) = (tmp_path / "ledger.questions").glob("*.rq")
    assert (kept.parent / ".gitignore").read_text("utf-8") == "*\n"
    own = run("investigate", str(data), "--outcome", str(kept), "--ledger", str(tmp_path / "other"),
              "--question", "which papers were retracted?", "--format", "json")  # fmt: skip
    other = json.loads(own.out)
    assert other.keys() == found.keys()
    assert [s["failing"] for s in other["symptoms"]] == [8]
    assert run("replay", "--ledger", str(ledger)).code == 0


def test_a_model_chooses_among_the_readings_and_nothing_else(data: Path) -> None:
    question = "Why do papers stay so long in review?"
    offered = outcomes(question, Vocabulary(load([data])))
    second = Stub(lambda _: '{"choice": 2}')
    place, (call,) = choose(second, Spending(), question, offered)
    assert place == 1
    assert set(call.chosen) <= set(call.offered)
    assert question in second.prompts[0]
    for wrong in ('{"choice": 99}', '{"choice": true}', "the second", '{"choice": "2"}'):
        outside = Stub(lambda _, text=wrong: text)  # type: ignore[misc]
        place, calls = choose(outside, Spending(), question, offered)
        assert place == 0
        assert [one.outcome for one in calls] == ["unusable"] * 3
        assert "names none of the readings" in outside.prompts[1]
        assert not any(one.chosen for one in calls)
