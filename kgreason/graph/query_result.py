"""What a query gives on a graph, with a digest by which it can be held against another run."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import pyoxigraph as ox

from kgreason.base.store import Results, Term, guarded_select
from kgreason.graph.graph import Graph


@dataclass(frozen=True)
class QueryResult:
    """The rows of a SELECT, and the SHA-256 over them in sorted order.

    A blank node counts as one without a name, since another run may call it otherwise.
    """

    rows: Results
    digest: str


def query_result(graph: Graph, text: str, seconds: float, where: str) -> QueryResult:
    """Run a SELECT on a graph within `seconds`; raises QueryError or TimeoutExceeded."""
    rows = guarded_select(graph.store, text, seconds, where)
    lines = sorted(_line(row) for row in rows)
    return QueryResult(rows, sha256("\n".join(lines).encode()).hexdigest())


def _line(row: Mapping[str, Term]) -> str:
    told = {n: "_:" if isinstance(t, ox.BlankNode) else str(t) for n, t in row.items()}
    return "\t".join(f"{name}={told[name]}" for name in sorted(told))
