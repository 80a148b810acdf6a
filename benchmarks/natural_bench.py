"""How often the cause told first is the true one, on natural faults out of public histories.

Each case of benchmarks/natural is laid out from a folder of git directories ($KGREASON_MIRROR, or
`--mirror`), investigated in a process of its own, and its leader judged by what the mending commit
tells. What may be learned from is run, unless `--split unseen-4` says otherwise.

    python benchmarks/natural_bench.py --mirror ../.mirror --shared ../shared/data/natural

How a leader (the first supported hypothesis of a symptom) is judged:

- right: its kind is one of the case's, it holds half of the nodes mended (with the other supported
  hypotheses of its kind, where a cause is told in parts), and half of its nodes fail;
- vague: a right kind with other nodes, a kind that the case calls vague, or the right nodes under a
  wrong kind;
- restated: its statement says the rule again (`restates` of the case, a regular expression);
- false: anything else that is told as supported, and whatever is told where nothing in the graph
  tells the cause (`none`);
- missed: nothing is supported although there is a cause;
- honest none: nothing is told as a cause, and nothing in the graph tells the cause; a place where
  failures are only more frequent is told as none by the verdict (“narrowed down”, “no systematic
  cause”), so there it is no fault;
- not run: no result within the time, or an error.

Where a person judged a statement otherwise (benchmarks/natural/judgements.toml, with reasons), that
counts. What a confidence is worth is told by the kind of proof, too, and of those whose calibrated
confidence is as high: that is what the report calls certainty. Prints a table, and writes all with
the statements, so that a person can judge, to benchmarks/results/natural.json. Intervals are
Wilson's at 95 %.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import natural_cases  # type: ignore[import-not-found]  # beside this script
import pyoxigraph as ox
from natural_cases import HALVES, NONE, SPLITS, Laid

from kgreason.base.statistics import wilson_interval

HERE = Path(__file__).resolve().parent
MIRROR = Path(os.environ.get("KGREASON_MIRROR", HERE.parents[1] / ".mirror"))
RESULTS = HERE / "results" / "natural.json"
VERDICTS = ("right", "vague", "restated", "false", "missed", "honest none", "not run")
GOOD = ("right", "honest none")
HALF = 0.5
SURE = 0.9
UNTOLD = ("narrowed down", "no systematic cause")
"""Verdicts by which no supported hypothesis of a symptom is told as its cause."""


def main() -> None:
    """Lay out, investigate, judge and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, default=MIRROR, help="folder of git directories")
    parser.add_argument("--work", type=Path, help="where cases and results lie; else a temporary")
    parser.add_argument("--shared", type=Path, help="cases that lie ready, to be judged too")
    parser.add_argument("--split", nargs="+", choices=SPLITS, default=list(HALVES))
    parser.add_argument("--cases", nargs="+", help="only these")
    parser.add_argument("--policy", default="code")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300, help="the most for a case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--layout", action="store_true", help="lay out all cases; run nothing")
    parser.add_argument("--kgreason", default=f"{sys.executable} -m kgreason",
                        help="the command to run, such as that of another version")  # fmt: skip
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgreason-natural-") as folder:
        work = (given.work or Path(folder)).resolve()
        laid = gathered(given, work)
        if given.layout or not laid:
            return
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            told = list(pool.map(lambda one: judged_case(one, given), laid))
    symptoms = [one for case in told for one in case]
    print(table(symptoms))
    print(summary(symptoms))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(symptoms, indent=1, ensure_ascii=False), encoding="utf-8")


def gathered(given: argparse.Namespace, work: Path) -> list[Laid]:
    """Lay out the cases asked for, and add those that lie ready."""
    found = []
    for case in natural_cases.cases():
        wanted = given.layout or case.split in given.split
        if wanted and (not given.cases or case.name in given.cases):
            found.append(natural_cases.lay_out(case, given.mirror, work))
    if given.shared and not given.layout:
        ready = sorted(one.parent for one in given.shared.glob("*/truth.json"))
        found += [
            natural_cases.laid_before(one)
            for one in ready
            if not given.cases or one.name in given.cases
        ]
    return [one for one in found if one is not None]


