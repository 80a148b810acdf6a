"""Run trials, each in a process of its own that may crash without ending the others."""

import multiprocessing
import multiprocessing.connection
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason import api
from kgreason.base.errors import KgreasonError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import die_with
from kgreason.inject.base_graph import BaseGraph
from kgreason.inject.baseline_trials import compared, failing_of
from kgreason.inject.corrupt import ONTOLOGY_GRAPH, SHAPES_GRAPH, Unfit
from kgreason.inject.designs import Design
from kgreason.inject.fault import Target, Truth
from kgreason.inject.inject import inject
from kgreason.inject.scoring import score

_POLL: Final = 0.2
_SHOWN: Final = 50

Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Trial:
    """One fault to inject into one graph with one seed; `baselines` are run on the same data.

    `rules` is the policy of the investigation: a name, or a file.
    """

    base: BaseGraph
    targets: tuple[Target, ...]
    design: Design
    seed: int
    keep: Path | None = None
    baselines: tuple[str, ...] = ()
    rules: str = DEFAULT_POLICY

    @property
    def folder(self) -> Path | None:
        """Where its data and shapes are kept, if anywhere."""
        name = f"{self.base.name}-{self.design.name}-{self.seed}".replace(":", "-")
        return self.keep / name if self.keep else None

    @property
    def named(self) -> dict[str, Any]:
        """What identifies it in the results."""
        return {
            "graph": self.base.name,
            "fault": self.design.name,
            "group": self.design.group,
            "seed": self.seed,
        }


@dataclass
class _Running:
    trial: Trial
    process: multiprocessing.context.ForkProcess
    answer: multiprocessing.connection.Connection
    begun: float


def run(
    trials: Sequence[Trial], jobs: int, seconds: float, told: Told | None = None
) -> Iterator[dict[str, Any]]:
    """Run trials, `jobs` at a time, and give the result of each as it ends.

    A result has `outcome`: `done`, `not sown` (the graph has no place for the fault), or `failed`
    with `why`: an error, a crash, or more than `seconds`.
    """
    waiting = list(reversed(trials))
    running: list[_Running] = []
    done = 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_start(waiting.pop()))
            multiprocessing.connection.wait([r.answer for r in running], timeout=_POLL)
            for each in list(running):
                found = _ended(each, seconds)
                if found is not None:
                    running.remove(each)
                    done += 1
                    if told:
                        told(f"{found['graph']} {found['fault']}", done, len(trials))
                    yield found
    finally:
        for each in running:
            each.process.kill()
            each.process.join()


def in_order(
    trials: Sequence[Trial], results: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return results in the order of their trials, whichever ended first."""
    place = {tuple(trial.named.values()): number for number, trial in enumerate(trials)}
    names = ("graph", "fault", "group", "seed")
    return sorted(results, key=lambda result: place[tuple(result[name] for name in names)])


def _start(trial: Trial) -> _Running:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(trial, sender, os.getpid()), daemon=False)
    process.start()
    sender.close()
    return _Running(trial, process, receiver, time.monotonic())


def _ended(each: _Running, seconds: float) -> dict[str, Any] | None:
    """Return the result of a process that has ended, or is to end because its time is over."""
    found: dict[str, Any] | None = None
    if each.answer.poll():
        try:
            found = each.answer.recv()
        except EOFError:
            found = {"outcome": "failed", "why": "the process crashed"}
    elif time.monotonic() - each.begun > seconds:
        each.process.kill()
        found = {"outcome": "failed", "why": f"stopped after {seconds:g} s"}
    if found is None:
        return None
    each.process.join()
    each.answer.close()
    return each.trial.named | {"wall": round(time.monotonic() - each.begun, 2)} | found


def _child(trial: Trial, sender: multiprocessing.connection.Connection, parent: int) -> None:
    die_with(parent)
    try:
        sender.send(attempt(trial))
    except Unfit as error:
        sender.send({"outcome": "not sown", "why": str(error)})
    except KgreasonError as error:
        sender.send({"outcome": "failed", "why": f"{type(error).__name__}: {error}"})
    except Exception as error:  # noqa: BLE001 - one trial must not end the others
        sender.send({"outcome": "failed", "why": f"unexpected {type(error).__name__}: {error}"})
    finally:
        sender.close()


def attempt(trial: Trial) -> dict[str, Any]:
    """Inject, investigate and score in this process, whose copy of the graph is changed.

    Raises Unfit where the fault has no place, and what an investigation may raise.
    """
    truth = inject(trial.base, trial.targets, trial.design, trial.seed)
    with tempfile.TemporaryDirectory(prefix="kgreason-bench-") as folder:
        place = trial.folder or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        data, shapes, ontology = _written(trial.base, place)
        begun = time.process_time()
        with api.investigate(
            data,
            shapes=shapes,
            ontology=ontology,
            lenient=True,
            seed=trial.seed,
            policy=trial.rules,
            try_repairs=False,
        ) as result:
            found = result.as_dict()
        spent = time.process_time() - begun
        failing = failing_of(data, shapes, ontology, truth) if trial.baselines else frozenset()
    scored = score(found, truth, trial.base.store)
    if trial.baselines:
        store = trial.base.store
        scored["peers"] = compared(trial.baselines, truth, store, failing, trial.seed)
    return {"outcome": "done", "truth": told(truth), "cpu": round(spent, 2)} | scored


def _written(base: BaseGraph, place: Path) -> tuple[Path, Path, list[Path]]:
    """Write the injected graph, its shapes and the ontology; the store keeps the data alone."""
    data, shapes, axioms = place / "data.nq", place / "shapes.ttl", place / "axioms.ttl"
    _write(base.store, SHAPES_GRAPH, shapes)
    ontology = list(base.ontology)
    if _write(base.store, ONTOLOGY_GRAPH, axioms):
        ontology.append(axioms)
    ox.serialize(base.quads(), str(data), format=ox.RdfFormat.N_QUADS)
    return data, shapes, ontology


def _write(store: ox.Store, graph: ox.NamedNode, file: Path) -> bool:
    triples = [q.triple for q in store.quads_for_pattern(None, None, None, graph)]
    store.remove_graph(graph)
    if triples:
        ox.serialize(triples, str(file), format=ox.RdfFormat.TURTLE)
    return bool(triples)


def told(truth: Truth) -> dict[str, Any]:
    """Return the truth as data: counts, conditions, and some of the nodes of each cause."""
    return {
        "class": truth.target.cls.value,
        "path": truth.target.path.value,
        "component": truth.target.component,
        "operations": list(truth.operations),
        "background": round(truth.background, 4),
        "decoration": list(truth.added),
        "silence": truth.silence,
        "causes": [
            {
                "kind": cause.kind,
                "kinds": sorted(cause.twins),
                "condition": cause.condition,
                "nodes": len(cause.nodes),
                "struck": len(cause.corrupted),
                "severity": round(cause.severity, 3),
                "levels": cause.levels,
                "affected": sorted(n.value for n in cause.corrupted)[:_SHOWN],
            }
            for cause in truth.causes
        ],
    }
