"""The place where a fault is being injected."""

from dataclasses import dataclass
from random import Random

from kgreason.base.templates import Template
from kgreason.inject.base_graph import BaseGraph
from kgreason.inject.fault import Table, Target


@dataclass
class Site:
    """Where a fault is being injected."""

    base: BaseGraph
    table: Table
    target: Target
    operation: Template
    rng: Random
    added: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of focus nodes."""
        return len(self.table.nodes)
