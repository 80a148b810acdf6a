"""Isotonic regression of right and wrong on confidence."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

LEAST: Final = 10
"""Cases that a stretch has at least, where there are as many."""


@dataclass(frozen=True)
class Block:
    """Cases of neighbouring confidence: lowest, highest, sum and number, and how many are right."""

    first: float
    last: float
    total: float
    number: int
    right: int

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.number

    @property
    def value(self) -> float:
        """The share shrunk towards a half, by Laplace's rule of succession: never 0 or 1."""
        return (self.right + 1) / (self.number + 2)

    def __add__(self, other: "Block") -> "Block":
        return Block(
            self.first,
            other.last,
            self.total + other.total,
            self.number + other.number,
            self.right + other.right,
        )


def pooled(blocks: Sequence[Block], value: Callable[[Block], float]) -> list[Block]:
    """Join neighbours until the value rises from each block to the next.

    With the share as value this is pool-adjacent-violators, which gives the non-decreasing step
    function with the least squared error: Ayer and others, "An empirical distribution function for
    sampling with incomplete information", Annals of Mathematical Statistics 26 (1955); as
    calibration: Zadrozny and Elkan, KDD 2002.
    """
    out: list[Block] = []
    for block in blocks:
        out.append(block)
        while len(out) > 1 and value(out[-2]) >= value(out[-1]):
            out[-2:] = [out[-2] + out[-1]]
    return out


def tied(cases: Sequence[tuple[float, bool]]) -> list[Block]:
    """Return a block for each confidence that there is, from low to high."""
    ordered = groupby(sorted(cases), key=lambda case: case[0])
    ties = [(x, [right for _, right in same]) for x, same in ordered]
    return [Block(x, x, x * len(same), len(same), sum(same)) for x, same in ties]


def fit(cases: Sequence[tuple[float, bool]], least: int = LEAST) -> list[Block]:
    """Fit a rising step function to pairs of confidence and being right.

    Isotonic regression; then the smallest block below `least` cases is joined with the neighbour
    whose share is nearest, until none is left; then neighbours whose shrunk values do not rise.
    """
    blocks = pooled(tied(cases), lambda block: block.share)
    while len(blocks) > 1 and min(block.number for block in blocks) < least:
        place = min(range(len(blocks)), key=lambda n: blocks[n].number)
        compared = [n for n in (place - 1, place + 1) if 0 <= n < len(blocks)]
        near = min(compared, key=lambda n: abs(blocks[n].share - blocks[place].share))
        first = min(place, near)
        blocks[first : first + 2] = [blocks[first] + blocks[first + 1]]
    return pooled(blocks, lambda block: block.value)


def bounds(blocks: Sequence[Block]) -> list[float]:
    """Return where each block but the first begins: half way from the one before, to six places.

    Kept above the last confidence of the one before, and not above the first of its own.
    """
    out = []
    for one, next_ in pairwise(blocks):
        middle = round((one.last + next_.first) / 2, 6)
        out.append(middle if one.last < middle <= next_.first else next_.first)
    return out


def value_at(blocks: Sequence[Block], confidence: float) -> float:
    """Return what a fitted function says of a confidence, to six places."""
    return round(blocks[bisect_right(bounds(blocks), confidence)].value, 6)
