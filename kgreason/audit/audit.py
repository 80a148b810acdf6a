"""Run an audit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Final

import pyoxigraph as ox

from kgreason.audit import (
    asked,
    closed,
    figures,
    parentage,
    segments,
    texts_beside,
    weighted,
    words,
)
from kgreason.audit import chain as seal
from kgreason.audit import core_constraints as core
from kgreason.audit.findings import AuditReport, Engine, Finding, Unchecked, report
from kgreason.audit.merged import History, Properties, types_in_ontology
from kgreason.audit.record_shapes import shapes
from kgreason.base.errors import OptionError
from kgreason.base.store import Term
from kgreason.base.terms import TRAILS, TYPE
from kgreason.record import Record, Written
from kgreason.record.modalities import ENGINE_MODALITIES, modalities

_NOT_YET: Final = "Step.hash.minCount"
"""What a step lacks until it is sealed, which is when it is found fit."""


def audit(record: Record, engine: Engine = "native") -> AuditReport:
    """Audit the record of one investigation; it is only read.

    `engine` runs the shapes: "native" (about a second for a thousand updates), or "pyshacl", the
    reference, which takes minutes for a few hundred. The verdict is the same.

    Raises LedgerError if there is no such record, OptionError for an engine there is not.
    """
    engines = {"native": _natively, "pyshacl": _by_reference}
    if engine not in engines:
        raise OptionError(f"There is no engine {engine!r}; there are {', '.join(engines)}.")
    history = History(record)
    found = [
        *engines[engine](history),
        *_by_version(history, _node_by_node(history, core_too=engine == "native")),
        *segments.findings(history),
        *parentage.findings(history),
    ]
    limits = [
        limit for shape in shapes().shapes for many in shape.limits.values() for limit in many
    ]
    constraints = len(limits) + len(shapes().rules)
    texts, left = texts_beside.check(record)
    found += texts
    made = report(record.iri.value, found, {**history.counted(), "constraints": constraints})
    return made.more(instead=[*_run_by_others(history), *left])


def _run_by_others(history: History) -> Iterator[Unchecked]:
    """Return how many tests of each modality can be run again by their testers alone."""
    given = (history.properties(node) for node in history.instances(TRAILS.Evidence))
    found = Counter(term for said in given for term in said.get(TRAILS.modality, ()))
    for name, modality in sorted(modalities().items()):
        if modality not in ENGINE_MODALITIES and found[modality]:
            number = found[modality]
            tests = "test" if number == 1 else "tests"
            what = f"what {number} {tests} outside the graph found ({name}), which cannot be rerun"
            yield Unchecked(what, "ask the tester again")


def _by_reference(history: History) -> Iterator[Finding]:
    from kgreason.audit import pyshacl_reference as reference  # noqa: PLC0415 - pySHACL takes half a second to load

    return reference.findings(history)


def _node_by_node(history: History, *, core_too: bool) -> Iterator[Finding]:
    """Check the seal of each step, and its nodes each by itself; what was read is not kept.

    Nodes of no step are checked too.
    """
    steps = history.instances(TRAILS.Step)
    seals = seal.Seals(history)
    for step in steps:
        nodes = [(node, history.properties(node)) for node in history.written(step)]
        for node, properties in nodes:
            yield from _one(history, node, properties, core_too=core_too)
        yield from seals.check(step, nodes)
    rest = list(seals.rest())
    yield from rest
    if any(finding.rule == seal.UNSEALED for finding in rest):
        known = set(steps)
        for node in {link.subject for link in history.statements(None, TYPE)}:
            properties = history.properties(node)
            if known.isdisjoint(properties.get(TRAILS.step, ())):
                yield from _one(history, node, properties, core_too=core_too)


def _by_version(history: History, found: Iterable[Finding]) -> Iterator[Finding]:
    """Make words no fault that another version of kgreason may have put otherwise."""
    said = {s.object.value for s in history.statements(None, TRAILS.softwareVersion)}
    own = version("kgreason")
    for finding in found:
        if finding.rule != words.RULE or said == {own}:
            yield finding
            continue
        told = f"{finding.message} Version {', '.join(sorted(said))} wrote it, this is {own}."
        yield replace(finding, message=told, severity="notice")


def _one(history: History, node: Term, given: Properties, *, core_too: bool) -> Iterator[Finding]:
    """Check one node by itself: its properties, its figures, its sentences, its queries."""
    if core_too:
        yield from core.check(history, node, given)
    yield from figures.check(history, node, given)
    yield from weighted.check(history, node, given)
    yield from words.check(history, node, given)
    yield from asked.check(node, given)


def _natively(history: History) -> Iterator[Finding]:
    for rule in shapes().rules:
        for row in history.merged.select(rule.query):
            message = rule.say(row.get("value"))
            yield Finding(rule.name, row["this"].value, message, rule.severity)


def check_step(record: Record, step: ox.NamedNode) -> list[str]:
    """Describe what is wrong with nodes that one step wrote, as far as each can be judged alone.

    Their properties, datatypes, ranges and classes are checked, not what needs the rest of the
    history. Cheap enough to be called after each commit.
    """
    history = History(record)
    nodes = [link.subject for link in history.statements(None, TRAILS.step, step)]
    return [
        f"{finding.node}: {finding.message} ({finding.rule})"
        for node in nodes
        for finding in core.check_node(history, node)
    ]


class _Step:
    """A step that is about to be written, with the ontology."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def properties(self, node: Term) -> Mapping[ox.NamedNode, list[Term]]:
        return self._written.properties(node)

    def types(self, node: Term) -> set[Term]:
        return self._written.types(node) | types_in_ontology().get(node, set())


def refuse(written: Written) -> Iterator[str]:
    """Describe what is wrong with a step that is about to be written: the `check` of a record.

    It may write what its phase allows (`kgreason.audit.closed`). Else as `check_step`: the core
    constraints of the shapes, on the step's own nodes; what a constraint in SPARQL says needs the
    rest of the history, and is left to the audit.
    """
    yield from closed.faults(written)
    step = _Step(written)
    for node in written.nodes:
        for finding in core.check_node(step, node):
            if finding.rule != _NOT_YET:
                yield f"{finding.node}: {finding.message} ({finding.rule})"
