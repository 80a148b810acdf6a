"""Of two regions one of which lies in the other: tell in which of them the difference lies.

All counts are of the discovery half.
"""

from collections.abc import Sequence
from typing import Final

from kgreason.probes.statistics import Table, deviance
from kgreason.reasoners.candidates import Candidate, View, table

_WITHIN: Final = 0.95  # of the smaller region's nodes that lie in the larger one
_DILUTED: Final = 0.2  # of the effect, left where the larger region adds to the smaller one
_ALIKE: Final = 0.7
_CLEAR: Final = 10.0  # of the G statistic; about p = 0.001
_NO_SIGN: Final = 6.6  # the same; p = 0.01
_ENOUGH: Final = 12  # nodes


def undiluted(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop what only contains a region, or is only part of one, that does the failing."""
    left = list(candidates)
    for candidate in sorted(candidates, key=lambda c: c.score):
        others = [c for c in left if c is not candidate and c.aspect == candidate.aspect]
        if any(_superfluous(view, candidate, other) for other in others):
            left.remove(candidate)
    return left


def _superfluous(view: View, one: Candidate, other: Candidate) -> bool:
    small, large = sorted((one, other), key=lambda c: c.members.bit_count())
    inside = (small.members & large.members).bit_count()
    if one.aspect != "origin" or inside < _WITHIN * small.members.bit_count():
        return False
    half = _half(view, one) & _half(view, other)
    core = table(view, small.members & large.members, half & large.members)
    rest = table(view, large.members & ~small.members, half & ~(small.members & large.members))
    effect = _rate(core.inside_failing, core.inside) - _rate(rest.outside_failing, rest.outside)
    added = _rate(rest.inside_failing, rest.inside) - _rate(rest.outside_failing, rest.outside)
    if one is large:
        return added < _DILUTED * effect and _raised(core) >= _CLEAR
    enough = rest.inside >= _ENOUGH and _raised(rest) >= _CLEAR
    return enough and added >= _ALIKE * effect and _raised(core) < _NO_SIGN


def _half(view: View, candidate: Candidate) -> int:
    return view.marks.scheme(candidate.family.header["split"]).discovery_mask


def _rate(failing: int, population: int) -> float:
    return failing / population if population else 0.0


def _raised(counts: Table) -> float:
    """Give the G statistic where the rate inside is the higher one."""
    return deviance(counts) if counts.inside and counts.outside else 0.0
