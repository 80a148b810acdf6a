"""The vocabulary: namespaces, and the one prefix table that every template uses."""

import re
from typing import Final

from pyoxigraph import NamedNode

PREFIXES: Final[dict[str, str]] = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dqv": "http://www.w3.org/ns/dqv#",
    "earl": "http://www.w3.org/ns/earl#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "p-plan": "http://purl.org/net/p-plan#",
    "pav": "http://purl.org/pav/",
    "policy": "https://w3id.org/trails/policy#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "http://schema.org/",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "trails": "https://w3id.org/trails#",
    "void": "http://rdfs.org/ns/void#",
    "work": "urn:x-kgreason:work:",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""Prefix to namespace. `work:` holds what kgreason marks on its scratch copy of a graph; it never
reaches a ledger or a result."""


class Namespace:
    """Makes NamedNodes: `TRAILS.Hypothesis`, or `TRAILS["Hypothesis"]`."""

    def __init__(self, iri: str) -> None:
        self.iri = iri

    def __getattr__(self, name: str) -> NamedNode:
        if name.startswith("__"):
            raise AttributeError(name)
        node = NamedNode(self.iri + name)
        setattr(self, name, node)  # hot paths ask for the same name some hundred thousand times
        return node

    def __getitem__(self, name: str) -> NamedNode:
        return NamedNode(self.iri + name)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, NamedNode) and node.value.startswith(self.iri)


_NAMED: Final = re.compile(
    # Texts and comments come first, so that nothing in them is taken for an IRI.
    r"""\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*"""
    r"""|<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>""",
    re.DOTALL,
)


def iris_in(query: str) -> list[str]:
    """Return the IRIs that a query or a part of one names, in their order, each once."""
    return list(dict.fromkeys(found[1] for found in _NAMED.finditer(query) if found[1]))


DCT = Namespace(PREFIXES["dct"])
OWL = Namespace(PREFIXES["owl"])
POLICY = Namespace(PREFIXES["policy"])
PROV = Namespace(PREFIXES["prov"])
RDF = Namespace(PREFIXES["rdf"])
RDFS = Namespace(PREFIXES["rdfs"])
SH = Namespace(PREFIXES["sh"])
SKOS = Namespace(PREFIXES["skos"])
TRAILS = Namespace(PREFIXES["trails"])
WORK = Namespace(PREFIXES["work"])
XSD = Namespace(PREFIXES["xsd"])

TYPE: Final = NamedNode(PREFIXES["rdf"] + "type")
INTEGERS: Final = frozenset(
    XSD[name]
    for name in (
        *("integer", "int", "long", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
"""The datatypes of whole numbers."""
NUMERIC: Final = INTEGERS | {XSD.decimal, XSD.double, XSD.float}
"""The datatypes of numbers."""
FORMS_GRAPH: Final = NamedNode(PREFIXES["work"] + "forms")
"""The named graph of the scratch copy that keeps each literal whose form storing would change."""
MARKS_GRAPH: Final = NamedNode(PREFIXES["work"] + "marks")
"""The named graph of the scratch copy that marks populations, failures and halves."""
FORM_PREFIX: Final = PREFIXES["work"] + "form:"
"""Put before a predicate or datatype IRI in the forms graph, so that nothing there is rewritten."""
