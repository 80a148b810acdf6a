"""The seals of the steps, recomputed from what the record says now.

What is hashed is told in `kgreason.record.seal`: all statements about the nodes that a step wrote,
as sorted canonical N-Triples. Current values, which later steps replace, stay outside; the shapes
recompute those.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.audit.findings import Finding
from kgreason.audit.merged import History
from kgreason.audit.statements import Statement, Subject, plain
from kgreason.base.figures import ENGINE, copied
from kgreason.base.store import AnyTerm, Term
from kgreason.base.terms import OWL, POLICY, PROV, TRAILS
from kgreason.record import policy
from kgreason.record.seal import lines, seal

UNSEALED: Final = "unsealed"
_ENDED: Final = PROV.endedAtTime


class Seals:
    """Checks the seals of a record step by step, and at the end what no seal covers."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._covered = 0
        self._twice: set[Term] = set()

    def check(
        self, step: Term, nodes: Iterable[tuple[Subject, Mapping[ox.NamedNode, list[Term]]]]
    ) -> Iterator[Finding]:
        """Check the seal of a step, of whose nodes all is given that is said of them."""
        said: list[str] = []
        for node, given in nodes:
            if not isinstance(node, ox.NamedNode):
                continue
            properties = _named(given)
            writers = properties[TRAILS.step]
            if len(writers) == 1 or node not in self._twice:
                self._covered += sum(map(len, properties.values()))
            if len(writers) > 1:
                self._twice.add(node)
            if node == self._history.iri:
                # its end is written by the last step on the investigation, a node of the first
                properties = {name: v for name, v in properties.items() if name != _ENDED}
            said += lines(node, properties)
        yield from _seal(self._history, step, said)

    def rest(self) -> Iterator[Finding]:
        """Check that nothing is left that no seal covers, and that the policy is the known one."""
        yield from _one_investigation(self._history)
        if self._covered != self._history.size:
            yield from _unsealed(self._history)
        yield from _policy(self._history)
        yield from _figures(self._history)


def findings(history: History) -> Iterator[Finding]:
    """Check that every statement is sealed, every seal right, and the policy the known one."""
    seals = Seals(history)
    for step in history.instances(TRAILS.Step):
        nodes = ((node, history.properties(node)) for node in history.written(step))
        yield from seals.check(step, nodes)
    yield from seals.rest()


def _unsealed(history: History) -> Iterator[Finding]:
    steps = history.instances(TRAILS.Step)
    sealed = {node for step in steps for node in history.written(step)}
    for statement in history.statements():
        if statement.subject not in sealed or not _readable(statement.subject, statement.object):
            said = f"No seal covers what is said of it: {statement.predicate.value}."
            yield Finding(UNSEALED, str(statement.subject).strip("<>"), said)


def _seal(history: History, step: Term, said: list[str]) -> Iterator[Finding]:
    before = "".join(
        found
        for link in history.statements(step, TRAILS.previous)
        for found in history.values(link.object, TRAILS.hash)
    )
    expected = seal(before, said)
    given = history.values(step, TRAILS.hash)
    if given != [expected]:
        recorded = ", ".join(given) or "none"
        message = f"What it wrote has the hash {expected}, but {recorded} is recorded."
        yield Finding("seal", step.value, message)


def _named(properties: Mapping[ox.NamedNode, list[Term]]) -> Mapping[ox.NamedNode, list[Term]]:
    """Return the properties without what cannot be sealed: a blank node has no name."""
    if not any(ox.BlankNode in map(type, values) for values in properties.values()):
        return properties
    return {
        name: [value for value in values if not isinstance(value, ox.BlankNode)]
        for name, values in properties.items()
    }


def _readable(node: Term, value: AnyTerm) -> bool:
    """Check whether a statement can be sealed: blank nodes have no name, and triples no place."""
    return isinstance(node, ox.NamedNode) and isinstance(value, ox.NamedNode | ox.Literal)


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


def _figures(history: History) -> Iterator[Finding]:
    """Return which figures of the engine that made a record are not those of this one."""
    links = history.statements(history.iri, TRAILS.figures)
    recorded = _by_name(given for link in links for given in history.statements(link.object))
    own = _by_name(plain(_stored()))
    if not recorded:
        said = "The record does not say by which figures the engine judged that made it."
        yield Finding("figures-known", history.iri.value, said, "notice")
        return
    for name in sorted(recorded.keys() | own.keys()):
        then, now = (", ".join(found.get(name, ("no value",))) for found in (recorded, own))
        if then != now:
            said = f"The record was made with {then} for policy:{name}; this engine has {now}."
            yield Finding("figures-known", ENGINE.value, said, "notice")


def _by_name(said: Iterable[Statement]) -> dict[str, list[str]]:
    """Return the values of each figure, sorted."""
    found: dict[str, list[str]] = {}
    for one in said:
        if one.predicate in POLICY:
            name, value = one.predicate.value.removeprefix(POLICY.iri), one.object
            told = value.value if isinstance(value, ox.Literal) else str(value)
            found.setdefault(name, []).append(told)
    return {name: sorted(values) for name, values in found.items()}


@cache
def _stored() -> tuple[ox.Quad, ...]:
    """Return the figures of this engine as a store writes them, which drops zeros at the end."""
    store = ox.Store()
    store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in copied())
    return tuple(store)


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
