"""Whether a property shape would hold if the values stood under another predicate."""

from collections.abc import Iterator

from kgreason.base.templates import Fragment, template
from kgreason.graph import Graph
from kgreason.shacl.applying import is_in, shapes_at
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.paths import IllFormedError, Path
from kgreason.shacl.scope import Context, Scope, fails_here
from kgreason.shacl.shapes import Node
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.values import Exact, NotCompilableError, Variables, bind_values

_FOCUS = Fragment("?focus")
_NOTHING = Fragment("true")


def conforms_with_path(
    constraint: Constraint, graph: Graph, path: Path, pattern: Fragment
) -> Fragment:
    """Return a SELECT of ?focus: the nodes of `pattern` that would satisfy their property shapes.

    They have a value at the end of `path`. The whole property shape of the constraint would hold if
    its path were that one, and so would every other property shape that is at the same predicate
    and applies to the node. Where the shape cannot be compiled, or there is none, it gives no node;
    another shape that cannot be compiled is passed over.
    """
    variables = Variables("w")
    exact = Exact(graph.formed, beyond=graph.beyond)
    fails = _NOTHING
    if constraint.shapes is not None and constraint.shape is not None and constraint.path:
        own = _fails(constraint, graph, constraint.shape, path, variables, exact)
        if own is not None:
            fails = either(own, *_others(constraint, graph, path, variables, exact))
    return template(ROLE, "conforming").fragment(
        pattern=pattern,
        values=bind_values(path, _FOCUS, variables.new(), variables, exact, inside=True),
        fails=fails,
    )


def _others(
    constraint: Constraint, graph: Graph, path: Path, variables: Variables, exact: Exact
) -> Iterator[Fragment]:
    """Return when the other shapes at the predicate fail, for nodes that they apply to."""
    predicate = constraint.path.predicate if constraint.path else None
    if predicate is None or constraint.shapes is None:
        return
    for shape, target in shapes_at(constraint.shapes, graph, predicate):
        if shape == constraint.shape:
            continue
        reached, fails = (
            is_in(target, graph),
            _fails(constraint, graph, shape, path, variables, exact),
        )
        if reached is not None and fails is not None:
            yield Fragment(
                f"({reached.text.strip()} && ({fails.text.strip()}))",
                {**reached.prefixes, **fails.prefixes},
            )


def _fails(
    constraint: Constraint,
    graph: Graph,
    shape: Node,
    path: Path,
    variables: Variables,
    exact: Exact,
) -> Fragment | None:
    """Return when a property shape would fail with another path, None if it cannot be compiled."""
    if constraint.shapes is None:
        return None
    context = Context(
        constraint.shapes,
        exact,
        graph.formed,
        Superclasses(graph.store),
        variables,
        open=(shape,),
    )
    scope = Scope(context, shape, path, _FOCUS, variables.new(), exact.concerns(path))
    try:
        return fails_here(scope)
    except (NotCompilableError, IllFormedError):
        return None


def either(*tests: Fragment) -> Fragment:
    """Return the condition that holds where any of some conditions does."""
    prefixes = {prefix: iri for test in tests for prefix, iri in test.prefixes.items()}
    return Fragment(" || ".join(f"({test.text.strip()})" for test in tests), prefixes)
