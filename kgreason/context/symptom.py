"""Symptom: a constraint, what was observed of it, and its node in the record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.weights import Drawn
from kgreason.shacl import Constraint
from kgreason.shacl.constraint import Observation


@dataclass(frozen=True)
class Symptom:
    """A constraint and what was observed of it.

    `index` counts the symptoms of an investigation from 1 on, 0 where none is recorded. `drawn`
    says how many nodes were drawn of how many, None where the graph is at hand as a whole.
    """

    constraint: Constraint
    observation: Observation
    index: int = 0
    recorded: ox.NamedNode | None = None
    drawn: Drawn | None = None

    def numbered(self, node: ox.NamedNode, index: int) -> Self:
        """Return this symptom with its node and its number in a record."""
        return replace(self, recorded=node, index=index)

    @property
    def node(self) -> ox.NamedNode:
        """The node in the record; before it is recorded an IRI made of the constraint's key."""
        return self.recorded or ox.NamedNode(f"urn:kgreason:symptom:{self.constraint.key}")

    @property
    def weight(self) -> float:
        """What a passing node stands for beside a failing one; 1 where no node was left out."""
        return 1.0 if self.drawn is None else self.drawn.weight

    @property
    def failing(self) -> Mapping[Term, tuple[Term, ...]]:
        """The failing focus nodes, each with its values at fault."""
        return self.observation.failing

    @property
    def population(self) -> int:
        """The number of focus nodes; where it is not known, that of the failing ones."""
        return self.observation.population or len(self.failing)

    @property
    def counted(self) -> bool:
        """Whether it is known who did not fail; if not, nothing can be proposed."""
        return self.observation.population is not None


@dataclass(frozen=True)
class Observed:
    """All constraints that were looked at, and what there is to say of the input.

    `doubts` are those of the notices that say why no failure (or a failure) may mean nothing: no
    node was looked at, or an ontology seems to be missing.
    """

    symptoms: tuple[Symptom, ...] = ()
    notices: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def failing(self) -> list[Symptom]:
        """What at least one focus node fails, the most failures first."""
        bad = [symptom for symptom in self.symptoms if symptom.failing]
        return sorted(bad, key=lambda s: (-len(s.failing), s.constraint.key))
