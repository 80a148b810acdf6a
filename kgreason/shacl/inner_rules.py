"""Which rules of an inner shape the values break that do not conform to it (sh:node).

The shape is told to look at these very values and at nothing else, and its rules are checked there.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term
from kgreason.base.terms import OWL, RDFS, SH, TYPE
from kgreason.graph import Graph
from kgreason.shacl.compiler import compile_shapes
from kgreason.shacl.constraint import Constraint, Observation
from kgreason.shacl.observation import observe_all
from kgreason.shacl.shapes import TARGETS, Node, Shapes
from kgreason.shacl.symptom_names import names

_MOST: Final = 1_000
"""Values that are looked at, the first in order: they stand in a query."""
_TOLD: Final = 3
_CLASSES: Final = frozenset({RDFS.Class, OWL.Class})


def inner_rules(
    graph: Graph,
    constraint: Constraint,
    observation: Observation,
    seconds: float,
    *,
    sampled: bool = False,
    unknown: AbstractSet[str] = frozenset(),
) -> str | None:
    """Describe which inner rules are broken and by how many of the values at fault.

    None where the constraint is no sh:node that somebody fails, or nothing can be told of it.
    `sampled` says that not all failing nodes are observed, `unknown` are nodes of which the graph
    does not have all that is said.
    """
    inner = constraint.parameters.get(SH.node, ())
    shapes, values = constraint.shapes, _at_fault(constraint, observation, unknown)
    if shapes is None or len(inner) != 1 or isinstance(inner[0], ox.Literal) or not values:
        return None
    try:
        compiled = compile_shapes(_aimed(shapes, inner[0], values), graph, seconds=seconds)
        broken = list(observe_all(graph, compiled.constraints, seconds=seconds))
    except KgreasonError:
        return None
    called = names([one for one, _ in broken])
    counted = [
        (len(set(found.failing) & set(values)), name)
        for (_, found), name in zip(broken, called, strict=True)
        if isinstance(found, Observation)
    ]
    told = sorted((c for c in counted if c[0]), key=lambda each: (-each[0], each[1]))
    return _told(constraint, len(values), told, sampled=sampled) if told else None


def _told(
    constraint: Constraint, values: int, broken: list[tuple[int, str]], *, sampled: bool
) -> str:
    rules = [
        f"“{name}” ({'all' if number == values else f'{number:,}'})"
        for number, name in broken[:_TOLD]
    ]
    more = f" and {len(broken) - _TOLD} more" if len(broken) > _TOLD else ""
    (name,) = names([constraint])
    told = f"{', '.join(rules)}{more}"
    nodes = "1 node" if values == 1 else f"{values:,} nodes"
    one = values == 1
    nodes += f" that {'was' if one else 'were'} taken" if sampled else ""
    nodes += " breaks" if one else " break"
    path = constraint.path
    if path is None:
        return f"“{name}” asks for an inner shape, of which {nodes} {told}."
    aim = (
        f" With the target sh:targetObjectsOf {path.text} at the inner shape, causes are looked "
        "for among them."
        if path.predicate
        else ""
    )
    return (
        f"“{name}” fails for what is said of the values: {nodes} {told} of the inner shape, and "
        f"that is where to mend.{aim}"
    )


def _at_fault(
    constraint: Constraint, observation: Observation, unknown: AbstractSet[str]
) -> list[ox.NamedNode | ox.Literal]:
    """Return the values at fault that a query can name and that are known, at most a thousand."""
    found: Iterable[Term | None] = observation.failing
    if constraint.path is not None:
        found = (value for values in observation.failing.values() for value in values)
    named = {term for term in found if isinstance(term, ox.NamedNode | ox.Literal)}
    return sorted((term for term in named if term.value not in unknown), key=str)[:_MOST]


def _aimed(shapes: Shapes, inner: Node, values: list[ox.NamedNode | ox.Literal]) -> Shapes:
    """Return the shapes with some nodes as the only target, that of one shape."""
    index = {
        shape: {
            predicate: tuple(o for o in objects if predicate != TYPE or o not in _CLASSES)
            for predicate, objects in described.items()
            if predicate not in TARGETS
        }
        for shape, described in shapes.index.items()
    }
    index.setdefault(inner, {})[SH.targetNode] = tuple(values)
    return Shapes(index, shapes.files, prefixes=shapes.prefixes)
