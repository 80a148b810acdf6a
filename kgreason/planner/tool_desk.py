"""The desk: what the tools of a strategy work on."""

from dataclasses import dataclass

from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.record import Ledger, Record


@dataclass(frozen=True)
class Desk:
    """What tools work on: the graph, what fails in it (None without shapes), and the ledger.

    `seconds` bounds each query; `record` is the investigation that is being written.
    """

    graph: Graph
    names: Names
    observed: Observed | None
    ledger: Ledger | None
    record: Record
    seconds: float = 60.0
