"""What is injected: constraints to break, regions to break them in, and the truth of a trial."""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import SH, TYPE

Focus = ox.NamedNode
Values = dict[int, list[tuple[Term, ox.NamedNode]]]
"""For each holder (its place in the table), the values of a property with their named graphs."""

SHAPES: Final = "https://example.org/sown/shapes#"
NODE_SHAPE: Final = ox.NamedNode(SHAPES + "Node")
PROPERTY_SHAPE: Final = ox.NamedNode(SHAPES + "Property")
ALIKE: Final = 0.8
"""Two regions with at least this Jaccard index are the same region."""


def draws(*parts: object) -> random.Random:
    """Return random numbers that depend on these parts alone."""
    text = "\n".join(map(str, parts))
    return random.Random(hashlib.sha256(text.encode()).hexdigest())  # noqa: S311 - no secrets here


@dataclass(frozen=True)
class Target:
    """A constraint that holds for (nearly) all nodes of a class and that a fault will break.

    `component` is the SHACL component without its ending; `value` its parameter, None where the
    component needs none from the data. `population` and `failing` count focus nodes of the clean
    data.
    """

    cls: ox.NamedNode
    path: ox.NamedNode
    component: str
    value: Term | None
    population: int
    failing: int

    @property
    def iri(self) -> str:
        """The component's IRI."""
        return f"{SH.iri}{self.component}ConstraintComponent"

    def shapes(self) -> list[ox.Triple]:
        """Return the shapes graph of this one constraint."""
        name = self.component[0].lower() + self.component[1:]
        number = ox.Literal(1)
        value: Term | None = {"MinCount": number, "MaxCount": number}.get(
            self.component, self.value
        )
        triples = [
            ox.Triple(NODE_SHAPE, TYPE, SH.NodeShape),
            ox.Triple(NODE_SHAPE, SH.targetClass, self.cls),
            ox.Triple(NODE_SHAPE, SH.property, PROPERTY_SHAPE),
            ox.Triple(PROPERTY_SHAPE, SH.path, self.path),
        ]
        if self.component == "Closed":
            return triples[:2]
        return triples if value is None else [*triples, ox.Triple(PROPERTY_SHAPE, SH[name], value)]


@dataclass(frozen=True)
class Level:
    """One level of a dimension: the nodes (places in the table) that meet a condition.

    `kind` is the kind of cause that it would be, `form` what sort of condition it is; `levels`
    says how many there are in its dimension. `kinds` are those of the parts of a conjunction.
    """

    kind: str
    form: str
    dimension: str
    level: str
    condition: str
    nodes: frozenset[int] = field(repr=False)
    levels: int
    kinds: frozenset[str] = frozenset()


@dataclass
class Table:
    """The nodes of one class with all they have, in a fixed order."""

    cls: ox.NamedNode
    nodes: list[Focus]
    index: Mapping[Focus, int]
    values: dict[ox.NamedNode, Values]
    graphs: dict[int, set[ox.NamedNode]]


@dataclass(frozen=True)
class Cause:
    """One cause that was injected: its kind, the kinds that describe the same nodes, who is meant.

    `nodes` are the focus nodes that meet the condition, `corrupted` those that were changed.
    `levels` is the number of levels in the dimension of the region (1 for what has none),
    `condition` the graph pattern or the words that say what the nodes have in common. `also` are
    other sets of nodes by which it is told as well, such as a mechanism in a region.
    """

    kind: str
    twins: frozenset[str]
    condition: str
    nodes: frozenset[Focus] = field(repr=False)
    corrupted: frozenset[Focus] = field(repr=False)
    levels: int = 1
    severity: float = 1.0
    also: tuple[frozenset[Focus], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Truth:
    """What was done in one trial; no causes where there is nothing to find.

    `background` is the rate of the same damage elsewhere, `operations` are the templates applied,
    `added` what was added to the data so that the fault could be injected. `decoy` are the nodes
    that an innocent proxy of the cause marks. With `silence`, to name no cause is right too.
    """

    target: Target
    causes: tuple[Cause, ...]
    operations: tuple[str, ...]
    background: float
    population: frozenset[Focus] = field(repr=False)
    added: tuple[str, ...] = ()
    shape: str = PROPERTY_SHAPE.value
    decoy: frozenset[Focus] = field(default=frozenset(), repr=False)
    silence: bool = False


def jaccard(one: frozenset[Focus] | set[Focus], other: frozenset[Focus] | set[Focus]) -> float:
    """Return the Jaccard index of two sets, 0 to 1; 0 where both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0
