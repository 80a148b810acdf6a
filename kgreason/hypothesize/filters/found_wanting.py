"""Found wanting: a hypothesis of an earlier round that was tested in vain is not tested again."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Filter, Round, Sifted


class FoundWanting(Filter):
    """Drop what an earlier round tested in vain, first of all: no other candidate yields to it."""

    name: ClassVar[str] = "found-wanting"
    reason: ClassVar[str] = "An earlier round proposed it, and its tests did not bear it out."

    def __call__(self, _view: View, candidates: Sequence[Candidate], round_: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped."""
        return Sifted(
            [c for c in candidates if c.key not in round_.found_wanting],
            [Dropped(c, self) for c in candidates if c.key in round_.found_wanting],
        )
