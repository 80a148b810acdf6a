"""A symptom that the user asks for: a SELECT of ?focus and ?outcome."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError, QueryError
from kgreason.base.store import Results, Row, Store, Term, check_query, guarded_select
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS, XSD
from kgreason.graph import Graph
from kgreason.shacl.asked_terms import asked_terms
from kgreason.shacl.compared_ends import compared_ends
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Constraint, Texts
from kgreason.shacl.exists_joins import once
from kgreason.shacl.needed import needed
from kgreason.shacl.outcome_cut import Cut, outcome_cut
from kgreason.shacl.paths import IllFormedError
from kgreason.shacl.population import Counts
from kgreason.shacl.prebinding import expanded
from kgreason.shacl.readings import readings
from kgreason.shacl.shapes import key_of
from kgreason.shacl.tried_readings import corrected_readings

_TRUE: Final = frozenset({"true", "1"})


def outcome_symptom(
    text: str,
    graph: Graph,
    at: Decimal | None = None,
    *,
    where: str = "--outcome",
    seconds: float = 60.0,
) -> Constraint:
    """Make a symptom of a user's query.

    ?outcome is a boolean, true where ?focus fails, or a number, which fails from `at` on: by
    default from where the upper of two groups of numbers begins (the greatest number of each node),
    else the upper quartile. Raises
    QueryError for a query that does not parse (with line and column), calls SERVICE, lacks ?focus
    or ?outcome, gives no rows, leaves these unbound or mixes kinds; OptionError for `at` with
    booleans.
    """
    check_query(text, where)
    if not _is_select(text):
        raise QueryError(f"{where}: the query must be a SELECT of ?focus and ?outcome.")
    _has_both(Store(ox.Store(), where).select(text).variables, where)
    select = _inner(text, where)
    graph.store.spell(select.text.strip(), once(select.text.strip()))
    rows = guarded_select(graph.store, select.text, seconds, where)
    pairs = [(row["focus"], row["outcome"]) for row in rows if {"focus", "outcome"} <= set(row)]
    if not pairs:
        raise QueryError(f"{where}: {_nothing(rows)}, so there is no outcome.")
    numbers = _numbers(pairs, at, where)
    cut = _cut(numbers, at)
    truths = {} if numbers else _truths(pairs)
    made = replace(
        _constraint(text, select, cut and cut.at),
        population=len({focus for focus, _ in pairs}),
        torn=_torn(pairs, truths),
        cut_bits=cut.bits if cut else None,
        numbers=numbers,
    )
    return made if numbers else tried(made, text, graph, truths, seconds, where)


def _nothing(rows: Sequence[Row]) -> str:
    """Return why rows tell no outcome: there are none, or none binds a variable."""
    if not rows:
        return "the query gives no rows on this data"
    name = "outcome" if any("focus" in row for row in rows) else "focus"
    return (
        f"the query gives {len(rows):,} rows on this data, and ?{name} is unbound in every one "
        "(its expression is an error for all of these values)"
    )


def outcome_elsewhere(
    text: str, graph: Graph, at: Decimal | None, counts: Counts, where: str = "--outcome"
) -> Constraint:
    """Make a symptom of a user's query for a graph that `counts` counts the nodes of.

    Where it counts nothing, nothing is asked of the graph. Numbers are cut at `at`, which has to be
    given: where they part is worked out from all of them. Raises QueryError and OptionError as
    `outcome_symptom` does.
    """
    check_query(text, where)
    variables = Store(ox.Store(), where).select(text).variables if _is_select(text) else ()
    _has_both(variables, where)
    made = _constraint(text, _inner(text, where), at)
    population = counts.count(made.target, guarded=True)
    if population is None:
        return made
    if not population:
        raise QueryError(f"{where}: the query gives no rows on this data, so there is no outcome.")
    kinds = template("endpoint", "outcome-kinds").render(select=_inner(text, where))
    (row,) = graph.store.select(kinds)
    rows, truths, numbers = (int(float(row[n].value)) for n in ("rows", "truths", "numbers"))
    if at is None and numbers == rows:
        raise OptionError(
            f"{where}: ?outcome is a number here; say with --at from which number on a node fails. "
            "Where numbers part is worked out from all of them, and an endpoint is not asked that."
        )
    if (truths if at is None else numbers) != rows:
        raise QueryError(
            f"{where}: ?outcome must be true or false for all nodes, or a number for all; of "
            f"{rows:,} rows {truths:,} have true or false, and {numbers:,} a number"
            f"{'' if at is None else ', and --at is for numbers'}."
        )
    return replace(made, population=population)


def tried(
    constraint: Constraint,
    text: str,
    graph: Graph,
    outcomes: Mapping[Term, bool],
    seconds: float,
    where: str,
) -> Constraint:
    """Return a symptom of a user's query with what trials on the graph show that it asks."""
    given = (expanded(text), graph, outcomes, seconds, where)
    return replace(
        constraint,
        readings=corrected_readings(constraint.readings, *given),
        needed=needed(constraint.spoken, graph, outcomes),
    )


