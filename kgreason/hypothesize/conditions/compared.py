"""Conditions that compare the ends of two paths: later, and by how much; the same, another."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import reduce
from operator import or_
from typing import Any, Final

from pyoxigraph import Literal

from kgreason.base.terms import TYPE, XSD
from kgreason.hypothesize.conditions.atlas import LEAST
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.cuts import MANY_ENDS, Cut
from kgreason.hypothesize.conditions.scale import Scale

_STEPS: Final = frozenset({"forward", "backward", "made-by"})
_DAY: Final = 10  # letters of a day
_DAYS_BITS: Final = 10
"""Bits for a number of days: one of 1,024, evenly."""
_LATER: Final = 2  # days; that one comes after the other at all is told without a number
_SHARED: Final = 2  # ends that two paths need to have in common


def beside(cut: Cut, other: Cut) -> list[Condition]:
    """Return the conditions that compare the ends of two paths, both ways round.

    They depend on no symptom, and are kept with the first of the two.
    """
    if other.path not in cut.compared:
        fit = _fits(cut) and _fits(other)
        cut.compared[other.path] = [*_ordered(cut, other), *_alike(cut, other)] if fit else []
    return cut.compared[other.path]


def akin(cut: Cut, other: Cut) -> bool:
    """Check whether two paths lead to things of one kind: some things lie at the ends of both."""
    if not (_fits(cut) and _fits(other)) or cut.path == other.path:
        return False
    return len(cut.things & other.things) >= _SHARED


def _fits(cut: Cut) -> bool:
    """Check whether a path goes along properties alone, and to no class."""
    steps = cut.path.steps
    return bool(steps) and steps[-1].along != TYPE and all(s.kind in _STEPS for s in steps)


def _ordered(cut: Cut, other: Cut) -> Iterator[Condition]:
    """Yield the nodes whose one end is above the other, and those whose other end is."""
    if not (cut.levels and other.levels) or cut.is_dated != other.is_dated:
        return
    letters = min(len(str(e.key)) for c in (cut, other) for e in c.levels) if cut.is_dated else 0
    terms = (
        ("letters", Literal(str(letters), datatype=XSD.integer)),
        ("dated", cut.is_dated),
    )
    for one, two in ((cut, other), (other, cut)):
        mask = _above(one.extremes(letters, highest=True), two.extremes(letters, highest=False))
        if _told(one, mask):
            yield _condition(one, two, "later", mask, terms)


def gaps(cut: Cut, other: Cut, scale: Scale) -> Iterator[Condition]:
    """Yield the bounds on the days between two dates that tell most, for each of both orders.

    Where a node has several dates on either path, none is told.
    """
    if not (_fits(cut) and _fits(other) and cut.is_dated and other.is_dated):
        return
    if not (cut.ordered.apart and other.ordered.apart):
        return
    for one, two in ((cut, other), (other, cut)):
        if two.path not in one.between_dates:
            one.between_dates[two.path] = _days(one, two)
        days = one.between_dates[two.path]
        for test, found in (("soon", days), ("long", days[::-1])):
            best = _best(found, scale, least=0 if test == "soon" else _LATER)
            if best is not None and _told(one, best[1]):
                count = Literal(str(best[0]), datatype=XSD.integer)
                yield _condition(one, two, test, best[1], (("count", count),), _DAYS_BITS)


def _days(cut: Cut, other: Cut) -> list[tuple[int, int]]:
    """Return the numbers of days by which the other date comes after, each with its nodes."""
    first, second = cut.extremes(_DAY, highest=True), other.extremes(_DAY, highest=True)
    nodes: dict[int, list[int]] = {}
    for node, begun in first.items():
        apart = _apart(str(begun), str(second.get(node, "")))
        if apart is not None and 0 <= apart < 2**_DAYS_BITS:
            nodes.setdefault(apart, []).append(node)
    return [(apart, _mask(nodes[apart])) for apart in sorted(nodes)]


def _apart(begun: str, ended: str) -> int | None:
    """Return the days from one date to another; None where either is no day."""
    try:
        return (date.fromisoformat(ended) - date.fromisoformat(begun)).days
    except ValueError:
        return None


def _best(days: Iterable[tuple[int, int]], scale: Scale, least: int) -> tuple[int, int] | None:
    """Return the bound, in the order given, up to which nodes tell most, and these nodes."""
    held, best, found = 0, 0.0, None
    for apart, mask in days:
        held |= mask
        bad = (held & scale.bad).bit_count()
        bits = scale.bits(bad, (held & scale.among).bit_count())
        if bits is not None and bits > best and apart >= least:
            best, found = bits, (apart, held)
    return found


def _mask(nodes: Iterable[int]) -> int:
    held = bytearray()
    for node in nodes:
        if len(held) <= node >> 3:
            held.extend(bytes((node >> 3) + 1 - len(held)))
        held[node >> 3] |= 1 << (node & 7)
    return int.from_bytes(held, "little")


def _above(highest: Mapping[int, Any], lowest: Mapping[int, Any]) -> int:
    """Return the nodes of which the highest of some values is above the lowest of others."""
    return _mask(
        node
        for node, value in highest.items()
        if (least := lowest.get(node)) is not None and value > least
    )


def _alike(cut: Cut, other: Cut) -> Iterator[Condition]:
    """Yield the nodes that reach one thing by both paths, and those that reach different things."""
    if "same" not in cut.ways:
        return
    if max(len(cut.table.ends), len(other.table.ends)) > MANY_ENDS or cut.levels or other.levels:
        return
    ends, others = cut.numbered, other.numbered
    shared = ends.keys() & others.keys()
    if len(shared) < _SHARED:
        return
    same = reduce(or_, (ends[end] & others[end] for end in shared))
    several = cut.table.at_least[1] | other.table.at_least[1]
    both = cut.table.some & other.table.some
    differs = both & (several | ~same)
    for test, mask in (("same", same), ("differs", differs)):
        if _told(cut, mask) and mask != both:
            yield _condition(cut, other, test, mask)


def _told(cut: Cut, mask: int) -> bool:
    """Check whether a condition holds enough nodes, and not all that have an end."""
    return LEAST <= mask.bit_count() < cut.table.some.bit_count()


def _condition(
    cut: Cut,
    other: Cut,
    test: str,
    mask: int,
    terms: tuple[tuple[str, Literal | bool], ...] = (),
    more: float = 0.0,
) -> Condition:
    bits = cut.bits(test) + cut.atlas.bits(other.path) + more
    return Condition(cut.path, test, terms, mask, bits, other.path)
