"""Run an investigation again from its record, and compare what comes out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from kgreason import run
from kgreason.base.errors import GraphError
from kgreason.base.terms import PROV, TRAILS
from kgreason.observe import opening
from kgreason.observe.request import Request
from kgreason.record import Ledger, Record
from kgreason.record.nonce import names_of
from kgreason.report.as_json import as_dict

_LEFT_OUT: Final = frozenset(
    {
        PROV.startedAtTime,
        PROV.endedAtTime,
        PROV.wasInformedBy,  # where workers wrote, what they began from; else what is `previous`
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


def _unchanged(record: Record) -> Request:
    """Return the request of a record; raises GraphError where its files are not those of then."""
    request = opening.recorded_request(record)
    if opening.fingerprint(request) != request.fingerprint:
        raise GraphError(
            f"The data, shapes or policy of {record.iri.value} have changed since; "
            "see with --against DATA what that does to its conclusions."
        )
    return request


def replay(ledger: str | Path, which: str | None = None) -> Replay:
    """Run an investigation again in memory, from its recorded proposals and designs.

    Symptoms are counted, tests run, and confidence and status worked out anew; nothing is proposed.
    What was done after its finish is left out. Raises GraphError if the data, shapes or policy are
    not those of then, LedgerError.
    """
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which))
        request = _unchanged(record)
        options: dict[str, Any] = asdict(request)
        data = options.pop("data")
        graph, observed = opening.symptoms(data, **options)
        with run.repeated(graph, observed, record, request) as again:
            old, new = lines(record), lines(again.record)
    return Replay(len(old), tuple(sorted(old - new)), tuple(sorted(new - old)))


@dataclass(frozen=True)
class Asked:
    """What one model, or none, was asked and what came of it; `result` is as in the schema."""

    model: str
    calls: int
    result: Mapping[str, Any]

    @property
    def causes(self) -> list[dict[str, Any]]:
        """The causes, each with who proposed it, its confidence and how many failures it holds."""
        known = {h["id"]: h for s in self.result["symptoms"] for h in s["hypotheses"]}
        return [
            {
                "statement": cause["statement"],
                "confidence": max(known[h]["confidence"] for h in cause["hypotheses"]),
                "explains": cause["explains"],
                "proposers": sorted(
                    {p for h in cause["hypotheses"] for p in known[h]["proposers"]}
                ),
            }
            for cause in self.result["causes"]
        ]


@dataclass(frozen=True)
class TwoModels:
    """The same question put to two models, or to none and one, over the same data."""

    before: Asked
    after: Asked

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            name: {"model": one.model, "calls": one.calls, "causes": one.causes}
            for name, one in (("recorded", self.before), ("now", self.after))
        }

    def __str__(self) -> str:
        out = []
        for told, one in (("Recorded", self.before), ("Now", self.after)):
            out.append(f"{told}, with {one.model} ({one.calls} calls):")
            for cause in one.causes:
                by = ", ".join(cause["proposers"])
                out.append(f"  {cause['confidence']:.2f} {cause['statement']} [{by}]")
            out += [] if one.causes else ["  no cause"]
        return "\n".join(out)


def with_model(ledger: str | Path, which: str | None = None, **model: Any) -> TwoModels:
    """Put the question of an investigation to another model, in memory; the ledger stays as it is.

    `model` are the options about a model. Raises GraphError where the data have changed since,
    OptionError for a model or limit of no use.
    """
    with Ledger.read(Path(ledger)) as store:
        record = store.record(store.entry(which))
        request = _unchanged(record)
        before = _asked(record, request.model)
    changed = replace(request, **model, fingerprint="")
    changed.check()
    with run.begin(changed, None) as result:
        return TwoModels(before, _asked(result.record, changed.model))


def _asked(record: Record, model: str | None) -> Asked:
    calls = sum(
        int(row["count"].value)
        for row in record.select("counts")
        if row["kind"] == TRAILS.ModelCall
    )
    return Asked(model or "no model", calls, as_dict(record))


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
