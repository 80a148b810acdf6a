"""From shapes, reports and outcome queries to constraints as SPARQL."""

from kgreason.shacl.applying import asked_at
from kgreason.shacl.axioms import Axioms, compile_axioms, read_axioms
from kgreason.shacl.bound import bound_to
from kgreason.shacl.chosen import chosen_by
from kgreason.shacl.compiler import compile_shapes
from kgreason.shacl.conforming import conforms_with_path
from kgreason.shacl.constraint import Compiled, Constraint, Fallback, Observation, Result
from kgreason.shacl.fallback import observe_fallback
from kgreason.shacl.located import Located, located
from kgreason.shacl.observation import observe, observe_all
from kgreason.shacl.outcome import outcome_elsewhere, outcome_symptom, tried
from kgreason.shacl.paths import Path, of_predicate
from kgreason.shacl.readings import Reading, readings
from kgreason.shacl.report_reader import Reported, read_report
from kgreason.shacl.shapes import Shapes, read_shapes
from kgreason.shacl.symptom_names import asks, names
from kgreason.shacl.unchecked import missing, nothing

__all__ = [
    "Axioms",
    "Compiled",
    "Constraint",
    "Fallback",
    "Located",
    "Observation",
    "Path",
    "Reading",
    "Reported",
    "Result",
    "Shapes",
    "asked_at",
    "asks",
    "bound_to",
    "chosen_by",
    "compile_axioms",
    "compile_shapes",
    "conforms_with_path",
    "located",
    "missing",
    "names",
    "nothing",
    "observe",
    "observe_all",
    "observe_fallback",
    "of_predicate",
    "outcome_elsewhere",
    "outcome_symptom",
    "read_axioms",
    "read_report",
    "read_shapes",
    "readings",
    "tried",
]
