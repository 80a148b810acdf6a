"""From candidates to frames of rivals."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from kgreason.probes.statistics import deviance
from kgreason.reasoners.bindings import joined
from kgreason.reasoners.candidates import (
    Candidate,
    Key,
    View,
    counted,
    exposed,
    families,
    filled,
    mine,
    table,
)
from kgreason.reasoners.cuts import recut
from kgreason.reasoners.nested import both_stand, undiluted, unshadowed
from kgreason.reasoners.parts import in_few_parts
from kgreason.templates import template

_LEAST_SCORE: Final = 7.0  # of the G statistic; about p = 0.004 for a region fixed beforehand
_LEAST_SHARE: Final = 0.01  # of all failing nodes; a small cause may be a sure one
_LEAST_MANNER: Final = 0.05
_LIFT: Final = 1.1  # of the rate of all
_NEARER: Final = 0.1  # of the way from the rate of all to 1
_LOOKED_AT: Final = 18  # candidates for which the very nodes are fetched
_A_FAMILY: Final = 6
_PAIRED: Final = 10
BETTER: Final = 8.0
"""By how much of the G statistic a conjunction must beat both its parts."""
_CLEARER: Final = 1.1
"""By what factor too: a condition that leaves out a few passing nodes of many is none."""
_OVERLAP: Final = 0.5
_COVERS: Final = 0.8
_SAME: Final = 0.95
_HELD_OUT: Final = 0.1
_ORDER_COUNTS: Final = 1.5
_TOLD_BY: Final = 3.0  # failing nodes that differ, on a half, up to which two are not told apart


@dataclass(frozen=True)
class Frame:
    """Rivals about the same failing nodes, best first."""

    aspect: str
    members: tuple[Candidate, ...]


@dataclass(frozen=True)
class Proposal:
    """Frames of rivals, the best first; the candidates for which there was no room; the rejected.

    `refused` are those that are not proposed since they were rejected before.
    """

    frames: tuple[Frame, ...] = ()
    left_out: tuple[Candidate, ...] = ()
    refused: tuple[Candidate, ...] = ()


def jaccard(one: Candidate, other: Candidate) -> float:
    """Give the Jaccard overlap, 0 to 1, of the regions of two candidates."""
    union = (one.members | other.members).bit_count()
    return (one.members & other.members).bit_count() / union if union else 0.0


def contained(one: Candidate, other: Candidate) -> float:
    """Give how much of the smaller of two sets of claimed failing nodes is in the other, 0 to 1."""
    smaller = min(one.claimed.bit_count(), other.claimed.bit_count())
    return (one.claimed & other.claimed).bit_count() / smaller if smaller else 0.0


def contained_in(one: Candidate, other: Candidate) -> float:
    """Give how much of what one candidate claims the other claims too, 0 to 1."""
    own = one.claimed.bit_count()
    return (one.claimed & other.claimed).bit_count() / own if own else 0.0


def propose(
    view: View,
    most: int,
    rejected: Callable[[Candidate], bool],
    wanting: frozenset[Key] = frozenset(),
) -> Proposal:
    """Give at most `most` candidates in frames of rivals, and tell which were left out.

    `rejected` says of a candidate whether it was rejected before; what has a key in `wanting` was
    tried in vain, and nothing yields to others of its family.
    """
    found: list[Candidate] = []
    for family in families():
        mined = [c for c in mine(view, family) if _worth(c)]
        found += sorted(mined, key=_order)[:_A_FAMILY]
    looked_at = [filled(view, c) for c in sorted(found, key=_order)[:_LOOKED_AT]]
    looked_at = [c for c in looked_at if c.key not in wanting]
    worthy = [c for c in looked_at if worth(view, c) and not in_few_parts(view, c)]
    single = _distinct(view, _yield(worthy))
    # Both parts of a conjunction may hold little but its failures, and go then, but not before it.
    both_ways = unshadowed(view, undiluted(view, single + _pairs(view, single)))
    apart = _apart(_distinct(view, both_ways), {name for name, _ in wanting})
    refused = tuple(c for c in apart if rejected(c))
    keys = {c.key for c in refused}
    fresh = [c for c in apart if c.key not in keys]
    return replace(framed(view, fresh, most), refused=refused)


def worth(view: View, candidate: Candidate) -> bool:
    """Say whether a candidate with exact counts is worth a test, and can be put to one."""
    return (
        _worth(candidate)
        and _tells(candidate)
        and _of_the_exposed(view, candidate)
        and _testable(view, candidate)
    )


def _of_the_exposed(view: View, candidate: Candidate) -> bool:
    """Say whether an origin stands out among the nodes that could fail, too.

    Else it only tells who has a value at all.
    """
    if candidate.aspect == "manner":
        return True
    half = view.split(candidate.family).discovery_mask & exposed(view)
    return deviance(table(view, candidate.members, half)) >= _LEAST_SCORE


def _tells(candidate: Candidate) -> bool:
    """Say whether an origin makes a difference to the rate of failures of all.

    Nearly everyone's region has nearly everyone's rate, be that ever so sure: what is told by it is
    only that the few outside are better off.
    """
    counts = candidate.table
    nodes = counts.inside + counts.outside
    if candidate.aspect == "manner" or not counts.inside or counts.failing == nodes:
        return True
    rate, usual = counts.inside_failing / counts.inside, counts.failing / nodes
    return rate >= _LIFT * usual or rate - usual >= _NEARER * (1 - usual)


def _testable(view: View, candidate: Candidate) -> bool:
    """Say whether the held-out half has part of the region: clusters may lie in it whole."""
    split = view.split(candidate.family)
    held_out = (candidate.members & split.heldout_mask).bit_count()
    return held_out >= max(2, _HELD_OUT * candidate.members.bit_count())


def _apart(candidates: Sequence[Candidate], doubted: AbstractSet[str]) -> list[Candidate]:
    """Drop origins that are only another name for the form a failure takes.

    Not so where candidates of that family were found wanting: where one property too many goes
    along with the failures, so do more.
    """
    manner = [c for c in candidates if c.aspect == "manner" and c.family.name not in doubted]
    return [
        c for c in candidates if c.aspect == "manner" or not any(_restates(c, m) for m in manner)
    ]


def _restates(origin: Candidate, manner: Candidate) -> bool:
    """Say whether an origin only tells of some of the nodes that fail in one manner.

    It is the same nodes, or speaks of a property the manner is about, or is far from being the
    same nodes as a manner that claims nearly all failures: what things that fail in one way share
    by chance is no second cause.
    """
    if jaccard(origin, manner) >= _SAME:
        return True
    if contained_in(origin, manner) < _COVERS:
        return False
    told = {p.values.get(name) for p in origin.parts or (origin,) for name in ("dimension", "via")}
    whole = manner.claimed.bit_count() >= _COVERS * manner.table.failing
    return manner.values.get("level") in told or (whole and jaccard(origin, manner) < _OVERLAP)


def _worth(candidate: Candidate) -> bool:
    if candidate.aspect == "manner":
        return candidate.table.inside_failing >= _LEAST_MANNER * candidate.table.failing
    return candidate.score >= _LEAST_SCORE and candidate.share >= _LEAST_SHARE


def _order(candidate: Candidate) -> tuple[float, int, str]:
    """Best first; among equals the family that comes first, so that runs agree."""
    order = int(candidate.family.header.get("order", "50"))
    return (-round(candidate.score, 6), order, candidate.region.text)


def _preference(candidate: Candidate) -> tuple[float, str]:
    """Best first, but a family that comes earlier wins against a little more of G.

    There are far more values than sources to choose from, so the best value is high by chance more
    easily; and a source is what one can mend.
    """
    order = int(candidate.family.header.get("order", "50"))
    return (-round(candidate.score + _ORDER_COUNTS * (50 - order), 6), candidate.region.text)


def _distinct(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop what cannot be told apart from one that is preferred."""
    out: list[Candidate] = []
    for candidate in sorted(candidates, key=_preference):
        same = (c for c in out if c.aspect == candidate.aspect and _alike(view, c, candidate))
        if next(same, None) is None:
            out.append(candidate)
    return out


