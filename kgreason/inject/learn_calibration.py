"""Learn a calibration, and say by cross-validation how well it does."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.inject.calibration_cases import JUDGEMENT, Case, of_policy
from kgreason.inject.isotonic import LEAST, Block, fit, value_at
from kgreason.inject.summary import calibration as measured
from kgreason.record import policy

FOLDS: Final = 10
_GRAPHS: Final = 3

Pair = tuple[float, bool]
"""A confidence, and whether its hypothesis was right."""


@dataclass(frozen=True)
class Learned:
    """What was learned, from which cases, and how well it does.

    `maps` has the stretches by kind of proof; where no case says by what it was told there is one
    map, under "".
    `before` and `after` are as `kgreason.inject.summary.calibration` gives them: of the confidence
    as recorded, and of what maps learned without its fold make of it. Without a second fold `folds`
    is 0 and `after` None.
    """

    cases: tuple[Case, ...]
    policy: str
    features: bool
    maps: Mapping[str, tuple[Block, ...]]
    folded_by: str
    folds: int
    before: dict[str, Any]
    after: dict[str, Any] | None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The stretches of all maps, one map after the other."""
        return tuple(block for blocks in self.maps.values() for block in blocks)

    def of(self, proof: str) -> tuple[Case, ...]:
        """Return the cases that the map of a kind of proof was learned from."""
        return tuple(case for case in self.cases if (case.proof or "") == proof)

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
    1; cases whose adjustment is not known are left out. Where cases say by what they were told, a
    map is learned for each kind of proof that has at least ten; the other cases are left out.
    Raises OptionError where there is nothing to learn from, or no policy of that name.
    """
    under = of_policy(cases, name)
    used = _told_enough([c for c in under if not features or c.adjustment is not None])
    if not used:
        wanted = " whose adjustment is known" if features else ""
        raise OptionError(f"There is no case under the policy {name}{wanted} to learn from.")
    pairs = [(input_of(case, features=features), case.right) for case in used]
    folded_by, folds = folded(used)
    proofs = [case.proof or "" for case in used]
    guesses = out_of_fold(pairs, folds, proofs)
    several = bool(guesses)
    return Learned(
        used,
        name,
        features,
        {one: tuple(fit(_only(pairs, proofs, one))) for one in sorted(set(proofs))},
        folded_by,
        len(set(folds)) if several else 0,
        _figures([(case.confidence, case.right) for case in used]),
        _figures([(g, c.right) for g, c in zip(guesses, used, strict=True)]) if several else None,
    )


def _told_enough(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the cases of those kinds of proof that have enough to learn from."""
    counts = Counter(case.proof for case in cases if case.proof)
    if not counts or max(counts.values()) < LEAST:
        return tuple(cases)
    return tuple(case for case in cases if case.proof and counts[case.proof] >= LEAST)


def _only(pairs: Sequence[Pair], proofs: Sequence[str], proof: str) -> list[Pair]:
    return [pair for pair, one in zip(pairs, proofs, strict=True) if one == proof]


def input_of(case: Case, *, features: bool) -> float:
    """Return what a map goes by, 0 to 1: the confidence, with features and its adjustment."""
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


def out_of_fold(
    pairs: Sequence[Pair], folds: Sequence[Hashable], proofs: Sequence[str] | None = None
) -> list[float]:
    """Return estimate of each case by a map learned without its fold; none for a single fold.

    The map is that of its kind of proof; where the other folds have fewer than ten cases of that
    kind, no map would be learned from them, and the confidence stands as it is.
    """
    if len(set(folds)) < 2:  # noqa: PLR2004 - one to learn from and one to judge by
        return []
    told = list(zip(pairs, folds, proofs or [""] * len(pairs), strict=True))
    maps = {
        (fold, proof): fit([p for p, other, one in told if other != fold and one == proof])
        for fold, proof in dict.fromkeys((fold, proof) for _, fold, proof in told)
    }
    out = []
    for pair, fold, proof in told:
        known = maps[fold, proof]
        enough = not proof or sum(block.number for block in known) >= LEAST
        out.append(value_at(known, pair[0]) if enough else pair[0])
    return out


def _figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    return measured(
        {"outcome": "done", "confidence": confidence, "leader_right": right}
        for confidence, right in pairs
    )
