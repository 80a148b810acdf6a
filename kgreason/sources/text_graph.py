"""A named graph of the data as a source: its literals, cited by node, property and graph."""

from collections.abc import Sequence
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode

from kgreason.base.errors import OptionError
from kgreason.base.terms import XSD
from kgreason.graph import Graph
from kgreason.sources.passages import has_all
from kgreason.sources.works import Answer, Part, Work

PREFIX: Final = "graph:"
"""What the name of such a source begins with; the IRI of the graph follows."""
_LEAST_WORDS: Final = 3


class TextGraph:
    """The texts of a named graph; what is said of one node is one work.

    `bind` gives it the graph under investigation, before it is searched.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._graph = NamedNode(name.removeprefix(PREFIX))
        self._data: Graph | None = None

    def bind(self, data: Graph) -> None:
        """Give it the data; raises OptionError where they have no such named graph."""
        if next(data.store.inner.quads_for_pattern(None, None, None, self._graph), None) is None:
            raise OptionError(f"--source {self.name}: the data have no named graph of this IRI.")
        self._data = data

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the nodes of which the graph says a text that has all the terms."""
        found: dict[str, list[Part]] = {}
        if self._data is None:
            return Answer(())
        for quad in self._data.store.inner.quads_for_pattern(None, None, None, self._graph):
            said, node = quad.object, quad.subject
            if not isinstance(said, Literal) or not isinstance(node, NamedNode | BlankNode):
                continue
            texts = said.datatype == XSD.string or said.language is not None
            if texts and len(said.value.split()) >= _LEAST_WORDS and has_all(said.value, terms):
                parts = found.setdefault(node.value, [])
                parts.append(Part(said.value, f"{quad.predicate.value} in {self._graph.value}"))
        works = [Work(node, "", tuple(parts), (f"node:{node}",)) for node, parts in found.items()]
        return Answer(tuple(sorted(works, key=lambda work: work.work)[:most]))
