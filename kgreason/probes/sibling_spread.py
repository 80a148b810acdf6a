"""Is this level beyond what the spread among its siblings predicts?"""

from collections.abc import Sequence
from typing import Final

from kgreason.probes.finding import Finding, Setting, decimal, percent
from kgreason.probes.statistics import beta_binomial_tail
from kgreason.store import Row

FEW: Final = 5
TAIL: Final = 0.05
SMALL: Final = 2


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give beyond, within, or undetermined where there are fewer than five levels.

    Levels with fewer than two nodes say nothing of a spread and are left out.
    """
    levels = {
        row["level"]: (int(row["failing"].value), int(row["population"].value))
        for row in rows
        if "level" in row and int(row["population"].value) >= SMALL
    }
    own = levels.pop(setting.level, None) if setting.level is not None else None
    if own is None or len(levels) + 1 < FEW:
        return Finding(
            "undetermined",
            f"There are {len(levels) + (own is not None)} levels to compare, too few for a spread.",
            {"levels": len(levels) + (own is not None)},
        )
    tail = beta_binomial_tail(list(levels.values()), own)
    failing, population = (sum(v[i] for v in levels.values()) for i in (0, 1))
    note = (
        f"{own[0]} of {own[1]} nodes of this level fail ({percent(*own)}), "
        f"{percent(failing, population)} over its {len(levels)} siblings; "
        f"as much or more has probability {tail:.2g} by their spread."
    )
    figures = {"levels": len(levels) + 1, "pValue": decimal(tail, 9)}
    return Finding("beyond" if tail <= TAIL else "within", note, figures)
