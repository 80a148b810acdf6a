"""A tester outside the graph takes part: what it finds is recorded, audited and replayed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.record import Record
from kgreason.review.replay import replay
from kgreason.test import tester as seam
from kgreason.test.finding import Finding, Passage
from kgreason.test.plans import PlannedTest
from tests.audit_support import own_policy, tampered
from tests.lifetime_support import of
from tests.test_contributing import BLOCK, ROOT, SHAPES, data
from tests.test_seams import block

pytestmark = pytest.mark.slow

OUTSIDE = "which cannot be rerun"


@dataclass
class Counted:
    """Asks another tester, and counts how often it is asked to design and to run."""

    tester: seam.Tester
    designed: list[int] = field(default_factory=list)
    ran: list[seam.RegisteredTest] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tester, name)

    def design(self, view: View, frame: Sequence[seam.Member], /) -> Sequence[PlannedTest]:
        self.designed.append(len(frame))
        return list(self.tester.design(view, frame))

    def run(self, view: View, test: seam.RegisteredTest, /) -> Finding:
        self.ran.append(test)
        self.before()
        return self.tester.run(view, test)


def policy_file(folder: Path) -> Path:
    """Write the policy of CONTRIBUTING.md: that which is shipped, with its rows."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (rows,) = (match[2] for match in BLOCK.finditer(text) if match[1] == "handbook-rows.ttl")
    path = own_policy(folder)
    path.write_text(path.read_text(encoding="utf-8") + rows, encoding="utf-8")
    return path


def asked(folder: Path, tester: seam.Tester, **options: Any) -> kgreason.Result:
    """Investigate the parts of CONTRIBUTING.md with a tester."""
    (folder / "data.ttl").write_text(data(), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    given: dict[str, Any] = {"policy": policy_file(folder), "ledger": folder / "ledger"} | options
    proposers = [block("unlabelled_proposer")["Unlabelled"]()]
    return kgreason.investigate(
        folder / "data.ttl",
        shapes=folder / "shapes.ttl",
        proposers=proposers,
        testers=[tester],
        **given,
    )


def handbook() -> Any:
    return block("handbook_tester")["Handbook"]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("testers")


@pytest.fixture(scope="module")
def tester() -> Counted:
    return Counted(handbook())


@pytest.fixture(scope="module")
def result(folder: Path, tester: Counted) -> kgreason.Result:
    return asked(folder, tester)


def outside(record: Record) -> tuple[str, dict[str, list[str]]]:
    """Give the one piece of evidence that came from outside the graph."""
    ((node, said),) = (
        (node, said)
        for node, said in of(record, "Evidence").items()
        if said["testKind"] == ["handbook"]
    )
    return node, said


def test_what_it_found_is_evidence_with_modality_source_and_passage(
    result: kgreason.Result, tester: Counted
) -> None:
    assert [test.query for test in tester.ran] == ["When is a part given its code?"]
    assert tester.designed
    node, said = outside(result.record)
    assert said["modality"] == [TRAILS.Literature.value]
    assert said["evidenceSource"] == ["https://example.org/handbook"]
    assert said["group"] == ["1:source:https://example.org/handbook"]
    assert said["wasAttributedTo"] == ["https://example.org/reader"]
    assert "cites" not in said
    (passage,) = of(result.record, "Passage").values()
    assert passage["work"] == ["https://example.org/handbook"]
    assert passage["locator"] == ["section 4.2"]
    own = [said for n, said in of(result.record, "Evidence").items() if n != node]
    assert {said["modality"][0] for said in own} == {TRAILS.GraphQuery.value}
    assert len({said["evidenceSource"][0] for said in own}) == 1
    registered = of(result.record, "Test")
    (test,) = (t for t in registered.values() if t["kind"] == ["handbook"])
    assert test["wasAttributedTo"] == ["https://example.org/reader"]


def test_its_evidence_moves_confidence_by_the_rows_of_the_policy(result: kgreason.Result) -> None:
    node, said = outside(result.record)
    updates = [u for u in of(result.record, "ConfidenceUpdate").values() if u["evidence"] == [node]]
    moved = {u["hypothesis"][0]: (Decimal(u["before"][0]), Decimal(u["after"][0])) for u in updates}
    before, after = moved.pop(said["hypothesis"][0])
    assert before < after
    assert all(was > now for was, now in moved.values() if was)
    odds = (after / (1 - after)) / (before / (1 - before))
    assert abs(odds - 4) < Decimal("0.01"), "0.8 against 0.2"


def test_the_audit_passes_and_says_what_it_cannot_rerun(
    result: kgreason.Result, folder: Path
) -> None:
    found = audit(result.record)
    assert found.ok, str(found)
    assert f"1 test outside the graph found (literature), {OUTSIDE}" in str(found)
    with kgreason.open(folder / "ledger") as ledger:
        on_data = ledger.audit(
            data=folder / "data.ttl", shapes=folder / "shapes.ttl", sample=None, second_engine=True
        )
    assert on_data.ok, str(on_data)
    assert OUTSIDE in str(on_data)


def test_a_record_without_such_tests_says_nothing_of_them(tmp_path: Path) -> None:
    tester = Counted(handbook())
    found = audit(asked(tmp_path, tester, max_hypotheses=1, max_steps=3).record)
    assert not tester.ran
    assert OUTSIDE not in str(found)


def test_result_and_report_tell_the_passage(result: kgreason.Result) -> None:
    told = [e for s in result.symptoms for h in s.hypotheses for e in h.evidence]
    (one,) = (evidence for evidence in told if evidence.modality == "literature")
    assert one.source == "https://example.org/handbook"
    (passage,) = one.passages
    assert passage.quote == "A part is given its code when its label has been printed."
    assert {e.modality for e in told if e is not one} == {"graph-query"}
    assert not any(e.passages for e in told if e is not one)
    assert "Passages quoted" in result.markdown()
    assert passage.quote in result.markdown()


def test_a_finished_run_is_resumed_and_replayed_without_asking(
    result: kgreason.Result, tester: Counted, folder: Path
) -> None:
    assert result.finished
    designed, ran = len(tester.designed), len(tester.ran)
    kgreason.resume(folder / "ledger", testers=[tester])
    again = replay(folder / "ledger")
    assert again.same, (again.recorded[:3], again.replayed[:3])
    assert (len(tester.designed), len(tester.ran)) == (designed, ran)


def test_an_interrupted_run_does_not_ask_again_for_what_is_recorded(
    tmp_path: Path, tester: Counted, result: kgreason.Result
) -> None:
    assert result.finished
    again = Counted(handbook())

    def told(record: Record, step: ox.NamedNode) -> None:
        if record.store.values(step, TRAILS.stage, record.iri)[:1] == []:
            return
        if record.store.values(step, TRAILS.stage, record.iri)[0].value == "5":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, again, told=told)
    assert again.designed
    assert not again.ran
    done = kgreason.resume(tmp_path / "ledger", testers=[again])
    assert done.finished
    assert len(again.ran) == 1
    assert again.designed == tester.designed, "as without an interruption"
    assert audit(done.record).ok, str(audit(done.record))


