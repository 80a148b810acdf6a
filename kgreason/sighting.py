"""What is wrong with a graph: every constraint or outcome query, with who fails it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgreason.errors import ShapesError, TimeoutExceeded
from kgreason.graph import Graph
from kgreason.symptoms import Constraint, Observation, compile_shapes, observe, read_shapes

if TYPE_CHECKING:
    from kgreason.api import Request


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


def look(graph: Graph, request: "Request") -> Sighting:
    """Look at a graph as a request asks; raises ShapesError if no shape is of use."""
    notices: list[str] = []
    seen = list(_shapes(graph, request, notices))
    return Sighting(tuple(seen), tuple(notices))


def _shapes(graph: Graph, request: "Request", notices: list[str]) -> Iterator[Seen]:
    shapes = read_shapes([Path(p) for p in request.shapes])
    compiled = compile_shapes(shapes, graph, severity=request.severity, only=request.only)
    notices += compiled.notices
    if not compiled.constraints and not compiled.fallback:
        raise ShapesError(
            f"{', '.join(request.shapes)}: no constraint is left to check; "
            "are these SHACL shapes, and do --severity and --only fit them?"
        )
    for constraint in compiled.constraints:
        try:
            yield Seen(constraint, observe(graph, constraint, seconds=request.query_seconds))
        except TimeoutExceeded as error:
            notices.append(f"{error} It is passed over.")
