"""The audit of a reasoning history: does the record follow from what it records.

Three things are held to it. The shapes of `shapes/` say what nodes there are and how they fit
together, and recompute every confidence, e-process and status in SPARQL; they run natively, or
under pySHACL with the same verdict. The seals of the steps are recomputed, so that nothing that
was written has changed since. What SPARQL has no arithmetic for, e-values and outcome classes, is
recomputed from the recorded counts with the functions that made them.

Rules are named by their file in `queries/audit/` (`update-after`), by class, property and
constraint (`Hypothesis.prior.maxInclusive`), or `seal`, `unsealed`, `one-investigation`,
`policy-known`, `figures-known`, `figures`, `pin`.
"""

from kgreason.audit.audit import audit, check_step, refuse
from kgreason.audit.findings import AuditReport, Engine, Finding, Severity
from kgreason.audit.pin import pinned
from kgreason.audit.rerun import Difference, Sample, recheck, told

__all__ = [
    "AuditReport",
    "Difference",
    "Engine",
    "Finding",
    "Sample",
    "Severity",
    "audit",
    "check_step",
    "pinned",
    "recheck",
    "refuse",
    "told",
]
