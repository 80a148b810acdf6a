"""The smallest effect that a search would have seen, worked out again from the recorded counts."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History, Properties
from kgreason.base.detectable import detectable
from kgreason.base.store import Term
from kgreason.base.terms import POLICY, TRAILS

_WITHOUT_CAUSE: Final = ("no systematic cause", "inconclusive")
_RECORDED: Final = ("detectableNodes", "detectableFailing", "detectableFewest")


def check(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Recompute which effects would have been seen, where the verdict names no cause."""
    numbers = (_number(history, *one) for one in _counts(history, given))
    population, failing, family, alpha = (None if n is None else float(n) for n in numbers)
    if alpha is None or failing is None:
        return
    needed = max(1.0, family or 0.0) / alpha
    seen = detectable(int(population or 0), int(failing), needed)
    told = _said(given) in _WITHOUT_CAUSE
    expected = () if seen is None or not told else (seen.nodes, seen.failing, seen.fewest)
    recorded = tuple(
        int(v.value) for name in _RECORDED for v in given.get(TRAILS[name], ()) if v.value.isdigit()
    )
    if recorded != expected:
        said = f"What would have been seen is {expected}, not {recorded}."
        yield Finding("figures", node.value, said)


def _counts(history: History, given: Properties) -> Iterator[tuple[Term | None, ox.NamedNode]]:
    """Return the node and property of each number that the smallest effect hangs on."""
    symptom = next(iter(given.get(TRAILS.symptom, ())), None)
    yield symptom, TRAILS.population
    yield symptom, TRAILS.failing
    steps = [
        step
        for step in history.instances(TRAILS.Step)
        if TRAILS.Decide in history.properties(step).get(TRAILS.phase, ())
    ]
    place = {step: _number(history, step, TRAILS.index) or Decimal(0) for step in steps}
    yield max(steps, key=lambda step: place[step], default=None), TRAILS.ebhFamily
    asked = next(iter(history.instances(TRAILS.Investigation)), None)
    policies = history.properties(asked).get(TRAILS.policy, ()) if asked is not None else ()
    yield next(iter(policies), None), POLICY.alpha


def _number(history: History, node: Term | None, name: ox.NamedNode) -> Decimal | None:
    values = history.properties(node).get(name, ()) if node is not None else ()
    try:
        return Decimal(values[0].value) if values else None
    except ArithmeticError:
        return None


def _said(given: Properties) -> str:
    return next((value.value for value in given.get(TRAILS.outcome, ())), "")
