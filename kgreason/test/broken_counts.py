"""Judge how many nodes that were broken at the rule's own statement entered a region."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.test.finding import Finding, Stratum

LEAST: Final = integer("brokenLeast")
NEARLY_ALL: Final = figure("enteredShare")


@dataclass(frozen=True)
class Broken:
    """The nodes that were broken in one way and fail, outside the region before; and that enter."""

    way: str
    nodes: int
    entered: int


def judged(ways: Sequence[Broken]) -> Finding:
    """Judge the counts of each way.

    restates: nodes enter in nearly all ways, nearly all of each, and of all together. specific:
    nearly all of some way do. news: of no way. undetermined: fewer than five nodes fail, and lay
    outside before.
    """
    counted = [one for one in ways if one.nodes]
    nodes, entered = sum(one.nodes for one in counted), sum(one.entered for one in counted)
    whole = sum(1 for one in counted if one.entered >= NEARLY_ALL * one.nodes)
    if nodes < LEAST:
        outcome = "undetermined"
    elif whole >= NEARLY_ALL * len(counted) and entered >= NEARLY_ALL * nodes:
        outcome = "restates"
    else:
        outcome = "specific" if whole else "news"
    note = (
        f"Of {nodes} passing nodes outside the region that were broken at the rule's own "
        f"statement, in {_ways(len(counted))}, {entered} enter the region; in {_ways(whole)} "
        "nearly all do."
    )
    figures = {"broken": nodes, "entered": entered, "ways": len(counted), "waysEntered": whole}
    strata: list[Stratum] = [
        {
            "way": one.way,
            "insideFailing": one.entered,
            "inside": one.entered,
            "outsideFailing": one.nodes - one.entered,
            "outside": one.nodes - one.entered,
        }
        for one in counted
    ]
    return Finding(outcome, note, figures, strata=strata)


def _ways(number: int) -> str:
    return "1 way" if number == 1 else f"{number} ways"
