"""The orders in which candidates are ranked."""

from collections.abc import Container
from math import inf
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.seam import length
from kgreason.record.agents import CONDITIONS, is_model

_ORDER_COUNTS: Final = figure("familyOrder")
_FEW: Final = integer("scantHalf")


def best_first(candidate: Candidate) -> tuple[float, int, str]:
    """Return the sorting key by G; of equals the earlier family comes first, so that runs agree."""
    return (-round(candidate.score, 6), order(candidate), candidate.region.text)


def preferred_first(candidate: Candidate, *, paid: Container[str] = ()) -> tuple[bool, float, str]:
    """Return the sorting key by G, in which an earlier family makes up for a little less of G.

    There are far more values than sources to choose from, so the best value has a high G by chance
    more easily; and a source is easier to repair. Where something of its kind is `paid`,
    what too few nodes are held out to bear out comes last.
    """
    score = candidate.score + _ORDER_COUNTS * (50 - order(candidate))
    return (_scant(candidate, paid), -round(score, 6), candidate.region.text)


def of_equals_first(
    candidate: Candidate, *, paid: Container[str] = (), most: float = inf
) -> tuple[bool, bool, bool, bool, int, bool, float, str]:
    """Return the sorting key of candidates that hold the very same nodes.

    What cannot be supported, for its code length is not paid, comes last; a proposal of a person or
    a program of her own comes before what the engine finds by itself; then, where something of its
    kind is `paid`, what enough nodes are held out for, or needs none; then what costs at most so
    many bits to say as are given; then an earlier family, and of families at one place what was
    found among all nodes, which hangs on no seed.
    """
    unpaid, halved = candidate.seen is False, candidate.seen is None
    score = -round(candidate.score, 6)
    return (
        *(unpaid, not own(candidate), _scant(candidate, paid), length(candidate.values) > most),
        *(order(candidate), halved, score, candidate.region.text),
    )


def _scant(candidate: Candidate, paid: Container[str]) -> bool:
    """Check whether few failing nodes are held out to bear out what statistics alone can tell.

    That counts beside candidates of its kind whose code length is `paid`.
    """
    alone = candidate.seen is None and not candidate.by and candidate.comes_along
    alone = alone and candidate.family.header["kind"] in paid
    return alone and not candidate.is_mechanism and candidate.table.inside_failing < _FEW


def own(candidate: Candidate) -> bool:
    """Check whether a person or a program of her own proposed a candidate; a model is none."""
    return any(by != CONDITIONS.iri.value and not is_model(by) for by in candidate.by)


def order(candidate: Candidate) -> int:
    """Return the place of a candidate's family in the order of preference."""
    return int(candidate.family.header.get("order", "50"))
