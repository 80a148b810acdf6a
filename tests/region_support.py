"""Data as those load them who run a region that was told: in named graphs, in one, or partly so."""

from collections.abc import Iterable, Iterator, Mapping

import pyoxigraph as ox
import rdflib

from kgreason.base.terms import PREFIXES
from kgreason.graph import Graph
from kgreason.graph.regions import region_nodes
from kgreason.shacl import Located

Nodes = set[ox.NamedNode | ox.BlankNode]


def sources(graph: Graph) -> list[ox.Quad]:
    """Give what was loaded as it stands in its named graphs."""
    names = graph.named_graphs()
    return [
        q for name in names for q in graph.store.inner.quads_for_pattern(None, None, None, name)
    ]


def ways(quads: Iterable[ox.Quad]) -> dict[str, ox.Store]:
    """Give stores with the same triples: in named graphs, in the default graph, and partly so."""
    data = [q for q in quads if not str(q.graph_name).startswith(f"<{PREFIXES['work']}")]
    merged = [ox.Quad(q.subject, q.predicate, q.object) for q in data]
    names = sorted({str(q.graph_name) for q in data})[::2]
    some = [m if str(q.graph_name) in names else q for q, m in zip(data, merged, strict=True)]
    both = [*data, *merged]
    kinds = {"named graphs": data, "the default graph": merged, "partly so": some, "both": both}
    stores = {}
    for name, held in kinds.items():
        stores[name] = ox.Store()
        stores[name].extend(held)
    return stores


def answers(told: Located, stores: Mapping[str, ox.Store]) -> Iterator[tuple[str, Nodes]]:
    """Give what the queries of a region find, in each way that they are for."""
    needs = told.needs or ""
    for name, store in stores.items():
        if "merged data" in needs and name not in {"the default graph", "both"}:
            continue
        if "named graphs" in needs and name not in {"named graphs", "both"}:
            continue
        yield name, region_nodes(store, told.anywhere)
    if told.plain is not None:
        yield "plain", region_nodes(stores["the default graph"], told.plain)


def in_rdflib(store: ox.Store) -> rdflib.Dataset:
    """Give the same data in rdflib, literals as they are."""
    dataset = rdflib.Dataset()
    lines = ox.serialize(store, format=ox.RdfFormat.N_QUADS) or b""
    return dataset.parse(data=lines, format="nquads") and dataset


def rdflib_nodes(found: rdflib.query.Result) -> set[str]:
    """Give the IRIs that a query of ?focus found."""
    return {str(row[0]) for row in found if isinstance(row, rdflib.query.ResultRow)}
