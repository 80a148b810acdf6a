"""Regions as anyone can ask for them in the data, however these are loaded.

Inside kgreason the data are merged, literals are kept as they were written, and malformed IRIs are
mended; a region that is handed out must need none of that, or say so.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS
from kgreason.graph import Graph
from kgreason.shacl.anywhere import (
    Anywhere,
    UnspreadableError,
    flat,
    in_plain,
    mentions,
    names_sources,
)
from kgreason.shacl.constraint import Constraint
from kgreason.shacl.exists_joins import once

_NEEDS: Final = ("named graphs", "merged data", "literals as written")


@dataclass(frozen=True)
class Located:
    """A region as queries for ?focus.

    `anywhere` is for a store with the data in named graphs, in the default graph, or partly so;
    `plain`, without GRAPH, for data in one graph; None for a region that is about sources. `needs`
    says what the first needs beyond all triples, as text; None where that is enough.
    """

    anywhere: str
    plain: str | None
    needs: str | None


def located(
    constraint: Constraint, graph: Graph, regions: Sequence[Fragment], *, forms: bool = False
) -> Located:
    """Return the queries for the nodes of the population that are in all of some regions.

    `forms` says that the region is made of literals as they were written.
    """
    target, regions = (constraint.asked or constraint.portable).target, [*map(flat, regions)]
    if constraint.component == TRAILS.OutcomeQuery:
        target = Fragment(once(target.text), target.prefixes)
    sources = any(names_sources(region) for region in regions)
    writer = Anywhere(lambda query: _found(graph, query), graph.mended)
    merged = False
    try:
        spread = [writer.over(pattern) for pattern in (target, *regions)]
    except UnspreadableError:
        merged = True
    plain = in_plain(writer)
    simple = [
        plain.over(pattern) if mentions(pattern, graph.mended) else pattern
        for pattern in (target, *regions)
    ]
    literals = constraint.aim is None or constraint.aim.may_be_literal

    def query(patterns: Sequence[Fragment], *, merged: bool) -> str:
        return template("context", "region").render(
            target=patterns[0],
            regions=list(patterns[1:]),
            literals=literals,
            sources=sources,
            merged=merged,
            forms=forms,
        )

    return Located(
        query(simple if merged else spread, merged=merged),
        None if sources else query(simple, merged=False),
        ", ".join(itertools.compress(_NEEDS, (sources, merged, forms))) or None,
    )


def _found(graph: Graph, query: str) -> list[str]:
    return [str(row["end"]) for row in graph.store.select(query)]
