"""Steps of strategies in the record: thoughts, calls of tools, goals, answers and critiques."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from kgreason.base.terms import PROV
from kgreason.record.agents import ENGINE, Agent, introduce
from kgreason.record.model_calls import ModelCall, write_calls
from kgreason.record.record import Node, Record, Step

COMPLETE = "complete"
FAILED = "failed"
REFUSED = "refused"


@dataclass(frozen=True)
class Call:
    """One call of a tool by a strategy, with what it was decided by and what it found.

    `strategy` and `tool` are IRIs, `offered` the IRIs of all tools that might have been called;
    `scope` is that of the tool, `scopes` are those whose tools the strategy may use.
    `arguments` is a JSON object, `query` what was asked of the graph, `found` how many rows or
    nodes that gave and `digest` the digest of the rows. `rule` is the IRI of the rule of decision,
    `goal` the node of the goal that is worked on, `calls` those of a model.
    """

    strategy: str
    thought: str
    tool: str
    offered: tuple[str, ...]
    scope: str
    scopes: tuple[str, ...]
    arguments: str
    observation: str
    status: str = COMPLETE
    query: str = ""
    found: int | None = None
    digest: str = ""
    rule: str = ""
    goal: Node | None = None
    by: Agent = ENGINE
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class Answered:
    """What a strategy answers in the end, the steps it rests on, and the words it left out."""

    strategy: str
    text: str
    answered: bool
    rests_on: tuple[Node, ...] = ()
    not_used: tuple[str, ...] = ()
    rule: str = ""
    by: Agent = ENGINE
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class GoalEnd:
    """What became of a goal: pending, complete, failed or revised.

    `text` is its result, or why there is none; `rests_on` are the steps that it is taken from.
    """

    goal: Node
    status: str
    text: str
    rests_on: tuple[Node, ...] = ()


def write_call(record: Record, step: Step, call: Call) -> Node:
    """Write a call of a tool down as part of a step; gives its node."""
    node = step.make(
        "PlanStep",
        PROV.Entity,
        offeredTool=[ox.NamedNode(one) for one in sorted(call.offered)],
        observation=call.observation,
        stepStatus=call.status,
        query=call.query or None,
        rows=call.found,
        rowsDigest=call.digest or None,
        **_wanted(call),
    )
    _attributed(record, step, node, call.by, call.calls)
    return node


@dataclass(frozen=True)
class RefusedCall:
    """A call that a strategy wanted and that was not made.

    `wanted` is the name of the tool that was asked for, `tool` its IRI and `scope` that of its
    scope, "" where nobody declared it; `scopes` are those that the strategy may use.
    """

    strategy: str
    thought: str
    wanted: str
    arguments: str
    reason: str
    scopes: tuple[str, ...]
    tool: str = ""
    scope: str = ""
    rule: str = ""
    goal: Node | None = None
    by: Agent = ENGINE
    calls: tuple[ModelCall, ...] = ()


def write_refused(record: Record, step: Step, call: RefusedCall) -> Node:
    """Write a call down that was refused; gives its node."""
    node = step.make(
        "RefusedCall",
        PROV.Entity,
        wantedTool=call.wanted,
        reason=call.reason,
        **_wanted(call),
    )
    _attributed(record, step, node, call.by, call.calls)
    return node


def _wanted(call: Call | RefusedCall) -> dict[str, Any]:
    """Return what is told of a call whether it was made or refused."""
    return {
        "strategy": ox.NamedNode(call.strategy),
        "thought": call.thought,
        "tool": ox.NamedNode(call.tool) if call.tool else None,
        "toolScope": ox.NamedNode(call.scope) if call.scope else None,
        "allowedScope": [ox.NamedNode(one) for one in sorted(call.scopes)] or None,
        "toolArguments": call.arguments,
        "decidedByRule": ox.NamedNode(call.rule) if call.rule else None,
        "goal": call.goal,
    }


def write_answer(record: Record, step: Step, answer: Answered) -> Node:
    """Write an answer down as part of a step; gives its node."""
    node = step.make(
        "Answer",
        PROV.Entity,
        strategy=ox.NamedNode(answer.strategy),
        statement=answer.text,
        answered=answer.answered,
        restsOn=list(answer.rests_on) or None,
        notUsed=sorted(set(answer.not_used)) or None,
        decidedByRule=ox.NamedNode(answer.rule) if answer.rule else None,
    )
    _attributed(record, step, node, answer.by, answer.calls)
    return node


def write_outcome(record: Record, step: Step, end: GoalEnd, by: Agent = ENGINE) -> Node:
    """Write down what became of a goal as part of a step; gives its node."""
    node = step.make(
        "GoalOutcome",
        PROV.Entity,
        goal=end.goal,
        goalStatus=end.status,
        statement=end.text,
        restsOn=list(end.rests_on) or None,
    )
    _attributed(record, step, node, by, ())
    return node


def write_critique(
    record: Record,
    step: Step,
    about: Node,
    reasons: Sequence[str],
    by: Agent = ENGINE,
    calls: Iterable[ModelCall] = (),
) -> Node:
    """Write down what a critic says of an answer or investigation; without reasons it may stand."""
    node = step.make(
        "Critique",
        PROV.Entity,
        critiques=about,
        accepted=not reasons,
        reason=sorted(set(reasons)) or None,
    )
    _attributed(record, step, node, by, calls)
    return node


def write_goal(
    record: Record,
    step: Step,
    text: str,
    tool: str,
    plan: int,
    depends: Sequence[Node] = (),
    replaces: Node | None = None,
    by: Agent = ENGINE,
) -> Node:
    """Write a goal of a plan down as part of a step; gives its node."""
    node = step.make(
        "PlannedGoal",
        PROV.Entity,
        statement=text,
        toolHint=ox.NamedNode(tool),
        planNumber=plan,
        dependsOn=list(depends) or None,
        replacesGoal=replaces,
    )
    _attributed(record, step, node, by, ())
    return node


def _attributed(
    record: Record, step: Step, node: Node, by: Agent, calls: Iterable[ModelCall]
) -> None:
    """Describe who made a node, its place among those of its kind, and in which call of a model."""
    step.describe(node, index=int(node.value.rpartition(":")[2]))
    introduce(record, step, (by,))
    step.add(node, PROV.wasAttributedTo, by.iri)
    made = write_calls(record, step, calls)
    if made:
        step.describe(node, modelCall=made[-1])


def answer_of(record: Record) -> dict[str, Any] | None:
    """Return the last answer of a strategy in a record, None where there is none."""
    rows = list(record.select("plan-answer"))
    if not rows:
        return None
    row = rows[-1]
    return {
        "id": row["answer"].value,
        "text": row["text"].value,
        "answered": row["answered"].value in {"true", "1"},
        "strategy": row["strategy"].value,
    }
