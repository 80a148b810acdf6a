"""Hypothesize: propose rivals on the discovery half."""

import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal

import pyoxigraph as ox

from kgreason.ledger import Step, cited
from kgreason.ledger.record import Value, literal
from kgreason.phases.bench import Bench, Symptom, mark_inside, view_of
from kgreason.phases.memory import Memory, remembered
from kgreason.phases.propose import proposal_of
from kgreason.policy import kinds
from kgreason.reasoners import bindings, symbolic
from kgreason.reasoners.candidates import Candidate, View, members, table
from kgreason.reasoners.frames import Frame
from kgreason.store import Row
from kgreason.symptoms import located_target
from kgreason.templates import Fragment, template
from kgreason.terms import PROV, TRAILS


def hypothesize(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Propose hypotheses for a symptom: one step. Where nothing is new that is a stall."""
    view = view_of(bench, symptom, round_)
    proposal = proposal_of(bench, symptom, round_)
    memory = remembered(bench, symptom, view, round_)
    step = _begin(bench, symptom, round_)
    left_out = [
        symbolic.wording(c, bench.names, symptom.constraint).statement for c in proposal.left_out
    ]
    step.describe(step.node, leftOut=left_out or None)
    for candidate in proposal.refused:
        _refuse(bench, step, symptom, memory, candidate)
    open_ = bench.record.select("open-hypotheses", symptom=symptom.node, round=literal(round_))
    if not proposal.frames and open_ and view.marks is view_of(bench, symptom, 1).marks:
        _stall(step, symptom, round_, open_)
    else:
        for frame in proposal.frames or [Frame("origin", ())]:
            _record_frame(bench, step, symptom, round_, view, frame, memory)
    for gate in bench.policy.gates_of("Hypothesize"):
        step.apply(gate.render(investigation=bench.record.iri, step=step.node))
    bench.record.commit(step)


def _stall(step: Step, symptom: Symptom, round_: int, open_: Sequence[Row]) -> None:
    """Record that nothing is new; the fingerprint is of all that is still open."""
    text = "\n".join(sorted(row["bindings"].value for row in open_))
    step.make(
        "Stall",
        PROV.Entity,
        symptom=symptom.node,
        round=round_,
        setAside=[ox.NamedNode(row["hypothesis"].value) for row in open_],
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
    )


def _refuse(
    bench: Bench, step: Step, symptom: Symptom, memory: Memory, candidate: Candidate
) -> None:
    past = memory.of(candidate)
    if past is None:
        return
    kind, gate = kinds()[_kind(candidate)]
    step.make(
        "Refusal",
        PROV.Entity,
        symptom=symptom.node,
        refused=past.hypothesis,
        statement=symbolic.wording(candidate, bench.names, symptom.constraint).statement,
        reason=past.why,
        kind=kind,
        gate=gate,
    )


def set_aside(bench: Bench, symptom: Symptom, why: str) -> None:
    """Record that a budget left no room to look into a symptom: none of all causes was proposed."""
    step = _begin(bench, symptom, 1)
    step.describe(step.node, cut=why)
    node = step.make("Frame", PROV.Entity, symptom=symptom.node, round=1)
    none = _catch_all(step, symptom, node, Frame("origin", ()), Decimal(1))
    step.describe(none, claimable=len(symptom.failing), split="not split")
    step.describe(node, member=[none])
    bench.record.commit(step)


def _begin(bench: Bench, symptom: Symptom, round_: int) -> Step:
    step = bench.record.step("Hypothesize", TRAILS.HypothesisPlan)
    step.describe(step.node, symptom=symptom.node, round=round_)
    principal = bench.record.select("principal")
    step.add(step.node, PROV.wasAssociatedWith, ox.NamedNode(principal[0]["agent"].value))
    return step


def _record_frame(
    bench: Bench,
    step: Step,
    symptom: Symptom,
    round_: int,
    view: View,
    frame: Frame,
    memory: Memory,
) -> None:
    node = step.make("Frame", PROV.Entity, symptom=symptom.node, round=round_)
    shared, alone = bench.policy.priors(len(frame.members))
    members = [
        _record_hypothesis(bench, step, symptom, view, node, candidate, shared)
        for candidate in frame.members
    ]
    for made, candidate in zip(members, frame.members, strict=True):
        past = memory.of(candidate)
        if past is not None and past.rejected and past.changed is not None:
            why = f"{past.why}; since then {past.changed} changed"
            step.describe(made, rejectedBefore=past.hypothesis, reason=why)
    none = _catch_all(step, symptom, node, frame, alone)
    members.append(none)
    for member in members:
        step.describe(
            member,
            claimable=view.marks.failing_count,
            split="halves" if view.marks.split else "not split",
        )
    step.describe(node, member=members)


def _catch_all(
    step: Step, symptom: Symptom, frame: ox.NamedNode, of: Frame, prior: Decimal
) -> ox.NamedNode:
    words = symbolic.phrase(template("hypothesize", "none"), {}, symptom.constraint)
    return _hypothesis(
        step,
        symptom,
        frame,
        "none",
        prior,
        catchAll=True,
        family="none",
        aspect=TRAILS[of.aspect.capitalize()],
        statement=words.statement,
        mechanism=words.mechanism,
        prediction=words.prediction,
    )


def _record_hypothesis(
    bench: Bench,
    step: Step,
    symptom: Symptom,
    view: View,
    frame: ox.NamedNode,
    candidate: Candidate,
    prior: Decimal,
) -> ox.NamedNode:
    words = symbolic.wording(candidate, bench.names, symptom.constraint)
    # Counts told to people are over the whole population, also where a round looks at what is left.
    first = view_of(bench, symptom, 1)
    whole = table(first, members(first, candidate.pattern))
    mark_inside(bench, view, candidate.pattern)
    values = {name: cited(term) for name, term in candidate.values.items()}
    made = _hypothesis(
        step,
        symptom,
        frame,
        _kind(candidate),
        prior,
        catchAll=False,
        family=candidate.family.name,
        aspect=TRAILS[candidate.aspect.capitalize()],
        statement=words.statement,
        mechanism=words.mechanism,
        prediction=words.prediction,
        region=region_query(view, candidate.region),
        regionPattern=candidate.pattern.text,
        bindings=bindings.written(candidate),
        dimension=None if candidate.parts else values.get("dimension"),
        level=symbolic.joint_level(candidate) if candidate.parts else values.get("level"),
        part=[
            symbolic.wording(p, bench.names, symptom.constraint).statement for p in candidate.parts
        ]
        or None,
        discoveryInsideFailing=candidate.table.inside_failing,
        discoveryInside=candidate.table.inside,
        discoveryOutsideFailing=candidate.table.outside_failing,
        discoveryOutside=candidate.table.outside,
        insideFailing=whole.inside_failing,
        inside=whole.inside,
        outsideFailing=whole.outside_failing,
        outside=whole.outside,
    )
    if candidate.revises:
        step.add(made, PROV.wasRevisionOf, ox.NamedNode(candidate.revises))
        step.describe(made, refinement=TRAILS[_camel(candidate.way)])
    return made


def _kind(candidate: Candidate) -> str:
    return (candidate.parts[0] if candidate.parts else candidate).family.header["kind"]


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _hypothesis(
    step: Step,
    symptom: Symptom,
    frame: ox.NamedNode,
    kind: str,
    prior: Decimal,
    **properties: Value | Iterable[Value] | None,
) -> ox.NamedNode:
    iri, gate = kinds()[kind]
    node = step.make(
        "Hypothesis",
        PROV.Entity,
        symptom=symptom.node,
        frame=frame,
        kind=iri,
        gate=gate,
        prior=prior,
        confidence=prior,
        eProcess=Decimal("1.0"),
        status=TRAILS.Proposed,
        **properties,
    )
    step.describe(node, index=int(node.value.rpartition(":")[2]))
    return node


def region_query(view: View, region: Fragment) -> str:
    """Give the complete SELECT of ?focus for a region, for anyone to run on the data as loaded."""
    target = located_target(view.constraint, view.graph)
    return template("observe", "region").render(target=target, region=region)
