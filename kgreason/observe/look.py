"""What is wrong with a graph: every constraint or outcome query, with who fails it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.errors import KgreasonError, OptionError, QueryError, ShapesError
from kgreason.base.store import Term
from kgreason.base.terms import SH
from kgreason.context.symptom import Observed, Symptom
from kgreason.endpoint.extract import Extract
from kgreason.graph import Graph
from kgreason.observe.extracted import extract_of, symptoms_of
from kgreason.observe.request import Request
from kgreason.shacl import (
    Compiled,
    Constraint,
    Observation,
    compile_axioms,
    compile_shapes,
    missing,
    nothing,
    observe,
    observe_all,
    observe_fallback,
    outcome_elsewhere,
    outcome_symptom,
    read_axioms,
    read_report,
    read_shapes,
    tried,
)
from kgreason.shacl.inner_rules import inner_rules
from kgreason.shacl.lost_forms import rests_on_forms
from kgreason.shacl.population import Counts, Uncounted


def look(graph: Graph, request: Request) -> Observed:
    """Look at a graph as a request asks; raises ShapesError if no shape is of use."""
    notices: list[str] = []
    doubts: list[str] = []
    if request.extract:
        extract, known = extract_of(request), compiled_elsewhere(request, graph, Uncounted())
        notices += extract.notices
        seen = list(symptoms_of(graph, extract, known, notices, request.query_seconds))
        if not any(each.observation.population != 0 for each in seen):
            doubts.append(nothing(known))
        if request.outcome and request.at is None:
            seen = [_tried(graph, request, extract, each) for each in seen]
    elif request.outcome:
        seen = [_asked(graph, request, notices)]
    elif request.violations:
        compiled = _compiled(graph, request, notices) if request.shapes else None
        seen = _reported(graph, request, compiled, notices)
        doubts = _doubts(graph, compiled, seen) if compiled else []
        if not seen and compiled is None and not request.population:
            doubts.append(
                f"{request.violations}: the report holds no result, and without --shapes nobody "
                "knows whether anything was checked."
            )
    else:
        compiled = _compiled(graph, request, notices)
        seen = list(_checked(graph, compiled, request, notices))
        doubts = _doubts(graph, compiled, seen)
        if not any(each.observation.population != 0 for each in seen):
            doubts.insert(0, nothing(compiled))
    return Observed(tuple(seen), tuple(dict.fromkeys(notices + doubts)), tuple(doubts))


def _asked(graph: Graph, request: Request, notices: list[str]) -> Symptom:
    """Return the symptom of an outcome query; what is odd about its rows goes to the notices."""
    where = request.outcome or ""
    at = None if request.at is None else Decimal(str(request.at))
    constraint = outcome_symptom(
        _text(where, request), graph, at, where=where, seconds=request.query_seconds
    )
    seen = Symptom(constraint, observe(graph, constraint, seconds=request.query_seconds))
    everyone = constraint.population or 0
    if constraint.torn:
        notices.append(
            f"{where}: for {constraint.torn:,} of {everyone:,} "
            "nodes ?outcome is both true and false; they are taken to have the outcome. Where "
            "any row may make it true, say so with EXISTS, so that each node has one row."
        )
    if len(seen.observation.failing) == everyone:
        notices.append(
            f"{where}: all {everyone:,} nodes have the outcome, so there are none to compare them "
            "with. Let the query give the others, too, with ?outcome false."
        )
    return seen


def _doubts(graph: Graph, compiled: Compiled, seen: Iterable[Symptom]) -> list[str]:
    found = missing(graph, compiled, (s.constraint for s in seen if s.observation.failing))
    return [] if found is None else [found]


def compiled_elsewhere(request: Request, graph: Graph, counts: Counts) -> Compiled:
    """Compile what a request asks for a graph of which `counts` counts the nodes.

    Of a report this has what it says of each constraint; nobody is validated.
    """
    if request.outcome:
        at = None if request.at is None else Decimal(str(request.at))
        text = _text(request.outcome, request)
        return Compiled((outcome_elsewhere(text, graph, at, counts, request.outcome),), (), [])
    notices: list[str] = []
    checked = bool(request.shapes or request.axioms)
    compiled = _compiled(graph, request, notices, counts) if checked else None
    if compiled is not None and not request.violations:
        return replace(compiled, notices=notices)
    seen = _reported(graph, request, compiled, notices, counts)
    return Compiled(
        tuple(one.constraint for one in seen),
        (),
        notices,
        reported={one.constraint.key: one.observation for one in seen},
    )


def _tried(graph: Graph, request: Request, extract: Extract, symptom: Symptom) -> Symptom:
    """Return the symptom of an outcome query with what trials on an extract show that it asks."""
    constraint, failing = symptom.constraint, symptom.observation.failing
    asked, name = extract.asked(constraint.key), request.outcome or ""
    if asked is None or not failing:
        return symptom
    outcomes: dict[Term, bool] = {}
    for iri in extract.lists[asked.members]:
        node = NamedNode(iri)
        outcomes[node] = node in failing
    given = (_text(name, request), graph, outcomes, request.query_seconds, name)
    return replace(symptom, constraint=tried(constraint, *given))


def _compiled(
    graph: Graph, request: Request, notices: list[str], counts: Counts | None = None
) -> Compiled:
    """Compile the shapes and the axioms of a request; `only` has to fit one of the two."""
    makers = [make for given, make in _MAKERS if getattr(request, given)]
    made: list[Compiled] = []
    errors: list[ShapesError] = []
    for make in makers:
        try:
            made.append(make(graph, request, notices, counts))
        except ShapesError as error:
            if request.only is None:
                raise
            errors.append(error)
    if not made:
        raise errors[0]
    return made[0] if len(made) == 1 else _together(*made)


def _together(shapes: Compiled, axioms: Compiled) -> Compiled:
    return replace(
        shapes,
        constraints=(*shapes.constraints, *axioms.constraints),
        empty=shapes.empty + axioms.empty,
        unmet=(*shapes.unmet, *axioms.unmet),
    )


def _of_axioms(
    graph: Graph, request: Request, notices: list[str], counts: Counts | None = None
) -> Compiled:
    paths = [Path(p) for p in request.axioms]
    axioms = read_axioms(paths, most=request.max_bytes, objects=request.objects)
    severity = _severity(request.severity)
    compiled = compile_axioms(axioms, graph, severity=severity, only=request.only, counts=counts)
    notices += compiled.notices
    return compiled


def _of_shapes(
    graph: Graph, request: Request, notices: list[str], counts: Counts | None = None
) -> Compiled:
    paths = [Path(p) for p in request.shapes]
    shapes = read_shapes(paths, most=request.max_bytes, objects=request.objects)
    named = ", ".join(request.shapes)
    severity = _severity(request.severity)
    with _not_too_deep(named):
        compiled = compile_shapes(
            shapes, graph, severity=severity, only=request.only, counts=counts
        )
    notices += compiled.notices
    if request.strict and compiled.ill_formed:
        raise ShapesError(
            f"{named}: {len(compiled.ill_formed)} shapes or parameters are ill-formed, and "
            f"--strict was given; the first: {compiled.ill_formed[0]}"
        )
    if not compiled.constraints and not compiled.fallback and not compiled.notices:
        raise ShapesError(
            f"{named}: no constraint is left to check; "
            "are these SHACL shapes, and do --severity and --only fit them?"
        )
    return compiled


_MAKERS: Final = (("shapes", _of_shapes), ("axioms", _of_axioms))


@contextmanager
def _not_too_deep(named: str) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise ShapesError(
            f"{named}: shapes or paths are nested too deeply to be checked; give the inner ones "
            "IRIs and targets of their own."
        ) from error


def _severity(name: str | None) -> NamedNode | None:
    """Return a severity by its IRI or, for those of SHACL, by its name in any case."""
    if name is None:
        return None
    known = {s.lower(): SH[s] for s in ("Violation", "Warning", "Info", "Debug", "Trace")}
    found = known.get(name.lower().removeprefix("sh:"))
    if found is None and ":" not in name:
        raise OptionError(f"--severity {name}: give violation, warning, info, or an IRI.")
    return found or NamedNode(name.strip("<>"))


def _checked(
    graph: Graph, compiled: Compiled, request: Request, notices: list[str]
) -> Iterator[Symptom]:
    found: Iterable[tuple[Constraint, Observation | KgreasonError]] = observe_all(
        graph, compiled.constraints, seconds=request.query_seconds
    )
    elsewhere = observe_fallback(graph, compiled, seconds=request.query_seconds)
    for constraint, outcome in (*found, *elsewhere):
        if isinstance(outcome, KgreasonError):
            told = str(outcome).removesuffix(".")
            notices.append(f"{constraint.label}: {told}. It is passed over.")
        elif graph.lost and rests_on_forms(graph, constraint, outcome):
            notices.append(
                f"{constraint.label}: it looks at how literals are written, and a store has "
                "rewritten the literals of nodes that fail it, so that may be no fault of the "
                "data. It is passed over; give the files that the store was made of."
            )
        else:
            inside = inner_rules(graph, constraint, outcome, request.query_seconds)
            if inside is not None:
                notices.append(inside.told)
                constraint = replace(constraint, inner=inside.broken)  # noqa: PLW2901
            yield Symptom(constraint, outcome)


def _reported(
    graph: Graph,
    request: Request,
    compiled: Compiled | None,
    notices: list[str],
    counts: Counts | None = None,
) -> list[Symptom]:
    file = Path(request.violations or "")
    population = _text(request.population, request) if request.population else None
    with _not_too_deep(str(file)):
        report = read_report(
            file,
            graph,
            compiled=compiled,
            population=population,
            seconds=request.query_seconds,
            most=request.max_bytes,
            objects=request.objects,
            counts=counts,
        )
    notices += report.notices
    return [Symptom(constraint, observed) for constraint, observed in report.seen]


def _text(path: str, request: Request) -> str:
    given = request.objects.get(path)
    try:
        return given.content.decode() if given else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"{path}: the query cannot be read ({error}).") from error
