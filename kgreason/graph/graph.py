"""A scratch copy of the knowledge graph, in memory.

The default graph is the merge of all data, so that a query without GRAPH means what it means in
any other engine; each named graph holds what came from one source. Literals whose form the store
would rewrite are kept as they were in a graph of forms, out of the way of every other query.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.store import AnyTerm, Store, Term
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, MARKS_GRAPH


@dataclass(frozen=True)
class Source:
    """A file or store that was read: its IRI, SHA-256 digest, triples, and lines passed over."""

    iri: ox.NamedNode
    path: str
    digest: str
    triples: int
    skipped: int = 0


@dataclass(frozen=True)
class Hidden:
    """What stands in place of values that are kept out: within a text, and for a term."""

    text: Callable[[str], str]
    term: Callable[[Term], Term]

    def within(self, value: Any) -> Any:
        """Return a value as of JSON with the same done to every text in it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self.within(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.within(one) for one in value]
        return value


@dataclass
class Graph:
    """What was loaded.

    `triples` counts distinct quads over all sources; `fingerprint` is a SHA-256 over the digests
    of all sources; `formed` are the predicates for which the graph of forms has entries; `mended`
    are the IRIs that are not valid in the files, by what they were made, each as it was written;
    `lost` says that some data came from a store, which had rewritten its literals already;
    `beyond` says whether a number is there that its type does not admit, as "300"^^xsd:byte;
    `hidden` is there where values are kept out (`kgreason.observe.redact`).
    """

    store: Store
    sources: tuple[Source, ...]
    fingerprint: str
    triples: int
    graphs: int
    formed: frozenset[ox.NamedNode] = frozenset()
    notices: list[str] = field(default_factory=list)
    mended: dict[str, str] = field(default_factory=dict)
    lost: bool = False
    beyond: bool = False
    hidden: Hidden | None = None

    def exact_values(
        self, subject: ox.NamedNode | ox.BlankNode, predicate: ox.NamedNode
    ) -> list[Term]:
        """Return the values of a property just as they were written."""
        if predicate in self.formed:
            kept = self.store.inner.quads_for_pattern(
                subject, ox.NamedNode(FORM_PREFIX + predicate.value), None, FORMS_GRAPH
            )
            forms = [exact(quad.object) for quad in kept]
            if forms:
                return forms
        return [
            plain(q.object)
            for q in self.store.inner.quads_for_pattern(subject, predicate, None, ox.DefaultGraph())
        ]

    def exact_triples(self) -> list[ox.Triple]:
        """Return every triple of the merge with its literals as they were written."""
        kept: dict[tuple[object, ox.NamedNode], list[ox.Triple]] = {}
        for quad in self.store.quads(FORMS_GRAPH):
            predicate = ox.NamedNode(quad.predicate.value.removeprefix(FORM_PREFIX))
            triple = ox.Triple(quad.subject, predicate, exact(quad.object))
            kept.setdefault((quad.subject, predicate), []).append(triple)
        others = [
            q.triple
            for q in self.store.inner.quads_for_pattern(None, None, None, ox.DefaultGraph())
            if q.predicate not in self.formed or (q.subject, q.predicate) not in kept
        ]
        return others + [triple for triples in kept.values() for triple in triples]

    def named_graphs(self) -> list[ox.NamedNode]:
        """Return the named graphs of the data, sorted."""
        own = {FORMS_GRAPH, MARKS_GRAPH}
        found = [g for g in self.store.inner.named_graphs() if isinstance(g, ox.NamedNode)]
        return sorted((g for g in found if g not in own), key=lambda g: g.value)


def exact(term: AnyTerm) -> Term:
    """Take the mark of the graph of forms off a literal's datatype."""
    if isinstance(term, ox.Literal) and term.datatype.value.startswith(FORM_PREFIX):
        datatype = ox.NamedNode(term.datatype.value.removeprefix(FORM_PREFIX))
        return ox.Literal(term.value, datatype=datatype)
    return plain(term)


def plain(term: AnyTerm) -> Term:
    """Return a term that is no triple; the loader lets none in."""
    if isinstance(term, ox.Triple):
        raise RunError(f"A triple stands as a term in the data: {term}.")
    return term
