"""Weights and rates of nodes that were drawn from an endpoint, worked out from their counts."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History, Properties
from kgreason.base.store import Term
from kgreason.base.terms import TRAILS, TYPE
from kgreason.base.weights import Drawn, confirmed_by, rates_of

_COUNTS: Final = ("failingThere", "failingTaken", "passingThere", "passingTaken")
_SIDES: Final = ("insideFailing", "inside", "outsideFailing", "outside")


def check(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Recompute the weight of a symptom, and the rates of a hypothesis in the graph."""
    types = given.get(TYPE, ())
    if TRAILS.Symptom in types:
        drawn = _drawn(history, node)
        weight = {} if drawn is None else {"passingWeight": Decimal(f"{drawn.weight:.9f}")}
        yield from _differs(node, given, ("passingWeight",), weight)
    elif TRAILS.Hypothesis in types:
        drawn = next((_drawn(history, one) for one in given.get(TRAILS.symptom, ())), None)
        counts = [_integer(given, name) for name in _SIDES]
        known = [count for count in counts if count is not None]
        whole = drawn is None or len(known) < len(_SIDES)
        rates = {} if drawn is None or whole else rates_of(drawn, known[:2], known[2:])
        yield from _differs(node, given, RATES, rates)
    elif TRAILS.Confirmation in types:
        yield from _confirmed(history, node, given)


def _confirmed(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Recompute what a region should hold at the endpoint, by what was drawn of it."""
    for one in given.get(TRAILS.hypothesis, ()):
        said = history.properties(one)
        drawn = next((_sample(history, s) for s in said.get(TRAILS.symptom, ())), None)
        failing, inside = (_integer(said, name) for name in ("insideFailing", "inside"))
        if drawn is not None and failing is not None and inside is not None:
            bad, good = confirmed_by(drawn, failing, inside - failing)
            wanted = bad.figures("Failing") | good.figures("Passing")
            yield from _differs(node, given, tuple(wanted), wanted)


RATES: Final = tuple(
    f"rate{side}{end}" for side in ("Inside", "Outside") for end in ("", "From", "Until")
)
"""The rates of a hypothesis where nodes were drawn, by the names of their properties."""


def _drawn(history: History, symptom: Term) -> Drawn | None:
    """Return how many nodes of a symptom were drawn; None where none was left out."""
    found = _sample(history, symptom)
    return None if found is None or found.whole else found


def _sample(history: History, symptom: Term) -> Drawn | None:
    """Return how many nodes of a symptom were drawn; None where it is of no endpoint."""
    for link in history.statements(None, TRAILS.symptom, symptom):
        if TRAILS.Sample in history.types(link.subject):
            said = history.properties(link.subject)
            counts = [_integer(said, name) for name in _COUNTS]
            known = [count for count in counts if count is not None]
            if len(known) == len(_COUNTS):
                there, failing, passing_there, passing = known
                return Drawn(there, failing, passing_there, passing)
    return None


def _differs(
    node: Term, given: Properties, names: tuple[str, ...], expected: dict[str, Decimal]
) -> Iterator[Finding]:
    for name in names:
        said = [value.value for value in given.get(TRAILS[name], ())]
        wanted = expected.get(name)
        if said and wanted is None:
            message = f"{name} is {said[0]}, but no node of it was left out when nodes were drawn."
            yield Finding("figures", node.value, message)
        elif wanted is not None and [*map(_decimal, said)] != [wanted]:
            message = f"{name} is {', '.join(said) or 'nothing'}, not {wanted}."
            yield Finding("figures", node.value, message)


def _integer(given: Properties, name: str) -> int | None:
    values = given.get(TRAILS[name], ())
    return int(values[0].value) if values and values[0].value.isdigit() else None


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except ArithmeticError:
        return None
