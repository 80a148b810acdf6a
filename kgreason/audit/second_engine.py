"""Every confidence and status worked out again by a second engine: rdflib.

From the recorded evidence, in the order of the record, by the very rules and gates that the record
names: the same SPARQL, another engine, its own arithmetic. It goes on from what it worked out
itself. What it writes has to be what is recorded, figure for figure.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyoxigraph as ox
import rdflib

from kgreason.audit.findings import AuditReport, Finding
from kgreason.audit.merged import History
from kgreason.base.store import Row
from kgreason.base.templates import Template, template
from kgreason.base.terms import TRAILS, TYPE
from kgreason.record import Record, policy
from kgreason.record.policy import Policy

RULE: Final = "second-engine"
_DERIVED: Final = (TRAILS.ConfidenceUpdate, TRAILS.StatusTransition)
_CURRENT: Final = tuple(TRAILS[name] for name in ("status", "confidence", "eProcess", "lastUpdate"))
_LATER: Final = (TRAILS.supportingEvidence, TRAILS.contradictingEvidence)
_UNREAD: Final = (TRAILS.Citation, TRAILS.Stratum)
_NEVER: Final = ox.Literal(
    "100000000000", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
)
Said = dict[str, frozenset[str | Decimal]]


def recomputed(found: AuditReport, record: Record) -> AuditReport:
    """Add to an audit where the second engine comes to other confidences and statuses."""
    engine = _Second(record)
    faults = list(engine.run())
    said = (
        f"Worked out again in rdflib: {engine.updates} updates of confidence and "
        f"{engine.transitions} changes of status."
    )
    return found.more(faults, checked={"recomputed": engine.updates}, said=[said])


class _Second:
    """A record in rdflib that grows evidence by evidence."""

    def __init__(self, record: Record) -> None:
        self._record, self._history = record, History(record)
        self._used: Policy = policy.of_record(record)
        # While it gives the rows of a GRAPH one by one, rdflib goes back to the default graph, and
        # looks there for what is left to look up. The union holds the same.
        self._data = rdflib.Dataset(default_union=True)
        self._graph = self._data.graph(rdflib.URIRef(record.iri.value))
        self.updates = self.transitions = 0

    def run(self) -> Iterator[Finding]:
        """Work everything out, and give what differs."""
        quads, waiting = self._parts()
        self._add(quads)
        for row in self._record.select("judgements"):
            yield from self._step(row, waiting)
        yield from self._compared()

    def _step(self, row: Row, waiting: Mapping[str, list[ox.Quad]]) -> Iterator[Finding]:
        step = ox.NamedNode(row["step"].value)
        if row["phase"] == TRAILS.Decide:
            threshold, faults = self._threshold(step)
            yield from faults
            for gate in self._used.gates_of("Decide"):
                self._apply(gate, step=step, threshold=threshold)
        elif row["phase"] == TRAILS.Settle:
            self._apply(template("record", "settle-status"), step=step)
        elif row["phase"] == TRAILS.Conclude:
            for rule in self._used.last_rules:
                self._apply(rule, step=step)
        elif row["phase"] == TRAILS.Hypothesize:
            self._add(waiting.get(step.value, ()))
            for gate in self._used.gates_of("Hypothesize"):
                self._apply(gate, step=step)
        else:
            self._take(row, step, waiting)

    def _take(self, row: Row, step: ox.NamedNode, waiting: Mapping[str, list[ox.Quad]]) -> None:
        """Let a piece of evidence move confidence and status."""
        evidence = ox.NamedNode(row["evidence"].value)
        self._add(waiting.get(evidence.value, ()))
        given = self._history.properties(evidence)
        for rule in self._used.rules:
            if TRAILS[rule.header.get("needs", "note")] in given:
                self._apply(rule, step=step, evidence=evidence)
        for gate in self._used.gates_of("Execute"):
            self._apply(gate, step=step, evidence=evidence)

    def _threshold(self, step: ox.NamedNode) -> tuple[ox.Literal, list[Finding]]:
        """Return the threshold of e-BH as it is now, and whether another is recorded."""
        text = template("status", "e-bh").render(investigation=self._record.iri)
        (row,) = list(self._data.query(text))
        found = getattr(row, "threshold", None)
        recorded = self._history.values(step, TRAILS.ebhThreshold)
        faults = []
        if [Decimal(text) for text in recorded] != ([] if found is None else [Decimal(found)]):
            message = f"The e-BH threshold comes to {found}, but is recorded as {recorded}."
            faults.append(Finding(RULE, step.value, message))
        if found is None:
            return _NEVER, faults
        return ox.Literal(str(found), datatype=_NEVER.datatype), faults

    def _apply(self, what: Template, **values: ox.NamedNode | ox.Literal) -> None:
        given = {"investigation": self._record.iri, **values}
        self._data.update(what.render(**{name: given[name] for name in what.parameters}))

    def _parts(self) -> tuple[list[ox.Quad], dict[str, list[ox.Quad]]]:
        """Return what is there from the start, and what comes with a proposal or with evidence.

        What follows from evidence is left out, and of a hypothesis where it stands; it starts with
        its prior.
        """
        iri, inner = self._record.iri, self._record.store.inner
        kinds: dict[Any, set[Any]] = {}
        for quad in inner.quads_for_pattern(None, TYPE, None, iri):
            kinds.setdefault(quad.subject, set()).add(quad.object)
        start: list[ox.Quad] = []
        waiting: dict[str, list[ox.Quad]] = {}
        when = {
            quad.subject: str(quad.object).strip("<>")
            for quad in inner.quads_for_pattern(None, TRAILS.step, None, iri)
            if TRAILS.Hypothesis in kinds.get(quad.subject, ())
        }
        for quad in inner.quads_for_pattern(None, None, None, iri):
            about = kinds.get(quad.subject, set())
            if not about.isdisjoint((*_DERIVED, *_UNREAD)):
                continue
            if TRAILS.Hypothesis in about:
                if quad.predicate in _LATER:
                    evidence = str(quad.object).strip("<>")
                    waiting.setdefault(evidence, []).append(quad)
                elif quad.predicate not in _CURRENT:
                    waiting.setdefault(when[quad.subject], []).extend(_begun(quad))
            elif TRAILS.Evidence in about:
                waiting.setdefault(str(quad.subject).strip("<>"), []).append(quad)
            else:
                start.append(quad)
        return start, waiting

    def _add(self, quads: Iterable[ox.Quad]) -> None:
        text = ox.serialize([quad.triple for quad in quads], format=ox.RdfFormat.N_TRIPLES)
        self._graph.parse(data=text or b"", format="nt")

    def _compared(self) -> Iterator[Finding]:
        history = self._history
        for kind in _DERIVED:
            there = {node.value for node in history.instances(kind) if _named(node)}
            made = {str(n) for n in self._graph.subjects(_uri(TYPE), _uri(kind))}
            if kind == TRAILS.ConfidenceUpdate:
                self.updates = len(made)
            else:
                self.transitions = len(made)
            for name in sorted(there ^ made):
                what = "is recorded, but does not follow" if name in there else "is not recorded"
                yield Finding(RULE, name, f"Worked out again, this {what}.")
            for name in sorted(there & made):
                yield from self._same(name, self._recorded(name), self._made(name))
        for node in history.instances(TRAILS.Hypothesis):
            names = [term.value for term in _CURRENT]
            recorded, made_ = self._recorded(node.value), self._made(node.value)
            yield from self._same(
                node.value,
                {n: recorded[n] for n in names if n in recorded},
                {n: made_[n] for n in names if n in made_},
            )

    def _same(self, node: str, recorded: Said, made: Said) -> Iterator[Finding]:
        told = [
            f"{name.rpartition('#')[2]} comes to {_text(made.get(name))}, but "
            f"{_text(recorded.get(name))} is recorded"
            for name in sorted({*recorded, *made})
            if recorded.get(name) != made.get(name) and name != TRAILS.step.value
        ]
        if told:
            yield Finding(RULE, node, "; ".join(told) + ".")

    def _recorded(self, node: str) -> Said:
        found = self._history.properties(ox.NamedNode(node))
        return {name.value: frozenset(map(_value, values)) for name, values in found.items()}

    def _made(self, node: str) -> Said:
        found: dict[str, set[str | Decimal]] = {}
        for _, name, value in self._graph.triples((rdflib.URIRef(node), None, None)):
            found.setdefault(str(name), set()).add(_value(value))
        return {name: frozenset(values) for name, values in found.items()}


def _begun(quad: ox.Quad) -> Iterator[ox.Quad]:
    """Return a statement about a hypothesis; with its prior, where it starts."""
    yield quad
    subject, iri = quad.subject, quad.graph_name
    if quad.predicate == TRAILS.prior:
        yield ox.Quad(subject, TRAILS.confidence, quad.object, iri)
        one = ox.Literal("1.0", datatype=_NEVER.datatype)
        yield ox.Quad(subject, TRAILS.eProcess, one, iri)
        yield ox.Quad(subject, TRAILS.status, TRAILS.Proposed, iri)


def _value(term: Any) -> str | Decimal:
    """Return a term of either engine as one compares it: a number or time by its value."""
    if isinstance(term, ox.Literal | rdflib.Literal):
        text = term.value if isinstance(term, ox.Literal) else str(term)
        datatype = str(term.datatype or "").strip("<>")
        if datatype.endswith(("#decimal", "#integer")):
            try:
                return Decimal(text)
            except InvalidOperation:
                return text
        if datatype.endswith("#dateTime"):
            try:
                return datetime.fromisoformat(text).isoformat()
            except ValueError:
                return text
        return text
    return term.value if isinstance(term, ox.NamedNode | ox.BlankNode) else str(term)


def _text(values: frozenset[str | Decimal] | None) -> str:
    return ", ".join(sorted(map(str, values))) if values else "nothing"


def _named(node: Any) -> bool:
    return isinstance(node, ox.NamedNode)


def _uri(term: ox.NamedNode) -> rdflib.URIRef:
    return rdflib.URIRef(term.value)
