"""What is proposed on a symptom in a round: first from the data, later also from what is open."""

from dataclasses import replace

import pyoxigraph as ox

from kgreason.ledger.record import literal
from kgreason.phases.bench import Bench, Symptom, view_of
from kgreason.phases.memory import Memory, remembered
from kgreason.reasoners import bindings
from kgreason.reasoners.candidates import Candidate, Key, View
from kgreason.reasoners.frames import Proposal, framed, propose
from kgreason.reasoners.nested import undiluted
from kgreason.reasoners.refine import refined


def proposal_of(bench: Bench, symptom: Symptom, round_: int) -> Proposal:
    """Give what is proposed in a round; the same at every call, so it is worked out but once."""
    key = (symptom.node.value, round_)
    if key not in bench.proposals:
        view = view_of(bench, symptom, round_)
        asked = symptom.counted and view.marks.failing_count
        bench.proposals[key] = _proposal(bench, symptom, view, round_) if asked else Proposal()
    return bench.proposals[key]


def _proposal(bench: Bench, symptom: Symptom, view: View, round_: int) -> Proposal:
    memory = remembered(bench, symptom, view, round_)
    if round_ == 1:
        return propose(view, bench.most, memory.rejected)
    before = proposal_of(bench, symptom, round_ - 1)
    wanting = _wanting(bench, symptom, round_)
    if view.marks is view_of(bench, symptom, round_ - 1).marks and not wanting:
        # Where nothing was taken out, what there was no room for has its turn.
        found = replace(before, frames=(), refused=())
    else:
        found = propose(view, bench.most, memory.rejected, wanting)
    candidates = [c for frame in found.frames for c in frame.members] + list(found.left_out)
    revised = _revised(bench, symptom, view, round_, memory)
    kept = {c.key for c in undiluted(view, [*revised, *candidates])}
    revised = [c for c in revised if c.key in kept]
    # Two wordings of the same nodes would be rivals that nothing can tell apart.
    keys = {(c.aspect, c.members) for c in revised}
    keys |= _tried(bench, symptom, view, round_)
    fresh = [c for c in candidates if (c.aspect, c.members) not in keys and not memory.rejected(c)]
    return replace(framed(view, [*revised, *fresh], bench.most), refused=found.refused)


def _wanting(bench: Bench, symptom: Symptom, round_: int) -> frozenset[Key]:
    """Give the keys of what was proposed before and found wanting: nothing has to yield to it."""
    rows = bench.record.select("found-wanting", symptom=symptom.node, round=literal(round_))
    texts = {row["bindings"].value for row in rows}
    return frozenset(
        candidate.key
        for earlier in range(1, round_)
        for frame in proposal_of(bench, symptom, earlier).frames
        for candidate in frame.members
        if bindings.written(candidate).value in texts
    )


def _tried(bench: Bench, symptom: Symptom, view: View, round_: int) -> set[tuple[str, int]]:
    """Give aspect and nodes of what was proposed before, where it was about the same nodes."""
    return {
        (candidate.aspect, candidate.members)
        for earlier in range(1, round_)
        if view_of(bench, symptom, earlier).marks is view.marks
        for frame in proposal_of(bench, symptom, earlier).frames
        for candidate in frame.members
    }


def _revised(
    bench: Bench, symptom: Symptom, view: View, round_: int, memory: Memory
) -> list[Candidate]:
    """Give revisions of the hypotheses that are still open, at most one of each."""
    numbers = bench.policy.numbers
    if round_ < numbers.get("refineRound", round_ + 1):
        return []
    first = proposal_of(bench, symptom, 1)
    others = [c for frame in first.frames for c in frame.members] + list(first.left_out)
    out: list[Candidate] = []
    rows = bench.record.select("open-hypotheses", symptom=symptom.node, round=literal(round_))
    for row in rows[: int(numbers.get("refineMost", 0))]:
        parent = bindings.read(view, row["bindings"].value)
        made = refined(view, parent, others, memory.known)
        if made is not None and made.members not in {c.members for c in out}:
            out.append(replace(made, revises=ox.NamedNode(row["hypothesis"].value).value))
    return out
