"""Slices: a symptom counted by source, by month and by bad value, for the pictures of a report.

They decide nothing. A source and a month give failing nodes of all; a value is only counted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import PROV
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View
from kgreason.hypothesize.conditions.seam import dated
from kgreason.record import Step
from kgreason.record.record import Value

_SOURCES: Final = 12
_MONTHS: Final = 60
_VALUES: Final = 6
_OFTEN: Final = 0.02
"""Share of the failing nodes from which on a bad value is worth a bar."""
_LONGEST: Final = 120


def slice_up(context: Context, step: Step, symptoms: Sequence[Symptom]) -> int:
    """Add the slices of each symptom that has a cause to a step; gives how many they are."""
    made = 0
    for symptom in symptoms:
        rows = context.record.select("supported-regions", symptom=symptom.node)
        if not rows:
            continue
        view = view_of(context, symptom, 1)
        for index, slice_ in enumerate(_slices(context, view, symptom), start=1):
            step.make("Slice", PROV.Entity, symptom=symptom.node, index=index, **slice_)
            made += 1
    return made


def _slices(context: Context, view: View, symptom: Symptom) -> Iterator[Mapping[str, Value]]:
    marks = view.marks
    given = {"population": marks.everyone, "failing": marks.failing}
    found = view.graph.store.select(template("context", "slice-source").render(**given))
    if len(found) > 1:
        yield from _counted("source", list(found)[:_SOURCES])
    path = _day(context, symptom)
    if path is not None:
        asked = template("context", "slice-month").render(**given, days=path)
        months = list(view.graph.store.select(asked))
        if 1 < len(months) <= _MONTHS:
            yield from _counted("month", months)
    values = Counter(_text(v) for vs in symptom.failing.values() for v in dict.fromkeys(vs))
    often = max(2, _OFTEN * len(symptom.failing))
    for value, number in sorted(values.items(), key=lambda v: (-v[1], v[0]))[:_VALUES]:
        if number < often:
            break
        yield {"sliceOf": "value", "sliceLevel": value, "insideFailing": number, "inside": number}


def _counted(of: str, rows: Sequence[Row]) -> Iterator[Mapping[str, Value]]:
    for row in rows:
        counts = {"insideFailing": int(row["fail"].value), "inside": int(row["nodes"].value)}
        yield {"sliceOf": of, "sliceLevel": _text(row["level"]), **counts}


def _day(context: Context, symptom: Symptom) -> Fragment | None:
    """Return what binds ?day of ?focus, where a supported cause begins or ends at a day."""
    for row in context.record.select("supported-bindings", symptom=symptom.node):
        path = dated(row["bindings"].value)
        if path is not None:
            return path
    return None


def _text(term: Term) -> str:
    return term.value[:_LONGEST]
