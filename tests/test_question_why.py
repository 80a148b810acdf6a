"""Questions why: where to look without a test, which rule is meant, and strategies side by side."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.report.as_json import as_dict
from tests.cli_support import run
from tests.planner_support import PREFIXES, workshop

WHY = "Why do parts lack a unit mass?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of which the retired ones lack a mass, and two makers, both without a phone."""
    folder = tmp_path_factory.mktemp("workshop")
    workshop(folder)
    rules = folder / "shapes.ttl"
    more = """ex:MakerShape a sh:NodeShape ; sh:targetClass ex:Maker ;
      sh:property [ sh:path ex:phone ; sh:minCount 1 ; sh:name "A maker has a phone" ] ."""
    rules.write_text(f"{rules.read_text(encoding='utf-8')}\n{more}\n", encoding="utf-8")
    return folder


def asked(place: Path, question: str, strategy: str, **more: Any) -> PlanResult:
    files: dict[str, Any] = {"shapes": place / "shapes.ttl", "strategy": strategy} | more
    return kgreason.plan(question, place / "parts.ttl", **files)


@pytest.mark.parametrize("strategy", ["react", "plan-then-execute"])
def test_without_a_cause_it_is_told_where_to_look_and_that_nothing_was_tested(
    place: Path, strategy: str
) -> None:
    found = asked(place, WHY, strategy)
    assert not found.answered
    assert "of those whose lifeState is “retired” 10 of 10 fail, of the others 0 of 30" in (
        found.answer
    )
    assert "Nothing of this was tested" in found.answer
    assert "1 other rule is broken, too" in found.answer
    assert "failed:" not in found.answer
    assert "class Class" not in found.answer
    assert audit(found.result.record).rules == set()
    (call,) = [s for s in found.steps if s.action.startswith("contrast")]
    assert call.status == "complete"


def test_what_does_not_stand_out_and_words_that_name_nothing_are_told(place: Path) -> None:
    found = asked(place, "Why do makers have no phone on Sundays?", "react")
    assert "A maker has a phone: 2 of 2 nodes fail. No source, value or property stands out" in (
        found.answer
    )
    assert "no account of “Sundays”" in found.answer


def test_a_cause_that_was_found_is_told_of_its_own_rule_alone(place: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    asked(place, WHY, "hypothesis", ledger=ledger).result.close()
    same = asked(place, WHY, "react", ledger=ledger)
    assert same.answered
    assert "Nodes whose lifeState is “retired” fail (C1 of I1, confidence 0." in same.answer
    other = asked(place, "Why do makers have no phone?", "react", ledger=ledger)
    assert not other.answered
    assert "retired" not in other.answer


def test_rules_that_a_question_names_are_told_before_others(place: Path) -> None:
    told = asked(place, "What is wrong with phone numbers?", "react").answer
    assert told.startswith("Broken rules: 2. A maker has a phone: 2 of 2 nodes fail. One other")


def test_strategies_side_by_side_know_nothing_of_each_other(place: Path, tmp_path: Path) -> None:
    names = ("hypothesis", "react", "reflexion", "supervisor")
    files: dict[str, Any] = {"shapes": place / "shapes.ttl", "ledger": tmp_path / "ledger"}
    rows = api.compare_strategies(WHY, place / "parts.ttl", names, **files)
    assert tuple(one.strategy for one in rows) == names
    by_name = {one.strategy: one for one in rows}
    assert by_name["react"].cause is None
    assert not by_name["react"].answered
    for name in ("hypothesis", "reflexion", "supervisor"):
        assert by_name[name].cause == "Nodes whose lifeState is “retired” fail."
        assert by_name[name].confidence == by_name["hypothesis"].confidence


def test_no_systematic_cause_is_an_answer(tmp_path: Path) -> None:
    """A few of many nodes fail, and none of what is said of them goes with it."""
    rows = [PREFIXES]
    for n in range(400):
        mass = "" if n in {7, 48, 95, 133, 181, 216, 268, 307, 350, 399} else f" ; ex:unitMass {n}"
        rows.append(f'ex:p{n} a ex:Part ; ex:lot "{n % 3}" ; ex:kind "{n % 7}"{mass} .')
    workshop(tmp_path)
    (tmp_path / "parts.ttl").write_text("\n".join(rows), encoding="utf-8")
    found = asked(tmp_path, WHY, "hypothesis")
    verdicts = [one["verdict"] for one in as_dict(found.result.record)["symptoms"]]
    assert verdicts == ["no systematic cause"]
    assert found.answered
    assert found.causes == ()


def test_a_supervisor_divides_what_is_asked_about(place: Path) -> None:
    one = asked(place, WHY, "supervisor")
    assert "phone" not in one.answer
    assert one.answer.startswith("1 cause explains 10 of 10 failures.")
    every = asked(place, "What is wrong with the data?", "supervisor")
    assert "of 12 failures" in every.answer
    assert "of 12 failures" in asked(place, WHY, "supervisor", split="symptom").answer


def test_a_question_that_names_nothing_is_about_all_broken_rules(
    place: Path, tmp_path: Path
) -> None:
    files = ("--shapes", place / "shapes.ttl", "--ledger", tmp_path / "ledger")
    wrong = "Why are there so many errors in these data?"
    told = run("ask", wrong, place / "parts.ttl", "--strategy", "hypothesis", *files)
    assert told.code == 0, told.err
    assert "Looking into: All 2 broken rules (12 nodes)." in told.err
    with pytest.raises(OptionError, match="is called by a word"):
        api.readings("Why is the moon yellow?", place / "parts.ttl", shapes=place / "shapes.ttl")


def test_a_rule_is_meant_where_its_property_is_lacking_nowhere(tmp_path: Path) -> None:
    workshop(tmp_path)
    (tmp_path / "shapes.ttl").write_text(
        f"""{PREFIXES}
ex:PartShape a sh:NodeShape ; sh:targetClass ex:Part ;
  sh:property [ sh:path ex:lifeState ; sh:hasValue "current" ; sh:name "A life state is current" ] .
""",
        encoding="utf-8",
    )
    files: dict[str, Any] = {"data": tmp_path / "parts.ttl", "shapes": tmp_path / "shapes.ttl"}
    (first, *_) = api.readings("Why are life states of parts so odd?", **files)
    assert first.words == "A life state is current"
    with pytest.raises(OptionError, match="nothing is lacking there"):
        api.readings("Why do parts lack a life state?", **files)


def test_data_are_checked_and_not_explained_where_no_cause_is_asked_for() -> None:
    how_many = "How many parts have no unit mass?"
    decided = kgreason.route(how_many, shapes=True).decision
    assert (decided.task_type, decided.pattern) == ("data-quality", "plan-then-execute")
    suspected = api.routed("Are missing unit masses due to the maker?").decision
    assert (suspected.pattern, suspected.at_hand) == ("hypothesis", ("suspect",))
    does = api.routed("Does a missing unit mass go with the maker?").decision
    assert does.at_hand == ("suspect",)
    linked = api.routed("Are all parts linked to a maker?").decision
    assert linked.at_hand == ()
