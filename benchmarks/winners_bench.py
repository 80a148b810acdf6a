"""What a winner's confidence is worth, citations run again, rounds, and strategies on sown faults.

The first table reads results.json of `kgreason bench --out DIR`: runs whose winner stands at 0.60
or more against those below 0.30, how confidence goes with being right, and the calibration error
out of fold with the features of the verdict and without. The others sow faults, and investigate:

    python benchmarks/winners_bench.py table results/results.json
    python benchmarks/winners_bench.py runs --graph generated:1000 --faults source --seeds 0:4
    python benchmarks/winners_bench.py strategies --graph generated:1000 --faults source --seeds 0:2
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from kgreason import api
from kgreason.audit import recheck
from kgreason.base.errors import OptionError
from kgreason.base.resources import DEFAULT_POLICY, folder
from kgreason.base.terms import TRAILS
from kgreason.cli.bench import _range, _trials
from kgreason.cli.progress import Shown
from kgreason.graph import load
from kgreason.inject.calibration_cases import Case, trials
from kgreason.inject.corrupt import Unfit
from kgreason.inject.fault import Truth
from kgreason.inject.inject import inject
from kgreason.inject.learn_calibration import learn
from kgreason.inject.scoring import by_place, score
from kgreason.inject.trials import Trial, _written
from kgreason.record import Ledger, Record
from kgreason.report.as_json import as_dict

HIGH: Final = 0.60
LOW: Final = 0.30
NONE: Final = "none"
STRATEGIES: Final = ("hypothesis", "reflexion", "supervisor", "react", "plan-then-execute")


def main() -> None:
    """Make one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    several = parser.add_subparsers(dest="table", required=True)
    read = several.add_parser("table", help="from results that are there")
    read.add_argument("files", nargs="+")
    for name in ("runs", "strategies"):
        made = several.add_parser(name)
        made.add_argument("--graph", default="generated:1000")
        made.add_argument("--faults", default="source,wrong-predicate")
        made.add_argument("--seeds", default="0:2")
    given = parser.parse_args()
    if given.table == "table":
        found = [run for file in given.files for run in runs_of(file)]
        lines = winners(found, [case for file in given.files for case in trials(file)])
    elif given.table == "runs":
        lines = runs(list(asked(given)))
    else:
        lines = strategies(list(asked(given)))
    for line in lines:
        print(line, flush=True)


@dataclass(frozen=True)
class Run:
    """A run of a benchmark: how far its winner stood, and whether its answer was right.

    Where nothing was sown, it is right to name no cause. `itself` says whether the winner is a
    cause that was sown, told or not; where "none of these" leads, one of the next three will do.
    """

    winner: float
    right: bool
    itself: bool


def runs_of(file: str) -> Iterator[Run]:
    """Give the runs in a results.json of `kgreason bench`; one without a hypothesis stands at 0."""
    for trial in json.loads(Path(file).read_text(encoding="utf-8"))["trials"]:
        if trial["outcome"] == "done":
            winner = (trial["features"] or {}).get("winning") or 0.0
            nothing = not trial["truth"]["causes"]
            known = trial["top3"] if trial["leader"] == NONE else trial["leader_right"]
            right = trial["abstained"] if nothing else trial["top1"]
            yield Run(float(winner), right, bool(known) and not nothing)


def winners(found: Sequence[Run], cases: Sequence[Case]) -> Iterator[str]:
    """Return the table of winners: accuracy by confidence, correlation, and calibration errors."""
    yield "| winner stands at | runs | the winner is a true cause | the answer is right |"
    yield "|---|---:|---:|---:|"
    parts = {
        f"{HIGH:.2f} or more": [r for r in found if r.winner >= HIGH],
        f"{LOW:.2f} to {HIGH:.2f}": [r for r in found if LOW <= r.winner < HIGH],
        f"below {LOW:.2f}": [r for r in found if r.winner < LOW],
    }
    for name, inside in parts.items():
        itself, right = share([r.itself for r in inside]), share([r.right for r in inside])
        yield f"| {name} | {len(inside)} | {itself} | {right} |"
    yield ""
    own = correlation([(r.winner, r.itself) for r in found])
    related = correlation([(r.winner, r.right) for r in found])
    yield (
        f"Correlation of the winner's confidence with being a true cause: {number(own)}, "
        f"with a right answer: {number(related)}."
    )
    known = [case for case in cases if case.adjustment is not None]
    for policy in sorted({case.policy for case in known}):
        yield from errors(known, policy.rpartition("#")[2])


