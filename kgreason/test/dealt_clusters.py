"""Read whether a region that is made of whole clusters is beyond the spread among the others."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from kgreason.base.statistics import round_up
from kgreason.base.store import Row
from kgreason.hypothesize.conditions.units import ALONE, FEWEST, parted, probability
from kgreason.test.finding import Finding, Setting, decimal, integers, percent


def read(rows: Sequence[Row], _setting: Setting) -> Finding:
    """Return beyond, within, or undetermined where the region is not made of whole clusters.

    The strata are the clusters: each pair of counts, with the number of clusters that have it, and
    whether they lie in the region.
    """
    clusters = [tuple(integers(row, "failing", "population", "shared")) for row in rows]
    counts = [(failing, nodes, own) for failing, nodes, own in clusters if nodes]
    inside, outside, whole = parted(counts, sum(own for _, _, own in counts))
    cost = float(rows[0]["partLength"].value) if rows else 0.0
    ways = int(rows[0]["ways"].value) if rows else 0
    strata = [
        {"insideFailing": failing, "inside": nodes, "within": within, "times": times}
        for within, side in ((False, outside), (True, inside))
        for (failing, nodes), times in sorted(Counter(side).items())
    ]
    figures: dict[str, int | Decimal] = {
        "levels": len(inside) + len(outside),
        "codeLength": decimal(cost),
        "coarseWays": ways,
    }
    if not whole or len(outside) < FEWEST:
        note = "The region is not made of whole clusters, or too few are left to compare them with."
        return Finding("undetermined", note, {"levels": 0})
    own, others = (tuple(map(sum, zip(*side, strict=True))) for side in (inside, outside))
    chance = probability(inside, outside, cost, ways)
    note = (
        f"The region is {len(inside)} of {len(inside) + len(outside)} clusters: {own[0]} of "
        f"{own[1]} nodes fail there ({percent(own[0], own[1])}), {others[0]} of {others[1]} in the "
        f"others ({percent(others[0], others[1])}); by the spread of these that has probability "
        f"{chance:.2g} at most."
    )
    figures["pValue"] = decimal(round_up(chance), 9)
    return Finding("beyond" if chance <= ALONE else "within", note, figures, strata=strata)
