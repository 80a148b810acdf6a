"""Whether a region that groups sources fails all over, or only in a few of these."""

from collections.abc import Sequence
from typing import Final

from kgreason.probes.statistics import Count, Table, deviance
from kgreason.reasoners.candidates import Candidate, View, leveled, section

_FAR: Final = 1.64  # standard deviations; p = 0.05
_MOST: Final = 0.5
_CLEAR: Final = 7.0  # of the G statistic; about p = 0.01


def in_few_parts(view: View, candidate: Candidate) -> bool:
    """Say whether the failures of a region only come from a few of its parts.

    Parts are what the section `parts` of the family gives as ?level: documents of a folder, named
    graphs of one maker. Where most have no failing node, though rates differ between parts by more
    than chance, nodes of one part stand and fall together. Then it is parts that have to be
    counted, and the region is none unless more of its parts have failing nodes than of the others.
    Counted on the half on which the region was found.
    """
    if "parts" not in candidate.family.sections:
        return False
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
    hit, beside = (sum(1 for failing, _ in parts if failing) for parts in (inside, outside))
    if not 0 < hit <= _MOST * len(inside) or _dispersion(inside) <= _FAR:
        return False
    counts = Table(hit, len(inside), beside, len(outside))
    return not outside or deviance(counts) < _CLEAR


def _dispersion(counts: Sequence[Count]) -> float:
    """Give how far rates differ beyond chance, in standard deviations; 0 where nothing is said.

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
