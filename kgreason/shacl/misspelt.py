"""Properties of shapes that are nearly, but not quite, terms of SHACL: they are passed over."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.terms import SH, TRAILS
from kgreason.shacl.shapes import Shapes

_FILE: Final = "vocabularies.ttl"
_CLOSE: Final = 0.85
"""The share of letters in common from which on two names are one (`difflib.SequenceMatcher`)."""


def misspelt(shapes: Shapes) -> Iterator[str]:
    """Return a sentence for each property in the namespace of SHACL that seems misspelt."""
    used = {predicate for described in shapes.index.values() for predicate in described}
    for name in sorted(p.value.removeprefix(SH.iri) for p in used if p in SH):
        near = [] if name in _known() else get_close_matches(name, _known(), 1, _CLOSE)
        for meant in near:
            yield f"SHACL has no sh:{name}, so it is passed over; is sh:{meant} meant?"


@cache
def _known() -> frozenset[str]:
    path = str(folder("ontology") / _FILE)
    found = ox.parse(path=path, format=ox.RdfFormat.TURTLE)
    return frozenset(
        name
        for quad in found
        if quad.predicate == TRAILS.knownNames and isinstance(quad.object, ox.Literal)
        for name in quad.object.value.split()
    )
