"""Filters: why a candidate is not proposed, one file a filter, in the order in which they run.

To learn why a candidate was dropped read the file of the filter that the record names; `kgreason
history why-not-proposed` shows it with the figure that decided.
"""

from typing import Final

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.clustering import Clustering
from kgreason.hypothesize.filters.confounding import Confounding
from kgreason.hypothesize.filters.exposure import Exposure
from kgreason.hypothesize.filters.fewer_bits import FewerBits
from kgreason.hypothesize.filters.filter import (
    Check,
    Dropped,
    Figure,
    Filter,
    Round,
    Sifted,
)
from kgreason.hypothesize.filters.found_wanting import FoundWanting
from kgreason.hypothesize.filters.last_resort import LastResort
from kgreason.hypothesize.filters.lift import Lift, WholeLift
from kgreason.hypothesize.filters.limits import CountLimit, FamilyLimit
from kgreason.hypothesize.filters.memory import Rejected, Repeat
from kgreason.hypothesize.filters.near_duplicate import NearDuplicate
from kgreason.hypothesize.filters.own_right import OwnRight
from kgreason.hypothesize.filters.redundancy import Redundancy
from kgreason.hypothesize.filters.restatement import Restatement
from kgreason.hypothesize.filters.room import Room
from kgreason.hypothesize.filters.shorter_story import ShorterStory
from kgreason.hypothesize.filters.subsumption import Subsumption
from kgreason.hypothesize.filters.support import Support
from kgreason.hypothesize.filters.testable import Testable
from kgreason.hypothesize.filters.unspecific import Unspecific

__all__ = [
    "ALONE", "FILTERS", "MINED", "TOGETHER", "Dropped", "Figure", "Filter", "Redundancy",
    "Rejected", "Repeat", "Room", "Round", "Sifted", "WholeLift", "worth_a_test",
]  # fmt: skip

_CHECKS: Final[tuple[Check, ...]] = (Support(), Lift(), Exposure(), Testable())
MINED: Final[tuple[Filter, ...]] = (Support(), FamilyLimit(), CountLimit())
"""They see all that the sources found, with counts as the query of a family gave them."""
ALONE: Final[tuple[Filter, ...]] = (
    FoundWanting(),
    *_CHECKS,
    LastResort(),
    OwnRight(),
    ShorterStory(),
    Clustering(),
    Unspecific(),
    Subsumption(),
    NearDuplicate(),
)
"""They see candidates with exact counts, before conjunctions are made of those that are left."""
TOGETHER: Final[tuple[Filter, ...]] = (
    Redundancy(),
    Confounding(),
    FewerBits(),
    NearDuplicate(),
    Restatement(),
    Rejected(),
    Room(),
)
"""They see conjunctions, too.

Both parts of a conjunction may hold little but its failures: they are dropped then, but not before.
"""
FILTERS: Final[tuple[Filter, ...]] = (*MINED, *ALONE, *TOGETHER)
"""All filters of a round, in the order in which they run.

A later round puts its candidates to Repeat too, for the same nodes may have been proposed before,
and to WholeLift.
"""


def worth_a_test(view: View, candidate: Candidate) -> bool:
    """Check whether a candidate with exact counts passes every check on it alone."""
    return all(check.against(view, candidate) is None for check in _CHECKS)
