"""The shapes with the queries of `queries/audit/` in them, so that any SHACL engine can run them.

`python -m kgreason.record.whole_shapes > shapes.ttl` writes them as one Turtle file.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from kgreason.base.resources import folder
from kgreason.base.templates import Template, role
from kgreason.record.catalogue import fill_lists

if TYPE_CHECKING:
    import rdflib

ROLE: Final = "audit"
RULES: Final = "https://w3id.org/trails/audit#"
SHAPES: Final = "https://w3id.org/trails/shapes#"


def files() -> list[Path]:
    """Return the files of shapes, sorted."""
    return sorted(folder("shapes").glob("*.ttl"))


def checks() -> list[Template]:
    """Return the checks of `queries/audit/`, by name; each names its `shape` and its `message`."""
    return list(role(ROLE).values())


def select(made: Template) -> str:
    """Return the text of a check as its constraint has it: without prefixes, which are declared."""
    return made.fragment().text.strip()


def whole_shapes(*names: str) -> "rdflib.Graph":
    """Return the shapes with each check of `queries/audit/` at the shape it names.

    Those of some files of `shapes/` by their names, or all.
    """
    import rdflib  # noqa: PLC0415 - takes a quarter of a second to load, and few need it
    from rdflib.namespace import RDF, SH  # noqa: PLC0415

    store = ox.Store()
    for path in files():
        if not names or path.stem in names:
            store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    fill_lists(store)
    text = ox.serialize((quad.triple for quad in store), format=ox.RdfFormat.N_TRIPLES)
    graph = rdflib.Graph().parse(data=text, format="nt")
    for made in checks():
        shape = rdflib.URIRef(SHAPES + made.header["shape"])
        if (shape, RDF.type, SH.NodeShape) in graph:
            rule = rdflib.URIRef(RULES + made.name)
            graph.add((shape, SH.sparql, rule))
            graph.add((rule, RDF.type, SH.SPARQLConstraint))
            graph.add((rule, SH.message, rdflib.Literal(made.header["message"])))
            graph.add((rule, SH.prefixes, rdflib.URIRef(SHAPES.removesuffix("#"))))
            graph.add((rule, SH.select, rdflib.Literal(select(made))))
    return graph


if __name__ == "__main__":
    sys.stdout.write(whole_shapes().serialize(format="turtle"))
