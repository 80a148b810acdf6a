"""Lift: an origin has to fail clearly more often than all nodes do."""

from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Table
from kgreason.context.view import View, members, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Check, Figure

_MIN_LIFT: Final = figure("minLift")
_NEARER: Final = figure("minNearer")


class Lift(Check):
    """Drop an origin whose rate of failures is hardly above that of all nodes.

    A region that holds nearly all nodes has nearly the rate of all nodes. Its G statistic may be
    high all the same, but then it only says that the few nodes outside fail less often.
    """

    name: ClassVar[str] = "lift"
    reason: ClassVar[str] = "Nodes inside fail hardly more often than all nodes do."

    def against(self, _view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        return None if candidate.is_mechanism else _flat(candidate.table)


class WholeLift(Lift):
    """Drop an origin that fails more often than what an earlier round left, and not than all nodes.

    It is put to the view of the first round. What is told by halves alone is left to its tests.
    """

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        if candidate.is_mechanism or not candidate.paid:
            return None
        return _flat(table(view, members(view, candidate.pattern)))


def _flat(counts: Table) -> Figure | None:
    nodes = counts.inside + counts.outside
    if not counts.inside or counts.failing == nodes:
        return None
    rate, usual = counts.rate_inside, counts.rate
    if rate >= _MIN_LIFT * usual or rate - usual >= _NEARER * (1 - usual):
        return None
    return Figure("rate inside over the rate of all", rate / usual, _MIN_LIFT)
