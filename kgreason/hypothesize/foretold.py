"""Whether the half that found a mechanism bears its prediction out, and it alone."""

from kgreason.base.templates import template
from kgreason.context.view import View, digest, members
from kgreason.graph.marks import mark_region
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions.bars import PARTLY
from kgreason.hypothesize.outlines import placebo_of, prediction_of
from kgreason.record.test_kinds import CLEARS


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


def specific(view: View, candidate: Candidate) -> bool:
    """Check whether placebo bindings clear hardly any nodes of the discovery half.

    Of a candidate that is put to no such test it says nothing: that counts as true.
    """
    if "placebo" not in candidate.family.header["tests"].split():
        return True
    half = view.split(candidate.family).discovery
    body = placebo_of(view, candidate, half)
    row = next(iter(view.graph.store.select(template("test", "placebo").render(body=body))), {})
    claimed, holds = (int(row[name].value) if name in row else 0 for name in ("claimed", "holds"))
    return holds <= CLEARS * claimed


def sound(view: View, candidate: Candidate) -> bool:
    """Check whether the half that found a mechanism bears it out, and no placebo as well.

    Several filters ask; the view keeps the answer.
    """
    key = f"sound:{view.marks.failing.value}:{candidate.key}"
    if key not in view.kept:
        view.kept[key] = borne_out(view, candidate) and specific(view, candidate)
    return bool(view.kept[key])
