"""Subsumption: a last resort yields to a more specific explanation of the same failing nodes."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import order
from kgreason.hypothesize.foretold import sound
from kgreason.hypothesize.overlaps import COVERS, contained_in


class Subsumption(Filter):
    """Drop a candidate where a kind or family it yields to claims most of its failing nodes.

    The header `yields-to` of a family names these. Candidates whose family comes last are looked
    at first; nothing yields to a candidate that was dropped, and no mechanism that is sound to one
    that is not.
    """

    name: ClassVar[str] = "subsumption"
    reason: ClassVar[str] = "A more specific explanation claims most of its failing nodes."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kept = list(candidates)
        dropped = []
        for candidate in sorted(candidates, key=lambda c: -order(c)):
            stronger_ones = [
                other for other in kept if other is not candidate and _yields(candidate, other)
            ]
            found = _covering(candidate, stronger_ones)
            if found is not None and not _only_this(view, candidate, found[1]):
                dropped.append(Dropped(candidate, self, *found))
                kept.remove(candidate)
        return Sifted(kept, dropped)


def _yields(candidate: Candidate, other: Candidate) -> bool:
    """Check whether a candidate yields to another where both claim the same failing nodes."""
    stronger = candidate.family.header.get("yields-to", "").split()
    return other.family.header["kind"] in stronger or other.family.name in stronger


def _only_this(view: View, candidate: Candidate, stronger: Candidate) -> bool:
    """Check whether the half that found both mechanisms bears out this one alone."""
    mechanisms = candidate.is_mechanism and stronger.is_mechanism
    return mechanisms and not sound(view, stronger) and sound(view, candidate)


def _covering(
    candidate: Candidate, stronger: Sequence[Candidate]
) -> tuple[Figure, Candidate] | None:
    """Return the share of its failing nodes that one other claims, or several of one family do.

    Several subproperties hold together what a rule that “does not fit” would be told of.
    """
    name = "share of its failing nodes claimed there"
    for other in stronger:
        shared = contained_in(candidate, other)
        if shared >= COVERS:
            return Figure(name, shared, COVERS), other
    families: dict[str, list[Candidate]] = {}
    for other in stronger:
        # Several of its own kind are the pieces that it holds together.
        own_kind = other.family.header["kind"] == candidate.family.header["kind"]
        # Those that would yield to it in turn are told shorter by it.
        if not own_kind and not _yields(other, candidate):
            families.setdefault(other.family.name, []).append(other)
    for several in families.values():
        claimed = reduce(or_, (other.claimed for other in several))
        own = candidate.claimed.bit_count()
        shared = (candidate.claimed & claimed).bit_count() / own if own else 0.0
        if shared >= COVERS:
            return Figure(name, shared, COVERS), several[0]
    return None
