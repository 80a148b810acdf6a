"""Limits: of the candidates that were mined, only the best are counted node by node."""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import best_first

_A_FAMILY: Final = integer("familyLimit")
_COUNTED: Final = integer("countedLimit")


class FamilyLimit(Filter):
    """Keep the best few candidates of each family, so that no family crowds out the others."""

    name: ClassVar[str] = "family-limit"
    reason: ClassVar[str] = "Its family has enough better candidates."

    def __call__(self, _view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their ranks."""
        families: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            families.setdefault(candidate.family.name, []).append(candidate)
        kept: list[Candidate] = []
        dropped: list[Dropped] = []
        for found in families.values():
            ranked = sorted(found, key=best_first)
            kept += ranked[:_A_FAMILY]
            dropped += _beyond(self, ranked, _A_FAMILY)
        return Sifted(kept, dropped)


class CountLimit(Filter):
    """Keep the best candidates over all families: counting the nodes of a region takes time."""

    name: ClassVar[str] = "count-limit"
    reason: ClassVar[str] = "Enough better candidates were found in all families together."

    def __call__(self, _view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their ranks."""
        ranked = sorted(candidates, key=best_first)
        return Sifted(ranked[:_COUNTED], _beyond(self, ranked, _COUNTED))


def _beyond(by: Filter, ranked: Sequence[Candidate], limit: int) -> list[Dropped]:
    rest = enumerate(ranked[limit:], start=limit + 1)
    return [Dropped(c, by, Figure("rank by G", place, limit)) for place, c in rest]
