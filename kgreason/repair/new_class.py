"""Whether a repair says of things of one class that they are of another one, too.

It is a caution for people; nothing is decided by it.
"""

from collections import Counter
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import RDFS, TYPE
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.repair.patch import Patch

_BARE: Final = (
    "Nothing is said of {what} that would get a class: see whether {names} right, and where {are} "
    "described. The class alone says no more than {there}, and silences the rule."
)


def caution(graph: Graph, patch: Patch, names: Names) -> str | None:
    """Return why a class should be looked at before a repair, None where nothing speaks for it.

    That is so where a thing that gets a class has another one already, and keeps it, and no axiom
    makes one of the two a kind of the other; and where nothing else is said of it.
    """
    gone = {(c.subject, c.value) for c in patch.changes if not c.adds and c.predicate == TYPE}
    others = Counter[tuple[ox.NamedNode, ox.NamedNode]]()
    bare = set[object]()
    for change in patch.changes:
        made = change.value
        if not change.adds or change.predicate != TYPE or not isinstance(made, ox.NamedNode):
            continue
        said = graph.store.inner.quads_for_pattern(change.subject, TYPE, None, ox.DefaultGraph())
        held = {quad.object for quad in said} - {made}
        kept = [c for c in held if isinstance(c, ox.NamedNode) and (change.subject, c) not in gone]
        if kept and not any(_akin(graph, one, made) for one in kept):
            others[min(kept, key=lambda c: c.value), made] += 1
        if (
            next(graph.store.inner.quads_for_pattern(change.subject, None, None, None), None)
            is None
        ):
            bare.add(change.subject)
    if not others:
        return _of_bare(len(bare)) if bare else None
    (old, new), count = max(others.items(), key=lambda item: (item[1], item[0][0].value))
    things = "One thing that becomes" if count == 1 else f"{count} things that become"
    kind = "is" if count == 1 else "are"
    return (
        f"{things} a {names(new)} {kind} a {names(old)} already, and nothing says that a thing can "
        "be both: what points at the wrong thing is not mended by calling that thing right. Check "
        "it before you apply it."
    )


def _of_bare(count: int) -> str:
    if count == 1:
        one = {"what": "the one thing", "names": "its name is", "are": "it is"}
        return _BARE.format(**one, there="that there is such a thing")
    several = {"what": f"the {count} things", "names": "their names are", "are": "they are"}
    return _BARE.format(**several, there="that there are such things")


def _akin(graph: Graph, one: ox.NamedNode, other: ox.NamedNode) -> bool:
    """Check whether one class is a kind of the other, as far as the graph says."""
    return other in _above(graph, one) or one in _above(graph, other)


def _above(graph: Graph, one: ox.NamedNode) -> set[object]:
    """Return a class and all that it is a kind of."""
    found, front = {one}, [one]
    while front:
        said = graph.store.inner.quads_for_pattern(
            front.pop(), RDFS.subClassOf, None, ox.DefaultGraph()
        )
        new = {quad.object for quad in said if isinstance(quad.object, ox.NamedNode)} - found
        found |= new
        front += new
    return set(found)
