"""Testable: the held-out half has to hold part of the region."""

from typing import ClassVar, Final

from kgreason.base.figures import figure, integer
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Check, Figure

_MIN_HELD_OUT: Final = figure("minHeldOut")
_MIN_NODES: Final = integer("minHeldOutNodes")


class Testable(Check):
    """Drop a region of which hardly a node is held out: whole clusters may lie in one half.

    Of a family whose values show what is wrong with them one node will do.
    """

    name: ClassVar[str] = "testable"
    reason: ClassVar[str] = "Too few of its nodes are held out to test it."

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        split = view.split(candidate.family)
        held_out = (candidate.members & split.heldout_mask).bit_count()
        inside = candidate.members.bit_count()
        least = min(_MIN_NODES, inside) if "single" in candidate.family.header else _MIN_NODES
        needed = max(least, _MIN_HELD_OUT * inside)
        return None if held_out >= needed else Figure("held-out nodes inside", held_out, needed)
