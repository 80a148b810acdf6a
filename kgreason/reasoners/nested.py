"""Of two regions that overlap: tell in which of them the difference lies, or whether in both.

All counts are of the discovery half.
"""

from collections.abc import Sequence
from typing import Final

from kgreason.probes.statistics import Table, deviance
from kgreason.reasoners.candidates import Candidate, View, table

_WITHIN: Final = 0.95  # of the smaller region's nodes that lie in the larger one
_DILUTED: Final = 0.2  # of the effect, left where the larger region adds to the smaller one
_ALIKE: Final = 0.7
_OWN: Final = 0.4
_CLEAR: Final = 10.0  # of the G statistic; about p = 0.001
_NO_SIGN: Final = 6.6  # the same; p = 0.01
_ENOUGH: Final = 12  # nodes
_FAINT: Final = 0.1  # of the best one's G statistic
_FAR_BETTER: Final = 10.0  # of the G statistic


def undiluted(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop what only contains a region, or is only part of one, that does the failing."""
    left = list(candidates)
    for candidate in sorted(candidates, key=lambda c: c.score):
        others = [c for c in left if c is not candidate and c.aspect == candidate.aspect]
        if any(_superfluous(view, candidate, other) for other in others) or _made_up(
            view, candidate, others
        ):
            left.remove(candidate)
    for candidate in sorted(left, key=lambda c: c.score):
        others = [c for c in left if c is not candidate and c.aspect == candidate.aspect]
        if any(_outdone(view, candidate, other) for other in others):
            left.remove(candidate)
    return left


def _outdone(view: View, one: Candidate, other: Candidate) -> bool:
    """Say whether of two regions, one in the other, the other tells failing nodes far better.

    Where the larger one fails as well beside the smaller one, but less so, both would be found to
    hold, and neither could win. Where the smaller one is better, what it leaves over is looked at
    in the next round; where the larger one is, that part of it fails more often is not told.
    """
    small, large = sorted((one, other), key=lambda c: c.members.bit_count())
    if one.aspect != "origin" or not _lies_in(small, large):
        return False
    half = _half(view, one) & _half(view, other)
    scores = [_raised(table(view, c.members, half)) for c in (one, other)]
    return scores[1] >= scores[0] + _FAR_BETTER and not both_stand(view, one, other)


def _made_up(view: View, one: Candidate, others: Sequence[Candidate]) -> bool:
    """Say whether a region fails only where two or more smaller ones lie in it.

    Or is nothing but these, and they do not fail alike.
    """
    size = one.members.bit_count()
    within = [c for c in others if c.members.bit_count() < size and _lies_in(c, one)]
    if one.aspect != "origin" or len(within) < 2:  # noqa: PLR2004 - one is looked at by itself
        return False
    cores = 0
    for candidate in within:
        cores |= candidate.members & one.members
    half = _half(view, one)
    effect, added = _effects(view, cores, one.members, half)
    if (one.members & ~cores & half).bit_count() >= _ENOUGH:
        return added < _DILUTED * effect
    return any(_raised(table(view, c.members, half & one.members)) >= _CLEAR for c in within)


def _lies_in(small: Candidate, large: Candidate) -> bool:
    inside = (small.members & large.members).bit_count()
    return inside >= _WITHIN * small.members.bit_count()


def _effects(view: View, core: int, large: int, half: int) -> tuple[float, float]:
    """Give by how much the core of a region, and its rest, fail more than what lies outside."""
    inner = table(view, core, half & large)
    rest = table(view, large & ~core, half & ~core)
    base = _rate(rest.outside_failing, rest.outside)
    return (
        _rate(inner.inside_failing, inner.inside) - base,
        _rate(rest.inside_failing, rest.inside) - base,
    )


def _superfluous(view: View, one: Candidate, other: Candidate) -> bool:
    small, large = sorted((one, other), key=lambda c: c.members.bit_count())
    if one.aspect != "origin" or not _lies_in(small, large):
        return False
    half = _half(view, one) & _half(view, other)
    inside = small.members & large.members
    core = table(view, inside, half & large.members)
    rest = table(view, large.members & ~inside, half & ~inside)
    effect, added = _effects(view, inside, large.members, half)
    if one is large:
        return added < _DILUTED * effect and _raised(core) >= _CLEAR
    enough = rest.inside >= _ENOUGH and _raised(rest) >= _CLEAR
    alike = _raised(core) < _NO_SIGN and _lowered(core) < _CLEAR
    return enough and added >= _ALIKE * effect and alike


def unshadowed(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop faint origins of which nothing is left where the best one is held fixed.

    What stands out a little beside a cause of nearly everything does so by chance, or because of
    it. As rivals such would only speak for there being no cause, each time one is found wanting.
    """
    origins = [c for c in candidates if c.aspect == "origin"]
    if not origins:
        return list(candidates)
    best = max(origins, key=lambda c: (round(c.score, 6), c.region.text))
    return [
        c
        for c in candidates
        if c.aspect != "origin" or c.score >= _FAINT * best.score or _left(view, c, best) >= _CLEAR
    ]


def _left(view: View, one: Candidate, best: Candidate) -> float:
    """Give the G statistic of a region within the strata of another."""
    half = _half(view, one) & _half(view, best)
    strata = (half & best.members, half & ~best.members)
    return sum(_raised(table(view, one.members, stratum)) for stratum in strata)


def both_stand(view: View, one: Candidate, other: Candidate) -> bool:
    """Say whether each of two regions fails more than what lies in neither, without the other."""
    half = _half(view, one) & _half(view, other)
    return _stands(view, one, other, half) and _stands(view, other, one, half)


def _stands(view: View, one: Candidate, other: Candidate, half: int) -> bool:
    alone = table(view, one.members & ~other.members, half & ~other.members)
    base = _rate(alone.outside_failing, alone.outside)
    all_of_it = table(view, one.members, half)
    effect = _rate(all_of_it.inside_failing, all_of_it.inside) - base
    own = _rate(alone.inside_failing, alone.inside) - base
    return _raised(alone) >= _CLEAR and own >= _OWN * effect


def _half(view: View, candidate: Candidate) -> int:
    return view.split(candidate.family).discovery_mask


def _rate(failing: int, population: int) -> float:
    return failing / population if population else 0.0


def _raised(counts: Table) -> float:
    """Give the G statistic where the rate inside is the higher one."""
    return deviance(counts) if counts.inside and counts.outside else 0.0


def _lowered(counts: Table) -> float:
    """Give the G statistic where the rate inside is the lower one."""
    turned = Table(counts.outside_failing, counts.outside, counts.inside_failing, counts.inside)
    return _raised(turned)
