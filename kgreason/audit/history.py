"""A record as the audit reads it: merged with the ontology, in a store of its own."""

from collections.abc import Iterator
from functools import cache, cached_property

import pyoxigraph as ox

from kgreason.audit.shapes import ontology
from kgreason.audit.statements import Statement, Subject, plain, statements
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
        if next(self.statements(), None) is None:
            raise LedgerError(f"There is no record of {self.iri.value} in {record.store.where}.")

    @cached_property
    def merged(self) -> Store:
        """The record and the ontology in one default graph."""
        inner = ox.Store()
        inner.bulk_extend(ontology())
        text = self._ledger.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=self.iri)
        inner.bulk_load(text, ox.RdfFormat.N_TRIPLES)
        return Store(inner, f"the record of {self.iri.value}")

    def statements(
        self,
        subject: Term | None = None,
        predicate: ox.NamedNode | None = None,
        value: Term | None = None,
    ) -> Iterator[Statement]:
        """Give the statements of the record that fit a pattern."""
        return statements(self._ledger, subject, predicate, value, self.iri)

    def instances(self, kind: Term) -> list[Subject]:
        """Give the nodes of a class."""
        return [statement.subject for statement in self.statements(None, TYPE, kind)]

    def properties(self, node: Term) -> Properties:
        """Give what the record says of a node."""
        found: Properties = {}
        for statement in self.statements(node):
            if not isinstance(statement.object, ox.Triple):
                found.setdefault(statement.predicate, []).append(statement.object)
        return found

    def values(self, node: Term, predicate: ox.NamedNode) -> list[str]:
        """Give the values of one property as text, sorted."""
        found = (statement.object for statement in self.statements(node, predicate))
        return sorted(value.value for value in found if not isinstance(value, ox.Triple))

    def types(self, node: Term) -> set[Term]:
        """Give the types of a node, as the record or the ontology has them."""
        known = self._types.get(node)
        if known is None:
            known = {found.object for found in self.statements(node, TYPE)}
            known |= types_in_ontology().get(node, set())
            self._types[node] = known
        return known

    def counted(self) -> dict[str, int]:
        """Count what there is to look at."""
        return {
            "triples": sum(1 for _ in self.statements()),
            "steps": len(self.instances(TRAILS.Step)),
            "updates": len(self.instances(TRAILS.ConfidenceUpdate)),
        }


@cache
def types_in_ontology() -> dict[Term, set[Term]]:
    """Give the types of each node that the ontology has."""
    types: dict[Term, set[Term]] = {}
    for statement in plain(ontology()):
        if statement.predicate == TYPE:
            types.setdefault(statement.subject, set()).add(statement.object)
    return types
