"""Regions told in a record: run on the data as they are printed, and held to the counts told."""

from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.graph.regions import region_count
from kgreason.record import Record


@dataclass(frozen=True)
class Miscounted:
    """A hypothesis with the nodes that its record counts in its region, and those found there."""

    hypothesis: str
    statement: str
    told: int
    found: int


def miscounted(record: Record, store: ox.Store) -> list[Miscounted]:
    """Return the hypotheses of whose region the data hold another number of nodes than was told.

    Raises QueryError where a region does not parse.
    """
    out = []
    for row in record.select("result-hypotheses"):
        if "region" in row and "inside" in row:
            told, found = int(row["inside"].value), region_count(store, row["region"].value)
            if told != found:
                known = row["hypothesis"].value, row["statement"].value
                out.append(Miscounted(*known, told, found))
    return out
