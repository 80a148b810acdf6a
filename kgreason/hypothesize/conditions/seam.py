"""From what the search finds to candidates, framed, tested and challenged like all others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyoxigraph import Literal

from kgreason.base.statistics import Table
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, Template, role, template
from kgreason.base.terms import RDF
from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.hypothesize.candidates import Candidate, both
from kgreason.hypothesize.conditions.cuts import Condition
from kgreason.hypothesize.conditions.language import read, written
from kgreason.hypothesize.conditions.search import Found, atlas_of, explore

WRITTEN: Final = "conditions"
"""The name under which a candidate keeps its conditions, as JSON."""
_FAMILY: Final = "condition-"
_NOTHING: Final = Table(0, 0, 0, 0)


def candidates(view: View, most: int) -> list[Candidate]:
    """Return the best that the search finds on the discovery half; counts are not filled in.

    Halves are those that whole clusters go to. What is wrong with the constrained value itself is
    left to the families that check it directly.
    """
    half = view.marks.cluster.first
    explored = explore(view, atlas=atlas_of(view, half=half))
    ranked = [each for found in explored.found for each in (found, *found.rivals[:1])]
    made = [_candidate(found) for found in ranked if found.told and _family(found) is not None]
    return made[:most]


def _family(found: Found) -> Template | None:
    return role("hypothesize").get(_FAMILY + found.kind)


def _candidate(found: Found) -> Candidate:
    family = template("hypothesize", _FAMILY + found.kind)
    return remade(family, conditions_of(found.parts))


def conditions_of(parts: Sequence[Condition]) -> Mapping[str, Term]:
    """Return conditions as the values of a candidate, from which `remade` makes it."""
    text = json.dumps(written(parts), ensure_ascii=False, sort_keys=True)
    return {WRITTEN: Literal(text, datatype=RDF.JSON)}


def remade(family: Template, values: Mapping[str, Term]) -> Candidate:
    """Make a candidate of its conditions as JSON; its counts are not filled in."""
    parts = _parts(values)
    region = _joined(part.region for part in parts)
    return Candidate(family, values, _NOTHING, region, _joined(part.pattern for part in parts))


def told(values: Mapping[str, Term], names: Names) -> dict[str, str]:
    """Return the words for the conditions of a candidate, for the sentences of its family."""
    if WRITTEN not in values:
        return {}
    return {"condition": "Nodes " + " and ".join(part.words(names) for part in _parts(values))}


def _parts(values: Mapping[str, Term]) -> tuple[Condition, ...]:
    return read(json.loads(values[WRITTEN].value))


def _joined(regions: Iterator[Fragment]) -> Fragment:
    made = next(regions)
    for region in regions:
        made = both(made, region)
    return made
