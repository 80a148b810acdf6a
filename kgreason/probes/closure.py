"""Close the neighbourhood of some nodes under OWL RL, and look again who fails."""

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Final

import pyoxigraph as ox

from kgreason.graph import Graph
from kgreason.store import Store, Term
from kgreason.symptoms import Constraint
from kgreason.terms import OWL, RDF, RDFS

_HOPS: Final = 2
_MOST: Final = 200_000  # triples of a neighbourhood


def cleared(
    graph: Graph,
    constraint: Constraint,
    nodes: Iterable[Term],
    left_out: Callable[[ox.Triple], bool] = lambda _: False,
) -> tuple[set[ox.NamedNode | ox.BlankNode], str]:
    """Give the nodes that no longer fail under closure, and the engine that closed.

    `left_out` says which axioms are not taken in.
    """
    wanted = {node for node in nodes if not isinstance(node, ox.Literal)}
    triples = set(_around(graph, wanted))
    # A vocabulary may stand in the neighbourhood too.
    axioms = set(_axioms(graph))
    triples = (triples - axioms) | {t for t in axioms if not left_out(t)}
    closed, engine = close(triples)
    inner = ox.Store()
    inner.extend(ox.Quad(t.subject, t.predicate, t.object) for t in closed)
    rows = Store(inner, "the closure").select(constraint.checking_query)
    failing = {row["focus"] for row in rows}
    return {node for node in wanted if node not in failing}, engine


def _around(graph: Graph, nodes: set[ox.NamedNode | ox.BlankNode]) -> Iterator[ox.Triple]:
    store, merged = graph.store.inner, ox.DefaultGraph()
    frontier, seen, count = set(nodes), set(nodes), 0
    for hop in range(_HOPS):
        reached: set[ox.NamedNode | ox.BlankNode] = set()
        for node in sorted(frontier, key=str):
            quads = list(store.quads_for_pattern(node, None, None, merged))
            if hop == 0 or node in nodes:
                quads += store.quads_for_pattern(None, None, node, merged)
            count += len(quads)
            if count > _MOST:
                return
            for quad in quads:
                yield quad.triple
                reached |= {
                    t
                    for t in (quad.subject, quad.object)
                    if isinstance(t, ox.NamedNode | ox.BlankNode)
                }
        frontier = reached - seen
        seen |= reached
    for node in sorted(frontier, key=str):
        for quad in store.quads_for_pattern(node, RDF.type, None, merged):
            yield quad.triple


def _axioms(graph: Graph) -> Iterator[ox.Triple]:
    """Give the schema: every statement with a predicate of RDFS or OWL that reasoning reads."""
    store, merged = graph.store.inner, ox.DefaultGraph()
    for predicate in _READ:
        for quad in store.quads_for_pattern(None, predicate, None, merged):
            yield quad.triple
    for kind in _KINDS:
        for quad in store.quads_for_pattern(None, RDF.type, kind, merged):
            yield quad.triple


_READ: Final = tuple(
    RDFS[name] for name in ("subClassOf", "subPropertyOf", "domain", "range")
) + tuple(
    OWL[name]
    for name in (
        "equivalentClass",
        "equivalentProperty",
        "inverseOf",
        "propertyChainAxiom",
        "onProperty",
        "someValuesFrom",
        "allValuesFrom",
        "hasValue",
        "intersectionOf",
        "unionOf",
        "sameAs",
    )
)
_KINDS: Final = tuple(
    OWL[name] for name in ("SymmetricProperty", "TransitiveProperty", "Restriction")
)


def close(triples: Iterable[ox.Triple]) -> tuple[list[ox.Triple], str]:
    """Give the OWL RL closure of some triples, and the name of the engine.

    `reasonable` is used where it is installed, for it is many times faster; owlrl otherwise. The
    two differ in schema-level triples, so the engine is part of the record.
    """
    made = ox.serialize(sorted(triples, key=str), format=ox.RdfFormat.N_TRIPLES)
    text = (made or b"").decode()
    if find_spec("reasonable") is not None:
        return _reasonable(text), "reasonable"
    return _owlrl(text), "owlrl"


def _reasonable(text: str) -> list[ox.Triple]:
    import tempfile  # noqa: PLC0415 - only where a closure is wanted
    from pathlib import Path  # noqa: PLC0415 - as above

    import rdflib  # noqa: PLC0415 - slow to import
    import reasonable  # noqa: PLC0415 - optional

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.ttl"  # N-Triples is Turtle, and it reads no other ending
        path.write_text(text, encoding="utf-8")
        reasoner = reasonable.PyReasoner()
        reasoner.load_file(str(path))
        found = reasoner.reason()
    graph = rdflib.Graph()
    for triple in found:
        graph.add(triple)
    return _both(text, graph)


def _owlrl(text: str) -> list[ox.Triple]:
    import owlrl  # noqa: PLC0415 - slow to import
    import rdflib  # noqa: PLC0415 - slow to import

    graph = rdflib.Graph().parse(data=text, format="nt")
    # Its own datatype conversions would stay in rdflib's table for the rest of the process.
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, improved_datatypes=False).expand(graph)
    return _both(text, graph)


def _both(text: str, graph: object) -> list[ox.Triple]:
    """Give what was told and what was derived; derived literals in subject place are left out."""
    import rdflib  # noqa: PLC0415 - slow to import

    told = [q.triple for q in ox.parse(text, format=ox.RdfFormat.N_TRIPLES, lenient=True)]
    derived = []
    if isinstance(graph, rdflib.Graph):
        for s, p, o in graph:
            if isinstance(s, rdflib.URIRef) and isinstance(o, rdflib.URIRef):
                derived.append(
                    ox.Triple(ox.NamedNode(str(s)), ox.NamedNode(str(p)), ox.NamedNode(str(o)))
                )
            elif isinstance(s, rdflib.URIRef) and isinstance(o, rdflib.Literal) and not o.ill_typed:
                kind = ox.NamedNode(str(o.datatype)) if o.datatype else None
                value = (
                    ox.Literal(str(o), language=o.language)
                    if o.language
                    else ox.Literal(str(o), datatype=kind)
                )
                derived.append(ox.Triple(ox.NamedNode(str(s)), ox.NamedNode(str(p)), value))
    return told + derived
