"""Figures that SPARQL has no arithmetic for, recomputed with the functions that made them.

What a kind of test records decides how much of it follows again. Of an association everything does,
the e-value and the outcome class; of a check and its placebo the rate and the class; of the spread
among siblings and the strata of a rival the class alone, as far as the recorded p-value decides it:
their tables are not in the record.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.audit.history import History
from kgreason.audit.report import Finding
from kgreason.probes import (
    association,
    counterexamples,
    direct_check,
    placebo,
    sibling_spread,
    stratification,
)
from kgreason.probes.finding import Setting, decimal
from kgreason.probes.statistics import Table
from kgreason.store import Row, Term
from kgreason.terms import TRAILS, XSD

Figures = Mapping[str, Decimal]


@dataclass(frozen=True)
class Expected:
    """The outcome classes that fit, and the figures that follow from the counts."""

    outcomes: frozenset[str]
    figures: Mapping[str, Decimal | int] = field(default_factory=dict)


def findings(history: History) -> Iterator[Finding]:
    """Recompute what each piece of evidence says from its recorded counts."""
    for node in history.instances(TRAILS.Evidence):
        given = history.properties(node)
        kind = _text(given.get(TRAILS.testKind))
        recompute = _KINDS.get(kind)
        if recompute is None:
            continue
        figures = _figures(given)
        try:
            expected = recompute(figures, _discovery(history, given.get(TRAILS.hypothesis)))
        except (KeyError, ValueError, ArithmeticError) as error:
            said = f"The figures of this {kind} cannot be recomputed: {error!r}."
            yield Finding("figures", node.value, said)
            continue
        outcome = _text(given.get(TRAILS.outcomeClass))
        said = "; ".join(_differences(expected, figures, outcome))
        if said:
            yield Finding("figures", node.value, f"It does not follow from its counts: {said}.")


def _differences(expected: Expected, figures: Figures, outcome: str) -> Iterator[str]:
    if outcome not in expected.outcomes:
        yield f"the outcome is {outcome}, not {' or '.join(sorted(expected.outcomes))}"
    for name, value in expected.figures.items():
        if figures.get(name) != value:
            yield f"{name} is {figures.get(name)}, not {value}"


def _text(values: list[Term] | None) -> str:
    return values[0].value if values else ""


def _figures(given: Mapping[ox.NamedNode, list[Term]]) -> dict[str, Decimal]:
    return {
        predicate.value.removeprefix(TRAILS.iri): Decimal(values[0].value)
        for predicate, values in given.items()
        if isinstance(values[0], ox.Literal) and values[0].datatype in {XSD.integer, XSD.decimal}
    }


def _discovery(history: History, hypothesis: list[Term] | None) -> Table | None:
    """Give the counts on the discovery half, which the e-value was registered with."""
    if not hypothesis:
        return None
    figures = _figures(history.properties(hypothesis[0]))
    names = ("InsideFailing", "Inside", "OutsideFailing", "Outside")
    counts = [figures.get(f"discovery{name}") for name in names]
    return Table(*(int(n) for n in counts if n is not None)) if None not in counts else None


def _number(value: Decimal | int) -> ox.Literal:
    return ox.Literal(str(int(value)), datatype=XSD.integer)


def _association(figures: Figures, discovery: Table | None) -> Expected:
    inside, failing = figures["inside"], figures["insideFailing"]
    row = {
        "inside": _number(inside),
        "insideFailing": _number(failing),
        "population": _number(inside + figures["outside"]),
        "failing": _number(failing + figures["outsideFailing"]),
    }
    found = association.read([row], Setting(discovery))
    return Expected(frozenset({found.outcome}), found.figures)


def _counterexamples(figures: Figures, discovery: Table | None) -> Expected:
    rows: list[Row] = []
    for name, fails in (("passingInside", "false"), ("outsideFailing", "true")):
        row: Row = {"focus": TRAILS.node, "fails": ox.Literal(fails)}
        rows += [row] * int(figures[name])
    found = counterexamples.read(rows, Setting(discovery))
    return Expected(frozenset({found.outcome}), found.figures)


def _placebo(figures: Figures, _: Table | None) -> Expected:
    row = {"claimed": _number(figures["claimed"]), "holds": _number(figures["holds"])}
    found = placebo.read([row], Setting())
    return Expected(frozenset({found.outcome}), found.figures)


def _check(figures: Figures, _: Table | None) -> Expected:
    claimed = int(figures["claimed"])
    rate = int(figures["holds"]) / claimed if claimed else 0.0
    clear = figures.get("lift", Decimal(1)) >= Decimal(str(direct_check.LIFT))
    outcome = "partly" if rate >= direct_check.PARTLY and clear else "fails"
    if rate >= direct_check.HOLDS and clear:
        outcome = "holds"
    return Expected(frozenset({outcome}), {"rate": decimal(rate)})


def _sibling_spread(figures: Figures, _: Table | None) -> Expected:
    if "pValue" not in figures:
        return Expected(frozenset({"undetermined"}))
    if figures["levels"] < sibling_spread.FEW:
        return Expected(frozenset({"undetermined"}), {"levels": sibling_spread.FEW})
    beyond = figures["pValue"] <= Decimal(str(sibling_spread.TAIL))
    return Expected(frozenset({"beyond" if beyond else "within"}))


def _stratification(figures: Figures, _: Table | None) -> Expected:
    if "pValue" not in figures:
        return Expected(frozenset({"undetermined"}))
    possible = {"vanishes", "undetermined"}
    if figures["pValue"] <= Decimal(str(stratification.PERSISTS)):
        possible.add("persists")
    return Expected(frozenset(possible))


_KINDS: Final[dict[str, Callable[[Figures, Table | None], Expected]]] = {
    "association": _association,
    "counterexamples": _counterexamples,
    "placebo": _placebo,
    "closure-placebo": _placebo,
    "direct-check": _check,
    "closure-check": _check,
    "sibling-spread": _sibling_spread,
    "stratification": _stratification,
}
