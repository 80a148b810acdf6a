"""Learn the router's weights from the labelled questions, and write `ontology/routing.ttl`.

`python benchmarks/learn_router.py` learns from the files of `SETS` and writes the file; `--check`
writes nothing and exits with 1 where the file is not what would be written; `--cross-validate`
tells how well questions are told that were not learned from, by type and note, and `--by-author`
how well those of each author are told by what the others wrote.

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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from kgreason.routing import features as feature_module
from kgreason.routing.task_types import task_types

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "benchmarks" / "questions"
SETS: Final = ("learn", "unseen", "learn-2", "unseen-2", "learn-3", "unseen-3", "learn-4")
OUT: Final = ROOT / "ontology" / "routing.ttl"
PENALTY: Final = 0.5
STEPS: Final = 30
"""To stop so early holds weights back as a penalty does."""
LEAST_QUESTIONS: Final = 3
"""In how many questions a feature has to occur."""
LEAST_WEIGHT: Final = 0.05
"""Weights nearer to zero are left out."""
FOLDS: Final = 8
ALIKE: Final = 0.35
"""Questions that share so much of their words (Jaccard) stand in one fold."""
SCALE: Final = {"frames": 0.5, "word": 0.5, "words": 0.5, "begins": 0.5, "ends": 0.5}
"""How much a kind of feature counts against the penalty; 1 for those not named."""

AUTHORS: Final = {
    "first": ("learn", "unseen"),
    "second": ("learn-2", "unseen-2"),
    "third": ("learn-3",),
    "fourth": ("unseen-3",),
    "fifth": ("learn-4",),
}
"""Which sets were written by one author."""
HARD: Final = "learn-3"
"""The set of which two thirds are hard questions, which is far more than people ask."""
HARD_COUNTS: Final = 0.5
"""How much a hard question of that set counts."""

Row = dict[str, str]
Places = Sequence[Sequence[int]]
"""The features of each question, by their place."""


def rows(names: Iterable[str] = SETS) -> list[Row]:
    """Return the labelled questions of several sets, each with the name of its `set`."""
    found: list[Row] = []
    for name in names:
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            found += ({**one, "set": name} for one in csv.DictReader(file, strict=True))
    return found


def counts(row: Row) -> float:
    """Return how much a question counts: those that are hard by design count less."""
    return HARD_COUNTS if row["set"] == HARD and row["note"] != "plain" else 1.0


class Fit:
    """Weights of features, learned from questions; each counts 1 unless `count` says how much."""

    def __init__(
        self,
        several: Sequence[Iterable[str]],
        labels: Sequence[str],
        count: Sequence[float] | None = None,
    ) -> None:
        counted = Counter(name for one in several for name in one)
        self.names = sorted(n for n, many in counted.items() if many >= LEAST_QUESTIONS)
        self.types = sorted(set(labels))
        self._places = {name: place for place, name in enumerate(self.names)}
        self._scales = [SCALE.get(name.split()[0], 1.0) for name in self.names]
        self._count = count or [1.0] * len(several)
        questions = [sorted(self._places[n] for n in one if n in self._places) for one in several]
        self._weights = self._learned(questions, [self.types.index(one) for one in labels])

    def weights(self) -> dict[str, dict[str, float]]:
        """Return the weights by type and feature, rounded; those near to zero are left out."""
        made: dict[str, dict[str, float]] = {}
        for kind, row in zip(self.types, self._weights, strict=True):
            told = [round(w * scale, 2) for w, scale in zip(row, self._scales, strict=True)]
            named = zip(self.names, told, strict=True)
            made[kind] = {name: weight for name, weight in named if abs(weight) >= LEAST_WEIGHT}
        return made

    def _learned(self, questions: Places, labels: Sequence[int]) -> list[list[float]]:
        """Return the weights of each feature, by type, that make the labels likely."""
        having: list[list[int]] = [[] for _ in self.names]
        for number, places in enumerate(questions):
            for place in places:
                having[place].append(number)
        steps = self._step_sizes(questions)
        weights = [[0.0] * len(self.names) for _ in self.types]
        ahead = [[0.0] * len(self.names) for _ in self.types]
        momentum = 1.0
        for _ in range(STEPS):
            left = self._left(questions, labels, ahead)
            grown = (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
            carried, momentum = (momentum - 1.0) / grown, grown
            for at, off in enumerate(left):
                slopes = [sum(map(off.__getitem__, numbers)) for numbers in having]
                moved = [
                    w + step * (scale * slope - PENALTY * w)
                    for w, step, scale, slope in zip(
                        ahead[at], steps, self._scales, slopes, strict=True
                    )
                ]
                pairs = zip(moved, weights[at], strict=True)
                ahead[at] = [now + carried * (now - was) for now, was in pairs]
                weights[at] = moved
        return weights

    def _left(
        self, questions: Places, labels: Sequence[int], weights: Sequence[Sequence[float]]
    ) -> list[list[float]]:
        """Return by type what the weights leave of each question: its label less the probability.

        Each is multiplied by how much the question counts.
        """
        scaled = [[w * s for w, s in zip(row, self._scales, strict=True)] for row in weights]
        left: list[list[float]] = [[] for _ in self.types]
        for places, label, much in zip(questions, labels, self._count, strict=True):
            scores = [sum(map(row.__getitem__, places)) for row in scaled]
            top = max(scores)
            powers = [math.exp(one - top) for one in scores]
            total = sum(powers)
            for at, power in enumerate(powers):
                left[at].append(much * ((at == label) - power / total))
        return left

    def _step_sizes(self, questions: Places) -> list[float]:
        """Return for each weight a step that is no longer than the curvature allows."""
        curved = [PENALTY] * len(self.names)
        for places, much in zip(questions, self._count, strict=True):
            total = sum(map(self._scales.__getitem__, places))
            for place in places:
                curved[place] += 0.5 * much * self._scales[place] * total
        return [1.0 / one for one in curved]


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


def fitted(found: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the weights by type and feature that are learned from questions."""
    reading = task_types().reading
    several = [list(reading.features(one["question"])) for one in found]
    labels, count = [one["task_type"] for one in found], [counts(one) for one in found]
    return Fit(several, labels, count).weights()


