"""Find out why a knowledge graph is wrong: hypothesis-driven reasoning on RDF graphs.

>>> import kgreason
>>> result = kgreason.investigate("data/", shapes="shapes.ttl")  # doctest: +SKIP
>>> result.symptoms, result.causes, result.rows()  # doctest: +SKIP
>>> print(result.markdown())  # doctest: +SKIP
>>> with kgreason.open(".kgreason") as ledger:  # doctest: +SKIP
...     print(ledger.investigations, ledger.audit())

The classes have help of their own: Result, OpenLedger, Text, Symptoms, ReportedSymptom,
ReportedHypothesis, ReportedEvidence, ReportedCause, FocusNodes, KgreasonError.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

from kgreason.api import compare, investigate, result, resume, symptoms
from kgreason.api import open_ledger as open  # noqa: A004 - always written kgreason.open

if TYPE_CHECKING:
    from kgreason.api.asking import Symptoms, query
    from kgreason.api.comparing import gate_failures
    from kgreason.api.ledgers import ListedInvestigation, OpenLedger
    from kgreason.api.routed import route
    from kgreason.base.errors import KgreasonError
    from kgreason.graph.given import Text
    from kgreason.report.entries import (
        ReportedCause,
        ReportedEvidence,
        ReportedHypothesis,
        ReportedSymptom,
    )
    from kgreason.report.focus_nodes import FocusNode, FocusNodes
    from kgreason.report.result import Result
    from kgreason.review.comparison import Comparison

    __version__: str

__all__ = [
    "Comparison",
    "FocusNode",
    "FocusNodes",
    "KgreasonError",
    "ListedInvestigation",
    "OpenLedger",
    "ReportedCause",
    "ReportedEvidence",
    "ReportedHypothesis",
    "ReportedSymptom",
    "Result",
    "Symptoms",
    "Text",
    "__version__",
    "compare",
    "gate_failures",
    "investigate",
    "open",
    "query",
    "result",
    "resume",
    "route",
    "symptoms",
]
_HOMES: Final = {
    "Comparison": "review.comparison",
    "FocusNode": "report.focus_nodes",
    "FocusNodes": "report.focus_nodes",
    "KgreasonError": "base.errors",
    "ListedInvestigation": "api.ledgers",
    "OpenLedger": "api.ledgers",
    "ReportedCause": "report.entries",
    "ReportedEvidence": "report.entries",
    "ReportedHypothesis": "report.entries",
    "ReportedSymptom": "report.entries",
    "Result": "report.result",
    "Symptoms": "api.asking",
    "Text": "graph.given",
    "gate_failures": "api.comparing",
    "query": "api.asking",
    "route": "api.routed",
}


if not TYPE_CHECKING:  # else no name would be unknown to a type checker

    def __getattr__(name: str) -> Any:
        """Return a class or function from where it is; so `help(kgreason)` stays short."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - it reads files

            return version("kgreason")
        if name in _HOMES:
            return getattr(importlib.import_module(f"kgreason.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'kgreason' has no attribute {name!r}")
