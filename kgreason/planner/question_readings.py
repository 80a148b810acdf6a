"""What a question may mean for an investigation, and where the outcome query of a reading is."""

import hashlib
from dataclasses import replace
from pathlib import Path

from kgreason.base.errors import OptionError, QueryError
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.observe.opening import Notice, Progress, load_graph, seen
from kgreason.observe.question import MOST, Offered, at_hand, complete, outcomes, stems
from kgreason.observe.request import Request
from kgreason.planner.asked_factor import Linked, linked, names_anything, suggestion


def readings_of(
    question: str,
    request: Request,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> list[Offered]:
    """Return what a question may mean: symptoms of the shapes first, then outcome queries.

    Where the question links an outcome with something else, readings are of the outcome, and each
    has a suggestion about what it is linked with. Raises OptionError where no name in the graph has
    a word with the question in common.
    """
    if request.shapes:
        graph, observed = seen(request, progress, notice)
    else:
        graph, observed = load_graph(request), None
    sides = linked(question)
    found, factor = _of_sides(sides, graph, observed) if sides is not None else ([], "")
    if not found:
        found, factor = _offered(question, graph, observed), ""
    held = complete(question, graph)
    if held is not None and (not found or held.score > found[0].score):
        raise OptionError(
            f"{question!r}: nothing is lacking there; {held.words}. Use the words of the graph, or "
            "say the outcome by a query, with `kgreason investigate --outcome FILE`."
        )
    if not found:
        raise OptionError(
            f"{question!r}: no class, property or value in the data is called by a word of this "
            "question; use the words of the graph, or say the outcome by a query, with "
            "`kgreason investigate --outcome FILE`."
        )
    if not names_anything(factor):
        return found[:MOST]
    return [_suspecting(one, factor, graph) for one in found[:MOST]]


def _of_sides(sides: Linked, graph: Graph, observed: Observed | None) -> tuple[list[Offered], str]:
    """Return the readings of the outcome of a question, and the words of its factor."""
    found = _offered(sides.outcome, graph, observed)
    turned = _offered(sides.factor, graph, observed) if sides.either else []
    if turned and (not found or _odd(turned[0]) > _odd(found[0])):
        return turned, sides.outcome
    return found, sides.factor


def _odd(one: Offered) -> tuple[bool, int]:
    """Return how much a reading sounds like an outcome: one that says what is odd comes first."""
    return one.cued or bool(one.only), one.score


def _offered(question: str, graph: Graph, observed: Observed | None) -> list[Offered]:
    return [
        *(at_hand(question, graph, observed) if observed is not None else ()),
        *outcomes(question, graph),
    ]


def _suspecting(one: Offered, factor: str, graph: Graph) -> Offered:
    found = suggestion(factor, one.classes, graph)
    unread = " ".join(word for word in factor.split() if stems(word))
    return replace(one, suspected=found, unread=unread if found is None else "")


def outcome_file(offered: Offered, folder: Path) -> Path:
    """Write the outcome query of a reading to a file of a folder, named by its digest."""
    name = hashlib.sha256(offered.query.encode()).hexdigest()[:12]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.rq"
        file.write_text(f"# {offered.words}\n{offered.query}", encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{folder}: the query cannot be written ({error.strerror}).") from error
    return file
