"""What is wrong with a graph: every constraint or outcome query, with who fails it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pyoxigraph import NamedNode

from kgreason.errors import KgreasonError, OptionError, QueryError, ShapesError
from kgreason.graph import Graph
from kgreason.request import Request
from kgreason.symptoms import (
    Compiled,
    Constraint,
    Observation,
    compile_shapes,
    observe,
    observe_all,
    observe_fallback,
    outcome_symptom,
    read_report,
    read_shapes,
)
from kgreason.terms import SH


@dataclass(frozen=True)
class Seen:
    """A constraint and what was observed of it."""

    constraint: Constraint
    observation: Observation


@dataclass(frozen=True)
class Sighting:
    """All that was looked at, and what there is to say of it."""

    seen: tuple[Seen, ...]
    notices: tuple[str, ...]

    @property
    def failing(self) -> list[Seen]:
        """What somebody fails, the most failures first."""
        bad = [s for s in self.seen if s.observation.failing]
        return sorted(bad, key=lambda s: (-len(s.observation.failing), s.constraint.key))


def look(graph: Graph, request: Request) -> Sighting:
    """Look at a graph as a request asks; raises ShapesError if no shape is of use."""
    notices: list[str] = []
    if request.outcome:
        text = _text(Path(request.outcome))
        at = None if request.at is None else Decimal(str(request.at))
        constraint = outcome_symptom(
            text, graph, at, where=request.outcome, seconds=request.query_seconds
        )
        seen = [Seen(constraint, observe(graph, constraint, seconds=request.query_seconds))]
    elif request.violations:
        seen = _reported(graph, request, Path(request.violations), notices)
    else:
        seen = list(_checked(graph, _compiled(graph, request, notices), request, notices))
    return Sighting(tuple(seen), tuple(dict.fromkeys(notices)))


def _compiled(graph: Graph, request: Request, notices: list[str]) -> Compiled:
    shapes = read_shapes([Path(p) for p in request.shapes])
    compiled = compile_shapes(
        shapes, graph, severity=_severity(request.severity), only=request.only
    )
    notices += compiled.notices
    named = ", ".join(request.shapes)
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


def _severity(name: str | None) -> NamedNode | None:
    """Give a severity by its IRI or, for those of SHACL, by its name in any case."""
    if name is None:
        return None
    known = {s.lower(): SH[s] for s in ("Violation", "Warning", "Info", "Debug", "Trace")}
    found = known.get(name.lower().removeprefix("sh:"))
    if found is None and ":" not in name:
        raise OptionError(f"--severity {name}: give violation, warning, info, or an IRI.")
    return found or NamedNode(name.strip("<>"))


def _checked(
    graph: Graph, compiled: Compiled, request: Request, notices: list[str]
) -> Iterator[Seen]:
    found: Iterable[tuple[Constraint, Observation | KgreasonError]] = observe_all(
        graph, compiled.constraints, seconds=request.query_seconds
    )
    elsewhere = observe_fallback(graph, compiled, seconds=request.query_seconds)
    for constraint, outcome in (*found, *elsewhere):
        if isinstance(outcome, KgreasonError):
            notices.append(f"{constraint.label}: {outcome} It is passed over.")
        else:
            yield Seen(constraint, outcome)


def _reported(graph: Graph, request: Request, file: Path, notices: list[str]) -> list[Seen]:
    compiled = _compiled(graph, request, notices) if request.shapes else None
    population = _text(Path(request.population)) if request.population else None
    report = read_report(
        file, graph, compiled=compiled, population=population, seconds=request.query_seconds
    )
    notices += report.notices
    return [Seen(constraint, observed) for constraint, observed in report.seen]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"{path}: the query cannot be read ({error}).") from error
