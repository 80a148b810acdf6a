"""Unpaid: what one condition says as well, and does not pay for, is not found on a half instead."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.base.resources import folder
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.code import SOME
from kgreason.hypothesize.conditions.seam import kinds_told, saves
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted


class Unpaid(Filter):
    """Drop what a family found on one half, where a condition with the same nodes does not pay.

    A family looks through thousands of regions on one half, and the best of them is tested on the
    other. Where nodes hang together, both halves agree by chance, and who asks with several seeds
    has several halves to choose from. Bits are of all nodes, the same for any seed, and pay for all
    that could have been said. From some bits on the tests on the other half decide, as they do of
    what no single condition holds, of what is checked directly, and of extensions.
    """

    name: ClassVar[str] = "unpaid"
    reason: ClassVar[str] = "A condition with the same nodes saves too few bits among all nodes."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kinds = kinds_told()
        kept: list[Candidate] = []
        dropped = []
        for candidate in candidates:
            bits = saves(view, candidate.members) if _by_halves(candidate, kinds) else None
            if bits is None or bits >= SOME:
                kept.append(candidate)
            else:
                why = Figure("bits that a condition with the same nodes saves", bits, SOME)
                dropped.append(Dropped(candidate, self, why))
        return Sifted(kept, dropped)


def _by_halves(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Check whether a family that comes along found a region that the search could tell."""
    return (
        candidate.seen is None
        and not candidate.by
        and not candidate.is_mechanism
        and not candidate.revises
        and candidate.family.header["kind"] in kinds
        and candidate.family.path.is_relative_to(folder("queries"))
    )
