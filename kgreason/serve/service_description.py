"""What the endpoint says of itself (SPARQL 1.1 Service Description)."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.terms import TYPE, Namespace

SD: Final = Namespace("http://www.w3.org/ns/sparql-service-description#")
_FORMATS: Final = (
    "SPARQL_Results_JSON",
    "SPARQL_Results_XML",
    "SPARQL_Results_CSV",
    "SPARQL_Results_TSV",
    "Turtle",
    "N-Triples",
    "RDF_XML",
    "JSON-LD",
)


def description(endpoint: str, graphs: Sequence[str]) -> list[ox.Triple]:
    """Return the description of the endpoint at an address, over some named graphs."""
    return list(_description(ox.NamedNode(endpoint), graphs))


def _description(endpoint: ox.NamedNode, graphs: Sequence[str]) -> Iterator[ox.Triple]:
    service, dataset = ox.BlankNode("service"), ox.BlankNode("dataset")
    yield ox.Triple(service, TYPE, SD.Service)
    yield ox.Triple(service, SD.endpoint, endpoint)
    yield ox.Triple(service, SD.supportedLanguage, SD.SPARQL11Query)
    yield ox.Triple(service, SD.feature, SD.UnionDefaultGraph)
    for name in _FORMATS:
        yield ox.Triple(
            service, SD.resultFormat, ox.NamedNode(f"http://www.w3.org/ns/formats/{name}")
        )
    yield ox.Triple(service, SD.defaultDataset, dataset)
    yield ox.Triple(dataset, TYPE, SD.Dataset)
    default = ox.BlankNode("default")
    yield ox.Triple(dataset, SD.defaultGraph, default)
    yield ox.Triple(default, TYPE, SD.Graph)
    for number, name in enumerate(graphs):
        held, graph = ox.BlankNode(f"named{number}"), ox.BlankNode(f"graph{number}")
        yield ox.Triple(dataset, SD.namedGraph, held)
        yield ox.Triple(held, TYPE, SD.NamedGraph)
        yield ox.Triple(held, SD.name, ox.NamedNode(name))
        yield ox.Triple(held, SD.graph, graph)
        yield ox.Triple(graph, TYPE, SD.Graph)
