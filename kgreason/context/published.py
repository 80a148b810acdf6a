"""The terms of published vocabularies that do not grow any more, of `ontology/vocabularies.ttl`."""

from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import TRAILS

_FILE: Final = "vocabularies.ttl"


@cache
def published() -> tuple[ox.NamedNode, ...]:
    """Return every term of these vocabularies, in the order of the file."""
    path = str(folder("ontology") / _FILE)
    return tuple(
        ox.NamedNode(quad.subject.value + name)
        for quad in ox.parse(path=path, format=ox.RdfFormat.TURTLE)
        if quad.predicate == TRAILS.termNames
        and isinstance(quad.subject, ox.NamedNode)
        and isinstance(quad.object, ox.Literal)
        for name in quad.object.value.split()
    )
