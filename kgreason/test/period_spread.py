"""Read whether a rate that rises at a time rises beyond the ups and downs of shorter periods."""

import math
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from kgreason.base.figures import integer
from kgreason.base.statistics import Count, best_cut
from kgreason.base.store import Row
from kgreason.base.weights import weighted_nodes
from kgreason.test.finding import Finding, Setting, decimal, percent
from kgreason.test.sibling_spread import TAIL

FEW: Final = integer("periodBins")
_BINS: Final = integer("periodUsualBins")
_A_SIDE: Final = integer("periodSideBins")
_MOST: Final = integer("periodMostBins")
_ROOM: Final = integer("periodOrders")
_SHUFFLES: Final = integer("periodShuffles")


def read(rows: Sequence[Row], setting: Setting) -> Finding:
    """Return beyond, within, or undetermined where there are fewer than five bins.

    The strata are the bins in the order of time, those of the region last.
    """
    counted = sorted(
        (_key(row["level"].value), row["inside"].value == "true", _count(row))
        for row in rows
        if "level" in row
    )
    sides = [[(k, c) for k, inside, c in counted if inside is side] for side in (False, True)]
    if sides[0] and sides[1] and sides[1][0][0] < sides[0][0][0]:
        sides = [side[::-1] for side in sides]  # a region that ends at a time
    nodes = [sum(n for _, (_, n) in side) for side in sides]
    # Twelve bins; more, but at most sixty, where one side would not get three.
    size = max(1, min(-(-sum(nodes) // _BINS), max(min(nodes) // _A_SIDE, sum(nodes) // _MOST)))
    outside, inside = (_bins([c for _, c in side], size) for side in sides)
    return judge(outside, inside, setting.weight)


def judge(outside: Sequence[Count], inside: Sequence[Count], weight: float) -> Finding:
    """Judge bins in the order of time, those of the region after those outside.

    A passing node counts with `weight` in rates.
    """
    bins = [*outside, *inside]
    strata: list[dict[str, int | Decimal]] = [
        {"index": i, "insideFailing": f, "inside": n, "within": i >= len(outside)}
        for i, (f, n) in enumerate(bins)
    ]
    figures: dict[str, int | Decimal] = {"levels": len(bins)}
    if len(bins) < FEW or not inside or math.comb(len(bins), len(inside)) * TAIL < _ROOM:
        note = f"There are {len(bins)} periods to compare, too few for a spread."
        return Finding("undetermined", note, figures, strata=strata)
    tail = min(1.0, 2 * shuffled_tail(bins))  # rises and falls were looked for
    figures["pValue"] = decimal(tail, 9)
    note = (
        f"{len(inside)} bins of time lie in the region ({_rates(inside, weight)} fail), "
        f"{len(outside)} do not ({_rates(outside, weight)}); a split this clean, upwards or "
        f"downwards, comes by chance in {_rounded(100 * tail)} % of random orderings."
    )
    return Finding("beyond" if tail <= TAIL else "within", note, figures, strata=strata)


def shuffled_tail(bins: Sequence[Count]) -> float:
    """Return how probable so good a cut is if the order of the bins meant nothing.

    Bins are (failing, population) in the order of time. The p-value of a permutation test with the
    largest `deviance` over all cuts as its figure: (1 + shuffles that reach it) / (1 + shuffles);
    it allows for the cut having been looked for. 999 shuffles with a fixed seed.
    Source: B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010.
    """
    chance = random.Random(0)  # noqa: S311 - shuffles, no secrets
    _, reached = best_cut(bins)
    order = list(bins)
    as_good = 0
    for _ in range(_SHUFFLES):
        chance.shuffle(order)
        as_good += best_cut(order)[1] >= reached
    return (1 + as_good) / (1 + _SHUFFLES)


def _bins(counts: Sequence[Count], size: int) -> list[Count]:
    """Put neighbours together until a bin holds `size` nodes; what is left joins the last bin."""
    out: list[Count] = []
    failing = nodes = 0
    for f, n in counts:
        failing, nodes = failing + f, nodes + n
        if nodes >= size:
            out.append((failing, nodes))
            failing = nodes = 0
    if nodes and out:
        out[-1] = (out[-1][0] + failing, out[-1][1] + nodes)
    elif nodes:
        out.append((failing, nodes))
    return out


def _count(row: Row) -> Count:
    return int(row["failing"].value), int(row["population"].value)


def _key(level: str) -> tuple[float, str]:
    """Order versions as numbers and days as text."""
    return (float(level), "") if level.isdecimal() else (0.0, level)


def _rates(bins: Sequence[Count], weight: float) -> str:
    shares = sorted((f / n, f, n) for f, n in bins)
    low, high = (percent(f, weighted_nodes(f, n, weight)) for _, f, n in (shares[0], shares[-1]))
    return low if low == high else f"{low} to {high}"


def _rounded(share: float) -> str:
    return f"{share:.0f}" if share >= 1 else f"{share:.2g}"
