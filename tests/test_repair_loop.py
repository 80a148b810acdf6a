"""Interventions in the loop: one at a time, only what can be made, and what comes of it counts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason import loop
from kgreason.audit import audit
from kgreason.base.errors import QueryError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context
from kgreason.context.symptom import Symptom
from kgreason.decide.decide import decide
from kgreason.record import Record, policy
from kgreason.repair import intervene as intervening
from kgreason.repair.intervene import intervene
from kgreason.repair.trial import Trial
from tests.audit_support import _investigate, _write, lab

investigation: Any = loop
module: Any = intervening
Hook = Callable[[Context, list[Symptom], int], None]


@pytest.fixture
def before_decisions(monkeypatch: pytest.MonkeyPatch) -> Callable[[Hook], None]:
    """Have something done before each decision of the loop."""

    def made(hook: Hook) -> None:
        decided: Callable[[Context, int, str | None], None] = decide
        symptoms: list[Symptom] = []
        start = investigation.Investigation.__init__

        def noted(self: Any, *args: Any, **more: Any) -> None:
            start(self, *args, **more)
            symptoms[:] = self.symptoms

        def first(context: Context, round_: int, cut: str | None = None) -> None:
            hook(context, symptoms, round_)
            decided(context, round_, cut)

        monkeypatch.setattr(investigation.Investigation, "__init__", noted)
        monkeypatch.setattr(investigation, "decide", first)

    return made


def plainly(context: Context, symptoms: list[Symptom], round_: int) -> None:
    before = frozenset(
        q for q in context.graph.store.inner if "work:marks" not in str(q.graph_name)
    )
    formed = context.graph.formed
    intervene(context, symptoms, round_)
    after = frozenset(q for q in context.graph.store.inner if "work:marks" not in str(q.graph_name))
    assert (before, formed) == (after, context.graph.formed)


def nodes(record: Record, kind: str) -> Iterator[dict[str, Any]]:
    """Give each node of a class with its properties by local name."""
    inner = record.store.inner
    for link in inner.quads_for_pattern(None, None, TRAILS[kind], record.iri):
        yield {
            q.predicate.value.rpartition("#")[2]: q.object
            for q in inner.quads_for_pattern(link.subject, None, None, record.iri)
        }


def attempts(record: Record) -> list[Row]:
    return record.select("repair-attempts")


def test_an_intervention_is_registered_committed_to_and_counts(
    tmp_path: Path, before_decisions: Callable[[Hook], None]
) -> None:
    before_decisions(plainly)
    record = lab(tmp_path)
    found = audit(record)
    assert found.ok, str(found)
    (attempt,) = attempts(record)
    assert (attempt["repair"].value, attempt["outcome"].value) == ("rename-predicate", "cleared")
    (evidence,) = (e for e in nodes(record, "Evidence") if e["testKind"].value == "intervention")
    assert evidence["polarity"] == TRAILS.Supports
    assert evidence["group"].value == evidence["test"].value
    (commitment,) = nodes(record, "Commitment")
    assert commitment["hypothesis"] == attempt["hypothesis"]
    (release,) = nodes(record, "Release")
    assert "cleared" in release["reason"].value
    updates = [
        u for u in nodes(record, "ConfidenceUpdate") if u["evidence"] == _of(evidence, record)
    ]
    assert len(updates) == 2
    options = {o["repair"].value: o["feasible"].value for o in nodes(record, "RepairOption")}
    # A feed of which others say nothing cannot go; what can be made takes over.
    infeasible = {"drop-source": "false", "rename-namespace": "false"}
    assert options == {**infeasible, "rename-predicate": "true"}


def _of(evidence: dict[str, Any], record: Record) -> Any:
    found = record.store.inner.quads_for_pattern(None, TRAILS.group, evidence["group"], record.iri)
    return next(iter(found)).subject


def test_the_number_of_attempts_is_bounded(
    tmp_path: Path, before_decisions: Callable[[Hook], None]
) -> None:
    before_decisions(_none)
    assert attempts(lab(tmp_path)) == []


def _none(context: Context, symptoms: list[Symptom], round_: int) -> None:
    assert intervene(context, symptoms, round_, most=0) == 0


def test_what_the_policy_does_not_allow_is_not_tried(
    tmp_path: Path, before_decisions: Callable[[Hook], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = module.authorise

    def never(*args: Any) -> Any:
        node, permit = refused(*args)
        return node, replace(permit, granted=False)

    monkeypatch.setattr(module, "authorise", never)
    before_decisions(plainly)
    record = lab(tmp_path)
    assert attempts(record) == []
    assert list(nodes(record, "Commitment")) == []
    assert list(nodes(record, "RepairOption")) != []


def test_a_trial_that_cannot_be_run_ends_its_commitment(
    tmp_path: Path, before_decisions: Callable[[Hook], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise QueryError("The trial fell over.\nIt was long.")

    monkeypatch.setattr(module, "trial", broken)
    before_decisions(plainly)
    record = lab(tmp_path)
    assert attempts(record) == []
    assert record.select("commitments") == []
    assert len(list(nodes(record, "Release"))) >= 1
    assert audit(record).ok


def test_the_same_change_is_not_tried_twice(
    tmp_path: Path, before_decisions: Callable[[Hook], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one property alone slipped, both renamings make the same patch; that is a stall."""
    for feed in range(4):
        rows = []
        for n in range(30):
            space = "urn:other:" if n % 5 == 2 else "https://example.org/lab/"
            rows.append(f'e:s{feed * 30 + n} a e:Sample ; <{space}label> "x{n}" .')
        _write(tmp_path / "data" / f"feed-{feed}.ttl", rows)
    before_decisions(plainly)
    run = module.trial

    def fruitless(*args: Any, **more: Any) -> Trial:
        made: Trial = run(*args, **more)
        return replace(made, figures={**made.figures, "holds": 0}, after=made.before)

    monkeypatch.setattr(module, "trial", fruitless)
    record = _investigate(tmp_path, ["e:label"])
    found = [(row["repair"].value, row["outcome"].value) for row in attempts(record)]
    assert found == [("rename-namespace", "unchanged")]
    told = {o["reason"].value for o in nodes(record, "RepairOption") if _no(o["feasible"])}
    assert told == {"It is the same change as one that failed: nothing new would be learned."}
    (evidence,) = (e for e in nodes(record, "Evidence") if e["testKind"].value == "intervention")
    assert evidence["polarity"] == TRAILS.Contradicts
    assert audit(record).ok


