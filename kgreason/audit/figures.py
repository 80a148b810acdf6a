"""Figures that SPARQL has no arithmetic for, recomputed with the functions that made them.

Every kind records the counts it rests on, so all of its figures and its outcome class follow again:
e-values and p-values from the tables of the regions, siblings and strata, rates from what was
claimed and what held. The counts themselves follow from the graph alone (`recheck`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.audit import effects
from kgreason.audit.findings import Finding
from kgreason.audit.merged import History, Properties
from kgreason.audit.words import RULE as WORDS
from kgreason.base.statistics import Count, Table
from kgreason.base.store import Row, Term
from kgreason.base.terms import TRAILS, TYPE, XSD
from kgreason.test import (
    association,
    broken_counts,
    closure_check,
    closure_placebo,
    code_length,
    counterexamples,
    dealt_clusters,
    direct_check,
    effect,
    period_spread,
    placebo,
    recurrence,
    rescaling,
    sibling_spread,
    stratification,
    trial_counts,
)
from kgreason.test import finding as probe
from kgreason.test.finding import Setting, decimal

Figures = Mapping[str, Decimal]
_NUMBERS: Final = frozenset({XSD.integer, XSD.decimal})
_TRUE: Final = frozenset({"true", "1"})
_DERIVED: Final = frozenset({"eValue", "pValue", "rate", "lift", "levels"}) | effect.DERIVED
_MOST: Final = 10_000_000  # rows; a forged count must not fill the memory
_OWN: Final = ox.Literal("own")
_CLOSED: Final = re.compile(r"\((owlrl|reasonable|none)\)")
_SPREAD: Final = "sibling-spread"
_COUNTED: Final = {"claimed": "violationsBefore", "holds": "violationsRemoved"}
_COUNTS_PASSING: Final = '("passing" AS ?own)'


@dataclass(frozen=True)
class Recorded:
    """What a piece of evidence says: its figures, its strata, and the table it was found on.

    `engine` closed the graph, as the note has it; `passing` says that nodes that pass were counted.
    A passing node counts with `weight` in rates. `ways` are the ways of breaking a rule that the
    strata are of, in their order. `direct` says that the hypothesis is checked directly.
    """

    figures: Figures
    strata: Sequence[Figures]
    discovery: Table | None
    engine: str = "none"
    passing: bool = False
    weight: float = 1.0
    ways: Sequence[str] = ()
    direct: bool = False

    @property
    def setting(self) -> Setting:
        """What reading it needs to know."""
        return Setting(self.discovery, weight=self.weight)


def check(history: History, node: Term, given: Properties) -> Iterator[Finding]:
    """Recompute what a piece of evidence says from its recorded counts; `given` is said of it."""
    types = given.get(TYPE, ())
    if TRAILS.RepairAttempt in types:
        yield from _attempt(node, given)
    if TRAILS.Verdict in types:
        yield from effects.check(history, node, given)
    if TRAILS.Evidence not in types:
        return
    kind = _text(given.get(TRAILS.testKind))
    recompute = KINDS.get(kind)
    if recompute is None:
        return
    try:
        figures = _figures(given)
        parts = [history.properties(s) for s in given.get(TRAILS.stratum, ())]
        strata = [_figures(part) for part in parts]
        ways = [_text(part.get(TRAILS.way)) for part in parts]
        weight = weight_of(history, given.get(TRAILS.hypothesis, ()))
        discovery = _discovery(history, given.get(TRAILS.hypothesis), weight)
        note = _text(given.get(TRAILS.note))
        passing = kind == _SPREAD and any(
            _COUNTS_PASSING in query
            for test in given.get(TRAILS.test, ())
            for query in history.values(test, TRAILS.query)
        )
        direct = any(
            _text(history.properties(h).get(TRAILS.gate)) == "direct"
            for h in given.get(TRAILS.hypothesis, ())
        )
        recorded = Recorded(
            figures, strata, discovery, engine_of(note), passing, weight, ways, direct
        )
        expected = recompute(recorded)
    except (KeyError, ValueError, ArithmeticError) as error:
        said = f"The figures of this {kind} cannot be recomputed: {error!r}."
        yield Finding("figures", node.value, said)
        return
    outcome = _text(given.get(TRAILS.outcomeClass))
    said = "; ".join(_differences(expected, figures, outcome))
    yield from _told(node, note, expected.note, said)


def _attempt(node: Term, given: Properties) -> Iterator[Finding]:
    """Check what is said of an attempt at a repair, which follows from its counts."""
    try:
        figures = {n: int(_figures(given)[_COUNTED.get(n, n)]) for n in trial_counts.RECORDED}
    except KeyError:
        return  # the shapes say which is not there
    yield from _told(node, _text(given.get(TRAILS.note)), trial_counts.judged(figures).note, "")


def _told(node: Term, note: str, expected: str, said: str) -> Iterator[Finding]:
    """Compare a note with the one that the counts give; `said` is what else is wrong with them."""
    other = f"the note is “{note}”, not “{expected}”"
    if not set(_numbers(note)) <= set(_numbers(expected)):
        said += f"{'; ' if said else ''}{other}"
    elif note != expected:
        yield Finding(WORDS, node.value, f"Its counts are told otherwise: {other}.")
    if said:
        yield Finding("figures", node.value, f"It does not follow from its counts: {said}.")


def _numbers(note: str) -> list[str]:
    """Return the numbers of a sentence, which follow from counts whatever words are around them."""
    return re.findall(r"\d+(?:[.,]\d+)*(?:e[+-]\d+)?", note)


def engine_of(note: str) -> str:
    """Return the engine that a note on a closure names; the counts do not show which it was."""
    found = _CLOSED.search(note)
    return found[1] if found else "none"


def _differences(expected: probe.Finding, figures: Figures, outcome: str) -> Iterator[str]:
    if outcome != expected.outcome:
        yield f"the outcome is {outcome}, not {expected.outcome}"
    for name, value in expected.figures.items():
        if figures.get(name) != value:
            yield f"{name} is {figures.get(name)}, not {value}"
    for name in sorted(_DERIVED & set(figures) - set(expected.figures)):
        yield f"{name} is {figures[name]}, but nothing gives one"


def _text(values: list[Term] | None) -> str:
    return values[0].value if values else ""


def _figures(given: Mapping[ox.NamedNode, list[Term]]) -> dict[str, Decimal]:
    return {
        predicate.value.removeprefix(TRAILS.iri): Decimal(values[0].value)
        for predicate, values in given.items()
        if isinstance(values[0], ox.Literal) and values[0].datatype in _NUMBERS
    } | {
        predicate.value.removeprefix(TRAILS.iri): Decimal(values[0].value in _TRUE)
        for predicate, values in given.items()
        if isinstance(values[0], ox.Literal) and values[0].datatype == XSD.boolean
    }


def _discovery(history: History, hypothesis: list[Term] | None, weight: float) -> Table | None:
    """Return the counts on the discovery half, which the e-value was registered with."""
    if not hypothesis:
        return None
    figures = _figures(history.properties(hypothesis[0]))
    names = ("InsideFailing", "Inside", "OutsideFailing", "Outside")
    counts = [figures.get(f"discovery{name}") for name in names]
    known = [int(n) for n in counts if n is not None]
    return replace(Table(*known), weight=weight) if len(known) == len(counts) else None


def weight_of(history: History, hypotheses: Iterable[Term]) -> float:
    """Return what a passing node counts in rates of the symptom of hypotheses; 1 where all do."""
    return next(
        (
            float(text)
            for one in hypotheses
            for symptom in history.properties(one).get(TRAILS.symptom, ())
            for text in history.values(symptom, TRAILS.passingWeight)
        ),
        1.0,
    )


def _times(number: Decimal) -> int:
    if number > _MOST:
        raise ValueError(f"{number} is no likely number of nodes")
    return int(number)


def _flag(value: bool) -> ox.Literal:  # noqa: FBT001 - a value, not a switch
    return ox.Literal("true" if value else "false", datatype=XSD.boolean)


def _number(value: Decimal | int) -> ox.Literal:
    return ox.Literal(str(int(value)), datatype=XSD.integer)


def _association(given: Recorded) -> probe.Finding:
    found = association.read([_sides(given.figures)], given.setting)
    if not set(effect.RAW) <= given.figures.keys():
        return found
    sides = int(given.figures["inside"]), int(given.figures["outside"])
    return replace(found, figures={**found.figures, **effect.derived(given.figures, *sides)})


def _code_length(given: Recorded) -> probe.Finding:
    cost = ox.Literal(str(given.figures["codeLength"]), datatype=XSD.decimal)
    return code_length.read([{**_sides(given.figures), "codeLength": cost}], given.setting)


def _dealt_clusters(given: Recorded) -> probe.Finding:
    more: Row = {
        "partLength": ox.Literal(str(given.figures["codeLength"]), datatype=XSD.decimal),
        "ways": _number(given.figures["coarseWays"]),
    }
    rows: list[Row] = [
        {
            **_level(_OWN, cluster),
            "shared": _number(cluster["inside"] if cluster["within"] else 0),
            "failingElsewhere": _number(0 if place else cluster["outsideFailing"]),
            "elsewhere": _number(0 if place else cluster["outside"]),
            **more,
        }
        for cluster in given.strata
        for place in range(_times(cluster["times"]))
    ]
    return dealt_clusters.read(rows, given.setting)


def _recurrence(given: Recorded) -> probe.Finding:
    rows: list[Row] = [
        {**_level(_OWN, half), "place": _number(half["index"])} for half in given.strata
    ]
    return recurrence.read(rows, given.setting)


def _sides(figures: Figures, failing: str = "insideFailing") -> Row:
    """Return the counts of both sides as the query gave them."""
    inside, inside_failing = figures["inside"], figures[failing]
    return {
        "inside": _number(inside),
        failing: _number(inside_failing),
        "population": _number(inside + figures["outside"]),
        "failing": _number(inside_failing + figures["outsideFailing"]),
    }


def _counterexamples(given: Recorded) -> probe.Finding:
    figures = given.figures
    absent, unknown = (figures.get(name, Decimal(0)) for name in ("absent", "unknown"))
    rows: list[Row] = [_node("false")] * _times(figures["passingInside"])
    rows += [_node("true", known=True)] * _times(figures["outsideFailing"] - absent)
    rows += [_node("true", complete=True)] * _times(absent)
    rows += [_node("true")] * _times(unknown)
    failing = figures["insideFailing"] + figures["outsideFailing"]
    rows.append({"failing": _number(failing + unknown)})
    return counterexamples.read(rows, given.setting)


def _node(fails: str, *, known: bool = False, complete: bool = False) -> Row:
    said = {"known": _flag(known), "complete": _flag(complete)}
    return {"focus": TRAILS.node, "fails": ox.Literal(fails), **said}


def _placebo(given: Recorded) -> probe.Finding:
    row = {name: _number(given.figures[name]) for name in ("claimed", "holds")}
    return placebo.read([row], Setting())


def _direct_check(given: Recorded) -> probe.Finding:
    row = _sides(given.figures, "claimed")
    return direct_check.read([{**row, "holds": _number(given.figures["holds"])}], given.setting)


def _closure_check(given: Recorded) -> probe.Finding:
    claimed, holds = int(given.figures["claimed"]), int(given.figures["holds"])
    rate = holds / claimed if claimed else 0.0
    note = closure_check.told(claimed, holds, given.engine)
    return probe.Finding(closure_check.judged(claimed, holds), note, {"rate": decimal(rate)})


def _closure_placebo(given: Recorded) -> probe.Finding:
    claimed, holds = int(given.figures["claimed"]), int(given.figures["holds"])
    return replace(_placebo(given), note=closure_placebo.told(claimed, holds, given.engine))


def _sibling_spread(given: Recorded) -> probe.Finding:
    rows: list[Row] = [
        _level(ox.Literal(f"{number} {place}"), sibling)
        for number, sibling in enumerate(given.strata)
        for place in range(_times(sibling["times"]))
    ]
    if "inside" in given.figures:
        own = ox.Literal(sibling_spread.PASSING) if given.passing else _OWN
        rows.append({**_level(_OWN, given.figures), "own": own})
    return sibling_spread.read(rows, Setting(level=_OWN, weight=given.weight))


def _level(level: Term, figures: Figures) -> Row:
    failing, population = _number(figures["insideFailing"]), _number(figures["inside"])
    return {"level": level, "failing": failing, "population": population}


def _period_spread(given: Recorded) -> probe.Finding:
    sides: dict[bool, list[Count]] = {False: [], True: []}
    for period in sorted(given.strata, key=lambda stratum: stratum["index"]):
        counts = int(period["insideFailing"]), int(period["inside"])
        sides[bool(period["within"])].append(counts)
    return period_spread.judge(sides[False], sides[True], given.weight)


def _stratification(given: Recorded) -> probe.Finding:
    rows: list[Row] = [
        {
            "other": _flag(bool(stratum["within"])),
            "own": _flag(own),
            "failing": _number(stratum[f"{side}Failing"]),
            "population": _number(stratum[side]),
        }
        for stratum in given.strata
        for side, own in (("inside", True), ("outside", False))
    ]
    return stratification.read(rows, Setting())


def _intervention(given: Recorded) -> probe.Finding:
    return trial_counts.judged({name: int(given.figures[name]) for name in trial_counts.RECORDED})


def _restatement(given: Recorded) -> probe.Finding:
    return broken_counts.judged(
        [
            broken_counts.Broken(way, int(s["inside"] + s["outside"]), int(s["inside"]))
            for way, s in zip(given.ways, given.strata, strict=True)
        ],
        direct=given.direct,
    )


def _rescaling(given: Recorded) -> probe.Finding:
    figures = given.figures
    sides = (
        rescaling.Sizes(
            int(figures[count]), float(figures.get(median, 0)), float(figures.get(spread, 0))
        )
        for count, median, spread in (
            ("inside", "logMedianInside", "spreadInside"),
            ("outside", "logMedianOutside", "spreadOutside"),
        )
    )
    inside, outside = sides
    apart = float(figures.get("shapeDistance", 0))
    return rescaling.judged(inside, outside, lambda _: apart)


KINDS: Final[dict[str, Callable[[Recorded], probe.Finding]]] = {
    "association": _association,
    "code-length": _code_length,
    "dealt-clusters": _dealt_clusters,
    "recurrence": _recurrence,
    "counterexamples": _counterexamples,
    "placebo": _placebo,
    "closure-placebo": _closure_placebo,
    "direct-check": _direct_check,
    "intervention": _intervention,
    "closure-check": _closure_check,
    "sibling-spread": _sibling_spread,
    "period-spread": _period_spread,
    "stratification": _stratification,
    "restatement": _restatement,
    "rescaling": _rescaling,
}
