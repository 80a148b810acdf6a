"""Run constraints on a graph."""

from collections.abc import Iterable

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.graph.graph import exact
from kgreason.store import Results, Term, guarded_select
from kgreason.symptoms.model import Constraint, Observation, Result
from kgreason.symptoms.values import as_stored

_SECONDS = 60.0


def observe(graph: Graph, constraint: Constraint, *, seconds: float = _SECONDS) -> Observation:
    """Give the population and all that fails; all terms just as they were written.

    Raises TimeoutExceeded where a query of the shapes' author takes longer than `seconds`.
    """
    query = constraint.failing_query
    if constraint.guarded:
        rows = guarded_select(graph.store, query, seconds, constraint.label)
    else:
        rows = graph.store.select(query)
    population = constraint.population
    if population is None:
        population = graph.store.scalar(constraint.population_query)
    return observation(graph, constraint, population, rows)


def observation(
    graph: Graph, constraint: Constraint, population: int | None, rows: Results
) -> Observation:
    """Make an observation of the rows of a failing query."""
    found: dict[Result, None] = {}
    for row in rows:
        focus, value, path = row.get("focus"), row.get("value"), row.get("path")
        if focus is not None:
            for result in _written(graph, constraint, exact(focus), value, path):
                found[result] = None
    return Observation(population, grouped(found), tuple(found))


def grouped(results: Iterable[Result]) -> dict[Term, tuple[Term, ...]]:
    """Give the values at fault by focus node."""
    failing: dict[Term, dict[Term, None]] = {}
    for result in results:
        values = failing.setdefault(result.focus, {})
        if result.value is not None:
            values[result.value] = None
    return {focus: tuple(values) for focus, values in failing.items()}


def _written(
    graph: Graph, constraint: Constraint, focus: Term, value: Term | None, path: Term | None
) -> list[Result]:
    """Give a result with its value as it was written.

    A closed shape or a query of the shapes' author gives values as they are stored.
    """
    plain = exact(value) if value is not None else None
    here = path or (constraint.path.predicate if constraint.path else None)
    if (
        not constraint.exact.gives_path
        or not isinstance(here, ox.NamedNode)
        or here not in graph.formed
        or isinstance(focus, ox.Literal)
        or not isinstance(plain, ox.Literal)
    ):
        return [Result(focus, plain, path)]
    forms = [v for v in graph.exact_values(focus, here) if as_stored(v) == plain]
    return [Result(focus, form, path) for form in forms] or [Result(focus, plain, path)]
