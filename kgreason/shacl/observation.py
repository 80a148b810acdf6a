"""Run constraints on a graph."""

from collections.abc import Iterable, Iterator, Sequence

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Results, Term
from kgreason.graph import Graph
from kgreason.graph.graph import exact
from kgreason.shacl.constraint import Constraint, Observation, Result
from kgreason.shacl.guard import select_each
from kgreason.shacl.values import as_stored

_SECONDS = 60.0


def observe(graph: Graph, constraint: Constraint, *, seconds: float = _SECONDS) -> Observation:
    """Return the population and all that fails; all terms just as they were written.

    Raises TimeoutExceeded where a query of the shapes' author takes longer than `seconds`.
    """
    for _, outcome in observe_all(graph, [constraint], seconds=seconds):
        if isinstance(outcome, KgreasonError):
            raise outcome
        return outcome
    raise AssertionError("observe_all gives one outcome for each constraint")


def observe_all(
    graph: Graph, constraints: Sequence[Constraint], *, seconds: float = _SECONDS
) -> Iterator[tuple[Constraint, Observation | KgreasonError]]:
    """Return each constraint with its observation, or with the error that its query ended in.

    Queries of the shapes' author come last, in a process of their own, each with a time limit.
    """
    for constraint in constraints:
        if not constraint.guarded:
            rows = graph.store.select(constraint.failing_query)
            yield constraint, observation(graph, constraint, rows)
    guarded = [constraint for constraint in constraints if constraint.guarded]
    queries = [(constraint.failing_query, constraint.label) for constraint in guarded]
    outcomes = select_each(graph.store, queries, seconds)
    for constraint, outcome in zip(guarded, outcomes, strict=True):
        if isinstance(outcome, KgreasonError):
            yield constraint, outcome
        else:
            yield constraint, observation(graph, constraint, outcome)


def observation(graph: Graph, constraint: Constraint, rows: Results) -> Observation:
    """Make an observation of the rows of a failing query."""
    population = constraint.population
    if population is None:
        population = graph.store.scalar(constraint.population_query)
    found: dict[Result, None] = {}
    for row in rows:
        focus, value, path = row.get("focus"), row.get("value"), row.get("path")
        if focus is not None:
            holder = row.get("owner") or focus
            for result in _written(graph, constraint, exact(focus), exact(holder), value, path):
                found[result] = None
    return Observation(population, grouped(found), tuple(found))


def grouped(results: Iterable[Result]) -> dict[Term, tuple[Term, ...]]:
    """Return the values at fault by focus node."""
    failing: dict[Term, dict[Term, None]] = {}
    for result in results:
        values = failing.setdefault(result.focus, {})
        if result.value is not None:
            values[result.value] = None
    return {focus: tuple(values) for focus, values in failing.items()}


def _written(
    graph: Graph,
    constraint: Constraint,
    focus: Term,
    holder: Term,
    value: Term | None,
    path: Term | None,
) -> list[Result]:
    """Return a result with its value as it was written.

    A closed shape or a query of the shapes' author gives values as they are stored, unless it was
    made to read them as written; then they carry the mark. `holder` is the node that has the value.
    """
    plain = exact(value) if value is not None else None
    here = path or (constraint.path.predicate if constraint.path else None)
    if (
        not constraint.exact.gives_path
        or not isinstance(here, ox.NamedNode)
        or here not in graph.formed
        or isinstance(holder, ox.Literal)
        or not isinstance(plain, ox.Literal)
        or plain != value
    ):
        return [Result(focus, plain, path)]
    forms = [v for v in graph.exact_values(holder, here) if as_stored(v) == plain]
    return [Result(focus, form, path) for form in forms] or [Result(focus, plain, path)]
