"""The strategy `react`: think, call one tool, look at what it gave, and think again."""

from kgreason.base.budget import Limits, Spent
from kgreason.loop import Investigation
from kgreason.planner.chosen_reasoner import chosen_reasoner
from kgreason.planner.plan_result import plan_result
from kgreason.planner.session import Session, resting
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.routing.task_types import task_types
from kgreason.run import Opened, carried_out


class React:
    """Works by single looks. Without a model the rules of ontology/decisions.ttl decide."""

    def __init__(self, name: str = "react") -> None:
        self.name = name

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Work on a question until it is answered, or cannot be; raises KgreasonError."""
        request = context.asked(goal, budget)
        pattern = task_types().patterns[self.name].iri

        def work(investigation: Investigation, opened: Opened) -> None:
            session = Session(investigation, opened, pattern, chosen_reasoner(context))
            try:
                move, done, left = session.work(goal)
            except Spent as why:
                session.stopped(why, ())
                raise
            session.answer(move, resting(move, done), left)

        result = carried_out(
            request, context.ledger, work, context.progress, context.notice, context.told
        )
        return plan_result(result, self.name)
