"""Refine open hypotheses: find a narrower or wider region on the discovery half."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.figures import integer
from kgreason.base.statistics import Table
from kgreason.base.templates import Template, Value, role, template
from kgreason.context.view import View
from kgreason.hypothesize.bindings import joined
from kgreason.hypothesize.candidates import Candidate, counted, filled, regions
from kgreason.hypothesize.conditions.seam import WRITTEN
from kgreason.hypothesize.conjunctions import BETTER, meet
from kgreason.hypothesize.filters import worth_a_test

_MOST_PARTS: Final = integer("mostParts")
_NOTHING: Final = Table(0, 0, 0, 0)
_ADD, _DROP = "add-condition", "drop-condition"


def variants(view: View, parent: Candidate, others: Sequence[Candidate]) -> Iterator[Candidate]:
    """Return revisions of a hypothesis; `others` are candidates that may become a condition.

    What the search in conditions found is as tight as pays, and no half is left that could test a
    revision of it.
    """
    if WRITTEN in parent.values:
        return
    yield from _narrower(view, parent, others)
    yield from _wider(view, parent)
    yield from _asked(view, parent)


def refined(
    view: View,
    parent: Candidate,
    revisions: Iterable[Candidate],
    known: Callable[[Candidate], bool],
) -> Candidate | None:
    """Return the best of several revisions of a hypothesis, or None if none is worth a test.

    `known` says whether a candidate was proposed before.
    """
    better = [
        v
        for v in revisions
        if v.members != parent.members and not known(v) and worth_a_test(view, v)
    ]
    return max(better, key=lambda v: (round(v.score, 6), v.region.text), default=None)


def _narrower(view: View, parent: Candidate, others: Sequence[Candidate]) -> Iterator[Candidate]:
    """Return the parent with one more condition, if the pair scores far better than each alone."""
    parts = parent.parts or (parent,)
    if parent.is_mechanism or len(parts) >= _MOST_PARTS:
        return
    taken = {part.values.get("dimension") for part in parts}
    singles = {part.key: part for other in others for part in (other.parts or (other,))}
    for other in singles.values():
        if other.is_mechanism or WRITTEN in other.values:
            continue
        if other.values.get("dimension") in taken:
            continue
        joint = meet(view, parent, other)
        if joint is not None:
            yield replace(joint, way=_ADD)


def _wider(view: View, parent: Candidate) -> Iterator[Candidate]:
    """Return the parent without one condition, if it claims more and scores nearly as well."""
    for left_out in parent.parts:
        parts = tuple(part for part in parent.parts if part is not left_out)
        made = filled(view, joined(parts) if len(parts) > 1 else parts[0])
        if made.share > parent.share and made.score > parent.score - BETTER:
            yield replace(made, way=_DROP)


def _asked(view: View, parent: Candidate) -> Iterator[Candidate]:
    """Return the variants that the templates of `queries/refine/` give, if they score better."""
    if parent.parts:
        return
    for asking in role("refine").values():
        if parent.family.name in asking.header["of"].split():
            for variant in _variants(view, parent, asking):
                if variant.score > parent.score:
                    yield replace(variant, way=asking.header["way"])


def _variants(view: View, parent: Candidate, asking: Template) -> Iterator[Candidate]:
    family = template("hypothesize", asking.header.get("into", parent.family.name))
    offered: dict[str, Value] = dict(
        view.values(view.split(parent.family), view.read_as(parent.family, parent.values))
    )
    terms = parent.values.items()
    offered.update({name: t for name, t in terms if isinstance(t, NamedNode | Literal)})
    if not all(_fits(asking, name, offered) for name in asking.parameters):
        return
    text = asking.render(**{name: offered[name] for name in asking.parameters})
    for row in view.graph.store.select(text):
        made = Candidate(family, row, _NOTHING, *regions(family, row, view))
        yield counted(view, filled(view, made))


def _fits(asking: Template, name: str, offered: dict[str, Value]) -> bool:
    """Check whether a value is given for a parameter and has its type."""
    if name not in offered:
        return False
    kind = asking.parameters[name].type
    return kind not in {"iri", "literal"} or isinstance(
        offered[name], NamedNode if kind == "iri" else Literal
    )
