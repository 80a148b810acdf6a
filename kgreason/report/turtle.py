"""The record of an investigation as Turtle: the reasoning history itself, to be taken elsewhere."""

from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError
from kgreason.base.terms import PREFIXES
from kgreason.record import Record

_LEFT_OUT: Final = {"work"}


def render(record: Record) -> str:
    """Return the named graph of an investigation as Turtle, sorted, with the prefixes it uses.

    The nodes of the investigation are written `this:hypothesis:1` and the like. Raises LedgerError
    if there is nothing in it.
    """
    quads = record.store.quads(record.iri)
    triples = sorted((q.triple for q in quads), key=str)
    if not triples:
        raise LedgerError(f"{record.iri.value}: there is no such investigation in the ledger.")
    prefixes = {name: iri for name, iri in PREFIXES.items() if name not in _LEFT_OUT}
    prefixes["this"] = f"{record.iri.value}:"
    made = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=prefixes)
    lines = [f"{line}\n" for line in (made or b"").decode().split("\n")[:-1]]
    body = "".join(line for line in lines if not line.startswith("@prefix "))
    head = sorted(line for line in lines if line.startswith("@prefix "))
    return "".join(line for line in head if line.split()[1] in body) + "\n" + body
