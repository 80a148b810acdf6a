"""Inject faults with a known cause into any graph, and score what is found of them."""

from kgreason.inject.base_graph import BaseGraph, base_of
from kgreason.inject.trials import Trial, run

__all__ = ["BaseGraph", "Trial", "base_of", "run"]
