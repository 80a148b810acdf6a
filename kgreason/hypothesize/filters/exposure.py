"""Exposure: an origin has to stand out among the nodes that could fail at all."""

from typing import ClassVar

from kgreason.base.statistics import deviance
from kgreason.context.view import View, exposed, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Check, Figure
from kgreason.hypothesize.filters.support import MIN_G


class Exposure(Check):
    """Drop an origin that only tells which nodes have a value, where only these can fail."""

    name: ClassVar[str] = "exposure"
    reason: ClassVar[str] = "Among the nodes that could fail at all it does not stand out."

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        if candidate.is_mechanism:
            return None
        half = view.split(candidate.family).discovery_mask & exposed(view)
        score = deviance(table(view, candidate.members, half))
        if score >= MIN_G:
            return None
        return Figure("G statistic among the nodes that could fail", score, MIN_G)
