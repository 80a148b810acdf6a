"""Learn the router's weights from the labelled questions, and write `ontology/routing.ttl`.

`python benchmarks/learn_router.py` learns from the files of `SETS` and writes the file; `--check`
writes nothing and exits with 1 where the file is not what would be written; `--cross-validate`
tells how well questions are told that were not learned from, by type and note.

The model is multinomial logistic regression with a quadratic penalty. It is fitted by accelerated
gradient steps (Nesterov, Soviet Mathematics Doklady 27 (1983) 372-376), scaled for each weight by
Boehning's bound of the curvature (Annals of the Institute of Statistical Mathematics 44 (1992)
197-200). There is no chance in it, so the same questions give the same file.
"""

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from kgreason.routing import features as feature_module
from kgreason.routing.features import ALWAYS
from kgreason.routing.task_types import task_types

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "benchmarks" / "questions"
SETS: Final = ("learn", "unseen", "learn-2", "unseen-2", "learn-3")
OUT: Final = ROOT / "ontology" / "routing.ttl"
PENALTY: Final = 3.0
STEPS: Final = 60
LEAST_QUESTIONS: Final = 2
"""In how many questions a feature has to occur."""
LEAST_WEIGHT: Final = 0.05
"""Weights nearer to zero are left out."""
FOLDS: Final = 8
ALIKE: Final = 0.35
"""Questions that share so much of their words (Jaccard) stand in one fold."""
SCALE: Final = {"frames": 0.5, "word": 0.5, "words": 0.5}
"""How much a kind of feature counts against the penalty; 1 for those not named."""

Row = dict[str, str]
Sparse = list[tuple[int, float]]


def rows(names: Iterable[str] = SETS) -> list[Row]:
    """Return the labelled questions of several sets."""
    found: list[Row] = []
    for name in names:
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            found += csv.DictReader(file, strict=True)
    return found


