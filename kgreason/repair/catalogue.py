"""The repairs of `queries/repair/`: which of them fit a hypothesis, and what they declare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import TemplateError
from kgreason.base.resources import folder
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Template, Value, role
from kgreason.base.terms import FORM_PREFIX, RDF, SH, SKOS, TRAILS, TYPE
from kgreason.graph import Graph
from kgreason.graph.names import Names
from kgreason.repair.imports import loaded
from kgreason.repair.misread import reading
from kgreason.repair.update import node_rows, read_update, rows
from kgreason.repair.validation import constraints
from kgreason.shacl import Constraint

ROLE: Final = "repair"
DATA: Final = "data"
READING: Final = "reading"
"""What a repair asks for that reads misread texts again."""
CLASSES: Final = "classes"
VALUES: Final = "values"
"""What a repair needs that mends the types of nodes, or what else is said of them."""
IMPORTED: Final = "imported"
"""What a repair needs that takes from another source."""


@dataclass(frozen=True)
class Cause:
    """What a repair needs to know of a hypothesis: family, kind (its IRI), and what it is about.

    `levels` are the terms of a family that binds several at once, `bound` all that it has bound.
    """

    family: str
    kind: ox.NamedNode
    dimension: Term | None = None
    level: Term | None = None
    levels: tuple[ox.NamedNode, ...] = ()
    bound: Mapping[str, Term] = field(default_factory=dict)


@dataclass(frozen=True)
class Repair:
    """A repair for one hypothesis: the template, and the terms that are put into it.

    `beside` are the quads of another source that it takes from, if it does.
    """

    template: Template
    values: Mapping[str, Value]
    beside: Sequence[ox.Quad] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The name of the template."""
        return self.template.name

    @property
    def region(self) -> str:
        """The notation of the region kind."""
        return self.template.header["region"]

    @property
    def operation(self) -> str:
        """The notation of the operation."""
        return self.template.header["operation"]

    @property
    def mends_data(self) -> bool:
        """Whether the data are changed, and not the shapes."""
        return self.template.header["mends"] == DATA

    def instruction(self, names: Names) -> str:
        """Return what it does, as one would tell a person to do it, with short names of terms.

        Where two terms have the same short name, their IRIs are told.
        """
        header = self.template.header
        words = header.get("does") or header["title"]
        terms = {n: v for n, v in self.values.items() if isinstance(v, ox.NamedNode | ox.Literal)}
        told = {name: names(term) for name, term in terms.items() if f"{{{name}}}" in words}
        if len(set(told.values())) < len(told):
            told = {name: terms[name].value for name in told}
        for name, text in told.items():
            words = words.replace(f"{{{name}}}", text)
        return words[:1].upper() + words[1:]

    def select(self, graph: Graph, query: str) -> list[Row]:
        """Run a query for its changes, with the other source beside the data for as long."""
        with loaded(graph, self.beside):
            return list(graph.store.select(query))

    def rows(self, arm: str, nodes: Fragment) -> list[Fragment]:
        """Return the rows of an arm: its nodes, what stands in the way, what is changed."""
        name, label = ox.Literal(self.name), ox.Literal(arm)
        made = [node_rows(nodes, arm=label, repair=name)]
        copied = self.values.get(self.template.header.get("copies", ""))
        copies = copied if isinstance(copied, ox.NamedNode) else None
        for section in self.template.sections:
            fragment = self.template.fragment(section, **self._given(nodes))
            update = read_update(fragment, f"{ROLE}/{self.name}")
            obstacles = section == "obstacles"
            made += rows(update, arm=label, repair=name, copies=copies, obstacles=obstacles)
        return made

    def _given(self, nodes: Fragment) -> dict[str, Value]:
        values = {**self.values, "nodes": nodes}
        return {k: v for k, v in values.items() if k in self.template.parameters}


