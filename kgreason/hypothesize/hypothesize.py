"""Hypothesize: propose rivals on the discovery half."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import ask
from kgreason.base.statistics import Table
from kgreason.base.store import Row
from kgreason.base.templates import template
from kgreason.base.terms import PROV, RDF, TRAILS
from kgreason.base.weights import rates_of
from kgreason.context.context import Context, mark_inside, spelled, taken_out, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, exposure, members, table
from kgreason.hypothesize import bindings, recorded
from kgreason.hypothesize.candidates import Candidate, Key
from kgreason.hypothesize.conditions.seam import BITS, LENGTH
from kgreason.hypothesize.consulted import write_consulted, write_unwritten
from kgreason.hypothesize.filters import Dropped, Rejected, Room
from kgreason.hypothesize.frames import Frame, Proposal
from kgreason.hypothesize.memory import Memory, remembered
from kgreason.hypothesize.outlines import joint_level, outlined
from kgreason.hypothesize.propose import proposal_of
from kgreason.hypothesize.proposer import ENGINE_PROPOSERS, Proposer
from kgreason.hypothesize.suggestions import Given
from kgreason.hypothesize.wording import Wording, phrase, wording
from kgreason.record import Step, cited
from kgreason.record.agents import ENGINE, introduce, principal
from kgreason.record.model_calls import taken_calls, write_calls
from kgreason.record.policy import kinds
from kgreason.record.ranking import is_faint
from kgreason.record.record import Value, literal
from kgreason.shacl import Located, located

NAMED: Final = 5
"""Paths that are named where the search did not reach them."""


def hypothesize(
    context: Context,
    symptom: Symptom,
    round_: int,
    proposers: Sequence[Proposer] = ENGINE_PROPOSERS,
) -> None:
    """Propose hypotheses for a symptom: one step. Where nothing is new that is a stall.

    Raises Spent, with nothing written, where the budget is spent before all was proposed.
    """
    ask(context.budget, "population")
    view = view_of(context, symptom, round_)
    memory = remembered(context, symptom, view, round_)
    proposal = proposal_of(context, symptom, round_, memory, proposers)
    step = _begin(context, symptom, round_)
    introduce(context.record, step, (each.agent for each in proposers))
    if round_ > 1:
        taken = taken_out(context, symptom, round_)
        step.describe(step.node, takenOut=[recorded.hypothesis_of(row) for row in taken])
    write_consulted(context, step, symptom, round_, proposal.consulted)
    for call in write_calls(context.record, step, taken_calls(proposers)):
        step.describe(call, symptom=symptom.node, round=round_)
    left_out = [
        _statement(context, symptom, candidate) for candidate in proposal.dropped(Room.name)
    ]
    step.describe(step.node, leftOut=left_out or None, **_reached(context, proposal))
    for candidate in proposal.dropped(Rejected.name):
        _refuse(context, step, symptom, memory, candidate)
    open_ = context.record.select("open-hypotheses", symptom=symptom.node, round=literal(round_))
    known: dict[Key, ox.NamedNode] = {}
    if not proposal.frames and open_ and view.marks is view_of(context, symptom, 1).marks:
        _stall(step, symptom, round_, open_)
    else:
        for frame in proposal.frames or [Frame("origin", ())]:
            known |= _record_frame(context, step, symptom, round_, view, frame, memory)
    _record_dropped(context, step, symptom, round_, proposal, known)
    for gate in context.policy.gates_of("Hypothesize"):
        step.apply(gate.render(investigation=context.record.iri, step=step.node))
    context.record.commit(step)


def suggest(step: Step, given: Given) -> None:
    """Record a suggestion from outside as it was given: who makes it, its words, its region."""
    region = {
        n: given.plain[n]
        for n in ("region", "condition", "family", "factor", "values")
        if n in given.plain
    }
    node = step.make(
        "Suggestion",
        PROV.Entity,
        symptomName=given.symptom,
        blinded=False,
        place=given.where,
        suggestedRegion=ox.Literal(
            json.dumps(region, ensure_ascii=False, sort_keys=True), datatype=RDF.JSON
        ),
        suggestionName=given.name,
        onlyIf=list(given.only_if) or None,
        excludes=list(given.excludes) or None,
        **given.words,
    )
    step.describe(node, index=given.number)
    step.add(node, PROV.wasAttributedTo, given.by.iri)


def _record_dropped(
    context: Context,
    step: Step,
    symptom: Symptom,
    round_: int,
    proposal: Proposal,
    known: dict[Key, ox.NamedNode],
) -> None:
    """Record the runs of filters, and each dropped candidate that was counted node by node.

    `known` are the hypotheses that were recorded of candidates. A later round need not find again
    the candidates for which there was no room.
    """
    yielded: list[tuple[ox.NamedNode, Key]] = []
    for run in proposal.filterings:
        node = step.make(
            "Filtering",
            PROV.Entity,
            symptom=symptom.node,
            round=round_,
            filter=run.by.name,
            reason=run.by.reason,
            candidatesIn=run.considered,
            candidatesDropped=len(run.dropped),
            exact=run.exact,
        )
        step.describe(node, index=int(node.value.rpartition(":")[2]))
        for each in run.dropped if run.exact else ():
            made = _record_candidate(context, step, symptom, round_, each, node)
            known.setdefault(each.candidate.key, made)
            if each.preferred is not None:
                yielded.append((made, each.preferred.key))
    for made, key in yielded:
        step.describe(made, yieldedTo=known.get(key))


def _record_candidate(
    context: Context,
    step: Step,
    symptom: Symptom,
    round_: int,
    dropped: Dropped,
    run: ox.NamedNode,
) -> ox.NamedNode:
    """Record a candidate that is not put to a test now, with the figure that decided."""
    candidate, figure = dropped.candidate, dropped.figure
    node = step.make(
        "Candidate",
        PROV.Entity,
        symptom=symptom.node,
        round=round_,
        fate="left out" if dropped.by.name == Room.name else "dropped",
        reason=dropped.by.reason,
        filtering=run,
        measure=figure.name if figure else None,
        figure=_six_places(figure.value) if figure else None,
        bound=_six_places(figure.bound) if figure else None,
        family=candidate.family.name,
        aspect=TRAILS[candidate.aspect.capitalize()],
        statement=_statement(context, symptom, candidate),
        regionPattern=candidate.pattern.text,
        bindings=bindings.written(candidate),
        revises=ox.NamedNode(candidate.revises) if candidate.revises else None,
        refinement=TRAILS[_camel(candidate.way)] if candidate.revises else None,
        discoveryScore=_six_places(candidate.score),
        discoveryShare=_six_places(candidate.share),
        **_discovery(candidate),
        **_bits(candidate),
    )
    step.describe(node, index=int(node.value.rpartition(":")[2]))
    _attribute(context, step, node, candidate)
    return node


def _statement(context: Context, symptom: Symptom, candidate: Candidate) -> str:
    """Return the statement of a candidate, by its counts on the discovery half."""
    narrows = is_faint(candidate.table.inside_failing, candidate.table.inside, symptom.weight)
    return wording(candidate, context.names, symptom.constraint, narrows=narrows).statement


def _attribute(context: Context, step: Step, node: ox.NamedNode, candidate: Candidate) -> None:
    """Name who proposed a candidate, and the suggestion that it was, where it came from outside."""
    step.add(node, PROV.wasAttributedTo, *map(ox.NamedNode, bindings.proposers(candidate)))
    if bindings.NUMBER in candidate.said:
        number = candidate.said[bindings.NUMBER]
        suggestion = ox.NamedNode(f"{context.record.iri.value}:suggestion:{number}")
        step.add(node, PROV.wasDerivedFrom, suggestion)


def _six_places(value: float) -> Decimal:
    return Decimal(f"{value:.6f}")


def _bits(candidate: Candidate) -> dict[str, Value]:
    """Return what a region that pays for its code length saves, and what it costs."""
    return {
        name: Decimal(candidate.values[name].value)
        for name in (LENGTH, BITS)
        if candidate.paid and name in candidate.values
    }


def _discovery(candidate: Candidate) -> dict[str, Value]:
    """Return the counts of a candidate on the discovery half."""
    return {
        "discoveryInsideFailing": candidate.table.inside_failing,
        "discoveryInside": candidate.table.inside,
        "discoveryOutsideFailing": candidate.table.outside_failing,
        "discoveryOutside": candidate.table.outside,
    }


def _weighted(symptom: Symptom, whole: Table) -> dict[str, Value]:
    """Return the rates in the graph, with intervals, where only some of its nodes were drawn."""
    if symptom.drawn is None:
        return {}
    sides = (whole.inside_failing, whole.inside), (whole.outside_failing, whole.outside)
    return {**rates_of(symptom.drawn, *sides)}


def _put_to(view: View, candidate: Candidate) -> dict[str, Value]:
    """Return what the design of tests has to know of a candidate."""
    made = outlined(view, candidate)
    told: dict[str, Value] = {
        f"{name}Pattern": spelled(each) for name, each in made.patterns.items() if each.text
    }
    kinds = " ".join(made.kinds)
    return told | {"testKinds": kinds, "splitBy": made.scheme, "silentOutside": made.silent}


def _reached(context: Context, proposal: Proposal) -> dict[str, Value | list[str]]:
    """Return how far the search in conditions went, and what it did not reach."""
    found = proposal.reached
    if found is None:
        return {}
    beyond = dict.fromkeys(path.words(context.names) for path in found.beyond)
    sampled: dict[str, Value | list[str]] = {}
    if found.nodes is not None:
        sampled["nodesSearched"] = found.nodes
    return sampled | {
        "pathsSearched": found.paths,
        "conditionsSearched": found.conditions,
        "pathsUnreached": len(found.beyond),
        "unreached": list(beyond)[:NAMED],
    }


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
    context: Context, step: Step, symptom: Symptom, memory: Memory, candidate: Candidate
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
        statement=_statement(context, symptom, candidate),
        reason=past.why,
        kind=kind,
        gate=gate,
    )


def set_aside(context: Context, symptom: Symptom, why: str) -> None:
    """Record that a budget left no room to look into a symptom: none of all causes was proposed.

    What stands for them claims no node, so that no gate takes it for a finding.
    """
    step = _begin(context, symptom, 1)
    step.describe(step.node, cut=why)
    write_unwritten(context, step, symptom, 1)
    node = step.make("Frame", PROV.Entity, symptom=symptom.node, round=1)
    told = phrase(
        template("hypothesize", "none"),
        {"why": f"the run {why}"},
        symptom.constraint,
        "unexamined",
    )
    _, alone = context.policy.priors(0)
    none = _catch_all(step, symptom, node, Frame("origin", ()), alone, told)
    step.describe(none, claimable=0, split="not split")
    step.describe(node, member=[none])
    context.record.commit(step)


def _begin(context: Context, symptom: Symptom, round_: int) -> Step:
    step = context.record.step("Hypothesize", TRAILS.HypothesisPlan)
    step.describe(step.node, symptom=symptom.node, round=round_)
    step.add(step.node, PROV.wasAssociatedWith, principal(context.record))
    return step


def _record_frame(
    context: Context,
    step: Step,
    symptom: Symptom,
    round_: int,
    view: View,
    frame: Frame,
    memory: Memory,
) -> dict[Key, ox.NamedNode]:
    """Record a frame with its catch-all, and return the hypotheses of its candidates."""
    node = step.make("Frame", PROV.Entity, symptom=symptom.node, round=round_)
    shared, alone = context.policy.priors(len(frame.members))
    members = [
        _record_hypothesis(context, step, symptom, view, node, candidate, shared)
        for candidate in frame.members
    ]
    made_of = {c.key: made for c, made in zip(frame.members, members, strict=True)}
    for made, candidate in zip(members, frame.members, strict=True):
        past = memory.of(candidate)
        if past is not None and past.rejected and past.changed is not None:
            why = f"{past.why}; since then {past.changed} changed"
            step.describe(made, rejectedBefore=past.hypothesis, reason=why)
    about = "leftover" if view.marks.failing_count < len(symptom.failing) else "statement"
    told = phrase(template("hypothesize", "none"), {}, symptom.constraint, about)
    none = _catch_all(step, symptom, node, frame, alone, told)
    members.append(none)
    for member in members:
        step.describe(
            member,
            claimable=view.marks.failing_count,
            split="halves" if view.marks.split else "not split",
        )
    step.describe(node, member=members)
    return made_of


def _catch_all(
    step: Step,
    symptom: Symptom,
    frame: ox.NamedNode,
    of: Frame,
    prior: Decimal,
    words: Wording,
) -> ox.NamedNode:
    node = _hypothesis(
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
    step.add(node, PROV.wasAttributedTo, ENGINE.iri)
    return node


def _record_hypothesis(
    context: Context,
    step: Step,
    symptom: Symptom,
    view: View,
    frame: ox.NamedNode,
    candidate: Candidate,
    prior: Decimal,
) -> ox.NamedNode:
    # Counts told to people are over the whole population, also where a round looks at what is left.
    first = view_of(context, symptom, 1)
    whole = table(first, members(first, candidate.pattern))
    narrows = is_faint(whole.inside_failing, whole.inside, whole.weight)
    words = wording(candidate, context.names, symptom.constraint, narrows=narrows)
    mark_inside(context, view, candidate.pattern)
    values = {name: cited(term) for name, term in candidate.values.items()}
    where = regions(view, candidate)
    made = _hypothesis(
        step,
        symptom,
        frame,
        _kind(candidate),
        prior,
        catchAll=False,
        family=candidate.family.name,
        onlyIfFamily=_families(candidate, "only-if"),
        excludesFamily=_families(candidate, "excludes"),
        aspect=TRAILS[candidate.aspect.capitalize()],
        statement=words.statement,
        mechanism=words.mechanism,
        prediction=words.prediction,
        region=where.anywhere,
        plainRegion=where.plain,
        regionNeeds=where.needs,
        regionPattern=candidate.pattern.text,
        bindings=bindings.written(candidate),
        dimension=None if candidate.parts else values.get("dimension"),
        level=joint_level(candidate) if candidate.parts else values.get("level"),
        part=[wording(p, context.names, symptom.constraint).statement for p in candidate.parts]
        or None,
        insideFailing=whole.inside_failing,
        inside=whole.inside,
        outsideFailing=whole.outside_failing,
        outside=whole.outside,
        paid=candidate.seen,
        **_weighted(symptom, whole),
        **_discovery(candidate),
        **_put_to(view, candidate),
    )
    _attribute(context, step, made, candidate)
    if candidate.revises:
        step.add(made, PROV.wasRevisionOf, ox.NamedNode(candidate.revises))
        step.describe(made, refinement=TRAILS[_camel(candidate.way)])
    return made


def _kind(candidate: Candidate) -> str:
    return (candidate.parts[0] if candidate.parts else candidate).family.header["kind"]


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _families(candidate: Candidate, link: str) -> list[str] | None:
    """Return the families that the family of a candidate names in a link; None for none."""
    return candidate.family.header.get(link, "").split() or None


def _hypothesis(
    step: Step,
    symptom: Symptom,
    frame: ox.NamedNode,
    kind: str,
    prior: Decimal,
    **properties: Value | Iterable[Value] | None,
) -> ox.NamedNode:
    iri, gate = kinds()[kind]
    if gate == "statistics" and properties.get("aspect") == TRAILS.Mechanism:
        # How a failure comes about is seen at each node, whatever the kind of the cause.
        gate = "direct"
    searched = properties.get("paid") is not None
    associated = "bits" if searched else "halves"
    node = step.make(
        "Hypothesis",
        PROV.Entity,
        symptom=symptom.node,
        frame=frame,
        kind=iri,
        gate=gate,
        proof=associated if gate == "statistics" else gate,
        prior=prior,
        confidence=prior,
        eProcess=Decimal("1.0"),
        status=TRAILS.Proposed,
        **properties,
    )
    step.describe(node, index=int(node.value.rpartition(":")[2]))
    return node


def regions(view: View, candidate: Candidate) -> Located:
    """Return the queries for the nodes of a candidate's region, for anyone to run on the data."""
    parts = candidate.parts or (candidate,)
    # Only a family that looks at literals as they were written takes the name of their form.
    forms = any(
        "form" in part.family.parameters and view.values(view.split(part.family)).get("formed")
        for part in parts
    )
    found = [part.region for part in parts]
    if view.marks.population.unexposed:
        found.append(exposure(view))
    return located(view.constraint, view.graph, found, forms=bool(forms))
