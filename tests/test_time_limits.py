"""A registered test whose query would run without end is stopped, and recorded as an error."""

import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import QueryError, TimeoutExceeded
from kgreason.base.store import guarded, guarded_each, limited_each, waited_each
from kgreason.record import policy
from kgreason.test import plans
from kgreason.test.run import execute
from tests.audit_support import own_policy
from tests.lifetime_support import asked, interrupted, of
from tests.resume_support import resumed, several

KIND: Final = "counterexamples"
ENDLESS: Final = (
    "SELECT (COUNT(*) AS ?found) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . }"
)


def hasty(folder: Path) -> str:
    """Write the usual policy with a time limit of one second."""
    path = own_policy(folder)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("policy:refineMost", "policy:testSeconds 1 ; policy:refineMost", 1),
        encoding="utf-8",
    )
    return str(path)


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what to ask with; one test of each kind `KIND` has a query without end."""
    usual = plans.__dict__["_query"]

    def query(view: Any, outline: Any, kind: str) -> str:
        text = usual(view, outline, kind)
        # The audit looks for the names of region and half in the query.
        return f"{ENDLESS} # {' '.join(text.split())}" if kind == KIND else text

    monkeypatch.setattr(plans, "_query", query)
    # Such a query cannot be of kgreason's own: tests with those of others run in a process.
    monkeypatch.setattr("kgreason.loop.active", lambda: ("an extension",))
    made = several(tmp_path, policy=hasty(tmp_path), max_hypotheses=1, interventions=0)
    shapes = made["shapes"].read_text(encoding="utf-8")
    made["shapes"].write_text(shapes.partition("e:Weight")[0], encoding="utf-8")
    return made


def stopped(record: Any) -> list[dict[str, list[str]]]:
    ended = of(record, "Execution").values()
    return [said for said in ended if said["closed"][0].endswith("#Error")]


@pytest.mark.slow
def test_a_test_without_end_is_stopped_and_recorded(options: dict[str, Any]) -> None:
    record = asked(options)
    tests = [n for n, said in of(record, "Test").items() if said["kind"] == [KIND]]
    assert tests
    steps = stopped(record)
    attempts = int(policy.load().number("attempts"))
    assert sorted(said["test"][0] for said in steps) == sorted(tests * attempts)
    assert {said["reason"][0] for said in steps} == {"time limit"}
    why = "the query was stopped after 1 s; allow more time with policy:testSeconds."
    assert {said["note"][0] for said in steps} == {f"the test {KIND}: {why}"}
    others = of(record, "Execution")
    assert len(others) > len(steps)
    found = audit(record)
    assert found.ok, str(found)


@pytest.mark.slow
def test_a_resumed_run_does_not_try_it_again_and_again(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """Cut off after the first attempt, the rest of the attempts is made, and no more."""
    whole = asked(options)
    first = min(int(said["index"][0]) for said in stopped(whole))
    interrupted(options, tmp_path / "ledger", first)
    record = resumed(tmp_path / "ledger")
    assert len(stopped(record)) == len(stopped(whole))
    told = [[said["outcome"] for said in of(r, "Verdict").values()] for r in (record, whole)]
    assert told[0] == told[1] != []


@pytest.mark.slow
def test_without_a_number_in_the_policy_a_test_has_ten_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def noted(each: Any) -> Any:
        def run(works: Any, seconds: float, *more: str) -> Any:
            given.append((each, seconds))
            return each(works, seconds, *more)

        return run

    for each in (guarded_each, limited_each, waited_each):
        monkeypatch.setitem(execute.__globals__, each.__name__, noted(each))
    asked(several(tmp_path / "own", interventions=0, max_hypotheses=1))
    # What breaks nodes of the scratch copy is waited for, unless others wrote what is asked.
    assert set(given) == {(limited_each, 600.0), (waited_each, 600.0)}
    given.clear()
    monkeypatch.setattr("kgreason.loop.active", lambda: ("an extension",))
    asked(several(tmp_path / "others", interventions=0, max_hypotheses=1))
    assert set(given) == {(guarded_each, 600.0)}


def test_what_changes_the_store_is_waited_for_and_refused_where_it_took_too_long() -> None:
    def slow() -> int:
        time.sleep(0.05)
        return 1

    def wrong() -> int:
        raise QueryError("none")

    works: list[tuple[Any, str]] = [(slow, "a"), (wrong, "b")]
    late, failed = waited_each(works, 0.01, "wait")
    assert isinstance(late, TimeoutExceeded)
    assert str(late) == "a: the query took more than 0.01 s; wait."
    assert isinstance(failed, QueryError)
    assert list(waited_each(works[:1], 5)) == [(1,)]


def test_a_thread_that_takes_too_long_is_given_up() -> None:
    ended = threading.Event()

    def wrong() -> int:
        raise QueryError("none")

    works: list[tuple[Any, str]] = [(ended.wait, "a"), (lambda: 7, "b"), (wrong, "c")]
    late, done, failed = limited_each(works, 0.2, "wait")
    ended.set()
    assert isinstance(late, TimeoutExceeded)
    assert str(late) == "a: the query was stopped after 0.2 s; wait."
    assert done == (7,)
    assert isinstance(failed, QueryError)


def _investigated(options: dict[str, Any]) -> str:
    with kgreason.investigate(**options) as result:
        return repr(result.as_dict()["symptoms"][0]["verdict"])


@pytest.mark.slow
def test_a_daemonic_process_may_investigate(tmp_path: Path) -> None:
    """A worker of a pool must not have processes of multiprocessing, but tests have theirs."""
    options = several(tmp_path, interventions=0, max_hypotheses=1)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_investigated, (options,)) == _investigated(options)


def test_a_guarded_piece_of_work_may_guard_another() -> None:
    assert guarded(lambda: guarded(lambda: 7, 60, "the inner"), 60, "the outer") == 7
    with pytest.raises(TimeoutExceeded, match=r"the inner: .* is said what to do"):
        guarded(lambda: guarded(_endless, 0.1, "the inner", "here is said what to do"), 60, "outer")


def _endless() -> None:
    while True:
        pass
