"""Execute and update: run one registered test and let its evidence count."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, Self

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, QueryError, RunError, TimeoutExceeded
from kgreason.base.redaction import without_secrets
from kgreason.base.statistics import Table
from kgreason.base.store import Row, Term, guarded, guarded_each, limited_each, waited_each
from kgreason.base.templates import template
from kgreason.base.terms import PROV, TRAILS, TYPE, XSD
from kgreason.context.context import Context, mark_test, pattern, test_seconds, view_of
from kgreason.context.script import Script, rewritten
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, digest, members
from kgreason.graph.marks import region_name
from kgreason.observe.cite import cite, path_of
from kgreason.record import Step
from kgreason.record.modalities import ENGINE_MODALITIES, modalities
from kgreason.record.model_calls import taken_calls, write_calls
from kgreason.record.test_kinds import RESTATEMENT, kinds_of, role_of
from kgreason.test.finding import Finding, Passage, Setting, reader_of
from kgreason.test.tester import GRAPH_TESTER, RegisteredTest, Tester, checked, tester_of

_CITED: Final = 5
TIME_LIMIT: Final = "time limit"
"""The reason that is recorded where a test was stopped because it took too long."""
_LISTS: Final = {TRAILS.Supports: "supportingEvidence", TRAILS.Contradicts: "contradictingEvidence"}
_Work = tuple[Callable[[], Finding], str]
_ADVICE: Final = "allow more time with policy:testSeconds"


class Answers:
    """What registered tests give, worked out while their results are recorded.

    Where queries of other authors may be among them, this is done in a process that can be ended.
    `rows` are the tests as they were registered, of which nothing changes later.
    """

    def __init__(self, context: Context, symptom: Symptom, tests: Sequence[ox.NamedNode]) -> None:
        alone: list[_Work] = []
        others: list[_Work] = []
        self._tests: list[tuple[ox.NamedNode, bool]] = []
        self.rows: dict[Term, Row] = {}
        for test in tests:
            row = self.rows[test] = _row(context, test)
            if not is_outside(row):
                view = view_of(context, symptom, int(row["round"].value))
                scratch = row["kind"].value in kinds_of(RESTATEMENT)
                (alone if scratch else others).append(_work(context, view, row))
                self._tests.append((test, scratch))
        each = guarded_each if context.foreign else limited_each
        # What breaks nodes of the scratch copy, and asks what others wrote, does so in a process of
        # its own: one that is stopped leaves nothing broken.
        asks = context.foreign or symptom.constraint.guarded
        seconds = test_seconds(context)
        self._outcomes = {
            True: (guarded_each if asks else waited_each)(alone, seconds, _ADVICE),
            False: each(others, seconds, _ADVICE),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for outcomes in self._outcomes.values():
            outcomes.close()

    def of(self, test: Term) -> Finding:
        """Return what a test gives, those before it in the order left out; raises as `run_test`."""
        while self._tests:
            this, scratch = self._tests.pop(0)
            outcome = next(self._outcomes[scratch])
            if this == test:
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome[0]
        raise RunError(f"{test.value}: this test was not among those that were to be run.")


def execute(
    context: Context,
    symptom: Symptom,
    test: ox.NamedNode,
    answers: Answers | None = None,
    testers: Sequence[Tester] = (),
) -> None:
    """Run one registered test and let its evidence count: one step.

    Its modality says who runs it: the graph, or one of the `testers`. A test whose query or reading
    fails, or takes longer than it may, is closed as an error, and counts for nothing. What a test
    on the graph gives may stand in `answers`.
    """
    row = _row(context, test) if answers is None else answers.rows[test]
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    kind = row["kind"].value
    step = context.record.step("Execute", TRAILS.Execution)
    tried = len(context.record.select("attempts", test=test))
    step.describe(step.node, test=test, symptom=symptom.node, attempt=tried + 1)
    step.add(step.node, PROV.used, test)
    view = view_of(context, symptom, int(row["round"].value))
    try:
        found, tester = _found(context, view, row, answers, testers)
        likely = context.policy.row(kind, found.outcome)
    except (QueryError, RunError) as error:
        close_as_error(step, error)
        _called_for(context, step, symptom, row, testers)
        context.record.commit(step, expect={"Evidence": 0})
        return
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
        **_origin(context, symptom, row, found, tester),
        **found.figures,
    )
    for stratum in found.strata:
        step.describe(evidence, stratum=step.make("Stratum", PROV.Entity, **stratum))
    step.add(evidence, PROV.wasDerivedFrom, symptom.node)
    step.describe(step.node, closed=TRAILS.Result)
    if is_outside(row):
        step.add(evidence, PROV.wasAttributedTo, tester.agent.iri)
        calls = _called_for(context, step, symptom, row, testers)
        step.describe(evidence, modelCall=calls[-1] if calls else None)
        quote(step, evidence, found.passages)
        _retrieved(context, step, evidence, found)
        if found.computed:
            step.describe(evidence, computed=context.record.blobs.put(found.computed))
        cite_named(context, step, symptom, evidence, found)
    else:
        cite_finding(context, step, symptom, view, evidence, row, found)
    if likely.polarity in _LISTS:
        step.describe(hypothesis, **{_LISTS[likely.polarity]: evidence})
    update(context, step, test, evidence, found)


def _called_for(
    context: Context, step: Step, symptom: Symptom, row: Row, testers: Sequence[Tester]
) -> list[ox.NamedNode]:
    """Write down the calls of models that testers made for a test, and return their nodes."""
    calls = write_calls(context.record, step, taken_calls(testers))
    for call in calls:
        step.describe(call, symptom=symptom.node, round=int(row["round"].value))
    return calls


def _row(context: Context, test: ox.NamedNode) -> Row:
    return {**context.record.select("test", test=test)[0], "test": test}


def is_outside(row: Row) -> bool:
    """Check whether a test, a row of `queries/record/test.rq`, is no work of the engine."""
    return "modality" in row and row["modality"] not in ENGINE_MODALITIES


def _origin(
    context: Context, symptom: Symptom, row: Row, found: Finding, tester: Tester
) -> dict[str, str | ox.NamedNode]:
    """Return role, modality, source and dependence group of what a test gave."""
    kind, modality = row["kind"].value, modalities()[tester.modality]
    if is_outside(row):
        source = found.source.strip() or tester.agent.label
        group = f"{symptom.index}:{found.group or f'source:{source}'}"
        return {
            "testRole": TRAILS.Corroboration,
            "modality": modality,
            "evidenceSource": source,
            "group": group,
        }
    heldout = template("test", kind).header.get("group") == "heldout"
    return {
        "testRole": role_of(kind),
        "modality": modality,
        "evidenceSource": context.graph.fingerprint,
        "group": f"{symptom.index}:heldout" if heldout else row["test"].value,
    }


def _found(
    context: Context,
    view: View,
    row: Row,
    answers: Answers | None,
    testers: Sequence[Tester],
) -> tuple[Finding, Tester]:
    """Return what a test gives, and who ran it; the modality decides before anything is asked."""
    if not is_outside(row):
        found = run_test(context, view, row) if answers is None else answers.of(row["test"])
        return found, GRAPH_TESTER
    kind, question = row["kind"].value, row["query"].value
    tester = tester_of(testers, ox.NamedNode(row["modality"].value), kind)
    hypothesis = ox.NamedNode(row["hypothesis"].value)
    told = context.record.store.values(hypothesis, TRAILS.statement, context.record.iri)
    counted = context.record.select("counted-studies", hypothesis=hypothesis)
    test = RegisteredTest(
        kind,
        question,
        hypothesis,
        _setting(row, view),
        told[0].value if told else "",
        frozenset(each["study"].value for each in counted),
        {r["key"].value: r["study"].value for r in context.record.select("known-studies")},
        frozenset(
            (each["study"].value, each["source"].value)
            for each in context.record.select("quoted-studies", hypothesis=hypothesis)
        ),
    )
    work = (lambda: tester.run(view, test)), _called(row)
    # In a thread, not in a process of its own: a tester may keep what it learned.
    outcome = next(limited_each([work], test_seconds(context), _ADVICE))
    if isinstance(outcome, QueryError | RunError):
        raise outcome
    if isinstance(outcome, Exception):
        why = without_secrets(str(outcome))
        raise RunError(f"The tester {tester.agent.label}: {type(outcome).__name__}: {why}")
    return checked(tester, kind, outcome[0], context.policy), tester


def execute_recorded(context: Context, script: Script, row: Row) -> None:
    """Write again what a tester outside the graph once found, and let it count anew: one step.

    `row` is that of the recorded step. Nobody is asked.
    """
    step, written = rewritten(context, script, row)
    evidence = next(
        (t.subject for t in written if t.predicate == TYPE and t.object == TRAILS.Evidence), None
    )
    if not isinstance(evidence, ox.NamedNode):
        context.record.commit(step, expect={"Evidence": 0})
        return
    said = {t.predicate: t.object for t in written if t.subject == evidence}
    outcome, note = (str(getattr(said[TRAILS[n]], "value", "")) for n in ("outcomeClass", "note"))
    figures = {
        name.value.removeprefix(TRAILS.iri): Decimal(value.value)
        for name, value in said.items()
        if isinstance(value, ox.Literal) and value.datatype in {XSD.integer, XSD.decimal}
    }
    test = ox.NamedNode(str(row["test"].value))
    _list(step, ox.NamedNode(str(getattr(said[TRAILS.hypothesis], "value", ""))), evidence, said)
    update(context, step, test, evidence, Finding(outcome, note, figures))


def _list(
    step: Step, hypothesis: ox.NamedNode, evidence: ox.NamedNode, said: Mapping[Any, Any]
) -> None:
    polarity = said.get(TRAILS.polarity)
    if polarity in _LISTS:
        step.describe(hypothesis, **{_LISTS[polarity]: evidence})


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
    query, setting = row["query"].value, _setting(row, view)
    kind = row["kind"].value
    reader_of(kind)
    test = RegisteredTest(kind, query, ox.NamedNode(row["hypothesis"].value), setting)
    return lambda: GRAPH_TESTER.run(view, test), _called(row)


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
    there = all(n in row for n in names)
    counts = (
        replace(Table(*(int(row[n].value) for n in names)), weight=view.weight) if there else None
    )
    region = pattern(row["pattern"].value) if "pattern" in row else None
    numbers = _numbers(row, view)
    direct = "gate" in row and row["gate"].value == "direct"
    return Setting(
        counts,
        row.get("level"),
        row.get("dimension"),
        view.graph,
        view.constraint,
        region,
        numbers,
        direct,
        view.weight,
    )


def _numbers(row: Row, view: View) -> tuple[list[Decimal], list[Decimal]] | None:
    """Return the numbers of an outcome inside and outside a region, on the half held out.

    None where nodes were drawn by whether they have the outcome: means are not those of the graph.
    """
    numbers = view.constraint.numbers
    if not numbers or view.weight != 1 or role_of(row["kind"].value) != TRAILS.Association:
        return None
    population = view.marks.population
    half = view.marks.scheme(row["split"].value).heldout_mask & population.everyone
    within = members(view, pattern(row["pattern"].value))
    sides: tuple[list[Decimal], list[Decimal]] = ([], [])
    for place, node in enumerate(population.nodes):
        if half >> place & 1 and node in numbers:
            sides[0 if within >> place & 1 else 1].append(numbers[node])
    return sides


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
    cite_named(context, step, symptom, evidence, found)


def cite_named(
    context: Context, step: Step, symptom: Symptom, evidence: ox.NamedNode, found: Finding
) -> None:
    """Cite the nodes that a finding names."""
    field_ = path_of(symptom.constraint)
    for node, why in found.cite[:_CITED]:
        values = symptom.failing.get(node) or (None,)
        cite(context, step, evidence, node, field_, values[0], why)


def quote(step: Step, evidence: ox.NamedNode, passages: Iterable[Passage]) -> None:
    """Write down the passages that evidence quotes."""
    for one in passages:
        made = step.make(
            "Passage",
            PROV.Entity,
            work=one.work,
            quote=one.quote,
            locator=one.locator,
            study=one.study or None,
            workKey=list(dict.fromkeys(one.work_keys)) or None,
            reading=one.reading or None,
            passageKey=one.key or None,
            span=one.span or None,
            judgedUnderSelf=one.judged[0] if one.judged else None,
            judgedUnderOthers=one.judged[1] if one.judged else None,
        )
        step.describe(evidence, quotes=made)


def _retrieved(context: Context, step: Step, evidence: ox.NamedNode, found: Finding) -> None:
    """Write down what a source answered; the answers as they came are blobs beside the record."""
    told = found.retrieved
    if told is None:
        return
    hidden = context.graph.hidden
    made = step.make(
        "Retrieval",
        PROV.Entity,
        sourceName=told.source,
        searched=told.searched,
        works=told.works,
        merged=told.merged or None,
        # An answer may hold what is to be kept out.
        retrieved=[
            context.record.blobs.put(text if hidden is None else hidden.text(text))
            for text in told.answers
        ]
        or None,
    )
    step.describe(evidence, retrieval=made)
