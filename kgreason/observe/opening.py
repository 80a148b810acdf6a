"""Opening: read the graph that a request names, and look at it for symptoms."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.errors import GraphError, LedgerError, OptionError, ShapesError
from kgreason.base.extensions import active
from kgreason.base.terms import RDF
from kgreason.context.symptom import Observed, Symptom
from kgreason.endpoint.pull import Estimate
from kgreason.graph import Graph, digest, load
from kgreason.graph.given import gone, is_given
from kgreason.graph.load import passed_over
from kgreason.observe.extracted import (
    endpoint_of,
    estimated,
    kept_again,
    names_endpoint,
    pulled,
    pulled_from,
)
from kgreason.observe.look import compiled_elsewhere, look
from kgreason.observe.redact import redacted
from kgreason.observe.request import Paths, Request, request_of
from kgreason.observe.too_large import is_too_large, on_disk
from kgreason.record import Record, calibration, policy

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done and how much there is."""


Notice = Callable[[str], None]
"""Called with each thing a user should know of the input; the record keeps them too."""


_NAMED: Final = 3
_PLACE: Final = re.compile(r".*?: line [0-9]+(?:, column [0-9]+)?")


def symptoms(
    data: Paths,
    *,
    progress: Progress | None = None,
    notice: Notice | None = None,
    **options: Any,
) -> tuple[Graph, Observed]:
    """Only say what is wrong: the graph, and its symptoms with population and failing counts."""
    return seen(request_of(data, **options), progress, notice)


def seen(
    request: Request, progress: Progress | None, notice: Notice | None, *, gate: bool = False
) -> tuple[Graph, Observed]:
    """Load what a request names and look at it, telling what there is to tell on the way.

    Raises ShapesError with `gate` where that leaves a doubt.
    """
    if names_endpoint(request):
        request = taken(request, progress)
    _all_there(request)
    policy.load(request.policy)
    tell, say = progress or (lambda *_: None), notice or (lambda _: None)
    tell("reading the data", 0, 0)
    graph = load_graph(request)
    if request.redact:  # what is told of the data is told of the copy without the values
        observed = look(graph, request)
        graph, observed = redacted(graph, observed, request.redact, request.query_seconds)
    counted = _counted(request)
    if counted is not None:
        say(counted)
    for text in graph.notices:
        say(text)
    tell("looking for symptoms", 0, 0)
    if not request.redact:
        observed = look(graph, request)
    if gate and observed.doubts:
        raise ShapesError(
            f"{' '.join(observed.doubts)} If that is as it should be, give --allow-empty."
        )
    for text in observed.notices:
        say(text)
    verdict = _at_first_sight(request, observed)
    if verdict:
        verdict += _as_mended(graph)
        graph.notices.append(verdict)
        say(verdict)
    return graph, observed


def taken(request: Request, progress: Progress | None, ledger: Path | None = None) -> Request:
    """Return a request on an extract of its data, where that is an endpoint or too large.

    Any other is given as it is. Files that are too large are loaded into a store beside the
    ledger. Raises SourceError where an endpoint does not answer as it should.
    """
    compile_ = partial(compiled_elsewhere, request)
    if names_endpoint(request):
        endpoint_of(request)
        _all_there(replace(request, data=()))
        return pulled(request, compile_, progress, ledger)
    _all_there(request)
    if not is_too_large(request):
        return request
    with on_disk(request, ledger, progress or (lambda *_: None)) as origin:
        return pulled_from(request, origin.endpoint, compile_, progress, origin)


def estimate(request: Request, progress: Progress | None = None) -> Estimate:
    """Estimate what an extract of the endpoint of a request would take.

    Raises OptionError where it names none, SourceError where it does not answer as it should.
    """
    if not names_endpoint(request):
        raise OptionError("--dry-run is about an endpoint; give its address (https://…) as data.")
    endpoint_of(request)
    _all_there(replace(request, data=()))
    return estimated(request, partial(compiled_elsewhere, request), progress)


def _counted(request: Request) -> str | None:
    """Return how many files of folders were read and passed over, where some were."""
    read, others = passed_over([Path(one) for one in request.data if one not in request.objects])
    if not others:
        return None
    named = ", ".join(others[:_NAMED]) + (", …" if len(others) > _NAMED else "")
    files = "file" if read == 1 else "files"
    return f"Read {read} {files}, passed over {len(others)} with another ending: {named}."


def _at_first_sight(request: Request, observed: Observed) -> str | None:
    """Describe what is to say where there is nothing to find out."""
    if observed.failing or observed.doubts:
        return None
    if not observed.symptoms:
        return "Nothing was checked, so nothing can be said of the data."
    if request.outcome:
        return "The outcome comes about at no node; there is nothing to explain."
    number = len(observed.symptoms)
    checked = f"all {number} constraints hold" if number > 1 else "the constraint holds"
    return f"The data conform: {checked}."


def _as_mended(graph: Graph) -> str:
    """Return how a rule sees an IRI that was mended on reading: who asks for the fault finds none.

    Nothing where no IRI was mended.
    """
    for new, old in graph.mended.items():
        return f" IRIs were mended on reading, so a rule sees {new!r} where the data have {old!r}."
    return ""


