"""The protocol of a filter: candidates in; the candidates kept and those dropped come out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate, Key


@dataclass(frozen=True)
class Round:
    """What the filters need to know of a round of proposals.

    `limit` is the number of candidates that it may propose, `rejected` checks whether a candidate
    was rejected before, and `found_wanting` are the keys of hypotheses of earlier rounds that were
    tested in vain.
    """

    limit: int
    rejected: Callable[[Candidate], bool] = lambda _: False
    found_wanting: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class Figure:
    """The figure that decided, in words and as a number, and the bound it was compared with."""

    name: str
    value: float
    bound: float


@dataclass(frozen=True)
class Dropped:
    """A candidate that is not proposed: the filter that dropped it, the figure, the one preferred.

    `preferred` is the candidate in whose favour it was dropped, where there is one.
    """

    candidate: Candidate
    by: "Filter"
    figure: Figure | None = None
    preferred: Candidate | None = None


@dataclass(frozen=True)
class Sifted:
    """The candidates that a filter kept, in the order in which the next one gets them."""

    kept: list[Candidate]
    dropped: list[Dropped]


class Filter(Protocol):
    """A reason for not proposing a candidate; `reason` is one sentence for a reader."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def __call__(self, view: View, candidates: Sequence[Candidate], round_: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        ...


class Check(Protocol):
    """A filter that looks at one candidate at a time."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        ...

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        found = [(c, self.against(view, c)) for c in candidates]
        return Sifted(
            [c for c, figure in found if figure is None],
            [Dropped(c, self, figure) for c, figure in found if figure is not None],
        )
