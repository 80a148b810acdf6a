"""Nodes in the region that pass, and nodes outside that fail."""

from collections.abc import Sequence

from kgreason.probes.finding import Finding, Setting
from kgreason.store import Row

_SHOWN = 3


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Give few, some or most: passing nodes as a share of the region as the discovery half had it.

    `few` is up to 1.25 times the expected share and five points, `most` over thirty points beyond
    it; both halves are about as large, so the discovery half's size stands for this one's.
    """
    passing = sorted((r["focus"] for r in rows if r["fails"].value == "false"), key=str)
    failing = sorted((r["focus"] for r in rows if r["fails"].value == "true"), key=str)
    expected = 0.5
    if setting.discovery and setting.discovery.inside:
        expected = 1 - setting.discovery.inside_failing / setting.discovery.inside
    inside = setting.discovery.inside if setting.discovery else 0
    share = len(passing) / inside if inside else 1.0
    outcome = "few" if share <= 1.25 * expected + 0.05 else "some"
    if share > min(1.0, expected + 0.3):
        outcome = "most"
    note = (
        f"{len(passing)} nodes inside the region pass, {len(failing)} failing nodes lie outside it."
    )
    cite = [(node, "passes although inside the region") for node in passing[:_SHOWN]]
    cite += [(node, "fails although outside the region") for node in failing[:_SHOWN]]
    return Finding(
        outcome, note, {"passingInside": len(passing), "outsideFailing": len(failing)}, cite
    )
