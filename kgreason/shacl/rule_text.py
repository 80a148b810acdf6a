"""What a rule says: as a query, or as its shape has it where another engine checks it."""

from typing import Final

from pyoxigraph import BlankNode, NamedNode

from kgreason.base.store import Term
from kgreason.base.terms import SH
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.shapes import Node, Shapes

_COMPARED: Final = (SH.lessThan, SH.lessThanOrEquals, SH.equals, SH.disjoint)


def rule_text(constraint: Constraint) -> str:
    """Return the query of a rule; where there is none, the terms of its shape, as SPARQL has them.

    Empty where a report alone says who fails.
    """
    if not constraint.is_listed:
        return constraint.violation.text
    if constraint.shapes is None or constraint.shape is None:
        return ""
    return _spelled(constraint.shapes, constraint.shape)


def compared_with(constraint: Constraint) -> frozenset[Term]:
    """Return the properties with whose values a rule compares those of its path."""
    return frozenset(t for p in _COMPARED for t in constraint.parameters.get(p, ()))


def _spelled(shapes: Shapes, shape: Node) -> str:
    said: list[str] = []
    seen, waiting = {shape}, [shape]
    while waiting:
        for predicate, values in shapes.index.get(waiting.pop(), {}).items():
            for value in values:
                said.append(f"{predicate} {value}")
                if isinstance(value, BlankNode | NamedNode) and value not in seen:
                    seen.add(value)
                    waiting.append(value)
    return " . ".join(said)
