"""Unspecific: a check that holds for anything yields to one that holds for its own nodes alone."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.foretold import sound, specific
from kgreason.hypothesize.overlaps import COVERS, contained_in


class Unspecific(Filter):
    """Drop a mechanism whose placebo does as well, where another one tells of its failing nodes.

    It could not be supported, and yet would share in the confidence of the other one. Both are
    asked on the half that found them. Without another mechanism that is sound it is kept: then its
    tests are to say that it is not the cause.
    """

    name: ClassVar[str] = "unspecific"
    reason: ClassVar[str] = "Placebos are cleared as well, and of another mechanism they are not."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        mechanisms = [c for c in candidates if c.is_mechanism]
        kept: list[Candidate] = []
        dropped = []
        for candidate in candidates:
            found = _outshone(view, candidate, mechanisms) if candidate.is_mechanism else None
            if found is None:
                kept.append(candidate)
            else:
                dropped.append(Dropped(candidate, self, *found))
        return Sifted(kept, dropped)


def _outshone(
    view: View, one: Candidate, mechanisms: Sequence[Candidate]
) -> tuple[Figure, Candidate] | None:
    """Return the share of its failing nodes that a sound mechanism claims, where it is not one."""
    shares = ((contained_in(one, other), other) for other in mechanisms if other is not one)
    rivals = [(share, other) for share, other in shares if share >= COVERS]
    if not rivals or specific(view, one):
        return None
    share, better = next((each for each in rivals if sound(view, each[1])), (0.0, None))
    if better is None:
        return None
    return Figure("share of its failing nodes claimed there", share, COVERS), better