def held_out(found: Sequence[Row], fold: Sequence[Hashable]) -> dict[str, tuple[int, int]]:
    """Return how many are told right, of how many, over all, by type, note and set.

    Each question is told by weights that were learned from the questions of the other folds.
    """
    reading = task_types().reading
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for held in dict.fromkeys(fold):
        weights = fitted([row for row, one in zip(found, fold, strict=True) if one != held])
        for row, one in zip(found, fold, strict=True):
            if one != held:
                continue
            given = told(reading.features(row["question"]), weights)[0]
            keys = ("all", row["task_type"], f"note: {row['note']}", f"set: {row['set']}")
            for key in (*keys, f"{row['set']}: {row['task_type']}"):
                of[key] += 1
                right[key] += given == row["task_type"]
    return {key: (right[key], of[key]) for key in sorted(of)}


def author(row: Row) -> str:
    """Return who wrote a question."""
    return next(name for name, sets in AUTHORS.items() if row["set"] in sets)


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
        alike: dict[float, list[str]] = {}
        for name, weight in sorted(of.items()):
            alike.setdefault(weight, []).append(f'"{name}"')
        lines += [
            f"    [ a trails:LearnedCue ; trails:weight {weight:.2f} ; trails:feature "
            f"{' , '.join(names)} ] ,"
            for weight, names in sorted(alike.items(), key=lambda one: (-abs(one[0]), -one[0]))
        ]
        lines[-1] = lines[-1][:-1] + "."
    return "\n".join(lines) + "\n"


def main() -> int:
    """Learn and write, compare, or cross-validate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file")
    parser.add_argument("--cross-validate", action="store_true", help="tell how well it does")
    parser.add_argument("--by-author", action="store_true", help="leave each author out in turn")
    asked = parser.parse_args()
    found = rows()
    if asked.cross_validate or asked.by_author:
        fold = [author(one) for one in found] if asked.by_author else folds(found)
        for key, (right, of) in held_out(found, fold).items():
            sys.stdout.write(f"{key:<28} {right:>4} of {of:<4} {right / of:.3f}\n")
        return 0
    text = turtle(fitted(found), len(found))
    if asked.check:
        return int(OUT.read_text(encoding="utf-8") != text)
    OUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
