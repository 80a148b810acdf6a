"""Regions that were told: run as they are printed, and counted."""

import pyoxigraph as ox

from kgreason.base.store import Store


def region_nodes(store: ox.Store, region: str) -> set[ox.NamedNode | ox.BlankNode]:
    """Return the nodes of a region as its query, just as it was told, finds them in a store.

    Raises QueryError where it does not parse.
    """
    rows = Store(store, "the data").select(region)
    found = (row["focus"] for row in rows if "focus" in row)
    return {node for node in found if not isinstance(node, ox.Literal)}


def region_count(store: ox.Store, region: str) -> int:
    """Return number of nodes of a region, to be held against the count that was told with it."""
    return len(region_nodes(store, region))
