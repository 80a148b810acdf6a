"""The strategy `supervisor`: divide a question, have each part looked into, and join the answers.

Each part is a sub-investigation in the ledger with its own request, all under one correlation. What
it supports is provisional; final statuses are given at fan-in, over all hypotheses of the
correlation. A part whose sub-investigation ended in an error is given out again, as often as
`policy:fanOuts` says; what is missing in the end is named.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import Limits
from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.context.context import Context
from kgreason.loop import Investigation
from kgreason.observe.cite import cite
from kgreason.planner.fan_in import FanIn, fan_in, joined, judged
from kgreason.planner.plan_result import citations, plan_result
from kgreason.planner.plan_tools import CITED
from kgreason.planner.question_terms import as_json
from kgreason.planner.splitting import SPLITS, split_kind
from kgreason.planner.strategy_protocol import PlanContext, PlanResult, shares
from kgreason.planner.sub_investigations import Carrier, InTurn, Place, Queued, opened, session_of
from kgreason.planner.tool_catalogue import tools, tools_of
from kgreason.record import Record
from kgreason.record.fanning import (
    Expected,
    Part,
    expected,
    write_assignment,
    write_fan_out,
    write_synthesis,
)
from kgreason.record.plan_steps import COMPLETE, FAILED, Answered, Call, write_answer, write_call
from kgreason.record.record import Node
from kgreason.report.as_json import as_dict
from kgreason.routing.task_types import task_types
from kgreason.run import Opened, carried_out

_WHY: Final = "is cited by the evidence of a sub-investigation"
_DIVIDED: Final = {
    "symptom": "Each broken rule can be looked into without the others.",
    "class": "What is broken of one class can be looked into without the other classes.",
}


class Supervisor:
    """Divides a question; `carrier` sees to it that the parts are carried on."""

    name = "supervisor"

    def __init__(self, split: str | None = None, carrier: Carrier | None = None) -> None:
        self._split, self._carrier = split, carrier

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Divide, wait for the parts, and join them; raises KgreasonError."""
        request = context.asked(goal, budget)
        nonce = secrets.token_hex(16)
        if request.correlation is None:
            request = replace(request, correlation=f"urn:kgreason:{nonce}")

        def work(investigation: Investigation, opened_: Opened) -> None:
            kind = split_kind(self._split, opened_.observed)
            if opened_.observed is None or kind not in SPLITS:
                raise OptionError(
                    "The supervisor divides what is wrong with a graph; say it by --shapes."
                )
            place = Place(
                opened_.ledger,
                investigation.context.graph,
                opened_.observed,
                investigation.request,
                context.ledger,
                context.progress,
            )
            parts = SPLITS[kind](investigation.context, opened_.observed)
            queue = context.more.get("carrier")
            carrier = self._carrier or (InTurn() if queue is None else Queued(queue))
            self._worked(investigation, place, kind, parts, budget, carrier)

        result = carried_out(
            request,
            context.ledger,
            work,
            context.progress,
            context.notice,
            context.told,
            nonce=nonce,
        )
        return plan_result(result, self.name)

    def _worked(
        self,
        investigation: Investigation,
        place: Place,
        kind: str,
        parts: Sequence[Part],
        budget: Limits,
        carrier: Carrier,
    ) -> None:
        record = investigation.record
        again: list[Expected] = []
        for number in range(1, integer("fanOuts") + 1):
            if number == 1:
                sessions = _fanned_out(record, place, kind, parts, (), budget, _DIVIDED[kind])
            else:
                by_goal = {part.goal: part for part in parts}
                once_more = [by_goal[one.goal] for one in again]
                why = "Given out again, since a sub-investigation ended in an error."
                sessions = _fanned_out(record, place, kind, once_more, again, budget, why)
            carrier.carry(sessions, place, budget.seconds)
            again = [one for one in fan_in(record).missing if one.status is not None]
            if not again:
                break
        _synthesised(investigation, place, fan_in(record))


def _fanned_out(
    record: Record,
    place: Place,
    kind: str,
    parts: Sequence[Part],
    replaces: Sequence[Expected],
    budget: Limits,
    why: str,
) -> list[Node]:
    """Record a fan-out, and open a sub-investigation for each part; gives their IRIs."""
    depth = place.request.depth
    number = 1 + len({one.fan_out for one in expected(record)})
    step = record.step("Plan")
    correlation = place.request.correlation or record.iri.value
    node = write_fan_out(record, step, kind, depth, correlation, why, budget.seconds)
    out: list[tuple[Node, Node]] = []
    given = shares(budget, max(1, len(parts)))
    for n, (part, share) in enumerate(zip(parts, given, strict=True), start=1):
        session = session_of(record.iri, number, n)
        old = replaces[n - 1].assignment if replaces else None
        out.append((session, write_assignment(step, node, part, session, share, old)))
    record.commit(step)
    for (session, assignment), part, share in zip(out, parts, given, strict=True):
        opened(place, record.iri, session, assignment, part, share, depth + 1)
    return [session for session, _ in out]


def _synthesised(investigation: Investigation, place: Place, found: FanIn) -> None:
    """Record what each part gave, what all give together, and the answer."""
    record, context = investigation.record, investigation.context
    calls = [_part(context, one) for one in (*found.used, *found.missing)]
    correlation = place.request.correlation or record.iri.value
    made = joined(record, correlation, found, judged(context, record, found, place.observed))
    step = record.step("Plan")
    write_synthesis(record, step, made)
    record.commit(step)
    step = record.step("Plan")
    pattern = task_types().patterns[Supervisor.name].iri
    rests = tuple(calls[: len(found.used)])
    write_answer(record, step, Answered(pattern, made.statement, bool(found.used), rests))
    record.commit(step)


def _part(context: Context, one: Expected) -> Node:
    """Record as one step what became of a part, with the nodes that its evidence cites."""
    record = context.record
    pattern = task_types().patterns[Supervisor.name].iri
    step = record.step("Plan")
    told, cited = _told(record, one)
    node = write_call(
        record,
        step,
        Call(
            pattern,
            one.goal,
            tools()["investigate"].iri,
            tuple(each.iri for each in tools_of(pattern).values()),
            as_json({"investigation": one.session.value}),
            told,
            COMPLETE if one.complete else FAILED,
            found=len(cited),
        ),
    )
    for name in cited[:CITED]:
        cite(context, step, node, ox.NamedNode(name), None, None, _WHY)
    record.commit(step)
    return node


def _told(record: Record, one: Expected) -> tuple[str, list[str]]:
    if not one.complete:
        return (one.reason or "It did not end in time."), []
    own = Record(record.store, one.session)
    told = as_dict(own)
    causes = " ".join(cause["statement"] for cause in told["causes"])
    cited = [name for name in citations(own, told) if not name.startswith("_:")]
    return (f"Provisional: {causes}" if causes else "No cause is supported."), cited
