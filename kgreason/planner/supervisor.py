"""The strategy `supervisor`: divide a question, have each part looked into, and join the answers.

Each part is a sub-investigation in the ledger with its own request, all under one correlation. What
it supports is provisional; final statuses are given at fan-in, over all hypotheses of the
correlation. A part may be divided again, as deep as `policy:fanOutDepth` says. A part whose
sub-investigation ended in an error is given out again, as often as `policy:fanOuts` says; what is
missing in the end is named.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from kgreason.base.budget import Limits
from kgreason.base.errors import OptionError
from kgreason.loop import Investigation
from kgreason.observe.opening import recorded_request
from kgreason.observe.request import Request
from kgreason.planner.fan_in import FanIn, fan_in, joined, judged
from kgreason.planner.fan_out_level import Level, answered, fan_outs, told_parts
from kgreason.planner.plan_result import plan_result
from kgreason.planner.splitting import divided_by, split_kinds
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.planner.sub_investigations import Carrier, InTurn, Place, Queued
from kgreason.record import Ledger
from kgreason.record.fanning import Part, assigned, divided_further, write_synthesis
from kgreason.record.plan_steps import answer_of
from kgreason.record.record import Node
from kgreason.run import Opened, carried_out

_NOTHING: Final = "No rule is broken, so there is nothing to divide."


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
            goals = context.more.get("goals", ())
            # By what it was divided before an interruption, where it was.
            kinds = divided_further(investigation.record) or split_kinds(
                self._split or context.more.get("split"), goals
            )
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
                kinds, investigation.context, opened_.observed, goals
            )
            queue = context.more.get("carrier")
            carrier = self._carrier or (InTurn() if queue is None else Queued(queue))
            _worked(investigation, place, kinds, parts, budget, carrier)

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
    investigation: Investigation,
    place: Place,
    kinds: Sequence[str],
    parts: Sequence[Part],
    budget: Limits,
    carrier: Carrier,
) -> None:
    """Give out the parts, over all levels, have them carried on, and join what comes back."""
    record = investigation.record
    if answer_of(record) is not None:
        return
    if not parts:
        answered(record, _NOTHING, (), given=False)
        return
    own = (investigation.context, record, place, place.observed)
    level = Level(*own, kinds, parts, budget)
    for number in range(1, fan_outs() + 1):
        left = level.give_out(number)
        if number > 1 and not left:
            break
        carrier.carry(left, place, budget.seconds)
    level.close()
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


def _synthesised(investigation: Investigation, place: Place, found: FanIn) -> None:
    """Record what each part gave, what all give together, and the answer."""
    record, context = investigation.record, investigation.context
    calls, ended = told_parts(context)
    made = joined(record, found, judged(context, record, found, place.observed))
    step = record.step("Plan")
    write_synthesis(record, step, made)
    record.commit(step)
    answered(record, made.statement, calls[:ended], given=bool(found.used))
