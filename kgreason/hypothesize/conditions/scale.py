"""What regions save among some nodes, and the most that any part of a region could save."""

from functools import cached_property
from math import log2
from typing import Final

from kgreason.hypothesize.conditions.atlas import LEAST
from kgreason.hypothesize.conditions.code import LIKELIEST, saved, surprise

_SLACK: Final = 1e-6  # bits; bounds are rounded otherwise than what they bound


class Scale:
    """The bits that a region saves by its counts among some nodes, before what it costs to say."""

    def __init__(self, among: int, failing: int) -> None:
        self.among = among
        self.bad = among & failing
        self.nodes, self.failing = among.bit_count(), self.bad.bit_count()
        self._known: dict[tuple[int, int], float] = {}
        self._letters: dict[int, str] = {}

    def bits(self, bad: int, inside: int) -> float | None:
        """Return what a region saves that holds `inside` nodes of which `bad` fail.

        None where too few fail to tell of, or no more than elsewhere.
        """
        if bad < LEAST or bad * self.nodes <= self.failing * inside:
            return None
        return self.saved(bad, inside)

    def saved(self, bad: int, inside: int) -> float:
        """Return what a region saves whose counts may be told, as `code.saved` works it out."""
        value = self._known.get((bad, inside))
        if value is None:
            value = self._known[bad, inside] = saved(bad, inside, self.failing, self.nodes)
        return value

    def most(self, bad: int) -> float:
        """Return the most that a region can save in which at most `bad` nodes fail.

        Of regions with as many failing nodes one without a passing node is the least probable, as
        long as more fail than elsewhere, and of such regions the largest. The number of failing
        nodes costs at least the bits of the likeliest one.
        """
        if bad < LEAST:
            return 0.0
        return surprise(bad, bad, self.failing, self.nodes) + log2(LIKELIEST) + _SLACK

    def letters(self, width: int) -> str:
        """Return a letter for each of so many nodes, "1" for one that is among these."""
        if width not in self._letters:
            self._letters[width] = f"{self.among & ((1 << width) - 1):0{width}b}"[::-1]
        return self._letters[width]

    @cached_property
    def rate(self) -> float:
        """The share of nodes that fail."""
        return self.failing / max(1, self.nodes)