class Fit:
    """Weights of features, learned from questions."""

    def __init__(self, several: Sequence[Iterable[str]], labels: Sequence[str]) -> None:
        counted = Counter(name for one in several for name in one)
        self.names = sorted(n for n, many in counted.items() if many >= LEAST_QUESTIONS)
        self.types = sorted(set(labels))
        self._places = {name: place for place, name in enumerate(self.names)}
        self._scales = [SCALE.get(name.split()[0], 1.0) for name in self.names]
        questions = [self._sparse(one) for one in several]
        self._weights = self._learned(questions, [self.types.index(one) for one in labels])

    def weights(self) -> dict[str, dict[str, float]]:
        """Return the weights by type and feature, rounded; those near to zero are left out."""
        made: dict[str, dict[str, float]] = {one: {} for one in self.types}
        for place, name in enumerate(self.names):
            for at, kind in enumerate(self.types):
                weight = round(self._weights[place][at] * self._scales[place], 2)
                if abs(weight) >= LEAST_WEIGHT:
                    made[kind][name] = weight
        return made

    def _sparse(self, names: Iterable[str]) -> Sparse:
        places = sorted(self._places[one] for one in names if one in self._places)
        return [(place, self._scales[place]) for place in places]

    def _learned(self, questions: Sequence[Sparse], labels: Sequence[int]) -> list[list[float]]:
        """Return the weights of each feature for each type that make the labels likely."""
        many = len(self.types)
        steps = self._step_sizes(questions)
        weights = [[0.0] * many for _ in self.names]
        ahead = [[0.0] * many for _ in self.names]
        momentum = 1.0
        for _ in range(STEPS):
            slope = [[-PENALTY * value for value in one] for one in ahead]
            for question, label in zip(questions, labels, strict=True):
                left = [-share for share in _shares(question, ahead, many)]
                left[label] += 1.0
                for place, value in question:
                    row = slope[place]
                    for at in range(many):
                        row[at] += value * left[at]
            grown = (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
            carried, momentum = (momentum - 1.0) / grown, grown
            for place, step in enumerate(steps):
                now, was = ahead[place], weights[place]
                moved = [now[at] + step * slope[place][at] for at in range(many)]
                ahead[place] = [moved[at] + carried * (moved[at] - was[at]) for at in range(many)]
                weights[place] = moved
        return weights

    def _step_sizes(self, questions: Sequence[Sparse]) -> list[float]:
        """Return for each weight a step that is no longer than the curvature allows."""
        curved = [PENALTY] * len(self.names)
        for question in questions:
            total = sum(value for _, value in question)
            for place, value in question:
                curved[place] += 0.5 * value * total
        return [1.0 / one for one in curved]


def _shares(question: Sparse, weights: Sequence[Sequence[float]], many: int) -> list[float]:
    """Return the probability of each type."""
    scores = [0.0] * many
    for place, value in question:
        row = weights[place]
        for at in range(many):
            scores[at] += value * row[at]
    top = max(scores)
    powers = [math.exp(one - top) for one in scores]
    total = sum(powers)
    return [one / total for one in powers]


def told(names: Iterable[str], weights: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the types, the one with the highest sum of weights first."""
    several = list(names)
    sums = {kind: sum(of.get(one, 0.0) for one in several) for kind, of in weights.items()}
    return sorted(sums, key=lambda kind: (-round(sums[kind], 6), kind))


def folds(found: Sequence[Row]) -> list[int]:
    """Return the fold of each question; questions that are alike stand in one."""
    words = [frozenset(one["question"].casefold().split()) for one in found]
    group = list(range(len(found)))
    for place, mine in enumerate(words):
        for other in range(place):
            if len(mine & words[other]) > ALIKE * len(mine | words[other]):
                group = [group[other] if one == group[place] else one for one in group]
    dealt: dict[int, int] = {}
    for one in sorted(set(group), key=lambda g: sha256(found[g]["question"].encode()).digest()):
        dealt[one] = len(dealt) % FOLDS
    return [dealt[one] for one in group]


def cross_validated(found: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """Return how many are told right, of how many, over all, by type and note."""
    reading = task_types().reading
    several = [list(reading.features(one["question"])) for one in found]
    fold = folds(found)
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for held in range(FOLDS):
        kept = [place for place, one in enumerate(fold) if one != held]
        fit = Fit([several[at] for at in kept], [found[at]["task_type"] for at in kept])
        weights = fit.weights()
        for place, row in enumerate(found):
            if fold[place] != held:
                continue
            given = told(several[place], weights)[0]
            for key in ("all", row["task_type"], f"note: {row['note']}"):
                of[key] += 1
                right[key] += given == row["task_type"]
    return {key: (right[key], of[key]) for key in sorted(of)}


def digest() -> str:
    """Return a digest of all that the weights are learned from."""
    used = [FOLDER / f"{name}.csv" for name in SETS]
    used += [ROOT / "ontology" / name for name in ("frames.ttl", "patterns.ttl")]
    used += [Path(str(feature_module.__file__)), ROOT / "kgreason" / "routing" / "phrases.py"]
    used.append(Path(__file__))
    return sha256(b"\0".join(one.read_bytes() for one in used)).hexdigest()[:16]


def turtle(weights: Mapping[str, Mapping[str, float]], many: int) -> str:
    """Return the weights as Turtle."""
    types = task_types().types
    lines = [
        f"# Weights of the router, learned from {many} labelled questions of benchmarks/questions.",
        "# Made by `python benchmarks/learn_router.py`; learn them anew rather than change them.",
        "# A weight is a natural logarithm of odds; kgreason/routing/features.py tells what the",
        "# features are.",
        "",
        "@prefix trails: <https://w3id.org/trails#> .",
        "",
        f'trails:Routing trails:learnedDigest "{digest()}" .',
    ]
    for kind, of in weights.items():
        lines += ["", f"<{types[kind].iri}> trails:learnedCue"]
        pairs = sorted(of.items(), key=lambda one: (one[0] != ALWAYS, -abs(one[1]), one[0]))
        lines += [
            f'    [ a trails:LearnedCue ; trails:feature "{name}" ; trails:weight {weight:.2f} ] ,'
            for name, weight in pairs
        ]
        lines[-1] = lines[-1][:-1] + "."
    return "\n".join(lines) + "\n"


def main() -> int:
    """Learn and write, compare, or cross-validate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file")
    parser.add_argument("--cross-validate", action="store_true", help="tell how well it does")
    asked = parser.parse_args()
    found = rows()
    if asked.cross_validate:
        for key, (right, of) in cross_validated(found).items():
            sys.stdout.write(f"{key:<20} {right:>4} of {of:<4} {right / of:.3f}\n")
        return 0
    reading = task_types().reading
    fit = Fit(
        [reading.features(one["question"]) for one in found], [one["task_type"] for one in found]
    )
    text = turtle(fit.weights(), len(found))
    if asked.check:
        return int(OUT.read_text(encoding="utf-8") != text)
    OUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
