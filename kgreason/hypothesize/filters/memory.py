"""Memory: what was rejected before, or is proposed already, is not proposed again."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Filter, Round, Sifted


class Rejected(Filter):
    """Drop a candidate that was rejected before, or is too near to one, unless data changed."""

    name: ClassVar[str] = "memory"
    reason: ClassVar[str] = "It was rejected before, or is too near to one that was."

    def __call__(self, _view: View, candidates: Sequence[Candidate], round_: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped."""
        gone = {c.key for c in candidates if round_.rejected(c)}
        return Sifted(
            [c for c in candidates if c.key not in gone],
            [Dropped(c, self) for c in candidates if c.key in gone],
        )


class Repeat(Filter):
    """Drop a candidate with the aspect and the nodes of one that is or was proposed.

    Two wordings of the same nodes would be rivals that no test can tell apart.
    """

    name: ClassVar[str] = "repeat"
    reason: ClassVar[str] = "The same nodes are proposed in other words, or were before."

    def __init__(self, proposed: AbstractSet[tuple[str, int]] = frozenset()) -> None:
        self._proposed = proposed

    def __call__(self, _view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped."""
        gone = {c.key for c in candidates if (c.aspect, c.members) in self._proposed}
        return Sifted(
            [c for c in candidates if c.key not in gone],
            [Dropped(c, self) for c in candidates if c.key in gone],
        )
