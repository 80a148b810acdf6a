"""Run the recorded queries again on the graph."""

from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.audit.history import History
from kgreason.graph import Graph
from kgreason.ledger import Record, uncited
from kgreason.probes.cited import digest
from kgreason.store import Results, Term, guarded_select
from kgreason.terms import TRAILS

_TRUE = frozenset({"true", "1"})


@dataclass(frozen=True, order=True)
class Difference:
    """A figure of a node of the record that the graph no longer gives; None where there is none."""

    node: str
    figure: str
    recorded: str | None
    found: str | None


def recheck(record: Record, graph: Graph, *, seconds: float = 60.0) -> list[Difference]:
    """Count population and failing nodes of each symptom again, by its recorded queries.

    What is cited is looked up again too, by its digest.

    The graph has to be loaded as it was for the investigation; `fingerprint` is compared too. A
    query may take `seconds`, for a user's text may be in it. Raises TimeoutExceeded, QueryError.
    """
    history = History(record)
    recorded = _one(history, history.iri, "fingerprint")
    found = [_compare(history.iri, "fingerprint", recorded, graph.fingerprint)]
    for symptom in history.instances(TRAILS.Symptom):
        population, failing = _counts(history, symptom, graph, seconds)
        for name, number in (("population", population), ("failing", failing)):
            given = _one(history, symptom, name)
            found.append(_compare(symptom, name, given, number))
    found += [_cited(history, citation, graph) for citation in history.instances(TRAILS.Citation)]
    return sorted(difference for difference in found if difference is not None)


def _compare(node: Term, figure: str, recorded: str | None, found: str | None) -> Difference | None:
    return None if recorded == found else Difference(node.value, figure, recorded, found)


def _cited(history: History, citation: Term, graph: Graph) -> Difference | None:
    """Compare what is cited: where a node was cited that has statements, they must be the same."""
    properties = history.properties(citation)
    recorded = _one(history, citation, "digest")
    node = next(iter(properties.get(TRAILS.node, ())), None)
    if recorded is None or node is None:
        return None
    field = next(iter(properties.get(TRAILS.field, ())), None)
    field = field if isinstance(field, ox.NamedNode) else None
    return _compare(citation, "digest", recorded, digest(graph, uncited(node), field))


def _counts(
    history: History, symptom: Term, graph: Graph, seconds: float
) -> tuple[str | None, str | None]:
    """Give population and failing.

    Who fails is asked with the query for the embedded store, which sees literals as they were
    written; the outcome query, which any engine understands, cannot.
    """
    rows: dict[str, Results] = {}
    for name in ("outcomeQuery", "failingQuery"):
        text = _one(history, symptom, name)
        if text:
            rows[name] = guarded_select(graph.store, text, seconds, symptom.value)
    outcomes = rows.get("outcomeQuery")
    population = None if outcomes is None else str(len({row.get("focus") for row in outcomes}))
    if "failingQuery" in rows:
        return population, str(len({row.get("focus") for row in rows["failingQuery"]}))
    if outcomes is None:
        return None, None
    bad = {r.get("focus") for r in outcomes if "outcome" in r and r["outcome"].value in _TRUE}
    return population, str(len(bad))


def _one(history: History, node: Term, name: str) -> str | None:
    values = history.values(node, TRAILS[name])
    return values[0] if values else None
