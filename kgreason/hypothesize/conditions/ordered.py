"""The levels of an ordered path: how many nodes lie at each, and between those where some fail.

Neither a bound nor a window ends best at a level where nobody fails, for what it holds of those
that pass makes it save less. So of these levels only their nodes are counted, all between two
levels in one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from operator import itemgetter, or_
from typing import Final

from kgreason.graph.marks import places
from kgreason.hypothesize.conditions.scale import Scale

Counts = Sequence[tuple[int, int, int, int]]
"""The place of a level, how many of its nodes fail, how many there are, and how many passed by.

These are the nodes at the levels since the one before, at none of which a node fails.
"""
_BLOCK: Final = 32  # levels of which the union is kept
_SPARSE: Final = 8  # among fewer than one node in so many it is quicker to look at each


@dataclass(frozen=True)
class Counted:
    """The levels at which nodes fail, in order, and how many nodes lie at the levels after them."""

    levels: Counts
    after: int = 0

    def downwards(self) -> Iterator[tuple[int, int, int]]:
        """Return the place of each level from the last on, with the nodes that it adds.

        Those that fail, and all, with those of the levels in between.
        """
        between = self.after
        for place, bad, inside, before in reversed(self.levels):
            yield place, bad, inside + between
            between = before

    def upwards(self) -> Iterator[tuple[int, int, int]]:
        """Return the place of each level from the first on, with the nodes that it adds."""
        for place, bad, inside, before in self.levels:
            yield place, bad, inside + before


class Ordered:
    """Levels in order, each with its nodes."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.heights = heights

    @cached_property
    def apart(self) -> bool:
        """Whether no node has several levels."""
        return self._starts[-1] == self._all.bit_count()

    def union(self, first: int, last: int) -> int:
        """Return the nodes of the levels from one to another, both within."""
        mask, place, end = 0, first, last + 1
        while place < end:
            whole = place % _BLOCK == 0 and place + _BLOCK <= end
            mask |= self._blocks[place // _BLOCK] if whole else self.heights[place]
            place += _BLOCK if whole else 1
        return mask

    @cached_property
    def _blocks(self) -> list[int]:
        """The nodes of so many levels together, from the first on."""
        starts = range(0, len(self.heights), _BLOCK)
        return [reduce(or_, self.heights[start : start + _BLOCK]) for start in starts]

    def counts(self, scale: Scale) -> Counted:
        """Count the nodes at the levels; one that has several counts at each of them."""
        levels = self._levels
        failing = Counter(level for node in places(scale.bad & self._all) for level in levels[node])
        if _SPARSE * scale.nodes < len(levels):
            between = self._one_by_one(scale)
        else:
            between = self._together(scale)
        out, last = list[tuple[int, int, int, int]](), 0
        for place in sorted(failing):
            out.append((place, failing[place], between(place, place + 1), between(last, place)))
            last = place + 1
        return Counted(out, between(last, len(self.heights)))

    def _one_by_one(self, scale: Scale) -> Callable[[int, int], int]:
        """Return what counts the nodes from one level to before another."""
        levels = self._levels
        found = sorted(level for node in places(scale.among & self._all) for level in levels[node])
        return lambda first, end: bisect_left(found, end) - bisect_left(found, first)

    def _together(self, scale: Scale) -> Callable[[int, int], int]:
        """Do the same for many nodes: put a letter for each in the order of levels."""
        text = "".join(self._by_level(scale.letters(len(self._levels))))
        starts = self._starts
        return lambda first, end: text.count("1", starts[first], starts[end])

    @cached_property
    def _all(self) -> int:
        """The nodes that have a level."""
        return reduce(or_, self.heights, 0)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(mask.bit_count() for mask in self.heights)]

    @cached_property
    def _by_level(self) -> Callable[[str], tuple[str, ...]]:
        """What puts the letters of all nodes in the order of their levels."""
        return itemgetter(*(node for mask in self.heights for node in places(mask)))

    @cached_property
    def _levels(self) -> list[tuple[int, ...]]:
        """The levels of each node."""
        out: list[tuple[int, ...]] = [()] * self._all.bit_length()
        for level, mask in enumerate(self.heights):
            alone = (level,)
            for node in places(mask):
                out[node] = out[node] + alone if out[node] else alone
        return out
