"""Which property shapes of one path apply to a node, whatever constraint is looked at."""

from collections.abc import Iterator

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.base.terms import SH
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.paths import DEEP, IllFormedError, shape_path
from kgreason.shacl.shapes import Node, Shapes
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.targets import Target, read_targets
from kgreason.shacl.values import Exact, NotCompilableError, Variables

Applying = tuple[Node, Target]
"""A property shape, and the target from which it is reached."""


def shapes_at(shapes: Shapes, graph: Graph, predicate: ox.NamedNode) -> list[Applying]:
    """Return the property shapes at a predicate that every node of some target has to satisfy.

    These are reached from a shape with a target by sh:property, and before it by sh:node and sh:and
    alone: what stands in sh:or, sh:xone or sh:not need not hold. A target that is a query of the
    author's is left out, for it cannot be asked of a single node.
    """
    superclasses, classes = Superclasses(graph.store), shapes.classes()
    found: dict[Applying, None] = {}
    for shape in shapes.index:
        for target in read_targets(shapes, shape, superclasses, classes)[0]:
            if target.of_user:
                continue
            for each in _beneath(shapes, shape, frozenset()):
                if _path(shapes, each) == predicate:
                    found[each, target] = None
    return list(found)


def asked_at(shapes: Shapes, graph: Graph, predicate: ox.NamedNode) -> Fragment | None:
    """Return a condition on ?focus: a shape asks for a property of it; None where no shape does.

    A shape that forbids the property (sh:maxCount 0) does not ask for it.
    """
    aims = {
        target: None
        for shape, target in shapes_at(shapes, graph, predicate)
        if not any(getattr(m, "value", "") == "0" for m in shapes.objects(shape, SH.maxCount))
    }
    tests = [reached for target in aims if (reached := is_in(target, graph)) is not None]
    if not tests:
        return None
    return Fragment(" || ".join(t.text for t in tests), _prefixes(tests))


def is_in(target: Target, graph: Graph) -> Fragment | None:
    """Return the condition that ?focus is in a target, or None where it cannot be asked."""
    # Other constraints use these variables; a pattern of its own must not meet them.
    exact, variables = Exact(graph.formed, beyond=graph.beyond), Variables("at")
    try:
        pattern = target.pattern(Fragment("?focus"), variables, exact)
    except (NotCompilableError, IllFormedError):
        return None
    return template(ROLE, "in-target").fragment(pattern=pattern)


def _beneath(shapes: Shapes, shape: Node, above: frozenset[Node]) -> Iterator[Node]:
    """Return a shape and those that a node has to satisfy because it has to satisfy this one."""
    if shapes.is_true(shape, SH.deactivated) or shape in above or len(above) >= DEEP:
        return
    yield shape
    if _path(shapes, shape) is not None or shapes.objects(shape, SH.path):
        return  # what stands beneath a property shape is about its values
    below = [*shapes.nodes(shape, SH.property), *shapes.nodes(shape, SH.node)]
    for head in shapes.objects(shape, SH["and"]):
        below += [t for t in shapes.list(head) or () if not isinstance(t, ox.Literal)]
    for each in below:
        yield from _beneath(shapes, each, above | {shape})


def _path(shapes: Shapes, shape: Node) -> ox.NamedNode | None:
    try:
        path = shape_path(shapes, shape)
    except IllFormedError:
        return None
    return None if path is None else path.predicate


def _prefixes(made: list[Fragment]) -> dict[str, str]:
    return {prefix: iri for each in made for prefix, iri in each.prefixes.items()}
