"""The seals of the steps, recomputed from what the record says now.

What is hashed is told in `kgreason.ledger.seal`: all statements about the nodes that a step wrote,
as sorted canonical N-Triples. Current values, which later steps replace, stay outside; the shapes
recompute those.
"""

from collections.abc import Iterator
from typing import Final

import pyoxigraph as ox

from kgreason import policy
from kgreason.audit.history import History
from kgreason.audit.report import Finding
from kgreason.audit.statements import Statement, Subject, plain
from kgreason.ledger.seal import REPLACED, line, seal
from kgreason.store import Term
from kgreason.terms import OWL, POLICY, PROV, TRAILS

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
            said = line(statement.subject, statement.predicate, statement.object)
            for written in steps:
                written.append(said)
    for step, written in lines.items():
        yield from _seal(history, step, written)
    yield from _policy(history)


def _seal(history: History, step: Term, lines: list[str]) -> Iterator[Finding]:
    before = "".join(
        found
        for link in history.statements(step, TRAILS.previous)
        for found in history.values(link.object, TRAILS.hash)
    )
    expected = seal(before, lines)
    given = history.values(step, TRAILS.hash)
    if given != [expected]:
        recorded = ", ".join(given) or "none"
        said = f"What it wrote has the hash {expected}, but {recorded} is recorded."
        yield Finding("seal", step.value, said)


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
