"""Association on the held-out half: the e-value of a 2×2 table."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Table, e_value_two_proportions
from kgreason.base.store import Row
from kgreason.test.effect import measured
from kgreason.test.finding import Finding, Setting, decimal, integers

STRONG: Final = figure("associationStrong")
MODERATE: Final = figure("associationModerate")
WEAK: Final = figure("associationWeak")


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return strong (e ≥ 100), moderate (e ≥ 10), weak (e ≥ 1) or absent.

    Weak, too, where the half has no node inside, and where all of its nodes fail or none does:
    then nothing can be more frequent on one side than on the other.
    """
    inside, inside_failing, population, failing = integers(
        rows[0], "inside", "insideFailing", "population", "failing"
    )
    table = Table(inside_failing, inside, failing - inside_failing, population - inside)
    e = e_value_two_proportions(setting.discovery, table) if setting.discovery else 1.0
    bounds = ((STRONG, "strong"), (MODERATE, "moderate"), (WEAK, "weak"))
    outcome = next((name for bound, name in bounds if e >= bound), "absent")
    if not inside or failing in (0, population):
        outcome = "weak"
    elif population == inside:
        outcome = "absent"
    note = (
        f"On the held-out half {inside_failing} of {inside} nodes inside fail "
        f"({setting.percent(inside_failing, inside)}), {table.outside_failing} of {table.outside} "
        f"outside ({setting.percent(table.outside_failing, table.outside)})."
    )
    figures: dict[str, int | Decimal] = {
        "insideFailing": inside_failing,
        "inside": inside,
        "outsideFailing": table.outside_failing,
        "outside": table.outside,
        "eValue": decimal(e),
    }
    if setting.numbers is not None:
        figures |= measured(*setting.numbers)
    return Finding(outcome, note, figures)
