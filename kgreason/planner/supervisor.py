"""The strategy `supervisor`: divide a question, have each part looked into, and join the answers.

Each part is a sub-investigation in the ledger with its own request, all under one correlation. What
it supports is provisional; final statuses are given at fan-in, over all hypotheses of the
correlation. A part whose sub-investigation ended in an error is given out again, as often as
`policy:fanOuts` says; what is missing in the end is named.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.budget import Limits
from kgreason.base.errors import OptionError
from kgreason.base.figures import integer
from kgreason.context.context import Context
from kgreason.loop import Investigation
from kgreason.observe.cite import cite
from kgreason.observe.opening import recorded_request
from kgreason.observe.request import Request
from kgreason.planner.fan_in import FanIn, fan_in, joined, judged
from kgreason.planner.plan_result import citations, plan_result
from kgreason.planner.plan_tools import CITED
from kgreason.planner.question_terms import as_json
from kgreason.planner.splitting import divided_by, split_kind
from kgreason.planner.strategy_protocol import PlanContext, PlanResult, shares
from kgreason.planner.sub_investigations import Carrier, InTurn, Place, Queued, opened, session_of
from kgreason.planner.tool_catalogue import tools, tools_of
from kgreason.record import Ledger, Record
from kgreason.record.fanning import (
    Expected,
    Part,
    assigned,
    expected,
    write_assignment,
    write_fan_out,
    write_synthesis,
)
from kgreason.record.plan_steps import (
    COMPLETE,
    FAILED,
    Answered,
    Call,
    answer_of,
    write_answer,
    write_call,
)
from kgreason.record.record import Node
from kgreason.report.as_json import as_dict
from kgreason.routing.task_types import task_types
from kgreason.run import Opened, carried_out

_WHY: Final = "is cited by the evidence of a sub-investigation"
_NOTHING: Final = "No rule is broken, so there is nothing to divide."
_AGAIN: Final = "Given out again, since a sub-investigation ended in an error."
_DIVIDED: Final = {
    "symptom": "Each broken rule can be looked into without the others.",
    "class": "What is broken of one class can be looked into without the other classes.",
    "source": "What is broken mostly in one source can be looked into without the other sources.",
    "goal": "Each goal that was given can be looked into without the others.",
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
        return self._carried(request, context, budget, nonce=nonce)

    def go_on(self, which: Node, context: PlanContext) -> PlanResult:
        """Go on with an investigation that was divided and interrupted; `which` is its IRI.

        What its fan-outs gave out and what has ended is in the ledger: only what is open is carried
        on. Raises KgreasonError.
        """
        asked = context.request
        budget = Limits(asked.max_steps, asked.max_seconds, asked.max_tokens, asked.max_usd)
        return self._carried(asked, context, budget, which=which)

    def _carried(
        self, request: Request, context: PlanContext, budget: Limits, **which: Any
    ) -> PlanResult:
        def work(investigation: Investigation, opened_: Opened) -> None:
            if opened_.observed is None:
                raise OptionError(
                    "The supervisor divides what is wrong with a graph; say it by --shapes."
                )
            before = _divided_by(investigation.record)
            goals = context.more.get("goals", ())
            kind = before or split_kind(self._split or context.more.get("split"), goals)
            place = Place(
                opened_.ledger,
                investigation.context.graph,
                opened_.observed,
                investigation.request,
                context.ledger,
                context.progress,
                told=context.told,
            )
            # What was given out before an interruption is not divided anew.
            parts = assigned(investigation.record) or divided_by(
                kind, investigation.context, opened_.observed, goals
            )
            queue = context.more.get("carrier")
            carrier = self._carrier or (InTurn() if queue is None else Queued(queue))
            self._worked(investigation, place, kind, parts, budget, carrier)

        made = carried_out(
            request,
            context.ledger,
            work,
            context.progress,
            context.notice,
            context.told,
            **which,
        )
        return plan_result(made, self.name)

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
        if answer_of(record) is not None:
            return
        if not parts:
            _answered(record, _NOTHING, (), answered=False)
            return
        by_goal = {part.goal: part for part in parts}
        for number in range(1, integer("fanOuts") + 1):
            known = [one for one in expected(record) if one.fan_out_number == number]
            if not known:
                again = [one for one in fan_in(record).missing if one.status is not None]
                if number > 1 and not again:
                    break
                asked = [by_goal[one.goal] for one in again] if number > 1 else list(parts)
                why = _AGAIN if number > 1 else _DIVIDED[kind]
                known = _fanned_out(record, place, kind, number, asked, again, budget, why)
            shares_ = shares(budget, max(1, len(known)))
            for one, share in zip(known, shares_, strict=True):
                if one.status is not None:
                    continue
                part, depth = by_goal[one.goal], place.request.depth + 1
                opened(place, record.iri, one.session, one.assignment, part, share, depth)
            left = [one.session for one in known if one.status is None]
            carrier.carry(left, place, budget.seconds)
        _synthesised(investigation, place, fan_in(record))


def divided(ledger: Path, which: str | None) -> tuple[Node, Request] | None:
    """Return an unfinished investigation that a supervisor divides, and its request, or None.

    Without `which` it is the latest that is open. Raises LedgerError.
    """
    with Ledger.read(ledger) as reader:
        open_ = [one for one in reader.entries() if not one.finished and one.parent is None]
        if which is None and not open_:
            return None
        entry = open_[-1] if which is None else reader.entry(which)
        record = reader.record(entry)
        names = [row["name"].value for row in record.select("worked-on-by")]
        if entry.finished or names != [Supervisor.name]:
            return None
        return entry.iri, recorded_request(record)


def _divided_by(record: Record) -> str | None:
    """Return by what an investigation was divided that is gone on with."""
    return next((row["kind"].value for row in record.select("fan-out-kinds")), None)


def _fanned_out(
    record: Record,
    place: Place,
    kind: str,
    number: int,
    parts: Sequence[Part],
    replaces: Sequence[Expected],
    budget: Limits,
    why: str,
) -> list[Expected]:
    """Record a fan-out with an assignment for each part; gives the assignments."""
    step = record.step("Plan")
    correlation = place.request.correlation or record.iri.value
    given_out = (kind, number, place.request.depth, correlation, why, budget.seconds)
    node = write_fan_out(record, step, *given_out)
    given = shares(budget, max(1, len(parts)))
    for n, (part, share) in enumerate(zip(parts, given, strict=True), start=1):
        session = session_of(record.iri, number, n)
        old = replaces[n - 1].assignment if replaces else None
        write_assignment(step, node, part, session, share, old)
    record.commit(step)
    return [one for one in expected(record) if one.fan_out_number == number]


def _synthesised(investigation: Investigation, place: Place, found: FanIn) -> None:
    """Record what each part gave, what all give together, and the answer."""
    record, context = investigation.record, investigation.context
    calls = [_part(context, one) for one in (*found.used, *found.missing)]
    made = joined(record, found, judged(context, record, found, place.observed))
    step = record.step("Plan")
    write_synthesis(record, step, made)
    record.commit(step)
    rests = tuple(calls[: len(found.used)])
    _answered(record, made.statement, rests, answered=bool(found.used))


def _answered(record: Record, said: str, rests: tuple[Node, ...], *, answered: bool) -> None:
    step = record.step("Plan")
    pattern = task_types().patterns[Supervisor.name].iri
    write_answer(record, step, Answered(pattern, said, answered, rests))
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
    cut = told["budget"]["cut"]
    short = "" if cut is None else f" The work {cut}."
    return (f"Provisional: {causes}" if causes else "No cause is supported.") + short, cited
