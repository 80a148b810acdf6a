"""The phases of the loop: each reads the record and the graph, does its work, writes one step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.graph.marks import (
    Focus,
    Marks,
    Population,
    mark_failing,
    mark_population,
    mark_region,
    places,
    region_name,
)
from kgreason.graph.names import Names
from kgreason.ledger import Record, Step, cited
from kgreason.ledger.record import literal
from kgreason.policy import Policy, kinds
from kgreason.probes.finding import Finding, Setting, decimal, read
from kgreason.probes.statistics import Table
from kgreason.reasoners import symbolic
from kgreason.reasoners.candidates import Candidate, View, digest, excess_share, members, table
from kgreason.reasoners.frames import Frame
from kgreason.store import Row, Term
from kgreason.symptoms import Constraint
from kgreason.templates import Fragment, template
from kgreason.terms import PREFIXES, PROV, TRAILS

_CITED: Final = 5
_SAMPLED: Final = 10


@dataclass
class Symptom:
    """A symptom as the loop holds it: its node in the record, its constraint, who fails."""

    node: ox.NamedNode
    constraint: Constraint
    population: int
    failing: Mapping[Term, tuple[Term, ...]]
    index: int


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
    frames: dict[str, list[Frame]] = field(default_factory=dict)
    populations: dict[str, Population] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    sources: dict[str, Mapping[Focus, Sequence[str]]] = field(default_factory=dict)


def record_symptoms(bench: Bench, symptoms: Sequence[Symptom]) -> None:
    """Write down what is wrong, with samples cited."""
    step = bench.record.step("Observe")
    for symptom in symptoms:
        constraint = symptom.constraint
        step.add(symptom.node, ox.NamedNode(PREFIXES["rdf"] + "type"), TRAILS.Symptom, PROV.Entity)
        step.add(symptom.node, PROV.wasGeneratedBy, step.node)
        step.describe(
            symptom.node,
            step=step.node,
            investigation=bench.record.iri,
            index=symptom.index,
            key=constraint.key,
            shape=constraint.named_shape,
            constraint=constraint.component,
            path=constraint.path.text if constraint.path else None,
            severity=constraint.severity,
            message=constraint.message,
            population=symptom.population,
            failing=len(symptom.failing),
            outcomeQuery=constraint.outcome_query,
            failingQuery=constraint.failing_query,
        )
        for node in sorted(symptom.failing, key=str)[:_SAMPLED]:
            values = symptom.failing[node] or (None,)
            _cite(bench, step, symptom.node, node, _field(constraint), values[0], "fails")
    bench.record.commit(step, expect={"Symptom": len(symptoms)})


def _field(constraint: Constraint) -> ox.NamedNode | None:
    return constraint.path.predicate if constraint.path else None


def _cite(
    bench: Bench,
    step: Step,
    owner: ox.NamedNode,
    node: Term,
    field_: Term | None,
    value: Term | None,
    why: str,
) -> None:
    citation = step.make(
        "Citation",
        PROV.Entity,
        node=cited(node),
        field=field_ if isinstance(field_, ox.NamedNode) else None,
        value=None if value is None else ox.Literal(_plain(value)),
        valueType=value.datatype if isinstance(value, ox.Literal) else None,
        graph=_graph_of(bench.graph, node, field_),
        relevance=why,
    )
    step.describe(owner, cites=citation)


def _plain(value: Term) -> str:
    return f"_:{value.value}" if isinstance(value, ox.BlankNode) else value.value


def _graph_of(graph: Graph, node: Term, field_: Term | None) -> ox.NamedNode | None:
    if isinstance(node, ox.Literal):
        return None
    predicate = field_ if isinstance(field_, ox.NamedNode) else None
    for wanted in (predicate, None):
        for quad in graph.store.inner.quads_for_pattern(node, wanted, None, None):
            name = quad.graph_name
            if isinstance(name, ox.NamedNode) and not name.value.startswith(PREFIXES["work"]):
                return name
    return None


def marks_of(bench: Bench, symptom: Symptom, round_: int) -> Marks:
    """Mark a symptom's population for a round; what supported regions hold is left out."""
    known = bench.marks.get((symptom.node.value, round_))
    if known is not None:
        return known
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


def _view(bench: Bench, symptom: Symptom, round_: int) -> View:
    marks = marks_of(bench, symptom, round_)
    return View(bench.graph, symptom.constraint, marks, bench.known)


