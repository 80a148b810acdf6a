"""Read whether the association holds within the strata of a rival."""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.statistics import Count, Table, mantel_haenszel
from kgreason.base.store import Row
from kgreason.test.finding import Finding, Setting, decimal

PERSISTS: Final = figure("stratifiedP")
RATIO: Final = figure("stratifiedRatio")
LEAST: Final = integer("stratumNodes")
OUTDONE: Final = figure("outdone")

Cells = Mapping[tuple[bool, bool], Count]


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return persists, vanishes, or undetermined where the rival leaves nothing to compare.

    Where the rival's own association, with the region held fixed, persists too and is far the
    stronger (its log odds ratio at least 1.5 times the other), it is undetermined as well: the
    rest may be a cause of its own, or go along with one, and shows when the rival's nodes are taken
    out. A rival that only contains the region is never so. The strata are the two tables: the nodes
    within the rival's region, and those outside it.
    """
    _ = setting
    cells = {
        (row["other"].value == "true", row["own"].value == "true"): (
            int(row["failing"].value),
            int(row["population"].value),
        )
        for row in rows
    }
    tables = _tables(cells)
    recorded = [
        {
            "within": other,
            "insideFailing": table.inside_failing,
            "inside": table.inside,
            "outsideFailing": table.outside_failing,
            "outside": table.outside,
        }
        for other, table in tables.items()
    ]
    strata = [table for table in tables.values() if table.inside and table.outside]
    comparable = usable(strata)
    told = ", ".join(
        f"{t.inside_failing}/{t.inside} against {t.outside_failing}/{t.outside}" for t in strata
    )
    if not comparable:
        note = f"The rival leaves too little to compare ({told or 'none'})."
        return Finding("undetermined", note, strata=recorded)
    ratio, p = mantel_haenszel(comparable)
    outdone = ""
    if p <= PERSISTS and ratio >= RATIO:
        outcome = "persists"
        apart = cells.get((False, True), (0, 0))[1] >= LEAST  # else the rival only contains it
        turned = _tables({(own, other): count for (other, own), count in cells.items()})
        if apart and _outdone(comparable, usable(turned.values())):
            outcome, outdone = "undetermined", "; that of the rival within its own is far higher"
    elif ratio < RATIO and _could_tell(comparable):
        outcome = "vanishes"
    else:
        outcome = "undetermined"
    note = (
        f"Within the rival's strata (inside against outside: {told}) the odds ratio is "
        f"{_shown(ratio)}, p = {p:.2g}{outdone}."
    )
    figures: dict[str, int | Decimal] = {"pValue": decimal(p, 9), "levels": len(comparable)}
    return Finding(outcome, note, figures, strata=recorded)


def _tables(cells: Cells) -> dict[bool, Table]:
    """Return the table within the other region and the one outside it."""
    return {
        other: Table(*cells.get((other, True), (0, 0)), *cells.get((other, False), (0, 0)))
        for other in (True, False)
    }


def usable(tables: Iterable[Table]) -> list[Table]:
    """Return the tables with enough nodes inside and outside to compare."""
    return [t for t in tables if min(t.inside, t.outside) >= LEAST]


def _outdone(own: Sequence[Table], rival: Sequence[Table]) -> bool:
    """Whether the rival's association persists too, and is far the stronger of the two."""
    if not rival:
        return False
    ratio, p = mantel_haenszel(rival)
    return p <= PERSISTS and ratio >= RATIO and pull(rival) >= OUTDONE * pull(own)


def pull(tables: Sequence[Table]) -> float:
    """Return the common log odds ratio of strata (Mantel-Haenszel).

    Half a node is added to every cell, so that it is bounded.
    """
    with_region = against = 0.0
    for t in tables:
        a, b = t.inside_failing + 0.5, t.inside - t.inside_failing + 0.5
        c, d = t.outside_failing + 0.5, t.outside - t.outside_failing + 0.5
        with_region += a * d / (a + b + c + d)
        against += b * c / (a + b + c + d)
    return math.log(with_region / against)


def _could_tell(strata: Sequence[Table]) -> bool:
    """Whether a cause would have shown: some failing nodes, and enough nodes on both sides."""
    return any(t.failing >= LEAST and min(t.inside, t.outside) >= 2 * LEAST for t in strata)


def _shown(ratio: float) -> str:
    if ratio > 1e6:  # noqa: PLR2004 - an infinite ratio
        return "without bound"
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"  # noqa: PLR2004 - two figures
