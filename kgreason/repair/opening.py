"""Read again what an investigation was about."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyoxigraph as ox

from kgreason.base.errors import GraphError, OptionError
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context
from kgreason.context.symptom import Observed, Symptom
from kgreason.graph import Graph, digest
from kgreason.graph.names import Names
from kgreason.observe import opening
from kgreason.observe.request import Request
from kgreason.record import Record, policy


@dataclass
class Opened:
    """What is mended: the data as loaded, what is wrong with them, and a context to work at."""

    request: Request
    graph: Graph
    observed: Observed
    context: Context
    symptoms: list[Symptom]


def opened(record: Record, data: Sequence[str], notice: opening.Notice | None) -> Opened:
    """Read the data that an investigation was about, and look at them as it did.

    Raises GraphError where they are other data than those.
    """
    recorded = opening.recorded_request(record)
    if recorded.redact:
        raise OptionError(
            f"{record.iri.value} was made with --redact: its record lacks the values that a repair "
            "would write; investigate without it, in a ledger that stays with the data."
        )
    request = replace(recorded, data=tuple(data) or recorded.data)
    paths = [[Path(p) for p in given] for given in (request.data, request.schema)]
    (known,) = record.store.inner.quads_for_pattern(
        record.iri, TRAILS.fingerprint, None, record.iri
    )
    if known.object != ox.Literal(digest(paths[0], ontology=paths[1])):
        raise GraphError(
            "These are not the data that were investigated; a repair is for those alone. "
            "Investigate these first."
        )
    given = asdict(request)
    graph, observed = opening.symptoms(given.pop("data"), notice=notice, **given)
    used = policy.load(request.policy)
    context = Context(graph, record, used, request.seed, request.max_hypotheses, Names(graph))
    return Opened(request, graph, observed, context, opening.recorded_symptoms(record, observed))
