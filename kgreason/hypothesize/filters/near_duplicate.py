"""Near duplicate: of candidates that no test could tell apart only one is proposed."""

from collections import defaultdict
from collections.abc import Container, Sequence
from functools import partial
from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.context.view import View, table
from kgreason.hypothesize.candidates import Candidate, Key
from kgreason.hypothesize.conditions.code import TOLD
from kgreason.hypothesize.conditions.seam import BITS, bound_of, length, outreached
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import of_equals_first, preferred_first
from kgreason.hypothesize.filters.restatement import is_place, retells
from kgreason.hypothesize.filters.shorter_story import MORE
from kgreason.hypothesize.foretold import sound
from kgreason.hypothesize.overlaps import NEAR

_TOLD_BY: Final = figure("duplicateNodes")


class NearDuplicate(Filter):
    """Drop a candidate whose region hardly differs from that of a preferred one.

    Of two mechanisms, one whose prediction fails on the half that found it, or whose placebo does
    as well there, yields to one of which neither is so. Where the search in conditions, a person or
    a program holds the very same nodes as another, the order of their families decides, and no
    figure, unless one is told far shorter; but what few nodes are held out for yields to one of its
    kind whose code length is paid. An origin that is about the property of a mechanism is hardly
    told itself, and yields to a place: that something points at the nodes by the inverse of what
    they lack is no news. Two bounds of one property are one, and the one that is paid in bits
    stays; so are as many authors and as many names of authors, and the shorter path stays. The
    record says who yielded to whom, so that a suggestion is told with the hypothesis that holds its
    nodes.
    """

    name: ClassVar[str] = "near-duplicate"
    reason: ClassVar[str] = "No test could tell it apart from a candidate that is preferred."

    def __call__(self, view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        retold = _retold(candidates)
        single, dropped = self._of_equals(view, candidates, retold)
        kept: list[Candidate] = []
        paid = _paid_kinds(candidates)
        for candidate in sorted(single, key=partial(preferred_first, paid=paid)):
            for other in (c for c in kept if c.aspect == candidate.aspect):
                figure = _alike(view, other, candidate)
                if figure is not None and (
                    (other.key in retold and is_place(view, candidate))
                    or _only_other(view, candidate, other)
                    or (candidate.paid and not other.paid and _one_bound(other, candidate))
                    or (candidate.paid == other.paid and outreached(other, candidate))
                ):
                    kept.remove(other)
                    dropped.append(Dropped(other, self, figure, candidate))
                    kept.append(candidate)
                    break
                if figure is not None:
                    dropped.append(Dropped(candidate, self, figure, other))
                    break
            else:
                kept.append(candidate)
        return Sifted(kept, dropped)

    def _of_equals(
        self, view: View, candidates: Sequence[Candidate], retold: Container[Key]
    ) -> tuple[list[Candidate], list[Dropped]]:
        """Return one candidate of those that hold the very same nodes, and the others as dropped.

        Families alone are left as they are: by the half that each looks at, tests differ.
        """
        groups: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            groups[candidate.aspect, candidate.members].append(candidate)
        kept: list[Candidate] = []
        dropped = []
        for group in groups.values():
            paid = _paid_kinds(group)
            most = min((length(c.values) for c in group if c.paid), default=0.0) + MORE
            first, *others = sorted(group, key=partial(of_equals_first, paid=paid, most=most))
            if first.key in retold:
                place = next((c for c in others if is_place(view, c)), first)
                first, others = place, [c for c in (first, *others) if c is not place]
            if not others or not any(each.by for each in group):
                kept += group
                continue
            kept.append(first)
            figure = Figure("nodes inside one of the two alone", 0, 0)
            dropped += [Dropped(each, self, figure, first) for each in others]
        return kept, dropped


def _retold(candidates: Sequence[Candidate]) -> frozenset[Key]:
    """Return the origins that are about the property of a mechanism beside them."""
    mechanisms = [c for c in candidates if c.is_mechanism]
    return frozenset(c.key for c in candidates if not c.is_mechanism and retells(c, mechanisms))


def _paid_kinds(candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the kinds of the candidates whose code length is paid in full.

    What is told from fewer bits, for its nodes stand apart so clearly, may be told by halves too.
    """
    return frozenset(c.family.header["kind"] for c in candidates if c.seen and _in_full(c))


def _in_full(candidate: Candidate) -> bool:
    bits = candidate.values.get(BITS)
    return bits is None or float(bits.value) >= TOLD


def _only_other(view: View, one: Candidate, preferred: Candidate) -> bool:
    """Check whether of two mechanisms only the one that is not preferred is borne out so far.

    What each of them foretells, and what a placebo does, is asked on the half that found both.
    """
    if not one.is_mechanism or one.family.name == preferred.family.name:
        return False
    return not sound(view, preferred) and sound(view, one)


def _one_bound(one: Candidate, other: Candidate) -> bool:
    """Check whether both say from where on, or until where, of one property.

    Of 2017 and 2018 one is the bound; where few nodes lie between they are no rivals.
    """
    bound = bound_of(one)
    return bound is not None and bound == bound_of(other)


def _alike(view: View, one: Candidate, other: Candidate) -> Figure | None:
    """Return the figure by which two candidates cannot be told apart, or None where they can.

    Tests run on the held-out half. Only the nodes there that are inside one region alone tell the
    two apart, and how many of these fail is estimated from the discovery half.
    """
    same = one.claimed == other.claimed and one.table == other.table
    common, differing = one.members & other.members, one.members ^ other.members
    if not differing or not view.marks.split:
        return Figure("nodes inside one of the two alone", 0, 0) if same or not differing else None
    between = differing.bit_count() / (common | differing).bit_count()
    near = between <= 1 - NEAR
    if near and _one_bound(one, other):
        return Figure("share of the nodes between two bounds of one property", between, 1 - NEAR)
    if near and (outreached(one, other) or outreached(other, one)):
        return Figure("share of the nodes that one of two paths alone leads to", between, 1 - NEAR)
    half = view.split(one.family).heldout_mask | view.split(other.family).heldout_mask
    counts = table(view, common, view.marks.node.discovery_mask)
    expected = counts.inside_failing / max(1, counts.inside) * (differing & half).bit_count()
    if (same or near) and expected <= _TOLD_BY:
        return Figure("failing nodes expected to tell the two apart", expected, _TOLD_BY)
    return None
