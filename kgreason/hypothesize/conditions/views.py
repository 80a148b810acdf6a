"""Make a view of a graph and of what was seen to fail in it, without a record."""

from collections.abc import Iterable

from pyoxigraph import Literal

from kgreason.base.store import Term
from kgreason.base.templates import template
from kgreason.context.view import View, digest
from kgreason.graph import Graph
from kgreason.graph.marks import Focus, Population, mark_failing, mark_population
from kgreason.shacl import Constraint


def view_of(
    graph: Graph,
    constraint: Constraint,
    failing: Iterable[Term],
    populations: dict[str, Population],
    *,
    least: int = 8,
) -> View:
    """Mark who is looked at and who fails; `populations` keeps those that were marked before."""
    key = digest(constraint.target)
    if key not in populations:
        text = template("context", "sources").render(target=constraint.target)
        sources: dict[Focus, list[str]] = {}
        for row in graph.store.select(text):
            if not isinstance(row["focus"], Literal):
                graphs = sources.setdefault(row["focus"], [])
                graphs += [row["graph"].value] if "graph" in row else []
        populations[key] = mark_population(graph, key, sources, [], seed=0)
    marks = mark_failing(graph, f"{key}:{constraint.key}", populations[key], failing, least)
    return View(graph, constraint, marks)
