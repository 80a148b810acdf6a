"""Ask why a graph is wrong: investigate it, resume an investigation, or only see its symptoms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, overload

import pyoxigraph as ox

from kgreason import run
from kgreason.api.notebook_progress import progressing
from kgreason.api.outcome_frame import Frame, outcome_of
from kgreason.base.errors import OptionError
from kgreason.base.extensions import joined, read_all, using
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.base.store import Answer, check_query, guarded
from kgreason.base.templates import check_extensions
from kgreason.base.terms import FORMS_GRAPH, PREFIXES
from kgreason.computation.designed import read_designs
from kgreason.endpoint.pull import Estimate
from kgreason.graph import load
from kgreason.graph.bounds import MOST_BYTES
from kgreason.graph.given import Given, Source, Sources, given_as
from kgreason.hypothesize.proposer import Proposer
from kgreason.hypothesize.suggestions import read_suggestions
from kgreason.observe import opening
from kgreason.observe.opening import Notice, Progress
from kgreason.observe.request import Paths, Request, request_of
from kgreason.observe.request import paths as paths_of
from kgreason.planner.strategy_protocol import PlanContext
from kgreason.planner.supervisor import Supervisor, divided
from kgreason.queue.opening_queue import carried
from kgreason.record.model_calls import ModelCall
from kgreason.report.entries import SeenSymptom
from kgreason.report.result import Result
from kgreason.run import Told
from kgreason.shacl import names
from kgreason.test.tester import Tester

LEDGER: Final = Path(".kgreason")
_SEVERAL: Final = ("data", "shapes", "axioms", "ontology")
_SINGLE: Final = ("violations", "population", "outcome")
_OPTIONS: Final = (
    *("at", "severity", "only", "complete", "question", "lenient", "strict", "seed"),
    *("max_hypotheses", "max_steps", "max_seconds", "interventions", "try_repairs"),
    *(
        "query_seconds",
        "allow_service",
        "max_bytes",
        "memory",
        "extend",
        "principal",
        "correlation",
    ),
    "conversation",
    *("model", "max_tokens", "max_usd", "prices", "plain", "redact", "sources", "readings"),
    "routing",
    *("graphs", "dialect", "cap", "ratio", "hops", "pause", "headers"),
)
"""The options of `investigate` that go into the request as they are given."""


@dataclass(frozen=True)
class Symptoms(Sequence[SeenSymptom]):
    """The symptoms of a graph, the most failures first, with what there is to say of the input.

    `doubts` are those of the notices that say why no failure (or a failure) may mean nothing.
    """

    symptoms: tuple[SeenSymptom, ...]
    notices: tuple[str, ...]
    doubts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.symptoms)

    @overload
    def __getitem__(self, index: int) -> SeenSymptom: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SeenSymptom]: ...
    def __getitem__(self, index: int | slice) -> SeenSymptom | Sequence[SeenSymptom]:
        return self.symptoms[index]


def investigate(
    data: Sources,
    *,
    shapes: Sources = (),
    axioms: Sources = (),
    ontology: Sources = (),
    violations: Source | None = None,
    population: Source | None = None,
    outcome: Source | Frame | None = None,
    at: float | None = None,
    severity: str | None = None,
    only: str | None = None,
    complete: str | Sequence[str] = (),
    redact: str | Sequence[str] = (),
    question: str | None = None,
    lenient: bool = False,
    strict: bool = False,
    policy: str | Path = DEFAULT_POLICY,
    calibration: str | Path = "default",
    seed: int = 0,
    max_hypotheses: int = 6,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    interventions: int = 0,
    try_repairs: bool = True,
    query_seconds: float = 60.0,
    allow_service: bool = False,
    max_bytes: int = MOST_BYTES,
    memory: int | None = None,
    extend: Paths = (),
    hypotheses: str | Path | Sequence[Mapping[str, Any]] | None = None,
    principal: str | None = None,
    correlation: str | None = None,
    conversation: str | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    prices: str | Path | None = None,
    plain: bool = False,
    sources: str | Path | Sequence[str | Path] = (),
    readings: str | Path | None = None,
    tests: str | Path | Sequence[Mapping[str, Any]] = (),
    routing: Mapping[str, Any] | None = None,
    graphs: str | Sequence[str] = (),
    dialect: str | None = None,
    cap: int = 5000,
    ratio: int = 4,
    hops: int = 2,
    pause: float = 0.0,
    headers: Mapping[str, str] = MappingProxyType({}),
    earlier: Sequence[ModelCall] = (),
    proposers: Sequence[Proposer] = (),
    testers: Sequence[Tester] = (),
    ledger: str | Path | None = None,
    nonce: str | None = None,
    jobs: int = 1,
    queue: str | Path | None = None,
    gate: bool = False,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
) -> Result:
    """Investigate a graph and return the result.

    Say what is wrong by `shapes`, `axioms` (OWL), `violations` or `outcome`. `data`, `shapes`,
    `axioms` and `ontology` are one source or several: paths, `kgreason.Text`, an rdflib Graph or
    Dataset, a pyoxigraph Store. A `str` with a line end is TriG, any other is a path; in `outcome`
    and `population` (SPARQL) one with a line end or a brace is the query; an outcome may be a frame
    too. `data` may be a SPARQL endpoint (docs/endpoints.md); what takes more than `memory` bytes is
    asked like one. The record goes to `ledger` (folder, address) or stays in memory; its names
    begin with `nonce`, random unless given. Causes are looked for in `jobs` processes, or by
    workers at a `queue`. With `gate`, a doubt whether anything was checked is an error. `extend`
    are folders of your own. `hypotheses` is a JSON file of hypotheses to test too, or a list;
    `principal` is who asks; `proposers` and the language `model` are asked for causes, `testers`
    for tests; a model that is to answer by itself is `plain`. `sources` are looked up, with
    `readings` of what they say; `tests` are your own. Values of what `redact` names are kept out.
    Options: docs/cli.md. Raises KgreasonError.
    """
    given = dict(locals())
    options = {name: given[name] for name in _OPTIONS}
    options |= {"policy": str(policy), "calibration": str(calibration), "hypotheses": ()}
    if hypotheses is not None:
        options["hypotheses"] = tuple(read_suggestions(hypotheses, principal))
    if tests:
        options["tests"] = read_designs(tests) if isinstance(tests, str | Path) else tuple(tests)
    request = _request({name: given[name] for name in (*_SEVERAL, *_SINGLE)}, options)
    own: dict[str, Any] = {"proposers": proposers, "testers": testers, "gate": gate, "jobs": jobs}
    own |= {"nonce": nonce, "earlier": earlier}
    with progressing(progress) as shown, carried(queue, notice) as carrier:
        own["carrier"] = carrier
        return run.begin(request, _folder(ledger), shown, notice, told, **own)


def symptoms(
    data: Sources,
    *,
    shapes: Sources = (),
    axioms: Sources = (),
    ontology: Sources = (),
    violations: Source | None = None,
    population: Source | None = None,
    outcome: Source | Frame | None = None,
    at: float | None = None,
    severity: str | None = None,
    only: str | None = None,
    redact: str | Sequence[str] = (),
    lenient: bool = False,
    strict: bool = False,
    query_seconds: float = 60.0,
    allow_service: bool = False,
    max_bytes: int = MOST_BYTES,
    memory: int | None = None,
    extend: Paths = (),
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Symptoms:
    """Only say what is wrong: each constraint that fails, with how many nodes of how many.

    Nothing is recorded. The options are those of `investigate`.
    """
    request = _request(
        {
            "data": data,
            "shapes": shapes,
            "axioms": axioms,
            "ontology": ontology,
            "violations": violations,
            "population": population,
            "outcome": outcome,
        },
        {
            "at": at,
            "severity": severity,
            "only": only,
            "redact": redact,
            "lenient": lenient,
            "strict": strict,
            "query_seconds": query_seconds,
            "allow_service": allow_service,
            "max_bytes": max_bytes,
            "memory": memory,
            "extend": extend,
        },
    )
    with using(joined(read_all(request.extend))):
        check_extensions()
        taken = opening.taken(request, progress)
        _, observed = opening.seen(taken, progress, notice)
    called = names([one.constraint for one in observed.failing])
    found = tuple(
        SeenSymptom(
            id=f"urn:kgreason:symptom:{one.constraint.key}",
            name=name,
            shape=one.constraint.named_shape.value if one.constraint.named_shape else None,
            constraint=one.constraint.component.value if one.constraint.component else None,
            axiom=one.constraint.axiom.value if one.constraint.axiom else None,
            path=one.constraint.path.text if one.constraint.path else None,
            severity=one.constraint.severity.value if one.constraint.severity else None,
            population=one.observation.population or 0,
            failing=len(one.observation.failing),
        )
        for one, name in zip(observed.failing, called, strict=True)
    )
    return Symptoms(found, observed.notices, observed.doubts)


def estimate(
    data: str,
    *,
    shapes: Sources = (),
    axioms: Sources = (),
    violations: Source | None = None,
    population: Source | None = None,
    outcome: Source | Frame | None = None,
    at: float | None = None,
    severity: str | None = None,
    only: str | None = None,
    seed: int = 0,
    query_seconds: float = 60.0,
    graphs: str | Sequence[str] = (),
    dialect: str | None = None,
    cap: int = 5000,
    ratio: int = 4,
    hops: int = 2,
    pause: float = 0.0,
    headers: Mapping[str, str] = MappingProxyType({}),
    progress: Progress | None = None,
) -> Estimate:
    """Estimate what an investigation of an endpoint would ask of it, in queries and bytes.

    It is probed, and who fails is counted; the options are those of `investigate`.
    """
    given = dict(locals())
    del given["progress"]
    names_ = ("data", "shapes", "axioms", "violations", "population", "outcome")
    sources = {name: given.pop(name) for name in names_}
    return opening.estimate(_request(sources, given), progress)


def query(
    data: Sources,
    text: str,
    *,
    ontology: Sources = (),
    lenient: bool = False,
    seconds: float = 60.0,
    allow_service: bool = False,
    max_bytes: int = MOST_BYTES,
    where: str = "the query",
) -> Answer:
    """Ask a graph any read-only SPARQL, as an investigation would load it.

    All of it is the default graph, and each file or named graph stands behind GRAPH. Literals are
    as the store has them: "05"^^xsd:int is 5. The query runs in a process of its own for at most
    `seconds`. Raises QueryError, which calls the text `where`, TimeoutExceeded, or the errors of
    reading data. The usual prefixes need no declaration.
    """
    prefixes = {p: iri for p, iri in PREFIXES.items() if p != "work"}
    check_query(text, where, allow_service=allow_service, prefixes=prefixes)
    if seconds <= 0:
        raise OptionError("--query-seconds must be more than 0.")
    paths, objects = brought({"data": data, "ontology": ontology})
    files = {name: [Path(one) for one in several] for name, several in paths.items()}
    graph = load(
        files["data"], ontology=files["ontology"], lenient=lenient, most=max_bytes, objects=objects
    )
    graph.store.inner.remove_graph(FORMS_GRAPH)
    return guarded(lambda: graph.store.answer(text, ox.DefaultGraph(), prefixes), seconds, where)


def resume(
    ledger: str | Path = LEDGER,
    which: str | int | None = None,
    *,
    data: Sources | None = None,
    shapes: Sources | None = None,
    axioms: Sources | None = None,
    ontology: Sources | None = None,
    violations: Source | None = None,
    population: Source | None = None,
    outcome: Source | Frame | None = None,
    extend: Paths = (),
    testers: Sequence[Tester] = (),
    jobs: int = 1,
    queue: str | Path | None = None,
    progress: Progress | None = None,
    notice: Notice | None = None,
    told: Told | None = None,
) -> Result:
    """Go on with an interrupted investigation, or return the result of a finished one.

    Paths and options are in the record. What was given as an object is not: give it again, and
    the folders of extensions that have moved as `extend`, and the `testers`, for what they are to
    test still. `jobs` and `queue` are as for `investigate`. Raises LedgerError if there is nothing
    to resume, GraphError if the data are not the same.
    """
    again = {
        "data": data,
        "shapes": shapes,
        "axioms": axioms,
        "ontology": ontology,
        "violations": violations,
        "population": population,
        "outcome": outcome,
    }

    def given(recorded: Request) -> Request:
        paths, objects = brought({n: one for n, one in again.items() if one is not None})
        return replace(recorded, **paths, objects={**recorded.objects, **objects})

    own = paths_of(extend)
    which = _number(which)
    parted = divided(Path(ledger), which)
    with carried(queue, notice) as carrier:
        if parted is not None:
            iri, request = parted
            place = Path(ledger)
            context = PlanContext(given(request), place, None, None, None, progress, notice, told)
            context = replace(context, more={"carrier": carrier})
            return Supervisor().go_on(iri, context).result
        more: dict[str, Any] = {"jobs": jobs, "carrier": carrier}
        return run.go_on(Path(ledger), which, given, progress, notice, told, own, testers, **more)


def result(
    ledger: str | Path = LEDGER, which: str | int | None = None, *, extend: Paths = ()
) -> Result:
    """Return the result of an investigation that is in a ledger (the latest), opened read-only.

    `extend` are folders whose sections and questions are wanted too.
    """
    with using(joined(read_all(paths_of(extend)))):
        check_extensions()
        return run.recorded(Path(ledger), _number(which))


def _folder(ledger: str | Path | None) -> Path | None:
    return None if ledger is None else Path(ledger)


def _number(which: str | int | None) -> str | None:
    return None if which is None else str(which)


def _suggested(given: Any, principal: str | None) -> tuple[Mapping[str, Any], ...]:
    """Return the hypotheses that are suggested; none where nothing is given."""
    return () if given is None else tuple(read_suggestions(given, principal))


def _request(sources: dict[str, Any], options: dict[str, Any]) -> Request:
    """Return a checked request for sources and options; raises OptionError."""
    paths, objects = brought(sources)
    return request_of(paths.pop("data"), **paths, **options, objects=objects)


def brought(sources: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Given]]:
    """Return the paths that stand for sources in a request, and the objects among the sources."""
    objects: dict[str, Given] = {}
    paths: dict[str, Any] = {}
    for name, given in sources.items():
        source = outcome_of(given) if name == "outcome" else given
        if name in _SINGLE:
            paths[name] = None if source is None else _named(name, source, objects)
        else:
            several = isinstance(source, Sequence) and not isinstance(source, str)
            paths[name] = tuple(
                _named(f"{name}-{n}" if n > 1 else name, one, objects)
                for n, one in enumerate(source if several else (source,), start=1)
            )
    return paths, objects


def _named(name: str, source: Any, objects: dict[str, Given]) -> str:
    """Return the path of a source; an object is added to `objects` under its name."""
    made = given_as(name, source)
    if made is None:
        return str(source)
    if made.name in objects:
        raise OptionError(f"{made.name} is given twice.")
    objects[made.name] = made
    return made.name
