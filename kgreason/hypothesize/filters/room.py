"""Room: a round proposes no more candidates than the limit."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import best_first


class Room(Filter):
    """Keep the best mechanisms, at most half the limit, and then the best origins.

    A later round may take up what is dropped here.
    """

    name: ClassVar[str] = "room"
    reason: ClassVar[str] = "No room was left for it in this round."

    def __call__(self, _view: View, candidates: Sequence[Candidate], round_: Round, /) -> Sifted:
        """Return the mechanisms and origins that are kept, and the others with their ranks."""
        ranked = sorted(candidates, key=best_first)
        mechanisms = [c for c in ranked if c.is_mechanism]
        origins = [c for c in ranked if not c.is_mechanism]
        most = max(1, round_.limit // 2)
        kept = mechanisms[:most]
        left = round_.limit - len(kept)
        kept += _varied(origins, left)
        keys = {c.key for c in kept}
        places = {c.key: (place, most) for place, c in enumerate(mechanisms, start=1)}
        places |= {c.key: (place, left) for place, c in enumerate(origins, start=1)}
        return Sifted(
            kept,
            [
                Dropped(c, self, Figure("rank by G", *places[c.key]))
                for c in ranked
                if c.key not in keys
            ],
        )


def _varied(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the best candidates, of at least two kinds where there are two: rivals differ."""
    best = list(candidates[:limit])
    kinds = {c.family.header["kind"] for c in best}
    if len(best) > 1 and len(kinds) == 1:
        other = next((c for c in candidates if c.family.header["kind"] not in kinds), None)
        best = best if other is None else [*best[:-1], other]
    return best
