"""Trusty URIs: IRIs that hold a hash over the RDF that they name.

Module RA of the specification (T. Kuhn, "Trusty URI Specification, Version 1", 2015,
https://github.com/trustyuri/trustyuri-spec; T. Kuhn and M. Dumontier, "Trusty URIs: Verifiable,
Immutable, and Permanent Digital Artifacts for Linked Data", ESWC 2014).
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, TypeVar

import pyoxigraph as ox

MODULE: Final = "RA"
LENGTH: Final = 45
"""The characters of an artifact code: two for the module, 43 for 256 bits in Base64."""
OPEN: Final = MODULE + "_" * (LENGTH - len(MODULE))
"""Stands where the artifact code will be, as long as it is not known."""

_Key = tuple[str, ...]
_T = TypeVar("_T")


def artifact_code(quads: Iterable[ox.Quad], own: str) -> str:
    """Return the artifact code of a set of quads in which `own` stands where its own code does.

    To check a trusty URI, let `own` be its last 45 characters and see that they come out again.
    Raises TypeError for a blank node, for which the hash is not defined.
    """
    lines = sorted({_key(quad, own) for quad in quads})
    text = "".join(f"{part}\n" for key in lines for part in _parts(key))
    return MODULE + urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")


def closed(quads: Iterable[ox.Quad], code: str) -> list[ox.Quad]:
    """Put an artifact code into the IRIs in which its place was kept open."""

    def put(term: _T) -> _T | ox.NamedNode:
        if isinstance(term, ox.NamedNode) and OPEN in term.value:
            return ox.NamedNode(term.value.replace(OPEN, code))
        return term

    return [
        ox.Quad(put(q.subject), put(q.predicate), put(q.object), put(q.graph_name)) for q in quads
    ]


def _key(quad: ox.Quad, own: str) -> _Key:
    """Return what a quad is sorted by, which is all of it: seven texts.

    Graph, subject, predicate; then "0" and an IRI, or "1" and a literal: label, whether it has a
    datatype (it has none where it has a language), and datatype or language.
    """
    graph = "" if isinstance(quad.graph_name, ox.DefaultGraph) else _iri(quad.graph_name, own)
    start = (graph, _iri(quad.subject, own), quad.predicate.value.replace(own, " "))
    value = quad.object
    if not isinstance(value, ox.Literal):
        return (*start, "0", _iri(value, own), "", "")
    if value.language:
        return (*start, "1", value.value, "0", value.language.lower())
    return (*start, "1", value.value, "1", value.datatype.value)


def _iri(node: object, own: str) -> str:
    if not isinstance(node, ox.NamedNode):
        raise TypeError(f"{node}: only what has an IRI can be part of a trusty URI's content.")
    return node.value.replace(own, " ")


def _parts(key: _Key) -> tuple[str, ...]:
    """Return the four texts that a quad adds to what is hashed."""
    *start, is_literal, value, has_datatype, kind = key
    if is_literal == "0":
        return (*start, value)
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return (*start, f"{'^' if has_datatype == '1' else '@'}{kind} {escaped}")
