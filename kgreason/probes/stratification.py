"""Read whether the association holds within the strata of a rival."""

from collections.abc import Sequence
from typing import Final

from kgreason.probes.finding import Finding, Setting, decimal
from kgreason.probes.statistics import Table, mantel_haenszel
from kgreason.store import Row

PERSISTS: Final = 0.05
RATIO: Final = 1.5
LEAST: Final = 3  # nodes on each side of a stratum, less can tell nothing


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give persists, vanishes, or undetermined where the rival leaves nothing to compare."""
    _ = setting
    cells = {
        (row["other"].value == "true", row["own"].value == "true"): (
            int(row["failing"].value),
            int(row["population"].value),
        )
        for row in rows
    }
    strata = []
    for other in (True, False):
        inside, outside = cells.get((other, True), (0, 0)), cells.get((other, False), (0, 0))
        if inside[1] and outside[1]:
            strata.append(Table(*inside, *outside))
    usable = [t for t in strata if min(t.inside, t.outside) >= LEAST]
    told = ", ".join(
        f"{t.inside_failing}/{t.inside} against {t.outside_failing}/{t.outside}" for t in strata
    )
    if not usable:
        return Finding(
            "undetermined", f"The rival leaves too little to compare ({told or 'none'})."
        )
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
    return Finding(outcome, note, {"pValue": decimal(p, 9), "levels": len(usable)})


def _could_tell(strata: Sequence[Table]) -> bool:
    """Whether a cause would have shown: some failing nodes, and enough nodes on both sides."""
    return any(t.failing >= LEAST and min(t.inside, t.outside) >= 2 * LEAST for t in strata)


def _shown(ratio: float) -> str:
    return "without bound" if ratio > 1e6 else f"{ratio:.2g}"  # noqa: PLR2004 - an infinite ratio
