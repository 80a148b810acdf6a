"""Observations made elsewhere: by pySHACL, or in an existing validation report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term, guarded
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import XSD
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Compiled, Constraint, Fallback, Observation, Texts
from kgreason.shacl.paths import Path
from kgreason.shacl.pyshacl_run import Reference
from kgreason.shacl.shapes import Shapes
from kgreason.shacl.values import among

_FOCUS = Fragment("?focus")
_VALUE = Fragment("?value")
_MOST = 2000  # values that are named in one query; more take long to look through


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
            found.append((_listed(fallback, {}, compiled.shapes), error))
            continue
        found.append((_listed(fallback, observed.failing, compiled.shapes), observed))
    return found


def _listed(
    fallback: Fallback, failing: Mapping[Term, Sequence[Term]], shapes: Shapes
) -> Constraint:
    nodes = list(failing)
    target = fallback.target or all_listed(nodes)
    fails = _values_listed(fallback.path, failing) or fails_listed(nodes)
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


def _values_listed(path: Path | None, failing: Mapping[Term, Sequence[Term]]) -> Fragment | None:
    """Return the violation that lists the values too by which nodes fail; None where it cannot.

    That is where there is such a value of each node, at the end of one predicate, and each can be
    named in a query as the store has it.
    """
    predicate = path.predicate if path is not None else None
    values = list(dict.fromkeys(value for each in failing.values() for value in each))
    named = [value for value in values if _as_it_stands(value)]
    if predicate is None or not failing or not all(failing.values()):
        return None
    if len(named) < len(values) or len(values) > _MOST or len(_named(list(failing))) < len(failing):
        return None
    return template(ROLE, "listed-values").fragment(
        values=Fragment(f"?focus {predicate} ?value ."),
        among=among(_FOCUS, _named(list(failing))),
        fails=among(_VALUE, _named(named)),
    )


def _as_it_stands(value: Term) -> bool:
    """Check whether a value is an IRI or a text, which the store never writes in another form."""
    text = isinstance(value, ox.Literal) and (bool(value.language) or value.datatype == XSD.string)
    return isinstance(value, ox.NamedNode) or text


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
