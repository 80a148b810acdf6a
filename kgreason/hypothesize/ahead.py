"""What the engine's own proposers find of several symptoms, worked out in processes side by side.

To look for candidates only reads the graph, and takes most of the time of an investigation. So with
several jobs it is done ahead of the loop, which takes one symptom after the other, asks for what
was found, and alone writes. What is found is the same whoever looked for it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from kgreason.base.workers import Workers, side_by_side
from kgreason.context.view import View
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.conditions import seam
from kgreason.hypothesize.proposer import ENGINE, Proposer, suggested

_READY: Final = "ahead"


@dataclass(frozen=True)
class Mined:
    """What proposers found on a view, by the IRI of each, and what was learned on the way.

    `known` are the nodes of regions, `kept` what the search keeps for those who ask after it.
    """

    found: dict[str, list[Candidate]]
    known: dict[str, int]
    kept: dict[str, Any]


@contextmanager
def ahead(views: Sequence[View], proposers: Sequence[Proposer], jobs: int) -> Iterator[None]:
    """Let so many processes look for candidates on some views, of one context, within."""
    own = [each for each in proposers if isinstance(each, ENGINE)]
    if not own or not side_by_side(len(views), jobs):
        yield
        return
    kept = views[0].kept
    with Workers([partial(_mined, view, own) for view in views], jobs) as workers:
        kept[_READY] = {_name(view): place for place, view in enumerate(views)}, workers
        try:
            yield
        finally:
            del kept[_READY]


def candidates_of(view: View, proposer: Proposer) -> list[Candidate]:
    """Return what a proposer suggests on a view, as candidates that name it."""
    if isinstance(proposer, ENGINE) and _READY in view.kept:
        places, workers = cast("tuple[dict[str, int], Workers[Mined]]", view.kept[_READY])
        place = places.pop(_name(view), None)
        if place is not None:
            _take(view, workers.result(place))
    taken = view.kept.get(f"{_READY}:{_name(view)}")
    if isinstance(proposer, ENGINE) and isinstance(taken, dict):
        found: list[Candidate] | None = taken.pop(proposer.agent.iri.value, None)
        if found is not None:
            return found
    return list(suggested(view, proposer))


def _take(view: View, mined: Mined) -> None:
    view.kept[f"{_READY}:{_name(view)}"] = mined.found
    view.kept.update(mined.kept)
    for name, nodes in mined.known.items():
        view.known.setdefault(name, nodes)


def _mined(view: View, proposers: Sequence[Proposer]) -> Mined:
    before = set(view.known)
    found = {each.agent.iri.value: list(suggested(view, each)) for each in proposers}
    known = {name: nodes for name, nodes in view.known.items() if name not in before}
    return Mined(found, known, seam.kept(view))


def _name(view: View) -> str:
    return view.marks.failing.value
