"""Close the neighbourhood of some nodes under OWL RL, and look again who fails.

An ontology may be many times the neighbourhood. Only those of its axioms are taken in that can make
a statement about what is there, and what was closed once is not closed again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import integer
from kgreason.base.locks import Lock
from kgreason.base.store import Store, Term
from kgreason.base.terms import MARKS_GRAPH, OWL, RDF, RDFS, WORK
from kgreason.graph import Graph
from kgreason.shacl import Constraint
from kgreason.shacl.pyshacl_run import quiet_literals

_HOPS: Final = integer("closureHops")
_MOST: Final = 200_000  # triples of a neighbourhood


def cleared(
    graph: Graph,
    constraint: Constraint,
    nodes: Iterable[Term],
    left_out: Callable[[ox.Triple], bool] = lambda _: False,
) -> tuple[set[ox.NamedNode | ox.BlankNode], str]:
    """Return the nodes that no longer fail under closure, and the engine that closed.

    `left_out` says which axioms are not taken in.
    """
    wanted = {node for node in nodes if not isinstance(node, ox.Literal)}
    # A vocabulary may stand in the neighbourhood too.
    triples = {triple for triple in _around(graph, wanted) if not _is_axiom(triple)}
    closed, engine = _closed(triples | relevant(graph, triples, left_out))
    # Who is looked at may be a list, as an endpoint gave it.
    for node in wanted:
        closed.extend(graph.store.inner.quads_for_pattern(node, WORK.listed, None, MARKS_GRAPH))
    rows = Store(closed, "the closure").select(constraint.checking_query)
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


def relevant(
    graph: Graph,
    triples: Iterable[ox.Triple],
    left_out: Callable[[ox.Triple], bool] = lambda _: False,
) -> set[ox.Triple]:
    """Return the axioms that can make a statement about the terms of some triples, step by step.

    An axiom says something of what its subject is said of: of an instance of the class below, of
    what has the property. Those that hold in both directions, and those that make up a class from
    others, say something of what their object is said of too. All others rest on terms that are
    nowhere said of anything here, so that nothing here follows from them.
    """
    store, merged = graph.store.inner, ox.DefaultGraph()
    terms = {t for triple in triples for t in (triple.subject, triple.predicate, triple.object)}
    waiting = [term for term in terms if not isinstance(term, ox.Literal | ox.Triple)]
    found: set[ox.Triple] = set()
    while waiting:
        term = waiting.pop()
        quads = [*store.quads_for_pattern(term, None, None, merged)]
        for predicate in _BOTH_WAYS:
            quads += store.quads_for_pattern(None, predicate, term, merged)
        for triple in (q.triple for q in quads):
            if triple in found or not _is_axiom(triple) or left_out(triple):
                continue
            found.add(triple)
            for other in (triple.subject, triple.object):
                if other not in terms and not isinstance(other, ox.Literal | ox.Triple):
                    terms.add(other)
                    waiting.append(other)
    return found


def _is_axiom(triple: ox.Triple) -> bool:
    """Check whether a statement is part of the schema that reasoning reads."""
    return triple.predicate in _READ or (triple.predicate == RDF.type and triple.object in _KINDS)


_ONE_WAY: Final = frozenset(
    (
        *(RDFS[name] for name in ("subClassOf", "subPropertyOf", "domain", "range")),
        OWL.allValuesFrom,
    )
)
_BOTH_WAYS: Final = tuple(
    OWL[name]
    for name in (
        "equivalentClass",
        "equivalentProperty",
        "inverseOf",
        "propertyChainAxiom",
        "onProperty",
        "someValuesFrom",
        "hasValue",
        "intersectionOf",
        "unionOf",
        "sameAs",
    )
)
_READ: Final = _ONE_WAY | frozenset(_BOTH_WAYS)
_KINDS: Final = frozenset(
    OWL[name] for name in ("SymmetricProperty", "TransitiveProperty", "Restriction")
)
_KEPT: Final = 8  # closures, each of at most _MOST triples and what follows
_KEEPING: Final = Lock()
_kept: "OrderedDict[str, tuple[ox.Store, str]]" = OrderedDict()


def forget() -> None:
    """Let go of the closures that are kept."""
    _kept.clear()


def _closed(triples: Iterable[ox.Triple]) -> tuple[ox.Store, str]:
    """Return a store of the closure of some triples, and the engine; the last ones are kept.

    They are told by all their triples, so that one of a graph that was changed since is no match.
    """
    text = _lines(triples)
    key = hashlib.sha256(text.encode()).hexdigest()
    kept = _kept.pop(key, None)
    if kept is None:
        closed, engine = _close(text)
        inner = ox.Store()
        inner.extend(ox.Quad(t.subject, t.predicate, t.object) for t in closed)
        kept = inner, engine
    with _KEEPING:
        _kept[key] = kept  # at the end of them
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    return _kept[key]


def close(triples: Iterable[ox.Triple]) -> tuple[list[ox.Triple], str]:
    """Return the OWL RL closure of some triples, and the name of the engine.

    `reasonable` is used where it is installed, for it is many times faster; owlrl otherwise. The
    two differ in schema-level triples, so the engine is part of the record.
    """
    return _close(_lines(triples))


def _lines(triples: Iterable[ox.Triple]) -> str:
    made = ox.serialize(sorted(triples, key=str), format=ox.RdfFormat.N_TRIPLES)
    return (made or b"").decode()


def _close(text: str) -> tuple[list[ox.Triple], str]:
    with quiet_literals():
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
    """Return what was told and what was derived; derived literals in subject place are left out."""
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
