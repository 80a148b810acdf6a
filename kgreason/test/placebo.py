"""Read how much the same check clears on bindings that should not do."""

from collections.abc import Sequence

from kgreason.base.store import Row
from kgreason.record.test_kinds import CLEARS
from kgreason.test.finding import Finding, Setting, decimal, integers


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return specific (placebos clear at most 5 %) or unspecific."""
    _ = setting
    claimed, holds = integers(rows[0], "claimed", "holds")
    rate = holds / claimed if claimed else 0.0
    note = f"Placebo bindings clear {holds} of {claimed} nodes."
    if not claimed:
        note = "There is nothing that placebo bindings could be tried on."
    outcome = "specific" if rate <= CLEARS else "unspecific"
    return Finding(outcome, note, {"rate": decimal(rate), "claimed": claimed, "holds": holds})
