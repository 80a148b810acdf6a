"""What is proposed on a symptom in a round: first from the data, later also from what is open."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View
from kgreason.hypothesize import bindings, recorded
from kgreason.hypothesize.candidates import Candidate, filled
from kgreason.hypothesize.conditions.code import SOME
from kgreason.hypothesize.conditions.seam import BITS, nearest
from kgreason.hypothesize.consulting import Consulting
from kgreason.hypothesize.filters import Redundancy, Rejected, Repeat, Room, Round, WholeLift
from kgreason.hypothesize.frames import Filtering, Proposal, framed, propose, sifted
from kgreason.hypothesize.memory import Memory
from kgreason.hypothesize.proposer import Proposer, candidate_of
from kgreason.hypothesize.refine import refined
from kgreason.record.record import literal

_REWORD: Final = "reword"


def proposal_of(
    context: Context,
    symptom: Symptom,
    round_: int,
    memory: Memory,
    proposers: Sequence[Proposer],
) -> Proposal:
    """Ask proposers for what is to be proposed in a round that is not recorded yet.

    What earlier rounds proposed, and had no room for, is read from the record.
    """
    view = view_of(context, symptom, round_)
    if not symptom.counted or not view.marks.failing_count:
        return Proposal()
    consulting = Consulting(context, symptom, view, round_)
    if round_ == 1:
        found = propose(
            view, context.most, memory.rejected, proposers=proposers, consult=consulting
        )
        found = _with_nearest(view, found)
        return replace(found, consulted=tuple(consulting.done))
    wanting = recorded.found_wanting(context, symptom, round_)
    runs: list[Filtering] = []
    reached = None
    if view.marks is view_of(context, symptom, round_ - 1).marks and not wanting:
        # Where nothing was taken out, what there was no room for has its turn.
        candidates = recorded.left_out(context, symptom, round_ - 1)
    else:
        done = {
            row["number"].value for row in context.record.select("suggested", symptom=symptom.node)
        }
        consulting.done_before = done
        found = propose(view, context.most, memory.rejected, wanting, proposers, done, consulting)
        candidates = [c for frame in found.frames for c in frame.members]
        candidates += found.dropped(Room.name)
        reached = found.reached
        runs = [run for run in found.filterings if run.by.name != Room.name]
    revised = _revised(context, symptom, view, round_, memory, proposers)
    later = _later(context, symptom, view, round_, memory, revised, candidates, runs)
    return replace(later, reached=reached, consulted=tuple(consulting.done))


def _with_nearest(view: View, found: Proposal) -> Proposal:
    """Return a proposal with the best condition of all, where none was good enough to be told.

    That it saves too few bits, too, is the test by which “no systematic cause” is earned: whatever
    else could have been said of these nodes saves less. Where other candidates are proposed, it
    stands beside them if it saves some bits: these may be the best of thousands on one half.
    """
    best = nearest(view)
    if best is None:
        return found
    best, others = filled(view, best), [c for frame in found.frames for c in frame.members]
    scant = float(best.values[BITS].value) < SOME
    if others and (scant or any(each.members == best.members for each in others)):
        return found
    return replace(found, frames=framed(view, [*others, best]))


def _later(
    context: Context,
    symptom: Symptom,
    view: View,
    round_: int,
    memory: Memory,
    revised: Sequence[Candidate],
    candidates: Sequence[Candidate],
    runs: Sequence[Filtering],
) -> Proposal:
    """Return what a later round proposes of candidates and of revisions of open hypotheses."""
    limits = Round(context.most, memory.rejected)
    # Candidates passed this filter among themselves before; only revisions may be redundant now.
    found = Redundancy()(view, [*revised, *candidates], limits)
    keys = {c.key for c in revised} - {c.key for c in found.kept}
    redundant = tuple(d for d in found.dropped if d.candidate.key in keys)
    run = Filtering(Redundancy(), len(revised), redundant)
    revised = [c for c in revised if c.key not in keys]
    same = {(c.aspect, c.members) for c in revised}
    same |= recorded.looked_at(context, symptom, round_, view)
    fresh, new = sifted(view, candidates, limits, (Repeat(same), Rejected()))
    fresh, flat = sifted(view_of(context, symptom, 1), fresh, limits, (WholeLift(),))
    kept, last = sifted(view, [*revised, *fresh], limits, (Room(),))
    later = [each for each in (run, *new, *flat, *last) if each.dropped]
    return Proposal(framed(view, kept), (*runs, *later))


def _revised(
    context: Context,
    symptom: Symptom,
    view: View,
    round_: int,
    memory: Memory,
    proposers: Sequence[Proposer],
) -> list[Candidate]:
    """Return revisions of the hypotheses that are still open, at most one of each."""
    numbers = context.policy.numbers
    if round_ < numbers.get("refineRound", round_ + 1):
        return []
    others = [
        *recorded.proposed(context, symptom, 1),
        *recorded.left_out(context, symptom, 1),
    ]
    out: list[Candidate] = []
    rows = context.record.select("open-hypotheses", symptom=symptom.node, round=literal(round_))
    for row in rows[: int(numbers.get("refineMost", 0))]:
        parent = bindings.known(view, row["bindings"].value)
        if parent is None:
            continue  # nobody knows any more how to put it in other words
        found = (
            candidate_of(view, each, proposer)
            for proposer in proposers
            for each in proposer.refine(view, parent, others)
        )
        made = refined(view, parent, found, memory.known)
        if made is not None and made.members not in {c.members for c in out}:
            way = made.way or _REWORD
            out.append(replace(made, revises=row["hypothesis"].value, way=way))
    return out
