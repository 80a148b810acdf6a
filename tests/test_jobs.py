"""Causes are looked for in several processes, and the record is the same for any number of them."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base import workers as workers_of
from kgreason.base.budget import Spent
from kgreason.base.errors import OptionError, QueryError, TimeoutExceeded
from kgreason.base.store import limited_each
from kgreason.base.workers import Workers, side_by_side
from kgreason.hypothesize import ahead, proposer
from tests.cli_support import run
from tests.lifetime_support import timeless
from tests.resume_support import several


def investigated(options: dict[str, Any], jobs: int) -> set[str]:
    with kgreason.investigate(**options, jobs=jobs) as found:
        return timeless(found.record)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return several(tmp_path_factory.mktemp("several"), interventions=1)


@pytest.fixture(scope="module")
def alone(options: dict[str, Any]) -> set[str]:
    return investigated(options, 1)


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the symptoms of which this process itself looks for causes, as it does so."""
    seen: list[str] = []
    suggested = proposer.suggested

    def noting(view: Any, by: Any) -> Any:
        seen.append(view.marks.failing.value)
        return suggested(view, by)

    monkeypatch.setattr(ahead, "suggested", noting)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 3])
def test_the_whole_record_is_the_same_for_any_number_of_jobs(
    options: dict[str, Any], alone: set[str], jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = noted(monkeypatch)
    assert investigated(options, jobs) == alone
    assert not [name for name in here if name.endswith(":1")], "the first round is done elsewhere"


@pytest.mark.slow
def test_where_a_process_cannot_fork_it_does_all_itself(
    options: dict[str, Any], alone: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_of, "FORKS", False)
    here = noted(monkeypatch)
    assert not side_by_side(4, 2)
    assert investigated(options, 2) == alone
    assert here


def test_where_steps_are_limited_one_process_does_all(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = noted(monkeypatch)
    with kgreason.investigate(**options, max_steps=3, jobs=2) as found:
        assert found.as_dict()["budget"]["cut"]
    assert here, "steps are counted by the process that writes them"


def test_while_a_thread_that_was_given_up_goes_on_nobody_forks() -> None:
    """It may hold a lock of the store, for which a child would wait without end."""
    goes_on, threads = threading.Event(), set(threading.enumerate())
    (given_up,) = limited_each([(goes_on.wait, "a test")], 0.01)
    assert isinstance(given_up, TimeoutExceeded)
    assert not side_by_side(4, 2)
    goes_on.set()
    for thread in set(threading.enumerate()) - threads:
        thread.join()
    assert side_by_side(4, 2)


def test_a_store_is_read_in_each_process() -> None:
    store = ox.Store()
    about = [ox.NamedNode(f"urn:example:{number}") for number in range(300)]
    store.extend(ox.Quad(node, about[0], ox.Literal(node.value)) for node in about)

    def counted() -> int:
        found = store.query("SELECT (COUNT(DISTINCT ?v) AS ?n) WHERE { ?s ?p ?v }")
        return int(next(iter(found))["n"].value)  # type: ignore[arg-type]

    def adding() -> int:
        store.add(ox.Quad(about[1], about[1], ox.Literal("more")))
        return counted()

    for _ in range(10):
        with Workers([counted, adding, counted], 3) as workers:
            assert {workers.result(place) for place in (0, 2)} <= {300, 301}
            assert workers.result(1) == 301
    assert counted() == 300


@pytest.mark.parametrize("jobs", [0, -2])
def test_fewer_than_one_job_is_refused(options: dict[str, Any], jobs: int, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"--jobs must be at least 1\."):
        kgreason.investigate(**options, jobs=jobs, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
    words = ("investigate", options["data"], "--shapes", options["shapes"], "--jobs", str(jobs))
    done = run(*words, "--ledger", tmp_path / "ledger")
    assert done.code == 2
    assert "--jobs must be at least 1." in done.err


def works(*outcomes: object) -> list[Callable[[], object]]:
    def made(outcome: object) -> Callable[[], object]:
        def work() -> object:
            if isinstance(outcome, Exception):
                raise outcome
            if outcome == "dies":
                os._exit(3)
            return (os.getpid(), outcome)

        return work

    return [made(outcome) for outcome in outcomes]


def test_each_piece_is_done_once_and_its_result_waits_for_who_asks() -> None:
    large = "x" * 3_000_000  # more than any pipe holds
    with Workers(works(*range(20), large), 3) as workers:
        found: list[Any] = [workers.result(place) for place in (20, *range(20))]
    assert [one for _, one in found] == [large, *range(20)]
    assert os.getpid() not in {pid for pid, _ in found}


def test_an_error_is_raised_where_its_result_is_asked_for() -> None:
    with Workers(works(1, QueryError("no such thing"), Spent("after a while"), 4), 2) as workers:
        with pytest.raises(QueryError, match="no such thing"):
            workers.result(1)
        with pytest.raises(Spent, match="after a while"):
            workers.result(2)
        assert workers.result(3)[1] == 4  # type: ignore[index]


def test_what_a_process_did_not_end_is_done_in_this_one() -> None:
    made = works("dies", "dies", 3, 4)
    here = os.getpid()
    made[:2] = [lambda: "here" if os.getpid() == here else os._exit(3)] * 2
    with Workers(made, 2) as workers:
        assert [workers.result(0), workers.result(1)] == ["here", "here"]
        assert [workers.result(place)[1] for place in (2, 3)] == [3, 4]  # type: ignore[index]


def test_who_no_longer_waits_leaves_no_process_behind() -> None:
    begun = time.monotonic()
    with Workers([lambda: time.sleep(600)] * 3, 3) as workers:
        pids = [child.pid for child in workers._children.values()]
    assert len(pids) == 3
    assert time.monotonic() - begun < 300
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
