"""Counts of two regions of which one lies in the other, or that overlap, on the discovery half."""

from typing import Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Table, deviance
from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate

CLEAR: Final = figure("clearG")
"""The G statistic from which a difference is clear; about p = 0.001."""
_WITHIN: Final = figure("within")
_OWN: Final = figure("ownEffect")


def lies_in(small: Candidate, large: Candidate) -> bool:
    """Check whether nearly all nodes of one region lie in another."""
    inside = (small.members & large.members).bit_count()
    return inside >= _WITHIN * small.members.bit_count()


def effects(view: View, core: int, large: int, common: int) -> tuple[float, float]:
    """Return by how much the core of a region, and its rest, fail more than what lies outside."""
    inner = table(view, core, common & large)
    rest = table(view, large & ~core, common & ~core)
    base = rest.rate_outside
    return inner.rate_inside - base, rest.rate_inside - base


def both_stand(view: View, one: Candidate, other: Candidate) -> bool:
    """Check whether each of two regions fails more than what lies in neither, without the other."""
    common = half(view, one) & half(view, other)
    return _stands(view, one, other, common) and _stands(view, other, one, common)


def _stands(view: View, one: Candidate, other: Candidate, common: int) -> bool:
    alone = table(view, one.members & ~other.members, common & ~other.members)
    base = alone.rate_outside
    effect = table(view, one.members, common).rate_inside - base
    own = alone.rate_inside - base
    return raised(alone) >= CLEAR and own >= _OWN * effect


def half(view: View, candidate: Candidate) -> int:
    """Return the discovery half of the split that a candidate's family works with."""
    return view.split(candidate.family).discovery_mask


def rate(failing: int, population: int) -> float:
    """Return a rate of failures; that of no nodes is 0."""
    return failing / population if population else 0.0


def raised(counts: Table) -> float:
    """Return the G statistic where the rate inside is the higher one."""
    return deviance(counts) if counts.inside and counts.outside else 0.0


def lowered(counts: Table) -> float:
    """Return the G statistic where the rate inside is the lower one."""
    turned = Table(counts.outside_failing, counts.outside, counts.inside_failing, counts.inside)
    return raised(turned)
