"""Observations made elsewhere: by pySHACL, or in an existing validation report."""

from dataclasses import replace
from functools import partial

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term, guarded
from kgreason.base.templates import Fragment, template
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Compiled, Constraint, Fallback, Observation, Texts
from kgreason.shacl.pyshacl_run import Reference
from kgreason.shacl.shapes import Shapes
from kgreason.shacl.values import among

_FOCUS = Fragment("?focus")


def fails_listed(nodes: list[Term]) -> Fragment:
    """Return the violation that lists the failing nodes; blank nodes cannot be named in a query."""
    return template(ROLE, "listed").fragment(among=among(_FOCUS, _named(nodes)))


def all_listed(nodes: list[Term]) -> Fragment:
    """Return the target that has the failing nodes alone, where no other is known."""
    return template(ROLE, "target-node").fragment(focus=_FOCUS, given=list(_named(nodes)))


def _named(nodes: list[Term]) -> list[ox.NamedNode | ox.Literal]:
    return [node for node in nodes if isinstance(node, ox.NamedNode | ox.Literal)]


def observe_fallback(
    graph: Graph, compiled: Compiled, *, seconds: float = 60.0
) -> list[tuple[Constraint, Observation | KgreasonError]]:
    """Run by pySHACL what did not compile; the violation of each then lists its failing nodes.

    Each has its own process and may take `seconds`, for pySHACL runs a query once for every node.
    """
    found: list[tuple[Constraint, Observation | KgreasonError]] = []
    reference = Reference(graph)
    for fallback in compiled.fallback:
        if compiled.shapes is None:
            continue
        try:
            reference.load()
            observed = guarded(
                partial(reference.observe, compiled.shapes, fallback),
                seconds,
                "the constraint that pySHACL checks",
            )
        except KgreasonError as error:
            found.append((_listed(fallback, [], compiled.shapes), error))
            continue
        found.append((_listed(fallback, list(observed.failing), compiled.shapes), observed))
    return found


def _listed(fallback: Fallback, nodes: list[Term], shapes: Shapes) -> Constraint:
    target, fails = fallback.target or all_listed(nodes), fails_listed(nodes)
    texts, portable = Texts(target, fails), Texts(fallback.portable or target, fails)
    return Constraint(
        fallback.key,
        fallback.shape,
        fallback.named_shape,
        fallback.component,
        fallback.path,
        fallback.severity,
        fallback.message,
        fallback.parameters,
        texts,
        portable,
        fallback.population,
        source=fallback.source,
        title=fallback.title,
        shapes=shapes,
    )


def relisted(constraint: Constraint, nodes: list[Term]) -> Constraint:
    """Return a compiled constraint whose failing nodes are known from elsewhere."""
    fails = fails_listed(nodes)
    return replace(
        constraint,
        exact=Texts(constraint.exact.target, fails),
        portable=Texts(constraint.portable.target, fails),
        rule=constraint.exact,
        guarded=False,
    )
