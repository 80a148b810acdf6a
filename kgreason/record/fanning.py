"""Fan-outs, assignments and syntheses in the record of the investigation that divides a question.

What is expected, and what has ended, is asked of the ledger each time (`queries/record/fan-in.rq`);
nothing is kept between two looks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import Limits
from kgreason.base.store import Row
from kgreason.base.terms import PROV
from kgreason.record.agents import ENGINE, Agent, introduce
from kgreason.record.model_calls import ModelCall, write_calls
from kgreason.record.record import Node, Record, Step, Value
from kgreason.record.sub_sessions import COMPLETE

SYMPTOM: Final = "symptom"
CLASS: Final = "class"
SOURCE: Final = "source"
GOAL: Final = "goal"
KINDS: Final = (SYMPTOM, CLASS, SOURCE, GOAL)


@dataclass(frozen=True)
class Part:
    """A part of a divided question: its goal, the pattern that works on it, and its scope.

    `strategy` is the IRI of the pattern, `tools` the IRIs of the scopes of tools that it may use,
    `symptoms` the keys of those that it is limited to; `within_class` is the class that these are
    of, where the question was divided by class, `within_source` the named graph that describes most
    of what fails, where it was divided by source.
    """

    goal: str
    strategy: str
    tools: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    within_class: str | None = None
    within_source: str | None = None


@dataclass(frozen=True)
class Expected:
    """An assignment of a fan-out, and how its sub-investigation ended, if it did.

    `status` is "complete" or "error", None where it is open still; `completion` is the node that
    says so. `missed` says that the assignment was given out again, `divided` that its
    sub-investigation divided its part again; `parent` is the investigation that gave it out.
    """

    assignment: Node
    session: Node
    fan_out: Node
    fan_out_number: int
    goal: str
    status: str | None
    completion: Node | None
    reason: str | None
    missed: bool
    parent: Node
    divided: bool = False

    @property
    def complete(self) -> bool:
        """Whether its part can be joined."""
        return self.status == COMPLETE


@dataclass(frozen=True)
class ProposedGoal:
    """A goal that a model proposed, with the keys of the symptoms that it names.

    `refused` says why it is not looked into, "" where it is.
    """

    statement: str
    symptoms: tuple[str, ...]
    refused: str = ""


def write_proposed_goals(
    record: Record,
    step: Step,
    goals: Sequence[ProposedGoal],
    calls: Sequence[ModelCall],
    by: Agent,
) -> None:
    """Write down the goals that a model proposed, with what became of each, and its calls."""
    introduce(record, step, (by,))
    made = write_calls(record, step, calls)
    for one in goals:
        node = step.make(
            "ProposedGoal",
            PROV.Entity,
            statement=one.statement,
            accepted=not one.refused,
            reason=one.refused or None,
            symptomKey=list(one.symptoms) or None,
            modelCall=made[-1],
        )
        step.describe(node, index=_place(node))
        step.add(node, PROV.wasAttributedTo, by.iri)


def write_fan_out(
    record: Record,
    step: Step,
    divided_by: str,
    number: int,
    depth: int,
    correlation: str,
    reason: str,
    wait: float | None = None,
    then: Sequence[str] = (),
    assignment: str | None = None,
) -> Node:
    """Write down that a question is divided; gives its node.

    It is derived from how the question was routed, or from the `assignment` (an IRI) of a part that
    is divided again. `then` is by what its own parts are divided.
    """
    node = step.make(
        "FanOut",
        PROV.Entity,
        dividedBy=divided_by,
        fanOutNumber=number,
        depth=depth,
        correlation=correlation,
        reason=reason,
        waitSeconds=None if wait is None else Decimal(f"{wait:.3f}"),
        thenDividedBy=",".join(then) or None,
    )
    _attributed(record, step, node)
    if assignment is not None:
        step.add(node, PROV.wasDerivedFrom, ox.NamedNode(assignment))
    for row in record.select("worked-on-by")[:1]:
        step.add(node, PROV.wasDerivedFrom, ox.NamedNode(row["decision"].value))
    return node


def write_assignment(
    step: Step,
    fan_out: Node,
    part: Part,
    session: Node,
    share: Limits,
    replaces: Node | None = None,
) -> Node:
    """Write down who works on a part; gives its node."""
    node = step.make(
        "Assignment",
        PROV.Entity,
        fanOut=fan_out,
        session=session,
        statement=part.goal,
        strategy=ox.NamedNode(part.strategy),
        toolScope=[ox.NamedNode(one) for one in part.tools] or None,
        symptomKey=list(part.symptoms) or None,
        withinClass=None if part.within_class is None else ox.NamedNode(part.within_class),
        withinSource=None if part.within_source is None else ox.NamedNode(part.within_source),
        shareSteps=share.steps,
        shareSeconds=None if share.seconds is None else Decimal(f"{share.seconds:.3f}"),
        shareTokens=share.tokens,
        shareUsd=None if share.usd is None else Decimal(f"{share.usd:.6f}"),
        replacesAssignment=replaces,
    )
    step.describe(node, index=_place(node))
    step.add(node, PROV.wasDerivedFrom, fan_out, *(() if replaces is None else (replaces,)))
    return node


def assigned(record: Record) -> list[Part]:
    """Return the parts that the first fan-out of an investigation gave out, in their order."""
    out = []
    for _, group in groupby(record.select("assigned"), key=lambda row: row["index"].value):
        rows = list(group)
        first = rows[0]
        out.append(
            Part(
                first["goal"].value,
                first["strategy"].value,
                tuple(dict.fromkeys(row["scope"].value for row in rows if "scope" in row)),
                tuple(dict.fromkeys(row["key"].value for row in rows if "key" in row)),
                first["class"].value if "class" in first else None,
                first["source"].value if "source" in first else None,
            )
        )
    return out


def expected(record: Record) -> list[Expected]:
    """Return all assignments of an investigation, in their order, each with how it ended."""
    return [_expected(row, record.iri) for row in record.select("fan-in")]


def expected_below(record: Record) -> list[Expected]:
    """Return the assignments of an investigation, each followed by those that its part was given.

    What was given out again is not followed.
    """
    out = []
    for one in expected(record):
        session = Record(record.store, one.session, record.blobs)
        below = [] if one.missed else expected_below(session)
        out += [replace(one, divided=bool(below)), *below]
    return out


def divided_further(record: Record) -> tuple[str, ...]:
    """Return by what an investigation divided its question, and then its parts; () for none."""
    for row in record.select("fan-out-kinds"):
        then = row["then"].value.split(",") if "then" in row else ()
        return (row["kind"].value, *then)
    return ()


def _expected(row: Row, parent: Node) -> Expected:
    complete, failed = row.get("complete"), row.get("failed")
    end = complete or failed
    return Expected(
        ox.NamedNode(row["assignment"].value),
        ox.NamedNode(row["session"].value),
        ox.NamedNode(row["fanOut"].value),
        int(row["number"].value),
        row["goal"].value,
        None if end is None else COMPLETE if complete else "error",
        None if end is None else ox.NamedNode(end.value),
        row["reason"].value if complete is None and "reason" in row else None,
        "instead" in row,
        parent,
    )


@dataclass(frozen=True)
class Standing:
    """A hypothesis of a sub-investigation after fan-in; statuses are IRIs, `twins` its equals.

    `told_as` is the twin that stands for it, where it does not stand for itself; `confidence` is
    that by the evidence of all twins, where it is not that of its own sub-investigation.
    """

    hypothesis: str
    session: str
    provisional: str
    final: str
    e: Decimal
    twins: tuple[str, ...] = ()
    told_as: str | None = None
    confidence: Decimal | None = None


@dataclass(frozen=True)
class ToldCause:
    """A cause over the whole correlation, with the hypotheses that state it.

    `failing` counts what it holds, `adds` what no cause before it holds; None where that was not
    counted.
    """

    statement: str
    hypotheses: tuple[str, ...]
    failing: int | None = None
    adds: int | None = None


@dataclass(frozen=True)
class Concluded:
    """A verdict on a symptom, or a mechanism with its origin, over the whole correlation.

    `kind` is the class of the node that says so, `said` its properties by name.
    """

    kind: str
    said: Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Joined:
    """What the completions of an investigation give together.

    `divided` are the parts that were divided again; what was used or is missing of them counts.
    """

    statement: str
    correlation: str
    used: tuple[Expected, ...]
    missing: tuple[Expected, ...]
    family: int
    threshold: ox.Literal | None = None
    failing: int | None = None
    explained: int | None = None
    standings: tuple[Standing, ...] = ()
    causes: tuple[ToldCause, ...] = ()
    contradictions: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    fan_outs: tuple[Node, ...] = field(default=())
    divided: tuple[Expected, ...] = ()
    concluded: tuple[Concluded, ...] = ()


def write_synthesis(record: Record, step: Step, made: Joined) -> tuple[Node, Sequence[Node]]:
    """Write down what came of all parts; gives the nodes of the synthesis and of its causes."""
    ended = (*made.used, *made.divided)
    ends = [one.completion for one in ended if one.completion is not None]
    node = step.make(
        "Synthesis",
        PROV.Entity,
        fanOut=list(made.fan_outs),
        completion=ends or None,
        missing=[one.assignment for one in made.missing] or None,
        partial=bool(made.missing),
        correlation=made.correlation,
        statement=made.statement,
        ebhFamily=made.family,
        ebhThreshold=made.threshold,
        failing=made.failing,
        explained=made.explained,
        causes=len(made.causes),
    )
    _attributed(record, step, node)
    step.add(node, PROV.wasDerivedFrom, *made.fan_outs, *ends)
    for one in made.standings:
        step.make("FinalStatus", PROV.Entity, synthesis=node, **_standing(one))
    for each in made.concluded:
        step.make(each.kind, PROV.Entity, synthesis=node, **each.said)
    causes = [_cause(step, node, place, one) for place, one in enumerate(made.causes, start=1)]
    for said, hypotheses, status in made.contradictions:
        step.make(
            "Contradiction",
            PROV.Entity,
            synthesis=node,
            statement=said,
            hypothesis=[ox.NamedNode(h) for h in hypotheses],
            finalStatus=ox.NamedNode(status),
        )
    return node, causes


def _standing(one: Standing) -> Mapping[str, Node | Decimal | list[Node] | None]:
    return {
        "hypothesis": ox.NamedNode(one.hypothesis),
        "session": ox.NamedNode(one.session),
        "provisionalStatus": ox.NamedNode(one.provisional),
        "finalStatus": ox.NamedNode(one.final),
        "combinedE": one.e,
        "combinedConfidence": one.confidence,
        "toldAs": None if one.told_as is None else ox.NamedNode(one.told_as),
        "twin": [ox.NamedNode(t) for t in one.twins] or None,
    }


def _cause(step: Step, synthesis: Node, place: int, one: ToldCause) -> Node:
    node = step.make(
        "SynthesisedCause",
        PROV.Entity,
        synthesis=synthesis,
        index=place,
        hypothesis=[ox.NamedNode(h) for h in one.hypotheses],
        statement=one.statement,
        insideFailing=one.failing,
        adds=one.adds,
    )
    step.add(node, PROV.wasDerivedFrom, *(ox.NamedNode(h) for h in one.hypotheses))
    return node


def _attributed(record: Record, step: Step, node: Node) -> None:
    step.describe(node, index=_place(node))
    introduce(record, step, (ENGINE,))
    step.add(node, PROV.wasAttributedTo, ENGINE.iri)


def _place(node: Node) -> int:
    return int(node.value.rpartition(":")[2])
