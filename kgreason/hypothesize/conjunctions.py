"""Conjunctions: two conditions that, together, tell failing nodes better than either alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from kgreason.base.budget import ask
from kgreason.base.figures import figure, integer
from kgreason.base.statistics import deviance
from kgreason.base.templates import template
from kgreason.context.view import View, table
from kgreason.hypothesize.bindings import joined
from kgreason.hypothesize.bounds import recut
from kgreason.hypothesize.candidates import Candidate, counted
from kgreason.hypothesize.conditions.seam import WRITTEN
from kgreason.hypothesize.filters import worth_a_test
from kgreason.hypothesize.filters.ranks import best_first

_PAIRED: Final = integer("paired")
BETTER: Final = figure("conjunctionG")
"""By how much of the G statistic a conjunction must beat both its parts."""
_CLEARER: Final = figure("conjunctionFactor")
"""By what factor too: a condition that leaves out a few passing nodes of many is none."""


def pairs(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the conjunctions of two conditions that beat both their parts."""
    # What was looked for among all nodes has no half left that could test it as part of another.
    origins = (c for c in candidates if not c.is_mechanism and WRITTEN not in c.values)
    single = sorted(origins, key=best_first)[:_PAIRED]
    out = []
    for one, other in combinations(single, 2):
        if one.values.get("dimension") == other.values.get("dimension"):
            continue
        if not one.claimed & other.claimed:
            continue
        ask(view.budget, "conjunction")
        joint = meet(view, one, other)
        if joint is not None:
            out.append(joint)
    return out


def meet(view: View, one: Candidate, other: Candidate) -> Candidate | None:
    """Return what is inside both of two candidates, where that is better than either.

    The bound of an ordered one is also drawn anew among the nodes of the other.
    """
    # All values but one are many: with another condition there were always some that fit.
    if any("exception" in part.family.sections for c in (one, other) for part in c.parts or (c,)):
        return None
    half = view.split(template("hypothesize", "conjunction")).discovery_mask
    alone = max(deviance(table(view, c.members, half)) for c in (one, other))
    pairs = [(one, other)]
    pairs += [(one, cut) for cut in [recut(view, other, one)] if cut is not None]
    pairs += [(cut, other) for cut in [recut(view, one, other)] if cut is not None]
    joint = [_met(view, *pair) for pair in pairs]
    needed = max(alone + BETTER, alone * _CLEARER)
    good = [j for j in joint if worth_a_test(view, j) and j.score > needed]
    return max(good, key=lambda j: (round(j.score, 6), j.region.text), default=None)


def _met(view: View, one: Candidate, other: Candidate) -> Candidate:
    joint = joined((*(one.parts or (one,)), *(other.parts or (other,))))
    return counted(view, replace(joint, members=one.members & other.members))
