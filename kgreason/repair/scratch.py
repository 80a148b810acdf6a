"""Make a patch on the scratch copy of a graph, and unmake it again, exactly.

The store that holds the loaded graph is a copy of the input already, so it is changed in place and
each change is noted: the named graphs, their merge in the default graph, and the graph of forms.
The cost is that of the patch, whatever the size of the graph.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, WORK
from kgreason.graph import Graph
from kgreason.graph.forms import admitted, mark
from kgreason.graph.graph import exact
from kgreason.repair.patch import Patch, Subject
from kgreason.shacl.values import as_stored

_MERGE = ox.DefaultGraph()


@contextmanager
def changed(graph: Graph, patch: Patch) -> Iterator["Journal"]:
    """Have a graph changed for as long as the context lasts; gives what was in fact changed."""
    journal = Journal(graph)
    try:
        journal.make(patch)
        yield journal
    finally:
        journal.unmake()


class Journal:
    """What was changed in a graph, in order."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._inner = graph.store.inner
        self._formed, self._beyond = graph.formed, graph.beyond
        self._done: list[tuple[bool, ox.Quad]] = []

    def make(self, patch: Patch) -> None:
        """Change the graph as a patch says; what is there already, or not there, is passed over."""
        gone = [c for c in patch.changes if not c.adds]
        new = [c for c in patch.changes if c.adds]
        for c in gone:
            stored = as_stored(c.value)
            self._remove(ox.Quad(c.subject, c.predicate, stored, c.graph))
            if not self._stands(c.subject, c.predicate, stored):
                self._remove(ox.Quad(c.subject, c.predicate, stored, _MERGE))
        for c in new:
            stored = as_stored(c.value)
            self._add(ox.Quad(c.subject, c.predicate, stored, c.graph))
            self._add(ox.Quad(c.subject, c.predicate, stored, _MERGE))
        forms: dict[tuple[Subject, ox.NamedNode], tuple[set[Term], set[Term]]] = {}
        for c in patch.changes:
            forms.setdefault(c.place, (set(), set()))[c.adds].add(c.value)
        for (subject, predicate), (removed, added) in forms.items():
            self._form(subject, predicate, removed, added)

    def unmake(self) -> None:
        """Put the graph back as it was."""
        while self._done:
            added, quad = self._done.pop()
            if added:
                self._inner.remove(quad)
            else:
                self._inner.add(quad)
        self._graph.formed, self._graph.beyond = self._formed, self._beyond

    def keep(self) -> None:
        """Let the changes stay."""
        self._done.clear()
        self._formed, self._beyond = self._graph.formed, self._graph.beyond

    def made(self) -> Iterator[tuple[bool, ox.Quad]]:
        """Return each quad of a named graph of the data that differs now, and whether it was added.

        This is the difference between the copy as it is and as it was, whatever was asked for.
        """
        for added, quad in self._done:
            if quad.graph_name != _MERGE and quad.graph_name not in WORK:
                yield added, quad

    def _add(self, quad: ox.Quad) -> None:
        if quad not in self._inner:
            self._inner.add(quad)
            self._done.append((True, quad))

    def _remove(self, quad: ox.Quad) -> None:
        if quad in self._inner:
            self._inner.remove(quad)
            self._done.append((False, quad))

    def _stands(self, subject: Subject, predicate: ox.NamedNode, value: Term) -> bool:
        """Check whether some source still holds a statement."""
        found = self._inner.quads_for_pattern(subject, predicate, value, None)
        return any(q.graph_name != _MERGE and q.graph_name not in WORK for q in found)

    def _form(
        self, subject: Subject, predicate: ox.NamedNode, removed: set[Term], added: set[Term]
    ) -> None:
        """Bring the graph of forms up to date for one subject and property."""
        marked = ox.NamedNode(FORM_PREFIX + predicate.value)
        old = list(self._inner.quads_for_pattern(subject, marked, None, FORMS_GRAPH))
        odd = any(as_stored(form) != form for form in added)
        if not old and not odd:
            return
        values = {
            q.object
            for q in self._inner.quads_for_pattern(subject, predicate, None, _MERGE)
            if not isinstance(q.object, ox.Triple)
        }
        before = {exact(quad.object) for quad in old}
        forms = {f for f in (before - removed) | added if as_stored(f) in values}
        # A form that was removed in one source may be all there is of the value in another.
        shown = {as_stored(f) for f in forms}
        forms |= {f for f in before if as_stored(f) in values - shown}
        forms |= values - {as_stored(f) for f in forms}
        wanted = {ox.Quad(subject, marked, mark(f), FORMS_GRAPH) for f in forms}
        for quad in set(old) - wanted:
            self._remove(quad)
        for quad in wanted - set(old):
            self._add(quad)
        if predicate not in self._graph.formed:
            self._graph.formed |= {predicate}
        self._graph.beyond |= not all(admitted(f) for f in forms if isinstance(f, ox.Literal))
