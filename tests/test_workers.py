"""Symptoms are looked into by workers: nothing is lost, nothing is there twice, all is audited."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason import run as running
from kgreason.audit import audit
from kgreason.base.budget import Cost, Metered
from kgreason.base.errors import LedgerError, OptionError, RecordError
from kgreason.base.terms import PROV, TRAILS
from kgreason.loop import Investigation
from kgreason.queue import session_state, worker
from kgreason.queue.dispatch import Dispatch
from kgreason.queue.folder_queue import FolderQueue
from kgreason.queue.session_state import build, state_of, unpacked
from kgreason.record import Ledger, Record
from kgreason.record import record as record_module
from kgreason.record.fanning import expected
from kgreason.record.joining import join
from kgreason.record.open_steps import open_work
from kgreason.record.segment import Segment, read_segment
from kgreason.review.replay import replay
from tests.cli_support import process, run
from tests.lifetime_support import Interrupted, copied, timeless
from tests.queue_support import (
    apart_from_calls,
    content,
    modelled,
    segments,
    started,
    with_model,
    workers_here,
)
from tests.resume_support import several
from tests.test_supervisor import factory

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return several(tmp_path_factory.mktemp("several"), interventions=1, try_repairs=False)


@pytest.fixture(scope="module")
def alone(options: dict[str, Any]) -> set[str]:
    """What the record says where one process does all."""
    with kgreason.investigate(**options) as found:
        return timeless(found.record)


class Tape:
    """What workers kept of an investigation, and the states that they had."""

    def __init__(self) -> None:
        self.states: dict[str, bytes] = {}
        self.segments: dict[str, bytes] = {}


@pytest.fixture(scope="module")
def worked(
    options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Record, Tape, Path]:
    """The record of an investigation whose symptoms were looked into by a worker."""
    folder, tape = tmp_path_factory.mktemp("worked") / "ledger", Tape()

    def noted(name: str, segment: bytes) -> bytes:
        tape.segments[name.removeprefix("segment-")] = segment
        return segment

    keep = FolderQueue.keep

    def keeping(self: FolderQueue, session: str, name: str, content: bytes) -> None:
        if name.startswith("state-"):
            tape.states[name] = content
        keep(self, session, name, content)

    with pytest.MonkeyPatch.context() as patched, workers_here(noted):
        patched.setattr(FolderQueue, "keep", keeping)
        with kgreason.investigate(**options, ledger=folder, queue=folder) as found:
            return copied(found.record), tape, folder


def test_the_record_is_that_of_one_process_but_for_the_joining(
    alone: set[str], worked: tuple[Record, Tape, Path]
) -> None:
    record, tape, folder = worked
    assert content(timeless(record)) == content(alone)
    assert len(segments(record)) == len(tape.segments) >= 7
    assert open_work(record) == []
    first = state(tape)
    assert len(open_work(first)) == sum(name.startswith("round-1-") for name in tape.segments)
    assert join(first, segment(tape))
    assert "round-1-symptom-1" not in open_work(first)
    assert audit(record).rules == set()
    assert not any(folder.with_name("ledger.queue").iterdir()), "the queue is cleared away"


def test_a_replay_comes_to_the_same(worked: tuple[Record, Tape, Path]) -> None:
    made = replay(worked[2])
    assert made.same, made


def state(tape: Tape, round_: int = 1) -> Record:
    return unpacked(tape.states[f"state-round-{round_}"]).record()


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_joining_changes_numbers_alone(
    worked: tuple[Record, Tape, Path], seed: int
) -> None:
    """Duplicates and disorder: what is joined twice is there once."""
    record = state(worked[1])
    names = [name for name in worked[1].segments if name.startswith("round-1-")] * 2
    random.Random(seed).shuffle(names)
    done = [join(record, read_segment(worked[1].segments[name])) for name in names]
    assert sum(done) == len(names) // 2
    assert audit(record).rules == set()
    assert len(segments(record)) == len(names) // 2


def segment(tape: Tape, number: int = 1) -> Segment:
    return read_segment(tape.segments[f"round-1-symptom-{number}"])


def test_a_segment_is_a_named_graph_that_names_what_it_began_from(
    worked: tuple[Record, Tape, Path],
) -> None:
    record, tape, _ = worked
    found = segment(tape)
    assert read_segment(found.n_quads()) == found or sorted(found.n_quads().splitlines()) == sorted(
        tape.segments["round-1-symptom-1"].splitlines()
    )
    assert found.graph.value == f"{record.iri.value}:segment:round-1-symptom-1"
    assert found.head.value == f"{record.iri.value}:step:3"
    assert found.steps[0].value == f"{found.graph.value}:step:1"


def changed(triple: ox.Triple) -> ox.Triple:
    return ox.Triple(triple.subject, triple.predicate, ox.Literal("Is it so?"))


def said_otherwise(found: Segment) -> dict[str, Any]:
    return {"sealed": tuple(changed(t) if t.predicate == TRAILS.split else t for t in found.sealed)}


def of_another_head(found: Segment) -> dict[str, Any]:
    return {"head": ox.NamedNode(f"{found.investigation.value}:step:77")}


def of_another_investigation(_: Segment) -> dict[str, Any]:
    return {"investigation": ox.NamedNode("urn:kgreason:0123456789")}


def later_words(found: Segment) -> dict[str, Any]:
    symptom = ox.NamedNode(f"{found.investigation.value}:symptom:1")
    return {"added": (*found.added, ox.Triple(symptom, TRAILS.population, ox.Literal("9")))}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (said_otherwise, "what it holds is not what was sealed"),
        (of_another_head, "step:77, which is not in the record"),
        (of_another_investigation, "it is of the investigation urn:kgreason:0123456789"),
        (later_words, "population> may not be written later"),
    ],
)
def test_a_segment_that_is_not_as_it_was_sealed_is_refused(
    worked: tuple[Record, Tape, Path], change: Callable[[Segment], dict[str, Any]], why: str
) -> None:
    record = state(worked[1])
    before = timeless(record)
    found = segment(worked[1])
    with pytest.raises(RecordError, match=why):
        join(record, replace(found, **change(found)))
    assert timeless(record) == before


@pytest.mark.parametrize("text", [b"nothing", b"", b"<urn:a> <urn:b> <urn:c> <urn:d> .\n"])
def test_what_is_no_segment_is_refused(text: bytes) -> None:
    with pytest.raises(LedgerError, match="segment"):
        read_segment(text)


class Clock(datetime):
    """A clock that is wrong by an hour."""

    wrong = timedelta()

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.wrong


@pytest.mark.slow
@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_wrong_by_an_hour_changes_nothing(
    options: dict[str, Any], alone: set[str], hours: int, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    real = worker.Bench.segment

    def at_another_hour(self: worker.Bench, *args: Any) -> bytes:
        monkeypatch.setattr(Clock, "wrong", timedelta(hours=hours))
        try:
            return real(self, *args)
        finally:
            monkeypatch.setattr(Clock, "wrong", timedelta())

    monkeypatch.setattr(record_module, "datetime", Clock)
    monkeypatch.setattr(worker.Bench, "segment", at_another_hour)
    with workers_here(), kgreason.investigate(**options, queue=tmp_path / "ledger") as found:
        shifts = [
            float(value.value)
            for node in segments(found.record)
            for value in found.record.store.values(node, TRAILS.clockShift, found.record.iri)
        ]
        assert all(abs(shift + 3600 * hours) < 60 for shift in shifts), shifts
        assert audit(found.record).rules == set()
        assert content(timeless(found.record)) == content(alone)
        times = found.record.store.inner.quads_for_pattern(None, PROV.endedAtTime, None, None)
        ends = [datetime.fromisoformat(q.object.value) for q in times]  # type: ignore[union-attr]
        assert max(ends) - min(ends) < timedelta(minutes=10)
        assert max(ends) <= datetime.now(UTC)


def test_a_worker_of_another_version_is_refused_and_gives_its_step_back(
    worked: tuple[Record, Tape, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    queue, session = FolderQueue(tmp_path / "ledger"), worked[0].iri.value
    queue.keep(session, "state-round-1", worked[1].states["state-round-1"])
    queue.put(session, "round-1-symptom-1")
    monkeypatch.setattr(worker, "build", lambda: "0.0.9+0123456789abcdef")
    with pytest.raises(OptionError, match=r"begun by kgreason 0\.1\.0\+.*this worker is 0\.0\.9"):
        worker.work(queue, lambda _: None, 0.2)
    assert queue.take(0) is not None, "another worker can take it"


def test_the_build_changes_with_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    known = build()
    monkeypatch.setattr(session_state, "_DATA", (".rq",))
    session_state.build.cache_clear()
    assert build() != known
    session_state.build.cache_clear()


@pytest.mark.slow
def test_where_workers_fail_or_are_of_another_version_the_step_is_done_here(
    options: dict[str, Any], alone: set[str], tmp_path: Path
) -> None:
    said: list[str] = []

    def failing(name: str, text: bytes) -> bytes:
        if name.endswith("symptom-1"):
            return text.replace(build().encode(), b"0.0.9+0123456789abcdef")
        if name.endswith("symptom-2"):
            return b"nonsense"
        return worker.FAILED + b"the disk is full" if name.endswith("symptom-3") else text

    with workers_here(failing), kgreason.investigate(
        **options, queue=tmp_path / "ledger", notice=said.append
    ) as found:  # fmt: skip
        assert content(timeless(found.record)) == content(alone)
        assert 0 < len(segments(found.record)) < 7
        assert audit(found.record).rules == set()
    assert [one for one in said if "A worker failed (the disk is full)" in one]
    assert [one for one in said if "cannot be read" in one]
    assert [one for one in said if "written by kgreason 0.0.9+" in one]


@pytest.mark.slow
def test_where_nobody_works_it_is_done_here_in_the_end(
    options: dict[str, Any], alone: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(Dispatch, "__init__", _impatient(Dispatch.__init__))
    with kgreason.investigate(**options, queue=tmp_path / "ledger", notice=said.append) as found:
        assert content(timeless(found.record)) == content(alone)
    assert [one for one in said if "No worker finished a step" in one]


def _impatient(init: Any) -> Any:
    def begun(self: Dispatch, *args: Any, **more: Any) -> None:
        init(self, *args, **more)
        self.patience = 0.01

    return begun


def dying_after(steps: int) -> Callable[..., None]:
    """Return what commits so many steps to a folder, and raises Interrupted once."""
    commit, left = Record.commit, [steps]

    def dying(self: Record, *args: Any, **more: Any) -> None:
        commit(self, *args, **more)
        left[0] -= "memory" not in self.store.where
        if left[0] == 0:
            left[0] = -1
            raise Interrupted

    return dying


@pytest.mark.slow
@pytest.mark.parametrize("steps", [12])
def test_a_parent_that_dies_goes_on_with_what_workers_did(
    options: dict[str, Any], alone: set[str], steps: int, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    with workers_here() as opened:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Record, "commit", dying_after(steps))
            with pytest.raises(Interrupted):
                kgreason.investigate(**options, ledger=ledger, queue=ledger)
        while opened[0].inner.take(0):  # what was on its way is done all the same
            opened[0].inner.close()
            opened[0].work()
        with kgreason.resume(ledger, queue=ledger) as found:
            assert content(timeless(found.record)) == content(alone)
            assert audit(found.record).rules == set()


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[list[Any]]:
    """Two workers, each of which is started again whenever it was killed."""
    workers = [started(tmp_path / "ledger") for _ in range(2)]
    yield workers
    for each in workers:
        each.kill()
        each.wait()


@pytest.mark.slow
def test_workers_that_are_killed_lose_nothing(
    options: dict[str, Any], alone: set[str], two_workers: list[Any], tmp_path: Path
) -> None:
    """Each is killed (-9) a few times at random moments, and another one is started."""
    ended, killed, chance = threading.Event(), [0], random.Random(5)

    def killing() -> None:
        while not ended.wait(chance.uniform(0.3, 1.2)) and killed[0] < 5:
            place = chance.randrange(len(two_workers))
            os.kill(two_workers[place].pid, signal.SIGKILL)
            two_workers[place].wait()
            killed[0] += 1
            two_workers[place] = started(tmp_path / "ledger")

    killer = threading.Thread(target=killing)
    killer.start()
    try:
        with kgreason.investigate(
            **options, ledger=tmp_path / "ledger", queue=tmp_path / "ledger"
        ) as found:
            assert content(timeless(found.record)) == content(alone)
            assert len(segments(found.record)) >= 7
            assert audit(found.record).rules == set()
    finally:
        ended.set()
        killer.join()
    assert killed[0]


def test_a_late_delivery_is_acknowledged_and_changes_nothing(
    worked: tuple[Record, Tape, Path], tmp_path: Path
) -> None:
    """The session is over, or the segment is there."""
    queue, session = FolderQueue(tmp_path / "ledger"), worked[0].iri.value
    queue.put(session, "round-1-symptom-1")
    assert worker.work(queue, lambda _: None, 0.2) == 0
    assert queue.take(0) is None
    queue.keep(session, "state-round-1", worked[1].states["state-round-1"])
    queue.keep(session, "segment-round-1-symptom-1", b"there")
    queue.put(session, "round-1-symptom-1")
    assert worker.work(queue, lambda _: None, 0.2) == 0
    assert queue.kept(session, "segment-round-1-symptom-1") == b"there"


def test_data_that_are_others_are_refused(
    worked: tuple[Record, Tape, Path], options: dict[str, Any], tmp_path: Path
) -> None:
    known = unpacked(worked[1].states["state-round-1"])
    shapes = str(options["shapes"])
    gone = known.triples.replace(shapes.encode(), b"/nowhere/shapes.ttl")
    assert gone != known.triples
    queue = FolderQueue(tmp_path / "ledger")
    packed = session_state.SessionState(known.session, known.version, 0.0, gone).packed()
    queue.keep(known.session, "state-round-1", packed)
    queue.put(known.session, "round-1-symptom-1")
    with pytest.raises(OptionError, match=r"/nowhere/shapes\.ttl"):
        worker.work(queue, lambda _: None, 0.2)
    assert queue.take(0) is not None


def test_the_state_is_the_record(worked: tuple[Record, Tape, Path]) -> None:
    state_ = state_of(worked[0], 1.5)
    again = unpacked(state_.packed())
    assert again == state_
    assert timeless(again.record()) == timeless(worked[0])


def test_what_workers_cannot_do_is_said(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="a budget of your own is asked in one process"):
        running.begin(modelled(options), None, budget=OutOfTime(), carrier=lambda *_: None)
    text = kgreason.Text((options["shapes"]).read_text(encoding="utf-8"))
    with pytest.raises(OptionError, match="workers read files"):
        kgreason.investigate(**options | {"shapes": text}, queue=tmp_path / "ledger")
    with pytest.raises(OptionError, match="there is no queue of this kind"):
        kgreason.investigate(**options, queue="amqp://localhost")


@pytest.mark.slow
def test_the_command_works_and_ends(options: dict[str, Any], tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    one = started(ledger, "--idle", "20")
    try:
        words = ("investigate", options["data"], "--shapes", options["shapes"])
        done = run(*words, "--ledger", ledger, "--queue", ledger, "--format", "json")
        assert done.code == 0
    finally:
        one.kill()
        one.wait()
    with Ledger.read(ledger) as store:
        assert segments(store.record(store.entry()))
    ended = process("worker", "--queue", ledger, "--idle", "0.1")
    assert (ended.code, ended.sentences[-1]) == (0, "kgreason: did 0 steps.")
    assert process("worker", "--queue", "amqp://x").code == 2


class OutOfTime:
    """A budget that lasts until rivals are to be told apart."""

    def spent(self, unit: str, /) -> str | None:
        return "stopped after 500 seconds" if unit == "rivals" else None

    def charge(self, cost: Cost, /) -> None:
        pass


@pytest.mark.slow
def test_the_time_of_a_session_counts_for_its_budget(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker knows how long the session has worked, and what its budget cuts is cut."""
    seconds: list[float] = []
    real = Investigation.take_state

    def noting(self: Investigation, record: Record, elapsed: float) -> None:
        seconds.append(elapsed)
        real(self, record, elapsed)
        self.context.budget = Metered(OutOfTime())

    monkeypatch.setattr(Investigation, "take_state", noting)
    with workers_here(), kgreason.investigate(
        **options, queue=tmp_path / "ledger"
    ) as found:  # fmt: skip
        assert found.as_dict()["budget"]["cut"] == "stopped after 500 seconds"
        assert audit(found.record).rules == set()
    assert seconds
    assert all(one > 0 for one in seconds)


