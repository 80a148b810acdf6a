"""Sources that fail as wholes: where nothing inside them differs, there is nothing to compare."""

from typing import Final

from kgreason.base.figures import figure, integer
from kgreason.base.statistics import intraclass
from kgreason.base.templates import template
from kgreason.context.view import View

_ALIKE: Final = figure("wholeSourceIcc")
_MANY: Final = integer("manySources")
_PAIR: Final = 2


def whole_sources(view: View) -> int | None:
    """Return how many sources there are, where each of few fails wholly or not at all.

    Nearly all of the variance of failing then lies between sources: what sets them apart may be
    anything that differs from source to source. None elsewhere, and where sources are many, so
    that they can be compared with one another. Sources with one node say nothing.
    """
    text = template("context", "by-source").render(
        population=view.marks.everyone, symptom=view.marks.failing
    )
    rows = view.graph.store.select(text)
    found = [(int(row["failing"].value), int(row["nodes"].value)) for row in rows]
    groups = [(failing, nodes) for failing, nodes in found if nodes >= _PAIR]
    if not _PAIR <= len(groups) < _MANY:
        return None
    wholly = any(2 * failing > nodes for failing, nodes in groups)
    return len(groups) if wholly and intraclass(groups) >= _ALIKE else None
