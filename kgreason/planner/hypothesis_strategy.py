"""The strategy `hypothesis`: the loop of competing hypotheses behind the protocol."""

from dataclasses import replace
from typing import Final

from kgreason.base.budget import Limits
from kgreason.base.errors import OptionError
from kgreason.graph.given import Text, given_as
from kgreason.hypothesize.suggestions import read_suggestions
from kgreason.model.opening import of_client
from kgreason.observe.question import Offered
from kgreason.observe.request import Request
from kgreason.planner.plan_result import plan_result
from kgreason.planner.question_readings import outcome_file, readings_of
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.record import policy
from kgreason.run import begin

_OUTCOME: Final = "outcome"


class Hypothesis:
    """Lets causes compete. What is wrong is what the request says, else what the goal reads as."""

    name = "hypothesis"

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Investigate; raises OptionError where the goal names nothing in the graph."""
        request = context.asked(goal, budget)
        if not (request.shapes or request.axioms or request.violations or request.outcome):
            (first, *_) = readings_of(goal, request, context.progress)
            request = of_reading(first, request, context)
        elif request.shapes and request.only is None:
            request = narrowed(goal, request, context)
        request.check()
        model = None
        if context.caller is not None:
            rules = policy.load(request.policy)
            model = of_client(context.caller.client, context.caller.spending, rules)
        result = begin(
            request,
            context.ledger,
            context.progress,
            context.notice,
            context.told,
            model=model,
            jobs=context.jobs,
            **context.more,
        )
        return plan_result(result, self.name)


def of_reading(offered: Offered, request: Request, context: PlanContext) -> Request:
    """Return a request for one reading of a question, with what it suspects as a suggestion."""
    if offered.suspected:
        suggested = read_suggestions(offered.suspected, request.principal)
        request = replace(request, hypotheses=(*request.hypotheses, *suggested))
    if offered.only or offered.every:
        return replace(request, only=offered.only or None)
    if context.folder is not None:
        return replace(request, shapes=(), outcome=str(outcome_file(offered, context.folder)))
    given = given_as(_OUTCOME, Text(offered.query))
    if given is None:
        raise OptionError("The outcome query cannot be kept.")
    objects = {**request.objects, given.name: given}
    return replace(request, shapes=(), outcome=given.name, objects=objects)


def narrowed(goal: str, request: Request, context: PlanContext) -> Request:
    """Return a request for the symptom that a goal names; for all where it names none."""
    try:
        found = readings_of(goal, request, context.progress)
    except OptionError:
        return request
    if found[0].within:
        return of_reading(found[0], request, context)
    found = [one for one in found if one.only]
    best = [one for one in found if one.score == found[0].score]
    return of_reading(best[0], request, context) if len(best) == 1 else request
