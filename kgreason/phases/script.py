"""Script: write again what was proposed and designed in a recorded investigation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.ledger import Record, Step
from kgreason.phases.bench import Bench
from kgreason.store import Row, Term
from kgreason.terms import PROV, TRAILS, TYPE

_MADE_ANEW: Final = frozenset(
    {
        PROV.startedAtTime,
        PROV.endedAtTime,
        PROV.wasInformedBy,
        *(
            TRAILS[name]
            for name in (
                "hash", "previous", "index", "status", "confidence", "eProcess", "lastUpdate",
                "supportingEvidence", "contradictingEvidence",
            )
        ),
    }
)  # fmt: skip
"""What the record keeps itself, or what follows from evidence."""
_FOLLOWS: Final = frozenset({TRAILS.ConfidenceUpdate, TRAILS.StatusTransition})


@dataclass(frozen=True)
class Script:
    """A recorded investigation that another one follows, under an IRI of its own."""

    of: Record
    by: Record

    def rows(self) -> list[Row]:
        """Give the recorded steps in their order, in the terms of the one that follows."""
        rows = self.of.select("step-sequence")
        return [{name: self.told(term) for name, term in row.items()} for row in rows]

    def told(self, term: Term) -> Term:
        """Give a term with the IRI of the recorded investigation put in the other's place."""
        if isinstance(term, ox.NamedNode):
            return ox.NamedNode(self._base.sub(self.by.iri.value, term.value))
        if isinstance(term, ox.Literal) and self.of.iri.value in term.value:
            text = self._base.sub(self.by.iri.value, term.value)
            return ox.Literal(text, datatype=term.datatype)
        return term

    @property
    def _base(self) -> re.Pattern[str]:
        return re.compile(re.escape(self.of.iri.value) + r"(?![0-9])")

    def statements(self, row: Row) -> Iterable[ox.Triple]:
        """Give what a step wrote, apart from what is made anew."""
        inner, graph = self.of.store.inner, self.of.iri
        back = Script(self.by, self.of)
        step = back.told(row["step"])
        quads = inner.quads_for_pattern(None, TRAILS.step, step, graph)
        named = {q.subject for q in quads if isinstance(q.subject, ox.NamedNode)}
        for subject in sorted(named, key=str):
            mine = list(inner.quads_for_pattern(subject, None, None, graph))
            if any(q.predicate == TYPE and q.object in _FOLLOWS for q in mine):
                continue
            made = ox.NamedNode(self._base.sub(self.by.iri.value, subject.value))
            for quad in mine:
                if quad.predicate not in _MADE_ANEW and not isinstance(quad.object, ox.Triple):
                    yield ox.Triple(made, quad.predicate, self.told(quad.object))


def repeat(bench: Bench, script: Script, row: Row) -> None:
    """Write a step of proposing or designing as it was recorded; gates are applied anew."""
    phase = row["phase"].value.rpartition("#")[2]
    step = bench.record.step(phase)
    written = list(script.statements(row))
    step.triples += written
    _number(bench.record, step, written)
    for gate in bench.policy.gates_of(phase):
        step.apply(gate.render(investigation=bench.record.iri, step=step.node))
    bench.record.commit(step)


def _number(record: Record, step: Step, written: list[ox.Triple]) -> None:
    """Take up the numbers of the nodes, and start each hypothesis where it started."""
    priors = {
        t.subject: Decimal(t.object.value)
        for t in written
        if t.predicate == TRAILS.prior and isinstance(t.object, ox.Literal)
    }
    for triple in written:
        node, kind = triple.subject, triple.object
        if triple.predicate != TYPE or node == step.node or kind not in TRAILS:
            continue
        name = str(kind).strip("<>").rpartition("#")[2]
        if isinstance(node, ox.NamedNode) and f":{name.lower()}:" in node.value:
            record.mint(name)
            if node in priors:
                number, start = int(node.value.rpartition(":")[2]), priors[node]
                step.describe(node, index=number, confidence=start, eProcess=Decimal("1.0"))
                step.describe(node, status=TRAILS.Proposed)
