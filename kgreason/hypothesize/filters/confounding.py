"""Confounding: a faint origin has to stand out where the best origin is held fixed."""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.nested import CLEAR, half, raised

_FAINT: Final = figure("faint")


class Confounding(Filter):
    """Drop faint origins of which nothing is left where the best one is held fixed.

    An origin that stands out a little beside a cause of nearly all failures does so by chance, or
    because of that cause. As a rival it would only lend weight to there being no cause, each time
    one of its kind is found wanting.
    """

    name: ClassVar[str] = "confounding"
    reason: ClassVar[str] = "Nothing of it is left where the best origin is held fixed."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        origins = [c for c in candidates if not c.is_mechanism]
        best = max(origins, key=lambda c: (round(c.score, 6), c.region.text), default=None)
        kept: list[Candidate] = []
        dropped = []
        for candidate in candidates:
            if best is None or candidate.is_mechanism or candidate.score >= _FAINT * best.score:
                kept.append(candidate)
                continue
            left = _left(view, candidate, best)
            if left >= CLEAR:
                kept.append(candidate)
            else:
                figure = Figure("G statistic where the best origin is held fixed", left, CLEAR)
                dropped.append(Dropped(candidate, self, figure, best))
        return Sifted(kept, dropped)


def _left(view: View, one: Candidate, best: Candidate) -> float:
    """Return the G statistic of a region within the strata of another."""
    common = half(view, one) & half(view, best)
    strata = (common & best.members, common & ~best.members)
    return sum(raised(table(view, one.members, stratum)) for stratum in strata)
