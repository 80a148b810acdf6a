"""Which rules of an inner shape the values break that do not conform to it (sh:node, sh:or …).

The inner shape is told to look at these very values and at nothing else, and its rules are checked
there. Of several shapes, of which one is enough, a value is held to that for its class.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import OWL, RDFS, SH, TYPE
from kgreason.graph import Graph
from kgreason.shacl.compiler import compile_shapes
from kgreason.shacl.constraint import Constraint, Observation
from kgreason.shacl.observation import observe_all
from kgreason.shacl.shapes import TARGETS, Node, Shapes
from kgreason.shacl.symptom_names import names

_MOST: Final = 1_000
"""Values that are looked at, the first in order: they stand in a query."""
_TOLD: Final = 3
_RULES: Final = 12
"""Inner rules that are looked for among all values: they stand in a query."""
_LONGEST: Final = 100_000
"""Characters of all patterns together: they stand in the region of a hypothesis, too."""
_CLASSES: Final = frozenset({RDFS.Class, OWL.Class})
_ONE_OF: Final = (SH["or"], SH.xone)


@dataclass(frozen=True)
class Inside:
    """What is at fault in values: as a notice tells it, and as patterns.

    Each pattern binds ?broken to the values at the end of the path, from any node, that break one
    rule, and ?rule to its name. There is none of a path that is more than a property.
    """

    told: str
    broken: tuple[Fragment, ...]


def inner_rules(
    graph: Graph,
    constraint: Constraint,
    observation: Observation,
    seconds: float,
    *,
    sampled: bool = False,
    unknown: AbstractSet[str] = frozenset(),
) -> Inside | None:
    """Find which inner rules are broken and by how many of the values at fault.

    None where the constraint asks for no inner shape, nobody fails it, or nothing can be told of
    it. `sampled` says that not all failing nodes are observed, `unknown` are nodes of which the
    graph does not have all that is said.
    """
    shapes, values = constraint.shapes, _at_fault(constraint, observation, unknown)
    if shapes is None or not values:
        return None
    found: list[_Broken] = []
    looked_at: set[Term] = set()
    asked = list(_asked(shapes, constraint))
    for inner, kind in asked:
        of_kind = values if kind is None else _instances(graph, values, kind)
        looked_at |= set(of_kind)
        try:
            found += _broken(graph, shapes, constraint, inner, kind, of_kind, seconds)
        except KgreasonError:
            return None
    if not found:
        return None
    found.sort(key=lambda one: (-one.values, one.name))
    return Inside(
        _told(constraint, len(looked_at), found, sampled=sampled)
        # What is held to the shape for its class is looked at there.
        + ("" if all(kind for _, kind in asked) else _aim(constraint)),
        tuple(_short(one.pattern for one in found[:_RULES] if one.pattern is not None)),
    )


def _short(patterns: Iterable[Fragment]) -> Iterator[Fragment]:
    """Return those patterns that are not too long together, in their order."""
    room = _LONGEST
    for pattern in patterns:
        if len(pattern.text) <= room:
            room -= len(pattern.text)
            yield pattern


def _asked(shapes: Shapes, constraint: Constraint) -> Iterator[tuple[Node, ox.NamedNode | None]]:
    """Return the shapes that a value is held to, each with the class of the values it is for.

    Of several, of which one is enough, only those with a class of their own can be told apart.
    """
    for inner in constraint.parameters.get(SH.node, ()):
        if not isinstance(inner, ox.Literal):
            yield inner, None
    for head in (h for name in _ONE_OF for h in constraint.parameters.get(name, ())):
        for inner in shapes.list(head) or ():
            if isinstance(inner, ox.Literal):
                continue
            for kind in shapes.objects(inner, SH.targetClass):
                if isinstance(kind, ox.NamedNode):
                    yield inner, kind
            if isinstance(inner, ox.NamedNode) and _is_class(shapes, inner):
                yield inner, inner


def _is_class(shapes: Shapes, shape: Node) -> bool:
    return any(kind in _CLASSES for kind in shapes.objects(shape, TYPE))


def _instances(graph: Graph, values: Sequence[Term], kind: ox.NamedNode) -> list[Term]:
    inner = graph.store.inner
    return [
        v
        for v in values
        if not isinstance(v, ox.Literal)
        and next(inner.quads_for_pattern(v, TYPE, kind, None), None) is not None
    ]


@dataclass(frozen=True)
class _Broken:
    """An inner rule, how many of the values at fault break it, and the pattern of all that do."""

    name: str
    values: int
    pattern: Fragment | None


def _broken(
    graph: Graph,
    shapes: Shapes,
    constraint: Constraint,
    inner: Node,
    kind: ox.NamedNode | None,
    values: Sequence[Term],
    seconds: float,
) -> list[_Broken]:
    """Return the rules of one inner shape that some values break."""
    named = [term for term in values if not isinstance(term, ox.BlankNode)]
    path = None if constraint.path is None else constraint.path.predicate
    aims = [(SH.targetNode, tuple(named))] if named else []
    aims += [(SH.targetObjectsOf, (path,))] if path is not None else []
    if not values or not aims:
        return []
    compiled = [
        compile_shapes(_aimed(shapes, inner, *aim), graph, seconds=seconds).constraints
        for aim in aims
    ]
    # The same shapes give the same rules, whatever they are aimed at.
    everywhere = compiled[-1] if path is not None else (None,) * len(compiled[0])
    called = names(compiled[0])
    fault, out = set(values), []
    for place, (_, found) in enumerate(observe_all(graph, compiled[0], seconds=seconds)):
        broken = len(fault.intersection(found.failing)) if isinstance(found, Observation) else 0
        if broken:
            rule = everywhere[place]
            pattern = None if rule is None else _pattern(rule, called[place], kind)
            out.append(_Broken(called[place], broken, pattern))
    return out


def _pattern(rule: Constraint, name: str, kind: ox.NamedNode | None) -> Fragment | None:
    """Return what binds ?broken and ?rule; None for a query of the shapes' author."""
    if rule.guarded:
        return None
    of_kind = Fragment("") if kind is None else Fragment(f"?focus {TYPE} {kind} .")
    return template("context", "breaks-inner").fragment(
        target=rule.portable.target,
        violation=rule.portable.violation,
        rule=ox.Literal(name),
        of_kind=of_kind,
    )


