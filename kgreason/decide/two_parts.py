"""Findings of two parts: what happened, and where it comes from; and a cause with its pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import figure
from kgreason.base.terms import PROV
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import LEAST
from kgreason.record import Step
from kgreason.record.joined import NEARLY, sentence
from kgreason.record.ranking import Hypothesis, by_share, cause_key, hypotheses

_MOSTLY: Final = figure("originMostly")


@dataclass(frozen=True)
class Joined:
    """A supported mechanism, the origin of its failures, and the mechanisms that are pieces of it.

    `failing` counts the failures of the mechanism, `shared` those of them that the origin holds.
    `whole` says that these are nearly all that the origin holds: the two are one cause.
    """

    mechanism: Hypothesis
    failing: int
    origin: Hypothesis | None
    shared: int
    whole: bool
    pieces: tuple[tuple[Hypothesis, int], ...]

    @property
    def statement(self) -> str:
        """Both parts in one sentence, and then the pieces."""
        origin = (self.origin.statement, self.shared) if self.origin else None
        pieces = [(h.statement, n) for h, n in self.pieces]
        return sentence(self.mechanism.statement, self.failing, origin, pieces)


def join(context: Context, step: Step, symptoms: Sequence[Symptom]) -> list[Joined]:
    """Add to a step which supported mechanisms have an origin or pieces, and return them."""
    known = hypotheses(context.record)
    associated = {row["hypothesis"].value for row in context.record.select("associated")}
    found = [
        joined
        for symptom in symptoms
        for joined in _of(context, symptom, known.get(symptom.node.value, ()), associated)
    ]
    for each in found:
        step.make(
            "JoinedFinding",
            PROV.Entity,
            hypothesis=ox.NamedNode(each.mechanism.id),
            comesFrom=ox.NamedNode(each.origin.id) if each.origin else None,
            insideFailing=each.failing,
            shared=each.shared if each.origin else None,
            piece=[ox.NamedNode(h.id) for h, _ in each.pieces] or None,
            statement=each.statement,
        )
    return found


def homes(found: Sequence[Joined]) -> dict[str, str]:
    """Return by the IRI of each origin that is one cause with a mechanism the IRI of that one."""
    return {j.origin.id: j.mechanism.id for j in found if j.origin and j.whole and j.origin.cause}


def origins(found: Sequence[Joined]) -> dict[str, object]:
    """Return by the IRI of each mechanism with an origin what tells that from other origins."""
    return {j.mechanism.id: cause_key(j.origin) for j in found if j.origin}


def _of(
    context: Context, symptom: Symptom, members: Sequence[Hypothesis], associated: set[str]
) -> list[Joined]:
    causes = by_share([h for h in members if h.cause and h.is_mechanism])
    held = {h.id: _failing(context, symptom, h) for h in causes}
    pieces = {h.id: _pieces(h, causes, held) for h in causes}
    parts = {piece.id for each in pieces.values() for piece in each}
    wholes = [h for h in causes if h.id not in parts]
    origins = [
        h for h in members if not h.is_mechanism and (h.cause or h.id in associated) and h.pattern
    ]
    nodes = {h.id: _failing(context, symptom, h) for h in origins} if wholes else {}
    # What holds most of all failures holds most of any mechanism's, unless it is no origin.
    least = {
        h.id: max(_MOSTLY, min(NEARLY, nodes[h.id].bit_count() / len(symptom.failing)))
        if h.cause
        else NEARLY
        for h in (origins if wholes else ())
    }
    out, taken = [], set[str]()
    for mechanism in wholes:
        own = held[mechanism.id]
        size = own.bit_count()
        common = {h.id: (nodes[h.id] & own).bit_count() for h in origins if h.id not in taken}
        fitting = [
            h for h in origins if size >= LEAST and common.get(h.id, 0) >= least[h.id] * size
        ]
        nearly = {h.id: common[h.id] >= NEARLY * size for h in fitting}
        origin = max(fitting, key=lambda h: (h.cause, nearly[h.id], h.e, -h.order), default=None)
        shared = (nodes[origin.id] & own).bit_count() if origin else 0
        whole = origin is not None and shared >= NEARLY * nodes[origin.id].bit_count()
        if origin is not None and whole:
            taken.add(origin.id)
        told = tuple((p, held[p.id].bit_count()) for p in pieces[mechanism.id])
        if origin is not None or told:
            out.append(Joined(mechanism, size, origin, shared, whole, told))
    return out


def _pieces(
    whole: Hypothesis, causes: Sequence[Hypothesis], held: Mapping[str, int]
) -> list[Hypothesis]:
    """Return the mechanisms of the same kind and property of which all failures lie in another."""
    own = held[whole.id]
    within = [
        h
        for h in causes
        if h.id != whole.id
        and (h.kind, h.dimension) == (whole.kind, whole.dimension)
        and h.dimension is not None
        and held[h.id]
        and not held[h.id] & ~own
        and held[h.id].bit_count() < own.bit_count()
    ]
    return sorted(within, key=lambda h: (-held[h.id].bit_count(), h.order))


def _failing(context: Context, symptom: Symptom, hypothesis: Hypothesis) -> int:
    view = view_of(context, symptom, 1)
    nodes = mark_inside(context, view, pattern(hypothesis.pattern or ""))
    return nodes & view.marks.failing_mask
