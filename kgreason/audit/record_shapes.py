"""The shapes of `shapes/` as the native engine reads them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.audit.findings import Severity
from kgreason.audit.statements import plain, statements
from kgreason.base.errors import ShapesError
from kgreason.base.extensions import active, cached
from kgreason.base.resources import folder
from kgreason.base.store import Term
from kgreason.base.templates import Template
from kgreason.base.terms import RDF, RDFS, SH, TYPE, XSD
from kgreason.record.catalogue import entries, fill_lists
from kgreason.record.whole_shapes import SHAPES, checks, files

ONTOLOGY: Final = (
    *("trails.ttl", "policy.ttl", "lifecycle.ttl", "repair.ttl", "planner.ttl"),
    *("supervision.ttl", "segments.ttl", "endpoint.ttl"),
)
"""What a record is merged with, beside the catalogue; its policy it holds itself."""

_SEVERITIES: Final[dict[ox.NamedNode, Severity]] = {
    SH.Violation: "violation",
    SH.Warning: "warning",
    SH.Info: "notice",
}
_TARGETS: Final = (SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf)
_ON_NODES: Final = {TYPE, SH.property, SH.severity, *_TARGETS}
_ONCE: Final = {SH.minCount, SH.maxCount}
_REQUIRE: Final = frozenset({"minCount", "hasValue"})
_COMPONENTS: Final = _ONCE | {
    SH.datatype,
    SH["class"],
    SH.nodeKind,
    SH["in"],
    SH.hasValue,
    SH.minInclusive,
    SH.maxInclusive,
    SH.minExclusive,
    SH.pattern,
    SH.minLength,
}


@dataclass(frozen=True)
class Limit:
    """One core constraint on the values of a property.

    `allowed` are the members of sh:in, `number` is the value where that is a number.
    """

    path: ox.NamedNode
    component: str
    value: Term
    allowed: frozenset[Term] = frozenset()
    number: Decimal = Decimal(0)


@dataclass(frozen=True)
class Shape:
    """A shape with the classes it is about (subclasses too), and its core constraints by path.

    `required` are those that a node without any value breaks, `paths` all properties it names.
    """

    name: str
    classes: frozenset[Term]
    limits: Mapping[ox.NamedNode, Sequence[Limit]]
    severity: Severity
    required: tuple[Limit, ...] = ()
    paths: frozenset[ox.NamedNode] = frozenset()

    def rule(self, limit: Limit) -> str:
        """Return the name of the rule that one of its constraints is."""
        return f"{self.name}.{_local(limit.path)}.{limit.component}"


@dataclass(frozen=True)
class Rule:
    """A constraint in SPARQL: a SELECT of ?this and ?value, which has a row for each fault."""

    name: str
    query: str
    message: str
    severity: Severity

    def say(self, value: Term | None) -> str:
        """Fill the value at fault into the message."""
        return self.message.replace("{?value}", "nothing" if value is None else value.value)


@dataclass(frozen=True)
class Shapes:
    """All shapes, all rules, and the classes above each class."""

    shapes: tuple[Shape, ...]
    rules: tuple[Rule, ...]
    above: Mapping[Term, frozenset[Term]]


@cached
def ontology() -> tuple[ox.Quad, ...]:
    """Return the triples of the ontology and the catalogue, to be merged with a record."""
    store = ox.Store()
    for path in (folder("ontology") / name for name in ONTOLOGY):
        if path.is_file():
            store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    for extension in active():  # a pattern of theirs says which scopes it may use
        for file in extension.patterns():
            store.load(file.read_bytes(), ox.RdfFormat.TURTLE)
    store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in entries())
    return tuple(store)


@cached
def shapes() -> Shapes:
    """Read the shapes; raises ShapesError for a constraint that the native engine does not know."""
    store = ox.Store()
    for path in files():
        store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    fill_lists(store)
    above = _superclasses()
    found = []
    severities: dict[str, Severity] = {}
    for shape in statements(store, None, TYPE, SH.NodeShape):
        node = shape.subject
        severity = _SEVERITIES[next(iter(_named(store, node, SH.severity)), SH.Violation)]
        severities[node.value.removeprefix(SHAPES)] = severity
        unknown = {found.predicate for found in statements(store, node)} - _ON_NODES
        if unknown:
            raise ShapesError(f"{node}: the audit does not know {min(map(str, unknown))}.")
        targets = frozenset(_named(store, node, SH.targetClass))
        classes: set[Term] = set(targets) | {c for c, supers in above.items() if targets & supers}
        limits: dict[ox.NamedNode, list[Limit]] = {}
        for limit in sorted(_limits(store, node), key=lambda x: (str(x.path), x.component)):
            limits.setdefault(limit.path, []).append(limit)
        if limits and not targets:
            raise ShapesError(f"{node}: property shapes need a sh:targetClass.")
        needed = tuple(x for many in limits.values() for x in many if x.component in _REQUIRE)
        paths = frozenset(
            path
            for link in statements(store, node, SH.property)
            for path in _named(store, link.object, SH.path)
        )
        found.append(Shape(_local(node), frozenset(classes), limits, severity, needed, paths))
    rules = tuple(_rule(made, severities) for made in checks())
    return Shapes(tuple(sorted(found, key=lambda s: s.name)), rules, above)


def _named(store: ox.Store, node: Term, predicate: ox.NamedNode) -> Iterator[ox.NamedNode]:
    for found in statements(store, node, predicate):
        if isinstance(found.object, ox.NamedNode):
            yield found.object


def _rule(made: Template, severities: Mapping[str, Severity]) -> Rule:
    shape = made.header.get("shape", "")
    if shape not in severities or "message" not in made.header:
        raise ShapesError(
            f"queries/audit/{made.path.name}: the header has to name a shape of shapes/ and a "
            f"message; it names the shape {shape!r}."
        )
    return Rule(made.name, made.render(), made.header["message"], severities[shape])


def _limits(store: ox.Store, node: Term) -> Iterator[Limit]:
    for link in statements(store, node, SH.property):
        values = {found.predicate: found.object for found in statements(store, link.object)}
        path = values.pop(SH.path)
        for predicate, value in values.items():
            many = predicate in _ONCE and value.value != "1"
            if predicate not in _COMPONENTS or many or not isinstance(path, ox.NamedNode):
                raise ShapesError(f"{node}, {path}: the audit does not know {predicate} {value}.")
            allowed = frozenset(_members(store, value)) if predicate == SH["in"] else frozenset()
            number = Decimal(value.value) if _is_number(value) else Decimal(0)
            yield Limit(path, _local(predicate), value, allowed, number)


def _is_number(value: Term) -> bool:
    return isinstance(value, ox.Literal) and value.datatype in {XSD.integer, XSD.decimal}


def _members(store: ox.Store, head: Term) -> Iterator[Term]:
    while head != RDF.nil:
        yield next(statements(store, head, RDF.first)).object
        head = next(statements(store, head, RDF.rest)).object


def _superclasses() -> dict[Term, frozenset[Term]]:
    direct: dict[Term, set[Term]] = {}
    for link in plain(ontology()):
        if link.predicate == RDFS.subClassOf:
            direct.setdefault(link.subject, set()).add(link.object)
    above: dict[Term, frozenset[Term]] = {}
    for start in direct:
        reached, front = {start}, {start}
        while front:
            front = {c for node in front for c in direct.get(node, ())} - reached
            reached |= front
        above[start] = frozenset(reached)
    return above


def _local(node: Term) -> str:
    return re.split(r"[#/]", node.value)[-1]
