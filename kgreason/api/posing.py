"""Ask an open question: what it may mean on a graph, and the investigation of what is meant."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgreason.api.asking import brought, investigate
from kgreason.base.errors import OptionError, QueryError
from kgreason.graph.given import Sources
from kgreason.model.choosing import choose
from kgreason.model.opening import model_of
from kgreason.observe.opening import Notice, Progress, load_graph, seen
from kgreason.observe.question import MOST, Offered, at_hand, outcomes
from kgreason.observe.request import Request
from kgreason.record.model_calls import ModelCall
from kgreason.report.result import Result


def readings(
    question: str,
    data: Sources,
    *,
    shapes: Sources = (),
    ontology: Sources = (),
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> list[Offered]:
    """Return what a question may mean: symptoms of the shapes first, then outcome queries.

    Raises OptionError where no name in the graph has a word with the question in common.
    """
    found: list[Offered] = []
    named, objects = brought({"data": data, "shapes": shapes, "ontology": ontology})
    request = Request(**named, objects=objects)
    if request.shapes:
        graph, observed = seen(request, progress, notice)
        found += at_hand(question, observed)
    else:
        graph = load_graph(request)
    found += outcomes(question, graph)
    if not found:
        raise OptionError(
            f"{question!r}: no class, property or value in the data is called by a word of this "
            "question; use the words of the graph, or say the outcome by a query, with "
            "`kgreason investigate --outcome FILE`."
        )
    return found[:MOST]


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
    if offered.only:
        return investigate(
            data, shapes=shapes, only=offered.only, question=question, earlier=calls, **options
        )
    file = outcome_file(offered, Path(folder))
    return investigate(data, outcome=file, question=question, earlier=calls, **options)


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
