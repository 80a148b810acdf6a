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
    where it has a name. Where the shape asks for a value at the end of several steps, these are the
    `path`, and it is complete for what they lead to.
    """

    term: ox.NamedNode
    target: Fragment | None = None
    shape: ox.NamedNode | None = None
    path: tuple[ox.NamedNode, ...] = ()


def declarations(named: Iterable[str], constraints: Iterable[Constraint]) -> tuple[Declared, ...]:
    """Return the properties and classes that a user named or of which shapes ask for a value."""
    told = [Declared(ox.NamedNode(iri)) for iri in dict.fromkeys(named)]
    return (*told, *dict.fromkeys(_by_shapes(constraints)))


def _by_shapes(constraints: Iterable[Constraint]) -> Iterator[Declared]:
    for constraint in constraints:
        steps = constraint.path.forwards if constraint.path is not None else ()
        if constraint.component == SH.MinCountConstraintComponent and steps:
            least = constraint.parameters.get(SH.minCount, ())
            if any(
                n.value.isdecimal() and int(n.value) > 0 for n in least if isinstance(n, ox.Literal)
            ):
                further = steps if steps[1:] else ()
                yield Declared(steps[-1], constraint.target, constraint.named_shape, further)


def complete_for(view: View, declared: Iterable[Declared]) -> frozenset[ox.NamedNode]:
    """Return what is complete for all nodes that a view looks at."""
    return frozenset(e.term for e in declared if not e.path and _for_all(view, e.target))


def asked_for(view: View, declared: Iterable[Declared]) -> frozenset[tuple[ox.NamedNode, ...]]:
    """Return the paths of several steps at whose end shapes ask all those nodes for a value."""
    return frozenset(e.path for e in declared if e.path and _for_all(view, e.target))


def _for_all(view: View, target: Fragment | None) -> bool:
    if target is None or target == view.constraint.target:
        return True
    return not view.marks.population.everyone & ~members(view, target)


def record_declared(step: Step, declared: Iterable[Declared], investigation: ox.NamedNode) -> int:
    """Write down what is declared complete and by whom; gives the number of declarations."""
    written: dict[tuple[ox.NamedNode, str, ox.NamedNode | None], None] = {}
    for each in (one for one in declared if not one.path):
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
