"""Shorter story: of regions that no test could tell apart the one with far more bits stays."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure, integer
from kgreason.context.view import View, exposed, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.code import saved
from kgreason.hypothesize.conditions.seam import kinds_told, length
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import own
from kgreason.hypothesize.filters.restatement import paid_apart

MORE: Final = figure("storyBits")
"""Bits by which a story is so much shorter that the other one is not told."""
_LEAST: Final = integer("storyNodes")


class ShorterStory(Filter):
    """Drop a region where one in the language of conditions saves far more bits.

    Both pay for their length, so their bits can be compared: log2 20 bits less make a story
    twenty times less probable. What a family said costs what a condition with the same nodes does,
    or nothing; what a person proposed is always put to its tests, and so is a family of a kind that
    the language has no words for (one thing described in two sources): it says what happened.
    Neither may leave enough nodes to compare within the strata of the other: where a test can tell
    the two apart, it decides.
    """

    name: ClassVar[str] = "shorter-story"
    reason: ClassVar[str] = (
        "A region with much the same nodes saves far more bits, and no test could tell the two "
        "apart."
    )

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kept = []
        dropped = []
        sayable = kinds_told()
        lengths = {one.members: length(one.values) for one in candidates if one.paid}
        paid = [(_bits(view, one, lengths), one) for one in paid_apart(candidates)]
        for candidate in candidates:
            unsayable = candidate.family.header["kind"] not in sayable
            exempt = candidate.is_mechanism or unsayable or own(candidate)
            found = None if exempt or not paid else _best(view, candidate, paid)
            bits = _bits(view, candidate, lengths) if found else 0.0
            if found and found[0] - bits >= MORE:
                why = Figure("bits that the other saves beyond it", found[0] - bits, MORE)
                dropped.append(Dropped(candidate, self, why, found[1]))
            else:
                kept.append(candidate)
        return Sifted(kept, dropped)


def _best(
    view: View, candidate: Candidate, paid: Sequence[tuple[float, Candidate]]
) -> tuple[float, Candidate] | None:
    """Return the bits and the region that saves most of those that cannot be told from it."""
    alike = (
        (bits, other)
        for bits, other in paid
        if other.aspect == candidate.aspect
        and other.members != candidate.members
        and _inseparable(view, candidate, other)
    )
    return max(alike, key=lambda each: each[0], default=None)


def _bits(view: View, candidate: Candidate, lengths: Mapping[int, float]) -> float:
    """Return the bits that a region saves among all nodes that could fail, less its length."""
    counts = table(view, candidate.members, exposed(view))
    failing = counts.inside_failing + counts.outside_failing
    nodes = counts.inside + counts.outside
    gross = saved(counts.inside_failing, counts.inside, failing, nodes)
    return gross - (length(candidate.values) or lengths.get(candidate.members, 0.0))


def _inseparable(view: View, one: Candidate, other: Candidate) -> bool:
    """Check whether neither region leaves enough nodes of the held-out half to compare."""
    return not (leaves(view, one, other) or leaves(view, other, one))


def leaves(view: View, rival: Candidate, tested: Candidate) -> bool:
    """Check whether a rival leaves enough nodes of the held-out half to compare in its strata."""
    half = view.marks.node.heldout_mask
    strata = (rival.members & half, half & ~rival.members)
    return any(
        min((nodes & tested.members).bit_count(), (nodes & ~tested.members).bit_count()) >= _LEAST
        for nodes in strata
    )
