"""Run an investigation again from its record, and compare what comes out."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason import run
from kgreason.base.errors import GraphError
from kgreason.base.terms import PROV, TRAILS
from kgreason.observe import opening
from kgreason.record import Ledger, Record
from kgreason.record.nonce import names_of

_LEFT_OUT: Final = frozenset(
    {
        PROV.startedAtTime,
        PROV.endedAtTime,
        *(TRAILS[name] for name in ("elapsed", "hash", "head", "attempt", "folder")),
    }
)


@dataclass(frozen=True)
class Replay:
    """Lines that only the record has, and lines that only the replay has."""

    statements: int
    recorded: tuple[str, ...] = ()
    replayed: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether both are the same, times and seals apart."""
        return not self.recorded and not self.replayed


def replay(ledger: str | Path, which: str | None = None) -> Replay:
    """Run an investigation again in memory, from its recorded proposals and designs.

    Symptoms are counted, tests run, and confidence and status worked out anew; nothing is proposed.
    What was done after its finish is left out. Raises GraphError if the data, shapes or policy are
    not those of then, LedgerError.
    """
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which))
        request = opening.recorded_request(record)
        if opening.fingerprint(request) != request.fingerprint:
            raise GraphError(
                f"The data, shapes or policy of {record.iri.value} have changed since; "
                "see with --against DATA what that does to its conclusions."
            )
        options: dict[str, Any] = asdict(request)
        data = options.pop("data")
        graph, observed = opening.symptoms(data, **options)
        with run.repeated(graph, observed, record, request) as again:
            old, new = lines(record), lines(again.record)
    return Replay(len(old), tuple(sorted(old - new)), tuple(sorted(new - old)))


def lines(record: Record) -> set[str]:
    """Return a record as N-Quads without times, durations, seals and numbers of attempts.

    What was appended after the finish is left out too.
    """
    base = names_of(record.iri)
    known = {row["step"] for row in record.select("step-sequence")}
    appended = {
        quad.subject
        for quad in record.store.inner.quads_for_pattern(None, TRAILS.step, None, record.iri)
        if quad.object not in known
    }
    kept = (
        quad
        for quad in record.store.quads(record.iri)
        if quad.predicate not in _LEFT_OUT
        and quad.subject not in appended
        and quad.object not in appended
    )
    text = ox.serialize(kept, format=ox.RdfFormat.N_QUADS) or b""
    return set(base.sub("urn:replayed", text.decode()).splitlines())
