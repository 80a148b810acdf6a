"""The whole of what Python programs call; `kgreason` offers it, and the command line uses it."""

from kgreason.api.asking import investigate, result, resume, symptoms
from kgreason.api.ledgers import OpenLedger, open_ledger, questions

__all__ = ["OpenLedger", "investigate", "open_ledger", "questions", "result", "resume", "symptoms"]
