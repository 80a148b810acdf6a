"""Symptoms: each SHACL constraint, or a query of the user, as a population and an outcome."""

from kgreason.symptoms.compiler import compile_shapes
from kgreason.symptoms.conforming import conforms_with_path
from kgreason.symptoms.elsewhere import observe_fallback
from kgreason.symptoms.located import located_target
from kgreason.symptoms.model import Compiled, Constraint, Fallback, Observation, Result
from kgreason.symptoms.observe import observe, observe_all
from kgreason.symptoms.outcome import outcome_symptom
from kgreason.symptoms.paths import Path
from kgreason.symptoms.report import Reported, read_report
from kgreason.symptoms.shapes import Shapes, read_shapes

__all__ = [
    "Compiled",
    "Constraint",
    "Fallback",
    "Observation",
    "Path",
    "Reported",
    "Result",
    "Shapes",
    "compile_shapes",
    "conforms_with_path",
    "located_target",
    "observe",
    "observe_all",
    "observe_fallback",
    "outcome_symptom",
    "read_report",
    "read_shapes",
]
