"""A model designs tests: registered with what is expected, refused, limited, capped, replayed."""

import json
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.computation import asked_designs
from kgreason.model.answers import _line
from kgreason.model.client import Question, Reply
from kgreason.model.model_designer import ADVERSARIAL, PURPOSE
from kgreason.review.replay import replay
from tests import chat_server
from tests.lifetime_support import of
from tests.model_support import Stub, acting, company, good, judging, tell

pytest.importorskip("pydantic_monty")
KINDS = {asked_designs.QUERY_KIND, asked_designs.CODE_KIND}


def run(folder: Path, design: Any) -> tuple[kgreason.Result, Stub]:
    stub = Stub(acting(good, lambda _: judging(0.5, 0.5), tell, design=design))
    return company(stub, folder), stub


def calls_of(result: kgreason.Result) -> list[dict[str, list[str]]]:
    every = of(result.record, "ModelCall").values()
    return [c for c in every if c["purpose"] == [PURPOSE]]


def evidence_of(result: kgreason.Result) -> list[dict[str, list[str]]]:
    return [e for e in of(result.record, "Evidence").values() if e["testKind"][0] in KINDS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designer")


@pytest.fixture(scope="module")
def designed(folder: Path) -> tuple[kgreason.Result, Stub]:
    return run(folder, chat_server.good_designer)


@pytest.fixture(scope="module")
def result(designed: tuple[kgreason.Result, Stub]) -> kgreason.Result:
    return designed[0]


def test_each_test_is_registered_with_what_it_expects_before_it_runs(
    result: kgreason.Result,
) -> None:
    made = {n: t for n, t in of(result.record, "Test").items() if t["kind"][0] in KINDS}
    assert {t["kind"][0] for t in made.values()} == KINDS
    asked = [json.loads(t["query"][0]) for t in made.values()]
    assert {one["query"].split()[0] for one in asked} == {"ASK", "CONSTRUCT", "SELECT"}
    assert all("expect" in one for one in asked)
    for one in made.values():
        assert one["wasAttributedTo"] == ["urn:kgreason:agent:model:script%3Ainvestigator"]
        assert one["testRole"] == [TRAILS.Corroboration.value]


def test_the_answers_count_as_what_was_expected_or_otherwise_and_little(
    result: kgreason.Result,
) -> None:
    found = {(e["testKind"][0], e["outcomeClass"][0]) for e in evidence_of(result)}
    assert found == {
        ("model-query", "as-expected"),
        ("model-query", "otherwise"),
        ("model-code", "as-expected"),
    }
    assert {e["strength"][0] for e in evidence_of(result)} == {"0.1"}


def test_what_is_asked_for_is_the_leader_and_the_gap(
    designed: tuple[kgreason.Result, Stub],
) -> None:
    prompts = [one for one in designed[1].prompts if "# Hypotheses to test" in one]
    assert prompts
    assert all(ADVERSARIAL in one or "whether it holds" in one for one in prompts)
    assert all("# What is known" in one for one in prompts)


def test_each_choice_is_among_the_options(result: kgreason.Result) -> None:
    calls = calls_of(result)
    assert calls
    for call in calls:
        assert set(call.get("chosen", [])) <= set(call["offered"])
    chosen = {c for call in calls for c in call.get("chosen", [])}
    assert {c.partition(" ")[0] for c in chosen} == {"about", "form", "iri"}


def test_it_passes_the_audit_and_is_replayed_without_model_or_sandbox(
    result: kgreason.Result, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audit(result.record).ok, str(audit(result.record))

    def asked(*_: object) -> Any:
        raise AssertionError("it was asked again")

    monkeypatch.setattr(Stub, "complete", asked)
    monkeypatch.setattr("kgreason.computation.designed.run_code", asked)
    again = replay(folder / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])


def test_a_confident_designer_is_refused_and_sent_back_twice(tmp_path: Path) -> None:
    other, stub = run(tmp_path, chat_server.confident_designer)
    assert not evidence_of(other)
    asked = [one for one in stub.prompts if "# Hypotheses to test" in one]
    assert "names none of the IRIs" in asked[1]
    for why in ("was not offered; near paths are", "has to be able to fail", "no hypothesis 'H99'",
                "true or false"):  # fmt: skip
        assert why in asked[1], _line(asked[1][-900:])
    calls = calls_of(other)
    assert {c["callOutcome"][0] for c in calls} == {"unusable"}
    assert len(calls) % 3 == 0
    assert "names none" in calls[0]["reason"][0]


@pytest.mark.slow
def test_a_hostile_designer_writes_nothing_reaches_nothing_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_designs, "SECONDS", 0.5)
    monkeypatch.chdir(tmp_path)
    other, stub = run(tmp_path, chat_server.hostile_designer)
    asked = [one for one in stub.prompts if "# Hypotheses to test" in one]
    for why in ("begins with SELECT", "127.0.0.1:1/> was not offered", "etc/passwd> was not",
                "work:marks> was not", "does not parse", "The code is no Python"):  # fmt: skip
        assert why in asked[1], _line(asked[1][-900:])
    assert not evidence_of(other), "what ran was stopped, or reached nothing"
    tests = {n for n, t in of(other.record, "Test").items() if t["kind"][0] in KINDS}
    assert tests
    steps = of(other.record, "Execution").values()
    notes = [one["note"][0] for one in steps if one.get("test", [""])[0] in tests]
    assert len(notes) >= len(tests)
    assert any("has no attribute 'system'" in note for note in notes), notes
    assert any("denied" in note for note in notes), notes
    assert any("0.5 s" in note or "seconds" in note for note in notes), notes
    assert not (tmp_path / "escaped").exists()
    assert audit(other.record).ok, str(audit(other.record))


class _Silent(Stub):
    """A model of which nothing comes but proposals."""

    def complete(self, question: Question, /) -> Reply:
        return Reply("") if question.name == "design" else super().complete(question)


@pytest.mark.slow
def test_what_a_model_designs_carries_no_hypothesis(
    result: kgreason.Result, tmp_path: Path
) -> None:
    other = company(_Silent(acting(good, lambda _: judging(0.5, 0.5), tell)), tmp_path)
    assert not evidence_of(other)

    def supported(one: kgreason.Result) -> set[str]:
        done = {"supported", "converged"}
        return {h.statement for s in one.symptoms for h in s.hypotheses if h.status in done}

    assert supported(other) == supported(result) != set()
