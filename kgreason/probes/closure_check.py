"""Read whether the claimed failures are gone under closure."""

from collections.abc import Sequence

from kgreason.probes.closure import cleared
from kgreason.probes.direct_check import HOLDS, PARTLY
from kgreason.probes.finding import Finding, Setting, decimal, percent
from kgreason.store import Row


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give holds (from 95 % of the claimed nodes), partly or fails; undetermined without any."""
    claimed = [row["focus"] for row in rows]
    graph, constraint = setting.graph, setting.constraint
    gone, engine = (
        cleared(graph, constraint, claimed) if claimed and graph and constraint else (set(), "none")
    )
    rate = len(gone) / len(claimed) if claimed else 0.0
    outcome = judged(len(claimed), len(gone))
    note = (
        f"Under OWL RL closure ({engine}) {len(gone)} of {len(claimed)} claimed failures are gone "
        f"({percent(len(gone), len(claimed))})."
    )
    return Finding(
        outcome, note, {"rate": decimal(rate), "claimed": len(claimed), "holds": len(gone)}
    )


def judged(claimed: int, holds: int) -> str:
    """Give the outcome for so many claimed nodes, of which so many no longer fail."""
    if not claimed:
        return "undetermined"
    rate = holds / claimed
    return "holds" if rate >= HOLDS else "partly" if rate >= PARTLY else "fails"
