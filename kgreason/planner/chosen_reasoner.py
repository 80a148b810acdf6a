"""Who decides in a plan: the reasoner that was given, a model, or the rules of decision."""

from kgreason.planner.decision_list import BySymbols
from kgreason.planner.model_reasoner import ModelReasoner
from kgreason.planner.reasoner import Reasoner
from kgreason.planner.strategy_protocol import PlanContext


def chosen_reasoner(context: PlanContext) -> Reasoner:
    """Return the reasoner of a plan."""
    if context.reasoner is not None:
        return context.reasoner
    return BySymbols() if context.caller is None else ModelReasoner(context.caller)