def test_steps_are_counted_as_in_one_process(options: dict[str, Any], tmp_path: Path) -> None:
    """What a budget of steps cuts is cut at the same step, however the work is spread."""
    asked = options | {"max_steps": 30}
    with kgreason.investigate(**asked, ledger=tmp_path / "alone") as once:
        lines, cut = timeless(once.record), once.as_dict()["budget"]["cut"]
    assert cut == "stopped after 30 steps"
    with workers_here(), kgreason.investigate(**asked, queue=tmp_path / "ledger") as found:
        assert found.as_dict()["budget"]["cut"] == cut
        assert content(timeless(found.record)) == content(lines)
        assert segments(found.record)
        assert audit(found.record).rules == set()


@pytest.mark.slow
def test_a_model_is_asked_by_the_parent(options: dict[str, Any], tmp_path: Path) -> None:
    """Workers test what it proposed; the parent asks what it asks where it does all itself."""
    request = modelled(options)
    once, asked = with_model(request, tmp_path / "alone", None)
    assert len(asked.prompts) > 20
    with workers_here():
        found, spread = with_model(request, tmp_path / "ledger", tmp_path / "ledger")
    assert sorted(spread.prompts) == sorted(asked.prompts)
    assert len(segments(found.record)) >= 7
    assert apart_from_calls(found.record) == apart_from_calls(once.record)
    assert audit(found.record).rules == set()
    assert replay(tmp_path / "ledger").same


