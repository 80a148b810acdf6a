"""The conditions of a search with their figures, and the regions that are made of them.

Whether a condition restates the rule is asked only of those that would be told, for there are
thousands, of which a handful are.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import Final

from kgreason.hypothesize.conditions.atlas import LEAST
from kgreason.hypothesize.conditions.code import together
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.scale import Scale

_PLACES: Final = 6  # bits that agree so far are taken as the same


@dataclass(frozen=True)
class Region:
    """A conjunction: its parts, the nodes it holds, the bits it saves where it was looked at."""

    parts: tuple[Condition, ...]
    mask: int = field(repr=False)
    bits: float

    @property
    def cost(self) -> float:
        """What it costs to say."""
        return together([part.bits for part in self.parts])

    @property
    def order(self) -> tuple[float, int, str]:
        """Best first; what is shorter and earlier in the alphabet among equals."""
        return (*self.rank, self.said)

    @property
    def rank(self) -> tuple[float, int]:
        """The order without the alphabet, which is seldom needed and takes long."""
        return (-round(self.bits, _PLACES), len(self.parts))

    @property
    def said(self) -> str:
        """What is compared in the alphabet."""
        return " ".join(
            str(part.terms) + "".join(path.sorts for path in part.paths) for part in self.parts
        )


def in_order(regions: Iterable[Region]) -> list[Region]:
    """Return regions by their order; only those of equal rank are compared in the alphabet."""
    ranked = sorted(((region.rank, region) for region in regions), key=itemgetter(0))
    out: list[Region] = []
    for _, same in groupby(ranked, key=itemgetter(0)):
        alike = [region for _, region in same]
        out += sorted(alike, key=lambda r: r.said) if len(alike) > 1 else alike
    return out


Scored = tuple[float, Condition, int]
"""The bits that a condition saves among some nodes, the condition, and the nodes it holds."""


def sifted(conditions: Iterable[Condition], scale: Scale) -> tuple[list[Condition], list[Scored]]:
    """Return the conditions that hold enough failing nodes, and what these save among some nodes.

    The latter are those that fail more often than these nodes do.
    """
    bad, among, bits_of = scale.bad, scale.among, scale.bits
    useful, found = [], []
    for condition in conditions:
        mask = condition.mask
        failing = (mask & bad).bit_count()
        if failing >= LEAST:
            useful.append(condition)
            mask &= among
            bits = bits_of(failing, mask.bit_count())
            if bits is not None:
                found.append((bits - condition.bits, condition, mask))
    return useful, found


def scored(conditions: Iterable[Condition], scale: Scale) -> list[Scored]:
    """Return what single conditions save among some nodes, of those that fail more than they do."""
    return sifted(conditions, scale)[1]


class Pool:
    """Single conditions, of which those that restate the rule are sorted out when they are told.

    `restated` are those that would save bits, with the reason why they are barred. `best` is the
    most that any other saves among the nodes of the scale, and `left` counts the failing nodes that
    this one leaves over, or by how many passing ones it is diluted.
    """

    def __init__(self, scale: Scale, barred: Callable[[Condition], str]) -> None:
        self._scale, self._barred = scale, barred
        self._conditions: list[Condition] = []
        self._useful: list[Condition] = []
        self._scored: list[Scored] = []
        self._why: dict[int, tuple[Condition, str]] = {}
        self.restated: list[tuple[Region, str]] = []
        self.best = 0.0
        self.left = 1 << 60

    def add(
        self,
        conditions: Iterable[Condition],
        useful: Iterable[Condition],
        found: Iterable[Scored],
    ) -> None:
        """Put conditions in; `useful` hold enough failing nodes, `found` says what these save."""
        self._conditions += conditions
        self._useful += useful
        for one in found:
            self._scored.append(one)
            bits, condition, mask = one
            if bits <= 0:
                continue
            why = self.why(condition)
            if why:
                self.restated.append((Region((condition,), mask, bits), why))
            elif bits > self.best:
                self.best, self.left = bits, self._open(mask)

    def _open(self, mask: int) -> int:
        """Return how many failing nodes a set leaves, or how many more of it pass than fail."""
        inside, bad = (mask & self._scale.among).bit_count(), (mask & self._scale.bad).bit_count()
        return max(self._scale.failing - bad, inside - 2 * bad)

    def why(self, condition: Condition) -> str:
        """Return why a condition may not be told; "" where it may."""
        known = self._why.get(id(condition))
        if known is None:
            known = self._why[id(condition)] = (condition, self._barred(condition))
        return known[1]

    def among(self, scale: Scale) -> list[Scored]:
        """Return what each condition saves among some nodes."""
        return self._scored if scale is self._scale else scored(self._useful, scale)

    def costs(self) -> dict[int, float]:
        """Return the least that a condition costs, by the hash of the nodes that it holds there.

        These are conditions whose nodes fail more often than all do.
        """
        out: dict[int, float] = {}
        for _, condition, mask in self._scored:
            key = hash(mask)
            out[key] = min(condition.bits, out.get(key, inf))
        return out

    def within(self, bits: float) -> Iterator[tuple[int, Condition]]:
        """Return the conditions that cost at most so many bits, each with its place."""
        costs, ranked = self._by_cost
        return iter(ranked[: bisect_right(costs, bits)])

    @cached_property
    def _by_cost(self) -> tuple[list[float], list[tuple[int, Condition]]]:
        ranked = sorted(enumerate(self._useful), key=lambda each: each[1].bits)
        return [condition.bits for _, condition in ranked], ranked

    @cached_property
    def cheapest(self) -> float:
        """The bits of the cheapest condition of all that may be told."""
        left = self._conditions
        while left:
            least = min(condition.bits for condition in left)
            if any(c.bits == least and not self.why(c) for c in left):
                return least
            left = [c for c in left if c.bits > least]
        return 0.0

    def first(self, found: Sequence[Scored], most: int) -> list[Region]:
        """Return the best single conditions that may be told, at most so many."""
        out: list[Region] = []
        ranked = sorted(((-round(f[0], _PLACES), f) for f in found), key=itemgetter(0))
        for _, same in groupby(ranked, key=itemgetter(0)):
            alike = [Region((c,), mask, bits) for _, (bits, c, mask) in same]
            for region in in_order(alike):
                if not self.why(region.parts[0]):
                    out.append(region)
                    if len(out) == most:
                        return out
        return out

    def top(self, found: list[Scored]) -> Scored | None:
        """Return the first of the best single conditions that may be told."""
        left = found
        while left:
            best = max(left, key=itemgetter(0))
            if not self.why(best[1]):
                return best
            left = [each for each in left if each[1] is not best[1]]
        return None