def repairs(
    cause: Cause, constraint: Constraint, graph: Graph, imported: Sequence[ox.Quad] = ()
) -> list[Repair]:
    """Return the repairs that fit a hypothesis on a symptom, the ones to try first in front.

    `imported` are the quads of another source, for repairs that take from one.
    """
    offered = values(cause, constraint, graph)
    if imported:
        offered[IMPORTED] = True
    out = []
    for made in _fitting(cause, constraint, offered):
        takes = IMPORTED in made.header.get("needs", "").split()
        out.append(Repair(made, _chosen(made, offered), imported if takes else ()))
    return out


def _chosen(made: Template, offered: Mapping[str, Value]) -> dict[str, Value]:
    return {name: offered[name] for name in made.parameters if name in offered}


def _fitting(
    cause: Cause, constraint: Constraint, offered: Mapping[str, Value]
) -> Iterator[Template]:
    component = constraint.component.value.rpartition("#")[2].removesuffix("ConstraintComponent")
    for made in sorted(role(ROLE).values(), key=lambda t: (int(t.header["order"]), t.name)):
        check(made)
        wanted = made.header.get("components", "").split()
        if (
            cause.family in made.header["families"].split()
            and (not wanted or component in wanted)
            and made.header["region"] in _bound(cause.kind)
            and set(made.parameters) - {"nodes"} <= set(offered)
            and all(name in offered for name in made.header.get("needs", "").split())
        ):
            yield made


def values(cause: Cause, constraint: Constraint, graph: Graph) -> dict[str, Value]:
    """Return the terms that a repair may ask for."""
    predicate = _property(cause, constraint)
    out: dict[str, Value] = {"levels": list(cause.levels)}
    if isinstance(cause.level, ox.NamedNode | ox.Literal):
        out["level"] = cause.level
    if predicate is not None:
        out |= {
            "predicate": predicate,
            "formed": predicate in graph.formed,
            "form": ox.NamedNode(FORM_PREFIX + predicate.value),
            "required": _required(constraint, graph),
            CLASSES if predicate == TYPE else VALUES: True,
        }
    out |= _again(cause, predicate, graph)
    for name, parameter in (("class", SH["class"]), ("datatype", SH.datatype)):
        given = constraint.parameters.get(parameter, ())
        if given and isinstance(given[0], ox.NamedNode):
            out[name] = given[0]
    if isinstance(datatype := out.get("datatype"), ox.NamedNode):
        # The store would rewrite a text that a query makes, as it does those that are loaded.
        written = out["written"] = ox.NamedNode(FORM_PREFIX + datatype.value)
        out["tagged" if out["datatype"] == RDF.langString else "typed"] = True
        out["wanted"] = [written]
    out.setdefault("wanted", [])
    out["allowed"] = _allowed(constraint)
    if SH.languageIn in constraint.parameters:
        out["tagged"] = True
    out["languages"] = _languages(constraint)
    kinds = constraint.parameters.get(SH.nodeKind, ())
    if SH.IRI in kinds or SH.BlankNodeOrIRI in kinds or "class" in out:
        out["wants"] = SH.IRI
    if constraint.named_shape is not None:
        out["shape"] = constraint.named_shape
    if len(constraint.parameters) and constraint.shape is not None:
        out["parameter"] = next(iter(constraint.parameters))
    # Whatever else the family has bound, a repair of its own may ask for by that name.
    return {**_bound_terms(cause), **out}


def _bound_terms(cause: Cause) -> dict[str, Value]:
    """Return the terms that the family of a hypothesis has bound, by the names it has for them."""
    terms = cause.bound.items()
    return {name: t for name, t in terms if isinstance(t, ox.NamedNode | ox.Literal)}


def _again(cause: Cause, predicate: ox.NamedNode | None, graph: Graph) -> dict[str, Value]:
    """Return how misread texts are read again, where a repair of the family asks for that."""
    asked = any(
        READING in made.parameters and cause.family in made.header["families"].split()
        for made in role(ROLE).values()
    )
    if not asked or predicate is None or not isinstance(cause.level, ox.Literal):
        return {}
    found = reading(graph, predicate, cause.level)
    return {READING: found} if found is not None else {}


