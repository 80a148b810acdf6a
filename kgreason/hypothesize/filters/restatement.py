"""Restatement: an origin that only renames the form in which nodes fail is no second cause."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import ClassVar, Final

from pyoxigraph import Literal, NamedNode

from kgreason.base.figures import figure
from kgreason.base.templates import Fragment
from kgreason.context.view import View, members
from kgreason.hypothesize.candidates import Candidate, Key
from kgreason.hypothesize.conditions.seam import led_to, spoken_of, through_value
from kgreason.hypothesize.filters.filter import Dropped, Figure, Filter, Round, Sifted
from kgreason.hypothesize.filters.ranks import best_first
from kgreason.hypothesize.overlaps import contained_in, jaccard, overlap
from kgreason.hypothesize.several import entries
from kgreason.record.joined import NEARLY

_SAME: Final = figure("restatedOverlap")
_COVERS: Final = figure("restatedShare")
_OVERLAP: Final = figure("restatedApart")
_WHERE: Final = frozenset({"source", "drift"})
"""Kinds of cause that say where failures come from."""
_ABOUT: Final = ("dimension", "via")
_OF_VALUES: Final = frozenset({"value", "datatype", "reference"})
"""Kinds of mechanism that say what is wrong with the values of a property."""


class Restatement(Filter):
    """Drop an origin that tells nothing beyond a mechanism that is proposed.

    The best source or date that holds nearly all failures of a mechanism is kept all the same: it
    says where they come from, and is told with the mechanism. So is one value of a property that
    nearly all nodes have, such as the collection that they belong to. Not so one that is about the
    property of the mechanism. A mechanism of a family that an earlier round found wanting drops no
    origin: where one surplus property goes along with the failures by chance, others do as well.
    """

    name: ClassVar[str] = "restatement"
    reason: ClassVar[str] = "It only says in other words how the nodes of a mechanism fail."

    def __call__(self, view: View, candidates: Sequence[Candidate], round_: Round, /) -> Sifted:
        """Return the candidates that are kept, and those that are dropped with their figures."""
        doubted = {name for name, _ in round_.found_wanting}
        mechanisms = [c for c in candidates if c.is_mechanism and c.family.name not in doubted]
        kept: list[Candidate] = []
        dropped = []
        places = _places(view, candidates, mechanisms)
        for candidate in candidates:
            spared = candidate.is_mechanism or candidate.key in places
            of_value = through_value(view, candidate.values)
            found = None if spared else _restated(candidate, mechanisms, of_value=of_value)
            if found is None:
                kept.append(candidate)
            else:
                dropped.append(Dropped(candidate, self, *found))
        return Sifted(kept, dropped)


def _places(
    view: View, candidates: Sequence[Candidate], mechanisms: Sequence[Candidate]
) -> set[Key]:
    """Return for each mechanism the best place that holds nearly all of its failures."""
    out = set()
    for mechanism in mechanisms:
        fitting = [
            c
            for c in candidates
            if not c.is_mechanism
            and not c.parts
            and is_place(view, c)
            and not _about_it(c, mechanism)
            and contained_in(mechanism, c) >= NEARLY
        ]
        if fitting:
            out.add(min(fitting, key=best_first).key)
    return out


def is_place(view: View, candidate: Candidate) -> bool:
    """Check whether a candidate says where nodes come from: a source, a time, a namespace.

    So does one value of a property that nearly all nodes have.
    """
    header = candidate.family.header
    return header["kind"] in _WHERE or "place" in header or _belongs(view, candidate)


def _belongs(view: View, candidate: Candidate) -> bool:
    """Check whether a candidate is one value of a property that nearly all nodes have.

    Or of what a property leads to, such as the system of the museum that they belong to. What few
    but the failing nodes have at all is a sign of the failure, and no place of it. Nor is a place
    where nodes are that have not this value, or another one.
    """
    if (having := led_to(view, candidate.values)) is not None:
        everyone = view.marks.population.everyone
        nearly_all = (having & everyone).bit_count() >= NEARLY * everyone.bit_count()
        return nearly_all and not through_value(view, candidate.values)
    dimension, level = (candidate.values.get(name) for name in ("dimension", "level"))
    if not isinstance(dimension, NamedNode) or not isinstance(level, NamedNode | Literal):
        return False
    via = candidate.values.get("via")
    path = f"{via}/{dimension}" if isinstance(via, NamedNode) else f"{dimension}"
    having = members(view, Fragment(f"?focus {path} ?any1 ."))
    with_it = members(view, Fragment(f"?focus {path} {level} ."))
    everyone = view.marks.population.everyone
    nearly_all = (having & everyone).bit_count() >= NEARLY * everyone.bit_count()
    return nearly_all and not candidate.members & everyone & ~with_it


def paid_apart(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that pay for their length and do not only rename a mechanism among them.

    What only renames one takes the place of nothing: it is not told itself.
    """
    mechanisms = [c for c in candidates if c.is_mechanism]
    return [c for c in candidates if c.paid and not renames(c, mechanisms)]


