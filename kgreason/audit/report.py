"""What an audit gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["violation", "warning", "notice"]
Engine = Literal["native", "pyshacl"]


@dataclass(frozen=True, order=True)
class Finding:
    """A rule that a node of the record breaks; a notice is no fault."""

    rule: str
    node: str
    message: str = field(compare=False)
    severity: Severity = field(default="violation", compare=False)


@dataclass(frozen=True)
class AuditReport:
    """Findings and notices of the audit of one investigation, sorted by rule and node.

    `checked` counts what was looked at: triples, steps, updates, rules.
    """

    investigation: str
    findings: tuple[Finding, ...]
    notices: tuple[Finding, ...]
    checked: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Whether nothing was found (notices aside)."""
        return not self.findings

    @property
    def rules(self) -> frozenset[str]:
        """The rules that were broken."""
        return frozenset(finding.rule for finding in self.findings)

    def __str__(self) -> str:
        told = [
            f"{found.severity} {found.rule} {found.node}: {found.message}"
            for found in (*self.findings, *self.notices)
        ]
        return "\n".join([f"{self.investigation}: {self._summary()}", *told])

    def _summary(self) -> str:
        counted = ", ".join(f"{number} {what}" for what, number in self.checked.items())
        return f"{len(self.findings)} findings, {len(self.notices)} notices ({counted})"


def report(investigation: str, found: Iterable[Finding], checked: Mapping[str, int]) -> AuditReport:
    """Sort findings into a report; each rule speaks once of a node."""
    ordered = sorted(set(found))
    return AuditReport(
        investigation,
        tuple(f for f in ordered if f.severity != "notice"),
        tuple(f for f in ordered if f.severity == "notice"),
        checked,
    )
