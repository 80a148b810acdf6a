"""Sowing faults with a known cause into any graph, and scoring what is found of them."""

from kgreason.faults.ground import Ground, ground_of
from kgreason.faults.running import Trial, run

__all__ = ["Ground", "Trial", "ground_of", "run"]
