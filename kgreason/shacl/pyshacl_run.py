"""pySHACL on an exact rdflib graph: for what does not compile, and as the reference of the tests.

rdflib and pySHACL are imported only here, and only when they are needed, for they are slow to load.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.locks import Lock
from kgreason.base.store import Term
from kgreason.base.terms import OWL, RDFS, SH, TYPE, XSD
from kgreason.graph import Graph
from kgreason.shacl.components import registry
from kgreason.shacl.constraint import Fallback, Observation, Result
from kgreason.shacl.observation import grouped
from kgreason.shacl.paths import IllFormedError
from kgreason.shacl.shapes import TARGETS, Node, Shapes

if TYPE_CHECKING:
    import rdflib


_EXACT: Final = Lock()


@contextlib.contextmanager
def quiet_literals() -> Iterator[None]:
    """Keep rdflib from logging each literal that is ill-typed."""
    logger = logging.getLogger("rdflib.term")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def exact_literals() -> Iterator[None]:
    """Keep rdflib from rewriting literals, and from logging each that is ill-typed.

    The switch is one for all threads, so that only one of them is in here at a time.
    """
    import rdflib  # noqa: PLC0415

    with _EXACT:
        before = rdflib.NORMALIZE_LITERALS
        rdflib.NORMALIZE_LITERALS = False
        try:
            with quiet_literals():
                yield
        finally:
            rdflib.NORMALIZE_LITERALS = before


def to_rdflib(term: Term) -> Any:
    """Return a term as rdflib has it; blank nodes keep their labels."""
    import rdflib  # noqa: PLC0415

    if isinstance(term, ox.NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    if term.datatype == XSD.string:
        return rdflib.Literal(term.value)  # rdflib takes "a" and "a"^^xsd:string for two terms
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value))


def from_rdflib(term: Any) -> Term:
    """Return a term of rdflib as pyoxigraph has it; a plain literal is an xsd:string."""
    import rdflib  # noqa: PLC0415

    if isinstance(term, rdflib.URIRef):
        return ox.NamedNode(str(term))
    if isinstance(term, rdflib.BNode):
        return ox.BlankNode(str(term))
    if term.language:
        return ox.Literal(str(term), language=term.language)
    datatype = ox.NamedNode(str(term.datatype)) if term.datatype else None
    return ox.Literal(str(term), datatype=datatype)


def rdflib_graph(triples: Iterable[ox.Triple]) -> "rdflib.Graph":
    """Return an rdflib graph of these triples, literals just as they are."""
    import rdflib  # noqa: PLC0415

    graph = rdflib.Graph()
    known: dict[Term, Any] = {}

    def term(found: Term) -> Any:
        made = known.get(found)
        if made is None:
            made = known[found] = to_rdflib(found)
        return made

    for subject, predicate, value in triples:
        if not isinstance(subject, ox.Triple) and not isinstance(value, ox.Triple):
            graph.add((term(subject), term(predicate), term(value)))
    return graph


class Reference:
    """Runs pySHACL on a graph; the rdflib copy is made once, where `data` does not bring it."""

    def __init__(self, graph: Graph, data: Any = None) -> None:
        self._graph = graph
        self._data = data

    def load(self) -> None:
        """Make the rdflib copy now, so that child processes share it."""
        with exact_literals():
            if self._data is None:
                self._data = rdflib_graph(self._graph.exact_triples())

    def validate(
        self, triples: Iterable[ox.Triple], prefixes: Mapping[str, str] | None = None
    ) -> list[dict[ox.NamedNode, Term]]:
        """Return the properties of each result of a validation; raises RunError if it fails."""
        import pyshacl  # noqa: PLC0415
        import rdflib  # noqa: PLC0415

        from kgreason.shacl.corrected import corrected  # noqa: PLC0415

        with exact_literals(), corrected():
            if self._data is None:
                self._data = rdflib_graph(self._graph.exact_triples())
            # pySHACL lets a query use the prefixes of the data where it declares none.
            for prefix, iri in (prefixes or {}).items():
                self._data.bind(prefix, iri)
            try:
                _, report, _ = pyshacl.validate(
                    self._data,
                    shacl_graph=rdflib_graph(triples),
                    advanced=True,
                    inference="none",
                    meta_shacl=False,
                    do_owl_imports=False,
                )
            except Exception as error:  # pySHACL raises many kinds, also plain ones of Python
                raise RunError(f"pySHACL cannot check these shapes: {error}") from error
            if not isinstance(report, rdflib.Graph):
                raise RunError(f"pySHACL cannot check these shapes: {report}")
            # A sh:detail is a result of an inner shape; only those of the report itself count.
            tops = report.objects(None, rdflib.URIRef(SH.result.value))
            return [
                {
                    ox.NamedNode(str(p)): from_rdflib(o)
                    for p, o in report.predicate_objects(top)
                    if not isinstance(p, rdflib.BNode)
                }
                for top in tops
            ]

    def observe(self, shapes: Shapes, fallback: Fallback) -> Observation:
        """Run one constraint that did not compile; raises RunError if pySHACL fails."""
        found: dict[Result, None] = {}
        for result in self.validate(_only(shapes, fallback), shapes.prefixes):
            same_shape = result.get(SH.sourceShape) == fallback.shape
            same_component = result.get(SH.sourceConstraintComponent) == fallback.component
            source = result.get(SH.sourceConstraint)
            if same_shape and same_component and fallback.source in {None, source}:
                path = result.get(SH.resultPath)
                # A path of several steps comes as a copy, a blank node that says nothing here.
                told = isinstance(path, ox.NamedNode)
                own = path if told and (fallback.path is None or fallback.source) else None
                entry = Result(result[SH.focusNode], result.get(SH.value), own)
                found[entry] = None
        return Observation(fallback.population, grouped(found), tuple(found))


def _meaningless(shapes: Shapes, shape: Node, predicate: ox.NamedNode, fallback: Fallback) -> bool:
    """Check whether a parameter of another constraint has no meaning: pySHACL would refuse all."""
    component = registry().get(predicate)
    if component is None or (shape == fallback.shape and predicate in fallback.parameters):
        return False
    return any(isinstance(value, IllFormedError) for value in component.check(shapes, shape))


def _only(shapes: Shapes, fallback: Fallback) -> Iterator[ox.Triple]:
    """Return shapes graph with the targets of those shapes alone that lead to the constraint."""
    keep = set(fallback.roots)
    for subject, predicate, value in shapes.triples():
        aims = predicate in TARGETS or (predicate == TYPE and value in {RDFS.Class, OWL.Class})
        if subject not in keep and aims:
            continue
        if not _meaningless(shapes, subject, predicate, fallback):
            yield ox.Triple(subject, predicate, value)
