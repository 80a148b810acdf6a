"""Choose the bound of an ordered condition anew where a second condition holds as well."""

from dataclasses import replace
from typing import Final

from pyoxigraph import Literal

from kgreason.base.figures import integer
from kgreason.base.statistics import best_cut
from kgreason.context.view import View, leveled
from kgreason.hypothesize.candidates import Candidate, filled, regions, section

_FEW: Final = integer("recutLevels")


def recut(view: View, ordered: Candidate, within: Candidate) -> Candidate | None:
    """Return an ordered condition with the bound that is best among the nodes of `within`.

    The best bound separates failing from passing nodes most clearly. The bound that is best among
    all nodes need not be the best among these. Returns None if the condition is not ordered or if
    no other bound is better. Only the discovery half is used.
    """
    order = ordered.family.header.get("levels", "")
    if not order.startswith("ordered") or "rank" in ordered.values or ordered.parts:
        return None
    half = view.split(ordered.family)
    # All nodes are looked up, not those of the half: other partners ask the same query.
    mark = view.marks.population.mark
    found = leveled(view, section(ordered.family, "levels", ordered.values, view, half=mark))
    inside = within.members & half.discovery_mask
    names = sorted(found, reverse=order == "ordered-down")
    masks = [found[name] & inside for name in names]
    counts = [((m & view.marks.failing_mask).bit_count(), m.bit_count()) for m in masks]
    if sum(1 for _, nodes in counts if nodes) < _FEW:
        return None
    place, gain = best_cut(counts)
    if gain <= 0 or place == 0 or names[place] == ordered.values["level"].value:
        return None
    values = {**ordered.values, "level": Literal(names[place])}
    made = replace(ordered, values=values)
    region, pattern = regions(made.family, values, view)
    return filled(view, replace(made, region=region, pattern=pattern))
