"""Read how many bits a region saves in telling which nodes fail, and the e-value that follows."""

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Final

from kgreason.base.statistics import E_CAP, Table
from kgreason.base.store import Row
from kgreason.hypothesize.conditions.code import SOME, TOLD, saved
from kgreason.test.finding import Finding, Setting, decimal, integers

_MOST: Final = math.log2(E_CAP)


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return told (from 10 bits on), clear or some (from log2 20 on), or untold.

    Clear is a region all of whose nodes fail, and of the others one at most.

    Bits are those of the hypergeometric code (`kgreason.hypothesize.conditions.code.saved`) less
    the length of the region's own code; two to the power of them is an e-value against failures
    that are dealt at random, whatever was searched (P. D. Grünwald, "The Minimum Description Length
    Principle", 2007, section 3.3). A region that fails no more than the others saves nothing.
    """
    inside, bad, population, failing = integers(
        rows[0], "inside", "insideFailing", "population", "failing"
    )
    cost = float(rows[0]["codeLength"].value)
    more = bad * population > failing * inside
    gross = saved(bad, inside, failing, population) if more else 0.0
    bits = gross - cost
    e = Decimal(2.0**bits if bits < _MOST else E_CAP) if more else Decimal(0)
    some = "clear" if Table(bad, inside, failing - bad, population - inside).clear else "some"
    outcome = "told" if bits >= TOLD else some if bits >= SOME else "untold"
    note = (
        f"{bad} of {inside} nodes inside fail ({setting.percent(bad, inside)}), {failing - bad} of "
        f"{population - inside} outside ({setting.percent(failing - bad, population - inside)}): "
        f"saying so saves {gross:.1f} bits in telling who fails, and costs {cost:.1f}."
    )
    figures: dict[str, int | Decimal] = {
        "insideFailing": bad,
        "inside": inside,
        "outsideFailing": failing - bad,
        "outside": population - inside,
        "codeLength": decimal(cost),
        "bitsSaved": decimal(bits),
        "eValue": e.quantize(Decimal("1e-6"), rounding=ROUND_FLOOR),
    }
    return Finding(outcome, note, figures)
