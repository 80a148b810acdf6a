"""The desk: what the tools of a strategy work on, and which of them it gives out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.planner.tool_catalogue import Tool
from kgreason.record import Ledger, Record


@dataclass(frozen=True)
class Desk:
    """What tools work on: the graph, what fails in it (None without shapes), and the ledger.

    `seconds` bounds each query; `record` is the investigation that is being written. `offered` are
    the tools that it gives out, by name, and `scopes` the IRIs of the scopes that they may have.
    """

    graph: Graph
    names: Names
    observed: Observed | None
    ledger: Ledger | None
    record: Record
    seconds: float = 60.0
    offered: Mapping[str, Tool] = field(default_factory=dict)
    scopes: Collection[str] = ()
