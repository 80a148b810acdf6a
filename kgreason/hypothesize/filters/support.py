"""Support: a candidate has to account for enough failing nodes."""

from typing import ClassVar, Final

from kgreason.base import detectable
from kgreason.base.figures import figure
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Check, Figure

MIN_G: Final = detectable.MIN_G
"""The least G statistic; about p = 0.004 for a region fixed beforehand."""
_MIN_SHARE: Final = figure("minShare")
_MIN_MECHANISM: Final = figure("minMechanismShare")


class Support(Check):
    """Drop a candidate that accounts for too few failing nodes, or does so no better than chance.

    A mechanism has to claim a share of all failing nodes. An origin has to have a clear G
    statistic, and a share of all failing nodes in excess of the rate outside.
    """

    name: ClassVar[str] = "support"
    reason: ClassVar[str] = "Too few failing nodes speak for it."

    def against(self, _view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        if candidate.is_mechanism:
            claimed, failing = candidate.table.inside_failing, candidate.table.failing
            if claimed >= _MIN_MECHANISM * failing:
                return None
            return Figure("share of all failing nodes", claimed / failing, _MIN_MECHANISM)
        if candidate.score < MIN_G:
            return Figure("G statistic", candidate.score, MIN_G)
        if candidate.share < _MIN_SHARE:
            return Figure("excess share of all failing nodes", candidate.share, _MIN_SHARE)
        return None