def _population(bench: Bench, symptom: Symptom, round_: int) -> Population:
    """Mark the population of a round; symptoms with the same one share the marks."""
    left_out = []
    if round_ > 1:
        rows = bench.record.select("supported-regions", symptom=symptom.node)
        left_out = [r["pattern"].value for r in rows if int(r["round"].value) < round_]
    target = symptom.constraint.target
    key = digest(Fragment("\n".join([target.text, *sorted(left_out)])))
    if key not in bench.populations:
        if target.text not in bench.sources:
            bench.sources[target.text] = _sources(bench.graph, symptom.constraint)
        sources = dict(bench.sources[target.text])
        if left_out:
            whole = _view(bench, symptom, 1)
            for text in left_out:
                for place in places(members(whole, pattern(text))):
                    sources.pop(whole.marks.nodes[place], None)
        bench.populations[key] = mark_population(bench.graph, key, sources, bench.seed)
    return bench.populations[key]


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


def hypothesize(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Propose hypotheses for a symptom: one step."""
    view = _view(bench, symptom, round_)
    frames = _frames(bench, view)
    step = bench.record.step("Hypothesize", TRAILS.HypothesisPlan)
    step.describe(step.node, symptom=symptom.node, round=round_)
    principal = bench.record.select("principal")
    step.add(step.node, PROV.wasAssociatedWith, ox.NamedNode(principal[0]["agent"].value))
    for frame in frames or [Frame("origin", ())]:
        _record_frame(bench, step, symptom, round_, view, frame)
    bench.record.commit(step)


def design(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Register the first tests of what was proposed: one step."""
    view = _view(bench, symptom, round_)
    rows = bench.record.select("frames", symptom=symptom.node, round=literal(round_))
    members: dict[str, list[ox.NamedNode]] = {}
    for row in rows:
        members.setdefault(row["frame"].value, []).append(ox.NamedNode(row["hypothesis"].value))
    step = bench.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=1)
    for frame, nodes in zip(_frames(bench, view), members.values(), strict=False):
        for planned in symbolic.first_tests(view, frame):
            _register(step, nodes, planned)
    bench.record.commit(step)


def _frames(bench: Bench, view: View) -> list[Frame]:
    """Give the frames of a view; the same at every call, so they are proposed but once."""
    key = view.marks.failing.value
    if key not in bench.frames:
        found = symbolic.frames(view, bench.most) if view.marks.failing_count else []
        bench.frames[key] = found
    return bench.frames[key]


def _record_frame(
    bench: Bench, step: Step, symptom: Symptom, round_: int, view: View, frame: Frame
) -> list[ox.NamedNode]:
    node = step.make("Frame", PROV.Entity, symptom=symptom.node, round=round_)
    prior = bench.policy.number("catchAllPrior")
    shared = (Decimal(1) - prior) / max(1, len(frame.members))
    members = [
        _record_hypothesis(bench, step, symptom, view, node, candidate, shared)
        for candidate in frame.members
    ]
    none = template("hypothesize", "none")
    words = symbolic.phrase(none, {})
    alone = prior if members else Decimal(1)
    members.append(
        _hypothesis(
            bench, step, symptom, node, "none", view, decimal(float(alone)),
            catchAll=True, family="none", aspect=TRAILS[frame.aspect.capitalize()],
            statement=words.statement, mechanism=words.mechanism, prediction=words.prediction,
        )
    )
    step.describe(node, member=members)
    return members


def _record_hypothesis(
    bench: Bench, step: Step, symptom: Symptom, view: View, frame: ox.NamedNode,
    candidate: Candidate, prior: Decimal,
) -> ox.NamedNode:
    words = symbolic.wording(candidate, bench.names)
    whole = table(view, candidate.members)
    mark_inside(bench, view, candidate.pattern)
    kind = (candidate.parts[0] if candidate.parts else candidate).family.header["kind"]
    values = candidate.values
    return _hypothesis(
        bench, step, symptom, frame, kind, view, decimal(float(prior)),
        catchAll=False,
        family=candidate.family.name,
        aspect=TRAILS[candidate.aspect.capitalize()],
        statement=words.statement,
        mechanism=words.mechanism,
        prediction=words.prediction,
        region=region_query(symptom.constraint, candidate.region),
        regionPattern=candidate.pattern.text,
        dimension=None if candidate.parts else values.get("dimension"),
        level=None if candidate.parts else values.get("level"),
        part=[symbolic.wording(p, bench.names).statement for p in candidate.parts] or None,
        discoveryInsideFailing=candidate.table.inside_failing,
        discoveryInside=candidate.table.inside,
        discoveryOutsideFailing=candidate.table.outside_failing,
        discoveryOutside=candidate.table.outside,
        insideFailing=whole.inside_failing,
        inside=whole.inside,
        outsideFailing=whole.outside_failing,
        outside=whole.outside,
    )


