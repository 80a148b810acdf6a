"""Which properties a node needs a value of to have an outcome, as the graph shows it."""

from collections.abc import Collection, Mapping
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import figure
from kgreason.base.store import Term
from kgreason.base.terms import TYPE
from kgreason.graph import Graph

NEARLY: Final = figure("nearlyAll")
"""The share of nodes from which on nearly all of them are meant."""


def needed(
    spoken: Collection[str] | None, graph: Graph, outcomes: Mapping[Term, bool]
) -> tuple[ox.NamedNode, ...]:
    """Return those of the properties that a query names which every node with the outcome has.

    `spoken` is what it names where it says who has it, `outcomes` who has. Some of the nodes with
    the property, one in ten, have to be without the outcome: else to have the property is to have
    the outcome, and there is nobody to compare with.
    """
    bad = {node for node, true in outcomes.items() if true}
    found = []
    for name in sorted(set(spoken or ()) - {TYPE.value}):
        try:
            named = ox.NamedNode(name)
        except ValueError:
            continue  # a text or a number
        said = graph.store.inner.quads_for_pattern(None, named, None, ox.DefaultGraph())
        having = {quad.subject for quad in said} & outcomes.keys()
        if bad and bad <= having and len(bad) < NEARLY * len(having):
            found.append(named)
    return tuple(found)
