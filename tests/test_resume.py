"""A run that was killed goes on as if it had not been, wherever it was cut off."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import QueryError, RecordError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.templates import role
from kgreason.loop import Investigation
from kgreason.repair import intervene as intervening
from tests.lifetime_support import of, sample, timeless, written
from tests.resume_support import (
    ANSWERS,
    Run,
    entries,
    proposer,
    resumed,
    several,
    steps_of,
    told_in,
    undisturbed,
)

pytestmark = pytest.mark.slow

TRIAL: Final = vars(intervening)["trial"]
MODES: Final = sorted(ANSWERS)


def broken(*_: Any, **__: Any) -> Any:
    raise QueryError("The trial fell over.\nIt was long.")


def fruitless(*args: Any, **more: Any) -> Any:
    made = TRIAL(*args, **more)
    return replace(made, figures={**made.figures, "holds": 0}, after=made.before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed run of three rounds, with what no room was left for, and a repair."""
    folder = tmp_path_factory.mktemp("whole")
    run = undisturbed(several(folder, policy="frame"), folder / "ledger")
    assert {"Hypothesize 1 3", "Hypothesize 3 2", "Design 2 1 4", "Decide 3"} <= set(run.steps)
    return run


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed run of two rounds with a search in conditions, and a repair."""
    folder = tmp_path_factory.mktemp("searched")
    run = undisturbed(several(folder, policy="code"), folder / "ledger")
    assert {"Hypothesize 4 1", "Design 4 1 1", "Design 2 1 4", "Decide 2"} <= set(run.steps)
    paid = {said.get("paid", ["none"])[0] for said in of(run.record, "Hypothesis").values()}
    assert "true" in paid
    return run


def same(run: Run, steps: int, folder: Path, mode: str) -> None:
    """Check that a run which was cut off after so many steps ends as the undisturbed one."""
    ledger = run.cut(steps, folder)
    with proposer(mode) as asked:
        record = resumed(ledger)
    assert asked.again == [], f"after step {steps}, {run.steps[steps - 1]}"
    assert timeless(record) == timeless(run.record), f"after step {steps}, {run.steps[steps - 1]}"


KINDS: Final = (*("Hypothesize 1 1", "Design 2 1 4", "Hypothesize 3 3", "Conclude"),)


@pytest.mark.slow
def test_a_run_cut_off_after_a_step_of_each_kind_ends_as_the_undisturbed_one(
    whole: Run, tmp_path: Path
) -> None:
    """What is recorded is read; who would propose it otherwise now is not asked."""
    for steps in (whole.steps.index(kind) + 1 for kind in KINDS):
        same(whole, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


SEARCHED: Final = (*("Hypothesize 2 1", "Design 4 1 1", "Hypothesize 1 2", "Decide 2"),)


@pytest.mark.slow
def test_a_search_in_conditions_that_was_cut_off_ends_as_the_undisturbed_one(
    searched: Run, tmp_path: Path
) -> None:
    """Nothing that the search only kept in memory is missing."""
    for steps in (searched.steps.index(kind) + 1 for kind in SEARCHED):
        same(searched, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


@pytest.mark.slow
def test_the_best_condition_of_none_good_enough_is_gone_on_with(tmp_path: Path) -> None:
    """Masses are missing by chance: what came nearest is proposed, and tested after the cut."""
    draw = random.Random(1)
    rows = [sample(n, f"e:colour {n * 7 % 8}", fails=draw.random() < 0.15) for n in range(240)]
    run = undisturbed(written(tmp_path, rows) | {"policy": "code"}, tmp_path / "ledger")
    (best,) = [s for s in of(run.record, "Hypothesis").values() if s["catchAll"] == ["false"]]
    assert best["paid"] == ["false"]
    for steps in range(2, run.last("Execute")):
        same(run, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


@pytest.mark.slow
def test_a_search_in_conditions_cut_off_after_any_step_ends_as_the_undisturbed_one(
    searched: Run, tmp_path: Path
) -> None:
    for steps in range(1, len(searched.steps) + 1):
        same(searched, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_run_cut_off_after_any_step_ends_as_the_undisturbed_one(
    whole: Run, tmp_path: Path, mode: str
) -> None:
    for steps in range(1, len(whole.steps) + 1):
        same(whole, steps, tmp_path / str(steps), mode)


def test_what_is_designed_and_decided_needs_no_family_any_more(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once all is proposed, the files that proposed it may be gone."""
    for name in set(role("hypothesize")) - {"none"}:
        monkeypatch.delitem(role("hypothesize"), name)
    steps = whole.last("Hypothesize")
    same(whole, steps, tmp_path / "after", "not at all")


