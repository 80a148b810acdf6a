"""`kgreason bench`: results in every format, orderly ends, and trials that cannot end others."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.terms import TRAILS, TYPE
from kgreason.inject import Trial, base_of
from kgreason.inject import trials as running
from kgreason.inject.designs import designs
from kgreason.inject.true_constraints import derive
from tests.cli_support import run

pytestmark = pytest.mark.slow

GRAPH = "generated:400"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bench") / "results"
    done = run(
        "bench", "--graph", GRAPH, "--faults", "source,null-independent",
        "--seeds", "0:2", "--out", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == ""
    return out


def test_results_are_written_in_every_format(bench: Path) -> None:
    files = sorted(p.name for p in bench.iterdir())
    assert files == ["README.md", "results.json", "results.ttl", "trials.jsonl"]
    found = json.loads((bench / "results.json").read_text(encoding="utf-8"))
    trials = found["trials"]
    assert [(t["fault"], t["seed"]) for t in trials] == [
        ("source", 0),
        ("source", 1),
        ("null-independent", 0),
        ("null-independent", 1),
    ]
    assert {t["outcome"] for t in trials} == {"done"}
    assert found["figures"]["all"]["nulls"] == 2
    text = (bench / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Injected faults\n")
    assert "| source |" in text


def test_the_truth_is_rdf(bench: Path) -> None:
    store = ox.Store()
    store.load(path=str(bench / "results.ttl"), format=ox.RdfFormat.TURTLE)
    trials = list(store.quads_for_pattern(None, TYPE, TRAILS.Trial, None))
    faults = list(store.quads_for_pattern(None, TYPE, TRAILS.Fault, None))
    assert (len(trials), len(faults)) == (4, 2)
    for quad in faults:
        kinds = list(store.quads_for_pattern(quad.subject, TRAILS.kind, None, None))
        assert TRAILS.SourceCause in {q.object for q in kinds}


def test_what_is_noted_is_not_done_again(tmp_path: Path) -> None:
    """Of two noted trials one is taken over as it stands; one that failed and a new one are run."""
    known = {"graph": GRAPH, "fault": "null-independent", "group": "null"}
    sound = known | {"seed": 0, "outcome": "not sown", "why": "noted before"}
    failed = known | {"seed": 1, "outcome": "failed", "why": "noted before"}
    lines = "".join(json.dumps(result) + "\n" for result in (sound, failed))
    (tmp_path / "trials.jsonl").write_text(lines, encoding="utf-8")
    asked = (
        "bench", "--graph", GRAPH, "--faults", "null-independent", "--seeds", "0:3",
        "--out", tmp_path, "--continue",
    )  # fmt: skip
    done = run(*asked)
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["trials"]
    assert [t["outcome"] for t in found] == ["not sown", "done", "done"]
    assert len((tmp_path / "trials.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_notes_that_are_none_are_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").write_text("{}\n", encoding="utf-8")
    asked = ("--faults", "source", "--seeds", "0:1", "--out", tmp_path, "--continue")
    done = run("bench", "--graph", GRAPH, *asked)
    assert done.code == 2
    assert "trials.jsonl, line 1" in done.err


def test_stdout_has_the_result_alone() -> None:
    done = run(
        "bench", "--graph", GRAPH, "--faults", "null-independent", "--seeds", "0:1",
        "--format", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads(done.out)["figures"]["all"]["done"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--faults", "flood"), "There is no fault 'flood'"),
        (("--faults", "source", "--seeds", "3"), "--seeds 3: write A:B"),
        (("--faults", "source", "--seeds", "3:3"), "--seeds 3:3: write A:B"),
        (("--faults", ","), "No fault was named"),
        (("--faults", "source", "--continue"), "name the folder of the earlier run with --out"),
    ],
)
def test_wrong_input_is_named(words: tuple[str, ...], said: str) -> None:
    done = run("bench", "--graph", GRAPH, *words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("graph", ["generated:5", "generated:many", "nowhere.ttl"])
def test_a_graph_that_is_none_is_wrong_input(graph: str) -> None:
    done = run("bench", "--graph", graph, "--faults", "source")
    assert done.code == 2
    assert graph in done.err


def trials(*seeds: int) -> list[Trial]:
    base = base_of(GRAPH)
    known = tuple(derive(base))
    return [Trial(base, known, designs()["null-independent"], seed) for seed in seeds]


def ill(trial: Trial) -> dict[str, Any]:
    """Stand in for a trial: the first crashes, the second hangs, the third raises."""
    if trial.seed == 0:
        os._exit(3)
    if trial.seed == 1:
        time.sleep(60)
    if trial.seed == 2:
        raise ValueError("of no value")
    return {"outcome": "done"}


def test_a_trial_that_ends_badly_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "attempt", ill)
    found = {r["seed"]: r for r in running.run(trials(0, 1, 2, 3), jobs=2, seconds=2.0)}
    assert [found[seed]["outcome"] for seed in range(4)] == ["failed", "failed", "failed", "done"]
    assert "crashed" in found[0]["why"]
    assert "stopped after 2 s" in found[1]["why"]
    assert "of no value" in found[2]["why"]


@pytest.mark.slow
def test_trials_at_once_give_what_they_give_alone() -> None:
    def facts(jobs: int) -> list[tuple[int, str, int]]:
        results = running.run(trials(0, 1), jobs=jobs, seconds=300.0)
        return sorted((r["seed"], r["verdict"], r["failing"]) for r in results)

    assert facts(1) == facts(2)
