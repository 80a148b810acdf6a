"""Read whether a level is beyond what the spread among its siblings predicts."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.normal_rates import normal_tail
from kgreason.base.siblings import FAR, LEAST_SIBLINGS, LUCKY, beta_binomial_tail, odds, usual_odds
from kgreason.base.statistics import Count
from kgreason.base.store import Row
from kgreason.base.weights import weighted_nodes
from kgreason.hypothesize.outlines import FEW
from kgreason.test.finding import Finding, Setting, decimal, percent

TAIL: Final = 0.1
_FEW_SIBLINGS: Final = integer("siblingFew")
SMALL: Final = integer("siblingNodes")
ABOVE: Final = figure("siblingAbove")
PASSING: Final = "passing"


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return beyond, within, or undetermined.

    Undetermined where there are fewer than three levels, or where all nodes of all levels fail, or
    none does: then levels cannot differ.

    The tail probability is multiplied by the number of levels, for the level was picked because it
    looks worst, and what is peculiar to a level shows on both halves. Siblings are left out whose
    odds are fifty times those of the better two thirds, where the level is as far off itself: for
    another cause may hold there. With fewer than ten siblings its tail is not multiplied then, nor
    with fewer than forty where it would be as far off if three nodes more passed: so few hardly
    ever differ so by chance (nearly four standard deviations of a log-odds spread of 1), and
    without failures they could never give a small enough tail. Of hundreds the worst one does
    differ so. Levels with fewer than two nodes say nothing of a spread and are left out, and so
    are, where two others remain, those that nearly all nodes of the region have too: a class above
    it is no peer.

    The spread is one of odds, which differ by one factor where nodes were drawn by whether they
    fail, so it is worked out of what was drawn; rates are told with weights.

    Where nodes that pass are counted, `failing` is the number of these throughout; then both ends
    of the spread were looked at, for the level that fails most and the one that fails least.

    The strata are the siblings: each pair of counts, with the number of siblings that have it.
    """
    mine = next((row for row in rows if "own" in row and _count(row)[1]), None)
    own = _count(mine) if mine else None
    siblings = _siblings(rows, setting)
    strata = [
        {"insideFailing": failing, "inside": population, "times": times}
        for (failing, population), times in sorted(Counter(siblings).items())
    ]
    figures: dict[str, int | Decimal] = {"levels": len(siblings) + (own is not None)}
    if own is not None:
        figures |= {"insideFailing": own[0], "inside": own[1]}
    count = len(siblings) + (own is not None)
    if own is None or count < FEW:
        note = f"There are {count} levels to compare, too few for a spread."
        return Finding("undetermined", note, figures, strata=strata)
    failing, population = (sum(v[i] for v in siblings) for i in (0, 1))
    if failing + own[0] in (0, population + own[1]):
        note = f"Of the {count} levels all nodes fail, or none does: no level stands out."
        return Finding("undetermined", note, figures, strata=strata)
    passes = mine is not None and mine["own"].value == PASSING
    tail = tail_of(siblings, own, ends=2 if passes else 1)
    verb, weight = ("pass", 1 / setting.weight) if passes else ("fail", setting.weight)
    told = [percent(f, weighted_nodes(f, n, weight)) for f, n in (own, (failing, population))]
    note = (
        f"{own[0]} of {own[1]} nodes of this level {verb} ({told[0]}), "
        f"{told[1]} over its {count - 1} siblings; that the worst of {count} "
        f"levels is so high has probability {tail:.2g} by their spread."
    )
    figures["pValue"] = decimal(tail, 9)
    return Finding("beyond" if tail <= TAIL else "within", note, figures, strata=strata)


def tail_of(siblings: Sequence[Count], own: Count, ends: int = 1) -> float:
    """Return at most the probability that the worst of some levels is so bad by their spread.

    The larger one by two families of rates: beta, and normal log-odds. `ends` of the spread were
    looked at.
    """
    far = FAR * usual_odds(siblings)
    is_far = odds(*own) >= far
    near = [level for level in siblings if odds(*level) < far] if is_far else []
    peers = near if len(near) > 1 else siblings
    most = _FEW_SIBLINGS if _surely(*own) >= far else LEAST_SIBLINGS
    times = 1 if is_far and len(siblings) < most else ends * (len(siblings) + 1)
    tail = min(1.0, times * beta_binomial_tail(peers, own))
    return tail if tail > TAIL else min(1.0, max(tail, times * normal_tail(peers, own)))


def _surely(failing: int, population: int) -> float:
    """Return the odds of failing if three nodes more passed: ten of ten may still be seven."""
    return failing / (population - failing + LUCKY)


def _siblings(rows: Sequence[Row], setting: Setting) -> list[Count]:
    """Return the counts of the levels to compare with, in order."""
    shared = {row["level"]: int(row["shared"].value) for row in rows if "shared" in row}
    most = ABOVE * shared.get(setting.level, 0) if setting.level else 0.0
    found = [r for r in rows if r.get("level", setting.level) != setting.level]
    found = [r for r in found if _count(r)[1] >= SMALL]
    peers = [r for r in found if not most or shared.get(r["level"], 0) < most]
    return sorted(_count(r) for r in (peers if len(peers) >= FEW - 1 else found))


def _count(row: Row) -> Count:
    return int(row["failing"].value), int(row["population"].value)
