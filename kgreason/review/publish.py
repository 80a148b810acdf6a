"""Publish: give a report out as final, where the policy allows it for all that it claims."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from kgreason.audit import audit, refuse
from kgreason.base.errors import LedgerError
from kgreason.base.terms import PROV, TRAILS
from kgreason.record import Ledger, Record
from kgreason.record.permits import authorise
from kgreason.record.remote import again
from kgreason.report.result import Result


@dataclass(frozen=True)
class Published:
    """The text of a final report, or why it was refused."""

    text: str
    refused: tuple[str, ...] = ()


@again
def publish(ledger: str | Path, which: str | None, make: Callable[[Result], str]) -> Published:
    """Make a report and record that it is final, with the digest of its text.

    The audit has to find nothing, and the policy has to allow it for each hypothesis that the
    report makes a claim about; what it says to that is recorded, refusals too. Raises LedgerError
    where the investigation is not finished.
    """
    with Ledger.append(Path(ledger)) as store:
        entry = store.entry(which)
        if not entry.finished:
            raise LedgerError(
                f"{entry.iri.value} is not finished; `kgreason resume` goes on with it."
            )
        record = store.record(entry)
        record.check = refuse
        found = audit(record)
        if not found.ok:
            return Published("", (f"the audit finds {len(found.findings)} faults in its record",))
        text = make(Result(store, record))
        return Published(text, _recorded(record, text))


def _recorded(record: Record, text: str) -> tuple[str, ...]:
    """Record the publication, or that it was refused; gives the reasons against it."""
    step = record.step("Act")
    rows = record.select("claimed")
    grants: list[ox.NamedNode] = []
    refused = []
    for row in rows:
        if "hypothesis" in row:
            hypothesis = ox.NamedNode(row["hypothesis"].value)
            node, permit = authorise(record, step, TRAILS.PublishReport, hypothesis)
            grants.append(node)
            if not permit.granted:
                refused.append(f"{hypothesis.value}: {permit.why}")
    if not refused:
        step.make(
            "Publication",
            PROV.Entity,
            report=ox.NamedNode(rows[0]["report"].value),
            authorisation=grants or None,
            digest=hashlib.sha256(text.encode()).hexdigest(),
        )
    record.commit(step)
    return tuple(refused)
