"""Whether the half that found a mechanism bears its prediction out."""

from kgreason.base.templates import template
from kgreason.context.view import View, digest, members
from kgreason.graph.marks import mark_region
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.bars import PARTLY
from kgreason.hypothesize.outlines import prediction_of


def borne_out(view: View, candidate: Candidate) -> bool:
    """Check whether a prediction holds for the failing nodes of the discovery half, or for many.

    It says nothing of a candidate that registers no prediction of its own: that counts as true.
    """
    if "prediction" not in candidate.family.sections:
        return True
    nodes = members(view, candidate.pattern)
    mark_region(view.graph, view.marks.population, digest(candidate.pattern), nodes)
    half = view.split(candidate.family).discovery
    text = template("test", "direct-check").render(
        symptom=view.marks.failing,
        half=half,
        region=candidate.pattern,
        prediction=prediction_of(view, candidate, half),
    )
    row = next(iter(view.graph.store.select(text)))
    claimed, holds = (int(row[name].value) for name in ("claimed", "holds"))
    return holds >= PARTLY * claimed
