"""Citations: the nodes of the investigated graph that a finding rests on."""

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import PREFIXES, PROV
from kgreason.context.context import Context
from kgreason.graph import Graph
from kgreason.graph.cited import digest
from kgreason.record import Step, cited
from kgreason.shacl import Constraint


def path_of(constraint: Constraint) -> ox.NamedNode | None:
    """Return the predicate a constraint is about, where its path is nothing else."""
    return constraint.path.predicate if constraint.path else None


def cite(
    context: Context,
    step: Step,
    owner: ox.NamedNode,
    node: Term,
    field_: Term | None,
    value: Term | None,
    why: str,
) -> None:
    """Add a citation to `owner`: a node with a field and value, as written, and why it is cited."""
    citation = step.make(
        "Citation",
        PROV.Entity,
        node=cited(node),
        field=field_ if isinstance(field_, ox.NamedNode) else None,
        value=None if value is None or value == node else ox.Literal(_plain(value)),
        valueType=value.datatype if isinstance(value, ox.Literal) else None,
        graph=_graph_of(context.graph, node, field_),
        digest=digest(context.graph, node, field_ if isinstance(field_, ox.NamedNode) else None),
        relevance=why,
    )
    step.describe(owner, cites=citation)


def _plain(value: Term) -> str:
    return f"_:{value.value}" if isinstance(value, ox.BlankNode) else value.value


def _graph_of(graph: Graph, node: Term, field_: Term | None) -> ox.NamedNode | None:
    if isinstance(node, ox.Literal):
        return None
    predicate = field_ if isinstance(field_, ox.NamedNode) else None
    for wanted in (predicate, None):
        for quad in graph.store.inner.quads_for_pattern(node, wanted, None, None):
            name = quad.graph_name
            if isinstance(name, ox.NamedNode) and not name.value.startswith(PREFIXES["work"]):
                return name
    return None
