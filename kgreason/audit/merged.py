"""A record as the audit reads it: merged with the ontology, in a store of its own."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import pyoxigraph as ox

from kgreason.audit.record_shapes import ontology
from kgreason.audit.statements import Statement, Subject, plain, statements
from kgreason.base.errors import LedgerError
from kgreason.base.extensions import cached
from kgreason.base.store import Store, Term
from kgreason.base.terms import TRAILS, TYPE
from kgreason.record import Record

_KNOWN: Final = 100_000  # nodes whose types are kept; a long record must not fill the memory

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
        text = self._ledger.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=self.iri) or b""
        inner.bulk_load(text, ox.RdfFormat.N_TRIPLES, lenient=True)  # a store wrote it
        self.__dict__["size"] = text.count(b"\n")
        return Store(inner, f"the record of {self.iri.value}")

    @cached_property
    def size(self) -> int:
        """How many statements the record has."""
        return sum(1 for _ in self.statements())

    def statements(
        self,
        subject: Term | None = None,
        predicate: ox.NamedNode | None = None,
        value: Term | None = None,
    ) -> Iterator[Statement]:
        """Return the statements of the record that fit a pattern."""
        return statements(self._ledger, subject, predicate, value, self.iri)

    def elsewhere(self, graph: ox.NamedNode, subject: Term, predicate: ox.NamedNode) -> list[Term]:
        """Return the values of a node in the record of another investigation of the ledger."""
        found = statements(self._ledger, subject, predicate, None, graph)
        return [statement.object for statement in found]

    def instances(self, kind: Term) -> list[Subject]:
        """Return the nodes of a class."""
        return [statement.subject for statement in self.statements(None, TYPE, kind)]

    def written(self, step: Term) -> Iterator[Subject]:
        """Return the nodes that a step wrote, as they say themselves."""
        return (link.subject for link in self.statements(None, TRAILS.step, step))

    def properties(self, node: Term) -> Properties:
        """Return what the record says of a node."""
        found: Properties = {}
        for statement in self.statements(node):
            value = statement.object  # each look makes an object anew
            if not isinstance(value, ox.Triple):
                predicate = statement.predicate
                values = found.get(predicate)
                if values is None:
                    found[predicate] = [value]
                else:
                    values.append(value)
        return found

    def values(self, node: Term, predicate: ox.NamedNode) -> list[str]:
        """Return the values of one property as text, sorted."""
        found = (statement.object for statement in self.statements(node, predicate))
        return sorted(value.value for value in found if not isinstance(value, ox.Triple))

    def types(self, node: Term) -> set[Term]:
        """Return the types of a node, as the record or the ontology has them."""
        known = self._types.get(node)
        if known is None:
            if len(self._types) > _KNOWN:
                self._types.clear()
            known = {found.object for found in self.statements(node, TYPE)}
            known |= types_in_ontology().get(node, set())
            self._types[node] = known
        return known

    def counted(self) -> dict[str, int]:
        """Count what there is to look at."""
        kinds = {"steps": TRAILS.Step, "updates": TRAILS.ConfidenceUpdate}
        return {
            "triples": self.size,
            **{
                name: sum(1 for _ in self.statements(None, TYPE, kind))
                for name, kind in kinds.items()
            },
        }


@cached
def types_in_ontology() -> dict[Term, set[Term]]:
    """Return the types of each node that the ontology has."""
    types: dict[Term, set[Term]] = {}
    for statement in plain(ontology()):
        if statement.predicate == TYPE:
            types.setdefault(statement.subject, set()).add(statement.object)
    return types
