"""Own right: a property that shapes ask for is no slip for another one."""

from typing import ClassVar, Final

from pyoxigraph import NamedNode

from kgreason.base.figures import figure
from kgreason.base.templates import Fragment
from kgreason.context.view import View, members
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Check, Figure
from kgreason.shacl import asked_at

_SHARE: Final = figure("ownRightShare")


class OwnRight(Check):
    """Drop a slip for a property that the shapes of the failing nodes ask for themselves.

    The header `stand-in` of a family names the term that is said to stand where another should.
    """

    name: ClassVar[str] = "own-right"
    reason: ClassVar[str] = "The shapes ask for this property in its own right, so it is no slip."

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        stands_in = candidate.values.get(candidate.family.header.get("stand-in", ""))
        shapes, claimed = view.constraint.shapes, candidate.claimed
        if not isinstance(stands_in, NamedNode) or shapes is None or not claimed:
            return None
        asked = asked_at(shapes, view.graph, stands_in)
        if asked is None:
            return None
        pattern = Fragment(
            f"{candidate.pattern.text} FILTER ({asked.text})",
            {**candidate.pattern.prefixes, **asked.prefixes},
        )
        share = (members(view, pattern) & claimed).bit_count() / claimed.bit_count()
        if share < _SHARE:
            return None
        return Figure("share of its failing nodes whose shapes ask for it", share, _SHARE)
