"""What `ontology/vocabularies.ttl` knows of properties and terms that many graphs use."""

from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import TRAILS

_FILE: Final = "vocabularies.ttl"


@cache
def published() -> tuple[ox.NamedNode, ...]:
    """Return every term of the vocabularies that do not grow any more, in the order of the file."""
    return tuple(
        ox.NamedNode(quad.subject.value + name)
        for quad in _known()
        if quad.predicate == TRAILS.termNames
        and isinstance(quad.subject, ox.NamedNode)
        and isinstance(quad.object, ox.Literal)
        for name in quad.object.value.split()
    )


@cache
def vocabularies() -> tuple[ox.NamedNode, ...]:
    """Return the namespaces of these vocabularies."""
    found = (quad.subject for quad in _known() if quad.predicate == TRAILS.termNames)
    return tuple(one for one in found if isinstance(one, ox.NamedNode))


@cache
def akin(predicate: ox.NamedNode) -> tuple[ox.NamedNode, ...]:
    """Return the properties that hold what a property holds, itself among them; none if unknown."""
    members = [quad for quad in _known() if quad.predicate == TRAILS.groupMember]
    groups = {quad.subject for quad in members if quad.object == predicate}
    found = (quad.object for quad in members if quad.subject in groups)
    return tuple(one for one in found if isinstance(one, ox.NamedNode))


@cache
def _known() -> tuple[ox.Quad, ...]:
    path = str(folder("ontology") / _FILE)
    return tuple(ox.parse(path=path, format=ox.RdfFormat.TURTLE))
