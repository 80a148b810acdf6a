"""Nodes in the region that pass, and nodes outside that fail."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Table
from kgreason.base.store import Row, Term
from kgreason.record.ranking import is_faint
from kgreason.test.finding import Finding, Setting, percent

_SHOWN = 3
_BEYOND: Final = figure("counterexamplesBeyond")
_ERRORS: Final = figure("counterexamplesErrors")
_FACTOR: Final = figure("counterexamplesFactor")
_POINTS: Final = figure("counterexamplesPoints")


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return few, some or most: passing nodes as a share of region as the discovery half had it.

    `few` is up to 1.25 times the expected share and five points, and at most half of the nodes that
    are inside, for a region that mostly passes has nothing in its favour there; `most` is over
    thirty points beyond the expected share; both halves are about as large, so the discovery half's
    size stands for this one's. Failing nodes that say nothing of what the region is made of are
    left out, unless that is complete; then it is `most` too where clearly more of the failures lack
    it than lay outside on the discovery half. Where nothing is inside it is `some`.
    """
    passing = sorted((r["focus"] for r in rows if _is(r, "fails", "false")), key=str)
    outside = [r for r in rows if _is(r, "fails", "true")]
    silent = [_is(r, "complete", "true") for r in outside if _is(r, "known", "false")]
    absent, unknown = sum(silent), len(silent) - sum(silent)
    known = (r for r in outside if _is(r, "known", "true") or _is(r, "complete", "true"))
    failing = sorted((r["focus"] for r in known), key=str)
    hit = sum(int(r["failing"].value) for r in rows if "failing" in r) - len(outside)
    found = setting.discovery
    expected = 1 - found.rate_inside if found and found.inside else 0.5
    inside = found.inside_weighted if found else 0
    share = setting.weight * len(passing) / inside if inside else 1.0
    within = hit + len(passing)
    mostly = is_faint(hit, within, setting.weight)
    outcome = "few" if share <= _FACTOR * expected + _POINTS and not mostly else "some"
    if share > min(1.0, expected + _BEYOND) or _lacking(found, absent, hit + len(failing)):
        outcome = "most"
    if not passing and not hit:
        outcome = "some"
    weighted = setting.weight * len(passing)
    part = f" ({percent(weighted, hit + weighted)})" if within else ""
    note = f"{_passing(len(passing))}{part}, {_failing(len(failing))} outside it."
    figures: dict[str, int | Decimal] = {
        "passingInside": len(passing),
        "outsideFailing": len(failing),
        "insideFailing": hit,
        "inside": within,
    }
    if absent:
        note = f"{note[:-1]}, of which {absent} lack what it is made of."
        figures["absent"] = absent
    if unknown:
        note += f" {unknown} more say nothing of what it is made of, and are left out."
        figures["unknown"] = unknown
    return Finding(outcome, note, figures, _cited(passing, failing))


def _is(row: Row, name: str, value: str) -> bool:
    return name in row and row[name].value == value


def _lacking(found: Table | None, absent: int, failing: int) -> bool:
    """Check whether far more of the failures lack something than lay outside on the discovery half.

    Thirty points, and three standard errors of the difference of the two shares, pooled.
    """
    if found is None or not found.failing or not failing:
        return False
    beyond = absent / failing - found.outside_failing / found.failing
    pooled = (absent + found.outside_failing) / (failing + found.failing)
    error = math.sqrt(pooled * (1 - pooled) * (1 / failing + 1 / found.failing))
    return beyond > _BEYOND and beyond > _ERRORS * error


def _cited(passing: Sequence[Term], failing: Sequence[Term]) -> list[tuple[Term, str]]:
    cite = [(node, "passes although inside the region") for node in passing[:_SHOWN]]
    return cite + [(node, "fails although outside the region") for node in failing[:_SHOWN]]


def _passing(number: int) -> str:
    one = number == 1
    return "1 node inside the region passes" if one else f"{number} nodes inside the region pass"


def _failing(number: int) -> str:
    return "1 failing node lies" if number == 1 else f"{number} failing nodes lie"
