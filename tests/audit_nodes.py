"""A record by node and property, for whoever rewrites it."""

from collections import defaultdict
from decimal import Decimal
from typing import Any, Final

import pyoxigraph as ox

from kgreason.base.store import Store
from kgreason.base.terms import POLICY, PROV, TRAILS, TYPE
from kgreason.record import Record
from kgreason.record.record import literal
from tests.audit_support import statements

NUMBERED: Final = (
    "Symptom", "Frame", "Hypothesis", "Test", "Expectation", "Evidence", "Stratum", "Citation",
    "Verdict",
)  # fmt: skip
Nodes = dict[Any, dict[str, list[Any]]]
Key = tuple[Any, str]


def _nodes(record: Record) -> Nodes:
    found: Nodes = defaultdict(lambda: defaultdict(list))
    for said in statements(record):
        found[said.subject][said.predicate.value].append(said.object)
    return found


def _last_number(node: Any, start: str) -> int:
    number = node.value.removeprefix(start)
    return int(number) if number.isdigit() else 10**9


class Rewritten:
    """A record that can be rewritten by node and property, but for what was changed by hand."""

    def __init__(self, before: Record, after: Record) -> None:
        old, self.nodes, self.iri = _nodes(before), _nodes(after), after.iri
        self.touched: set[Key] = {
            (node, name)
            for node, said in old.items()
            if node in self.nodes
            for name in {*said, *self.nodes[node]}
            if set(said.get(name, ())) != set(self.nodes[node].get(name, ()))
        }
        self.known_steps = {n for n, said in old.items() if TRAILS.phase.value in said}
        self.lost = {node for node in old if node not in self.nodes}
        self.policy = self.one(self.iri, "policy")

    # Reading and writing

    def one(self, node: Any, name: str, space: Any = TRAILS) -> Any:
        values = self.nodes[node].get(space[name].value) if node in self.nodes else None
        return values[0] if values else None

    def text(self, node: Any, name: str) -> str:
        value = self.one(node, name)
        return "" if value is None else str(value.value)

    def number(self, node: Any, name: str, space: Any = TRAILS) -> Decimal:
        value = self.one(node, name, space)
        return Decimal(0) if value is None else Decimal(value.value)

    def of(self, kind: str) -> list[Any]:
        return [n for n, said in self.nodes.items() if TRAILS[kind] in said.get(TYPE.value, ())]

    def put(self, node: Any, name: str, *values: Any) -> None:
        key = TRAILS[name].value
        if (node, key) in self.touched:
            return
        if values:
            self.nodes[node][key] = [literal(value) for value in values]
        else:
            self.nodes[node].pop(key, None)

    def place(self, node: Any) -> Decimal:
        """Give the place in the chain of the step that wrote a node."""
        return self.number(self.one(node, "step"), "index")

    def numbers(self, node: Any) -> dict[str, Decimal]:
        read: dict[str, Decimal] = {}
        for name, values in self.nodes[node].items():
            value = values[0]
            if isinstance(value, ox.Literal) and value.datatype.value.endswith(
                ("#integer", "#decimal")
            ):
                read[name.removeprefix(TRAILS.iri)] = Decimal(value.value)
            elif isinstance(value, ox.Literal) and value.datatype.value.endswith("#boolean"):
                read[name.removeprefix(TRAILS.iri)] = Decimal(value.value == "true")
        return read

    def row(self, kind: str, outcome: str) -> Any:
        """Give what the policy says of an outcome."""
        for row in self.nodes[self.policy].get(POLICY.likelihood.value, ()):
            if (self.one(row, "testKind", POLICY), self.one(row, "outcomeClass", POLICY)) == (
                ox.Literal(kind),
                ox.Literal(outcome),
            ):
                return row
        return None

    def names(self) -> dict[Any, Any]:
        """Give new names to numbered nodes where a number is missing or one has no number."""
        new: dict[Any, Any] = {}
        for kind in NUMBERED:
            start = f"{self.iri.value}:{kind.lower()}:"
            nodes = sorted(self.of(kind), key=lambda node: _last_number(node, start))
            for number, node in enumerate(nodes, start=1):
                if node.value != f"{start}{number}":
                    new[node] = ox.NamedNode(f"{start}{number}")
        return new

    def steps(self) -> None:
        """Number the steps, and link each to the one before it."""
        steps = sorted(self.of("Step"), key=lambda step: self.number(step, "index"))
        whole = all(self.number(step, "index") % 1 == 0 for step in steps)
        if whole and self.lost.isdisjoint(self.known_steps):
            return
        before = None
        for index, step in enumerate(steps, start=1):
            said = self.nodes[step]
            said[TRAILS.index.value] = [literal(index)]
            if before is not None:
                said[TRAILS.previous.value] = [before]
                said[PROV.wasInformedBy.value] = [before]
            before = step
        self.put(self.iri, "head", before)

    def record(self) -> Record:
        """Give the record as it is now."""
        names: Any = self.names()
        store = ox.Store()
        store.extend(
            ox.Quad(names.get(node, node), ox.NamedNode(name), names.get(value, value), self.iri)
            for node, said in self.nodes.items()
            for name, values in said.items()
            for value in values
        )
        return Record(Store(store, "a ledger someone was at"), self.iri)
