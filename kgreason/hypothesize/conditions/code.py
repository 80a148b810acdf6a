"""How many bits it takes to say a thing, and how many it saves.

A condition costs bits by what could have been said in its place, counted over the population and
never over who fails; the sum of 2^-bits over all that can be said is at most 1. What it saves is
told by the hypergeometric probability of its table. See `docs/conditions.md`.
"""

import math
from collections.abc import Iterable
from typing import Final

from kgreason.base.figures import figure

SOME: Final = figure("someBits")
TOLD: Final = figure("toldBits")
"""Bits from which on a condition is told; one in a thousand searches tells such a one by chance."""
LIKELIEST: Final = 3 / 4
"""The most of the probability that one number of failing nodes can have, as `number` shares it."""
LENGTH_BITS: Final = (3.0, 1.0, 2.0, 3.0)
"""Bits for the number of steps of a path: none, one, two, three."""
_FACTORIALS: list[float] = [0.0]


def log_factorial(n: int) -> float:
    """Return log2 of n!."""
    while len(_FACTORIALS) <= n:
        _FACTORIALS.append(_FACTORIALS[-1] + math.log2(len(_FACTORIALS)))
    return _FACTORIALS[n]


def log_choose(n: int, k: int) -> float:
    """Return log2 of the number of ways to choose k of n."""
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def saved(bad: int, inside: int, failing: int, nodes: int) -> float:
    """Return the bits that a region saves in telling who fails, before what it costs to say.

    It holds `inside` of the `nodes`, `bad` of the `failing`: the negative log2 of
    H(bad; nodes, failing, inside), less the bits that the number `bad` costs.
    """
    return surprise(bad, inside, failing, nodes) - number(bad, inside, failing, nodes)


def surprise(bad: int, inside: int, failing: int, nodes: int) -> float:
    """Return the negative log2 of the hypergeometric probability H(bad; nodes, failing, inside)."""
    f = _FACTORIALS
    if len(f) <= nodes:
        log_factorial(nodes)
    good = inside - bad
    rest, left = nodes - inside, failing - bad
    return (
        (f[nodes] - f[failing] - f[nodes - failing])
        - (f[inside] - f[bad] - f[good])
        - (f[rest] - f[left] - f[rest - left])
    )


def number(bad: int, inside: int, failing: int, nodes: int) -> float:
    """Return the bits for how many failing nodes a region holds.

    It can hold min(inside, failing). Half of the probability is shared evenly by all numbers above
    the usual one, inside · failing / nodes; of the other half 1 / ((d + 1)(d + 2)) is of the number
    that is d below the most, for where a cause is told whole nearly all that it holds fail, or it
    holds nearly all that fail.
    """
    most = min(inside, failing)
    usual, short = inside * failing // max(1, nodes), most - bad
    even = 1 / (most - usual) if bad > usual else 0.0
    return 1 - math.log2(even + 1 / ((short + 1) * (short + 2)))


def choice(ways: float) -> float:
    """Return the bits for one of a number of ways."""
    return math.log2(ways) if ways > 1 else 0.0


def unordered(parts: int) -> float:
    """Return the bits that are won back because the order of parts says nothing."""
    return log_factorial(parts)


def together(bits: "list[float]") -> float:
    """Return the bits of a conjunction of conditions that cost these bits each.

    That it has k parts costs k bits: the shares 2^-k of all lengths add up to 1.
    """
    return sum(bits) + len(bits) - unordered(len(bits))


def beta_binomials(
    counts: Iterable[tuple[int, int, int, float]], mean: float, weight: float
) -> float:
    """Return log2 of the beta-binomial probability of some counts.

    Each is a number of failing nodes, of nodes, how often there are so many, and log2 of the ways
    to choose them.
    """
    a, b = mean * weight, (1 - mean) * weight
    gamma, scale, both = math.lgamma, 1 / math.log(2), a + b
    base = gamma(a) + gamma(b) - gamma(both)
    total = 0.0
    for bad, nodes, times, ways in counts:
        inner = gamma(bad + a) + gamma(nodes - bad + b) - (base + gamma(nodes + a + b))
        total += times * (ways + inner * scale)
    return total
