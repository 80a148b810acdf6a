"""What the phases share: the symptom, its marks, its view, and how a node is cited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.graph.marks import (
    Focus,
    Marks,
    Population,
    mark_failing,
    mark_population,
    mark_region,
    region_name,
    without,
)
from kgreason.graph.names import Names
from kgreason.ledger import Record
from kgreason.phases.complete import Declared, complete_for
from kgreason.policy import Policy
from kgreason.reasoners.candidates import View, digest, members
from kgreason.reasoners.frames import Proposal
from kgreason.store import Row, Term
from kgreason.symptoms import Constraint
from kgreason.templates import Fragment, template
from kgreason.terms import PREFIXES


@dataclass
class Symptom:
    """A symptom as the loop holds it: its node in the record, its constraint, who fails.

    `counted` is False where nobody knows who did not fail; then nothing can be proposed.
    """

    node: ox.NamedNode
    constraint: Constraint
    population: int
    failing: Mapping[Term, tuple[Term, ...]]
    index: int
    counted: bool = True


@dataclass
class Bench:
    """What the phases share: nothing that the record and the graph do not give again."""

    graph: Graph
    record: Record
    policy: Policy
    seed: int
    most: int
    names: Names
    marks: dict[tuple[str, int], Marks] = field(default_factory=dict)
    proposals: dict[tuple[str, int], Proposal] = field(default_factory=dict)
    populations: dict[str, Population] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Sequence[Row]] = field(default_factory=dict)
    parted: dict[str, dict[str, int]] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    declared: Sequence[Declared] = ()
    complete: dict[str, frozenset[ox.NamedNode]] = field(default_factory=dict)


def marks_of(bench: Bench, symptom: Symptom, round_: int) -> Marks:
    """Mark a symptom's population for a round; what supported regions hold is left out."""
    known = bench.marks.get((symptom.node.value, round_))
    if known is not None:
        return known
    if round_ > 1 and not _claimed(bench, symptom, round_):
        return marks_of(bench, symptom, 1)
    population = _population(bench, symptom, round_)
    made = mark_failing(
        bench.graph,
        f"{symptom.index}:{round_}",
        population,
        symptom.failing,
        int(bench.policy.number("leastFailing")),
    )
    bench.marks[symptom.node.value, round_] = made
    return made


def view_of(bench: Bench, symptom: Symptom, round_: int) -> View:
    """Give what a proposer looks at: a symptom in a round."""
    marks = marks_of(bench, symptom, round_)
    view = View(bench.graph, symptom.constraint, marks, bench.known, bench.answers, bench.parted)
    if not bench.declared:
        return view
    key = digest(symptom.constraint.target)
    if key not in bench.complete:
        bench.complete[key] = complete_for(view, bench.declared)
    return replace(view, complete=bench.complete[key])


def _population(bench: Bench, symptom: Symptom, round_: int) -> Population:
    """Mark the population of a round; symptoms with the same one share the marks."""
    target = symptom.constraint.target
    key = digest(target)
    if key not in bench.populations:
        sources, stated = (
            _sources(bench.graph, symptom.constraint),
            _stated(bench.graph, symptom.constraint),
        )
        bench.populations[key] = mark_population(bench.graph, key, sources, stated, bench.seed)
    if round_ == 1:
        return bench.populations[key]
    texts = _claimed(bench, symptom, round_)
    rest = digest(Fragment("\n".join([target.text, *texts])))
    if rest not in bench.populations:
        whole = view_of(bench, symptom, 1)
        left_out = 0
        for text in texts:
            left_out |= members(whole, pattern(text))
        bench.populations[rest] = without(bench.graph, rest, bench.populations[key], left_out)
    return bench.populations[rest]


def _claimed(bench: Bench, symptom: Symptom, round_: int) -> list[str]:
    """Give the regions of what was proposed before a round and is supported, as text, sorted."""
    rows = bench.record.select("supported-regions", symptom=symptom.node)
    return sorted(r["pattern"].value for r in rows if int(r["round"].value) < round_)


def _sources(graph: Graph, constraint: Constraint) -> dict[Focus, list[str]]:
    text = template("observe", "sources").render(target=constraint.target)
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
    """Give the ways in which nodes state their origin; the first in order where they state two."""
    clusters = template("observe", "clusters")
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


def mark_inside(bench: Bench, view: View, region: Fragment) -> int:
    """Mark a region in a symptom's population, if it is not marked yet; gives its nodes."""
    nodes = members(view, region)
    population = view.marks.population
    name = region_name(population, digest(region)).value
    if name not in bench.marked:
        bench.marked.add(name)
        mark_region(bench.graph, population, digest(region), nodes)
    return nodes


def ask_test(bench: Bench, view: View, row: Row) -> list[Row]:
    """Run the query of a registered test, a row of `queries/record/test.rq`, in a view.

    What it names is marked where another process registered it. Raises QueryError, RunError.
    """
    for name in ("pattern", "rivalPattern"):
        if name in row:
            mark_inside(bench, view, pattern(row[name].value))
    query = row["query"].value
    for marks in bench.marks.values():
        marks.named_in(query)
    return list(bench.graph.store.select(query))


def pattern(text: str) -> Fragment:
    """Make a recorded pattern usable again; it was written with the one prefix table."""
    return Fragment(text, {p: iri for p, iri in PREFIXES.items() if f"{p}:" in text})
