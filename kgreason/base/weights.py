"""Rates of a graph of which some failing and some passing nodes were drawn.

Where nodes are drawn by whether they fail, failing nodes are far more frequent among those drawn
than in the graph. Odds ratios, and e-values of two-by-two tables, are the same for both (R. L.
Prentice, R. Pyke, Biometrika 66, 1979); rates are not, and go by weights here. One weight is
enough: how many passing nodes a drawn one stands for, over how many failing nodes a drawn one
stands for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure

_PLACES: Final = 9
_DEVIATIONS: Final = figure("confirmDeviations")
_SLACK: Final = figure("confirmSlack")


@dataclass(frozen=True)
class Drawn:
    """How many nodes fail and pass in a graph, and how many of each were drawn, one at least."""

    failing_there: int
    failing: int
    passing_there: int
    passing: int

    @property
    def weight(self) -> float:
        """What a drawn passing node stands for beside a failing one; 1 where there is none."""
        if not self.failing or not self.passing:
            return 1.0
        return round(
            (self.passing_there / self.passing) / (self.failing_there / self.failing), _PLACES
        )

    @property
    def whole(self) -> bool:
        """Whether no node was left out."""
        return (self.failing, self.passing) == (self.failing_there, self.passing_there)


def weighted_nodes(failing: int, nodes: int, weight: float) -> float:
    """Return what nodes are worth where a passing one counts with a weight, in failing nodes."""
    return failing + weight * (nodes - failing)


def weighted_rate(failing: int, nodes: int, weight: float) -> float:
    """Return the share of failing nodes where a passing one counts with a weight; 0 of no nodes."""
    return failing / weighted_nodes(failing, nodes, weight) if nodes and failing else 0.0


def among_drawn(rate: float, weight: float) -> float:
    """Return what a rate of the graph is among the nodes that were drawn."""
    return weight * rate / (1 - rate + weight * rate) if rate < 1 else 1.0


def interval(failing: int, nodes: int, drawn: Drawn) -> tuple[float, float]:
    """Return the least and the greatest rate in the graph of a region, by those that were drawn.

    A normal interval of the log-odds (B. Woolf, Annals of Human Genetics 19, 1955) with half a node
    added to both counts, each term with the correction for a finite population; it is a point where
    no node was left out.
    """
    if drawn.whole or not nodes:
        rate = weighted_rate(failing, nodes, drawn.weight)
        return rate, rate
    bad, good = failing + 0.5, nodes - failing + 0.5
    spread = _left(drawn.failing, drawn.failing_there) / bad
    spread += _left(drawn.passing, drawn.passing_there) / good
    odds, reach = math.log(bad / good / drawn.weight), _DEVIATIONS * math.sqrt(spread)
    return _rate(odds - reach), _rate(odds + reach)


def rates_of(drawn: Drawn, inside: Sequence[int], outside: Sequence[int]) -> dict[str, Decimal]:
    """Return the rates of a region and of what lies outside in the graph, with their intervals.

    A side is its failing nodes and all of its nodes that were drawn; six places, by the names of
    the properties that they are recorded by.
    """
    found = {}
    for name, (failing, nodes) in (("rateInside", inside), ("rateOutside", outside)):
        least, most = interval(failing, nodes, drawn)
        rate = weighted_rate(failing, nodes, drawn.weight)
        for end, value in (("", rate), ("From", least), ("Until", most)):
            found[f"{name}{end}"] = Decimal(f"{value:.6f}")
    return found


@dataclass(frozen=True)
class Expected:
    """How many nodes there should be at the endpoint, by a sample: at least, likely, at most."""

    least: float
    likely: float
    most: float

    def figures(self, what: str) -> dict[str, Decimal]:
        """Return the three numbers with one place, by the names of their properties."""
        ends = (("least", self.least), ("likely", self.likely), ("most", self.most))
        return {f"{name}{what}": Decimal(f"{value:.1f}") for name, value in ends}

    def fits(self, counted: int) -> bool:
        """Check whether a count is within the interval."""
        return round(self.least, 1) <= counted <= round(self.most, 1)


def expected(inside: int, taken: int, there: int) -> Expected:
    """Return what a region should hold of nodes of which some were taken without replacement.

    `inside` of those `taken` are in the region, `there` are all. The interval is that of a normal
    distribution with the correction for a finite population (Cochran, Sampling Techniques, 3rd
    edition, 1977, section 3.2), over a rate that is moved a little to a half. It is never narrower
    than the slack of the engine's figures: an extract that is whole still ends at a rim.
    """
    if not taken:
        return Expected(0.0, 0.0, float(there))
    rate, moved = inside / taken, (inside + 1) / (taken + 2)
    wide = math.sqrt(moved * (1 - moved) / taken * (1 - taken / there)) * _DEVIATIONS * there
    wide = max(wide, _SLACK * there)
    return Expected(max(0.0, rate * there - wide), rate * there, min(there, rate * there + wide))


def confirmed_by(drawn: Drawn, failing: int, passing: int) -> tuple[Expected, Expected]:
    """Return what a region that holds some of the drawn nodes should hold: failing, and passing."""
    return (
        expected(failing, drawn.failing, drawn.failing_there),
        expected(passing, drawn.passing, drawn.passing_there),
    )


def _left(taken: int, there: int) -> float:
    return 1 - taken / there if there else 0.0


def _rate(odds: float) -> float:
    """Return the rate of log-odds."""
    return 1 / (1 + math.exp(-odds))
