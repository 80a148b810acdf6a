"""Judge: what people say of hypotheses, appended to the record and read from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyoxigraph as ox

from kgreason.audit import refuse
from kgreason.base.errors import LedgerError
from kgreason.base.terms import PROV, TRAILS
from kgreason.record import Ledger, Record
from kgreason.record.agents import agent, associate
from kgreason.record.remote import again
from kgreason.report.questions import find


@dataclass(frozen=True)
class Opinion:
    """What a person last said of a hypothesis.

    `confidence` is that of the hypothesis then, `adjustment` that of the verdict on its symptom;
    `proof` is by what the hypothesis stands or falls, where the record says so.
    """

    hypothesis: str
    person: str
    right: bool
    confidence: float
    adjustment: float | None
    proof: str | None = None


@dataclass(frozen=True)
class Judged:
    """The node of a judgement, and what each person thinks of that hypothesis now."""

    node: ox.NamedNode
    hypothesis: ox.NamedNode
    opinions: tuple[Opinion, ...]


@again
def judge(
    ledger: str | Path,
    hypothesis: str,
    person: str,
    *,
    right: bool,
    note: str | None = None,
    which: str | None = None,
) -> Judged:
    """Append a person's judgement of a hypothesis to the record of its investigation.

    The hypothesis is named by number or IRI. Of several judgements by one person the last counts.
    Raises LedgerError where there is no such investigation or it is not finished, OptionError for a
    hypothesis that there is not, or a person without a name.
    """
    who = agent(person, "--by")
    apart, _, number = hypothesis.rpartition(":hypothesis:")
    with Ledger.append(Path(ledger)) as store:
        entry = store.entry(which or apart or None)
        if not entry.finished:
            raise LedgerError(
                f"{entry.iri.value} is not finished; `kgreason resume` goes on with it."
            )
        record = store.record(entry)
        record.check = refuse
        about = find(record, ox.NamedNode(hypothesis) if apart and number else hypothesis)
        step = record.step("Act")
        confidence = record.store.values(about, TRAILS.confidence, record.iri)[0]
        node = step.make(
            "Judgement",
            PROV.Entity,
            hypothesis=about,
            right=right,
            note=note or None,
            atConfidence=Decimal(confidence.value),
        )
        associate(record, step, who, PROV.Person)
        step.add(node, PROV.wasAttributedTo, who.iri)
        record.commit(step)
        return Judged(node, about, tuple(opinions(record).get(about.value, ())))


def opinions(record: Record) -> dict[str, list[Opinion]]:
    """Return what each person last said, by the IRI of the hypothesis."""
    out: dict[str, list[Opinion]] = {}
    for row in record.select("verdicts-of-people"):
        said = Opinion(
            row["hypothesis"].value,
            row["person"].value,
            row["right"].value == "true",
            float(row["confidence"].value),
            float(row["adjustment"].value) if "adjustment" in row else None,
            row["proof"].value if "proof" in row else None,
        )
        out.setdefault(said.hypothesis, []).append(said)
    return out


def contradiction(said: Sequence[Opinion]) -> str | None:
    """Describe who contradicts whom on a hypothesis; None where all agree."""
    if len({one.right for one in said}) < 2:  # noqa: PLR2004 - right and wrong
        return None
    told = ", ".join(f"{one.person}: {'right' if one.right else 'wrong'}" for one in said)
    return f"People contradict each other on {said[0].hypothesis} ({told})."
