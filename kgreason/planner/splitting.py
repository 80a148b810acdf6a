"""How a question is divided: by symptom, or by the class that symptoms are of."""

from collections.abc import Sequence
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.context.context import Context
from kgreason.context.symptom import Observed, Symptom
from kgreason.observe.called import focus_class
from kgreason.planner.tool_catalogue import scopes_of
from kgreason.record.fanning import CLASS, KINDS, SYMPTOM, Part
from kgreason.routing.task_types import task_types
from kgreason.shacl import names

_LOOP: Final = "hypothesis"


def split_kind(wanted: str | None) -> str:
    """Return by what a question is divided: as `wanted`, else by symptom; raises OptionError."""
    if wanted is not None and wanted not in KINDS:
        raise OptionError(f"--split {wanted}: give one of {', '.join(KINDS)}.")
    return wanted or SYMPTOM


def parts_by_symptom(_context: Context, observed: Observed) -> list[Part]:
    """Return a part for each symptom, the most failures first; the last takes what is over."""
    found = observed.failing
    called = names([symptom.constraint for symptom in found])
    most = integer("fanOutParts")
    each = [_of_symptoms([s], n) for s, n in zip(found, called, strict=True)]
    if len(each) <= most:
        return each
    rest = found[most - 1 :]
    return [*each[: most - 1], _of_symptoms(rest, f"{len(rest)} more rules")]


def parts_by_class(context: Context, observed: Observed) -> list[Part]:
    """Return a part for each class that symptoms are of; those of none are one part."""
    by_class: dict[str | None, list[Symptom]] = {}
    for symptom in observed.failing:
        kind = focus_class(context, symptom)
        by_class.setdefault(None if kind is None else kind.value, []).append(symptom)
    out = []
    for name, several in by_class.items():
        called = "nodes of no class" if name is None else f"<{name}>"
        out.append(_of_symptoms(several, f"the rules for {called}", within_class=name))
    return out


def _of_symptoms(several: Sequence[Symptom], called: str, within_class: str | None = None) -> Part:
    pattern = task_types().patterns[_LOOP].iri
    return Part(
        f"Why is this broken: {called}?",
        pattern,
        scopes_of(pattern),
        tuple(symptom.constraint.key for symptom in several),
        within_class,
    )


SPLITS: Final = {SYMPTOM: parts_by_symptom, CLASS: parts_by_class}
"""What makes the parts of a graph with symptoms, by the kind of split."""
