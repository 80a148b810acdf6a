"""Run an investigation: from a request and what was seen to a record, new, resumed or repeated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from kgreason.base import extensions
from kgreason.base.budget import Budget
from kgreason.base.errors import GraphError, LedgerError, OptionError
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.templates import check_extensions
from kgreason.base.terms import TRAILS
from kgreason.computation.asked_designs import asked_testers
from kgreason.computation.designed import designed_testers, designs_of, no_sandbox
from kgreason.context.declared import declarations
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.hypothesize.proposer import Proposer
from kgreason.hypothesize.suggestions import Given, checked, parsed
from kgreason.loop import Carrier, Investigation
from kgreason.model.model_narrator import ModelNarrator
from kgreason.model.opening import Company, company, spent
from kgreason.observe.extracted import keep
from kgreason.observe.opening import (
    Notice,
    Progress,
    fingerprint,
    load_graph,
    recorded_request,
    seen,
    taken,
)
from kgreason.observe.request import Request
from kgreason.record import Ledger, Record, calibration, extended, policy
from kgreason.record.ledger import Entry
from kgreason.record.model_calls import ModelCall
from kgreason.record.nonce import named
from kgreason.record.remote import again
from kgreason.report.focus_nodes import AtHand
from kgreason.report.result import Result
from kgreason.sources.sources_opening import source_testers
from kgreason.test.tester import Tester, check_testers

Told = Callable[[Record, ox.NamedNode], None]
"""Called with the record and each step that was written to it."""


def begin(
    request: Request,
    ledger: Path | None,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
    *,
    gate: bool = False,
    budget: Budget | None = None,
    nonce: str | None = None,
    proposers: Sequence[Proposer] = (),
    testers: Sequence[Tester] = (),
    jobs: int = 1,
    earlier: Sequence[ModelCall] = (),
    model: Company | None = None,
    carrier: Carrier | None = None,
) -> Result:
    """Investigate what a request asks, and return the result, with the data at hand.

    Nothing is written before the input has been read. The arguments are those of
    `kgreason.investigate`; a `budget` stands in place of the one that the request asks for, and a
    `model` in place of the one that it names.
    """
    named(nonce)
    if jobs < 1:
        raise OptionError("--jobs must be at least 1.")
    with extensions.using(extensions.joined(extensions.read_all(request.extend))):
        check_extensions()
        return _begin(
            request,
            ledger,
            progress,
            notice,
            told,
            proposers,
            testers,
            earlier,
            model,
            gate=gate,
            budget=budget,
            nonce=nonce,
            jobs=jobs,
            carrier=carrier,
        )


@dataclass(frozen=True)
class Opened:
    """What a strategy works on beside the investigation.

    `observed` is what fails by the shapes, None where none were given; `ledger` holds the record.
    """

    observed: Observed | None
    ledger: Ledger


def carried_out(
    request: Request,
    ledger: Path | None,
    work: Callable[[Investigation, Opened], None],
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
    *,
    nonce: str | None = None,
    which: ox.NamedNode | None = None,
) -> Result:
    """Record the work of a strategy other than the loop, and return the result.

    Nothing is written before the input has been read. `work` is called between the start and the
    end of the record, which is a new one unless `which` names one in the ledger that is to be gone
    on with. Raises the errors of reading data.
    """
    named(nonce)
    with extensions.using(extensions.joined(extensions.read_all(request.extend))):
        check_extensions()
        rules = policy.load(request.policy)
        if ledger is not None:
            Ledger.ready(ledger)
        observed: Observed | None = None
        if request.shapes or request.axioms or request.violations or request.outcome:
            graph, observed = seen(request, progress, notice)
        else:
            graph = load_graph(request)

        def done(store: Ledger, record: Record) -> None:
            made = Investigation(graph, (), record, request, progress, rules)
            made.carry_out(lambda: work(made, Opened(observed, store)))

        if ledger is None:
            store = Ledger.memory()
            record = telling(store.new(nonce), told)
            done(store, record)
            return Result(store, record)
        with Ledger.write(ledger) as store:
            begun = None if which is None else store.record(store.entry(which.value))
            record = telling(begun or store.new(nonce), told)
            done(store, record)
        return recorded(ledger, record.iri.value)


def open_session(
    store: Ledger, graph: Graph, request: Request, nonce: str, told: Told | None = None
) -> Record:
    """Record the request of a sub-investigation, and no more; gives its record, which is open.

    Nothing is written where the ledger has an investigation of that nonce already.
    """
    known = {entry.iri for entry in store.entries()}
    iri = named(nonce)
    record = Record(store.store, iri, store.blobs) if iri in known else store.new(nonce)
    telling(record, told)
    Investigation(graph, (), record, request, rules=policy.load(request.policy)).open()
    return record


def carry_on(
    record: Record,
    graph: Graph,
    observed: Observed,
    request: Request,
    progress: Progress | None = None,
    *,
    ledger: Path | None = None,
    jobs: int = 1,
) -> None:
    """Carry on an open investigation of the loop, with its data at hand; `go_on` reads them again.

    `request` is what its record holds, with the objects that were given.
    """
    rules = policy.load(request.policy)
    model = company(request, rules, spent(record))
    testers = (*model.testers, *_outside(request, ledger, model, rules))
    check_testers(testers, rules)
    own: dict[str, Any] = {"proposers": model.proposers, "jobs": jobs}
    own |= {"testers": testers, "narrator": model.narrator}
    suggested = _suggested(request, graph, observed)
    _run(graph, observed, record, request, progress, suggested, **own)


def _begin(
    request: Request,
    ledger: Path | None,
    progress: Progress | None,
    notice: Notice | None,
    told: Told | None,
    proposers: Sequence[Proposer],
    testers: Sequence[Tester],
    earlier: Sequence[ModelCall],
    model: Company | None,
    *,
    gate: bool,
    budget: Budget | None,
    nonce: str | None,
    jobs: int,
    carrier: Carrier | None,
) -> Result:
    rules = policy.load(request.policy)
    calibration.under(request.calibration, rules.iri)
    model = model or company(request, rules, earlier=earlier)
    proposers, testers = (*proposers, *model.proposers), (*testers, *model.testers)
    testers = (*testers, *_outside(request, ledger, model, rules))
    check_testers(testers, rules)
    if carrier is not None:
        _for_workers(request, budget)
    if ledger is not None:
        Ledger.ready(ledger)
    request = taken(request, progress, ledger)
    graph, observed = seen(request, progress, notice, gate=gate)
    suggested = _suggested(request, graph, observed)
    at_hand = AtHand(graph, observed)
    own: dict[str, Any] = {"budget": budget, "proposers": proposers, "testers": testers}
    own |= {"jobs": jobs, "narrator": model.narrator, "carrier": carrier}
    if ledger is None:
        store = Ledger.memory()
        keep(request, store.blobs)
        record = telling(store.new(nonce), told)
        _run(graph, observed, record, request, progress, suggested, **own)
        return Result(store, record, at_hand)
    with Ledger.write(ledger) as store:
        keep(request, store.blobs)
        record = telling(store.new(nonce), told)
        _run(graph, observed, record, request, progress, suggested, **own)
        which = record.iri.value
    return recorded(ledger, which, at_hand)


def recorded(ledger: Path, which: str | None = None, at_hand: AtHand | None = None) -> Result:
    """Return the result of an investigation that is in a ledger, opened read-only.

    It is read with the extensions at hand, and with those of the record as far as they are there.
    """
    store = Ledger.read(ledger)
    try:
        record = store.record(store.entry(which))
        with extensions.using(extended.reading(record, extensions.active())):
            return Result(store, record, at_hand)
    except BaseException:
        store.close()
        raise


def with_data(ledger: Path, which: str | None = None, data: Sequence[str] = ()) -> Result:
    """Return the result of an investigation with its data at hand, read again.

    `data` are where they are now; as recorded, if left out. Raises the errors of reading data, and
    GraphError where they are not those that were investigated.
    """
    result = recorded(ledger, which)
    try:
        return Result(result.ledger, result.record, _read_again(result.record, data))
    except BaseException:
        result.close()
        raise


def _read_again(record: Record, data: Sequence[str]) -> AtHand:
    asked = recorded_request(record)
    # Who fails does not hang on the policy, and a file of one may be gone.
    request = replace(
        asked, data=tuple(data) or asked.data, policy=DEFAULT_POLICY, calibration="none"
    )
    graph, observed = seen(request, None, None)
    (about,) = record.select("result-investigation")
    if graph.fingerprint != about["fingerprint"].value:
        raise GraphError(
            f"{', '.join(request.data)}: these are not the data that were investigated, or they "
            "have changed since; investigate them first, or name those of then with --data."
        )
    return AtHand(graph, observed)


def go_on(
    ledger: Path,
    which: str | None,
    given: Callable[[Request], Request],
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
    extend: Sequence[str] = (),
    testers: Sequence[Tester] = (),
    *,
    jobs: int = 1,
    carrier: Carrier | None = None,
) -> Result:
    """Go on with an interrupted investigation; `given` puts in what was given again.

    `extend` are folders of extensions that have moved. Raises LedgerError if there is nothing to
    resume or an extension is not as it was, GraphError if the data are not the same.
    """
    if jobs < 1:
        raise OptionError("--jobs must be at least 1.")
    own = extensions.read_all(extend)
    with Ledger.read(ledger) as reader:
        entries = reader.entries()
        open_ = [entry for entry in entries if not entry.finished]
        open_.sort(key=lambda one: one.parent is None)
        entry = open_[-1] if which is None and open_ else reader.entry(which)
        record = reader.record(entry)
        if not entry.finished:
            _of_the_loop(record, entry)
        request = None if entry.finished else given(recorded_request(record))
        found = extensions.joined(own) if entry.finished else extended.again(record, own)
    with extensions.using(found):
        if request is None:
            return recorded(ledger, entry.iri.value)
        return _go_on(ledger, entry, request, progress, notice, told, testers, jobs, carrier)


def _of_the_loop(record: Record, entry: Entry) -> None:
    """Refuse to go on with what another strategy than the loop began."""
    if entry.parent is not None and record.select("fan-out-kinds"):
        raise LedgerError(
            f"I{entry.number} is a part of a divided question that was divided again; resume the "
            "whole question with `kgreason resume`."
        )
    worked = record.select("worked-on-by")
    name = worked[0]["name"].value if worked else "hypothesis"
    if name != "hypothesis" and not record.select("steps-of", phase=TRAILS.Observe):
        raise LedgerError(
            f"I{entry.number} was begun by the strategy {name}, which cannot be resumed; ask the "
            "question again with `kgreason ask`."
        )


@again
def _go_on(
    ledger: Path,
    entry: Entry,
    request: Request,
    progress: Progress | None,
    notice: Notice | None,
    told: Told | None,
    testers: Sequence[Tester],
    jobs: int,
    carrier: Carrier | None,
) -> Result:
    rules = policy.load(request.policy)
    if fingerprint(request) != request.fingerprint:
        raise GraphError(
            f"The data, shapes or policy of investigation I{entry.number} have changed since it "
            "began; start a new one with `kgreason investigate`."
        )
    with Ledger.write(ledger) as store:
        record = telling(store.record(entry), told)
        graph, observed = seen(request, progress, notice)
        suggested = _suggested(request, graph, observed)
        model = company(request, rules, spent(record))
        testers = (*testers, *model.testers, *_outside(request, ledger, model, rules))
        check_testers(testers, rules)
        if carrier is not None:
            _for_workers(request)
        own: dict[str, Any] = {"proposers": model.proposers, "jobs": jobs, "carrier": carrier}
        own |= {"testers": testers, "narrator": model.narrator}
        _run(graph, observed, record, request, progress, suggested, **own)
    return recorded(ledger, entry.iri.value, AtHand(graph, observed))


def _for_workers(request: Request, budget: Budget | None = None) -> None:
    """Refuse what workers cannot do; raises OptionError."""
    if request.objects:
        raise OptionError("--queue: workers read files; data given as objects cannot reach them.")
    if budget is not None:
        raise OptionError(
            "--queue: a budget of your own is asked in one process; leave --queue out, or name "
            "limits as options."
        )


def read_elsewhere(record: Record, request: Request) -> tuple[Graph, Observed]:
    """Read again, in another process, what an investigation began with.

    Raises GraphError where the files here are not those that it began with.
    """
    if fingerprint(request) != request.fingerprint:
        raise GraphError(
            f"The data, shapes or policy of {record.iri.value} are not the same here as where it "
            "began; a worker needs the same files at the same places."
        )
    return seen(request, None, None)


def opened_elsewhere(
    record: Record, request: Request, graph: Graph, observed: Observed
) -> Investigation:
    """Open the investigation of a copy of its record, to do some of its work in this process."""
    rules = policy.load(request.policy)
    suggested = _suggested(request, graph, observed)
    learned = calibration.under(request.calibration, rules.iri)
    return _investigation(graph, observed, record, request, suggested, None, rules, learned)


def _outside(
    request: Request, ledger: Path | None, model: Company, rules: policy.Policy
) -> tuple[Tester, ...]:
    """Return the testers outside the graph that a request asks for."""
    designs = designs_of(request.tests, "--tests")
    if no_sandbox(designs):
        raise OptionError("--tests: code needs an extra: pip install 'kgreason[sandbox]'.")
    sources = source_testers(request, ledger, rules, model.reader, model.chooser)
    return (*sources, *designed_testers(designs), *asked_testers(model.designer))


def telling(record: Record, told: Told | None) -> Record:
    """Let a record tell of each step that is written to it."""
    if told is not None:
        record.told = lambda step: told(record, step)
    return record


def repeated(graph: Graph, observed: Observed, record: Record, request: Request) -> Result:
    """Follow a recorded investigation in a ledger of its own, in memory, and give the result.

    It is judged by the policy that the record holds a copy of.
    """
    store = Ledger.memory()
    made = Record(store.store, record.iri)
    rules = policy.of_record(record)
    learned = calibration.recorded(record)
    # What was proposed is taken from the record; nobody is asked, and no region is run beforehand.
    given = [parsed(number, one) for number, one in enumerate(request.hypotheses, start=1)]
    again = _investigation(graph, observed, made, request, given, None, rules, learned)
    again.follow(record)
    return Result(store, made)


def _suggested(request: Request, graph: Graph, observed: Observed) -> list[Given]:
    """Return the hypotheses that a request suggests, checked on the graph."""
    asked = request.hypotheses if graph.hidden is None else graph.hidden.within(request.hypotheses)
    given = [parsed(number, one) for number, one in enumerate(asked, start=1)]
    failing = [each.constraint for each in observed.failing]
    return checked(given, graph, failing, request.query_seconds)


def _run(
    graph: Graph,
    observed: Observed,
    record: Record,
    request: Request,
    progress: Progress | None,
    suggested: Sequence[Given],
    budget: Budget | None = None,
    proposers: Sequence[Proposer] = (),
    testers: Sequence[Tester] = (),
    jobs: int = 1,
    narrator: ModelNarrator | None = None,
    carrier: Carrier | None = None,
) -> None:
    rules = policy.load(request.policy)
    learned = calibration.under(request.calibration, rules.iri)
    _investigation(
        graph,
        observed,
        record,
        request,
        suggested,
        progress,
        rules,
        learned,
        budget,
        proposers,
        testers,
        jobs,
        narrator,
        carrier,
    ).run()


def _investigation(
    graph: Graph,
    observed: Observed,
    record: Record,
    request: Request,
    suggested: Sequence[Given],
    progress: Progress | None,
    rules: policy.Policy | None = None,
    learned: calibration.Calibration | None = None,
    budget: Budget | None = None,
    proposers: Sequence[Proposer] = (),
    testers: Sequence[Tester] = (),
    jobs: int = 1,
    narrator: ModelNarrator | None = None,
    carrier: Carrier | None = None,
) -> Investigation:
    graph.notices += [n for n in observed.notices if n not in graph.notices]
    symptoms = [
        symptom.numbered(ox.NamedNode(f"{record.iri.value}:symptom:{number}"), number)
        for number, symptom in enumerate(observed.failing, start=1)
        if not request.symptoms or symptom.constraint.key in request.symptoms
    ]
    declared = declarations(request.complete, (symptom.constraint for symptom in observed.symptoms))
    return Investigation(
        graph,
        symptoms,
        record,
        request,
        progress,
        rules,
        learned,
        declared,
        budget,
        suggested,
        proposers,
        testers,
        jobs,
        narrator,
        carrier,
    )
