"""What the features of a verdict add to a calibration: the error out of fold with them and without.

Reads results.json of `kgreason bench --out DIR` and what benchmarks/natural_bench.py writes. Each
leader is estimated by logistic regression on the other folds: by the posterior of the winner alone,
with the features of the verdict (hypotheses proposed and pruned, the round in which the winner
converged), with the kind of proof, and with both. Figures are means over divisions in folds,
by graph or case. The floor is what the calibration error would be were every estimate exactly
right: outcomes are drawn from the estimates themselves. "Drawn again" are nine in ten of the
differences where as many graphs are drawn with replacement: that is what chance alone does.

    python benchmarks/feature_gain.py natural.json usual/results.json
"""

import argparse
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

DRAWS: Final = 40
FOLDS: Final = 10
BINS: Final = 10
_RIDGE: Final = 1.0
_STEPS: Final = 12
_EDGE: Final = 1e-6

Row = list[float]


@dataclass(frozen=True)
class Leader:
    """A leader: the posterior of the winner, the features of its verdict, and whether it is right.

    `graph` is what may not stand in two folds.
    """

    graph: str
    posterior: float
    right: bool
    proof: str
    proposed: int
    pruned: int
    round: int


def leaders(file: str) -> Iterator[Leader]:
    """Give the leaders of a file whose features are known."""
    found = json.loads(Path(file).read_text(encoding="utf-8"))
    if isinstance(found, list):
        for one in (one for one in found if one["leader"] and one["leader"].get("features")):
            told = one["leader"]
            said = told | {"confidence": told.get("posterior", told["confidence"])}
            yield _leader(one["case"], said | {"leader_right": told["right"]})
        return
    for one in found["trials"]:
        if one["outcome"] == "done" and one["confidence"] is not None and one["features"]:
            name = f"{one['graph']} {one['seed']} {one['fault']}"
            yield _leader(name, one)


def _leader(graph: str, told: dict[str, Any]) -> Leader:
    said = told["features"]
    counts = said["proposed"], said["pruned"], said["round"] or 0
    return Leader(graph, told["confidence"], told["leader_right"], str(told["proof"]), *counts)


def alone(one: Leader) -> Row:
    """Return what the estimate goes by without features: the log odds of the posterior."""
    kept = min(max(one.posterior, _EDGE), 1 - _EDGE)
    return [1.0, math.log(kept / (1 - kept)) / 5]


def verdict(one: Leader) -> Row:
    """Return the same with the features of the verdict."""
    features = [math.log(max(1, one.proposed)), float(one.pruned > 0)]
    return [*alone(one), *features, float(one.round > 1), float(one.round == 0)]


def proof(one: Leader) -> Row:
    """Return the same with the kind of proof in place of the features."""
    return [*alone(one), float(one.proof == "direct"), float(one.proof == "bits")]


def both(one: Leader) -> Row:
    """Return the same with the features and the kind of proof."""
    return [*verdict(one), *proof(one)[2:]]


def fitted(rows: Sequence[Row], rights: Sequence[bool]) -> Row:
    """Return the weights of a logistic regression with a ridge, by Newton's method."""
    weights = [0.0] * len(rows[0])
    for _ in range(_STEPS):
        size = range(len(weights))
        slope = [-_RIDGE * (place > 0) * weights[place] for place in size]
        bend = [[_RIDGE * (i == j and i > 0) + _EDGE * (i == j) for j in size] for i in size]
        for row, right in zip(rows, rights, strict=True):
            held = estimate(row, weights)
            for i in size:
                slope[i] += row[i] * (right - held)
                for j in size:
                    bend[i][j] += row[i] * row[j] * held * (1 - held)
        weights = [w + step for w, step in zip(weights, solved(bend, slope), strict=True)]
    return weights


def estimate(row: Row, weights: Row) -> float:
    """Return the probability that weights give a row."""
    along = sum(x * w for x, w in zip(row, weights, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, along))))