def _named(request: Request) -> tuple[str, ...]:
    """Return every path that a request names."""
    single = (request.violations, request.population, request.outcome)
    return (
        *request.data,
        *request.ontology,
        *request.axioms,
        *request.shapes,
        *filter(None, single),
    )


def files_of(request: Request) -> tuple[str, ...]:
    """Return every path that a request names and reads, its policy and calibration among them."""
    own = ((request.policy, policy.is_file), (request.calibration, calibration.is_file))
    rules = [name for name, is_file in own if is_file(name)]
    return (*(one for one in _named(request) if not is_given(one)), *rules)


def _all_there(request: Request) -> None:
    """Refuse a file that is not there before anything large is read."""
    for name in _named(request):
        if name not in request.objects and not os.path.lexists(name):
            raise gone(name) if is_given(name) else _not_there(name)


def _not_there(name: str) -> GraphError:
    """Return the error for a path without a file, with a hint where it looks like a text."""
    text = re.search(r"[<{]|@prefix", name)
    hint = "; to give it as a text, use kgreason.Text(…)" if text else ""
    return GraphError(f"{name}: there is no such file or folder{hint}.")


def load_graph(request: Request) -> Graph:
    """Load what a request names, all of it as it is there: nothing is kept out yet."""
    try:
        return load(
            [Path(p) for p in request.data],
            ontology=[Path(p) for p in request.schema],
            lenient=request.lenient,
            most=request.max_bytes,
            objects=request.objects,
        )
    except GraphError as error:
        place = _PLACE.match(str(error)) if request.redact else None
        if place is None:
            raise
        raise GraphError(
            f"{place[0]}: this cannot be read; what stands there is not told, because of --redact."
        ) from None


def fingerprint(request: Request) -> str:
    """Return a SHA-256 over all files that a request names, data, shapes and queries.

    The files of the extensions at hand are among them.

    Raises GraphError where one cannot be read, or was an object that is not given again.
    """
    for one in _named(request):
        if is_given(one) and one not in request.objects and not os.path.lexists(one):
            raise gone(one)
    seal = hashlib.sha256()
    data, ontology = ([Path(p) for p in given] for given in (request.data, request.schema))
    objects = request.objects
    print_ = digest(data, ontology=ontology, most=request.max_bytes, objects=objects)
    seal.update(print_.encode())
    rules = request.policy if policy.is_file(request.policy) else None
    given_too = (request.violations, request.population, request.outcome, rules)
    for name in (*request.axioms, *request.shapes, *given_too):
        if name is not None:
            try:
                given = objects.get(name)
                seal.update(given.content if given else Path(name).read_bytes())
            except OSError as error:
                why = error.strerror or error
                raise GraphError(f"{name}: the file cannot be read ({why}).") from error
    for extension in active():
        for file, said in extension.files:
            seal.update(f"{file} {said}".encode())
    return seal.hexdigest()


def recorded_options(request: Request, graph: Graph) -> ox.Literal:
    """Return a request as it is recorded: a JSON object with absolute paths and fingerprints.

    `fingerprint` is that of all files, `graph` that of the data. `recorded_request` reads it.
    """
    options = asdict(request) | {"fingerprint": request.fingerprint or fingerprint(request)}
    options["graph"] = graph.fingerprint
    del options["objects"], options["headers"]
    if graph.hidden is not None:
        for name in ("question", "hypotheses", "tests", "routing"):
            options[name] = graph.hidden.within(options[name])
    for name in ("data", "shapes", "axioms", "ontology", "extend"):
        options[name] = [_absolute(p, request) for p in options[name]]
    for name in ("violations", "population", "outcome"):
        options[name] = None if options[name] is None else _absolute(options[name], request)
    for name, own in (("policy", policy.is_file), ("calibration", calibration.is_file)):
        if own(options[name]):
            options[name] = str(Path(options[name]).resolve())
    return ox.Literal(json.dumps(options, sort_keys=True), datatype=RDF.JSON)


def _absolute(path: str, request: Request) -> str:
    """Return a path for the record; the name of an object stays as it is."""
    return path if is_given(path) and path in request.objects else str(Path(path).resolve())


def recorded_request(record: Record) -> Request:
    """Read the request of an investigation from its record."""
    rows = record.select("options")
    if not rows:
        raise LedgerError(f"{record.iri.value}: the record has no options; it cannot be resumed.")
    options = json.loads(rows[0]["options"].value)
    known = {f.name for f in fields(Request)}
    made: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in options.items() if k in known
    }
    return kept_again(Request(**made), record)


def recorded_symptoms(record: Record, observed: Observed) -> list[Symptom]:
    """Return the recorded symptoms that are still observed, as they are now, in their order."""
    now = {symptom.constraint.key: symptom for symptom in observed.failing}
    return [
        now[key].numbered(ox.NamedNode(row["symptom"].value), int(row["index"].value))
        for row in record.select("symptom-keys")
        if (key := row["key"].value) in now
    ]
