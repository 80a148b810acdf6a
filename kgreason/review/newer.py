"""Put what was recorded to a newer graph: which results changed, which conclusions are stale."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from kgreason.audit.rerun import Difference, recheck
from kgreason.base.errors import QueryError, RunError
from kgreason.base.store import Row
from kgreason.base.terms import TRAILS
from kgreason.context.context import Context, view_of
from kgreason.context.symptom import Symptom
from kgreason.graph.names import Names
from kgreason.observe import opening
from kgreason.record import Ledger, Record, policy
from kgreason.review.rejudge import causes
from kgreason.test.run import run_test


@dataclass(frozen=True)
class Changed:
    """A recorded test with the outcome class of then and of now (or why there is none)."""

    test: str
    hypothesis: str
    kind: str
    recorded: str
    found: str


@dataclass(frozen=True)
class Newer:
    """What a newer graph says of a record.

    `figures` are counts of symptoms and cited statements that differ, `results` the tests that
    have another outcome, `stale` the conclusions that rest on either, with the reason.
    """

    figures: Sequence[Difference]
    results: Sequence[Changed]
    stale: Sequence[dict[str, str]]

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "figures": [asdict(one) for one in self.figures],
            "results": [asdict(one) for one in self.results],
            "stale": list(self.stale),
        }


def against(ledger: str | Path, data: Sequence[str], which: str | None = None) -> Newer:
    """Run the recorded tests on newer data, count the symptoms, look up what was cited.

    A conclusion is stale where a test of its hypothesis has another outcome, a statement that it
    cites changed, or its symptom has other counts. Raises the errors of reading data; LedgerError.
    """
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which))
        request = opening.recorded_request(record)
        options = asdict(request)
        del options["data"]
        graph, observed = opening.symptoms(list(data), **options)
        figures = recheck(record, graph, seconds=request.query_seconds, regions=False)
        symptoms = {s.node.value: s for s in opening.recorded_symptoms(record, observed)}
        used = policy.load(request.policy)
        names = Names(graph)
        context = Context(graph, record, used, request.seed, request.max_hypotheses, names)
        results = list(_results(context, symptoms))
        return Newer(figures, results, list(_stale(record, figures, results)))


def _results(context: Context, symptoms: dict[str, Symptom]) -> Iterator[Changed]:
    for row in context.record.select("judgements"):
        if "evidence" not in row:
            continue
        evidence = ox.NamedNode(row["evidence"].value)
        inner = context.record.store.inner
        (link,) = inner.quads_for_pattern(evidence, TRAILS.test, None, context.record.iri)
        test = ox.NamedNode(str(link.object).strip("<>"))
        found = _outcome(context, symptoms.get(row["symptom"].value), test)
        if found != row["class"].value:
            yield Changed(
                test.value,
                row["hypothesis"].value,
                row["kind"].value,
                row["class"].value,
                found,
            )


def _outcome(context: Context, symptom: Symptom | None, test: ox.NamedNode) -> str:
    if symptom is None:
        return "nothing fails any more"
    row: Row = context.record.select("test", test=test)[0]
    view = view_of(context, symptom, int(row["round"].value))
    try:
        return run_test(context, view, row).outcome
    except (QueryError, RunError) as error:
        return f"error: {error}".partition("\n")[0]


def _stale(
    record: Record, figures: Sequence[Difference], results: Sequence[Changed]
) -> Iterator[dict[str, str]]:
    """Return each conclusion that is stale once, with the first reason: a test before a figure."""
    reasons: dict[str, str] = {}
    for one in figures:
        reasons.setdefault(one.node, f"{one.figure} of {one.node} is another")
    for result in results:
        reasons.setdefault(
            result.hypothesis, f"{result.kind} gives {result.found!r}, not {result.recorded!r}"
        )
    told = set()
    supported = {cause for found in causes(record).values() for cause in found}
    for row in record.select("conclusions"):
        hypothesis = row["hypothesis"].value if "hypothesis" in row else ""
        why = reasons.get(hypothesis) if hypothesis in supported else None
        why = why or reasons.get(row["ground"].value)
        if why is not None and row["claim"].value not in told:
            told.add(row["claim"].value)
            yield {
                "claim": row["claim"].value,
                "symptom": row["symptom"].value,
                "statement": row["statement"].value,
                "because": why,
            }
