"""What the phases share: the symptom, its marks, its view, and how a node is cited."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.budget import UNLIMITED, Budget
from kgreason.base.figures import figure
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import PREFIXES
from kgreason.context.broken import MARKED, mark_broken
from kgreason.context.declared import Declared, asked_for, complete_for
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, digest, exposure_of, members
from kgreason.graph import Graph
from kgreason.graph.marks import (
    Focus,
    Marks,
    Population,
    exposed_of,
    mark_failing,
    mark_population,
    mark_region,
    region_name,
    without,
)
from kgreason.graph.names import Names
from kgreason.record import Record
from kgreason.record.policy import Policy
from kgreason.record.record import literal
from kgreason.shacl import Constraint
from kgreason.shacl.needed import NEARLY

TEST_SECONDS: Final = 600
"""What a registered test may take where the policy does not say it."""
_EXPOSED: Final = figure("exposedShare")
_PREFIX: Final = re.compile(r"PREFIX (?P<prefix>[^:\s]*): <(?P<iri>[^>]*)>\n")


@dataclass
class Context:
    """What the phases share: nothing that the record and the graph do not give again.

    `foreign` says that queries of other authors may be among those that are run: of a record that
    is read again, of an extension, of a hypothesis that somebody suggested. `symptoms` are all that
    are looked into.
    """

    graph: Graph
    record: Record
    policy: Policy
    seed: int
    most: int
    names: Names
    marks: dict[tuple[str, int], Marks] = field(default_factory=dict)
    populations: dict[str, Population] = field(default_factory=dict)
    exposed: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Sequence[Row]] = field(default_factory=dict)
    parted: dict[str, dict[str, int]] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    declared: Sequence[Declared] = ()
    complete: dict[str, frozenset[ox.NamedNode]] = field(default_factory=dict)
    asked: dict[str, frozenset[tuple[ox.NamedNode, ...]]] = field(default_factory=dict)
    budget: Budget = UNLIMITED
    foreign: bool = True
    kept: dict[str, Any] = field(default_factory=dict)
    symptoms: Sequence[Symptom] = ()
    failed: dict[str, tuple[int, ...]] = field(default_factory=dict)


def marks_of(context: Context, symptom: Symptom, round_: int) -> Marks:
    """Mark a symptom's population for a round; what supported regions hold is left out.

    A round that was begun leaves out what it left out then, whatever became of that since.
    """
    known = context.marks.get((symptom.node.value, round_))
    if known is not None:
        return known
    if round_ > 1 and not taken_out(context, symptom, round_):
        return marks_of(context, symptom, 1)
    population = _population(context, symptom, round_)
    made = mark_failing(
        context.graph,
        f"{symptom.index}:{round_}",
        population,
        symptom.failing,
        int(context.policy.number("leastFailing")),
    )
    context.marks[symptom.node.value, round_] = made
    return made


def population_of(context: Context, symptom: Symptom) -> Population:
    """Return the whole population of a symptom, marked."""
    return _population(context, symptom, 1)


def view_of(context: Context, symptom: Symptom, round_: int) -> View:
    """Return what a proposer looks at: a symptom in a round."""
    marks = marks_of(context, symptom, round_)
    view = View(
        context.graph,
        symptom.constraint,
        marks,
        context.known,
        context.answers,
        context.parted,
        budget=context.budget,
        seed=context.seed,
        kept=context.kept,
        failed=_failed(context, symptom, marks.population),
        weight=symptom.weight,
    )
    if not context.declared:
        return view
    # What is declared complete may be so for those alone that could fail.
    key = f"{digest(symptom.constraint.target)} {marks.population.unexposed}"
    if key not in context.complete:
        context.complete[key] = complete_for(view, context.declared)
        context.asked[key] = asked_for(view, context.declared)
    return replace(view, complete=context.complete[key], asked=context.asked[key])


def _failed(context: Context, symptom: Symptom, population: Population) -> tuple[int, ...]:
    """Return the failing nodes of a symptom, then those of every symptom of its population."""
    if population.key not in context.failed:
        alike = (s for s in context.symptoms if digest(s.constraint.target) == population.key)
        context.failed[population.key] = tuple(population.mask(s.failing) for s in alike)
    return (marks_of(context, symptom, 1).failing_mask, *context.failed[population.key])


def _population(context: Context, symptom: Symptom, round_: int) -> Population:
    """Mark the population of a round; symptoms with the same one share the marks."""
    target = symptom.constraint.target
    key = digest(target)
    if key not in context.populations:
        sources, stated = (
            _sources(context.graph, symptom.constraint),
            _stated(context.graph, symptom.constraint),
        )
        context.populations[key] = mark_population(
            context.graph, key, sources, stated, context.seed
        )
    whole = context.populations[key]
    looked_at = _exposed(context, symptom, whole)
    if round_ == 1:
        return looked_at
    texts = sorted(row["pattern"].value for row in taken_out(context, symptom, round_))
    could = "" if looked_at is whole else exposure_of(symptom.constraint).text
    rest = digest(Fragment("\n".join([target.text, could, *texts])))
    if rest not in context.populations:
        view, left_out = view_of(context, symptom, 1), 0
        for text in texts:
            left_out |= members(view, pattern(text))
        context.populations[rest] = without(context.graph, rest, looked_at, left_out)
    return context.populations[rest]


def _exposed(context: Context, symptom: Symptom, whole: Population) -> Population:
    """Return those of a population that could fail, where they are clearly fewer; else all.

    What cannot fail only dilutes rates: a source in which each of the few dates is wrong would
    fail in one node of twenty. Where nearly all that could fail do, the others are all that there
    is to compare them with.
    """
    could = exposure_of(symptom.constraint)
    if not could.text:
        return whole
    key = digest(Fragment(f"{whole.key}\n{could.text}"))
    if key not in context.exposed:
        text = template("context", "members").render(region=could, population=whole.mark)
        context.exposed[key] = whole.mask(context.graph.store.column(text))
    held, failing = context.exposed[key], whole.mask(symptom.failing)
    few = held.bit_count() < _EXPOSED * whole.count
    compared = failing.bit_count() < NEARLY * held.bit_count()
    # Symptoms of one property may differ in this, so that each is asked anew.
    if not few or not compared or failing & ~held:
        return whole
    if key not in context.populations:
        context.populations[key] = exposed_of(context.graph, key, whole, held)
    return context.populations[key]


def taken_out(context: Context, symptom: Symptom, round_: int) -> list[Row]:
    """Return the hypotheses with their regions, as text, that a round leaves out of the population.

    Those that it left out when it began, or, if it has not, those that are supported.
    """
    return context.record.select("taken-out", symptom=symptom.node, round=literal(round_))


def _sources(graph: Graph, constraint: Constraint) -> dict[Focus, list[str]]:
    text = template("context", "sources").render(target=constraint.target)
    out: dict[Focus, list[str]] = {}
    for row in graph.store.select(text):
        node = row["focus"]
        if isinstance(node, ox.Literal):
            continue  # a literal cannot be marked; such a symptom is only counted
        graphs = out.setdefault(node, [])
        if "graph" in row:
            graphs.append(row["graph"].value)
    return out


def _stated(graph: Graph, constraint: Constraint) -> list[dict[Focus, str]]:
    """Return ways in which nodes state their origin; the first in order where they state two."""
    clusters = template("context", "clusters")
    if not graph.store.ask(clusters.render("when")):
        return []
    ways: dict[Term, dict[Focus, str]] = {}
    for row in graph.store.select(clusters.render("propose", target=constraint.target)):
        node, origin = row["focus"], str(row["cluster"])
        if isinstance(node, ox.Literal):
            continue
        way = ways.setdefault(row["dimension"], {})
        way[node] = min(origin, way.get(node, origin))
    return [ways[name] for name in sorted(ways, key=str)]


def mark_inside(context: Context, view: View, region: Fragment) -> int:
    """Mark a region in a symptom's population, if it is not marked yet; gives its nodes."""
    nodes = members(view, region)
    population = view.marks.population
    name = region_name(population, digest(region)).value
    if name not in context.marked:
        context.marked.add(name)
        mark_region(context.graph, population, digest(region), nodes)
    return nodes


