"""Clustering: a region that groups sources has to fail in more than a few of them."""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgreason.base.figures import figure
from kgreason.base.statistics import Count, Table, deviance
from kgreason.context.view import View, leveled
from kgreason.hypothesize.candidates import Candidate, section
from kgreason.hypothesize.filters.filter import Check, Figure

_FAR: Final = figure("clusterSpread")
_MOST: Final = figure("clusterShare")
_CLEAR: Final = figure("clusterG")


class Clustering(Check):
    """Drop a region whose failing nodes come only from a few of its parts.

    The section `parts` of a family gives the parts as ?level: the documents of a folder, the named
    graphs of one maker. Nodes of one part are not independent where most parts have no failing
    node and the rates of the parts differ by more than chance. Then parts are counted in place of
    nodes, and the region is kept only if more of its parts have failing nodes than of the others.
    All counts are of the half on which the region was found.
    """

    name: ClassVar[str] = "clustering"
    reason: ClassVar[str] = "Its failing nodes come only from a few of its parts."

    def against(self, view: View, candidate: Candidate, /) -> Figure | None:
        """Return the figure that speaks against a candidate, or None where it is kept."""
        if "parts" not in candidate.family.sections:
            return None
        inside, outside = _parts(view, candidate)
        hit, beside = (sum(1 for failing, _ in parts if failing) for parts in (inside, outside))
        if not 0 < hit <= _MOST * len(inside) or _dispersion(inside) <= _FAR:
            return None
        score = deviance(Table(hit, len(inside), beside, len(outside))) if outside else 0.0
        if outside and score >= _CLEAR:
            return None
        return Figure("G statistic counted by parts", score, _CLEAR)


def _parts(view: View, candidate: Candidate) -> tuple[list[Count], list[Count]]:
    """Return failing and all nodes of each part that lies inside a region, and of each other."""
    found = leveled(view, section(candidate.family, "parts", candidate.values, view))
    half = view.split(candidate.family).discovery_mask
    inside: list[Count] = []
    outside: list[Count] = []
    for mask in found.values():
        nodes = mask & half
        count = ((nodes & view.marks.failing_mask).bit_count(), nodes.bit_count())
        own = (nodes & candidate.members).bit_count()
        if nodes:
            (inside if own > _MOST * count[1] else outside).append(count)
    return inside, outside


def _dispersion(counts: Sequence[Count]) -> float:
    """Return how far rates differ beyond chance, in standard deviations; 0 where nothing is said.

    Pearson's statistic against one rate for all, with the approximation of E. B. Wilson,
    M. M. Hilferty, "The distribution of chi-square", 1931.
    """
    failing, population = (sum(count[i] for count in counts) for i in (0, 1))
    free = len(counts) - 1
    if not free or failing in {0, population}:
        return 0.0
    rate = failing / population
    pearson = sum((f - n * rate) ** 2 / (n * rate * (1 - rate)) for f, n in counts)
    spread = 2 / (9 * free)
    return float(((pearson / free) ** (1 / 3) - (1 - spread)) / spread**0.5)
