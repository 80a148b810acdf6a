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

if TYPE_CHECKING:
    from kgreason.api.asking import Symptoms, estimate, investigate, query, result, resume, symptoms
    from kgreason.api.comparing import compare, gate_failures
    from kgreason.api.ledgers import ListedInvestigation, OpenLedger
    from kgreason.api.ledgers import open_ledger as open  # noqa: A004 - written kgreason.open
    from kgreason.api.planning import plan
    from kgreason.api.routed import route
    from kgreason.api.streaming import stream
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
    "estimate",
    "gate_failures",
    "investigate",
    "open",
    "plan",
    "query",
    "result",
    "resume",
    "route",
    "stream",
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
    "compare": "api.comparing",
    "estimate": "api.asking",
    "gate_failures": "api.comparing",
    "investigate": "api.asking",
    "open": "api.ledgers",
    "plan": "api.planning",
    "query": "api.asking",
    "result": "api.asking",
    "resume": "api.asking",
    "route": "api.routed",
    "stream": "api.streaming",
    "symptoms": "api.asking",
}
_SHOWN: Final = ("__version__", "compare", "investigate", "open", "result", "resume", "symptoms")
"""What `help(kgreason)` tells of; the classes have help of their own, else it would be long."""


if not TYPE_CHECKING:  # else no name would be unknown to a type checker

    def __getattr__(name: str) -> Any:
        """Return a class or function from where it is: the command line starts without them."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - it reads files

            return version("kgreason")
        if name in _HOMES:
            home = importlib.import_module(f"kgreason.{_HOMES[name]}")
            return getattr(home, "open_ledger" if name == "open" else name)
        raise AttributeError(f"module 'kgreason' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_SHOWN})