def errors(cases: Sequence[Case], policy: str) -> Iterator[str]:
    """Return the calibration errors under a policy: as told, and out of fold by either map."""
    told: list[str] = []
    raw = None
    for features in (False, True):
        try:
            made = learn(cases, policy, features=features)
        except OptionError:
            return
        raw = made.before["ece"]
        told.append(number(made.after["ece"] if made.after else None))
    yield (
        f"ECE under {policy}: {number(raw)} as told; out of fold {told[0]} by confidence alone, "
        f"{told[1]} with the features ({len(cases)} runs)."
    )


def correlation(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Return the point-biserial correlation, None where one of the two does not vary."""
    if not pairs:
        return None
    xs, ys = [p for p, _ in pairs], [float(right) for _, right in pairs]
    mx, my = fmean(xs), fmean(ys)
    sx = sum((x - mx) ** 2 for x in xs)
    sy = sum((y - my) ** 2 for y in ys)
    if not sx or not sy:
        return None
    return float(sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / (sx * sy) ** 0.5)


def share(rights: Sequence[bool]) -> str:
    """Return a share with its number, or a dash where there is none."""
    return f"{sum(rights)} ({sum(rights) / len(rights):.2f})" if rights else "-"


def number(value: float | None) -> str:
    """Return a figure with three places, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


# Runs


@dataclass(frozen=True)
class Sown:
    """A fault that was sown, as files on disk, with what is true of it."""

    trial: Trial
    truth: Truth
    data: Path
    shapes: Path
    ontology: list[Path]

    def right(self, told: dict[str, Any]) -> bool:
        """Check whether the first answer is a cause that was sown."""
        return bool(score(told, self.truth, self.trial.base.store)["top1"])


def asked(given: argparse.Namespace) -> Iterator[Trial]:
    """Return a trial for each fault and seed, each with a graph of its own, which is changed."""
    for fault in given.faults.split(","):
        for seed in _range(given.seeds):
            how = ((), DEFAULT_POLICY)
            with Shown() as shown:
                graph: tuple[list[str], list[str], list[str]] = ([given.graph], [], [])
                yield from _trials(graph, fault, range(seed, seed + 1), None, how, shown)


def sown(each: Trial, place: Path) -> Sown:
    """Sow the fault of a trial, and write the graph to files; raises Unfit."""
    truth = inject(each.base, each.targets, each.design, each.seed)
    return Sown(each, truth, *_written(each.base, place))


def patient(place: Path) -> Path:
    """Write the default policy without its early stop: all its rounds are done."""
    text = (folder("ontology") / "policies" / f"{DEFAULT_POLICY}.ttl").read_text(encoding="utf-8")
    rounds = "policy:rounds 3 ."
    if rounds not in text:
        raise OptionError(f"The policy {DEFAULT_POLICY} has no line {rounds!r} any more.")
    file = place / "patient.ttl"
    text = text.replace(rounds, "policy:rounds 3 ; policy:leastRounds 3 .")
    file.write_text(text.replace(f"policy:{DEFAULT_POLICY}", "<urn:kgreason:patient>"))
    return file


def runs(several: Sequence[Trial]) -> Iterator[str]:
    """Return what citations and rounds come to, with the early stop and without it."""
    yield "| stop | runs | right | rounds | tests | CPU s | citations | borne out |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    found: dict[str, list[dict[str, float]]] = {"early": [], "none": []}
    for each in several:
        with tempfile.TemporaryDirectory(prefix="kgreason-winners-") as name:
            place = Path(name)
            try:
                one = sown(each, place)
            except Unfit:
                continue
            for stop, rules in (("early", DEFAULT_POLICY), ("none", str(patient(place)))):
                found[stop].append(investigated(one, rules))
    for stop, rows in found.items():
        if rows:
            cited, held = (sum(row[n] for row in rows) for n in ("cited", "held"))
            yield (
                f"| {stop} | {len(rows)} | {sum(r['right'] for r in rows):.0f} | "
                f"{fmean(r['rounds'] for r in rows):.2f} | {fmean(r['tests'] for r in rows):.1f} | "
                f"{fmean(r['cpu'] for r in rows):.1f} | {cited:.0f} | "
                f"{held / cited if cited else 1:.3f} |"
            )


def investigated(one: Sown, rules: str) -> dict[str, float]:
    """Investigate a sown fault, and ask the queries and citations of the record again."""
    begun = time.process_time()
    with api.investigate(
        one.data,
        shapes=one.shapes,
        ontology=one.ontology,
        seed=one.trial.seed,
        policy=rules,
        lenient=True,
        try_repairs=False,
    ) as result:
        spent = time.process_time() - begun
        told = result.as_dict()
        graph = load([one.data, *one.ontology])
        wrong = {each.node for each in recheck(result.record, graph)}
        cited = {row["citation"].value for row in result.record.select("cited-by")}
        rounds = [s["features"]["round"] or 0 for s in told["symptoms"] if s["features"]]
    evidence = [e for s in told["symptoms"] for h in s["hypotheses"] for e in h["evidence"]]
    return {
        "right": float(one.right(told)),
        "rounds": fmean(rounds) if rounds else 0.0,
        "tests": len(evidence),
        "cpu": spent,
        "cited": len(cited),
        "held": len(cited - wrong),
    }


def strategies(several: Sequence[Trial]) -> Iterator[str]:
    """Return what each strategy makes of the sown faults: right causes, steps, tests, time.

    Of those that only say where to look, it is told how often they name a place, and how often the
    first one has the nodes of a cause that was sown.
    """
    yield (
        "| strategy | runs | answered | right cause | a place to look | the right place | steps | "
        "tests | CPU s |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    found: dict[str, list[dict[str, float]]] = {name: [] for name in STRATEGIES}
    for each in several:
        with tempfile.TemporaryDirectory(prefix="kgreason-winners-") as name:
            place = Path(name)
            try:
                one = sown(each, place)
            except Unfit:
                continue
            for strategy in STRATEGIES:
                found[strategy].append(worked(one, strategy, place / f"ledger-{strategy}"))
    for strategy, rows in found.items():
        if rows:
            yield (
                f"| {strategy} | {len(rows)} | {sum(r['answered'] for r in rows):.0f} | "
                f"{sum(r['right'] for r in rows):.0f} | {sum(r['place'] for r in rows):.0f} | "
                f"{sum(r['there'] for r in rows):.0f} | {fmean(r['steps'] for r in rows):.1f} | "
                f"{fmean(r['tests'] for r in rows):.1f} | {fmean(r['cpu'] for r in rows):.1f} |"
            )


def worked(one: Sown, strategy: str, ledger: Path) -> dict[str, float]:
    """Let a strategy work on what is wrong; steps and tests are those of all its sessions.

    It is right where the last of its sessions that looked into the symptom is.
    """
    begun = time.process_time()
    made = api.plan(
        "Why do nodes break the rules?",
        one.data,
        shapes=one.shapes,
        ontology=one.ontology,
        strategy=strategy,
        seed=one.trial.seed,
        ledger=ledger,
    )
    spent = time.process_time() - begun
    place, there = looked(one, made.result.record)
    made.result.close()
    with Ledger.read(ledger) as store:
        sessions = [as_dict(store.record(entry)) for entry in store.entries()]
    rights = [one.right(told) for told in sessions if told["symptoms"]]
    evidence = [
        e
        for told in sessions
        for s in told["symptoms"]
        for h in s["hypotheses"]
        for e in h["evidence"]
    ]
    return {
        "answered": float(made.answered),
        "right": float(any(rights))
        if strategy == "supervisor"
        else float(bool(rights[-1:] and rights[-1])),
        "place": float(place),
        "there": float(there),
        "steps": sum(told["budget"]["steps"] for told in sessions),
        "tests": len(evidence),
        "cpu": spent,
    }


def looked(one: Sown, record: Record) -> tuple[bool, bool]:
    """Return whether a look named a place, and whether the first is that of a sown cause."""
    asked_ = (
        f"SELECT ?query WHERE {{ GRAPH {record.iri} {{ ?step {TRAILS.tool} "
        f"{TRAILS.ContrastTool} ; {TRAILS.query} ?query }} }}"
    )
    texts = [row["query"].value for row in record.store.select(asked_)]
    graph = load([one.data, *one.ontology]).store
    first = next((row for text in texts for row in graph.select(text)), None)
    if first is None:
        return False, False
    property_, level = first.get("property"), first.get("level")
    pattern = {
        "source": f"GRAPH {level} {{ ?focus ?property ?value }}",
        "value": f"?focus {property_} {level}",
    }.get(first["way"].value, f"?focus {property_} ?value")
    found = {row["focus"] for row in graph.select(f"SELECT ?focus WHERE {{ {pattern} }}")}
    population = one.truth.population
    inside = frozenset(n for n in population if (n in found) == (first["way"].value != "lacks"))
    return True, bool(by_place([inside], one.truth)["top1"])


if __name__ == "__main__":
    main()
