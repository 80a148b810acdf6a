"""Further look-ups: against the leader of a frame, and for what lies between pruned and probable.

They are other queries than the first ones, made of words of the hypothesis: by a model that chooses
among these words, else by the rules here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import TRAILS
from kgreason.context.view import View
from kgreason.record.model_calls import ModelCall
from kgreason.sources.core_terms import MOST, all_terms, core_terms
from kgreason.test.tester import LOOKED_INTO, Member, in_gap, ranked

ADVERSARIAL_KIND: Final = "adversarial-look-up"
GAP_KIND: Final = "gap-look-up"
_LEAD: Final = 2
"""As many of its first terms a look-up against the leader keeps."""


@dataclass(frozen=True)
class Further:
    """A further look-up of a member of a frame: its kind, the terms, and words of which one stands.

    `words` are those of which the terms may be made, at most so many.
    """

    position: int
    kind: str
    statement: str
    terms: tuple[str, ...]
    any_of: tuple[str, ...]
    words: tuple[str, ...]
    most: int = MOST


class TermChooser(Protocol):
    """A model that chooses the terms of further look-ups."""

    def choose_terms(
        self, view: View, asked: Sequence[Further], /
    ) -> Mapping[int, tuple[str, ...]]:
        """Return terms by the place of the look-up among those asked; others stay as they are."""
        ...

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls since the last time, and forget them."""
        ...


def further(frame: Sequence[Member], silent: Sequence[bool]) -> list[Further]:
    """Return the further look-ups of a frame: of its leader, and of the members in the gap.

    A member of which the sources were `silent` is looked up in another way.
    """
    out: list[Further] = []
    for place, position in enumerate(ranked(frame)):
        member = frame[position]
        gap = in_gap(member)
        most = len(out) >= LOOKED_INTO
        if silent[position] or most or not (place == 0 or gap):
            continue
        made = _gap(position, member) if gap else _adversarial(position, member)
        if made is not None:
            out.append(made)
    return out


def _gap(position: int, member: Member) -> Further | None:
    """Return a look-up by what the first one did not ask for; None where there is nothing else."""
    first, words = core_terms(member.statement), _words(member)
    new = [word for word in words if word not in first]
    if not first or not new:
        return None
    terms = (first[0], *new[: MOST - 1])
    return Further(position, GAP_KIND, member.statement, terms, (), words)


def _adversarial(position: int, member: Member) -> Further | None:
    terms = core_terms(member.statement)[:_LEAD]
    if not terms:
        return None
    words = _words(member)
    return Further(position, ADVERSARIAL_KIND, member.statement, terms, contrary(), words)


def _words(member: Member) -> tuple[str, ...]:
    return all_terms(f"{member.statement} {member.prediction} {member.mechanism}")


def contrary() -> tuple[str, ...]:
    """Return the words by which a passage may speak against what its other words say."""
    store = ox.Store()
    store.load(path=str(folder("ontology") / "sources.ttl"), format=ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(None, TRAILS.contraryCue, None, None)
    return tuple(sorted(q.object.value for q in found if isinstance(q.object, ox.Literal)))
