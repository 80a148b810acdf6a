"""What is declared complete: of which properties and classes silence means absence."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.base.templates import Fragment
from kgreason.base.terms import PROV, SH
from kgreason.context.view import View, members
from kgreason.record import Step
from kgreason.shacl import Constraint


@dataclass(frozen=True)
class Declared:
    """A property or class that is complete: by the user, or by a shape for its focus nodes.

    `target` binds ?focus to those; without it, it is complete for all nodes. `shape` is the shape,
    where it has a name.
    """

    term: ox.NamedNode
    target: Fragment | None = None
    shape: ox.NamedNode | None = None


def declarations(named: Iterable[str], constraints: Iterable[Constraint]) -> tuple[Declared, ...]:
    """Return the properties and classes that a user named or of which shapes ask for a value."""
    told = [Declared(ox.NamedNode(iri)) for iri in dict.fromkeys(named)]
    return (*told, *dict.fromkeys(_by_shapes(constraints)))


def _by_shapes(constraints: Iterable[Constraint]) -> Iterator[Declared]:
    for constraint in constraints:
        predicate = constraint.path.predicate if constraint.path is not None else None
        if constraint.component == SH.MinCountConstraintComponent and predicate is not None:
            least = constraint.parameters.get(SH.minCount, ())
            if any(
                n.value.isdecimal() and int(n.value) > 0 for n in least if isinstance(n, ox.Literal)
            ):
                yield Declared(predicate, constraint.target, constraint.named_shape)


def complete_for(view: View, declared: Iterable[Declared]) -> frozenset[ox.NamedNode]:
    """Return what is complete for all nodes that a view looks at."""
    everyone = view.marks.population.everyone
    return frozenset(
        each.term
        for each in declared
        if each.target is None
        or each.target == view.constraint.target
        or not everyone & ~members(view, each.target)
    )


def record_declared(step: Step, declared: Iterable[Declared], investigation: ox.NamedNode) -> int:
    """Write down what is declared complete and by whom; gives the number of declarations."""
    written: dict[tuple[ox.NamedNode, str, ox.NamedNode | None], None] = {}
    for each in declared:
        written[each.term, "user" if each.target is None else "shape", each.shape] = None
    for term, origin, shape in written:
        step.make(
            "Declaration",
            PROV.Entity,
            investigation=investigation,
            completeFor=term,
            origin=origin,
            shape=shape,
        )
    return len(written)
