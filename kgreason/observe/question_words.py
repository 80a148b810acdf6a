"""Words of a question, held against what the terms of a graph are called.

Words are compared by their stems, as the English stemmer of Snowball makes them (M. F. Porter,
"Snowball: a language for stemming algorithms", 2001).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import snowballstemmer
from pyoxigraph import Literal, NamedNode

from kgreason.base.store import Row, Term
from kgreason.base.templates import Value, template
from kgreason.base.terms import DCT, RDFS, SKOS
from kgreason.base.words import content, in_order
from kgreason.graph import Graph
from kgreason.graph.names import Names, local_name

CUE_NEAR: Final = 2
"""What a cue counts that stands near the name that it is about."""
CUE_FAR: Final = 1
"""What a cue counts that stands anywhere else."""
_NEAR: Final = 3
"""Words between a cue and the name that it is about, at most."""
_LABELS: Final = (SKOS.prefLabel, SKOS.altLabel, RDFS.label, DCT.title)
_STEMMER: Final = snowballstemmer.stemmer("english")


class Asked:
    """The words of a question: stems of those that name something, and where each word stands."""

    def __init__(self, question: str) -> None:
        self._words = in_order(question)
        self.stems = stems(question)

    def fits(self, called: Iterable[frozenset[str]]) -> tuple[frozenset[str], int]:
        """Return the stems of a name that the question has, and how many of it are missing.

        Of several names for one thing the one is taken that fits best.
        """
        return max(
            ((self.stems & one, len(one - self.stems)) for one in called),
            key=lambda found: (len(found[0]), -found[1]),
            default=(frozenset(), 0),
        )

    def cue(self, cues: frozenset[str], about: frozenset[str]) -> int:
        """Return how much the cues of a form speak for it: most where they are near its name."""
        places = [n for n, word in enumerate(self._words) if word in cues]
        named = [n for n, word in enumerate(self._words) if stem(word) in about]
        if any(abs(n - m) <= _NEAR for n in places for m in named if n != m):
            return CUE_NEAR
        return CUE_FAR if places else 0


class Calling:
    """Holds the words of a question against what terms of a graph are called."""

    def __init__(self, asked: Asked, graph: Graph) -> None:
        self._asked, self._graph = asked, graph

    def fits(self, term: Term) -> tuple[frozenset[str], int]:
        """Return the stems of a term's best name that were asked, and how many were not."""
        return self._asked.fits(map(stems, self.names(term)))

    def names(self, term: Term) -> Iterator[str]:
        """Return what a term is called: its local name or text, and its labels."""
        yield local_name(term.value) if isinstance(term, NamedNode) else term.value
        if isinstance(term, NamedNode):
            for said in _LABELS:
                quads = self._graph.store.inner.quads_for_pattern(term, said, None)
                labels = (quad.object for quad in quads)
                yield from (one.value for one in labels if isinstance(one, Literal))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that name something."""
    return frozenset(map(stem, content(text)))


def common(question: str, called: str) -> frozenset[str]:
    """Return the stems of a question that a name has, too."""
    return stems(question) & stems(called)


def stem(word: str) -> str:
    """Return the stem of an English word."""
    return str(_STEMMER.stemWord(word))


class Vocabulary:
    """What is asked of a graph to read questions about it: each query once."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.names = graph, Names(graph)
        self._rows: dict[str, Sequence[Row]] = {}

    def rows(self, where: str, query: str, /, **given: Value) -> Sequence[Row]:
        """Return the rows of a stored query."""
        text = template(where, query).render(**given)
        if text not in self._rows:
            self._rows[text] = self.graph.store.select(text)
        return self._rows[text]
