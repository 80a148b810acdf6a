"""Another source that a repair may take from: read apart, and beside the data only while asked."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph as ox

from kgreason.base.store import AnyTerm, Term
from kgreason.base.terms import WORK
from kgreason.graph import Graph, load
from kgreason.graph.bounds import MOST_BYTES
from kgreason.graph.forms import mark
from kgreason.repair.patch import Subject
from kgreason.shacl.values import as_stored

_GRAPH = WORK.imported


def read_source(
    files: Sequence[str], *, lenient: bool = False, most: int = MOST_BYTES
) -> tuple[list[ox.Quad], list[str]]:
    """Read files as the source of an import; gives its quads, and each file with its SHA-256.

    Literals whose form the store would change are marked, blank nodes are named apart from those of
    the data. Raises GraphError.
    """
    source = load([Path(file) for file in files], lenient=lenient, most=most)
    quads = [
        ox.Quad(_apart(t.subject), t.predicate, _marked(t.object), _GRAPH)
        for t in source.exact_triples()
        if isinstance(t.subject, Subject) and not isinstance(t.object, ox.Triple)
    ]
    told = [f"{Path(one.path).name} (SHA-256 {one.digest})" for one in source.sources]
    return quads, told


def _apart(node: Subject) -> Subject:
    return ox.BlankNode(f"imported_{node.value}") if isinstance(node, ox.BlankNode) else node


def _marked(term: Term) -> AnyTerm:
    if isinstance(term, ox.Literal):
        return mark(term) if as_stored(term) != term else term
    return _apart(term)


@contextmanager
def loaded(graph: Graph, quads: Sequence[ox.Quad]) -> Iterator[None]:
    """Have the quads of a source beside the data for as long as the context lasts."""
    if not quads:
        yield
        return
    inner = graph.store.inner
    inner.extend(quads)
    try:
        yield
    finally:
        inner.remove_graph(_GRAPH)