def test_a_test_that_nobody_runs_is_closed_as_an_error(tmp_path: Path) -> None:
    def told(record: Record, step: ox.NamedNode) -> None:
        if [v.value for v in record.store.values(step, TRAILS.stage, record.iri)] == ["5"]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, Counted(handbook()), told=told)
    done = kgreason.resume(tmp_path / "ledger")
    notes = [n for said in of(done.record, "Execution").values() for n in said.get("note", ())]
    assert any("needs its tester, and none was given" in note for note in notes)
    assert audit(done.record).ok, str(audit(done.record))


@dataclass(frozen=True)
class Bad:
    """Answers wrongly, in a way that is given."""

    found: Finding | None
    tester: Any = field(default_factory=handbook)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tester, name)

    def run(self, _view: View, _test: seam.RegisteredTest, /) -> Finding:
        if self.found is None:
            raise ValueError("no such page; token=hunter2hunter2")
        return self.found


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Finding("confirms", "It says so."), "quotes no passage"),
        (Finding("maybe", "It may.", passages=(Passage("A", "b", "c"),)), "the outcome 'maybe'"),
        (
            Finding("confirms", "So.", passages=(Passage(" ", "b", "c"),)),
            "a passage without a work",
        ),
        (None, "ValueError: no such page"),
    ],
)
def test_what_cannot_be_recorded_is_closed_as_an_error(
    found: Finding | None, said: str, tmp_path: Path
) -> None:
    done = asked(tmp_path, Bad(found), ledger=None)
    assert not of(done.record, "Passage")
    notes = [n for one in of(done.record, "Execution").values() for n in one.get("note", ())]
    assert any(said in note for note in notes), notes
    assert not any("hunter2" in note for note in notes)
    assert audit(done.record).ok, str(audit(done.record))


