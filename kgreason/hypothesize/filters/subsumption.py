"""Subsumption: a last resort yields to a more specific explanation of the same failing nodes."""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import order
from kgreason.hypothesize.overlaps import contained_in

_COVERS: Final = figure("subsumedShare")


class Subsumption(Filter):
    """Drop a candidate where a kind or family it yields to claims most of its failing nodes.

    The header `yields-to` of a family names these. Candidates whose family comes last are looked
    at first; nothing yields to a candidate that was dropped.
    """

    name: ClassVar[str] = "subsumption"
    reason: ClassVar[str] = "A more specific explanation claims most of its failing nodes."

    def __call__(self, _view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kept = list(candidates)
        dropped = []
        for candidate in sorted(candidates, key=lambda c: -order(c)):
            stronger = set(candidate.family.header.get("yields-to", "").split())
            for other in kept:
                if other is candidate:
                    continue
                named = {other.family.header["kind"], other.family.name} & stronger
                shared = contained_in(candidate, other)
                if named and shared >= _COVERS:
                    figure = Figure("share of its failing nodes claimed there", shared, _COVERS)
                    dropped.append(Dropped(candidate, self, figure, other))
                    kept.remove(candidate)
                    break
        return Sifted(kept, dropped)
