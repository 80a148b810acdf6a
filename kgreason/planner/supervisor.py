"""The strategy `supervisor`: divide a question, have each part looked into, and join the answers.

Each part is a sub-investigation in the ledger with its own request, all under one correlation. What
it supports is provisional; final statuses are given at fan-in, over all hypotheses of the
correlation. A part may be divided again, as deep as `policy:fanOutDepth` says. A part whose
sub-investigation ended in an error is given out again, as often as `policy:fanOuts` says; what is
missing in the end is named.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kgreason.base.budget import Limits
from kgreason.base.errors import OptionError
from kgreason.context.symptom import Observed
from kgreason.loop import Investigation
from kgreason.observe.opening import recorded_request
from kgreason.observe.request import Request
from kgreason.planner.fan_in import FanIn, fan_in, joined, judged
from kgreason.planner.fan_out_level import Level, answered, fan_outs, told_parts
from kgreason.planner.hypothesis_strategy import narrowed
from kgreason.planner.model_goals import goals_of, record_goals, recorded_goals
from kgreason.planner.plan_result import plan_result
from kgreason.planner.splitting import divided_by, split_kinds
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.planner.sub_investigations import Carrier, InTurn, Place, Queued
from kgreason.record import Ledger
from kgreason.record.fanning import GOAL, SYMPTOM, Part, assigned, divided_further, write_synthesis
from kgreason.record.model_calls import ModelCall
from kgreason.record.plan_steps import answer_of
from kgreason.record.record import Node
from kgreason.run import Opened, carried_out

_NOTHING: Final = "No rule is broken, so there is nothing to divide."


@dataclass(frozen=True)
class Division:
    """How a question is divided: by which `kinds` of split, the outermost first, into which parts.

    `because` is what is to be said of it first, `calls` are those of a model that it took.
    """

    kinds: Sequence[str]
    parts: Sequence[Part]
    because: str = ""
    calls: Sequence[ModelCall] = ()

    def left(self, budget: Limits) -> Limits:
        """Return what is left of a budget for the parts."""
        tokens = sum(call.tokens for call in self.calls)
        usd = float(sum(call.usd or 0 for call in self.calls))
        return replace(
            budget,
            tokens=None if budget.tokens is None else max(1, budget.tokens - tokens),
            usd=None if budget.usd is None else max(0.0, budget.usd - usd),
        )


class Supervisor:
    """Divides a question; `carrier` sees to it that the parts are carried on."""

    name = "supervisor"

    def __init__(self, split: str | None = None, carrier: Carrier | None = None) -> None:
        self._split, self._carrier = split, carrier

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Divide, wait for the parts, and join them; raises KgreasonError."""
        request = context.asked(goal, budget)
        if (
            request.shapes
            and request.only is None
            and not (self._split or context.more.keys() & {"split", "goals"})
        ):
            request = narrowed(goal, request, context)  # the one rule that is asked about
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
            made = self._division(investigation, opened_.observed, context)
            place = Place(
                opened_.ledger,
                investigation.context.graph,
                opened_.observed,
                investigation.request,
                context.ledger,
                context.progress,
                context.jobs,
                context.told,
            )
            queue = context.more.get("carrier")
            carrier = self._carrier or (InTurn() if queue is None else Queued(queue))
            _worked(investigation, place, made, made.left(budget), carrier)

        result = carried_out(
            request,
            context.ledger,
            work,
            context.progress,
            context.notice,
            context.told,
            **which,
        )
        return plan_result(result, self.name)

    def _division(
        self, investigation: Investigation, observed: Observed, context: PlanContext
    ) -> Division:
        """Return how the question is divided: as before an interruption, or as is asked for now.

        A model is asked for goals where it is divided by goals and none are given.
        """
        record, caller = investigation.record, context.caller
        goals = tuple(context.more.get("goals", ())) or recorded_goals(record)
        wanted = self._split or context.more.get("split")
        model = caller is not None
        kinds = divided_further(record) or split_kinds(wanted, goals, model=model)
        known = assigned(record)
        if kinds[0] != GOAL or goals or known or caller is None or not observed.failing:
            parts = known or divided_by(kinds, investigation.context, observed, goals)
            return Division(kinds, parts)
        question = investigation.request.question or ""
        proposed = goals_of(caller, question, investigation.context, observed)
        record_goals(record, caller, proposed)
        because = "A model proposed the goals."
        if not proposed.taken:
            kinds = (SYMPTOM, *(kind for kind in kinds[1:] if kind != SYMPTOM))
            because = "No goal of the model could be taken."
        parts = divided_by(kinds, investigation.context, observed, proposed.taken)
        return Division(kinds, parts, because, proposed.calls)


def _worked(
    investigation: Investigation,
    place: Place,
    made: Division,
    budget: Limits,
    carrier: Carrier,
) -> None:
    """Give out the parts, over all levels, have them carried on, and join what comes back."""
    record = investigation.record
    if answer_of(record) is not None:
        return
    if not made.parts:
        answered(record, _NOTHING, (), given=False)
        return
    own = (investigation.context, record, place, place.observed)
    level = Level(*own, made.kinds, made.parts, budget, made.because)
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