@dataclass(frozen=True)
class Named:
    """Has a modality and a kind that are given."""

    modality: str
    kinds: tuple[seam.KindOfTest, ...]
    tester: Any = field(default_factory=handbook)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tester, name)


@pytest.mark.parametrize(
    ("modality", "kind", "outcome", "said"),
    [
        ("gossip", "handbook", "confirms", "has the modality 'gossip'"),
        ("graph-query", "handbook", "confirms", "has the modality 'graph-query'"),
        ("literature", "association", "strong", "is in queries/test/ already"),
        ("literature", "handbook", "maybe", "no policy:likelihood for the outcome 'maybe'"),
    ],
)
def test_a_tester_that_cannot_take_part_is_refused_before_anything_is_written(
    modality: str, kind: str, outcome: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(kgreason.KgreasonError, match=said):
        asked(tmp_path, Named(modality, (seam.KindOfTest(kind, (outcome,)),)))
    assert not (tmp_path / "ledger").exists()


TRAILS_HEAD = "PREFIX trails: <https://w3id.org/trails#>\n"


@pytest.mark.parametrize(
    ("update", "rules"),
    [
        (
            "DELETE { ?p trails:work ?w } WHERE { ?p trails:work ?w }",
            {"Passage.work.minCount"},
        ),
        (
            ("DELETE { ?p trails:locator ?w } INSERT { ?p trails:locator '' } "
            "WHERE { ?p trails:locator ?w }"),
            {"Passage.locator.minLength"},
        ),
        (
            ("DELETE { ?n trails:modality ?m } INSERT { ?n trails:modality trails:Gossip } "
            "WHERE { ?n trails:modality ?m ; trails:testKind|trails:kind 'handbook' }"),
            {"Evidence.modality.in", "Test.modality.in", "query"},
        ),
        (
            ("DELETE { ?n trails:modality ?m } INSERT { ?n trails:modality trails:Expert } "
            "WHERE { ?n trails:modality ?m ; trails:testKind 'handbook' }"),
            {"evidence-test"},
        ),
        (
            ("DELETE { ?n trails:modality ?m } INSERT { ?n trails:modality trails:Expert } "
            "WHERE { ?n trails:modality ?m ; trails:testKind|trails:kind 'association' }"),
            {"test-modality"},
        ),
        ("DELETE { ?e trails:quotes ?p } WHERE { ?e trails:quotes ?p }",
         {"evidence-passage", "passage-quoted"}),
        (
            "DELETE { ?e trails:quotes ?p . ?p ?q ?o } WHERE { ?e trails:quotes ?p . ?p ?q ?o }",
            {"evidence-passage"},
        ),
        (
            ("DELETE { ?e trails:evidenceSource ?s } WHERE { ?e trails:evidenceSource ?s ; "
            "trails:testKind 'handbook' }"),
            {"Evidence.evidenceSource.minCount"},
        ),
    ],
    ids=["no work", "no locator", "unknown modality", "another modality than its test",
         "a graph test said to be an expert's", "unquoted", "struck out", "no source"],
)  # fmt: skip
def test_the_audit_sees_what_was_done_to_it(
    update: str, rules: set[str], result: kgreason.Result
) -> None:
    done = tampered(result.record, TRAILS_HEAD + update)
    assert audit(done).rules - {"seal"} == rules
    assert "seal" in audit(done).rules


def test_a_source_is_one_dependence_group(result: kgreason.Result) -> None:
    node, _ = outside(result.record)
    made = (
        f"INSERT {{ <{node}> trails:eValue 3.0 . <urn:x:e> ?p ?o ; trails:eValue 2.0 ; "
        f"trails:group 'another' }} WHERE {{ <{node}> ?p ?o FILTER (?p != trails:group) }}"
    )
    assert "evidence-group" in audit(tampered(result.record, TRAILS_HEAD + made)).rules
    other = made.replace(
        "FILTER (?p != trails:group)",
        "FILTER (?p NOT IN (trails:group, "
        "trails:evidenceSource, <http://www.w3.org/ns/prov#wasGeneratedBy>))",
    )
    assert "evidence-group" not in audit(tampered(result.record, TRAILS_HEAD + other)).rules