def _alike(view: View, one: Candidate, other: Candidate) -> bool:
    """Say whether the nodes that are inside one region alone could not tell the two apart.

    Tests are made on the held-out half, so it is the nodes there that count, not who of them fails.
    """
    same = one.claimed == other.claimed and one.table == other.table
    common, differing = one.members & other.members, one.members ^ other.members
    if not differing or not view.marks.split:
        return same or not differing
    near = common.bit_count() >= _COVERS * (common | differing).bit_count()
    half = view.split(one.family).heldout_mask | view.split(other.family).heldout_mask
    counts = table(view, common, view.marks.node.discovery_mask)
    rate = counts.inside_failing / max(1, counts.inside)
    return (same or near) and rate * (differing & half).bit_count() <= _TOLD_BY


def _pairs(view: View, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Give the conjunctions of two conditions that beat both their parts."""
    single = sorted((c for c in candidates if c.aspect == "origin"), key=_order)[:_PAIRED]
    out = []
    for one, other in combinations(single, 2):
        if one.values.get("dimension") == other.values.get("dimension"):
            continue
        if not one.claimed & other.claimed:
            continue
        joint = meet(view, one, other)
        if joint is not None:
            out.append(joint)
    return out


def meet(view: View, one: Candidate, other: Candidate) -> Candidate | None:
    """Give what is inside both of two candidates, where that is better than either.

    The bound of an ordered one is also drawn anew among the nodes of the other.
    """
    # All values but one are many: with another condition there were always some that fit.
    if any("exception" in part.family.sections for c in (one, other) for part in c.parts or (c,)):
        return None
    half = view.split(template("hypothesize", "conjunction")).discovery_mask
    alone = max(deviance(table(view, c.members, half)) for c in (one, other))
    pairs = [(one, other)]
    pairs += [(one, cut) for cut in [recut(view, other, one)] if cut is not None]
    pairs += [(cut, other) for cut in [recut(view, one, other)] if cut is not None]
    joint = [_met(view, *pair) for pair in pairs]
    needed = max(alone + BETTER, alone * _CLEARER)
    good = [j for j in joint if worth(view, j) and j.score > needed]
    return max(good, key=lambda j: (round(j.score, 6), j.region.text), default=None)


def _met(view: View, one: Candidate, other: Candidate) -> Candidate:
    joint = joined((*(one.parts or (one,)), *(other.parts or (other,))))
    return counted(view, replace(joint, members=one.members & other.members))


def _yield(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop last resorts where a kind or family they yield to claims most of what they claim.

    Those whose family comes last go first; to what is gone nothing yields.
    """
    left = list(candidates)
    for candidate in sorted(candidates, key=lambda c: -int(c.family.header.get("order", "50"))):
        stronger = set(candidate.family.header.get("yields-to", "").split())
        if any(
            {other.family.header["kind"], other.family.name} & stronger
            and contained_in(candidate, other) >= _COVERS
            for other in left
            if other is not candidate
        ):
            left.remove(candidate)
    return left


def _rivals(view: View, one: Candidate, other: Candidate) -> bool:
    """Say whether two candidates explain the same failing nodes, so that one excludes the other."""
    return _shared(view, one, other) >= _OVERLAP and not both_stand(view, one, other)


def _shared(view: View, one: Candidate, other: Candidate) -> float:
    """Give how much of what the smaller one claims the other claims too, beyond chance, up to 1.

    A region of half of all nodes has half of any failures in it, and explains none of them.
    """
    _, large = sorted((one, other), key=lambda c: c.claimed.bit_count())
    half = view.marks.node.discovery_mask
    usual = (large.members & half).bit_count() / max(1, half.bit_count())
    return (contained(one, other) - usual) / (1 - usual) if usual < 1 else 0.0


def _varied(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Give the best, but not all of one kind where there is another: rivals should differ."""
    best = list(candidates[:most])
    kinds = {c.family.header["kind"] for c in best}
    if len(best) > 1 and len(kinds) == 1:
        other = next((c for c in candidates if c.family.header["kind"] not in kinds), None)
        best = best if other is None else [*best[:-1], other]
    return best


def framed(view: View, candidates: Sequence[Candidate], most: int) -> Proposal:
    """Put at most `most` candidates in frames of rivals; the others are left out."""
    chosen = sorted(candidates, key=_order)
    manner = [c for c in chosen if c.aspect == "manner"][: max(1, most // 2)]
    origin = _varied([c for c in chosen if c.aspect == "origin"], most - len(manner))
    out: list[Frame] = []
    for aspect, members in (("manner", manner), ("origin", origin)):
        groups: list[list[Candidate]] = []
        for candidate in members:
            home = next((g for g in groups if _rivals(view, g[0], candidate)), None)
            if home is None:
                groups.append([candidate])
            else:
                home.append(candidate)
        out += [Frame(aspect, tuple(group)) for group in groups]
    taken = {c.key for c in (*manner, *origin)}
    return Proposal(
        tuple(sorted(out, key=lambda f: _order(f.members[0]))),
        tuple(c for c in chosen if c.key not in taken),
    )
