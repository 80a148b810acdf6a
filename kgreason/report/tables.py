"""Tables of what was found: plain rows of the symptoms, causes, nodes or evidence."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.report.entries import ReportedCause, ReportedSymptom, rows
from kgreason.report.found import Found

SYMPTOMS: Final = "symptoms"
_Row = dict[str, Any]


def rows_of(result: Found, of: str) -> list[_Row]:
    """Return the rows of the symptoms, causes, nodes or evidence of a result.

    Raises OptionError for another name.
    """
    if of == SYMPTOMS:
        return rows(result.symptoms)
    if of == "causes":
        return [_cause(one, result.symptoms) for one in result.causes]
    if of == "nodes":
        return [{"cause": c.id, **row} for c in result.causes for row in result.nodes(c).rows()]
    if of == "evidence":
        return list(_evidence(result.symptoms))
    raise OptionError(f"{of}: there are rows of symptoms, causes, nodes and evidence.")


def _cause(cause: ReportedCause, symptoms: Sequence[ReportedSymptom]) -> _Row:
    known = {h.id: h for one in symptoms for h in one.hypotheses}
    first = known[cause.hypotheses[0]]
    broken = next(one for one in symptoms if first in one.hypotheses)
    return {
        "cause": cause.id,
        "rule": broken.name,
        "rules": len(cause.symptoms),
        "statement": cause.statement,
        "kind": first.kind,
        "explains": cause.explains,
        "adds": cause.adds,
        "inside": first.inside.population,
        "inside_failing": first.inside.failing,
        "outside": first.outside.population,
        "outside_failing": first.outside.failing,
        "confidence": first.confidence,
        "calibrated": first.calibrated,
        "narrows": cause.narrows,
        "next": cause.next.words,
        "command": cause.next.command,
        "fingerprint": cause.fingerprint,
    }


def _evidence(symptoms: Iterable[ReportedSymptom]) -> Iterable[_Row]:
    for symptom in symptoms:
        for hypothesis in symptom.hypotheses:
            for one in hypothesis.evidence:
                yield {
                    "rule": symptom.name,
                    "hypothesis": hypothesis.id,
                    "statement": hypothesis.statement,
                    "status": hypothesis.status,
                    "test": one.test,
                    "polarity": one.polarity,
                    "strength": one.strength,
                    "modality": one.modality,
                    "citations": len(one.citations),
                }
