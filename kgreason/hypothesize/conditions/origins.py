"""What tells nothing of where failures come from."""

from typing import Final

from kgreason.base.figures import figure
from kgreason.hypothesize.conditions.atlas import Atlas
from kgreason.hypothesize.conditions.bars import Bars
from kgreason.hypothesize.conditions.condition import Condition
from kgreason.hypothesize.conditions.kinds_of_test import LETTERS
from kgreason.hypothesize.conditions.paths import Path

_SIGN: Final = figure("signOverlap")


class Origins:
    """Says of a condition whether it tells nothing of where failures come from, and why.

    That is what only says the rule again, what is wrong with the value itself, and what is said of
    hardly any nodes but those that fail: the slip that is the failure, seen from its other end.
    """

    def __init__(self, bars: Bars, atlas: Atlas, failing: int, among: int) -> None:
        self._bars, self._atlas = bars, atlas
        self._failing, self._among = failing & among, among
        self._signs: dict[Path, bool] = {}

    def __call__(self, condition: Condition) -> str:
        """Return the reason for which a condition is none, or ""."""
        if why := self._bars(condition):
            return why
        if self._bars.through_value(condition):
            return "it says what the value is like, and not where the node comes from"
        if not condition.path.steps and condition.test in LETTERS:
            return "it says how the node is called, and not where it comes from"
        return "it is a sign of the failure itself" if self.sign(condition.path) else ""

    def sign(self, path: Path) -> bool:
        """Check whether nodes that fail, or that pass, are told by whether a path begins."""
        first = Path(path.steps[:1])
        if not first.steps:
            return False
        if first not in self._signs:
            some = self._atlas.table(first).some & self._among
            self._signs[first] = any(
                (told & self._failing).bit_count() >= _SIGN * (told | self._failing).bit_count()
                for told in (some, self._among & ~some)
            )
        return self._signs[first]
