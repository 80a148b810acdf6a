"""The proposer and the narrator that CONTRIBUTING.md tells one to write do work."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.review.replay import replay
from tests.lifetime_support import of
from tests.test_contributing import BLOCK, ROOT, SHAPES, data


def block(name: str) -> dict[str, Any]:
    """Give what the module of a name in CONTRIBUTING.md defines."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {match[1]: match[2] for match in BLOCK.finditer(text)}
    space: dict[str, Any] = {"__name__": name}
    exec(compile(found[f"{name}.py"], name, "exec"), space)  # noqa: S102 - what the page says
    return space


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seams")


@pytest.fixture(scope="module")
def result(folder: Path) -> kgreason.Result:
    (folder / "data.ttl").write_text(data(), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    made = block("unlabelled_proposer")["Unlabelled"]()
    return kgreason.investigate(
        folder / "data.ttl",
        shapes=folder / "shapes.ttl",
        ledger=folder / "ledger",
        proposers=[made],
    )


def test_a_proposer_of_ones_own_is_asked_named_and_audited(result: kgreason.Result) -> None:
    agent = "https://example.org/unlabelled"
    every = of(result.record, "Hypothesis").values()
    (one,) = [said for said in every if said["wasAttributedTo"] == [agent]]
    assert one["statement"] == ["Parts without a label were never finished."]
    assert one["status"][0].endswith("Supported")
    assert audit(result.record).ok, str(audit(result.record))
    (symptom,) = result.symptoms
    assert ("unlabelled",) in {h.proposers for h in symptom.hypotheses}
    rows = result.ask("which-agents")
    assert ("unlabelled", "proposed") in {(r["name"].value, r["did"].value) for r in rows}


def test_its_hypotheses_are_replayed_without_it(folder: Path, result: kgreason.Result) -> None:
    assert result.finished
    again = replay(folder / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])


def test_a_narrator_of_ones_own_adds_its_sentence(result: kgreason.Result) -> None:
    told = result.markdown(narrator=block("brief_narrator")["Brief"]())
    assert "> **Brief:** In short: explained." in told
    assert "Passages with a name before them are the words of Brief" in told
    assert "**Brief:**" not in result.markdown()
