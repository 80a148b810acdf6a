"""The long texts beside a record: whether they are there, and are those that its digests name.

Prompts, answers of models and sources, and what designed tests gave lie there. No figure, status or
cause is worked out from them, so that a record alone can be audited; what it quotes of them cannot
be looked up then.
"""

from collections.abc import Iterator
from typing import Final

from kgreason.audit.findings import Finding, Unchecked
from kgreason.record import Record

CHANGED: Final = "text-changed"
MISSING: Final = "text-missing"


def check(record: Record) -> tuple[list[Finding], list[Unchecked]]:
    """Return what is wrong with the texts of a record.

    One that was changed is a fault; one that is missing among others a notice. Where none of them
    is there, the record was taken along alone, and they are told as not checked.
    """
    digests = [row["digest"].value for row in record.select("blobs")]
    there = [digest for digest in digests if record.blobs.has(digest)]
    if digests and not there:
        what = f"the {len(digests)} long texts beside it, none of which is here"
        return [], [Unchecked(what, "take the folder blobs/ along with the ledger")]
    return list(_faults(record, digests, set(there))), []


def _faults(record: Record, digests: list[str], there: set[str]) -> Iterator[Finding]:
    for digest in digests:
        if digest not in there:
            told = f"The text {digest} beside the record is missing."
            yield Finding(MISSING, record.iri.value, told, "notice")
        elif not record.blobs.intact(digest):
            told = f"The text {digest} beside the record was changed; its digest is another one."
            yield Finding(CHANGED, record.iri.value, told)
