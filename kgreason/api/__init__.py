"""The whole of what Python programs call; `kgreason` offers it, and the command line uses it."""

from kgreason.api.asking import estimate, investigate, query, result, resume, symptoms
from kgreason.api.comparing import check_gate, compare, gate_doubts, gate_failures, told
from kgreason.api.ledgers import OpenLedger, check_queries, open_ledger, questions
from kgreason.api.planning import compare_strategies, plan, routed, steps, whole_question
from kgreason.api.posing import UnreadError, ask, asks_for_a_look, chosen_by_model, readings
from kgreason.api.routed import proposed_task_types, route

__all__ = [
    "OpenLedger",
    "UnreadError",
    "ask",
    "asks_for_a_look",
    "check_gate",
    "check_queries",
    "chosen_by_model",
    "compare",
    "compare_strategies",
    "estimate",
    "gate_doubts",
    "gate_failures",
    "investigate",
    "open_ledger",
    "plan",
    "proposed_task_types",
    "query",
    "questions",
    "readings",
    "result",
    "resume",
    "route",
    "routed",
    "steps",
    "symptoms",
    "told",
    "whole_question",
]
