"""Near duplicate: of candidates that no test could tell apart only one is proposed."""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import preferred_first

_COVERS: Final = figure("duplicateOverlap")
_TOLD_BY: Final = figure("duplicateNodes")


class NearDuplicate(Filter):
    """Drop a candidate whose region hardly differs from that of a preferred one."""

    name: ClassVar[str] = "near-duplicate"
    reason: ClassVar[str] = "No test could tell it apart from a candidate that is preferred."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        kept: list[Candidate] = []
        dropped = []
        for candidate in sorted(candidates, key=preferred_first):
            for other in (c for c in kept if c.aspect == candidate.aspect):
                figure = _alike(view, other, candidate)
                if figure is not None:
                    dropped.append(Dropped(candidate, self, figure, other))
                    break
            else:
                kept.append(candidate)
        return Sifted(kept, dropped)


def _alike(view: View, one: Candidate, other: Candidate) -> Figure | None:
    """Return the figure by which two candidates cannot be told apart, or None where they can.

    Tests run on the held-out half. Only the nodes there that are inside one region alone tell the
    two apart, and how many of these fail is estimated from the discovery half.
    """
    same = one.claimed == other.claimed and one.table == other.table
    common, differing = one.members & other.members, one.members ^ other.members
    if not differing or not view.marks.split:
        return Figure("nodes inside one of the two alone", 0, 0) if same or not differing else None
    near = common.bit_count() >= _COVERS * (common | differing).bit_count()
    half = view.split(one.family).heldout_mask | view.split(other.family).heldout_mask
    counts = table(view, common, view.marks.node.discovery_mask)
    expected = counts.inside_failing / max(1, counts.inside) * (differing & half).bit_count()
    if (same or near) and expected <= _TOLD_BY:
        return Figure("failing nodes expected to tell the two apart", expected, _TOLD_BY)
    return None
