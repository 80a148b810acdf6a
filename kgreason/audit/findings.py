"""What an audit gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

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
class Unchecked:
    """Something that a record cannot show by itself, and the option that shows it."""

    what: str
    by: str


DATA: Final = Unchecked(
    "whether the data give the counts of its symptoms, regions and tests, and whether the nodes it "
    "cites are there and fail",
    "--data PATH",
)
PIN: Final = Unchecked(
    "whether its times, its question, its software version, its authors and its own policy are "
    "those it was written with, and whether its last steps were struck out",
    "--pin FILE, made before",
)


@dataclass(frozen=True)
class AuditReport:
    """Findings and notices of the audit of one investigation, sorted by rule and node.

    `checked` counts what was looked at: triples, steps, updates, rules. `said` are sentences to be
    read first, `unchecked` is what was not looked at, for it takes more than the record.
    """

    investigation: str
    findings: tuple[Finding, ...]
    notices: tuple[Finding, ...]
    checked: Mapping[str, int]
    said: tuple[str, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()

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
        left = [f"not checked {one.what} ({one.by})" for one in self.unchecked]
        return "\n".join([f"{self.investigation}: {self._summary()}", *self.said, *told, *left])

    def more(
        self,
        found: Iterable[Finding] = (),
        *,
        checked: Mapping[str, int] | None = None,
        said: Iterable[str] = (),
        instead: Iterable[Unchecked] = (),
        of: Unchecked | None = None,
    ) -> "AuditReport":
        """Return the report with what was found besides, `instead` of one thing left unchecked."""
        added = list(found)
        return replace(
            self,
            findings=tuple(sorted({*self.findings, *(f for f in added if f.severity != "notice")})),
            notices=tuple(sorted({*self.notices, *(f for f in added if f.severity == "notice")})),
            checked={**self.checked, **(checked or {})},
            said=(*self.said, *said),
            unchecked=(*(one for one in self.unchecked if one != of), *instead),
        )

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
        unchecked=(DATA, PIN),
    )
