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
from kgreason.audit.statements import Statement, Subject, plain
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
    """Check that every statement is sealed, every seal right, and the policy the known one."""
    yield from _one_investigation(history)
    writers: dict[Subject, list[Term]] = {}
    for link in history.statements(None, TRAILS.step):
        writers.setdefault(link.subject, []).append(link.object)
    lines: dict[Term, list[str]] = {step: [] for step in history.instances(TRAILS.Step)}
    for statement in history.statements():
        steps = [lines[s] for s in writers.get(statement.subject, ()) if s in lines]
        if not steps or not _readable(statement):
            said = f"No seal covers what is said of it: {statement.predicate.value}."
            yield Finding("unsealed", str(statement.subject).strip("<>"), said)
        elif statement.predicate not in REPLACED and not (
            # the end of the investigation is written by its last step on a node of the first
            statement.predicate == _ENDED and statement.subject == history.iri
        ):
            line = _line(statement)
            for written in steps:
                written.append(line)
    for step, written in lines.items():
        yield from _seal(history, step, written)
    yield from _policy(history)


def _seal(history: History, step: Term, lines: list[str]) -> Iterator[Finding]:
    before = "".join(
        seal
        for link in history.statements(step, TRAILS.previous)
        for seal in history.values(link.object, TRAILS.hash)
    )
    seal = sha256("\n".join([before, *sorted(lines)]).encode()).hexdigest()
    given = history.values(step, TRAILS.hash)
    if given != [seal]:
        recorded = ", ".join(given) or "none"
        said = f"What it wrote has the hash {seal}, but {recorded} is recorded."
        yield Finding("seal", step.value, said)


def _line(statement: Statement) -> str:
    value = statement.object
    kind = "iri"
    if isinstance(value, ox.Literal):
        kind = f"{value.datatype.value}@{value.language or ''}"
    return f"{statement.subject.value} {statement.predicate.value} {kind} {value.value}"


def _readable(statement: Statement) -> bool:
    """Tell whether a statement can be sealed: blank nodes have no name, and triples no place."""
    value = statement.object
    return isinstance(statement.subject, ox.NamedNode) and isinstance(
        value, ox.NamedNode | ox.Literal
    )


def _one_investigation(history: History) -> Iterator[Finding]:
    found = sorted(node.value for node in history.instances(TRAILS.Investigation))
    if found != [history.iri.value]:
        said = f"Its record has to be about it alone, but is about: {', '.join(found) or 'none'}."
        yield Finding("one-investigation", history.iri.value, said)


def _policy(history: History) -> Iterator[Finding]:
    """Compare the policy in the record with the one of that name and version that came along."""
    for link in history.statements(history.iri, TRAILS.policy):
        iri = link.object
        name = iri.value.removeprefix(POLICY.iri)
        version = history.values(iri, OWL.versionInfo)
        if name not in policy.names() or [policy.load(name).version] != version:
            said = "There is no policy of that name and version here to compare it with."
            yield Finding("policy-known", iri.value, said, "notice")
            continue
        shipped = list(_shipped(name))
        known = {(str(t.subject), str(t.predicate), str(t.object)) for t in shipped}
        recorded = _recorded(history, iri, {t.subject for t in shipped})
        for subject, predicate, value in sorted(known ^ recorded):
            said = f"It is not the policy of that name and version: {predicate} {value}."
            yield Finding("policy-known", subject.strip("<>"), said)


def _shipped(name: str) -> Iterator[Statement]:
    return plain(policy.load(name).triples)


def _recorded(history: History, iri: Term, parts: set[Term]) -> set[tuple[str, str, str]]:
    for predicate in (POLICY.likelihood, POLICY.transition):
        parts |= {link.object for link in history.statements(iri, predicate)}
    return {
        (str(found.subject), str(found.predicate), str(found.object))
        for part in parts
        for found in history.statements(part)
        if found.predicate not in {TRAILS.step, PROV.wasGeneratedBy}
    }
