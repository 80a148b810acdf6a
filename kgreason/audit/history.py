"""A record as the audit reads it: merged with the ontology, in a store of its own."""

from collections.abc import Iterator
from functools import cache, cached_property

import pyoxigraph as ox

from kgreason.audit.shapes import ontology
from kgreason.errors import LedgerError
from kgreason.ledger import Record
from kgreason.store import Store, Term
from kgreason.terms import TRAILS, TYPE

Properties = dict[ox.NamedNode, list[Term]]
"""The values of each property of one node."""


class History:
    """The record of one investigation; raises LedgerError if there is none."""

    def __init__(self, record: Record) -> None:
        self.iri = record.iri
        self._ledger = record.store.inner
        self._types: dict[Term, set[Term]] = {}
        if next(self._ledger.quads_for_pattern(None, None, None, self.iri), None) is None:
            raise LedgerError(f"There is no record of {self.iri.value} in {record.store.where}.")

    @cached_property
    def merged(self) -> Store:
        """The record and the ontology in one default graph."""
        inner = ox.Store()
        inner.extend(ontology())
        text = self._ledger.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=self.iri)
        inner.bulk_load(text, ox.RdfFormat.N_TRIPLES)
        return Store(inner, f"the record of {self.iri.value}")

    def quads(
        self, subject: Term | None = None, predicate: ox.NamedNode | None = None,
        object_: Term | None = None,
    ) -> Iterator[ox.Quad]:
        """Give the statements of the record that fit a pattern."""
        return self._ledger.quads_for_pattern(subject, predicate, object_, self.iri)  # type: ignore[arg-type]

    def instances(self, kind: ox.NamedNode) -> list[Term]:
        """Give the nodes of a class."""
        return [quad.subject for quad in self.quads(None, TYPE, kind)]

    def properties(self, node: Term) -> Properties:
        """Give what the record says of a node."""
        found: Properties = {}
        for quad in self.quads(node):
            found.setdefault(quad.predicate, []).append(quad.object)
        return found

    def types(self, node: Term) -> set[Term]:
        """Give the types of a node, as the record or the ontology has them."""
        known = self._types.get(node)
        if known is None:
            of_node = set() if isinstance(node, ox.Literal) else self.quads(node, TYPE)
            known = {quad.object for quad in of_node} | _types_in_ontology().get(node, set())
            self._types[node] = known
        return known

    def counted(self) -> dict[str, int]:
        """Count what there is to look at."""
        return {
            "triples": sum(1 for _ in self.quads()),
            "steps": len(self.instances(TRAILS.Step)),
            "updates": len(self.instances(TRAILS.ConfidenceUpdate)),
        }


@cache
def _types_in_ontology() -> dict[Term, set[Term]]:
    types: dict[Term, set[Term]] = {}
    for quad in ontology():
        if quad.predicate == TYPE:
            types.setdefault(quad.subject, set()).add(quad.object)
    return types
