"""The conclusions of an investigation as nanopublications with trusty URIs, one TriG file each.

The four graphs are made by `queries/export/nanopub.rq`. They follow the guidelines of
nanopub.org; they are not signed.
"""

from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import template
from kgreason.base.terms import DCT, PREFIXES
from kgreason.record import Record
from kgreason.report.export import trusty
from kgreason.report.export.about import About
from kgreason.report.export.rdf import trig

GRAPHS: Final = {
    "head": "Head",
    "assertion": "assertion",
    "provenance": "provenance",
    "publication": "pubinfo",
}
"""The sections of the template, and the last part of the name of the graph that each fills."""
_NP: Final = "http://www.nanopub.org/nschema#"


def files(record: Record, about: About) -> dict[str, bytes]:
    """Return a TriG file for each supported claim, by a name that ends in its artifact code."""
    made = {}
    query = template("export", "nanopub").render("claims", investigation=record.iri)
    for row in record.store.select(query):
        claim = ox.NamedNode(row["claim"].value)
        code, quads = _closed(record, claim, about)
        name = "-".join(claim.value.split(":")[-2:])
        made[f"{name}.{code}.trig"] = _trig(record, quads, about.base + code)
    return made


def _closed(record: Record, claim: ox.NamedNode, about: About) -> tuple[str, list[ox.Quad]]:
    """Return artifact code of a claim's nanopublication, and its quads with the code in them."""
    quads = _open(record, claim, about)
    code = trusty.artifact_code(quads, trusty.OPEN)
    return code, trusty.closed(quads, code)


def _open(record: Record, claim: ox.NamedNode, about: About) -> list[ox.Quad]:
    """Return the quads of a nanopublication before its code is known."""
    made = template("export", "nanopub")
    nanopub = ox.NamedNode(about.base + trusty.OPEN)
    graphs = {s: ox.NamedNode(f"{nanopub.value}#{name}") for s, name in GRAPHS.items()}
    terms = {"investigation": record.iri, "claim": claim, "nanopub": nanopub, **graphs}
    known = {name: node for name, node in terms.items() if name in made.parameters}
    quads = {
        ox.Quad(triple.subject, triple.predicate, triple.object, graph)
        for section, graph in graphs.items()
        for triple in record.store.construct(made.render(section, **known))
    }
    if about.license is not None:
        right = ox.NamedNode(about.license)
        quads.add(ox.Quad(nanopub, DCT.license, right, graphs["publication"]))
    return list(quads)


def _trig(record: Record, quads: list[ox.Quad], nanopub: str) -> bytes:
    """Write the quads of a nanopublication as TriG."""
    prefixes = PREFIXES | {"np": _NP, "this": nanopub, "sub": f"{nanopub}#"}
    prefixes |= {"record": f"{record.iri.value}:"}
    graphs = [ox.NamedNode(f"{nanopub}#{name}") for name in GRAPHS.values()]
    return trig(quads, graphs, prefixes)
