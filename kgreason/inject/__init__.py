"""Inject faults with a known cause into any graph, and score what is found of them."""

from kgreason.inject.base_graph import Ground, ground_of
from kgreason.inject.trials import Trial, run

__all__ = ["Ground", "Trial", "ground_of", "run"]
