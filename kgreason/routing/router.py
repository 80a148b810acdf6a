"""Routing: which type of task a question is, and by which pattern it is worked on.

The scores are sums of weights: those of features, which were learned from labelled questions
(`ontology/routing.ttl`), and those of cues, which extensions state. Nothing is learned while it
runs, and no model is needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.record.agents import ENGINE, Agent
from kgreason.record.routing_decision import PATTERN, TASK_TYPE, Candidate, RoutingDecision
from kgreason.routing.learned import learned
from kgreason.routing.phrases import words_of
from kgreason.routing.task_types import TaskType, TaskTypes, task_types

Chooser = Callable[[str, Sequence[str]], str]
"""Says which of several types of tasks a question is; asked where the cues do not decide."""
_LONGEST: Final = 10_000
_TOLD: Final = 8
"""How many learned weights a candidate tells one by one; the others are added up."""
_REASONS: Final = 3
"""How many of them the rationale names."""
_ZERO: Final = Decimal(0)


@dataclass(frozen=True)
class AtHand:
    """What there is beside the question.

    `symptoms` is how many constraints fail, as far as that is known; `finding` says that what an
    earlier question of the conversation found is named, `suspect` that something is named which may
    bring about the rest; `runnable` are the patterns that a strategy is there for, None where that
    does not matter.
    """

    shapes: bool = False
    outcome: bool = False
    symptoms: int | None = None
    small_budget: bool = False
    model: bool = False
    finding: bool = False
    suspect: bool = False
    runnable: frozenset[str] | None = field(default=None)

    def signals(self, known: TaskTypes) -> list[str]:
        """Return the signals that are given, by name."""
        least = known.signals["many-symptoms"].least if "many-symptoms" in known.signals else None
        given = {
            "shapes": self.shapes,
            "outcome": self.outcome,
            "many-symptoms": least is not None and (self.symptoms or 0) >= least,
            "small-budget": self.small_budget,
            "model": self.model,
            "finding": self.finding,
            "suspect": self.suspect,
        }
        return [name for name in known.signals if given.get(name)]


def route(
    question: str,
    at_hand: AtHand | None = None,
    *,
    strategy: str | None = None,
    asked_by: Agent = ENGINE,
    chooser: Chooser | None = None,
    chosen_by: Agent = ENGINE,
    unread: str = "",
) -> RoutingDecision:
    """Decide on the type of task and the pattern for a question.

    `strategy` is the pattern that `asked_by` wants, whatever the type. A `chooser` is asked where
    the best two types are too near to each other; what it says that is no candidate is refused.
    `unread` is the pattern that this was routed to, and that could make nothing of the question;
    the fallback takes its place. Raises OptionError for an empty question or a strategy that is
    not there.
    """
    if not question.strip() or len(question) > _LONGEST:
        raise OptionError(f"A question has between 1 and {_LONGEST:,} characters.")
    known, beside = task_types(), at_hand or AtHand()
    types = _scored_types(question, known)
    name, by, refused = types[0].name, ENGINE, ""
    if chooser is not None and _near(types, known):
        said, by = chooser(question, [one.name for one in types]), chosen_by
        if said in known.types:
            name = said
        else:
            refused = said.strip() or "nothing"
    if strategy is not None:
        return _forced(known, types, name, beside, strategy, asked_by)
    if refused or unread:
        return _fallen_back(known, types, beside, refused, by, unread)
    patterns = _scored_patterns(known.types[name], known, beside)
    if not patterns:
        return _fallen_back(known, types, beside, "", by)
    near = _near_to(types, name, known)
    why = _why(types, name, near)
    why += f" {patterns[0].name} is the best of its patterns ({patterns[0].score})."
    left = _left_out(known.types[name], beside)
    if left:
        why += f" No strategy is at hand for {', '.join(left)}."
    return RoutingDecision(
        name,
        patterns[0].name,
        (*types, *patterns),
        why,
        by.iri.value,
        by.label,
        at_hand=tuple(beside.signals(known)),
        refused=refused,
        near=near,
    )


def _scored_types(question: str, known: TaskTypes) -> list[Candidate]:
    """Return all types with their scores, the best first; equal ones stand by name."""
    words, weights = words_of(question), learned().weights
    read = known.reading.features(question)
    found = []
    for one in known.types.values():
        score, matched = one.prior, []
        for cue in one.cues:
            said = cue.found(words)
            if said is not None:
                score += cue.weight
                matched.append(f"{said} ({cue.weight:+})")
        of = weights.get(one.iri, {})
        counted = [(of[name], said) for name, said in read.items() if name in of]
        score += sum((weight for weight, _ in counted), _ZERO)
        matched += _told(counted)
        found.append(Candidate(one.iri, one.name, TASK_TYPE, str(score), tuple(matched)))
    return sorted(found, key=lambda c: (-Decimal(c.score), c.name))


def _told(counted: Sequence[tuple[Decimal, str]]) -> list[str]:
    """Return the words that gave features, with the sum of their weights, the heaviest first."""
    by_words: dict[str, Decimal] = {}
    for weight, said in counted:
        by_words[said] = by_words.get(said, _ZERO) + weight
    heavy = sorted(by_words.items(), key=lambda one: (-abs(one[1]), one[0]))
    told = [f"{said} ({weight:+})" for said, weight in heavy[:_TOLD]]
    rest = sum((weight for _, weight in heavy[_TOLD:]), _ZERO)
    many = len(heavy) - len(told)
    return [*told, f"{many} more ({rest:+})"] if many > 0 else told


def _why(types: Sequence[Candidate], name: str, near: str) -> str:
    """Return what speaks for the type that was chosen, and for the one that comes next."""
    best, second = _of(types, name), next((one for one in types if one.name != name), None)
    why = f"The question reads as {name} ({best.score}: {_reasons(best)})"
    if second is None:
        return f"{why}."
    why += f", before {second.name} ({second.score}: {_reasons(second)})"
    return f"{why}; the two are near to each other." if near else f"{why}."


def _reasons(one: Candidate) -> str:
    """Return what speaks most for a candidate."""
    speaks = [said for said in one.matched if "(-" not in said and " more (" not in said]
    return ", ".join(speaks[:_REASONS]) or "no cue"


def _near_to(types: Sequence[Candidate], name: str, known: TaskTypes) -> str:
    """Return the other of the best two types where they are near to each other, or nothing."""
    if not _near(types, known) or name not in {one.name for one in types[:2]}:
        return ""
    return next(one.name for one in types[:2] if one.name != name)


def _near(types: Sequence[Candidate], known: TaskTypes) -> bool:
    several = [Decimal(one.score) for one in types[:2]]
    return len(several) > 1 and several[0] - several[1] < known.margin


def _of(candidates: Sequence[Candidate], name: str) -> Candidate:
    return next(one for one in candidates if one.name == name)


def _scored_patterns(type_: TaskType, known: TaskTypes, beside: AtHand) -> list[Candidate]:
    """Return the valid patterns of a type that can be run, with their scores, the best first."""
    return _patterns(dict(type_.patterns), known, beside)


def _patterns(weights: Mapping[str, Decimal], known: TaskTypes, beside: AtHand) -> list[Candidate]:
    found = []
    for name, weight in weights.items():
        if beside.runnable is not None and name not in beside.runnable:
            continue
        score, matched = weight, []
        for signal in beside.signals(known):
            more = dict(known.signals[signal].favours).get(name)
            if more is not None:
                score += more
                matched.append(f"{known.signals[signal].label} ({more:+})")
        iri = known.patterns[name].iri
        found.append(Candidate(iri, name, PATTERN, str(score), tuple(matched)))
    return sorted(found, key=lambda c: (-Decimal(c.score), c.name))


def _left_out(type_: TaskType, beside: AtHand) -> list[str]:
    if beside.runnable is None:
        return []
    return [name for name, _ in type_.patterns if name not in beside.runnable]


def _forced(
    known: TaskTypes,
    types: Sequence[Candidate],
    name: str,
    beside: AtHand,
    strategy: str,
    asked_by: Agent,
) -> RoutingDecision:
    """Return the decision where a person names the pattern: all patterns are candidates then."""
    weights = dict.fromkeys(known.patterns, _ZERO) | dict(known.types[name].patterns)
    patterns = _patterns(weights, known, beside)
    names = [one.name for one in patterns]
    if strategy not in names:
        raise OptionError(
            f"--strategy {strategy}: there is no such strategy; there are: "
            f"{', '.join(sorted(names))}."
        )
    near = _near_to(types, name, known)
    usual = strategy in dict(known.types[name].patterns)
    more = "" if usual else f", which is no usual pattern of {name}"
    return RoutingDecision(
        name,
        strategy,
        (*types, *patterns),
        f"The question reads as {name}; who asked wants {strategy}{more}.",
        asked_by.iri.value,
        asked_by.label,
        forced=True,
        at_hand=tuple(beside.signals(known)),
        near=near,
    )


def _fallen_back(
    known: TaskTypes,
    types: Sequence[Candidate],
    beside: AtHand,
    refused: str,
    by: Agent,
    unread: str = "",
) -> RoutingDecision:
    """Return the fallback: a choice was refused, or no pattern of the type can be run, or read it.

    `unread` is the pattern that could not.
    """
    name, pattern = known.fallback
    patterns = _patterns({pattern: _ZERO}, known, AtHand())
    why = (
        f"The choice {refused!r} was refused, for it is none of the candidates"
        if refused
        else f"The question reads as {types[0].name}, but it names nothing that {unread} could test"
        if unread
        else "No strategy is at hand for any pattern of the type"
    )
    return RoutingDecision(
        name,
        pattern,
        (*types, *patterns),
        f"{why}; the fallback is {name} by {pattern}.",
        by.iri.value,
        by.label,
        at_hand=tuple(beside.signals(known)),
        refused=refused,
    )
