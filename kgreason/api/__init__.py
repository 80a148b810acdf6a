"""The whole of what Python programs call; `kgreason` offers it, and the command line uses it."""

from kgreason.api.asking import investigate, query, result, resume, symptoms
from kgreason.api.comparing import check_gate, compare, gate_failures, told
from kgreason.api.ledgers import OpenLedger, check_queries, open_ledger, questions

__all__ = [
    "OpenLedger",
    "check_gate",
    "check_queries",
    "compare",
    "gate_failures",
    "investigate",
    "open_ledger",
    "query",
    "questions",
    "result",
    "resume",
    "symptoms",
    "told",
]
