"""Design: where a rule bounds numbers, those of a place are held against the others."""

from collections.abc import Sequence
from typing import Final

from kgreason.base.templates import Fragment, template
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, reads
from kgreason.hypothesize import bindings, recorded
from kgreason.hypothesize.candidates import suits
from kgreason.hypothesize.conditions.seam import flagged
from kgreason.hypothesize.conditions.seam import recorded as recorded_conditions
from kgreason.shacl import Path
from kgreason.test import plans
from kgreason.test.confounders import leaders
from kgreason.test.design import register, registered

STAGE: Final = 8
_KIND: Final = "rescaling"


def compare(context: Context, symptom: Symptom, round_: int) -> None:
    """Register a test of the numbers of each place that leads in the round: at most one step."""
    view = view_of(context, symptom, round_)
    bounded = _bounded(view)
    if bounded is None:
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
                query = _query(view, parts, bounded)
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


def _query(view: View, parts: Sequence[Fragment], bounded: Path) -> str:
    missed = (f'IF(BOUND(?held{n}), "", "{n}")' for n in range(len(parts)))
    return template("test", _KIND).render(
        population=view.marks.everyone,
        parts=[flagged(view, f"held{n}", part) for n, part in enumerate(parts)],
        outside=Fragment(f"BIND (CONCAT({', '.join(missed)}) AS ?outside)"),
        numbers=Fragment(f"?focus {bounded.text} ?number ."),
    )


def _bounded(view: View) -> Path | None:
    """Return the path to the numbers that a rule bounds, or a query that is read so."""
    rule, kind = view.constraint, template("test", _KIND)
    if suits(kind, rule):
        return rule.path if rule.path is not None and rule.path.forwards else None
    found = [one for one in rule.readings if view.is_question and reads(kind, one)]
    return found[0].path if len(found) == len(rule.readings) == 1 else None


def _parts(view: View, text: str) -> Sequence[Fragment]:
    """Return the conditions that a place is made of; none of what is no place."""
    made = bindings.known(view, text)
    if made is None or made.is_mechanism:
        return ()
    found = [part.pattern for part in recorded_conditions(text) or made.parts]
    return found or [made.pattern]
