"""Frames: rows of a result for pandas, polars and Arrow, where these libraries are there."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from kgreason.base.errors import OptionError
from kgreason.report.entries import ReportedCause, ReportedSymptom, rows

if TYPE_CHECKING:
    from kgreason.report.result import Result

SYMPTOMS: Final = "symptoms"
_Row = dict[str, Any]


class Framed(ABC):
    """Something with rows, which can be had as a frame of the usual libraries."""

    @abstractmethod
    def rows(self) -> list[_Row]:
        """Return a plain dict for each row."""

    def to_pandas(self) -> Any:
        """Return the rows as a pandas.DataFrame; raises OptionError without pandas."""
        return to_pandas(self.rows())

    def to_polars(self) -> Any:
        """Return the rows as a polars.DataFrame; raises OptionError without polars."""
        return to_polars(self.rows())

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow.Table; raises OptionError without pyarrow."""
        return to_arrow(self.rows())


def to_pandas(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas.DataFrame; raises OptionError where pandas is not installed."""
    return _library("pandas").DataFrame(list(given))


def to_polars(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a polars.DataFrame; raises OptionError where polars is not installed."""
    return _library("polars").DataFrame(list(given), infer_schema_length=None)


def to_arrow(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pyarrow.Table; raises OptionError where pyarrow is not installed."""
    return _library("pyarrow").Table.from_pylist(list(given))


def rows_of(result: "Result", of: str) -> list[_Row]:
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


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise OptionError(
            f"{name} is not installed; install it (pip install {name}), or take .rows()."
        ) from error
