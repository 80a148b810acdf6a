"""How far the regions of two candidates, or the failing nodes that they claim, overlap."""

from typing import Final

from kgreason.base.figures import figure
from kgreason.hypothesize.candidates import Candidate

RIVALS: Final = figure("rivalOverlap")
"""From what share of its failing nodes on the smaller of two candidates is a rival of the other."""

COVERS: Final = figure("subsumedShare")
"""From what share of its failing nodes on a candidate may yield to another that claims them."""

NEAR: Final = figure("duplicateOverlap")
"""From what overlap of their nodes on two regions may be told apart by too few nodes."""


def jaccard(one: Candidate, other: Candidate) -> float:
    """Return the Jaccard overlap, 0 to 1, of the regions of two candidates."""
    return overlap(one.members, other.members)


def overlap(one: int, other: int) -> float:
    """Return the Jaccard overlap, 0 to 1, of two sets of nodes."""
    union = (one | other).bit_count()
    return (one & other).bit_count() / union if union else 0.0


def contained(one: Candidate, other: Candidate) -> float:
    """Return the share, 0 to 1, of the smaller set of claimed failing nodes in the other one."""
    smaller = min(one.claimed.bit_count(), other.claimed.bit_count())
    return (one.claimed & other.claimed).bit_count() / smaller if smaller else 0.0


def contained_in(one: Candidate, other: Candidate) -> float:
    """Return the share, 0 to 1, of the failing nodes of one candidate that the other claims too."""
    own = one.claimed.bit_count()
    return (one.claimed & other.claimed).bit_count() / own if own else 0.0
