"""Where the numbers of an outcome are cut, when nobody says where.

Numbers often lie in two groups: orders that arrive in about five days, and others in about twenty.
A cut at the upper quartile would go through the middle of one. So the numbers are told twice, as
one group and as two, and the shorter telling wins (Rissanen, "Modeling by shortest data
description", Automatica 14, 1978). Only the numbers are looked at, never what the nodes have in
common, so the cut favours no cause.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Final, NamedTuple

from kgreason.base.figures import figure, integer

_QUARTILE: Final = Decimal("0.75")
_TENTH: Final = Decimal("0.1")
_SIDE: Final = integer("outcomeCutSide")
_BITS: Final = figure("outcomeCutBits")
_VALLEY: Final = figure("outcomeCutValley")
_TWO_PI_E: Final = 2 * math.pi * math.e


class Cut(NamedTuple):
    """Where numbers are cut, and the bits by which two groups are told shorter than one.

    `bits` is None where no two groups were seen, so that `at` is the upper quartile.
    """

    at: Decimal
    bits: Decimal | None = None


def outcome_cut(numbers: Iterable[Decimal]) -> Cut:
    """Return the number from which on a node has the outcome.

    That is the least number of the upper of two groups, where the numbers fall into two and the
    upper one holds no more than half; else the upper quartile, or, where that is the least number
    of all, the next one. Numbers above zero are looked at as
    they are, then as logarithms.
    """
    ordered = sorted(numbers)
    plain = [float(number) for number in ordered]
    step = min(10.0 ** int(number.as_tuple().exponent) for number in ordered)
    scales = [(plain, step)]
    if plain[0] > 0:
        scales.append(([math.log(n) for n in plain], step / plain[len(plain) // 2]))
    for scale, known_to in scales:
        found = _two_groups(scale, known_to)
        if found:
            place, bits = found
            return Cut(ordered[place], Decimal(bits).quantize(_TENTH, ROUND_FLOOR))
    at = upper_quartile(ordered)
    if at == ordered[0]:  # from the least number on all would have the outcome
        at = next((number for number in ordered if number > at), at)
    return Cut(at)


def upper_quartile(numbers: Iterable[Decimal]) -> Decimal:
    """Return the smallest number that at least three quarters do not exceed (nearest rank)."""
    ordered = sorted(numbers)
    return ordered[math.ceil(_QUARTILE * len(ordered)) - 1]


def _two_groups(ordered: Sequence[float], known_to: float) -> tuple[int, float] | None:
    """Return where the upper group begins and the bits that two groups save, or None.

    `known_to` is a step of the last digit: equal numbers have that much variance.

    A group of m numbers costs m/2 log2(2 pi e v) bits for its numbers, v being their variance, and
    log2(m) for its mean and variance; two groups cost log2 of the binomial coefficient besides, to
    say who is in which. Where a long tail is cut two groups save bits, too; so the place of the cut
    has to be empty beside the middle of both groups.
    """
    number = len(ordered)
    if number < 2 * _SIDE:
        return None
    floor = known_to**2 / 12
    centre = math.fsum(ordered) / number
    sums, squares = [0.0], [0.0]
    for value in ordered:
        sums.append(sums[-1] + value - centre)
        squares.append(squares[-1] + (value - centre) ** 2)

    def cost(first: int, end: int) -> float:
        size = end - first
        mean = (sums[end] - sums[first]) / size
        spread = max((squares[end] - squares[first]) / size - mean * mean, floor)
        return size / 2 * math.log2(_TWO_PI_E * spread) + math.log2(size)

    places = [
        place
        for place in range(max(_SIDE, math.ceil(number / 2)), number - _SIDE + 1)
        if ordered[place] > ordered[place - 1]
    ]
    if not places:
        return None
    one = cost(0, number)
    bits, place = max(
        (one - cost(0, place) - cost(place, number) - _choose(number, place), place)
        for place in places
    )
    return (place, bits) if bits >= _BITS and _is_valley(ordered, place) else None


def _choose(number: int, part: int) -> float:
    """Return log2 of the number of ways to choose a part."""
    ways = math.lgamma(number + 1) - math.lgamma(part + 1) - math.lgamma(number - part + 1)
    return ways / math.log(2)


def _is_valley(ordered: Sequence[float], place: int) -> bool:
    """Check whether few numbers lie around a cut, beside as wide a window amid each group."""
    low, high = ordered[place // 2], ordered[(place + len(ordered)) // 2]
    half = (high - low) / 8

    def around(middle: float) -> int:
        return bisect_right(ordered, middle + half) - bisect_left(ordered, middle - half)

    between = around((ordered[place - 1] + ordered[place]) / 2)
    return between <= _VALLEY * min(around(low), around(high))
