"""Decisions of the router in the record: candidates, scores, choice, reason, and by whom."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.terms import PROV
from kgreason.record.agents import ENGINE, Agent, introduce
from kgreason.record.record import Node, Record, Step

TASK_TYPE: Final = "task type"
PATTERN: Final = "pattern"


@dataclass(frozen=True)
class Candidate:
    """A type of task or a pattern that could be chosen.

    `of` is "task type" or "pattern", `matched` are the cues or signals that counted.
    """

    iri: str
    name: str
    of: str
    score: str
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoutingDecision:
    """What was decided about a question; plain data, so that a request can keep it.

    `task_type` and `pattern` are notations of candidates, `by` is the IRI of who decided and
    `by_label` what people call it. `refused` is a choice that was not followed, or empty. `near`
    is another type that the question could well be, or empty.
    """

    task_type: str
    pattern: str
    candidates: tuple[Candidate, ...]
    rationale: str
    by: str = ENGINE.iri.value
    by_label: str = ENGINE.label
    forced: bool = False
    at_hand: tuple[str, ...] = ()
    refused: str = ""
    near: str = ""

    def of(self, kind: str) -> list[Candidate]:
        """Return the candidates of a kind, the best first."""
        several = (one for one in self.candidates if one.of == kind)
        return sorted(several, key=lambda one: -Decimal(one.score))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON; `decision_of` reads it."""
        return asdict(self)


def decision_of(data: Mapping[str, Any]) -> RoutingDecision:
    """Return a decision from what `as_dict` gave."""
    made = dict(data)
    made["candidates"] = tuple(
        Candidate(**{**one, "matched": tuple(one["matched"])}) for one in data["candidates"]
    )
    made["at_hand"] = tuple(data["at_hand"])
    return RoutingDecision(**made)


def write_decision(record: Record, step: Step, decision: RoutingDecision) -> Node:
    """Write a decision down as part of a step, with its candidates; gives its node."""
    iris = {(one.of, one.name): ox.NamedNode(one.iri) for one in decision.candidates}
    node = step.make(
        "RoutingDecision",
        PROV.Entity,
        taskType=iris[TASK_TYPE, decision.task_type],
        chosenPattern=iris[PATTERN, decision.pattern],
        routingReason=decision.rationale,
        forced=decision.forced,
        atHand=list(decision.at_hand) or None,
        refusedChoice=decision.refused or None,
        nearType=iris[TASK_TYPE, decision.near] if decision.near else None,
    )
    by = ox.NamedNode(decision.by)
    if by != ENGINE.iri:
        introduce(record, step, (Agent(by, decision.by_label),))
    step.add(node, PROV.wasAttributedTo, by)
    for one in decision.candidates:
        step.make(
            "RoutingCandidate",
            PROV.Entity,
            routingDecision=node,
            candidateOf=one.of,
            routed=ox.NamedNode(one.iri),
            routedName=one.name,
            routingScore=Decimal(one.score),
            matched=list(one.matched) or None,
        )
    return node
