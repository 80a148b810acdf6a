"""Fewer bits: what saves far less than a rival in the language of conditions is no rival of it."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.code import TOLD
from kgreason.hypothesize.conditions.seam import BITS, kinds_told, saves
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.restatement import paid_apart
from kgreason.hypothesize.filters.shorter_story import MORE, leaves
from kgreason.hypothesize.overlaps import RIVALS, contained


class FewerBits(Filter):
    """Drop what a family found on one half, where a rival saves far more bits among all nodes.

    Both could be supported, and would share the confidence of one frame, so that neither is. Where
    each leaves enough nodes to compare within the strata of the other, tests decide. That a single
    condition holds the nodes of the family says what these would save; what would save too few bits
    to be told stays, for it is put to the test as a rival. It runs after conjunctions were made: a
    family's region may be a part of one.
    """

    name: ClassVar[str] = "fewer-bits"
    reason: ClassVar[str] = "A rival that shares its failing nodes saves far more bits."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        sayable = kinds_told()
        told = (c for c in paid_apart(candidates) if BITS in c.values)
        paid = [(float(c.values[BITS].value), c) for c in told]
        kept: list[Candidate] = []
        dropped = []
        for candidate in candidates:
            by_half = candidate.seen is None and not candidate.by and candidate.comes_along
            alone = by_half and not candidate.parts and candidate.family.header["kind"] in sayable
            bits = saves(view, candidate.members) if alone and paid else None
            found = None if bits is None or bits < TOLD else _best(view, candidate, bits, paid)
            if found is None:
                kept.append(candidate)
            else:
                why = Figure("bits that the other saves beyond it", found[0], MORE)
                dropped.append(Dropped(candidate, self, why, found[1]))
        return Sifted(kept, dropped)


def _best(
    view: View, candidate: Candidate, bits: float, paid: Sequence[tuple[float, Candidate]]
) -> tuple[float, Candidate] | None:
    """Return the rival that saves most bits, and how many beyond; None where these are few."""
    rivals = (
        (more - bits, other)
        for more, other in paid
        if other.aspect == candidate.aspect
        and contained(candidate, other) >= RIVALS
        and not (leaves(view, candidate, other) and leaves(view, other, candidate))
    )
    best = max(rivals, key=lambda each: each[0], default=None)
    return best if best is not None and best[0] >= MORE else None
