"""Judge how many nodes that were broken at the rule's own statement entered a region."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.templates import role
from kgreason.test.finding import Finding, Stratum

LEAST: Final = integer("brokenLeast")
NEARLY_ALL: Final = figure("enteredShare")


@dataclass(frozen=True)
class Broken:
    """The nodes that were broken in one way and fail, outside the region before; and that enter."""

    way: str
    nodes: int
    entered: int


def judged(ways: Sequence[Broken], *, direct: bool = False) -> Finding:
    """Judge the counts of each way.

    restates: nodes enter in nearly all ways, nearly all of each, and of all together. specific:
    nearly all of some way do. news: of no way. undetermined: fewer than five nodes fail, and lay
    outside before. Ways that leave values of one form (the header `leaves`) count as one.
    Where there is but one way to break the rule, that way is the form which a mechanism names: what
    is checked directly (`direct`) is specific then.
    """
    counted = [one for one in ways if one.nodes]
    nodes, entered = sum(one.nodes for one in counted), sum(one.entered for one in counted)
    apart = _by_form(counted)
    whole = sum(1 for one in apart if one.entered >= NEARLY_ALL * one.nodes)
    if nodes < LEAST:
        outcome = "undetermined"
    elif whole >= NEARLY_ALL * len(apart) and entered >= NEARLY_ALL * nodes:
        outcome = "specific" if direct and len(apart) == 1 else "restates"
    else:
        outcome = "specific" if whole else "news"
    note = (
        f"Of {nodes} passing nodes outside the region that were broken at the rule's own "
        f"statement, in {_ways(len(apart))}, {entered} enter the region; in {_ways(whole)} "
        "nearly all do."
    )
    figures = {"broken": nodes, "entered": entered, "ways": len(apart), "waysEntered": whole}
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


def _by_form(ways: Sequence[Broken]) -> list[Broken]:
    """Return the ways with those as one that leave values of the same form, such as plain texts.

    An empty text and one that says nothing are both plain: to name that form names one way.
    """
    known = role("break")
    forms: dict[str, Broken] = {}
    for one in ways:
        form = known[one.way].header.get("leaves", one.way) if one.way in known else one.way
        had = forms.get(form, Broken(form, 0, 0))
        forms[form] = Broken(form, had.nodes + one.nodes, had.entered + one.entered)
    return list(forms.values())


def _ways(number: int) -> str:
    return "1 way" if number == 1 else f"{number} ways"