def test_who_cannot_be_put_in_other_words_any_more_is_left_as_it_stands(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first round is as it was; what only the missing family could tell is not told."""
    place = whole.steps.index("Decide 1") + 1
    families = {"cohort-class", "cohort-superclass", "cohort-other"}
    for name in families:
        monkeypatch.delitem(role("hypothesize"), name)
    with proposer("not at all") as asked:
        record = resumed(whole.cut(place, tmp_path / "fewer"))
    assert asked.again == []
    found = audit(record)
    assert found.ok, str(found)
    before = of(whole.record, "Hypothesis")
    after = of(record, "Hypothesis")
    assert {n for n in after if n not in before or before[n]["statement"] != after[n]["statement"]}
    first = {n for n, said in before.items() if told_in(whole.record, said) == "1"}
    assert {n: before[n]["statement"] for n in first} == {n: after[n]["statement"] for n in first}


# --- budgets ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("most", [7, pytest.param(31, marks=pytest.mark.slow), 41])
def test_a_run_that_a_budget_ended_is_resumed_as_one(tmp_path: Path, most: int) -> None:
    """In the middle of the tests of the first symptom, and between a repair and its trial."""
    run = undisturbed(several(tmp_path, max_steps=most), tmp_path / "ledger")
    assert {said["cause"][0] for said in of(run.record, "Cancellation").values()} <= {
        f"stopped after {most} steps"
    }
    for steps in range(most - 1, len(run.steps) + 1):
        same(run, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


def test_what_a_budget_of_time_ended_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that begins anew has no part in it once the end is recorded."""
    monkeypatch.setattr(Investigation, "elapsed", property(lambda self: float(self.steps)))
    run = undisturbed(several(tmp_path, max_seconds=9.5), tmp_path / "ledger")
    assert "Decide 1" in run.steps
    monkeypatch.setattr(Investigation, "elapsed", property(lambda _: 0.0))
    plans = of(run.record, "HypothesisPlan").values()
    recorded = min(int(said["index"][0]) for said in plans if "cut" in said)
    for steps in range(recorded, len(run.steps) + 1):
        same(run, steps, tmp_path / str(steps), "not at all")


def test_a_finished_run_is_told_and_nothing_is_added(whole: Run, tmp_path: Path) -> None:
    ledger = whole.cut(len(whole.steps), tmp_path / "finished")
    held = entries(ledger)
    assert timeless(resumed(ledger)) == timeless(whole.record)
    assert entries(ledger) == held


# --- repairs ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("trial", [broken, fruitless], ids=["falls over", "mends nothing"])
def test_a_run_cut_off_between_repairs_goes_on_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial: Callable[..., Any]
) -> None:
    """What was offered, tried and could not be run is not offered, tried or run again."""
    monkeypatch.setattr(intervening, "trial", trial)
    run = undisturbed(several(tmp_path), tmp_path / "ledger")
    place = next(n for n, step in enumerate(run.steps, 1) if step.endswith(" 4"))
    last = run.steps.index("Decide 1") + 1
    assert last > place + 1
    for steps in range(place, min(place + 2, last)):
        same(run, steps, tmp_path / str(steps), MODES[steps % len(MODES)])


# --- killed -----------------------------------------------------------------------------

KILLED: Final = """
import os, signal, sys
import kgreason
from kgreason.base.store import Store
update, phase, after, left = Store.update, sys.argv[1], sys.argv[2] == "after", [int(sys.argv[3])]
def update_and_die(self, text, *more):
    counts = f"trails#phase> <https://w3id.org/trails#{phase}>" in text
    left[0] -= counts
    if counts and left[0] == 0 and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    update(self, text, *more)
    if counts and left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
Store.update = update_and_die
kgreason.investigate(sys.argv[4], shapes=sys.argv[5], ledger=sys.argv[6], max_hypotheses=3,
                     interventions=4, calibration="none", policy=sys.argv[7])
"""


def killed(options: dict[str, Any], ledger: Path, phase: str, when: str, which: int) -> None:
    """Kill a run as it writes a step of a phase, the first or a later one, or just after."""
    command = [sys.executable, "-c", KILLED, phase, when, str(which)]
    command += [str(options["data"]), str(options["shapes"]), str(ledger)]
    command.append(options.get("policy", DEFAULT_POLICY))
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "when", "which"),
    [("Decide", "after", 2), ("Conclude", "before", 1)],
)
def test_a_run_killed_as_it_decides_or_concludes_ends_as_the_undisturbed_one(
    tmp_path: Path, whole: Run, phase: str, when: str, which: int
) -> None:
    killed(several(tmp_path, policy="frame"), tmp_path / "ledger", phase, when, which)
    record = resumed(tmp_path / "ledger")
    assert steps_of(record) == whole.steps
    assert audit(record).ok


@pytest.mark.slow
def test_a_run_killed_anywhere_ends_as_the_undisturbed_one(tmp_path: Path) -> None:
    options, draw = several(tmp_path, policy="frame"), random.Random(os.urandom(8))
    run = undisturbed(options, tmp_path / "whole")
    phases = sorted({step.split()[0] for step in run.steps})
    for place in range(8):
        phase, when = draw.choice(phases), draw.choice(["before", "after"])
        which = draw.randint(1, sum(step.split()[0] == phase for step in run.steps))
        ledger = tmp_path / str(place)
        killed(options, ledger, phase, when, which)
        if (ledger / "CURRENT").exists() and (phase, when) != ("Start", "before"):
            assert timeless(resumed(ledger)) == timeless(run.record), f"{phase} {when} {which}"


# --- what is no longer as it was recorded -----------------------------------------------


def test_symptoms_that_are_not_those_recorded_are_not_gone_on_with(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another version might number them: nothing is written under the wrong name."""
    start = Investigation.__init__

    def turned(self: Any, graph: Any, symptoms: Any, *more: Any, **also: Any) -> None:
        nodes = [symptom.node for symptom in symptoms]
        again = [replace(s, recorded=n) for s, n in zip(symptoms, reversed(nodes), strict=True)]
        start(self, graph, again, *more, **also)

    monkeypatch.setattr(Investigation, "__init__", turned)
    ledger = whole.cut(4, tmp_path / "ledger")
    held = entries(ledger)
    with pytest.raises(RecordError, match="the symptoms are not those that were recorded"):
        kgreason.resume(ledger)
    assert entries(ledger) == held
