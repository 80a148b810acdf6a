"""Learn a calibration, and say by cross-validation how well it does."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.inject.calibration_cases import JUDGEMENT, Case, of_policy
from kgreason.inject.isotonic import Block, fit, value_at
from kgreason.inject.summary import calibration as measured
from kgreason.record import policy

FOLDS: Final = 10
_GRAPHS: Final = 3

Pair = tuple[float, bool]
"""A confidence, and whether its hypothesis was right."""


@dataclass(frozen=True)
class Learned:
    """What was learned, from which cases, and how well it does.

    `before` and `after` are as `kgreason.inject.summary.calibration` gives them: of the confidence
    as recorded, and of what maps learned without its fold make of it. Without a second fold `folds`
    is 0 and `after` None.
    """

    cases: tuple[Case, ...]
    policy: str
    features: bool
    blocks: tuple[Block, ...]
    folded_by: str
    folds: int
    before: dict[str, Any]
    after: dict[str, Any] | None

    @property
    def least(self) -> int:
        """The least number of cases that the policy has a map learned from."""
        return int(policy.load(self.policy).number("calibrateFrom"))

    @property
    def objection(self) -> str | None:
        """Why the map should not be used: it is not shown to be better than none; else None."""
        if self.after is None:
            return "The cases make one fold, so nothing shows that the map is any better than none."
        if round(self.after["ece"], 6) > round(self.before["ece"], 6):
            return "Out of fold the map makes the calibration error worse than none does."
        return None

    @property
    def judged(self) -> int:
        """How many of the cases people judged."""
        return sum(case.fault == JUDGEMENT for case in self.cases)


def learn(cases: Sequence[Case], name: str = DEFAULT_POLICY, *, features: bool = False) -> Learned:
    """Learn a map from confidence to the probability of being right, from cases under one policy.

    With `features` it goes by the confidence plus the adjustment of the verdict, kept between 0 and
    1; cases whose adjustment is not known are left out. Raises OptionError where there is nothing
    to learn from, or no policy of that name.
    """
    under = of_policy(cases, name)
    used = tuple(c for c in under if not features or c.adjustment is not None)
    if not used:
        wanted = " whose adjustment is known" if features else ""
        raise OptionError(f"There is no case under the policy {name}{wanted} to learn from.")
    pairs = [(_input(case, features=features), case.right) for case in used]
    folded_by, folds = folded(used)
    guesses = out_of_fold(pairs, folds)
    several = bool(guesses)
    return Learned(
        used,
        name,
        features,
        tuple(fit(pairs)),
        folded_by,
        len(set(folds)) if several else 0,
        _figures([(case.confidence, case.right) for case in used]),
        _figures([(g, c.right) for g, c in zip(guesses, used, strict=True)]) if several else None,
    )


def _input(case: Case, *, features: bool) -> float:
    adjusted = case.confidence + (case.adjustment or 0.0) if features else case.confidence
    return min(1.0, max(0.0, adjusted))


def folded(cases: Sequence[Case]) -> tuple[str, list[Hashable]]:
    """Return what folds are made by, and the fold of each case.

    By graph where there are at least three, so that no map is judged on a graph that it knows; else
    ten folds by the seed of the trial, with which the injected data change.
    """
    if len({case.graph for case in cases}) >= _GRAPHS:
        return "graph", [case.graph for case in cases]
    return "seed", [case.seed % FOLDS for case in cases]


def out_of_fold(pairs: Sequence[Pair], folds: Sequence[Hashable]) -> list[float]:
    """Return estimate of each case by a map learned without its fold; none for a single fold."""
    names = dict.fromkeys(folds)
    if len(names) < 2:  # noqa: PLR2004 - one to learn from and one to judge by
        return []
    maps = {
        name: fit([p for p, fold in zip(pairs, folds, strict=True) if fold != name])
        for name in names
    }
    return [value_at(maps[fold], pair[0]) for pair, fold in zip(pairs, folds, strict=True)]


def _figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    return measured(
        {"outcome": "done", "confidence": confidence, "leader_right": right}
        for confidence, right in pairs
    )