def solved(matrix: list[Row], right: Row) -> Row:
    """Return the solution of linear equations, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        best = max(range(place, len(rows)), key=lambda n: abs(rows[n][place]))
        rows[place], rows[best] = rows[best], rows[place]
        for other in range(len(rows)):
            if other != place:
                share = rows[other][place] / rows[place][place]
                rows[other] = [a - share * b for a, b in zip(rows[other], rows[place], strict=True)]
    return [row[-1] / row[place] for place, row in enumerate(rows)]


def error(estimates: Sequence[float], rights: Sequence[bool]) -> float:
    """Return the expected calibration error, 0 to 1, over ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for held, right in zip(estimates, rights, strict=True):
        bins.setdefault(min(BINS - 1, int(held * BINS)), []).append((held, right))
    gaps = (abs(sum(held - right for held, right in inside)) for inside in bins.values())
    return sum(gaps) / len(estimates)


def out_of_fold(
    known: Sequence[Leader], told: Callable[[Leader], Row], folds: dict[str, int]
) -> list[float]:
    """Return the estimate of each leader by what was learned without its fold."""
    out = [0.0] * len(known)
    for fold in set(folds.values()):
        learned = [one for one in known if folds[one.graph] != fold]
        weights = fitted([told(one) for one in learned], [one.right for one in learned])
        for place, one in enumerate(known):
            if folds[one.graph] == fold:
                out[place] = estimate(told(one), weights)
    return out


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+")
    known = [one for file in parser.parse_args().files for one in leaders(file)]
    rights = [one.right for one in known]
    same = sum(one.pruned == 0 and one.round == 1 for one in known)
    told = error([one.posterior for one in known], rights)
    print(f"{len(known)} leaders, {sum(rights)} right; of {same} nothing was pruned, and the")
    print(f"first round converged. Calibration error of the posterior as told: {told:.3f}.\n")
    print("| estimated by | ECE | floor | Brier | times the first | difference, drawn again |")
    print("|---|---:|---:|---:|---:|---:|")
    found = {name: [figures(known, way, draw) for draw in range(DRAWS)] for name, way in WAYS}
    again = {
        name: [figures(resampled(known, draw), way, draw)[0] for draw in range(DRAWS)]
        for name, way in WAYS
    }
    for name, rows in found.items():
        held, floor, brier = (fmean(row[n] for row in rows) for n in range(3))
        ratio = held / fmean(row[0] for row in found[POSTERIOR])
        pairs = zip(again[name], again[POSTERIOR], strict=True)
        drawn = sorted(a - b for a, b in pairs)
        between = f"{drawn[DRAWS // 20]:+.3f} to {drawn[-1 - DRAWS // 20]:+.3f}"
        print(f"| {name} | {held:.3f} | {floor:.3f} | {brier:.3f} | {ratio:.2f} | {between} |")


def resampled(known: Sequence[Leader], draw: int) -> list[Leader]:
    """Return the leaders of as many graphs, drawn with replacement."""
    of: dict[str, list[Leader]] = {}
    for one in known:
        of.setdefault(one.graph, []).append(one)
    dice = random.Random(1000 + draw)
    return [one for graph in dice.choices(sorted(of), k=len(of)) for one in of[graph]]


def figures(
    known: Sequence[Leader], told: Callable[[Leader], Row], draw: int
) -> tuple[float, float, float]:
    """Return calibration error, its floor and the Brier score for one division in folds."""
    dice = random.Random(draw)
    graphs = sorted({one.graph for one in known})
    dice.shuffle(graphs)
    held = out_of_fold(known, told, {graph: n % FOLDS for n, graph in enumerate(graphs)})
    rights = [one.right for one in known]
    brier = fmean((guess - right) ** 2 for guess, right in zip(held, rights, strict=True))
    exact = error(held, [dice.random() < guess for guess in held])
    return error(held, rights), exact, brier


POSTERIOR: Final = "the posterior alone"
WAYS: Final = (
    (POSTERIOR, alone),
    ("with the features of the verdict", verdict),
    ("with the kind of proof", proof),
    ("with both", both),
)

if __name__ == "__main__":
    main()
