"""Which classes of a graph have subclasses."""

import pyoxigraph as ox

from kgreason.base.store import Store
from kgreason.base.terms import RDFS


class Superclasses:
    """Answers from the graph whether a class has subclasses."""

    def __init__(self, store: Store) -> None:
        found = store.inner.quads_for_pattern(None, RDFS.subClassOf, None, ox.DefaultGraph())
        self._known = {quad.object for quad in found if quad.object != quad.subject}

    def __contains__(self, iri: object) -> bool:
        return iri in self._known
