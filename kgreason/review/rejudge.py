"""Judge recorded evidence again on a scratch copy, by any policy; no test is run."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Row, Store
from kgreason.base.templates import Template, template
from kgreason.base.terms import PREFIXES, TRAILS, TYPE
from kgreason.record import Record
from kgreason.record.policy import Policy
from kgreason.record.record import literal

DERIVED: Final = (TRAILS.ConfidenceUpdate, TRAILS.StatusTransition)
"""The classes of what follows from evidence and policy."""
CURRENT: Final = frozenset(
    TRAILS[name] for name in ("status", "confidence", "eProcess", "lastUpdate")
)
"""What of a hypothesis follows from them."""
_LEFT: Final = frozenset(
    TRAILS[name] for name in ("prior", "policy", "supportingEvidence", "contradictingEvidence")
)
_WEIGHED: Final = frozenset({TRAILS.polarity, TRAILS.strength})
_NEVER: Final = ox.Literal("100000000000", datatype=ox.NamedNode(PREFIXES["xsd"] + "decimal"))


@dataclass
class Evidence:
    """What was recorded of an investigation, apart from what a policy made of it."""

    record: Record
    judgements: list[Row] = field(init=False)

    def __post_init__(self) -> None:
        self.judgements = self.record.select("judgements")

    @cached_property
    def _parts(self) -> tuple[list[ox.Quad], dict[str, list[ox.Quad]]]:
        """Return the quads that stay, and those of each piece of evidence and step of proposing."""
        quads = list(self.record.store.quads(self.record.iri))
        gone = {q.subject for q in quads if q.predicate == TYPE and q.object in DERIVED}
        found: dict[str, list[ox.Quad]] = {
            row.get("evidence", row["step"]).value: []
            for row in self.judgements
            if row["phase"] not in (TRAILS.Decide, TRAILS.Settle, TRAILS.Conclude)
        }
        plan = {
            q.subject: q.object.value
            for q in quads
            if q.predicate == TRAILS.step
            and isinstance(q.object, ox.NamedNode)
            and q.object.value in found
        }
        rest = []
        for quad in quads:
            name = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else ""
            if quad.subject in plan and quad.subject not in gone:
                # Who was not proposed yet is judged by nothing.
                if quad.predicate not in CURRENT | _LEFT:
                    found[plan[quad.subject]].append(quad)
            elif name in found:
                if quad.predicate not in _WEIGHED:
                    found[name].append(quad)
            elif quad.subject not in gone and quad.predicate not in CURRENT | _LEFT:
                rest.append(quad)
        return rest, found

    def judged(self, used: Policy, without: Collection[str] = ()) -> Record:
        """Put the evidence to a policy, in the order of the record, some of it left out.

        Gives a record in memory, without seals, in which nothing but confidence, status and what
        led to them is new.
        """
        rest, found = self._parts
        inner = ox.Store()
        inner.extend(rest)
        iri = self.record.iri
        store = Store(inner, f"a scratch copy of {iri.value}")
        made = Record(store, iri)
        _start(inner, iri, used)
        for row in self.judgements:
            step = ox.NamedNode(row["step"].value)
            if row["phase"] == TRAILS.Decide:
                _decide(made, used, step)
            elif row["phase"] == TRAILS.Settle:
                _apply(made, template("record", "settle-status"), step=step)
            elif row["phase"] == TRAILS.Conclude:
                _conclude(made, used, step)
            elif row["phase"] == TRAILS.Hypothesize:
                inner.extend(found[step.value])
                _propose(inner, iri, used, found[step.value])
                for gate in used.gates_of("Hypothesize"):
                    _apply(made, gate, step=step)
            elif row["evidence"].value not in without:
                inner.extend(found[row["evidence"].value])
                _weigh(inner, iri, used, row)
                _take(made, used, step, row)
        return made


def _start(inner: ox.Store, iri: ox.NamedNode, used: Policy) -> None:
    """Put a policy in the place of the one that is recorded."""
    known = {q.subject for q in inner.quads_for_pattern(None, TYPE, TRAILS.Policy, iri)}
    for subject in known | {t.subject for t in used.triples}:
        for quad in list(inner.quads_for_pattern(subject, None, None, iri)):
            inner.remove(quad)
    inner.add(ox.Quad(iri, TRAILS.policy, used.iri, iri))
    inner.extend(ox.Quad(t.subject, t.predicate, t.object, iri) for t in used.triples)


def _propose(inner: ox.Store, iri: ox.NamedNode, used: Policy, proposed: Iterable[ox.Quad]) -> None:
    """Put the hypotheses of a step to where the policy has them start."""
    frames: dict[object, list[ox.NamedNode]] = {}
    for quad in proposed:
        if quad.predicate == TRAILS.member and isinstance(quad.object, ox.NamedNode):
            frames.setdefault(quad.subject, []).append(quad.object)
    for members in frames.values():
        each, none = used.priors(len(members) - 1)
        for node in members:
            last = ox.Quad(node, TRAILS.catchAll, literal(value=True), iri) in inner
            start = none if last else each
            told: Mapping[str, ox.NamedNode | Decimal] = {
                "status": TRAILS.Proposed,
                "prior": start,
                "confidence": start,
                "eProcess": Decimal("1.0"),
            }
            inner.extend(ox.Quad(node, TRAILS[n], literal(v), iri) for n, v in told.items())


def _weigh(inner: ox.Store, iri: ox.NamedNode, used: Policy, row: Row) -> None:
    """Describe what a piece of evidence is worth by the policy."""
    evidence = ox.NamedNode(row["evidence"].value)
    likely = used.outcomes[row["kind"].value, row["class"].value]
    inner.add(ox.Quad(evidence, TRAILS.polarity, likely.polarity, iri))
    inner.add(ox.Quad(evidence, TRAILS.strength, literal(likely.strength), iri))
    lists = {
        TRAILS.Supports: TRAILS.supportingEvidence,
        TRAILS.Contradicts: TRAILS.contradictingEvidence,
    }
    if likely.polarity in lists:
        hypothesis = ox.NamedNode(row["hypothesis"].value)
        inner.add(ox.Quad(hypothesis, lists[likely.polarity], evidence, iri))


def _take(made: Record, used: Policy, step: ox.NamedNode, row: Row) -> None:
    evidence = ox.NamedNode(row["evidence"].value)
    for rule in used.rules:
        needed = TRAILS[rule.header.get("needs", "note")]
        if next(made.store.inner.quads_for_pattern(evidence, needed, None, made.iri), None):
            _apply(made, rule, step=step, evidence=evidence)
    for gate in used.gates_of("Execute"):
        _apply(made, gate, step=step, evidence=evidence)


def _decide(made: Record, used: Policy, step: ox.NamedNode) -> None:
    found = made.select("e-bh", role="status")[0].get("threshold")
    threshold = found if isinstance(found, ox.Literal) else _NEVER
    for gate in used.gates_of("Decide"):
        _apply(made, gate, step=step, threshold=threshold)


def _conclude(made: Record, used: Policy, step: ox.NamedNode) -> None:
    """Estimate anew, and apply the rules that go by it.

    A calibration that was learned under another policy says nothing of these confidences.
    """
    inner, iri = made.store.inner, made.iri
    estimates = {q.subject for q in inner.quads_for_pattern(None, TYPE, TRAILS.Estimate, iri)}
    for node in estimates:
        for quad in list(inner.quads_for_pattern(node, None, None, iri)):
            inner.remove(quad)
    if any(inner.quads_for_pattern(None, TRAILS.learnedUnder, used.iri, iri)):
        for each in (template("record", "estimate"), *used.last_rules):
            _apply(made, each, step=step)


def _apply(made: Record, what: Template, **values: ox.NamedNode | ox.Literal) -> None:
    given = {"investigation": made.iri, **values}
    made.store.update(what.render(**{name: given[name] for name in what.parameters}))


def causes(made: Record) -> dict[str, frozenset[str]]:
    """Return by symptom the hypotheses that count as its causes."""
    out: dict[str, set[str]] = {}
    for row in made.select("standings"):
        mine = out.setdefault(row["symptom"].value, set())
        good = row["status"].value in {"supported", "converged"}
        if good and row["catchAll"].value != "true":
            mine.add(row["hypothesis"].value)
    return {symptom: frozenset(found) for symptom, found in out.items()}


def derived(made: Record) -> Iterable[ox.Triple]:
    """Return what a policy made of the evidence: updates, transitions, current values."""
    inner, iri = made.store.inner, made.iri
    nodes = {q.subject for kind in DERIVED for q in inner.quads_for_pattern(None, TYPE, kind, iri)}
    for quad in inner.quads_for_pattern(None, None, None, iri):
        if quad.subject in nodes or quad.predicate in CURRENT | {TRAILS.prior}:
            yield quad.triple
