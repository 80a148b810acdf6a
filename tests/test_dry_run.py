"""What is tried on a copy at the end of an investigation: told, recorded, and no evidence."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from kgreason import loop
from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.record import Record
from kgreason.repair import dry_run as module
from kgreason.repair.feasible import Option
from kgreason.repair.trial import NOTHING, infeasible
from kgreason.report.result import Result
from kgreason.report.summary import answer, text
from tests.audit_support import ROOT, lab
from tests.test_repair_loop import nodes

investigation: Any = loop
trying: Any = module


def told(record: Record) -> dict[str, Any]:
    """Give the cause that labels are titles, as JSON."""
    result = Result(trying_ledger(record), record).as_dict()
    jsonschema.validate(result, json.loads((ROOT / "docs/result.schema.json").read_text("utf-8")))
    (cause,) = (c for c in result["causes"] if "title" in c["statement"])
    return dict(cause)


def trying_ledger(record: Record) -> Any:
    from kgreason.record import Ledger  # noqa: PLC0415 - a ledger over the store of a record

    return Ledger(record.store)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Give a record whose dry run was watched: the copy has to be as it was."""
    watched = module.dry_run

    def watching(context: Any, symptoms: Any) -> int:
        inner = context.graph.store.inner

        def quads() -> set[Any]:
            return {q for q in inner if "work:marks" not in str(q.graph_name)}

        before, formed = quads(), context.graph.formed
        done = watched(context, symptoms)
        assert (before, formed) == (quads(), context.graph.formed)
        assert done == 1
        return done

    investigation.dry_run = watching
    try:
        return lab(tmp_path_factory.mktemp("tried"), try_repairs=True, nonce="0" * 32)
    finally:
        investigation.dry_run = watched


def test_a_repair_is_tried_on_a_copy_and_told(tried: Record) -> None:
    cause = told(tried)
    found = cause["repair"]
    assert (found["repair"], found["outcome"], found["not_tried"]) == (
        "rename-predicate",
        "cleared",
        None,
    )
    assert found["nodes"] == found["violations"] == found["cleared"] > 0
    assert found["caused"] == 0
    said = text(answer(tried))
    words = f"Rename title to label at {found['nodes']} samples: tried on a copy, it clears all"
    assert words in said
    assert cause["next"]["words"].startswith(words)
    assert cause["next"]["command"].endswith("--out mended.rdfp")


def test_it_is_an_act_of_the_engine_and_no_evidence(tried: Record) -> None:
    assert audit(tried).ok, str(audit(tried))
    (act,) = (s for s in nodes(tried, "Step") if s["phase"] == TRAILS.Act)
    assert act["wasAssociatedWith"].value.startswith("urn:kgreason:agent:")
    assert "intervention" not in {e["testKind"].value for e in nodes(tried, "Evidence")}
    (attempt,) = nodes(tried, "RepairAttempt")
    assert attempt["step"] != next(s for s in nodes(tried, "Test"))["step"]


def test_without_it_the_record_is_the_same_but_for_the_act(tried: Record, tmp_path: Path) -> None:
    without = lab(tmp_path, nonce="0" * 32)
    assert told(without)["repair"] is None
    assert "--dry-run" in told(without)["next"]["command"]
    assert not [s for s in nodes(without, "Step") if s["phase"] == TRAILS.Act]

    def standing(record: Record) -> set[tuple[str, str]]:
        return {(h["status"].value, h["confidence"].value) for h in nodes(record, "Hypothesis")}

    assert standing(without) == standing(tried)
    again = lab(tmp_path, try_repairs=True, nonce="0" * 32)
    assert told(again)["repair"] == told(tried)["repair"]


@pytest.mark.parametrize("fitting", ["unfeasible", ""])
def test_what_cannot_be_tried_says_why(
    fitting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = trying.options

    def never(*args: Any) -> list[Option]:
        why = infeasible("3 of 9 claimed nodes cannot be mended so: it is locked.")
        return [Option(one.repair, why) for one in offered(*args)] if fitting else []

    monkeypatch.setattr(trying, "options", never)
    record = lab(tmp_path, try_repairs=True)
    assert audit(record).ok, str(audit(record))
    why = told(record)["repair"]["not_tried"]
    assert why == (
        "“Move label and its like into the namespace that the shape asks for” and “Rename title to "
        "label” fit, but 3 of 9 claimed nodes cannot be mended so: it is locked."
        if fitting
        else "No repair fits it."
    )
    ended = why[:1].lower() + why[1:].removesuffix(".")
    assert f"No repair was tried on a copy: {ended}:" in text(answer(record))


def test_why_none_was_tried_names_the_repairs() -> None:
    def option(does: str, why: str) -> Option:
        return Option(SimpleNamespace(instruction=lambda _: does), infeasible(why))  # type: ignore[arg-type]

    trim, comma = option("Trim", NOTHING), option("Put a point", NOTHING)
    locked = option("Cast", "3 of 9 claimed nodes cannot be mended so: it is locked.")
    assert trying._why_not([trim, comma], None) == "No repair fits it."
    assert trying._why_not([trim, locked, comma], None) == (
        "“Cast” fits, but 3 of 9 claimed nodes cannot be mended so: it is locked."
    )


def test_at_most_so_many_causes_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_CAUSES", 0)
    assert told(lab(tmp_path, try_repairs=True))["repair"] is None
