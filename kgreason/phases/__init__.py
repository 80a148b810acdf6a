"""The phases of the loop: each reads the record and the graph, does its work, writes one step."""

from kgreason.phases.bench import Bench, Symptom, marks_of
from kgreason.phases.decide import conclude, decide
from kgreason.phases.design import design, tell_apart
from kgreason.phases.execute import execute
from kgreason.phases.hypothesize import hypothesize, set_aside
from kgreason.phases.observe import record_symptoms

__all__ = [
    "Bench",
    "Symptom",
    "conclude",
    "decide",
    "design",
    "execute",
    "hypothesize",
    "marks_of",
    "record_symptoms",
    "set_aside",
    "tell_apart",
]
