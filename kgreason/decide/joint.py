"""Joint explanation: how few causes hold all failures that the supported ones hold together."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import figure, integer
from kgreason.base.terms import PROV
from kgreason.context.context import Context
from kgreason.context.symptom import Symptom
from kgreason.record import Step
from kgreason.record.ranking import Hypothesis, by_share, hypotheses, joint
from kgreason.record.together import told_of

_BELOW: Final = integer("sliverBelow")
_REST: Final = figure("sliverRest")


def explain(
    context: Context,
    step: Step,
    symptoms: Sequence[Symptom],
    held: Mapping[str, int],
    homes: Mapping[str, str] = MappingProxyType({}),
    origins: Mapping[str, object] = MappingProxyType({}),
) -> dict[str, int]:
    """Add to a step which causes explain the failures of all symptoms together.

    `held` are the failures in the region of each supported hypothesis, by its IRI: a bit for each
    pair of a symptom and a node that fails it. `homes` says with which mechanism an origin is one
    cause, by the IRIs of both; `origins` tell the origin of a mechanism from others. Gives how many
    nodes of each class are added.
    """
    known = hypotheses(context.record)
    ranked = [h for s in symptoms for h in by_share(known.get(s.node.value, ())) if h.id in held]
    groups = joint(ranked, homes, origins)
    sets = [_union(held[h.id] for h in group) for group in groups]
    order = cover(sets)
    every = {s: _union(held[h.id] for h in ranked if h.symptom == s) for s in _symptoms(ranked)}
    thin = slivers(sets, order, [[every[s] for s in _symptoms(group)] for group in groups])
    order = [*(place for place in order if place not in thin), *thin]
    explanation = step.make(
        "JointExplanation",
        PROV.Entity,
        failing=sum(len(symptom.failing) for symptom in symptoms),
        explained=_union(sets).bit_count(),
        causes=len(order) - len(thin),
    )
    seen = 0
    redundant = [place for place in range(len(sets)) if place not in order]
    for index, place in enumerate([*order, *redundant], start=1):
        step.make(
            "JointCause",
            PROV.Entity,
            explanation=explanation,
            index=index,
            hypothesis=[ox.NamedNode(h.id) for h in groups[place]],
            insideFailing=sets[place].bit_count(),
            adds=(sets[place] & ~seen).bit_count(),
            statement=told_of(groups[place]),
            sliver=True if place in thin else None,
        )
        seen |= sets[place]
    return {"JointExplanation": 1, "JointCause": len(sets)}


def _symptoms(members: Iterable[Hypothesis]) -> list[str]:
    return list(dict.fromkeys(h.symptom for h in members))


def slivers(
    sets: Sequence[int], order: Sequence[int], symptoms: Sequence[Sequence[int]]
) -> list[int]:
    """Return the places of causes that add but a handful to others which hold nearly all.

    `symptoms` are, for each set, what all causes together hold of each symptom it is about. Of none
    of these do the causes that are left hold less than `policy:sliverRest`. In the order given.
    """
    left, found = list(order), list[int]()
    for place in reversed(order):
        others = _union(sets[each] for each in left if each != place)
        nearly = all(
            (others & held).bit_count() >= _REST * held.bit_count() for held in symptoms[place]
        )
        if nearly and 0 < (sets[place] & ~others).bit_count() < _BELOW:
            left.remove(place)
            found.insert(0, place)
    return found


def cover(sets: Sequence[int]) -> list[int]:
    """Return the places of sets that hold all that is in any, by what each adds, most first.

    None of them could be left out; there may be another choice with fewer. Of sets that add the
    same the first counts. Greedy cover as in V. Chvátal, "A greedy heuristic for the set-covering
    problem", 1979; then what the others hold is dropped, the last taken first.
    """
    taken = _greedy(sets, range(len(sets)))
    for place in reversed(taken):
        others = [each for each in taken if each != place]
        if not sets[place] & ~_union(sets[each] for each in others):
            taken = others
    return _greedy(sets, sorted(taken))


def _greedy(sets: Sequence[int], places: Iterable[int]) -> list[int]:
    left, seen = list(places), 0
    taken: list[int] = []
    while left:
        best = max(left, key=lambda place: (sets[place] & ~seen).bit_count())
        if not sets[best] & ~seen:
            break
        taken.append(best)
        left.remove(best)
        seen |= sets[best]
    return taken


def _union(sets: Iterable[int]) -> int:
    held = 0
    for each in sets:
        held |= each
    return held
