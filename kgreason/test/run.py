"""Execute and update: run one registered test and let its evidence count."""

from collections.abc import Callable, Sequence
from typing import Final, Self

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, QueryError, RunError, TimeoutExceeded
from kgreason.base.statistics import Table
from kgreason.base.store import Row, Term, guarded, guarded_each, limited_each
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context, mark_test, pattern, test_seconds, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, digest
from kgreason.graph.marks import region_name
from kgreason.observe.cite import cite, path_of
from kgreason.record import Step
from kgreason.record.test_kinds import role_of
from kgreason.test.finding import Finding, Setting, read, reader_of

_CITED: Final = 5
TIME_LIMIT: Final = "time limit"
"""The reason that is recorded where a test was stopped because it took too long."""
_ADVICE: Final = "allow more time with policy:testSeconds"


class Answers:
    """What registered tests give, worked out while their results are recorded.

    Where queries of other authors may be among them, this is done in a process that can be ended.
    """

    def __init__(self, context: Context, symptom: Symptom, tests: Sequence[ox.NamedNode]) -> None:
        works = []
        for test in tests:
            row = _row(context, test)
            view = view_of(context, symptom, int(row["round"].value))
            works.append(_work(context, view, row))
        self._tests = iter(tests)
        each = guarded_each if context.foreign else limited_each
        self._outcomes = each(works, test_seconds(context), _ADVICE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._outcomes.close()

    def of(self, test: Term) -> Finding:
        """Return what a test gives, those before it in the order left out; raises as `run_test`."""
        for this, outcome in zip(self._tests, self._outcomes, strict=True):
            if this == test:
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome[0]
        raise RunError(f"{test.value}: this test was not among those that were to be run.")


def execute(
    context: Context, symptom: Symptom, test: ox.NamedNode, answers: Answers | None = None
) -> None:
    """Run one registered test and let its evidence count: one step.

    A test whose query or reading fails, or takes longer than it may, is closed as an error, and
    counts for nothing. What the test gives may stand in `answers`.
    """
    row = _row(context, test)
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    kind = row["kind"].value
    step = context.record.step("Execute", TRAILS.Execution)
    tried = len(context.record.select("attempts", test=test))
    step.describe(step.node, test=test, symptom=symptom.node, attempt=tried + 1)
    step.add(step.node, PROV.used, test)
    view = view_of(context, symptom, int(row["round"].value))
    try:
        found = _found(context, view, row, answers)
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
        testRole=role_of(kind),
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


def _row(context: Context, test: ox.NamedNode) -> Row:
    return {**context.record.select("test", test=test)[0], "test": test}


def _found(context: Context, view: View, row: Row, answers: Answers | None) -> Finding:
    return run_test(context, view, row) if answers is None else answers.of(row["test"])


def run_test(context: Context, view: View, row: Row) -> Finding:
    """Run a registered test, a row of `queries/record/test.rq`, and read what it gives.

    Raises QueryError, RunError, and TimeoutExceeded after the seconds that a test may take.
    """
    work, where = _work(context, view, row)
    return guarded(work, test_seconds(context), where, _ADVICE)


def ask_test(context: Context, view: View, row: Row) -> list[Row]:
    """Run the query of a registered test; raises what `run_test` raises."""
    mark_test(context, view, row)
    store, query = context.graph.store, row["query"].value
    return list(guarded(lambda: store.select(query), test_seconds(context), _called(row), _ADVICE))


def _work(context: Context, view: View, row: Row) -> tuple[Callable[[], Finding], str]:
    """Return the run of a test and the reading of its rows, and what messages call it.

    What its query names is marked, and what reads its rows is loaded: a process that does the work
    could do so for itself alone.
    """
    mark_test(context, view, row)
    store, query, setting = context.graph.store, row["query"].value, _setting(row, view)
    kind = row["kind"].value
    reader_of(kind)
    return lambda: read(kind, store.select(query), setting), _called(row)


def _called(row: Row) -> str:
    return f"the test {row['kind'].value}"


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
