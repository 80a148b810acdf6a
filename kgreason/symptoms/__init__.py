"""Symptoms: each SHACL constraint, or a query of the user, as a population and an outcome."""

from kgreason.symptoms.compiler import compile_shapes
from kgreason.symptoms.model import Compiled, Constraint, Fallback, Observation, Result
from kgreason.symptoms.observe import observe
from kgreason.symptoms.paths import Path
from kgreason.symptoms.shapes import Shapes, read_shapes

__all__ = [
    "Compiled",
    "Constraint",
    "Fallback",
    "Observation",
    "Path",
    "Result",
    "Shapes",
    "compile_shapes",
    "observe",
    "read_shapes",
]
