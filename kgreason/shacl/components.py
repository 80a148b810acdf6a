"""The constraint components: one template each, found by its header.

A template of `queries/observe/` whose header names a `component` says with which `parameter` a
shape asks for it, what that parameter `accepts`, `on` which shapes it may stand, whether a shape
may have it once only (`single`), and whether its body is a `test` of one value or a `pattern` that
has a solution where a node fails.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.extensions import cached
from kgreason.base.store import Term
from kgreason.base.templates import Template, role
from kgreason.base.terms import PREFIXES, RDF, SH, XSD
from kgreason.shacl.paths import IllFormedError, checked_iri
from kgreason.shacl.shapes import Node, Shapes

ROLE: Final = "observe"
_KINDS: Final = frozenset(
    {
        SH.IRI,
        SH.BlankNode,
        SH.Literal,
        SH.BlankNodeOrIRI,
        SH.BlankNodeOrLiteral,
        SH.IRIOrLiteral,
    }
)
_KEYWORDS: Final = frozenset({"true", "false"})


@dataclass(frozen=True)
class Component:
    """A constraint component and its template."""

    iri: ox.NamedNode
    parameter: ox.NamedNode
    extra: tuple[ox.NamedNode, ...]
    needs: tuple[ox.NamedNode, ...]
    accepts: str
    on_property_only: bool
    single: bool
    is_test: bool
    gives_path: bool
    template: Template

    def check(self, shapes: Shapes, shape: Node) -> Iterator["Term | IllFormedError"]:
        """Return each value of the parameter that has a meaning, and for the others the error."""
        name = _short(self.parameter)
        values = shapes.objects(shape, self.parameter)
        if not values:
            return
        if self.on_property_only and not shapes.is_property_shape(shape):
            yield IllFormedError(f"{name} stands on a shape without sh:path")
            return
        if self.single and len(values) > 1:
            yield IllFormedError(f"{name} is given {len(values)} times, it may be given once")
            return
        for needed in self.needs:
            if not shapes.objects(shape, needed):
                yield IllFormedError(f"{name} is given without {_short(needed)}")
                return
        for value in values:
            try:
                _ACCEPTS[self.accepts](shapes, value, name)
            except IllFormedError as error:
                yield error
            else:
                yield value


def _short(iri: ox.NamedNode) -> str:
    return "sh:" + iri.value.removeprefix(SH.iri) if iri in SH else f"<{iri.value}>"


def _iri(text: str) -> ox.NamedNode:
    prefix, _, name = text.strip().partition(":")
    return ox.NamedNode(PREFIXES[prefix] + name)


@cached
def registry() -> Mapping[ox.NamedNode, Component]:
    """Return every component by the parameter that asks for it."""
    found = {}
    for template in role(ROLE).values():
        header = template.header
        if "component" in header:
            component = Component(
                _iri(header["component"]),
                _iri(header["parameter"]),
                tuple(_iri(name) for name in header.get("with", "").split()),
                tuple(_iri(name) for name in header.get("needs", "").split()),
                header["accepts"],
                header["on"] == "property",
                header.get("single") == "yes",
                header["form"] == "test",
                header.get("paths") == "yes",
                template,
            )
            found[component.parameter] = component
    return found


def custom(shapes: Shapes, shape: Node) -> list[tuple[ox.NamedNode, list[ox.NamedNode]]]:
    """Return the author's own constraint components that a shape uses, and their parameters."""
    found = []
    for component in shapes.custom_components():
        needed: list[ox.NamedNode] = []
        others: list[ox.NamedNode] = []
        for parameter in shapes.nodes(component, SH.parameter):
            path = shapes.one(parameter, SH.path)
            if isinstance(path, ox.NamedNode):
                (others if shapes.is_true(parameter, SH.optional) else needed).append(path)
        if needed and all(shapes.objects(shape, path) for path in needed):
            given = [path for path in (*needed, *others) if shapes.objects(shape, path)]
            found.append((component, given))
    return found


def _accept_iri(shapes: Shapes, value: Term, name: str) -> None:
    checked_iri(shapes, value, name)


def _accept_count(_: Shapes, value: Term, name: str) -> None:
    if (
        not isinstance(value, ox.Literal)
        or value.datatype != XSD.integer
        or not value.value.removeprefix("+").isdecimal()
        or not value.value.isascii()
    ):
        raise IllFormedError(f"{name} is {value}, which is no whole number (xsd:integer)")


def _accept_boolean(_: Shapes, value: Term, name: str) -> None:
    # SHACL means the terms true and false; other forms of the same value have no meaning.
    if (
        not isinstance(value, ox.Literal)
        or value.datatype != XSD.boolean
        or value.value not in _KEYWORDS
    ):
        raise IllFormedError(f"{name} is {value}, which is neither true nor false")


def _accept_literal(_: Shapes, value: Term, name: str) -> None:
    if not isinstance(value, ox.Literal):
        raise IllFormedError(f"{name} is {value}, which is no literal")


def _accept_string(_: Shapes, value: Term, name: str) -> None:
    if not isinstance(value, ox.Literal) or value.datatype != XSD.string:
        raise IllFormedError(f"{name} is {value}, which is no plain string")


def _accept_kind(_: Shapes, value: Term, name: str) -> None:
    if value not in _KINDS:
        raise IllFormedError(f"{name} is {value}, which is no node kind of SHACL")


def _accept_term(shapes: Shapes, value: Term, name: str) -> None:
    if isinstance(value, ox.BlankNode):
        raise IllFormedError(f"{name} is a blank node, which no query can ask for")
    if isinstance(value, ox.NamedNode):
        checked_iri(shapes, value, name)


def _accept_terms(shapes: Shapes, value: Term, name: str) -> None:
    members = shapes.list(value)
    if members is None:
        raise IllFormedError(f"{name} is no well-formed list")
    for member in members:
        _accept_term(shapes, member, f"a member of {name}")


def _accept_languages(shapes: Shapes, value: Term, name: str) -> None:
    members = shapes.list(value)
    if members is None:
        raise IllFormedError(f"{name} is no well-formed list")
    for member in members:
        _accept_string(shapes, member, f"a member of {name}")


def _accept_shape(_: Shapes, value: Term, name: str) -> None:
    if isinstance(value, ox.Literal):
        raise IllFormedError(f"{name} is the literal {value}, not a shape")


def _accept_shapes(shapes: Shapes, value: Term, name: str) -> None:
    members = shapes.list(value)
    if not members:
        raise IllFormedError(f"{name} is no list of shapes")
    for member in members:
        _accept_shape(shapes, member, f"a member of {name}")


def _accept_regex(_: Shapes, value: Term, name: str) -> None:
    if not isinstance(value, ox.Literal) or value.datatype == RDF.langString:
        raise IllFormedError(f"{name} is {value}, which is no plain string")


def _accept_select(shapes: Shapes, value: Term, name: str) -> None:
    texts = shapes.objects(value, SH.select)
    if isinstance(value, ox.Literal) or len(texts) != 1:
        raise IllFormedError(f"{name} has {len(texts) or 'no'} sh:select, it must have one")
    _accept_string(shapes, texts[0], "sh:select")


_ACCEPTS: Final[dict[str, Callable[[Shapes, Term, str], None]]] = {
    "iri": _accept_iri,
    "count": _accept_count,
    "boolean": _accept_boolean,
    "literal": _accept_literal,
    "kind": _accept_kind,
    "term": _accept_term,
    "terms": _accept_terms,
    "languages": _accept_languages,
    "shape": _accept_shape,
    "shapes": _accept_shapes,
    "regex": _accept_regex,
    "select": _accept_select,
}
