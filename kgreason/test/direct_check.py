"""Read for how many of the claimed failures the registered prediction holds."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure
from kgreason.base.store import Row
from kgreason.base.weights import weighted_rate
from kgreason.hypothesize.conditions.bars import PARTLY
from kgreason.test.finding import Finding, Setting, decimal, integers, percent

HOLDS: Final = 0.95
LIFT: Final = figure("directLift")


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return holds (from 95 % of the claimed, and a region with a lift of at least a half).

    The lift is the share of the way from the rate outside to 1 that the rate inside has gone; where
    nothing lies outside the rate there counts as 0, and where all fail there the lift is 1 if all
    do inside. Where most nodes of the region pass, what it is
    made of does them no harm. Where no node is claimed it is undetermined.
    """
    claimed, holds, inside, population, failing = integers(
        rows[0], "claimed", "holds", "inside", "population", "failing"
    )
    rate = holds / claimed if claimed else 0.0
    lift = region_lift(claimed, inside, failing, population, setting.weight)
    if not claimed:
        outcome = "undetermined"
    elif rate >= HOLDS and lift >= LIFT:
        outcome = "holds"
    else:
        outcome = "partly" if rate >= PARTLY and lift >= LIFT else "fails"
    note = (
        f"The prediction holds for {holds} of {claimed} claimed failures "
        f"({percent(holds, claimed)}); {setting.percent(claimed, inside)} of the {inside} nodes in "
        "the region fail."
    )
    figures: dict[str, int | Decimal] = {
        "rate": decimal(rate),
        "lift": decimal(lift),
        "claimed": claimed,
        "holds": holds,
        "inside": inside,
        "outsideFailing": failing - claimed,
        "outside": population - inside,
    }
    return Finding(outcome, note, figures)


def region_lift(
    inside_failing: int, inside: int, failing: int, population: int, weight: float = 1.0
) -> float:
    """Return (rate inside - rate outside) / (1 - rate outside), at least 0.

    Where all nodes outside fail it is 1 if all inside do, else 0. A passing node counts with
    `weight`.
    """
    if not inside:
        return 0.0
    rate_outside = weighted_rate(failing - inside_failing, population - inside, weight)
    if rate_outside >= 1:
        # Where all fail, outside for other reasons, no rate speaks for the region or against it.
        return float(inside_failing == inside)
    rate = weighted_rate(inside_failing, inside, weight)
    return max(0.0, (rate - rate_outside) / (1 - rate_outside))
