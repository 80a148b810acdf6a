"""What one calls: investigate a graph, resume an investigation, look at its result."""

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.errors import GraphError, LedgerError
from kgreason.graph import Graph, digest, load
from kgreason.investigation import Budget, Investigation, Plan, Progress
from kgreason.ledger import Ledger, Record
from kgreason.phases import Symptom
from kgreason.request import Paths, Request, request_of
from kgreason.result import Result
from kgreason.sighting import Sighting, look

LEDGER: Final = Path(".kgreason")
def investigate(
    data: Paths,
    *,
    ledger: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Investigate a graph and give the result.

    `data` and the paths among `options` (the fields of `Request`) are one path or several. The
    reasoning history goes to the folder `ledger`, or stays in memory. Raises the errors of
    `kgreason.errors`; nothing is written before the input has been read.
    """
    request = request_of(data, **options)
    graph = load_graph(request)
    sighting = look(graph, request)
    if ledger is None:
        store = Ledger.memory()
        record = store.new(graph.fingerprint)
        _run(graph, sighting, record, request, progress)
        return Result(store, record)
    with Ledger.write(Path(ledger)) as store:
        record = store.new(graph.fingerprint)
        _run(graph, sighting, record, request, progress)
        which = record.iri.value
    return result(ledger, which)


def resume(
    ledger: str | Path = LEDGER, which: str | None = None, *, progress: Progress | None = None
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
            _resume(store.record(entry), entry.number, progress)
    return result(ledger, entry.iri.value)


def _resume(record: Record, number: int, progress: Progress | None) -> None:
    request = recorded_request(record)
    if fingerprint(request) != request.fingerprint:
        raise GraphError(
            f"The data or shapes of investigation {number} have changed since it began; "
            "start a new one with `kgreason investigate`."
        )
    graph = load_graph(request)
    _run(graph, look(graph, request), record, request, progress)


def result(ledger: str | Path = LEDGER, which: str | None = None) -> Result:
    """Give the result of an investigation that is in a ledger, opened read-only."""
    store = Ledger.read(Path(ledger))
    return Result(store, store.record(store.entry(which)))


def symptoms(data: Paths, **options: Any) -> tuple[Graph, Sighting]:
    """Only say what is wrong: the graph, and its symptoms with population and failing counts."""
    request = request_of(data, **options)
    graph = load_graph(request)
    return graph, look(graph, request)


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
    for name in (*request.shapes, request.violations, request.population, request.outcome):
        if name is not None:
            seal.update(Path(name).read_bytes())
    return seal.hexdigest()


def recorded_request(record: Record) -> Request:
    """Read the request of an investigation from its record."""
    rows = record.select("options")
    if not rows:
        raise LedgerError(f"{record.iri.value}: the record has no options; it cannot be resumed.")
    options = json.loads(rows[0]["options"].value)["options"]
    known = {f.name for f in fields(Request)}
    made = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items() if k in known}
    return Request(**made)


def _run(
    graph: Graph, sighting: Sighting, record: Record, request: Request, progress: Progress | None
) -> None:
    options = asdict(request) | {"fingerprint": request.fingerprint or fingerprint(request)}
    for name in ("data", "shapes", "ontology"):
        options[name] = [str(Path(p).resolve()) for p in options[name]]
    for name in ("violations", "population", "outcome"):
        options[name] = None if options[name] is None else str(Path(options[name]).resolve())
    plan = Plan(
        question=request.question,
        policy=request.policy,
        seed=request.seed,
        budget=Budget(request.max_hypotheses, request.max_steps, request.max_seconds),
        options=options,
    )
    graph.notices += [n for n in sighting.notices if n not in graph.notices]
    symptoms = [
        Symptom(
            ox.NamedNode(f"{record.iri.value}:symptom:{number}"),
            seen.constraint,
            seen.observation.population or 0,
            seen.observation.failing,
            number,
        )
        for number, seen in enumerate(sighting.failing, start=1)
    ]
    Investigation(graph, symptoms, record, plan, progress).run()


