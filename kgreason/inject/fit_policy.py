"""Fit the threshold of a policy, and what it adds to a confidence, to cases whose cause is known.

Each figure is judged out of fold: it is fitted without a fold, and told of that fold. Nothing
changes by itself: what does better is written as a policy of another name.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from hashlib import sha256
from itertools import product
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.resources import folder
from kgreason.inject.calibration_cases import Case, of_policy
from kgreason.inject.learn_calibration import folded
from kgreason.record import policy

Numbers = Mapping[str, float]

THRESHOLD: Final = "threshold"
FEATURES: Final = ("winnerFrom", "winnerBonus", "winnerBelow", "winnerPenalty")
_STEP: Final = 0.01
_HIGHEST: Final = 0.99
_TRIED: Final = (
    (0.5, 0.6, 0.7, 0.8, 0.9),
    (0.0, 0.05, 0.1, 0.15, 0.2),
    (0.1, 0.2, 0.3, 0.4, 0.5),
    (0.0, 0.05, 0.1, 0.15, 0.2),
)
_PLACES: Final = 6


@dataclass(frozen=True)
class Fitted:
    """Numbers of a policy, as they are and as the cases would have them, and what each is worth.

    `before` and `after` are out of fold, by the measure of that name; less is better.
    """

    measure: str
    now: Numbers
    wanted: Numbers
    before: float
    after: float
    cases: int
    folds: int

    @property
    def better(self) -> bool:
        """Whether what is wanted differs, and does better in folds that it was not fitted to."""
        return self.wanted != self.now and self.after < self.before


def fitted(cases: Sequence[Case], name: str) -> list[Fitted]:
    """Fit the numbers of a policy that comes along to cases that came about under it.

    The threshold is only tried from where it is upwards: what a lower one would have told is not
    in the results, for other gates would have had their say. Raises OptionError where there is no
    case, or but one fold.
    """
    known = list(of_policy(cases, name))
    told = [case for case in known if case.told is not None]
    stood = [case for case in known if case.winning is not None]
    numbers = {k: float(v) for k, v in policy.load(name).numbers.items()}
    start = numbers.get(THRESHOLD)
    out = []
    if told and start is not None:
        steps = round((_HIGHEST - start) / _STEP)
        tried = [{THRESHOLD: round(start + n * _STEP, 2)} for n in range(max(0, steps) + 1)]
        loss = partial(regret, cost=start / (1 - start) if start < 1 else 1.0)
        out.append(_fit("loss of a leader", told, tried, loss))
    if stood and all(one in numbers for one in FEATURES):
        now = {one: numbers[one] for one in FEATURES}
        grid = [dict(zip(FEATURES, values, strict=True)) for values in product(*_TRIED)]
        out.append(_fit("Brier score", stood, [now, *(g for g in grid if g != now)], brier))
    if not out:
        raise OptionError(f"There is no case under the policy {name} to fit its numbers to.")
    return out


def regret(cases: Sequence[Case], numbers: Numbers, cost: float) -> float:
    """Return the mean loss of telling the leaders that reach a threshold.

    A right cause that is told gains 1, a wrong one costs `cost`; nothing is 0. With the odds of the
    threshold as cost, to tell pays for a leader whose chance of being right is the threshold.
    """
    gains = (
        (1.0 if case.right else -cost)
        for case in cases
        if case.told and case.confidence >= numbers[THRESHOLD]
    )
    return -sum(gains) / max(1, len(cases))


def brier(cases: Sequence[Case], numbers: Numbers) -> float:
    """Return the mean squared difference of confidence with its adjustment and being right."""
    bonus, penalty = numbers["winnerBonus"], numbers["winnerPenalty"]
    total = 0.0
    for case in cases:
        winning = case.winning or 0.0
        more = bonus if winning >= numbers["winnerFrom"] else 0.0
        less = penalty if winning < numbers["winnerBelow"] else 0.0
        total += (min(1.0, max(0.0, case.confidence + more - less)) - case.right) ** 2
    return total / max(1, len(cases))


def _fit(
    measure: str,
    cases: Sequence[Case],
    tried: Sequence[Numbers],
    loss: Callable[[Sequence[Case], Numbers], float],
) -> Fitted:
    """Try numbers, those of today first; of equals the first is taken."""
    _, folds = folded(cases)
    names = list(dict.fromkeys(folds))
    if len(names) < 2:  # noqa: PLR2004 - one to fit and one to judge by
        raise OptionError("The cases make one fold, so nothing shows that other numbers do better.")

    def best(some: Sequence[Case]) -> Numbers:
        return min(tried, key=lambda numbers: round(loss(some, numbers), _PLACES))

    def apart(name: Hashable, *, within: bool) -> list[Case]:
        return [c for c, fold in zip(cases, folds, strict=True) if (fold == name) is within]

    after = 0.0
    for name in names:
        own = apart(name, within=True)
        after += loss(own, best(apart(name, within=False))) * len(own)
    return Fitted(
        measure,
        tried[0],
        best(cases),
        round(loss(cases, tried[0]), _PLACES),
        round(after / len(cases), _PLACES),
        len(cases),
        len(names),
    )


def proposed(found: Sequence[Fitted], name: str) -> str:
    """Return a policy as Turtle, with the numbers that do better in place of its own.

    It has a name of its own, by its content, so that it is taken over by naming its file alone.
    """
    text = (folder("ontology") / "policies" / f"{name}.ttl").read_text(encoding="utf-8")
    for fit in found:
        for number, value in fit.wanted.items() if fit.better else ():
            row = re.compile(rf"(policy:{number}) [\d.]+")
            text = row.sub(rf"\g<1> {Decimal(str(value))}", text)
    made = f"<urn:kgreason:policy:{name}-{sha256(text.encode()).hexdigest()[:16]}>"
    text = re.sub(rf"\bpolicy:{re.escape(name)}\b", made, text)
    text = text.replace(f'rdfs:label "{name}"@en', f'rdfs:label "{name}, fitted"@en')
    lines = [
        f"# {line}" for line in (f"The policy {name}, with numbers fitted to cases.", *told(found))
    ]
    return "\n".join([*lines, "", text])


def told(found: Sequence[Fitted]) -> list[str]:
    """Return a sentence for each fit: the numbers, and the figures before and after."""
    out = []
    for fit in found:
        rows = ", ".join(f"{k} {v:g} (now {fit.now[k]:g})" for k, v in fit.wanted.items())
        figures = f"{fit.measure} {fit.before:.4f} as it is, {fit.after:.4f} out of fold"
        change = "These do better." if fit.better else "Its own numbers are kept."
        out.append(f"{fit.cases} cases, {fit.folds} folds: {rows}; {figures}. {change}")
    return out