@pytest.mark.slow
@pytest.mark.parametrize("steps", [4, 7, 12, 30])
@pytest.mark.parametrize("queued", [True, False])
def test_a_parent_with_a_model_that_dies_goes_on(
    options: dict[str, Any], steps: int, tmp_path: Path, *, queued: bool
) -> None:
    """Also without the queue: what was only proposed for is not taken for what was looked into."""
    request, ledger = modelled(options), tmp_path / "ledger"
    with workers_here():
        whole, _ = with_model(request, tmp_path / "whole", tmp_path / "whole")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Record, "commit", dying_after(steps))
            with pytest.raises(Interrupted):
                with_model(request, ledger, ledger)
        found, _ = with_model(request, ledger, ledger if queued else None)
    assert apart_from_calls(found.record) == apart_from_calls(whole.record)
    assert audit(found.record).rules == set()


def test_time_is_kept_by_the_folder_queue_alone(tmp_path: Path) -> None:
    """A message that somebody holds is not given away, however long that takes."""
    first, second = FolderQueue(tmp_path / "l"), FolderQueue(tmp_path / "l")
    first.put("urn:kgreason:0123456789", "round-1-symptom-1")
    first.put("urn:kgreason:0123456789", "round-1-symptom-1")
    held = first.take(0)
    assert held is not None
    began = time.monotonic()
    assert second.take(0.2) is None
    assert time.monotonic() - began >= 0.2
    first.close()
    again = second.take(0)
    assert again is not None
    again.ack()
    assert second.take(0) is None


@pytest.mark.slow
def test_the_parts_of_a_supervisor_are_carried_on_by_workers(tmp_path: Path) -> None:
    """Sub-investigations that are open in the ledger; what is joined at fan-in is the same."""
    asked = factory(tmp_path) | {"strategy": "supervisor"}
    question = "Why are these rules broken?"
    alone = kgreason.plan(question, **asked, ledger=tmp_path / "alone")
    with workers_here() as opened:
        spread = kgreason.plan(
            question, **asked, ledger=tmp_path / "spread", queue=tmp_path / "spread"
        )
    assert len(opened[0].said) == len(expected(spread.result.record)) == 2
    assert spread.answer == alone.answer
    assert audit(spread.result.record).rules == set()
    for made in (alone, spread):
        own = (Record(made.result.record.store, e.session) for e in expected(made.result.record))
        for record in own:
            assert audit(record).rules == set()
            assert len(segments(record)) == (made is spread)


def test_a_strategy_of_one_process_takes_no_queue(tmp_path: Path) -> None:
    asked = factory(tmp_path)
    with pytest.raises(OptionError, match="the strategy react works in one process"):
        kgreason.plan("How many parts?", **asked, strategy="react", queue=tmp_path / "ledger")
