"""Modalities: in what way a test is run, as the ontology declares them."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import SKOS, TRAILS

GRAPH_QUERY: Final = "graph-query"
SCRATCH_INTERVENTION: Final = "scratch-intervention"
ENGINE_MODALITIES: Final = (TRAILS.GraphQuery, TRAILS.ScratchIntervention)
"""Those of the engine's own tests, which the graph and the record show again."""


@cache
def modalities() -> Mapping[str, ox.NamedNode]:
    """Return the modalities by their notations."""
    return _concepts(TRAILS.ModalityScheme)


@cache
def source_kinds() -> Mapping[str, ox.NamedNode]:
    """Return the kinds of source that can be looked up, by their notations."""
    return _concepts(TRAILS.SourceKindScheme)


@cache
def notations_of_kinds() -> Mapping[str, str]:
    """Return the notations of the kinds of source by their IRIs."""
    return {node.value: name for name, node in source_kinds().items()}


def _concepts(scheme: ox.NamedNode) -> dict[str, ox.NamedNode]:
    store = ox.Store()
    store.load(path=str(folder("ontology") / "trails.ttl"), format=ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(None, SKOS.inScheme, scheme, None)
    nodes = (quad.subject for quad in found)
    return {
        quad.object.value: node
        for node in nodes
        if isinstance(node, ox.NamedNode)
        for quad in store.quads_for_pattern(node, SKOS.notation, None, None)
        if isinstance(quad.object, ox.Literal)
    }


@cache
def notations() -> Mapping[str, str]:
    """Return the notations of the modalities by their IRIs."""
    return {node.value: name for name, node in modalities().items()}


def outside() -> list[str]:
    """Return the notations of the modalities that are no work of the engine, sorted."""
    return sorted(n for n, node in modalities().items() if node not in ENGINE_MODALITIES)