def with_leader(
    told: dict[str, Any], symptom: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    """Add the leader as `kgreason calibrate` takes it: what was told, or that there is none.

    Where neither is said it is None. Vague is not right.
    """
    none = symptom["verdict"] == "no systematic cause"
    wanted = (one for one in symptom["hypotheses"] if none or one["kind"] != NONE)
    first = next((one for one in wanted if one["status"] == "supported"), None)
    leader = first and {
        "confidence": first["confidence"],
        "posterior": first.get("posterior", first["confidence"]),
        "right": told["judged"] in GOOD,
        "proof": first["proof"],
        "policy": result["policy"],
        "seed": result["seed"],
        "features": symptom["features"],
    }
    return told | {"leader": leader}


def judged_case(laid: Laid, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Investigate a case, and judge the leader of each of its symptoms."""
    option, rule = laid.rule
    with tempfile.TemporaryDirectory(prefix="kgreason-natural-") as folder:
        command = [
            *shlex.split(given.kgreason), "investigate", str(laid.data), option, str(rule),
            "--lenient", "--policy", given.policy, "--seed", str(given.seed), "--format", "json",
            "--ledger", f"{folder}/ledger",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, check=True, capture_output=True, timeout=given.seconds)
        except subprocess.CalledProcessError as problem:
            return [not_run(laid, problem.stderr.decode()[-300:])]
        except subprocess.TimeoutExpired:
            return [not_run(laid, f"longer than {given.seconds:g} seconds")]
    result = json.loads(done.stdout)
    symptoms = result["symptoms"]
    store = ox.Store()
    natural_cases.read_quads(laid.data, store)
    found = [with_leader(judged(laid, one, store), one, result) for one in symptoms]
    print(f"{laid.name}: {', '.join(one['judged'] for one in found)}", file=sys.stderr, flush=True)
    return found or [not_run(laid, "no symptom")]


def not_run(laid: Laid, why: str) -> dict[str, Any]:
    """Return the entry of a case without a result."""
    symptom = {"name": why, "failing": 0, "population": 0}
    return entry(laid, "not run", symptom, None, 0.0) | {"leader": None}


def entry(
    laid: Laid, verdict: str, symptom: dict[str, Any], leader: dict[str, Any] | None, recall: float
) -> dict[str, Any]:
    """Return what is told of a symptom."""
    return {
        "case": laid.name, "split": laid.split, "judged": verdict, "cause": laid.cause,
        "kinds": list(laid.kinds), "symptom": symptom["name"], "failing": symptom["failing"],
        "population": symptom["population"], "verdict": symptom.get("verdict"),
        "kind": leader["kind"] if leader else None,
        "statement": leader["statement"] if leader else None,
        "confidence": leader["confidence"] if leader else None,
        "posterior": leader.get("posterior", leader["confidence"]) if leader else None,
        "calibrated": leader.get("calibrated") if leader else None,
        "proof": leader.get("proof") if leader else None,
        "inside": leader["inside"] if leader else None,
        "outside": leader["outside"] if leader else None, "recall": round(recall, 3),
        "others": [
            [one["status"], round(one["confidence"], 3), one["kind"], one["statement"]]
            for one in symptom.get("hypotheses", ())
            if leader is None or one["statement"] != leader["own"]
        ],
    }  # fmt: skip


def judged(laid: Laid, symptom: dict[str, Any], store: ox.Store) -> dict[str, Any]:
    """Judge the leader of a symptom."""
    supported = (one for one in symptom["hypotheses"] if one["status"] == "supported")
    told = [one for one in supported if one["kind"] != NONE]
    if not told or (NONE in laid.kinds and symptom["verdict"] in UNTOLD):
        honest = NONE in laid.kinds
        return entry(laid, "honest none" if honest else "missed", symptom, None, 0.0)
    told.sort(key=lambda one: int(one["rank"]))
    # Where a finding has two parts, the sentence of both is what is read.
    own = told[0]["statement"]
    leader = {**told[0], "own": own, "statement": told[0].get("finding") or own}
    parts = [one for one in told if one["kind"] == leader["kind"]]
    held = recall(laid, parts, symptom, store)
    inside = leader["inside"]
    pure = inside["failing"] >= HALF * inside["population"]
    return entry(laid, judge(laid, leader, held, pure=pure), symptom, leader, held)


def judge(laid: Laid, leader: dict[str, Any], held: float, *, pure: bool) -> str:
    """Return the verdict on a leader that holds a share of the nodes mended."""
    spoken = natural_cases.by_hand().get((laid.name, leader["statement"]))
    if spoken:
        return str(spoken)
    if any(re.search(one, leader["statement"]) for one in laid.restates):
        return "restated"
    if laid.kinds == (NONE,):
        return "false"
    fits = pure and held >= HALF
    if leader["kind"] in laid.kinds:
        return "right" if fits else "vague"
    return "vague" if fits or leader["kind"] in laid.vague else "false"


def recall(
    laid: Laid, parts: Sequence[dict[str, Any]], symptom: dict[str, Any], store: ox.Store
) -> float:
    """Return the share of the nodes mended that lie in the regions of a leader and its like.

    A case may have several symptoms; the nodes are those of all. Of a symptom with fewer failing
    nodes, so many are the whole.
    Where the nodes are not known, or the regions cannot be asked of the data alone, the share of
    the failing nodes in the leader's region takes their place.
    """
    region = set().union(*(asked(one, store) for one in parts))
    if laid.nodes and region:
        whole = min(len(laid.nodes), int(symptom["failing"]))
        return min(1.0, len(region & laid.nodes) / whole)
    return float(parts[0]["inside"]["failing"] / symptom["failing"])


def asked(hypothesis: dict[str, Any], store: ox.Store) -> set[str]:
    """Return the nodes of a region; none where the data alone do not tell."""
    if not hypothesis.get("region") or hypothesis.get("region_needs"):
        return set()
    try:
        rows = store.query(hypothesis["region"], use_default_graph_as_union=True)
    except (SyntaxError, ValueError, OSError, RuntimeError):
        return set()
    return {str(row["focus"]) for row in rows}  # type: ignore[union-attr]


def table(symptoms: Sequence[dict[str, Any]]) -> str:
    """Return a line for each symptom."""
    rows = ["| case | failing | kinds that are right | judged | told |", "|---|---:|---|---|---|"]
    for one in symptoms:
        told = one["verdict"] or one["symptom"]
        if one["kind"]:
            told = f"{one['kind']} {one['confidence']:.2f}: {one['statement']}"
        rows.append(
            f"| {one['case']} | {one['failing']:,} of {one['population']:,} |"
            f" {', '.join(one['kinds'])} | {one['judged']} | {told} |"
        )
    return "\n".join(rows)


def summary(symptoms: Sequence[dict[str, Any]]) -> str:
    """Return the counts by verdict, in all and by kind, and what the sure ones are worth."""
    kinds = sorted({one["kinds"][0] for one in symptoms})
    groups = [
        *((kind, [one for one in symptoms if one["kinds"][0] == kind]) for kind in kinds),
        ("all", list(symptoms)),
    ]
    lines = ["", f"| true kind | {' | '.join(VERDICTS)} | good (95 %) |"]
    lines.append("|---" * (len(VERDICTS) + 2) + "|")
    for name, group in groups:
        counts = Counter(one["judged"] for one in group)
        cells = " | ".join(str(counts[one] or "") for one in VERDICTS)
        lines.append(f"| {name} | {cells} | {share(group)} |")
    sure = [one for one in symptoms if (one["confidence"] or 0.0) >= SURE]
    silent = [one for one in symptoms if one["verdict"] == "no systematic cause"]
    lines.append(
        f"\nGood is right or an honest none. Supported at {SURE} or more, right: {share(sure)}"
    )
    kinds_of_proof = sorted({one.get("proof") or "" for one in sure} - {""})
    parts = [f"{p} {share([o for o in sure if o.get('proof') == p])}" for p in kinds_of_proof]
    lines += [f"By what it was told: {'; '.join(parts)}"] if parts else []
    within = [one for one in symptoms if (one.get("posterior") or 0.0) >= SURE]
    lines.append(f"Within its frame, before its proof counted, at {SURE} or more: {share(within)}")
    trusted = [one for one in symptoms if (one.get("calibrated") or 0.0) >= SURE]
    lines.append(f"Calibrated at {SURE} or more, right: {share(trusted)}")
    lines.append(f"“No systematic cause” said, and true: {share(silent)}")
    return "\n".join(lines)


def share(symptoms: Sequence[dict[str, Any]]) -> str:
    """Return how many of the symptoms are good, with Wilson's interval."""
    good = sum(one["judged"] in GOOD for one in symptoms)
    if not symptoms:
        return "none"
    low, high = wilson_interval(good, len(symptoms))
    return f"{good} of {len(symptoms)} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
