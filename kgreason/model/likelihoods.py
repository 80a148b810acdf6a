"""What a model may say in numbers: two probabilities, clamped, whose ratio gives a side."""

import math
from decimal import Decimal
from typing import Any, Final

from kgreason.base.figures import figure
from kgreason.test.finding import decimal

_LEAST, _MOST = figure("judgedLeast"), figure("judgedMost")
_RATIO: Final = figure("judgedRatio")


def clamped(given: Any) -> Decimal:
    """Return a number within the bounds; raises TypeError or ValueError for what is none."""
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isnan(given):
        raise TypeError("no number")
    return decimal(min(_MOST, max(_LEAST, float(given))))


def side(if_true: Decimal, if_false: Decimal) -> int:
    """Return 1 where a pair speaks for a hypothesis, -1 where it speaks against it, else 0."""
    ratio = float(if_true / if_false)
    return 1 if ratio >= _RATIO else -1 if ratio <= 1 / _RATIO else 0


def one_line(text: Any, longest: int) -> str:
    """Return a text as one line that can be printed, of bounded length; "" for what is none."""
    if not isinstance(text, str):
        return ""
    printable = "".join(c if c.isprintable() else " " for c in text[: 2 * longest])
    return " ".join(printable.split())[:longest]