def _told(constraint: Constraint, values: int, broken: Sequence[_Broken], *, sampled: bool) -> str:
    rules = [
        f"“{one.name}” ({'all' if one.values == values else f'{one.values:,}'})"
        for one in broken[:_TOLD]
    ]
    more = f" and {len(broken) - _TOLD} more" if len(broken) > _TOLD else ""
    (name,) = names([constraint])
    told = f"{', '.join(rules)}{more}"
    nodes = "1 node" if values == 1 else f"{values:,} nodes"
    one = values == 1
    nodes += f" that {'was' if one else 'were'} taken" if sampled else ""
    nodes += " breaks" if one else " break"
    path = constraint.path
    if path is None:
        return f"“{name}” asks for an inner shape, of which {nodes} {told}."
    return (
        f"“{name}” fails for what is said of the values: {nodes} {told} of the inner shape, and "
        "that is where to mend."
    )


def _aim(constraint: Constraint) -> str:
    """Return how an inner shape comes to look at the values itself."""
    if constraint.path is None or not constraint.path.predicate:
        return ""
    return (
        f" With the target sh:targetObjectsOf {constraint.path.text} at the inner shape, causes "
        "are looked for among them."
    )


def _at_fault(
    constraint: Constraint, observation: Observation, unknown: AbstractSet[str]
) -> list[Term]:
    """Return the values at fault that are known, at most a thousand."""
    found: Iterable[Term | None] = observation.failing
    if constraint.path is not None:
        found = (value for values in observation.failing.values() for value in values)
    known = {term for term in found if term is not None and term.value not in unknown}
    return sorted(known, key=str)[:_MOST]


def _aimed(shapes: Shapes, inner: Node, target: ox.NamedNode, nodes: tuple[Term, ...]) -> Shapes:
    """Return the shapes with but one target, that of one shape."""
    index = {
        shape: {
            predicate: tuple(o for o in objects if predicate != TYPE or o not in _CLASSES)
            for predicate, objects in described.items()
            if predicate not in TARGETS
        }
        for shape, described in shapes.index.items()
    }
    index.setdefault(inner, {})[target] = nodes
    return Shapes(index, shapes.files, prefixes=shapes.prefixes)