@pytest.mark.parametrize(
    ("mended", "fate"), [(0, "Archived"), (1, "Supported")], ids=["in vain", "harmful"]
)
def test_two_repairs_in_vain_archive_a_hypothesis_and_two_that_do_harm_do_not(
    mended: int,
    fate: str,
    tmp_path: Path,
    before_decisions: Callable[[Hook], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for feed in range(4):
        rows = []
        for n in range(30):
            space = "urn:other:" if n % 5 == 2 else "https://example.org/lab/"
            rows.append(f'e:s{feed * 30 + n} a e:Sample ; <{space}label> "x" ; <{space}note> "y" .')
        _write(tmp_path / "data" / f"feed-{feed}.ttl", rows)
    before_decisions(plainly)
    run = module.trial

    def fruitless(*args: Any, **more: Any) -> Trial:
        made: Trial = run(*args, **more)
        harm = {"holds": mended * made.figures["holds"], "violationsCaused": 9 * mended}
        return replace(made, figures={**made.figures, **harm})

    monkeypatch.setattr(module, "trial", fruitless)
    record = _investigate(tmp_path, ["e:label"])
    found = attempts(record)
    assert [row["repair"].value for row in found] == ["rename-namespace", "rename-predicate"]
    assert {row["outcome"].value for row in found} == {"harmful" if mended else "unchanged"}
    statuses = {h["status"] for h in nodes(record, "Hypothesis") if "family" in h}
    changes = [t for t in nodes(record, "StatusTransition") if t["to"] == TRAILS.Archived]
    assert (TRAILS[fate] in statuses) is True
    told = ["2 repairs were tried, and each left all violations as they were"]
    assert [t["cause"].value for t in changes] == ([] if mended else told)
    checked = audit(record)
    assert checked.ok, str(checked)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n == DEFAULT_POLICY else pytest.mark.slow)
        for n in policy.names()
    ],
)
def test_a_repair_that_strays_ends_and_the_cause_stands_as_it_stood(
    name: str,
    tmp_path: Path,
    before_decisions: Callable[[Hook], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a repair touches besides tells of the repair; its cause gains and loses nothing."""
    run, stray = module.trial, ox.Quad(TRAILS.one, TRAILS.two, TRAILS.three)

    def straying(*args: Any, **more: Any) -> Trial:
        made: Trial = run(*args, **more)
        return replace(made, figures={**made.figures, "touchedOutside": 1}, strays=(stray,))

    monkeypatch.setattr(module, "trial", straying)
    before = {
        row["hypothesis"].value: row
        for row in lab(tmp_path, policy=name, nonce="0123456789").select("standings")
    }
    before_decisions(plainly)
    record = lab(tmp_path, policy=name, nonce="0123456789")
    (attempt,) = attempts(record)
    assert attempt["outcome"].value == "out-of-scope"
    (release,) = nodes(record, "Release")
    assert "out-of-scope" in release["reason"].value
    (told,) = nodes(record, "RepairAttempt")
    assert "outside what it declares" in told["note"].value
    for row in record.select("standings"):
        then = before.pop(row["hypothesis"].value)
        assert row["status"] == then["status"]
        assert float(row["confidence"].value) == pytest.approx(
            float(then["confidence"].value), abs=1e-6
        )
    assert not before
    assert audit(record).ok


def _no(value: Any) -> bool:
    return str(value.value) == "false"


@pytest.mark.parametrize(
    ("outcomes", "over"),
    [
        ([], False),
        (["unchanged"], False),
        (["harmful", "unchanged"], True),
        (["out-of-scope"], True),
        (["cleared"], True),
    ],
)
def test_when_nothing_more_is_tried(outcomes: list[str], *, over: bool) -> None:
    rows: list[Row] = [{"outcome": ox.Literal(o)} for o in outcomes]
    assert module.ended(rows) is over
