"""Run an audit."""

from collections.abc import Iterator

import pyoxigraph as ox

from kgreason.audit import core, figures, reference, seal
from kgreason.audit.history import History
from kgreason.audit.report import AuditReport, Engine, Finding, report
from kgreason.audit.shapes import shapes
from kgreason.errors import OptionError
from kgreason.ledger import Record
from kgreason.terms import TRAILS


def audit(record: Record, engine: Engine = "native") -> AuditReport:
    """Audit the record of one investigation; it is only read.

    `engine` runs the shapes: "native" (about a second for a thousand updates), or "pyshacl", the
    reference, which takes minutes for a few hundred. The verdict is the same.

    Raises LedgerError if there is no such record, OptionError for an engine there is not.
    """
    engines = {"native": _natively, "pyshacl": reference.findings}
    if engine not in engines:
        raise OptionError(f"There is no engine {engine!r}; there are {', '.join(engines)}.")
    history = History(record)
    found = [
        *engines[engine](history),
        *seal.findings(history),
        *figures.findings(history),
    ]
    limits = [
        limit for shape in shapes().shapes for many in shape.limits.values() for limit in many
    ]
    constraints = len(limits) + len(shapes().rules)
    return report(record.iri.value, found, {**history.counted(), "constraints": constraints})


def _natively(history: History) -> Iterator[Finding]:
    yield from core.findings(history)
    for rule in shapes().rules:
        for row in history.merged.select(rule.query):
            message = rule.say(row.get("value"))
            yield Finding(rule.name, row["this"].value, message, rule.severity)


def check_step(record: Record, step: ox.NamedNode) -> list[str]:
    """Say what is wrong with the nodes that one step wrote, as far as each can be judged alone.

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
