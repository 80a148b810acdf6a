"""Whether a property shape would hold if the values stood under another predicate."""

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.symptoms.components import ROLE
from kgreason.symptoms.model import Constraint
from kgreason.symptoms.paths import IllFormedError, of_predicate
from kgreason.symptoms.scope import Context, Scope, fails_here
from kgreason.symptoms.superclasses import Superclasses
from kgreason.symptoms.values import Exact, NotCompilableError, Variables, bind_values
from kgreason.templates import Fragment, template

_FOCUS = Fragment("?focus")
_NOTHING = Fragment("true")


def conforms_with_path(
    constraint: Constraint, graph: Graph, predicate: ox.NamedNode, pattern: Fragment
) -> Fragment:
    """Give a SELECT of ?focus: the nodes of `pattern` that would satisfy the property shape.

    They have a value under `predicate`, and the whole property shape of the constraint would hold
    if its path were that predicate. Where the shape cannot be compiled, or there is none, it gives
    no node.
    """
    variables = Variables("w")
    exact = Exact(graph.formed)
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
