"""What a question may mean for an investigation, and where the outcome query of a reading is."""

import hashlib
from pathlib import Path

from kgreason.base.errors import OptionError, QueryError
from kgreason.observe.opening import Notice, Progress, load_graph, seen
from kgreason.observe.question import MOST, Offered, at_hand, outcomes
from kgreason.observe.request import Request


def readings_of(
    question: str,
    request: Request,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> list[Offered]:
    """Return what a question may mean: symptoms of the shapes first, then outcome queries.

    Raises OptionError where no name in the graph has a word with the question in common.
    """
    found: list[Offered] = []
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
