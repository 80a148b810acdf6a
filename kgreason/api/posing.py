"""Ask an open question: what it may mean on a graph, and the investigation of what is meant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgreason.api.asking import brought, investigate
from kgreason.graph.given import Sources
from kgreason.model.choosing import choose
from kgreason.model.opening import model_of
from kgreason.observe.opening import Notice, Progress
from kgreason.observe.question import Offered
from kgreason.observe.request import Request
from kgreason.planner.question_readings import (
    UnreadError,
    asks_for_a_look,
    outcome_file,
    readings_of,
)
from kgreason.record.model_calls import ModelCall
from kgreason.report.result import Result

__all__ = ["UnreadError", "ask", "asks_for_a_look", "chosen_by_model", "readings"]


def readings(
    question: str,
    data: Sources,
    *,
    shapes: Sources = (),
    ontology: Sources = (),
    lenient: bool = False,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> list[Offered]:
    """Return what a question may mean: symptoms of the shapes first, then outcome queries.

    Raises UnreadError where no name in the graph has a word with the question in common.
    """
    named, objects = brought({"data": data, "shapes": shapes, "ontology": ontology})
    return readings_of(
        question, Request(**named, lenient=lenient, objects=objects), progress, notice
    )


def chosen_by_model(
    question: str, offered: Sequence[Offered], **options: Any
) -> tuple[int, tuple[ModelCall, ...]]:
    """Return the place of the reading that a model chooses, and its calls, to be given to `ask`.

    `options` are those of `investigate` that are about the model.
    """
    client, spending = model_of(Request((), **options))
    return choose(client, spending, question, offered)


def ask(
    question: str,
    data: Sources,
    offered: Offered,
    *,
    folder: str | Path,
    shapes: Sources = (),
    calls: Sequence[ModelCall] = (),
    **options: Any,
) -> Result:
    """Investigate one reading of a question; gives the same result as `investigate`.

    An outcome query is written to `folder`, so that the run can be resumed and repeated. `options`
    are those of `investigate`.
    """
    if offered.suspected:
        options["hypotheses"] = [*options.get("hypotheses", ()), *offered.suspected]
    if offered.only or offered.every:
        only = offered.only or None
        return investigate(
            data, shapes=shapes, only=only, question=question, earlier=calls, **options
        )
    file = outcome_file(offered, Path(folder))
    return investigate(data, outcome=file, question=question, earlier=calls, **options)