def mark_test(context: Context, view: View, row: Row) -> None:
    """Mark what a registered test, a row of `queries/record/test.rq`, names in its query.

    Another process may have registered it.
    """
    for name in ("pattern", "rivalPattern"):
        if name in row:
            mark_inside(context, view, pattern(row[name].value))
    for marks in context.marks.values():
        marks.named_in(row["query"].value)
    if MARKED in row["query"].value:
        mark_broken(view)


def test_seconds(context: Context) -> float:
    """Return the seconds that a registered test may take."""
    return float(context.policy.numbers.get("testSeconds", TEST_SECONDS))


def pattern(text: str) -> Fragment:
    """Make a recorded pattern usable again; it was written with the one prefix table.

    Prefixes of a user's own stand in front of it.
    """
    own: dict[str, str] = {}
    while match := _PREFIX.match(text):
        own[match["prefix"]], text = match["iri"], text[match.end() :]
    return Fragment(text, {p: iri for p, iri in PREFIXES.items() if f"{p}:" in text} | own)


def spelled(made: Fragment) -> str:
    """Return a pattern as it is recorded; `pattern` reads it."""
    own = {p: iri for p, iri in made.prefixes.items() if PREFIXES.get(p) != iri}
    return "".join(f"PREFIX {p}: <{iri}>\n" for p, iri in sorted(own.items())) + made.text
