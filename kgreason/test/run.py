"""Execute and update: run one registered test and let its evidence count."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, QueryError, RunError, TimeoutExceeded
from kgreason.base.statistics import Table
from kgreason.base.store import Row, guarded
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context, mark_test, pattern, test_seconds, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, digest
from kgreason.graph.marks import region_name
from kgreason.observe.cite import cite, path_of
from kgreason.record import Step
from kgreason.test.finding import Finding, Setting, read, reader_of

_CITED: Final = 5
TIME_LIMIT: Final = "time limit"
"""The reason that is recorded where a test was stopped because it took too long."""
_ADVICE: Final = "allow more time with policy:testSeconds"
_T = TypeVar("_T")


def execute(context: Context, symptom: Symptom, test: ox.NamedNode) -> None:
    """Run one registered test and let its evidence count: one step.

    A test whose query or reading fails, or takes longer than it may, is closed as an error, and
    counts for nothing.
    """
    row = context.record.select("test", test=test)[0]
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    kind = row["kind"].value
    step = context.record.step("Execute", TRAILS.Execution)
    tried = len(context.record.select("attempts", test=test))
    step.describe(step.node, test=test, symptom=symptom.node, attempt=tried + 1)
    step.add(step.node, PROV.used, test)
    view = view_of(context, symptom, int(row["round"].value))
    try:
        found = run_test(context, view, row)
        likely = context.policy.row(kind, found.outcome)
    except (QueryError, RunError) as error:
        close_as_error(step, error)
        context.record.commit(step, expect={"Evidence": 0})
        return
    header = template("test", kind).header
    group = f"{symptom.index}:heldout" if header.get("group") == "heldout" else test.value
    evidence = step.make(
        "Evidence",
        PROV.Entity,
        hypothesis=hypothesis,
        test=test,
        testKind=kind,
        outcomeClass=found.outcome,
        polarity=likely.polarity,
        strength=likely.strength,
        note=found.note,
        group=group,
        **found.figures,
    )
    for stratum in found.strata:
        step.describe(evidence, stratum=step.make("Stratum", PROV.Entity, **stratum))
    step.add(evidence, PROV.wasDerivedFrom, symptom.node)
    step.describe(step.node, closed=TRAILS.Result)
    cite_finding(context, step, symptom, view, evidence, row, found)
    lists = {TRAILS.Supports: "supportingEvidence", TRAILS.Contradicts: "contradictingEvidence"}
    if likely.polarity in lists:
        step.describe(hypothesis, **{lists[likely.polarity]: evidence})
    update(context, step, test, evidence, found)


def run_test(context: Context, view: View, row: Row) -> Finding:
    """Run a registered test, a row of `queries/record/test.rq`, and read what it gives.

    Raises QueryError, RunError, and TimeoutExceeded after the seconds that a test may take.
    """
    setting = _setting(row, view)
    reader_of(row["kind"].value)  # loaded here, or else each process would have to
    return _timed(context, view, row, lambda rows: read(row["kind"].value, rows, setting))


def ask_test(context: Context, view: View, row: Row) -> list[Row]:
    """Run the query of a registered test; raises what `run_test` raises."""
    return _timed(context, view, row, list)


def _timed(context: Context, view: View, row: Row, reading: Callable[[Sequence[Row]], _T]) -> _T:
    """Run the query of a test and read its rows in a process that is ended at the time limit."""
    mark_test(context, view, row)
    store, query = context.graph.store, row["query"].value
    kind, seconds = row["kind"].value, test_seconds(context)
    return guarded(lambda: reading(store.select(query)), seconds, f"the test {kind}", _ADVICE)


def close_as_error(step: Step, error: KgreasonError) -> str:
    """Close the execution of a test that gave no result; gives the sentence that is recorded."""
    note = str(error).partition("\n")[0]
    reason = TIME_LIMIT if isinstance(error, TimeoutExceeded) else None
    step.describe(step.node, closed=TRAILS.Error, note=note, reason=reason)
    return note


def update(
    context: Context, step: Step, test: ox.NamedNode, evidence: ox.NamedNode, found: Finding
) -> None:
    """Let evidence move confidence and status by the rules of the policy, and end the step."""
    names = {"investigation": context.record.iri, "step": step.node, "evidence": evidence}
    members = len(context.record.select("members", test=test))
    updates = 0
    for rule in context.policy.rules:
        if rule.header.get("needs", "note") in {"note", *found.figures}:
            step.apply(rule.render(**names))
            updates += members if rule.header["moves"] == "members" else 1
    for gate in context.policy.gates_of("Execute"):
        step.apply(gate.render(**names))
    context.record.commit(step, expect={"Evidence": 1, "ConfidenceUpdate": updates})


def _setting(row: Row, view: View) -> Setting:
    names = (
        "discoveryInsideFailing",
        "discoveryInside",
        "discoveryOutsideFailing",
        "discoveryOutside",
    )
    counts = Table(*(int(row[n].value) for n in names)) if all(n in row for n in names) else None
    return Setting(counts, row.get("level"), view.graph, view.constraint)


def cite_finding(
    context: Context,
    step: Step,
    symptom: Symptom,
    view: View,
    evidence: ox.NamedNode,
    row: Row,
    found: Finding,
) -> None:
    """Cite the nodes that a finding rests on: those that fail inside the region, those it names."""
    inside = template("context", "inside").render(
        region=region_name(view.marks.population, digest(pattern(row["pattern"].value))),
        half=view.marks.scheme(row["split"].value).heldout,
        symptom=view.marks.failing,
    )
    field_ = path_of(symptom.constraint)
    for focus in context.graph.store.select(inside):
        node = focus["focus"]
        values = symptom.failing.get(node) or (None,)
        cite(context, step, evidence, node, field_, values[0], "fails inside the region")
    for node, why in found.cite[:_CITED]:
        values = symptom.failing.get(node) or (None,)
        cite(context, step, evidence, node, field_, values[0], why)
