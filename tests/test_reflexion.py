"""Reflexion: critics review what a strategy reports, and send it back with reasons, boundedly."""

import json
from pathlib import Path

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import PREFIXES
from kgreason.graph import load
from kgreason.model.calling import Caller
from kgreason.planner.critics import ModelCritic, RuleCritic, _fragile
from kgreason.report.as_json import as_dict
from kgreason.review.fragility import on_one_test
from tests.model_support import Stub
from tests.planner_support import workshop


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop")
    workshop(folder)
    return folder


def test_a_report_that_may_stand_is_not_sent_back(place: Path, tmp_path: Path) -> None:
    asked = "How many parts have no unit mass?"
    ledger = tmp_path / "ledger"
    found = kgreason.plan(asked, place / "parts.ttl", strategy="reflexion", ledger=ledger)
    assert found.answered
    assert found.answer.startswith("10 of 40 nodes of Part have no unitMass")
    assert found.citations
    record = found.result.record
    said = record.store.select(
        f"PREFIX trails: <{PREFIXES['trails']}> SELECT ?ok WHERE {{ GRAPH {record.iri} "
        "{ ?c a trails:Critique ; trails:accepted ?ok } }"
    )
    assert [row["ok"].value for row in said] == ["true"]
    assert audit(record).rules == set()


def test_what_is_sent_back_is_worked_on_otherwise_and_only_so_often(place: Path) -> None:
    found = kgreason.plan("Where is the moon?", place / "parts.ttl", strategy="reflexion")
    assert not found.answered
    assert "It does not answer the question." in found.answer
    tried = [s for s in found.steps if s.action.startswith("investigate")]
    assert len(tried) == 2
    assert all(s.status == "failed" for s in tried)


def test_the_rules_see_stale_figures_and_a_model_adds_reasons(place: Path, tmp_path: Path) -> None:
    made = kgreason.plan("How many parts are there?", place / "parts.ttl", strategy="react")
    assert RuleCritic().criticise(made, load([place / "parts.ttl"])).reasons == ()
    fewer = (place / "parts.ttl").read_text(encoding="utf-8").replace("p0 a ex:Part", "p0 a ex:Bit")
    (tmp_path / "fewer.ttl").write_text(fewer, encoding="utf-8")
    other = RuleCritic().criticise(made, load([tmp_path / "fewer.ttl"]))
    assert any("no longer hold" in one for one in other.reasons)
    stub = Stub(lambda _: json.dumps({"reasons": ["It names no part."]}))
    said = ModelCritic(Caller(stub, pause=0)).criticise(made, load([place / "parts.ttl"]))
    assert said.reasons == ("It names no part.",)
    assert said.by.label == "script:investigator"
    silly = ModelCritic(Caller(Stub(lambda _: "no"), pause=0))
    assert silly.criticise(made, load([place / "parts.ttl"])).reasons == ()


def test_what_a_model_critic_costs_is_in_the_record(place: Path) -> None:
    """The part that worked has a record and a cost of its own."""

    def said(prompt: str) -> str:
        if prompt.startswith("Answer a question"):
            return json.dumps({"thought": "I know.", "tool": "answer", "answer": "A.", "cites": []})
        return json.dumps({"reasons": []})

    caller = Caller(Stub(said), pause=0)
    asked = "How many parts are there?"
    found = kgreason.plan(asked, place / "parts.ttl", strategy="reflexion", caller=caller)
    assert found.usage.calls > 0
    assert found.usage.tokens > 0
    assert audit(found.result.record).rules == set()


def test_the_costs_of_what_others_carried_out_add_up(place: Path, tmp_path: Path) -> None:
    def said(prompt: str) -> str:
        if prompt.startswith("Answer a question"):
            return json.dumps({"thought": "I know.", "tool": "answer", "answer": "A.", "cites": []})
        return json.dumps({"reasons": []})

    ledger = tmp_path / "ledger"
    asked = "How many parts are there?"
    made = kgreason.plan(
        asked, place / "parts.ttl", strategy="reflexion", ledger=ledger,
        caller=Caller(Stub(said), pause=0),
    )  # fmt: skip
    with made.result as result:
        rows = result.ask("what-it-cost")
        named = [row for row in rows if "investigation" in row]
        own = {row["investigation"].value: int(row["tokens"].value) for row in named}
        (whole,) = [int(row["tokens"].value) for row in rows if row["part"].value == "in all"]
    assert len(own) > 1
    assert all(tokens > 0 for tokens in own.values())
    assert made.usage.tokens == whole == sum(own.values())


def test_a_cause_that_hangs_on_one_test_of_a_half_is_sent_back(place: Path) -> None:
    shapes = place / "shapes.ttl"
    record = kgreason.investigate(place / "parts.ttl", shapes=shapes, try_repairs=False).record
    told = as_dict(record)
    (cause,) = told["causes"]
    assert on_one_test(record, cause["hypotheses"]) == cause["hypotheses"][:1]
    assert on_one_test(record, ()) == []
    told["symptoms"][0]["hypotheses"][0]["proof"] = "halves"
    (said,) = _fragile(record, told)
    assert said.startswith("C1 would not be supported with one test less")
    told["symptoms"][0]["hypotheses"][0]["proof"] = "direct"
    assert _fragile(record, told) == []
