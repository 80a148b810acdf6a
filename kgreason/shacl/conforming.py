"""Whether a property shape would hold if the values stood under another predicate."""

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.paths import IllFormedError, of_predicate
from kgreason.shacl.scope import Context, Scope, fails_here
from kgreason.shacl.superclasses import Superclasses
from kgreason.shacl.values import Exact, NotCompilableError, Variables, bind_values

_FOCUS = Fragment("?focus")
_NOTHING = Fragment("true")


def conforms_with_path(
    constraint: Constraint, graph: Graph, predicate: ox.NamedNode, pattern: Fragment
) -> Fragment:
    """Return a SELECT of ?focus: the nodes of `pattern` that would satisfy the property shape.

    They have a value under `predicate`, and the whole property shape of the constraint would hold
    if its path were that predicate. Where the shape cannot be compiled, or there is none, it gives
    no node.
    """
    variables = Variables("w")
    exact = Exact(graph.formed, beyond=graph.beyond)
    path = of_predicate(predicate)
    fails = _NOTHING
    if constraint.shapes is not None and constraint.shape is not None and constraint.path:
        context = Context(
            constraint.shapes,
            exact,
            graph.formed,
            Superclasses(graph.store),
            variables,
            open=(constraint.shape,),
        )
        scope = Scope(
            context, constraint.shape, path, _FOCUS, variables.new(), exact.concerns(path)
        )
        try:
            fails = fails_here(scope)
        except (NotCompilableError, IllFormedError):
            fails = _NOTHING
    return template(ROLE, "conforming").fragment(
        pattern=pattern,
        values=bind_values(path, _FOCUS, variables.new(), variables, exact, inside=True),
        fails=fails,
    )
