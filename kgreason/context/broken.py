"""Which passing nodes are to be broken at a rule's own statement, in which ways: the sample.

Each way is a file of `queries/break/`. The sample is drawn once for a symptom, with the seed of the
investigation, and marked; all hypotheses of the symptom share it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import integer
from kgreason.base.templates import Fragment, Template, Value, role, template
from kgreason.base.terms import MARKS_GRAPH, SH, WORK
from kgreason.context.view import View, members, named_in, predicates
from kgreason.graph.marks import Focus, places

MARKED: Final = f"{WORK.iri}broken:"
"""What the marks of broken nodes begin with."""
_MOST: Final = integer("brokenNodes")
_EACH: Final = integer("brokenEach")
_PROPERTIES: Final = integer("brokenProperties")
_LOOKED_AT: Final = 50
_POOL: Final = 2000
_CLOSED: Final = ["Closed"]
_OF_PROPERTIES: Final = frozenset(
    f"{name}ConstraintComponent"
    for name in (
        *("Class", "Datatype", "NodeKind", "In", "Pattern", "LanguageIn", "UniqueLang", "HasValue"),
        *("MinCount", "MaxCount", "QualifiedMinCount", "QualifiedMaxCount", "MinLength"),
        *("MaxLength", "MinInclusive", "MinExclusive", "MaxInclusive", "MaxExclusive"),
        *("LessThan", "LessThanOrEquals", "Equals", "Disjoint"),
    )
)
"""Components that ask one thing of the values at the end of a path."""


@dataclass(frozen=True)
class _Statement:
    """A statement of a rule: the property, the path to what has it, and the path to its values."""

    predicate: ox.NamedNode
    at: str
    path: str


_ANY: Final = _Statement(WORK.breaks, "", str(WORK.breaks))
"""Stands for whatever a node says: what a closed shape is about."""


@dataclass(frozen=True)
class _Arm:
    """One way to break one statement, and the mark of the nodes that are broken so."""

    way: Template
    statement: _Statement
    mark: ox.NamedNode


def breaks(view: View) -> list[Fragment]:
    """Return the rows of each way to break a passing node of a symptom; the nodes are marked.

    Nothing where the rule has no statement that could be broken, or no node passes.
    """
    key = (MARKED, frozenset[ox.NamedNode](), None)
    if key not in view.offered:
        arms = _arms(view)
        rows = _rows(arms) if arms and mark_broken(view, arms) else []
        view.offered[key] = {str(place): made for place, made in enumerate(rows)}
    return [made for made in view.offered[key].values() if isinstance(made, Fragment)]


def _rows(arms: list[_Arm]) -> list[Fragment]:
    made = template("context", "broken")
    out = []
    for arm in arms:
        offered: dict[str, Value] = {
            "predicate": arm.statement.predicate,
            "path": Fragment(arm.statement.path),
        }
        body = arm.way.fragment(**{n: offered[n] for n in arm.way.parameters})
        out.append(
            made.fragment(
                way=ox.Literal(arm.way.name),
                keeps="keeps" in arm.way.header,
                mark=arm.mark,
                predicate=arm.statement.predicate,
                direct=not arm.statement.at,
                path=Fragment(arm.statement.at),
                made=body,
            )
        )
    return out


def mark_broken(view: View, arms: list[_Arm] | None = None) -> bool:
    """Draw and mark the sample of a symptom, if it is not marked yet; False where nobody passes."""
    arms = _arms(view) if arms is None else arms
    inner = view.graph.store.inner
    for arm in arms:
        if next(inner.quads_for_pattern(None, WORK.breaks, arm.mark, MARKS_GRAPH), None):
            return True
    drawn = list(_drawn(view, arms))
    inner.extend(drawn)
    return bool(drawn)


def _arms(view: View) -> list[_Arm]:
    name = view.constraint.component.value.rpartition("#")[2]
    local = name.removesuffix("ConstraintComponent")
    ways = [
        way
        for way in role("break").values()
        if (asked := way.header["components"].split())
        and (local in asked or (asked != _CLOSED and not _is_plain(view)))
    ]
    symptom = view.marks.failing.value.removeprefix(f"{WORK.iri}fails:")
    return [
        _Arm(way, one, ox.NamedNode(f"{MARKED}{symptom}:{way.name}:{place}"))
        for place, one in enumerate(_statements(view))
        for way in ways
    ]


def _is_plain(view: View) -> bool:
    """Check whether the rule asks one thing of one path, or of the properties of a node."""
    component = view.constraint.component
    if component == SH.ClosedConstraintComponent:
        return True
    return component.value.rpartition("#")[2] in _OF_PROPERTIES and view.constraint.path is not None


def _statements(view: View) -> list[_Statement]:
    """Return the statements that make a node pass or fail: at the end of the path, if it has one.

    A rule without a plain path speaks of properties; those that most of a few nodes have come
    first. A closed shape speaks of all of them, so that any stands for it.
    """
    path = view.constraint.path
    if view.constraint.component == SH.ClosedConstraintComponent:
        return [_ANY]
    if path is not None and (steps := path.forwards):
        at = "/".join(str(step) for step in steps[:-1])
        return [_Statement(steps[-1], at, path.text)]
    told = {*named_in(view.constraint), *predicates(path)}
    found: dict[ox.NamedNode, int] = {}
    for node in _some_nodes(view):
        said = {q.predicate for q in view.graph.store.inner.quads_for_pattern(node, None, None)}
        for predicate in said & told:
            found[predicate] = found.get(predicate, 0) + 1
    best = sorted(found, key=lambda p: (-found[p], p.value))[:_PROPERTIES]
    return [_Statement(predicate, "", str(predicate)) for predicate in best]


def _some_nodes(view: View) -> Iterator[Focus]:
    population = view.marks.population
    failing = view.marks.failing_mask
    for mask in (failing, population.everyone & ~failing):
        for place in islice(places(mask), _LOOKED_AT):
            yield population.nodes[place]


def _drawn(view: View, arms: list[_Arm]) -> Iterator[ox.Quad]:
    """Return the marks of the sample: for each way a few nodes, each with a failing one beside.

    Where some passing nodes have the property and others have not, both are in it.
    """
    population, failing = view.marks.population, view.marks.failing_mask
    passing = population.everyone & ~failing
    rng = Random(f"{view.seed} {view.constraint.key}")  # noqa: S311 - a sample, no secret
    donors = _shuffled(rng, failing)
    if not donors or not passing or not arms:
        return
    each = max(1, min(_EACH, _MOST // len(arms)))
    statements = dict.fromkeys(arm.statement for arm in arms)
    pools = {one: _pools(view, rng, one, passing) for one in statements}
    taken: set[int] = set()
    number = 0
    for turn in range(max(_EACH, *(_nodes(arm, each) for arm in arms))):
        for arm in arms:
            if turn >= _nodes(arm, each):
                continue
            number += 1
            having, lacking = pools[arm.statement]
            last = number % _EACH == 0
            place = _next(taken, *((lacking, having) if last else (having, lacking)))
            if place is not None:
                node, donor = population.nodes[place], donors[number % len(donors)]
                yield ox.Quad(node, WORK.breaks, arm.mark, MARKS_GRAPH)
                yield ox.Quad(node, WORK.donor, population.nodes[donor], MARKS_GRAPH)


def _nodes(arm: _Arm, each: int) -> int:
    """Return how many nodes are broken in a way: as many as it says itself, else `each`."""
    return int(arm.way.header.get("nodes", each))


def _pools(
    view: View, rng: Random, statement: _Statement, passing: int
) -> tuple[Iterator[int], Iterator[int]]:
    """Return the passing nodes that have the property, and those that have not, by lot."""
    if statement == _ANY:
        return iter(_shuffled(rng, passing)), iter(())
    having = members(view, Fragment(f"?focus {statement.path} ?asked .")) & passing
    return iter(_shuffled(rng, having)), iter(_shuffled(rng, passing & ~having))


def _next(taken: set[int], *pools: Iterable[int]) -> int | None:
    """Return the next place of the first pool that has one which was not taken yet."""
    for pool in pools:
        for place in pool:
            if place not in taken:
                taken.add(place)
                return place
    return None


def _shuffled(rng: Random, mask: int) -> list[int]:
    """Return some places of a set in an order that is drawn."""
    size = mask.bit_count()
    step = max(1, -(-size // _POOL))
    found = list(islice(places(mask), 0, None, step))
    rng.shuffle(found)
    return found
