"""The phases of the loop: each reads the record and the graph, does its work, writes one step."""

from kgreason.phases.bench import Bench, Symptom, marks_of
from kgreason.phases.challenge import challenge
from kgreason.phases.decide import conclude, decide
from kgreason.phases.design import design, tell_apart
from kgreason.phases.execute import execute
from kgreason.phases.hypothesize import hypothesize, set_aside
from kgreason.phases.observe import record_symptoms
from kgreason.phases.script import Script, repeat

__all__ = [
    "Bench",
    "Script",
    "Symptom",
    "challenge",
    "conclude",
    "decide",
    "design",
    "execute",
    "hypothesize",
    "marks_of",
    "record_symptoms",
    "repeat",
    "set_aside",
    "tell_apart",
]