def renames(origin: Candidate, mechanisms: Sequence[Candidate]) -> bool:
    """Check whether an origin is a mechanism under another name: its nodes, or its property."""
    same = any(jaccard(origin, mechanism) >= _SAME for mechanism in mechanisms)
    return same or retells(origin, mechanisms)


def retells(origin: Candidate, mechanisms: Sequence[Candidate]) -> bool:
    """Check whether an origin is about the property of a mechanism that claims its failures."""
    return any(
        _about_it(origin, mechanism) and contained_in(origin, mechanism) >= _COVERS
        for mechanism in mechanisms
    )


def _about_it(origin: Candidate, mechanism: Candidate) -> bool:
    """Check whether an origin is about the property of a mechanism, or that of its conditions.

    Where values are wrong themselves, what they are or are called is no place of theirs. Where an
    outcome asks for a class, the class that nodes have instead is none either.
    """
    level = mechanism.values.get("level")
    about: set[object] = {level, *spoken_of(mechanism.values)}
    of_values = mechanism.family.header["kind"] in _OF_VALUES
    if of_values or (level is not None and level == origin.values.get("level")):
        about.add(mechanism.values.get("dimension"))
    if "levels" in mechanism.values:
        about |= {term for term, _ in entries(mechanism.values["levels"])}
    about.discard(None)
    parts = origin.parts or (origin,)
    named = {p.values.get(name) for p in parts for name in _ABOUT}
    return bool(about & named.union(*(spoken_of(p.values) for p in parts)))


def _restated(
    origin: Candidate, mechanisms: Sequence[Candidate], *, of_value: bool
) -> tuple[Figure, Candidate] | None:
    found = ((_restates(origin, m, of_value=of_value), m) for m in mechanisms)
    one = next(((figure, m) for figure, m in found if figure is not None), None)
    pays = origin.paid and not of_value
    return one or (None if pays else _told_in_parts(origin, mechanisms))


def _told_in_parts(
    origin: Candidate, mechanisms: Sequence[Candidate]
) -> tuple[Figure, Candidate] | None:
    """Return the figure by which several mechanisms of one kind tell of the same failing nodes.

    Two wrong datatypes that hold nearly all failing nodes leave no more to tell than one.
    """
    kinds: dict[str, list[Candidate]] = {}
    for mechanism in mechanisms:
        kinds.setdefault(mechanism.family.header["kind"], []).append(mechanism)
    for parts in kinds.values():
        claimed = reduce(or_, (part.claimed for part in parts))
        members = reduce(or_, (part.members for part in parts))
        whole = claimed.bit_count() >= _COVERS * parts[0].table.failing
        own = origin.claimed.bit_count()
        shared = (origin.claimed & claimed).bit_count() / own if own else 0.0
        if whole and shared >= _COVERS and overlap(origin.members, members) < _OVERLAP:
            return Figure("share of its failing nodes claimed in parts", shared, _COVERS), parts[0]
    return None


def _restates(origin: Candidate, mechanism: Candidate, *, of_value: bool) -> Figure | None:
    """Return the figure by which an origin only tells of nodes that fail by one mechanism.

    Either both are the same nodes; or the mechanism claims most failing nodes of the origin, and
    the origin is about the property of the mechanism, or the mechanism claims nearly all failing
    nodes while the two regions differ, unless the origin pays for its length; or while the origin
    is `of_value`, about the value that the rule is about. What nodes that fail in one way share by
    chance is no second cause.
    """
    same = jaccard(origin, mechanism)
    if same >= _SAME:
        return Figure("overlap of the two regions", same, _SAME)
    shared = contained_in(origin, mechanism)
    if shared < _COVERS:
        return None
    whole = mechanism.claimed.bit_count() >= _COVERS * mechanism.table.failing
    apart = whole and (of_value or (same < _OVERLAP and not origin.paid))
    if _about_it(origin, mechanism) or apart:
        return Figure("share of its failing nodes claimed there", shared, _COVERS)
    return None