def _constraint(text: str, select: Fragment, at: Decimal | None) -> Constraint:
    """Make the symptom of a query whose numbers fail from `at` on; None is for true and false."""
    bound = None if at is None else ox.Literal(format(at, "f"), datatype=XSD.decimal)
    violation = (
        template(ROLE, "outcome-true").fragment(select=select)
        if bound is None
        else template(ROLE, "outcome-at").fragment(select=select, at=bound)
    )
    target = template(ROLE, "outcome-target").fragment(select=select)
    texts = Texts(target, violation, whole=True)
    return Constraint(
        key_of(text, str(bound)),
        *(None, None, TRAILS.OutcomeQuery, None, None, None),
        {},
        texts,
        texts,
        guarded=True,
        at=bound,
        readings=readings(select.text, at=bound and bound.value),
        spoken=asked_terms(select.text, at=bound and bound.value),
        matched=compared_ends(select.text),
    )


def _is_select(text: str) -> bool:
    return re.search(r"\bselect\b", text, re.IGNORECASE) is not None


def _has_both(variables: Sequence[str], where: str) -> None:
    """Refuse a query without ?focus or ?outcome; raises QueryError."""
    if not variables:
        raise QueryError(f"{where}: the query must be a SELECT of ?focus and ?outcome.")
    missing = [name for name in ("focus", "outcome") if name not in variables]
    if missing:
        raise QueryError(
            f"{where}: the query must give ?focus and ?outcome; "
            f"{' and '.join('?' + name for name in missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing."
        )


def _inner(text: str, where: str) -> Fragment:
    """Return a query as it can stand in another; raises QueryError for one that cannot."""
    try:
        return Fragment(expanded(text))
    except IllFormedError as error:
        raise QueryError(f"{where}: {error}.") from error


def _numbers(pairs: list[tuple[Term, Term]], at: Decimal | None, where: str) -> dict[Term, Decimal]:
    """Return the greatest number of each node; nothing where the outcome is true or false."""
    booleans = [o for _, o in pairs if isinstance(o, ox.Literal) and o.datatype == XSD.boolean]
    if len(booleans) == len(pairs):
        if at is not None:
            raise OptionError(f"{where}: --at is for numbers, but ?outcome is true or false here.")
        return {}
    greatest: dict[Term, Decimal] = {}
    for focus, outcome in pairs:
        number = _number(outcome)
        if number is None:
            raise QueryError(
                f"{where}: ?outcome must be true or false for all nodes, or a number for all; "
                f"for {focus} it is {outcome}."
            )
        greatest[focus] = max(number, greatest.get(focus, number))
    return greatest


def _truths(pairs: list[tuple[Term, Term]]) -> dict[Term, bool]:
    """Return for each node whether it has an outcome that is true or false."""
    out: dict[Term, bool] = {}
    for focus, outcome in pairs:
        true = isinstance(outcome, ox.Literal) and outcome.value in _TRUE
        out[focus] = out.get(focus, False) or true
    return out


def _torn(pairs: list[tuple[Term, Term]], truths: Mapping[Term, bool]) -> int:
    """Return how many nodes have an outcome that is true and another that is false."""
    return len({f for f, o in pairs if truths.get(f) and getattr(o, "value", "") not in _TRUE})


def _cut(numbers: dict[Term, Decimal], at: Decimal | None) -> Cut | None:
    """Return where numbers are cut, or None for booleans."""
    if not numbers:
        return None
    return outcome_cut(numbers.values()) if at is None else Cut(at)


def _number(term: Term) -> Decimal | None:
    if not isinstance(term, ox.Literal) or not term.datatype.value.startswith(XSD.iri):
        return None
    try:
        number = Decimal(term.value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def population_target(text: str, graph: Graph, where: str, seconds: float) -> tuple[Fragment, int]:
    """Return the target made of a user's SELECT of ?focus, and how many nodes it has."""
    check_query(text, where)
    rows: Results = guarded_select(graph.store, text, seconds, where)
    if "focus" not in rows.variables:
        raise QueryError(f"{where}: the query must give ?focus.")
    nodes = {row["focus"] for row in rows if "focus" in row}
    return template(ROLE, "population-target").fragment(select=_inner(text, where)), len(nodes)


def population_elsewhere(text: str, counts: Counts, where: str) -> tuple[Fragment, int | None]:
    """Return the target made of a user's SELECT of ?focus, and how many nodes `counts` counts."""
    check_query(text, where)
    if not _is_select(text) or "focus" not in Store(ox.Store(), where).select(text).variables:
        raise QueryError(f"{where}: the query must be a SELECT that gives ?focus.")
    target = template(ROLE, "population-target").fragment(select=_inner(text, where))
    return target, counts.count(target, guarded=True)
