"""What a compiler asks of a graph, asked of an endpoint: a small store that holds the answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Fragment, template
from kgreason.base.terms import OWL, RDFS, SH, TYPE, WORK
from kgreason.endpoint.asking_endpoint import AskingEndpoint, batches
from kgreason.endpoint.paging import ROLE
from kgreason.shacl import Axioms
from kgreason.shacl.shapes import Shapes

_LEVELS: Final = 20  # of subproperties
_Single = ox.NamedNode | ox.Literal | Fragment


@dataclass(frozen=True)
class Rules:
    """What says who fails: shapes, axioms, both, or neither (an outcome query)."""

    shapes: Shapes | None = None
    axioms: Axioms | None = None


def known(asking: AskingEndpoint, rules: Rules, notices: list[str]) -> ox.Store:
    """Return what the compilers of some rules ask a graph for; adds what there is to say of it.

    For shapes these are classes with subclasses, and nodes of targets; for axioms subproperties
    too, classes with instances, and whether anything is said to be the same. Raises SourceError.
    """
    store = ox.Store()
    found = _Known(asking, store)
    if rules.shapes is not None:
        found.of_shapes(rules.shapes)
    if rules.axioms is not None:
        found.of_axioms(rules.axioms)
        notices += found.missing(rules.axioms)
    return store


def _iri(term: object) -> str:
    return term.value if isinstance(term, ox.NamedNode) else ""


@dataclass(frozen=True)
class _Known:
    asking: AskingEndpoint
    store: ox.Store

    def of_shapes(self, shapes: Shapes) -> None:
        described = shapes.index.values()
        terms = {t for said in described for values in said.values() for t in values}
        named = [t for t in (*terms, *shapes.index) if isinstance(t, ox.NamedNode)]
        self._superclasses(named)
        aimed = {t for said in described for t in said.get(SH.targetNode, ())}
        for node in self._which("there", (t for t in aimed if not isinstance(t, ox.BlankNode))):
            self.store.add(ox.Quad(WORK.held, WORK.held, node))

    def of_axioms(self, axioms: Axioms) -> None:
        terms = {term for axiom in axioms.found for term in axiom.terms}
        self._superclasses(terms)
        classes = {t for axiom in axioms.found if axiom.among for t in axiom.among.members}
        above = {quad.object for quad in self.store.quads_for_pattern(None, None, None, None)}
        # A class with subclasses counts as one with instances: asking would need a path.
        direct = set(self._which("instantiated", classes)) | (above & classes)
        for one in direct:
            self.store.add(ox.Quad(WORK.held, TYPE, one))
        of_file = {t for t in axioms.above if t.predicate == RDFS.subPropertyOf}
        self.store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in of_file)
        below = {t.subject for t in of_file if isinstance(t.subject, ox.NamedNode)}
        self._subproperties(terms | below, below)
        if self.asking.count(template(ROLE, "known").render("same")):
            self.store.add(ox.Quad(WORK.held, OWL.sameAs, WORK.held))

    def _superclasses(self, terms: Iterable[ox.NamedNode]) -> None:
        for node in self._which("superclasses", terms):
            self.store.add(ox.Quad(WORK.subclass, RDFS.subClassOf, node))

    def _subproperties(self, terms: set[ox.NamedNode], below: set[ox.NamedNode]) -> None:
        """Add the properties below some, at all levels, and say which of all below are used."""
        seen, left = set(terms), set(terms)
        below = set(below)
        for _ in range(_LEVELS):
            found: set[ox.NamedNode] = set()
            for batch in batches(sorted(left, key=str)):
                query = template(ROLE, "known").render("subproperties", nodes=list(batch))
                for row in self.asking.select(query):
                    one, above = row["below"], row["node"]
                    if isinstance(one, ox.NamedNode):
                        self.store.add(ox.Quad(one, RDFS.subPropertyOf, above))
                        found.add(one)
            below |= found
            left = found - seen
            seen |= found
            if not left:
                break
        for node in self._which("used", below):
            if isinstance(node, ox.NamedNode):
                self.store.add(ox.Quad(WORK.held, node, WORK.held))

    def missing(self, axioms: Axioms) -> Iterator[str]:
        """Return a notice where the axioms have subclasses that the endpoint does not have."""
        told = [t for t in axioms.above if t.predicate == RDFS.subClassOf]
        there: set[tuple[str, str]] = set()
        for batch in batches(sorted({t.subject for t in told}, key=str)):
            nodes: list[_Single] = [t for t in batch if isinstance(t, ox.NamedNode)]
            query = template(ROLE, "known").render("classes-above", nodes=nodes)
            rows = self.asking.select(query)
            there |= {(row["node"].value, row["above"].value) for row in rows}
        gone = [t for t in told if (_iri(t.subject), _iri(t.object)) not in there]
        if gone:
            yield (
                f"{self.asking.named.host}: {len(gone)} subclasses that the axioms state are not "
                f"there, such as {gone[0].subject} below {gone[0].object}; their instances do not "
                "count as instances of the class above."
            )

    def _which(
        self, section: str, terms: Iterable[ox.NamedNode | ox.Literal]
    ) -> Iterator[ox.NamedNode | ox.Literal]:
        """Return those of some terms of which a query holds."""
        for batch in batches(sorted(set(terms), key=str)):
            query = template(ROLE, "known").render(section, nodes=list(batch))
            for node in self.asking.nodes(query, "node"):
                if not isinstance(node, ox.BlankNode):
                    yield node
