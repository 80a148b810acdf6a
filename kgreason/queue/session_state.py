"""The state of a session as a worker gets it: its record up to a step, and what goes with it."""

import json
import zlib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError
from kgreason.base.resources import folder
from kgreason.record import Ledger, Record

_DATA: Final = (".ttl", ".rq", ".ru", ".toml")


@dataclass(frozen=True)
class SessionState:
    """A record as N-Triples, the build that wrote it, and the seconds of work that went into it.

    `foreign` says that others than the engine proposed, whose queries may take for ever.
    """

    session: str
    version: str
    seconds: float
    triples: bytes
    foreign: bool = False

    def packed(self) -> bytes:
        """Return the state as bytes."""
        head: dict[str, object] = {"session": self.session, "version": self.version}
        head |= {"seconds": self.seconds, "foreign": self.foreign}
        return zlib.compress(json.dumps(head).encode() + b"\n" + self.triples)

    def record(self) -> Record:
        """Return the record in a ledger of its own, in memory."""
        ledger = Ledger.memory()
        iri = ox.NamedNode(self.session)
        ledger.store.inner.bulk_load(
            self.triples, ox.RdfFormat.N_TRIPLES, to_graph=iri, lenient=True
        )
        return Record(ledger.store, iri)


def state_of(record: Record, seconds: float, *, foreign: bool = False) -> SessionState:
    """Return the state of a record as it is now."""
    triples = record.store.inner.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=record.iri) or b""
    return SessionState(record.iri.value, build(), seconds, triples, foreign)


def unpacked(content: bytes) -> SessionState:
    """Read a state; raises LedgerError where it is none."""
    try:
        head, _, triples = zlib.decompress(content).partition(b"\n")
        said = json.loads(head)
        seconds, foreign = float(said["seconds"]), bool(said["foreign"])
        return SessionState(said["session"], said["version"], seconds, triples, foreign)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"The state of a session in the queue cannot be read ({error})."
        ) from error


@cache
def build() -> str:
    """Return the version of kgreason with a digest over its files, which decide what it writes."""
    digest = sha256()
    places = [(folder(name), _DATA) for name in ("ontology", "shapes", "queries")]
    for root, endings in (*places, (Path(__file__).resolve().parents[1], (".py",))):
        for path in sorted(p for p in root.rglob("*") if p.suffix in endings):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return f"{version('kgreason')}+{digest.hexdigest()[:16]}"