def _property(cause: Cause, constraint: Constraint) -> ox.NamedNode | None:
    """Return the constrained property; a closed shape has no path, but its cause names one."""
    if constraint.path is not None:
        return constraint.path.predicate
    return cause.dimension if isinstance(cause.dimension, ox.NamedNode) else None


def _languages(constraint: Constraint) -> list[ox.NamedNode | ox.Literal | Fragment]:
    """Return the languages that sh:languageIn lists; none where any will do."""
    if constraint.shapes is None:
        return []
    heads = constraint.parameters.get(SH.languageIn, ())
    listed = [term for head in heads for term in constraint.shapes.list(head) or ()]
    return [term for term in listed if isinstance(term, ox.Literal)]


def _allowed(constraint: Constraint) -> list[ox.NamedNode | ox.Literal | Fragment]:
    """Return the values that the constraint lists or asks for; none where it asks for others."""
    found = list(constraint.parameters.get(SH.hasValue, ()))
    for head in constraint.parameters.get(SH["in"], ()):
        found += (constraint.shapes.list(head) or ()) if constraint.shapes is not None else ()
    return [term for term in found if isinstance(term, ox.NamedNode | ox.Literal)]


def _required(own: Constraint, graph: Graph) -> bool:
    """Check whether the shapes ask the same nodes for a value of the constrained property."""
    return any(
        one.component == SH.MinCountConstraintComponent
        and one.path == own.path
        and one.target == own.target
        for one in constraints(graph, own)
    )


# What may be declared


@cache
def _lists() -> tuple[dict[ox.NamedNode, frozenset[str]], dict[str, frozenset[str]]]:
    """Return region kinds that a kind of cause may bind, and those that an operation acts on."""
    store = ox.Store()
    for name in ("trails.ttl", "repair.ttl"):
        store.load(path=str(folder("ontology") / name), format=ox.RdfFormat.TURTLE)
    notation = {
        q.subject: q.object.value
        for q in store.quads_for_pattern(None, SKOS.notation, None, None)
        if isinstance(q.object, ox.Literal)
    }

    def linked(term: ox.NamedNode) -> dict[ox.NamedNode, frozenset[str]]:
        out: dict[ox.NamedNode, set[str]] = {}
        for quad in store.quads_for_pattern(None, term, None, None):
            if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode):
                out.setdefault(quad.subject, set()).add(notation[quad.object])
        return {node: frozenset(found) for node, found in out.items()}

    acts = {notation[node]: found for node, found in linked(TRAILS.actsOn).items()}
    return linked(TRAILS.mayBind), acts


def _bound(kind: ox.NamedNode) -> frozenset[str]:
    return _lists()[0].get(kind, frozenset())


def check(made: Template) -> None:
    """Raise TemplateError for a repair that declares what there is not, or what does not fit."""
    acts = _lists()[1]
    region, operation = made.header.get("region", ""), made.header.get("operation", "")
    if region not in acts.get(operation, frozenset()):
        raise TemplateError(
            f"{ROLE}/{made.path.name}: the operation {operation!r} does not act on "
            f"{region!r}; see ontology/repair.ttl."
        )


def concept(scheme: str, notation: str) -> ox.NamedNode:
    """Return the IRI of a region kind or an operation by its notation."""
    store = ox.Store()
    store.load(path=str(folder("ontology") / "repair.ttl"), format=ox.RdfFormat.TURTLE)
    for quad in store.quads_for_pattern(None, SKOS.notation, ox.Literal(notation), None):
        if ox.Quad(quad.subject, SKOS.inScheme, TRAILS[scheme]) in store and isinstance(
            quad.subject, ox.NamedNode
        ):
            return quad.subject
    raise TemplateError(f"There is no {notation!r} in trails:{scheme}.")
