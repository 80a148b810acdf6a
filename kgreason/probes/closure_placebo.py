"""Read how many claimed failures are gone under closure without the axiom in question."""

from collections.abc import Sequence
from decimal import Decimal

from kgreason.probes.closure import cleared
from kgreason.probes.finding import Finding, Setting, decimal
from kgreason.probes.placebo import CLEARS
from kgreason.store import Row


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give specific (at most 5 % are gone) or unspecific."""
    claimed = [row["focus"] for row in rows]
    graph, constraint = setting.graph, setting.constraint
    named = frozenset({setting.level} if setting.level is not None else ())
    gone, engine = (
        cleared(graph, constraint, claimed, named)
        if claimed and graph and constraint
        else (set(), "none")
    )
    rate = len(gone) / len(claimed) if claimed else 0.0
    note = f"Closed ({engine}) without the axiom, {len(gone)} of {len(claimed)} failures are gone."
    figures: dict[str, int | Decimal] = {
        "rate": decimal(rate),
        "claimed": len(claimed),
        "holds": len(gone),
    }
    return Finding("specific" if rate <= CLEARS else "unspecific", note, figures)
