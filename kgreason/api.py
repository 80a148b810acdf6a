"""What one calls: investigate a graph, resume an investigation, look at its result."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason import calibration, policy
from kgreason.errors import GraphError, LedgerError, OptionError
from kgreason.graph import Graph, digest, load
from kgreason.investigation import Budget, Investigation, Plan, Progress
from kgreason.ledger import Ledger, Record
from kgreason.phases import Symptom
from kgreason.phases.complete import declarations
from kgreason.request import Paths, Request, request_of
from kgreason.result import Result
from kgreason.sighting import Sighting, look
from kgreason.store import Answer, check_query, guarded, triple
from kgreason.terms import PREFIXES

LEDGER: Final = Path(".kgreason")
Notice = Callable[[str], None]
"""Called with each thing a user should know of the input; the record keeps them too."""
Told = Callable[[Record, ox.NamedNode], None]
"""Called with the record and each step that was written to it."""


def investigate(
    data: Paths,
    *,
    ledger: str | Path | None = None,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
    **options: Any,
) -> Result:
    """Investigate a graph and give the result.

    `data` and the paths among `options` (the fields of `Request`) are one path or several. The
    reasoning history goes to the folder `ledger`, or stays in memory. Raises the errors of
    `kgreason.errors`; nothing is written before the input has been read.
    """
    request = request_of(data, **options)
    calibration.under(request.calibration, policy.load(request.policy).iri)
    if ledger is not None:
        Ledger.ready(Path(ledger))
    graph, sighting = _seen(request, progress, notice)
    if ledger is None:
        store = Ledger.memory()
        record = _telling(store.new(graph.fingerprint), told)
        _run(graph, sighting, record, request, progress)
        return Result(store, record)
    with Ledger.write(Path(ledger)) as store:
        record = _telling(store.new(graph.fingerprint), told)
        _run(graph, sighting, record, request, progress)
        which = record.iri.value
    return result(ledger, which)


def _telling(record: Record, told: Told | None) -> Record:
    """Let a record tell of each step that is written to it."""
    if told is not None:
        record.told = lambda step: told(record, step)
    return record


def resume(
    ledger: str | Path = LEDGER,
    which: str | None = None,
    *,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
) -> Result:
    """Go on with an interrupted investigation, or give the result of a finished one.

    Raises LedgerError if there is nothing to resume, GraphError if the data are not the same.
    """
    with Ledger.read(Path(ledger)) as reader:
        entries = reader.entries()
        open_ = [entry for entry in entries if not entry.finished]
        entry = open_[-1] if which is None and open_ else reader.entry(which)
    if not entry.finished:
        with Ledger.write(Path(ledger)) as store:
            record = _telling(store.record(entry), told)
            _resume(record, entry.number, progress, notice)
    return result(ledger, entry.iri.value)


def _resume(record: Record, number: int, progress: Progress | None, notice: Notice | None) -> None:
    request = recorded_request(record)
    if fingerprint(request) != request.fingerprint:
        raise GraphError(
            f"The data, shapes or policy of investigation {number} have changed since it began; "
            "start a new one with `kgreason investigate`."
        )
    graph, sighting = _seen(request, progress, notice)
    _run(graph, sighting, record, request, progress)


def result(ledger: str | Path = LEDGER, which: str | None = None) -> Result:
    """Give the result of an investigation that is in a ledger, opened read-only."""
    store = Ledger.read(Path(ledger))
    try:
        return Result(store, store.record(store.entry(which)))
    except BaseException:
        store.close()
        raise


def query(
    text: str,
    ledger: str | Path = LEDGER,
    which: str | None = None,
    *,
    seconds: float = 60.0,
    allow_service: bool = False,
    where: str = "the query",
) -> Answer:
    """Ask one investigation of a ledger any read-only SPARQL; GRAPH reaches the others too.

    The query runs in a process of its own for at most `seconds`. Raises QueryError, which calls
    the text `where`, LedgerError or TimeoutExceeded. The prefixes of `kgreason.terms` are there.
    """
    prefixes = {p: iri for p, iri in PREFIXES.items() if p != "work"}
    check_query(text, where, allow_service=allow_service, prefixes=prefixes)
    if seconds <= 0:
        raise OptionError("--query-seconds must be more than 0.")

    def ask() -> Answer:
        with Ledger.read(Path(ledger)) as reader:
            return reader.store.answer(text, reader.entry(which).iri, prefixes)

    return guarded(ask, seconds, where)


def symptoms(
    data: Paths,
    *,
    progress: Progress | None = None,
    notice: Notice | None = None,
    **options: Any,
) -> tuple[Graph, Sighting]:
    """Only say what is wrong: the graph, and its symptoms with population and failing counts."""
    return _seen(request_of(data, **options), progress, notice)


def _seen(
    request: Request, progress: Progress | None, notice: Notice | None
) -> tuple[Graph, Sighting]:
    """Load what a request names and look at it, telling what there is to tell on the way."""
    _all_there(request)
    policy.load(request.policy)
    tell, say = progress or (lambda *_: None), notice or (lambda _: None)
    tell("reading the data", 0, 0)
    graph = load_graph(request)
    for text in graph.notices:
        say(text)
    tell("looking for symptoms", 0, 0)
    sighting = look(graph, request)
    for text in sighting.notices:
        say(text)
    verdict = _at_first_sight(request, sighting)
    if verdict:
        graph.notices.append(verdict)
        say(verdict)
    return graph, sighting


def _at_first_sight(request: Request, sighting: Sighting) -> str | None:
    """Say what is to say where there is nothing to find out."""
    if not sighting.seen:
        return "Nothing was checked, so nothing can be said of the data."
    if sighting.failing:
        return None
    if request.outcome:
        return "The outcome comes about at no node; there is nothing to explain."
    number = len(sighting.seen)
    checked = f"all {number} constraints hold" if number > 1 else "the constraint holds"
    return f"The data conform: {checked}."


def _all_there(request: Request) -> None:
    """Refuse a file that is not there before anything large is read."""
    single = (request.violations, request.population, request.outcome)
    for name in (*request.data, *request.ontology, *request.shapes, *filter(None, single)):
        if not os.path.lexists(name):
            raise GraphError(f"{name}: there is no such file or folder.")


def load_graph(request: Request) -> Graph:
    """Load what a request names."""
    return load(
        [Path(p) for p in request.data],
        ontology=[Path(p) for p in request.ontology],
        lenient=request.lenient,
    )


def fingerprint(request: Request) -> str:
    """Give a SHA-256 over all files that a request names, data, shapes and queries."""
    seal = hashlib.sha256()
    data, ontology = ([Path(p) for p in given] for given in (request.data, request.ontology))
    seal.update(digest(data, ontology=ontology).encode())
    rules = request.policy if policy.is_file(request.policy) else None
    given_too = (request.violations, request.population, request.outcome, rules)
    for name in (*request.shapes, *given_too):
        if name is not None:
            try:
                seal.update(Path(name).read_bytes())
            except OSError as error:
                why = error.strerror or error
                raise GraphError(f"{name}: the file cannot be read ({why}).") from error
    return seal.hexdigest()


def recorded_request(record: Record) -> Request:
    """Read the request of an investigation from its record."""
    rows = record.select("options")
    if not rows:
        raise LedgerError(f"{record.iri.value}: the record has no options; it cannot be resumed.")
    options = json.loads(rows[0]["options"].value)["options"]
    known = {f.name for f in fields(Request)}
    made: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in options.items() if k in known
    }
    return Request(**made)


def repeated(graph: Graph, sighting: Sighting, record: Record, request: Request) -> Result:
    """Follow a recorded investigation in a ledger of its own, in memory, and give the result.

    It is judged by the policy that the record holds a copy of.
    """
    store = Ledger.memory()
    # Another number could be that of an investigation which the record speaks of.
    made = Record(store.store, record.iri, int(record.iri.value.rpartition(":")[2]))
    rows = record.select("policy")
    rules = policy.recorded(
        {triple(r["node"], r["property"], r["value"]) for r in rows},
        ox.NamedNode(rows[0]["policy"].value),
    )
    learned = calibration.recorded(record)
    _investigation(graph, sighting, made, request, None, rules, learned).follow(record)
    return Result(store, made)


def _run(
    graph: Graph, sighting: Sighting, record: Record, request: Request, progress: Progress | None
) -> None:
    rules = policy.load(request.policy)
    learned = calibration.under(request.calibration, rules.iri)
    _investigation(graph, sighting, record, request, progress, rules, learned).run()


def _investigation(
    graph: Graph,
    sighting: Sighting,
    record: Record,
    request: Request,
    progress: Progress | None,
    rules: policy.Policy | None = None,
    learned: calibration.Calibration | None = None,
) -> Investigation:
    options = asdict(request) | {"fingerprint": request.fingerprint or fingerprint(request)}
    for name in ("data", "shapes", "ontology"):
        options[name] = [str(Path(p).resolve()) for p in options[name]]
    for name in ("violations", "population", "outcome"):
        options[name] = None if options[name] is None else str(Path(options[name]).resolve())
    if policy.is_file(request.policy):
        options["policy"] = str(Path(request.policy).resolve())
    if calibration.is_file(request.calibration):
        options["calibration"] = str(Path(request.calibration).resolve())
    plan = Plan(
        question=request.question,
        policy=str(options["policy"]),
        seed=request.seed,
        budget=Budget(
            request.max_hypotheses, request.max_steps, request.max_seconds, request.interventions
        ),
        options=options,
    )
    graph.notices += [n for n in sighting.notices if n not in graph.notices]
    symptoms = [
        Symptom(
            ox.NamedNode(f"{record.iri.value}:symptom:{number}"),
            seen.constraint,
            seen.observation.population or len(seen.observation.failing),
            seen.observation.failing,
            number,
            counted=seen.observation.population is not None,
        )
        for number, seen in enumerate(sighting.failing, start=1)
    ]
    declared = declarations(request.complete, (seen.constraint for seen in sighting.seen))
    return Investigation(graph, symptoms, record, plan, progress, rules, learned, declared)
