"""Rules for what is proposed by people and models, between propose and record.

The functions are pure: they look at words, and at sets of nodes of the discovery half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.words import content

WORDS: Final = integer("proposalWords")
"""A statement has fewer words than this."""
LEAST: Final = integer("proposalLeast")
"""As many hypotheses as a model is to propose at least."""
MOST: Final = integer("proposalMost")
"""As many hypotheses of one proposer as are put to the test in a round, at most."""
_SAME_WORDS: Final = figure("proposalSameWords")
_SAME_NODES: Final = figure("proposalSameNodes")


@dataclass(frozen=True)
class Fault:
    """A rule that a proposal breaks, by its name, and the reason as it is told to who proposed."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Proposed:
    """What the rules look at: the words, the kind of cause, the nodes of the discovery half.

    `nodes` are those inside the region, `failing` those of them that fail, a bit for each.
    """

    statement: str
    kind: str = ""
    nodes: int = field(default=0, repr=False)
    failing: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Past:
    """A hypothesis that was tested or rejected before: its name, words, status and nodes."""

    name: str
    statement: str
    status: str
    nodes: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Asked:
    """What proposals are held to: the question, what it is about, and what was tried before.

    `topic` are further words for what is asked about, such as the name of the symptom; `half` is
    the discovery half. `near` tells what came near in earlier rounds and was not tested.
    """

    question: str = ""
    topic: str = ""
    past: tuple[Past, ...] = ()
    half: int = field(default=0, repr=False)
    near: tuple[str, ...] = ()


def words_fault(statement: str, asked: Asked) -> Fault | None:
    """Return what is wrong with the words of a proposal, or None: length, topic, restatement."""
    count = len(statement.split())
    if count >= WORDS:
        return Fault("length", f"The statement has {count} words; say it in fewer than {WORDS}.")
    if not asked.question:
        return None
    said = content(statement)
    question = content(asked.question)
    topic = question | content(asked.topic)
    if question and said <= question:
        return Fault(
            "restatement",
            "The statement only says the question again; name what sets the failing nodes apart.",
        )
    if topic and not said & topic:
        named = ", ".join(sorted(topic))
        return Fault(
            "topic", f"The statement shares no noun with the question; it is about: {named}."
        )
    return None


def fault(one: Proposed, asked: Asked, earlier: Sequence[Proposed]) -> Fault | None:
    """Return the first rule that a proposal breaks, or None.

    `earlier` are the proposals of the same proposer in this round that break none.
    """
    wrong = words_fault(one.statement, asked)
    if wrong is not None:
        return wrong
    if len(earlier) >= MOST:
        return Fault("cap", f"There are {MOST} proposals already, and no more are taken.")
    return _of_nodes(one, asked) or _repeated(one, asked) or _compatible(one, earlier)


def wanting(kept: Sequence[Proposed]) -> Fault | None:
    """Return what proposals lack together, or None: there are too few, or all are of one kind."""
    if len(kept) < LEAST:
        return Fault(
            "count", f"There are {len(kept)} usable proposals; give {LEAST} to {MOST} in all."
        )
    if len({one.kind for one in kept}) == 1:
        return Fault(
            "kinds", f"All are of the kind {kept[0].kind}; give at least one of another kind."
        )
    return None


def _of_nodes(one: Proposed, asked: Asked) -> Fault | None:
    if not one.failing:
        return Fault("support", "No failing node that you were shown lies in the region.")
    if asked.half and one.nodes == asked.half:
        return Fault("everyone", "All nodes lie in the region, so that it sets nothing apart.")
    return None


def _repeated(one: Proposed, asked: Asked) -> Fault | None:
    for past in asked.past:
        alike = _jaccard(content(one.statement), content(past.statement)) >= _SAME_WORDS
        if alike or _overlap(one.nodes, past.nodes) >= _SAME_NODES:
            return Fault(
                "repeat", f"This is, or is nearly, {past.name}, which is {past.status} already."
            )
    return None


def _compatible(one: Proposed, earlier: Sequence[Proposed]) -> Fault | None:
    for place, other in enumerate(earlier, start=1):
        if content(one.statement) == content(other.statement):
            return Fault("duplicate", f"It says the same as the usable proposal {place}.")
        if not one.nodes & ~other.nodes or not other.nodes & ~one.nodes:
            return Fault(
                "exclusive",
                f"Its nodes and those of the usable proposal {place} lie in one another, so that "
                "both may be true; proposals exclude each other.",
            )
    return None


def _overlap(one: int, other: int) -> float:
    union = (one | other).bit_count()
    return (one & other).bit_count() / union if union else 0.0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
