"""Read whether a region that is made of whole clusters is beyond the spread among the others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from kgreason.base.statistics import Count, round_up
from kgreason.base.store import Row
from kgreason.hypothesize.conditions.units import (
    ALONE,
    FEWEST,
    Cluster,
    Parted,
    lies_within,
    parted,
    probability,
)
from kgreason.test.finding import Finding, Setting, Stratum, decimal, integers


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return beyond, within, or undetermined where the region is not made of whole clusters.

    The strata are the clusters: each pair of counts, with the number of clusters that have it,
    whether they lie in the region, and as what lies outside their nodes that the other conditions
    of the region leave out.
    """
    names = ("failing", "population", "shared", "failingElsewhere", "elsewhere")
    counts = [cluster for row in rows if (cluster := _integers(row, names))[1]]
    found = parted(counts, sum(own for _, _, own, _, _ in counts))
    inside, outside = found.inside, found.outside
    cost = float(rows[0]["partLength"].value) if rows else 0.0
    ways = int(rows[0]["ways"].value) if rows else 0
    figures: dict[str, int | Decimal] = {
        "levels": len(inside) + len(outside),
        "codeLength": decimal(cost),
        "coarseWays": ways,
    }
    if not found.whole or len(outside) < FEWEST:
        note = "The region is not made of whole clusters, or too few are left to compare them with."
        return Finding("undetermined", note, {"levels": 0})
    own, others = (tuple(map(sum, zip(*side, strict=True))) for side in (inside, outside))
    chance = probability(found, cost, ways)
    note = (
        f"The region is {len(inside)} of {len(inside) + len(outside)} clusters: {own[0]} of "
        f"{own[1]} nodes fail there ({setting.percent(*own)}), {others[0]} of {others[1]} in the "
        f"others ({setting.percent(*others)})"
    )
    bad, nodes = found.own_elsewhere
    if nodes:
        note += (
            f", and {bad} of the {nodes} nodes of the same clusters that the other conditions "
            f"leave out ({setting.percent(bad, nodes)})"
        )
    note += f"; by rates of clusters alone that has probability {chance:.2g} at most."
    figures["pValue"] = decimal(round_up(chance), 9)
    outcome = "beyond" if chance <= ALONE else "within"
    return Finding(outcome, note, figures, strata=list(_strata(counts, found)))


def _strata(counts: Sequence[Cluster], found: Parted) -> Iterator[Stratum]:
    """Return the clusters, those with the same counts as one."""
    many = {False: Counter(found.outside), True: Counter(found.inside)}
    elsewhere: dict[tuple[bool, Count], Count] = {}
    for failing, nodes, own, bad, rest in counts:
        key = (lies_within(nodes, own), (failing, nodes))
        before = elsewhere.get(key, (0, 0))
        elsewhere[key] = (before[0] + bad, before[1] + rest)
    for (within, count), (bad, rest) in sorted(elsewhere.items()):
        yield {
            "insideFailing": count[0],
            "inside": count[1],
            "outsideFailing": bad,
            "outside": rest,
            "within": within,
            "times": many[within][count],
        }


def _integers(row: Row, names: Sequence[str]) -> Cluster:
    failing, nodes, own, bad, rest = integers(row, *names)
    return failing, nodes, own, bad, rest
