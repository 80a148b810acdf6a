"""Fewer bits: what saves far less than a rival in the language of conditions is no rival of it."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.code import TOLD
from kgreason.hypothesize.conditions.seam import BITS, kinds_told, saves
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import own
from kgreason.hypothesize.filters.restatement import paid_apart
from kgreason.hypothesize.filters.shorter_story import MORE, leaves
from kgreason.hypothesize.overlaps import NEAR, RIVALS, contained, jaccard


class FewerBits(Filter):
    """Drop what a rival with far more bits, among all nodes, tells better.

    Both could be supported, and would share the confidence of one frame, so that neither is. So it
    is with what a family found on one half, and with one place that the search in conditions
    describes twice, by a feed and by its days. Where a family's region and the other one leave
    each enough nodes to compare within the strata of the other, tests decide. That a single
    condition holds the nodes of the family says what these would save; what would save too few bits
    to be told stays, for it is put to the test as a rival, unless the other lies inside of it and
    holds all its failing nodes. It runs after conjunctions were made: a family's region may be a
    part of one.
    """

    name: ClassVar[str] = "fewer-bits"
    reason: ClassVar[str] = "A rival that shares its failing nodes saves far more bits."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        told = [c for c in candidates if c.paid and BITS in c.values]
        apart = paid_apart(candidates)
        kept: list[Candidate] = []
        dropped = []
        for candidate in candidates:
            if candidate in told and not own(candidate):
                rivals = [c for c in told if c in apart and jaccard(candidate, c) >= NEAR]
                bits: float | None = _bits(candidate)
            else:
                rivals = [c for c in told if c in apart and not _parted(view, candidate, c)]
                bits = _of_family(view, candidate) if rivals else None
            found = None if bits is None or bits < TOLD else _best(candidate, bits, rivals)
            if found is None and candidate not in told:
                found = _inner(view, candidate, [c for c in told if c in apart])
            if found is None:
                kept.append(candidate)
            else:
                why = Figure("bits that the other saves beyond it", found[0], MORE)
                dropped.append(Dropped(candidate, self, why, found[1]))
        return Sifted(kept, dropped)


def _inner(
    view: View, candidate: Candidate, paid: Sequence[Candidate]
) -> tuple[float, Candidate] | None:
    """Return a rival inside a region that holds all its failing nodes, and fewer that pass."""
    if candidate.is_mechanism:
        return None
    bits = _of_family(view, candidate) or 0.0
    inner = (
        (_bits(other) - bits, other)
        for other in paid
        if other.aspect == candidate.aspect
        and not other.members & ~candidate.members
        and other.members != candidate.members
        and not candidate.claimed & ~other.members
    )
    best = max(inner, key=lambda each: each[0], default=None)
    return best if best is not None and best[0] >= MORE else None


def _bits(candidate: Candidate) -> float:
    return float(candidate.values[BITS].value)


def _of_family(view: View, candidate: Candidate) -> float | None:
    """Return what a single condition with the nodes of a family's region saves, where it is one."""
    by_half = candidate.seen is None and not candidate.by and candidate.comes_along
    said = candidate.family.header["kind"] in kinds_told()
    return saves(view, candidate.members) if by_half and said and not candidate.parts else None


def _parted(view: View, one: Candidate, other: Candidate) -> bool:
    """Check whether tests can tell two regions apart, each within the strata of the other."""
    return leaves(view, one, other) and leaves(view, other, one)


def _best(
    candidate: Candidate, bits: float, paid: Sequence[Candidate]
) -> tuple[float, Candidate] | None:
    """Return the rival that saves most bits, and how many beyond; None where these are few."""
    rivals = (
        (_bits(other) - bits, other)
        for other in paid
        if other.aspect == candidate.aspect and contained(candidate, other) >= RIVALS
    )
    best = max(rivals, key=lambda each: each[0], default=None)
    return best if best is not None and best[0] >= MORE else None
