"""The seals of the steps, recomputed apart from the template that made them.

The hash of a step is SHA-256 over the hash of the step before it and the sorted lines of all
statements about the nodes it wrote: node, property, "iri" or datatype@language, value. Current
values, which later steps replace, stay outside; the shapes recompute those.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import pyoxigraph as ox

from kgreason import policy
from kgreason.audit.history import History
from kgreason.audit.report import Finding
from kgreason.store import Term
from kgreason.terms import OWL, POLICY, PROV, TRAILS

REPLACED: Final = frozenset(
    TRAILS[name]
    for name in (
        "status",
        "confidence",
        "eProcess",
        "head",
        "state",
        "hash",
        "supportingEvidence",
        "contradictingEvidence",
        "lastUpdate",
    )
)


_ENDED: Final = PROV.endedAtTime


def findings(history: History) -> Iterator[Finding]:
    """Check that every statement is sealed, every seal is right, and the policy is the known one."""
    yield from _one_investigation(history)
    yield from _seals(history)
    yield from _policy(history)


def _one_investigation(history: History) -> Iterator[Finding]:
    found = history.instances(TRAILS.Investigation)
    if found != [history.iri]:
        said = ", ".join(sorted(node.value for node in found)) or "none"
        yield Finding(
            "one-investigation", history.iri.value, f"Its record is about other ones too: {said}."
        )


def _seals(history: History) -> Iterator[Finding]:
    writers: dict[Term, list[Term]] = {}
    for quad in history.quads(None, TRAILS.step):
        writers.setdefault(quad.subject, []).append(quad.object)
    lines: dict[Term, list[str]] = {node: [] for node in history.instances(TRAILS.Step)}
    for quad in history.quads():
        sealers = writers.get(quad.subject, [])
        readable = not isinstance(quad.object, ox.BlankNode)
        if not sealers or not readable or not all(step in lines for step in sealers):
            said = f"No seal covers what is said of it: {quad.predicate.value}."
            yield Finding("unsealed", quad.subject.value, said)
        elif quad.predicate not in REPLACED and not (
            # the end of the investigation is written by its last step on a node of the first
            quad.predicate == _ENDED and quad.subject == history.iri
        ):
            for step in sealers:
                lines[step].append(_line(quad))
    for step, written in lines.items():
        given = _values(history, step, TRAILS.hash)
        before = "".join(
            text
            for previous in history.quads(step, TRAILS.previous)
            for text in _values(history, previous.object, TRAILS.hash)
        )
        seal = sha256("\n".join([before, *sorted(written)]).encode()).hexdigest()
        if given != [seal]:
            said = f"What it wrote has the hash {seal}, but {', '.join(given) or 'none'} is recorded."
            yield Finding("seal", step.value, said)


def _line(quad: ox.Quad) -> str:
    value = quad.object
    kind = "iri"
    if isinstance(value, ox.Literal):
        kind = f"{value.datatype.value}@{value.language or ''}"
    return f"{quad.subject.value} {quad.predicate.value} {kind} {value.value}"


def _values(history: History, node: Term, predicate: ox.NamedNode) -> list[str]:
    return sorted(quad.object.value for quad in history.quads(node, predicate))


def _policy(history: History) -> Iterator[Finding]:
    """Compare the policy in the record with the one of that name and version that came along."""
    for quad in history.quads(history.iri, TRAILS.policy):
        iri = quad.object
        name = iri.value.removeprefix(POLICY.iri)
        version = _values(history, iri, OWL.versionInfo)
        if name not in policy.names() or [policy.load(name).version] != version:
            said = "This kgreason has no policy of that name and version to compare it with."
            yield Finding("policy-known", iri.value, said, "notice")
            continue
        known = {(t.subject, t.predicate, t.object) for t in policy.load(name).triples}
        parts = {iri, *(subject for subject, _, _ in known)}
        parts |= {q.object for p in (POLICY.likelihood, POLICY.transition) for q in history.quads(iri, p)}
        recorded = {
            (q.subject, q.predicate, q.object)
            for part in parts
            for q in history.quads(part)
            if q.predicate not in {TRAILS.step, PROV.wasGeneratedBy}
        }
        for subject, predicate, value in sorted(known ^ recorded, key=str):
            said = f"It is not the policy of that name and version: {predicate.value} {value.value}."
            yield Finding("policy-known", subject.value, said)
