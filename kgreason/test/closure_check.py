"""Read whether the claimed failures are gone under closure."""

from collections.abc import Sequence

from kgreason.base.store import Row
from kgreason.hypothesize.conditions.bars import PARTLY
from kgreason.test.closure import cleared
from kgreason.test.direct_check import HOLDS
from kgreason.test.finding import Finding, Setting, decimal, percent


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return holds (from 95 % of the claimed nodes), partly or fails; undetermined without any."""
    claimed = [row["focus"] for row in rows]
    graph, constraint = setting.graph, setting.constraint
    gone, engine = (
        cleared(graph, constraint, claimed) if claimed and graph and constraint else (set(), "none")
    )
    rate = len(gone) / len(claimed) if claimed else 0.0
    outcome = judged(len(claimed), len(gone))
    return Finding(
        outcome,
        told(len(claimed), len(gone), engine),
        {"rate": decimal(rate), "claimed": len(claimed), "holds": len(gone)},
    )


def told(claimed: int, holds: int, engine: str) -> str:
    """Describe how many claimed failures are gone under the closure of an engine."""
    return (
        f"Under OWL RL closure ({engine}) {holds} of {claimed} claimed failures are gone "
        f"({percent(holds, claimed)})."
    )


def judged(claimed: int, holds: int) -> str:
    """Return the outcome for so many claimed nodes, of which so many no longer fail."""
    if not claimed:
        return "undetermined"
    rate = holds / claimed
    return "holds" if rate >= HOLDS else "partly" if rate >= PARTLY else "fails"
