"""Script: write again what was proposed and designed in a recorded investigation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.context.context import Context
from kgreason.record import Record, Step
from kgreason.record.nonce import names_of

_MADE_ANEW: Final = frozenset(
    {
        PROV.startedAtTime,
        PROV.endedAtTime,
        PROV.wasInformedBy,
        *(
            TRAILS[name]
            for name in (
                "hash", "previous", "status", "confidence", "eProcess", "lastUpdate",
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
        """Return the recorded steps in their order, in the terms of the one that follows."""
        rows = self.of.select("step-sequence")
        return [{name: self.told(term) for name, term in row.items()} for row in rows]

    def told(self, term: Term) -> Term:
        """Return a term with the IRI of the recorded investigation put in the other's place."""
        if isinstance(term, ox.NamedNode):
            return ox.NamedNode(self._base.sub(self.by.iri.value, term.value))
        if isinstance(term, ox.Literal) and self.of.iri.value in term.value:
            text = self._base.sub(self.by.iri.value, term.value)
            return ox.Literal(text, datatype=term.datatype)
        return term

    @property
    def _base(self) -> re.Pattern[str]:
        return names_of(self.of.iri)

    def statements(self, row: Row) -> Iterable[ox.Triple]:
        """Return what a step wrote, apart from what is made anew."""
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
                # A step is numbered as it is made; the number of another node is in its name.
                anew = quad.predicate in _MADE_ANEW or (
                    subject == step and quad.predicate == TRAILS.index
                )
                if not anew and not isinstance(quad.object, ox.Triple):
                    yield ox.Triple(made, quad.predicate, self.told(quad.object))


def rewritten(context: Context, script: Script, row: Row) -> tuple[Step, list[ox.Triple]]:
    """Return a step with what a recorded one wrote, not yet committed, and that by itself."""
    step = context.record.step(row["phase"].value.rpartition("#")[2])
    written = list(script.statements(row))
    step.triples += written
    _number(context.record, step, written)
    return step, written


def repeat(context: Context, script: Script, row: Row) -> None:
    """Write a step of proposing or designing as it was recorded; gates are applied anew."""
    step, _ = rewritten(context, script, row)
    for gate in context.policy.gates_of(row["phase"].value.rpartition("#")[2]):
        step.apply(gate.render(investigation=context.record.iri, step=step.node))
    context.record.commit(step)


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
                start = priors[node]
                step.describe(node, confidence=start, eProcess=Decimal("1.0"))
                step.describe(node, status=TRAILS.Proposed)
