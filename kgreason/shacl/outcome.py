"""A symptom that the user asks for: a SELECT of ?focus and ?outcome."""

import re
from decimal import Decimal, InvalidOperation
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import OptionError, QueryError
from kgreason.base.store import Results, Term, check_query, guarded_select
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS, XSD
from kgreason.graph import Graph
from kgreason.shacl.components import ROLE
from kgreason.shacl.constraint import Constraint, Texts
from kgreason.shacl.outcome_cut import Cut, outcome_cut
from kgreason.shacl.paths import IllFormedError
from kgreason.shacl.prebinding import expanded
from kgreason.shacl.readings import readings
from kgreason.shacl.shapes import key_of
from kgreason.shacl.tried_readings import tried_readings, with_values

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
    or ?outcome, gives no rows or mixes kinds; OptionError for `at` with booleans.
    """
    check_query(text, where)
    if not re.search(r"\bselect\b", text, re.IGNORECASE):
        raise QueryError(f"{where}: the query must be a SELECT of ?focus and ?outcome.")
    rows = guarded_select(graph.store, text, seconds, where)
    missing = [name for name in ("focus", "outcome") if name not in rows.variables]
    if missing:
        raise QueryError(
            f"{where}: the query must give ?focus and ?outcome; "
            f"{' and '.join('?' + name for name in missing)} is missing."
        )
    pairs = [(row["focus"], row["outcome"]) for row in rows if {"focus", "outcome"} <= set(row)]
    if not pairs:
        raise QueryError(f"{where}: the query gives no rows on this data, so there is no outcome.")
    try:
        select = Fragment(expanded(text))
    except IllFormedError as error:
        raise QueryError(f"{where}: {error}.") from error
    numbers = _numbers(pairs, at, where)
    cut = _cut(numbers, at)
    bound = cut and ox.Literal(format(cut.at, "f"), datatype=XSD.decimal)
    target = template(ROLE, "outcome-target").fragment(select=select)
    violation = (
        template(ROLE, "outcome-true").fragment(select=select)
        if bound is None
        else template(ROLE, "outcome-at").fragment(select=select, at=bound)
    )
    texts = Texts(target, violation, whole=True)
    read = readings(select.text, at=bound and bound.value)
    if not numbers:
        given = (select.text, graph, _truths(pairs), seconds, where)
        read = with_values(read, *given) if read else tried_readings(*given)
    return Constraint(
        key_of(text, str(bound)),
        *(None, None, TRAILS.OutcomeQuery, None, None, None),
        {},
        texts,
        texts,
        population=len({focus for focus, _ in pairs}),
        guarded=True,
        at=bound,
        cut_bits=cut.bits if cut else None,
        numbers=numbers,
        readings=read,
    )


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
    try:
        select = expanded(text)
    except IllFormedError as error:
        raise QueryError(f"{where}: {error}.") from error
    nodes = {row["focus"] for row in rows if "focus" in row}
    return template(ROLE, "population-target").fragment(select=Fragment(select)), len(nodes)