def _hypothesis(
    bench: Bench, step: Step, symptom: Symptom, frame: ox.NamedNode, kind: str, view: View,
    prior: Decimal, **properties: object,
) -> ox.NamedNode:
    iri, gate = kinds()[kind]
    node = step.make(
        "Hypothesis",
        PROV.Entity,
        symptom=symptom.node,
        frame=frame,
        kind=iri,
        gate=gate,
        claimable=view.marks.failing_count,
        prior=prior,
        confidence=prior,
        eProcess=Decimal("1.0"),
        status=TRAILS.Proposed,
        split="halves" if view.marks.split else "not split",
        **properties,  # type: ignore[arg-type]
    )
    step.describe(node, index=int(node.value.rpartition(":")[2]))
    step.add(node, PROV.wasGeneratedBy, step.node)
    return node


def mark_inside(bench: Bench, view: View, region: Fragment) -> int:
    """Mark a region in a symptom's population, if it is not marked yet; gives its nodes."""
    nodes = members(view, region)
    name = region_name(view.marks, digest(region)).value
    if name not in bench.marked:
        bench.marked.add(name)
        mark_region(bench.graph, view.marks, digest(region), nodes)
    return nodes


def region_query(constraint: Constraint, region: Fragment) -> str:
    """Give the complete SELECT of ?focus for a region of a symptom's population."""
    return template("observe", "region").render(target=constraint.target, region=region)


def pattern(text: str) -> Fragment:
    """Make a recorded pattern usable again; it was written with the one prefix table."""
    return Fragment(text, {p: iri for p, iri in PREFIXES.items() if f"{p}:" in text})


def _register(
    step: Step, members: Sequence[ox.NamedNode], planned: symbolic.PlannedTest
) -> ox.NamedNode:
    node = step.make(
        "Test",
        PROV.Plan,
        kind=planned.kind,
        query=planned.query,
        split=planned.half,
        hypothesis=members[planned.tested],
        rival=None if planned.named is None else members[planned.named],
    )
    for member, (role, overlap) in zip(members, planned.members, strict=True):
        expectation = step.make(
            "Expectation", PROV.Entity, hypothesis=member, role=role, overlap=overlap
        )
        step.describe(node, expects=expectation)
    return node


