"""Redundancy: of regions that lie in one another only those are kept that do the failing."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure, integer
from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.restatement import renames
from kgreason.hypothesize.nested import (
    CLEAR,
    both_stand,
    effects,
    half,
    lies_in,
    lowered,
    raised,
)

_DILUTED: Final = figure("diluted")
_ALIKE: Final = figure("alike")
_NO_SIGN: Final = figure("noSignG")
_ENOUGH: Final = integer("enoughNodes")
_FAR_BETTER: Final = figure("farBetterG")

Found = tuple[Figure, Candidate | None]
_Step = Callable[[View, Candidate, Sequence[Candidate]], Found | None]


class Redundancy(Filter):
    """Drop a region that only contains the region that does the failing, or is only part of it.

    A region that adds nothing goes first, else it could outdo one of the regions it is made of.
    What only renames a mechanism hides no origin: it is dropped itself, a little later.
    """

    name: ClassVar[str] = "redundancy"
    reason: ClassVar[str] = "Another region, inside or around it, accounts for its failing nodes."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kept = list(candidates)
        dropped = []
        mechanisms = [c for c in candidates if c.is_mechanism]
        names = {c.key for c in candidates if not c.is_mechanism and renames(c, mechanisms)}
        steps: tuple[_Step, ...] = (_adds_nothing, _outdone)
        for step in steps:
            for candidate in sorted(kept, key=lambda c: c.score):
                others = [
                    c
                    for c in kept
                    if c is not candidate and c.aspect == candidate.aspect and c.key not in names
                ]
                found = None if candidate.is_mechanism else step(view, candidate, others)
                if found is not None:
                    kept.remove(candidate)
                    dropped.append(Dropped(candidate, self, *found))
        return Sifted(kept, dropped)


def _adds_nothing(view: View, one: Candidate, others: Sequence[Candidate]) -> Found | None:
    for other in others:
        figure = _superfluous(view, one, other)
        if figure is not None:
            return figure, other
    figure = _made_up(view, one, others)
    return None if figure is None else (figure, None)


def _outdone(view: View, one: Candidate, others: Sequence[Candidate]) -> Found | None:
    for other in others:
        figure = _beaten(view, one, other)
        if figure is not None:
            return figure, other
    return None


def _superfluous(view: View, one: Candidate, other: Candidate) -> Figure | None:
    """Return the figure by which one region adds nothing to another that lies in or around it.

    A larger region adds nothing where it fails hardly more than usual beside the smaller one. A
    smaller one adds nothing where the larger one fails as much around it.
    """
    small, large = sorted((one, other), key=lambda c: c.members.bit_count())
    if not lies_in(small, large):
        return None
    common = half(view, one) & half(view, other)
    inside = small.members & large.members
    core = table(view, inside, common & large.members)
    rest = table(view, large.members & ~inside, common & ~inside)
    effect, added = effects(view, inside, large.members, common)
    if one is large:
        if added < _DILUTED * effect and raised(core) >= CLEAR:
            return _beside(added, effect, _DILUTED)
        return None
    enough = rest.inside >= _ENOUGH and raised(rest) >= CLEAR
    alike = raised(core) < _NO_SIGN and lowered(core) < CLEAR
    if enough and added >= _ALIKE * effect and alike:
        return Figure("share of its effect that is found around it", _share(added, effect), _ALIKE)
    return None


def _made_up(view: View, one: Candidate, others: Sequence[Candidate]) -> Figure | None:
    """Return the figure by which a region fails only where two or more smaller ones lie in it.

    A region that consists of these alone is made up where they do not fail alike.
    """
    size = one.members.bit_count()
    within = [c for c in others if c.members.bit_count() < size and lies_in(c, one)]
    if len(within) < 2:  # noqa: PLR2004 - one is looked at by itself
        return None
    cores = 0
    for candidate in within:
        cores |= candidate.members & one.members
    own = half(view, one)
    effect, added = effects(view, cores, one.members, own)
    if (one.members & ~cores & own).bit_count() >= _ENOUGH:
        return _beside(added, effect, _DILUTED) if added < _DILUTED * effect else None
    scores = [raised(table(view, c.members, own & one.members)) for c in within]
    clear = max(scores) >= CLEAR
    return Figure("G statistic of a part within it", max(scores), CLEAR) if clear else None


def _beaten(view: View, one: Candidate, other: Candidate) -> Figure | None:
    """Return the figure by which, of two regions, one in the other, the other is far better.

    Where the larger one fails beside the smaller one as well, but less, tests would bear out both,
    and neither could win. Where the smaller one is better, the next round looks at the failing
    nodes that it leaves over. Where the larger one is, nobody is told that a part of it fails more.
    """
    small, large = sorted((one, other), key=lambda c: c.members.bit_count())
    if not lies_in(small, large):
        return None
    common = half(view, one) & half(view, other)
    own, others = (raised(table(view, c.members, common)) for c in (one, other))
    if others >= own + _FAR_BETTER and not both_stand(view, one, other):
        return Figure("G statistic of the other above its own", others - own, _FAR_BETTER)
    return None


def _beside(added: float, effect: float, bound: float) -> Figure:
    return Figure("share of the effect that is left beside the other", _share(added, effect), bound)


def _share(added: float, effect: float) -> float:
    return added / effect if effect else 0.0
