"""The catalogue of `queries/` as statements: what the record, the audit and the shapes ask of it.

Lists that repeat the catalogue are made here, so that a new file is in all of them.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import ShapesError
from kgreason.base.extensions import cached
from kgreason.base.resources import folder
from kgreason.base.store import Term
from kgreason.base.templates import Template, role, roles
from kgreason.base.terms import RDF, SH, SKOS, TRAILS, TYPE
from kgreason.record.test_kinds import kinds, modality_of, role_of

CATALOGUE: Final = "https://w3id.org/trails/catalogue#"
LIST_OF: Final = ox.NamedNode("https://w3id.org/trails/shapes#listOf")
"""In a property shape: the values are the names of the updates in that folder of `queries/`, or
the members of that concept scheme. It stands for the sh:in that is made of it."""


def phase_of(gate: Template) -> str:
    """Return the phase in which a gate is applied, by its header or by what it takes."""
    usual = "Execute" if "evidence" in gate.parameters else "Decide"
    return gate.header.get("phase", usual)


@cached
def entries() -> tuple[ox.Triple, ...]:
    """Return the gates, the confidence rules and the kinds of test of the catalogue."""
    made: list[ox.Triple] = []
    for gate in _updates("status"):
        node = _entry(made, "status", gate.name, TRAILS.Gate)
        made.append(ox.Triple(node, TRAILS.to, TRAILS[gate.header["to"]]))
        made.append(ox.Triple(node, TRAILS.phase, TRAILS[phase_of(gate)]))
    for rule in _updates("confidence"):
        node = _entry(made, "confidence", rule.name, TRAILS.ConfidenceRule)
        made.append(ox.Triple(node, TRAILS.moves, ox.Literal(rule.header["moves"])))
        if "needs" in rule.header:
            made.append(ox.Triple(node, TRAILS.needs, TRAILS[rule.header["needs"]]))
    for kind in kinds():
        node = _entry(made, "test", kind, TRAILS.TestKind)
        made.append(ox.Triple(node, TRAILS.testRole, role_of(kind)))
        made.append(ox.Triple(node, TRAILS.modality, modality_of(kind)))
    return tuple(made)


def _entry(made: list[ox.Triple], place: str, name: str, kind: ox.NamedNode) -> ox.NamedNode:
    node = ox.NamedNode(f"{CATALOGUE}{place}-{name}")
    made.append(ox.Triple(node, TYPE, kind))
    made.append(ox.Triple(node, SKOS.notation, ox.Literal(name)))
    return node


def _updates(place: str) -> list[Template]:
    return [made for made in role(place).values() if made.is_update]


def fill_lists(store: ox.Store) -> None:
    """Put in place of each shape:listOf of some shapes the sh:in that it stands for.

    Raises ShapesError for a list of nothing.
    """
    for quad in list(store.quads_for_pattern(None, LIST_OF, None, None)):
        store.remove(quad)
        head: ox.NamedNode | ox.BlankNode = RDF.nil
        for value in reversed(_listed(quad.object)):
            cell = ox.BlankNode()
            store.add(ox.Quad(cell, RDF.first, value))
            store.add(ox.Quad(cell, RDF.rest, head))
            head = cell
        store.add(ox.Quad(quad.subject, SH["in"], head))


def _listed(name: object) -> list[Term]:
    """Return the values of a list, sorted."""
    found: Iterator[Term] = iter(())
    if isinstance(name, ox.Literal) and name.value in roles():
        found = (ox.Literal(made.name) for made in _updates(name.value))
    elif isinstance(name, ox.NamedNode):
        found = iter(_members(name))
    values = sorted(found, key=str)
    if not values:
        raise ShapesError(
            f"shapes/: shape:listOf {name} names no folder of queries/ with updates, and no "
            "concept scheme."
        )
    return values


@cache
def _members(scheme: ox.NamedNode) -> tuple[ox.NamedNode, ...]:
    store = ox.Store()
    store.load(path=str(folder("ontology") / "trails.ttl"), format=ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(None, SKOS.inScheme, scheme, None)
    return tuple(q.subject for q in found if isinstance(q.subject, ox.NamedNode))
