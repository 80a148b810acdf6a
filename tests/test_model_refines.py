"""A model words an open hypothesis more widely, and the engine decides whether that is better."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.model.model_proposer import REFINE, ModelProposer
from kgreason.review.replay import replay
from tests import chat_server
from tests.lifetime_support import goods, of
from tests.model_support import Stub

LAB = "https://example.org/lab/"
WIDER = [f"{LAB}Sort{n}" for n in range(4)]


def wider(prompt: str) -> str:
    """Propose nothing; say of what is open that it is four sorts together."""
    if "# The hypothesis" not in prompt:
        return chat_server.said()
    sorts = chat_server.condition(chat_server.path(prompt, "type"), "one-of", *WIDER)
    return chat_server.said(
        chat_server.one("No such path tells it.", region=[chat_server.condition("P99", "exists")]),
        chat_server.one("Samples of the four sorts lack a mass.", region=[sorts]),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("refines")


def refining(folder: Path, ledger: Path | None = None) -> tuple[kgreason.Result, Stub]:
    """Investigate goods of which nothing says that they are goods."""
    options: dict[str, Any] = goods(folder)
    first = folder / "data" / "feed-0.ttl"
    text = first.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if "subClassOf" not in line]
    first.write_text("\n".join(kept) + "\n", encoding="utf-8")
    stub = Stub(wider)
    made = ModelProposer(stub, pause=0)
    more: dict[str, Any] = {"calibration": "none", "policy": "frame", "ledger": ledger}
    data = options.pop("data")
    return kgreason.investigate(data, proposers=[made], **options, **more), stub


@pytest.fixture(scope="module")
def refined(folder: Path) -> tuple[kgreason.Result, Stub]:
    return refining(folder, folder / "ledger")


def test_a_wider_wording_of_a_model_takes_the_place_of_the_old_one(
    refined: tuple[kgreason.Result, Stub],
) -> None:
    result, stub = refined
    found = of(result.record, "Hypothesis")
    (new,) = [s for s in found.values() if "wasRevisionOf" in s]
    assert new["wasAttributedTo"] == ["urn:kgreason:agent:model:script%3Ainvestigator"]
    assert all(sort in new["region"][0] for sort in WIDER)
    old = found[new["wasRevisionOf"][0]]
    assert old["status"][0].endswith("#Refined"), "the old wording stays in the history"
    assert int(new["insideFailing"][0]) > int(old["insideFailing"][0])
    asked = [prompt for prompt in stub.prompts if "# The hypothesis" in prompt]
    assert "nodes inside fail" in asked[0]


def test_each_refinement_is_one_recorded_call_with_its_choices(
    refined: tuple[kgreason.Result, Stub],
) -> None:
    result, stub = refined
    calls = [c for c in of(result.record, "ModelCall").values() if c["purpose"] == [REFINE]]
    assert len(calls) == sum("# The hypothesis" in prompt for prompt in stub.prompts)
    for call in calls:
        assert set(call["chosen"]) <= set(call["offered"])
        assert "test one-of" in call["chosen"]


@pytest.mark.slow
def test_a_refinement_passes_the_audit_and_is_replayed_without_the_model(
    refined: tuple[kgreason.Result, Stub], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audit(refined[0].record).ok, str(audit(refined[0].record))

    def asked(*_: object) -> None:
        raise AssertionError("the model was asked again")

    monkeypatch.setattr(Stub, "complete", asked)
    again = replay(folder / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])
