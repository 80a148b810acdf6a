"""Design: where a rule bounds numbers, those of a place are held against the others."""

from collections.abc import Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, reads
from kgreason.hypothesize import bindings, recorded
from kgreason.hypothesize.candidates import suits
from kgreason.hypothesize.conditions.seam import flagged
from kgreason.hypothesize.conditions.seam import recorded as recorded_conditions
from kgreason.test import plans
from kgreason.test.confounders import leaders
from kgreason.test.design import register, registered

STAGE: Final = 8
_KIND: Final = "rescaling"


def compare(context: Context, symptom: Symptom, round_: int) -> None:
    """Register a test of the numbers of each place that leads in the round: at most one step."""
    view = view_of(context, symptom, round_)
    predicate = _bounded(view)
    if predicate is None:
        return
    ahead = {row["hypothesis"] for row in leaders(context, symptom, round_)}
    designed = []
    for rows in recorded.frames(context, symptom, round_):
        claiming = [row for row in rows if row["catchAll"].value == "false"]
        outlines = [recorded.outline(row) for row in claiming]
        for place, row in enumerate(claiming):
            text = row["bindings"].value if "bindings" in row else ""
            parts = _parts(view, text) if text and row["hypothesis"] in ahead else ()
            if parts:
                query = _query(view, parts, predicate)
                told = plans.roles_in(view, outlines, place)
                scheme = view.marks.whole.scheme
                planned = plans.PlannedTest(_KIND, query, scheme, place, None, told)
                designed.append((rows, row["pattern"].value, planned))
    if not designed:
        return
    step = context.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=STAGE)
    known = registered(context, symptom)
    for rows, region, planned in designed:
        register(step, [recorded.hypothesis_of(row) for row in rows], planned, region, known)
    context.record.commit(step)


def _query(view: View, parts: Sequence[Fragment], predicate: ox.NamedNode) -> str:
    missed = (f'IF(BOUND(?held{n}), "", "{n}")' for n in range(len(parts)))
    return template("test", _KIND).render(
        population=view.marks.everyone,
        parts=[flagged(view, f"held{n}", part) for n, part in enumerate(parts)],
        outside=Fragment(f"BIND (CONCAT({', '.join(missed)}) AS ?outside)"),
        predicate=predicate,
    )


def _bounded(view: View) -> ox.NamedNode | None:
    """Return the property whose numbers a rule bounds, or a query that is read so."""
    rule, kind = view.constraint, template("test", _KIND)
    if suits(kind, rule):
        return None if rule.path is None else rule.path.predicate
    read = view.looks_at
    return read.predicate if read is not None and reads(kind, read) else None


def _parts(view: View, text: str) -> Sequence[Fragment]:
    """Return the conditions that a place is made of; none of what is no place."""
    made = bindings.known(view, text)
    if made is None or made.is_mechanism:
        return ()
    found = [part.pattern for part in recorded_conditions(text) or made.parts]
    return found or [made.pattern]
