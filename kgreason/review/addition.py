"""Add the investigations of another ledger to this one, each as it is, with a number of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from kgreason.audit import chain
from kgreason.audit.merged import History
from kgreason.base.errors import LedgerError
from kgreason.base.store import Store
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.record import Ledger, Record
from kgreason.record.blobs import Blobs
from kgreason.record.remote import again

_FORMATS: Final = {
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
}


@dataclass(frozen=True)
class Added:
    """What became of an investigation of another ledger: its IRI, and what it is called here.

    `what` is "added", "continued" (steps were added to what was here) or "known" (nothing was).
    `lacking` counts prompts and answers of models whose texts do not lie beside the other ledger.
    """

    id: str
    number: int
    what: str
    lacking: int = 0


@again
def add(ledger: str | Path, other: str | Path) -> list[Added]:
    """Add the investigations of `other` to a ledger, in their order; what is here already stays.

    `other` is the folder of a ledger, or a file with records (.nq, .trig; .ttl or .nt for one
    alone). A record is not changed by it: its number here is a fact of this ledger. One that went
    on since it was added is continued. Each is added as a whole or not at all.

    Raises LedgerError where `other` is the ledger itself or cannot be read, or where a record there
    is not as it was sealed, or went on in another way than here; then nothing is added.
    """
    folder, source = Path(ledger), Path(other)
    if source.exists() and folder.exists() and source.samefile(folder):
        raise LedgerError(f"{other}: this is the ledger itself; name another one to add.")
    with _opened(source) as (store, found), Ledger.append(folder) as target:
        texts = Blobs(source if source.is_dir() else source.parent)
        theirs = [Record(store, iri, texts) for iri in found]
        for record in theirs:
            _check(record, source)
        plans = [(record, _compared(target, record, source)) for record in theirs]
        return [_taken(target, record, what) for record, what in plans]


@contextmanager
def _opened(source: Path) -> Iterator[tuple[Store, list[ox.NamedNode]]]:
    """Open a store with the records of a folder or file, and the investigations in order."""
    if source.is_file():
        store = Store(_loaded(source), f"the file {source}")
        yield store, _investigations(store, source)
        return
    if not (source / "CURRENT").is_file():
        raise LedgerError(
            f"{source}: there is no ledger here; name the folder of one, or a file with records "
            f"({', '.join(_FORMATS)})."
        )
    with Ledger.read(source) as reader:
        yield reader.store, [entry.iri for entry in reader.entries()]


def _loaded(source: Path) -> ox.Store:
    form = _FORMATS.get(source.suffix.lower())
    if form is None:
        raise LedgerError(
            f"{source}: records are read from files that end in {', '.join(_FORMATS)}, and from "
            "the folder of a ledger."
        )
    inner = ox.Store()
    try:
        inner.bulk_load(path=str(source), format=form)
    except (SyntaxError, ValueError, OSError) as error:
        raise LedgerError(f"{source}: the file cannot be read as records ({error}).") from error
    plain = list(inner.quads_for_pattern(None, None, None, ox.DefaultGraph()))
    own = {q.subject for q in plain if (q.predicate, q.object) == (TYPE, TRAILS.Investigation)}
    if plain and len(own) != 1:
        raise LedgerError(
            f"{source}: without named graphs a file holds the record of one investigation, this "
            f"one of {len(own)}."
        )
    for name in own:
        if isinstance(name, ox.NamedNode):
            inner.extend(ox.Quad(q.subject, q.predicate, q.object, name) for q in plain)
    return inner


def _investigations(store: Store, source: Path) -> list[ox.NamedNode]:
    """Return the investigations of a store without numbers, by the time when they began."""
    found = [
        (min(time.value for time in store.values(iri, PROV.startedAtTime, iri)), iri)
        for iri in (ox.NamedNode(str(name).strip("<>")) for name in store.inner.named_graphs())
        if TRAILS.Investigation in store.values(iri, TYPE, iri)
    ]
    if not found:
        raise LedgerError(f"{source}: there is no record of an investigation in this file.")
    return [iri for _, iri in sorted(found, key=str)]


def _check(record: Record, source: Path) -> None:
    """Refuse a record that is not as its steps were sealed, or of an earlier kind of ledger."""
    if record.store.values(record.iri, TRAILS.number, record.iri):
        raise LedgerError(
            f"{source}: the record of {record.iri.value} is of an earlier version of kgreason, "
            "which this one does not read; nothing was added."
        )
    fault = next((f for f in chain.findings(History(record)) if f.severity == "violation"), None)
    if fault is not None:
        raise LedgerError(
            f"{source}: the record of {record.iri.value} is not as it was sealed ({fault.node}: "
            f"{fault.message.rstrip('.')}); nothing was added. `kgreason audit` there tells more."
        )


def _compared(target: Ledger, theirs: Record, source: Path) -> str:
    """Return what is to be done with a record; raises LedgerError where two went different ways."""
    here = _hashes(Record(target.store, theirs.iri))
    there = _hashes(theirs)
    if not here:
        return "added"
    for place, (own, other) in enumerate(zip_longest(here, there), start=1):
        if own is None:
            return "continued"
        if other is None:
            break
        if own != other:
            raise LedgerError(
                f"{source}: the investigation {theirs.iri.value} went on in another way there than "
                f"here, from its step {place} on, so the two cannot be one; nothing was added."
            )
    return "known"


def _hashes(record: Record) -> list[str]:
    """Return the seals of the steps of a record, from the first to the head."""
    found: list[str] = []
    node = next(iter(record.store.values(record.iri, TRAILS.head, record.iri)), None)
    while node is not None:
        found += [seal.value for seal in record.store.values(node, TRAILS.hash, record.iri)[:1]]
        node = next(iter(record.store.values(node, TRAILS.previous, record.iri)), None)
    return found[::-1]


def _taken(target: Ledger, theirs: Record, what: str) -> Added:
    """Copy a record with what was made of it under other policies, as one transaction."""
    iri = theirs.iri
    digests = [row["digest"].value for row in theirs.select("blobs")]
    lacking = target.blobs.take(digests, theirs.blobs)
    graphs = [iri, *_reassessments(theirs)]
    new = {
        quad
        for graph in graphs
        if graph != iri or what != "known"
        if graph == iri or not any(target.store.quads(graph))
        for quad in theirs.store.quads(graph)
    }
    number = target.number_of(iri)
    if what == "continued":
        old = set(target.store.quads(iri))
        target.store.update(_replaced(old - new, new - old))
    elif new:
        new |= set() if what == "known" else {target.numbered(iri, number)}
        target.store.update(_replaced(set(), new))
    return Added(iri.value, number, what, lacking)


def _reassessments(record: Record) -> list[ox.NamedNode]:
    """Return the named graphs that are about a record: what other policies made of it."""
    start = f"{record.iri.value}:"
    names = (str(name).strip("<>") for name in record.store.inner.named_graphs())
    return sorted((ox.NamedNode(n) for n in names if n.startswith(start)), key=str)


def _replaced(gone: set[ox.Quad], new: set[ox.Quad]) -> str:
    """Return an update that takes some quads away and puts others in their place."""
    gone_text, new_text = (
        "\n".join(f"GRAPH {q.graph_name} {{ {q.subject} {q.predicate} {q.object} }}" for q in quads)
        for quads in (gone, new)
    )
    return f"DELETE DATA {{\n{gone_text}\n}} ;\nINSERT DATA {{\n{new_text}\n}}"