def tell_apart(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Register the second stage: rivals that did well are set against each other."""
    view = _view(bench, symptom, round_)
    rows = bench.record.select("contenders", symptom=symptom.node)
    frames: dict[str, list[Row]] = {}
    for row in rows:
        if int(row["round"].value) == round_:
            frames.setdefault(row["frame"].value, []).append(row)
    plan = bench.record.step("Design")
    plan.describe(plan.node, symptom=symptom.node, round=round_, stage=2)
    for members in frames.values():
        _tell_members_apart(bench, plan, view, members)
    bench.record.commit(plan)


def _tell_members_apart(
    bench: Bench, plan: Step, view: View, rows: Sequence[Row]
) -> None:
    strong = [i for i, r in enumerate(rows) if float(r["e"].value) >= 10 and "pattern" in r]  # noqa: PLR2004 - moderate evidence
    pairs = [(i, j) for i in strong for j in strong if i != j]
    regions = [pattern(r["pattern"].value) if "pattern" in r else Fragment("") for r in rows]
    nodes = [ox.NamedNode(r["hypothesis"].value) for r in rows]
    none = [i for i, r in enumerate(rows) if "pattern" not in r]
    _ = bench
    for tested, rival, query, scheme in symbolic.telling_apart(view, regions, pairs):
        members = []
        for position in range(len(rows)):
            role = "self" if position == tested else "named" if position == rival else "rival"
            members.append((("none" if position in none else role), Decimal(position == tested)))
        planned = symbolic.PlannedTest(
            "stratification", query, scheme, tested, rival, members
        )
        _register(plan, nodes, planned)


def execute(bench: Bench, symptom: Symptom, test: ox.NamedNode) -> None:
    """Run one registered test and let its evidence count: one step."""
    row = bench.record.select("test", test=test)[0]
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    kind = row["kind"].value
    step = bench.record.step("Execute", TRAILS.Execution)
    step.describe(step.node, test=test, symptom=symptom.node, attempt=1)
    step.add(step.node, PROV.used, test)
    view = _view(bench, symptom, int(row["round"].value))
    for name in ("pattern", "rivalPattern"):
        if name in row:
            mark_inside(bench, view, pattern(row[name].value))
    found = read(kind, list(bench.graph.store.select(row["query"].value)), _setting(row, view))
    likely = bench.policy.outcomes[kind, found.outcome]
    header = template("test", kind).header
    group = f"{symptom.index}:heldout" if header.get("group") == "heldout" else test.value
    evidence = step.make(
        "Evidence",
        PROV.Entity,
        hypothesis=hypothesis,
        test=test,
        testKind=kind,
        outcomeClass=found.outcome,
        polarity=likely.polarity,
        strength=likely.strength,
        note=found.note,
        group=group,
        **found.figures,
    )
    step.add(evidence, PROV.wasGeneratedBy, step.node)
    step.add(evidence, PROV.wasDerivedFrom, symptom.node)
    step.describe(step.node, closed=TRAILS.Result)
    _cite_finding(bench, step, symptom, view, evidence, row, found)
    lists = {TRAILS.Supports: "supportingEvidence", TRAILS.Contradicts: "contradictingEvidence"}
    if likely.polarity in lists:
        step.describe(hypothesis, **{lists[likely.polarity]: evidence})
    names = {"investigation": bench.record.iri, "step": step.node, "evidence": evidence}
    step.apply(template("confidence", "frame").render(**names))
    updates = len(bench.record.select("members", test=test))
    if "eValue" in found.figures:
        step.apply(template("confidence", "e-process").render(**names))
        updates += 1
    step.apply(template("status", "begin-testing").render(**names))
    bench.record.commit(step, expect={"Evidence": 1, "ConfidenceUpdate": updates})


def _setting(row: Row, view: View) -> Setting:
    names = (
        "discoveryInsideFailing", "discoveryInside", "discoveryOutsideFailing", "discoveryOutside",
    )
    counts = Table(*(int(row[n].value) for n in names)) if all(n in row for n in names) else None
    return Setting(counts, row.get("level"), view.graph, view.constraint)


def _cite_finding(
    bench: Bench, step: Step, symptom: Symptom, view: View, evidence: ox.NamedNode, row: Row,
    found: Finding,
) -> None:
    inside = template("observe", "inside").render(
        region=region_name(view.marks, digest(pattern(row["pattern"].value))),
        half=view.marks.scheme(row["split"].value).heldout,
        symptom=view.marks.failing,
    )
    field_ = _field(symptom.constraint)
    for focus in bench.graph.store.select(inside):
        node = focus["focus"]
        values = symptom.failing.get(node) or (None,)
        _cite(bench, step, evidence, node, field_, values[0], "fails inside the region")
    for node, why in found.cite[:_CITED]:
        values = symptom.failing.get(node) or (None,)
        _cite(bench, step, evidence, node, field_, values[0], why)


def decide(bench: Bench, round_: int) -> None:
    """Apply the gates to all hypotheses: one step."""
    step = bench.record.step("Decide")
    row = bench.record.select("e-bh", role="status")[0]
    threshold = row.get("threshold")
    least = threshold if isinstance(threshold, ox.Literal) else ox.Literal(
        "100000000000", datatype=ox.NamedNode(PREFIXES["xsd"] + "decimal")
    )
    step.describe(
        step.node,
        round=round_,
        ebhFamily=int(row["family"].value),
        ebhThreshold=least if threshold is not None else None,
    )
    names = {"investigation": bench.record.iri, "step": step.node}
    step.apply(template("status", "support").render(**names, threshold=least))
    step.apply(template("status", "demote").render(**names, threshold=least))
    step.apply(template("status", "refute").render(**names))
    step.apply(template("status", "leave-open").render(**names))
    bench.record.commit(step)


def conclude(bench: Bench, symptoms: Sequence[Symptom], cut: str | None) -> None:
    """Give the verdict on each symptom: one step."""
    step = bench.record.step("Conclude")
    for symptom in symptoms:
        regions = [
            pattern(r["pattern"].value)
            for r in bench.record.select("supported-regions", symptom=symptom.node)
        ]
        counts = Table(0, 0, len(symptom.failing), symptom.population)
        if regions:
            view = _view(bench, symptom, 1)
            nodes = 0
            for region in regions:
                nodes |= mark_inside(bench, view, region)
            counts = table(view, nodes)
        share = excess_share(counts)
        step.make(
            "Verdict",
            PROV.Entity,
            symptom=symptom.node,
            explained=counts.inside_failing,
            excess=decimal(share),
            outcome=_outcome(bench, symptom, share, cut),
        )
    bench.record.commit(step, expect={"Verdict": len(symptoms)})


def _outcome(bench: Bench, symptom: Symptom, share: float, cut: str | None) -> str:
    if share >= bench.policy.number("explainedFrom"):
        return "explained"
    if share >= bench.policy.number("partlyFrom"):
        return "partly explained"
    too_few = len(symptom.failing) < bench.policy.number("leastFailing")
    return "inconclusive" if cut or too_few else "no systematic cause"
