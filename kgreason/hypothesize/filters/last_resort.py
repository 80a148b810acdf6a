"""Last resort: what says least is put to the test where nothing else is."""

from collections.abc import Sequence
from typing import ClassVar

from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters.filter import Dropped, Filter, Round, Sifted


class LastResort(Filter):
    """Drop a candidate whose family has the header `last-resort` where another one is left."""

    name: ClassVar[str] = "last-resort"
    reason: ClassVar[str] = "It says less than any other, and others are put to the test."

    def __call__(self, _view: View, candidates: Sequence[Candidate], _round: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped."""
        last = [c for c in candidates if "last-resort" in c.family.header]
        others = [c for c in candidates if "last-resort" not in c.family.header]
        if not others:
            return Sifted(last, [])
        return Sifted(others, [Dropped(c, self) for c in last])
