"""What a repair came to, for people and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from kgreason.record import Record
from kgreason.repair.catalogue import Repair
from kgreason.repair.trial import Feasibility


@dataclass(frozen=True)
class Offer:
    """A repair that fits a hypothesis: what it mends (data or shapes), and what it costs.

    `caution` is what a person should look at before it is applied, None where nothing is known.
    """

    repair: str
    mends: str
    region: str
    operation: str
    feasible: bool
    changes: int
    why: str
    caution: str | None = None

    @classmethod
    def of(cls, one: Repair, verdict: Feasibility) -> Self:
        """Make it of a repair and the verdict on it."""
        mends = "data" if one.mends_data else "shapes"
        return cls(
            one.name,
            mends,
            one.region,
            one.operation,
            verdict.feasible,
            verdict.changes,
            verdict.why,
            verdict.caution,
        )


@dataclass(frozen=True)
class Tried:
    """What was tried for one hypothesis; `repair` is None where nothing could be.

    `outcome` is that of an intervention, or `mended` where repairs before it left nothing to do.
    """

    number: int
    statement: str
    repair: str | None
    figures: Mapping[str, int]
    outcome: str
    note: str
    offers: Sequence[Offer]


@dataclass
class Mended:
    """The whole: what was tried and written, and failures of all constraints before and after.

    `refused` says why something is not applied; then nothing was written.
    """

    tried: list[Tried] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    before: int = 0
    after: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


def justified(record: Record, chosen: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the justification of what is applied, as lines for a comment."""
    lines = [f"Repair of {record.iri.value}"]
    for one in chosen:
        lines += [
            "",
            f"{one['hypothesis']}: {one['statement']}",
            f"Confidence {one['confidence']}. Repair: {one['repair']}. {one['note']}",
        ]
    return lines
