"""Read whether the association holds within the strata of a rival."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.probes.finding import Finding, Setting, decimal
from kgreason.probes.statistics import Table, mantel_haenszel
from kgreason.store import Row

PERSISTS: Final = 0.05
RATIO: Final = 1.5
LEAST: Final = 3  # nodes on each side of a stratum, less can tell nothing


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give persists, vanishes, or undetermined where the rival leaves nothing to compare.

    The strata are the two tables: the nodes within the rival's region, and those outside it.
    """
    _ = setting
    cells = {
        (row["other"].value == "true", row["own"].value == "true"): (
            int(row["failing"].value),
            int(row["population"].value),
        )
        for row in rows
    }
    tables = {
        other: Table(*cells.get((other, True), (0, 0)), *cells.get((other, False), (0, 0)))
        for other in (True, False)
    }
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
    usable = [t for t in strata if min(t.inside, t.outside) >= LEAST]
    told = ", ".join(
        f"{t.inside_failing}/{t.inside} against {t.outside_failing}/{t.outside}" for t in strata
    )
    if not usable:
        note = f"The rival leaves too little to compare ({told or 'none'})."
        return Finding("undetermined", note, strata=recorded)
    ratio, p = mantel_haenszel(usable)
    if p <= PERSISTS and ratio >= RATIO:
        outcome = "persists"
    elif ratio < RATIO and _could_tell(usable):
        outcome = "vanishes"
    else:
        outcome = "undetermined"
    note = (
        f"Within the rival's strata (inside against outside: {told}) the odds ratio is "
        f"{_shown(ratio)}, p = {p:.2g}."
    )
    figures: dict[str, int | Decimal] = {"pValue": decimal(p, 9), "levels": len(usable)}
    return Finding(outcome, note, figures, strata=recorded)


def _could_tell(strata: Sequence[Table]) -> bool:
    """Whether a cause would have shown: some failing nodes, and enough nodes on both sides."""
    return any(t.failing >= LEAST and min(t.inside, t.outside) >= 2 * LEAST for t in strata)


def _shown(ratio: float) -> str:
    return "without bound" if ratio > 1e6 else f"{ratio:.2g}"  # noqa: PLR2004 - an infinite ratio
