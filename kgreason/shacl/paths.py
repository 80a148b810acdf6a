"""Property paths: read from a shapes graph, written as SPARQL."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.templates import Fragment, balanced
from kgreason.base.terms import RDF, SH
from kgreason.shacl.shapes import Node, Shapes

_WELL_KNOWN: Final = frozenset(
    {
        *("dc", "dcat", "dct", "dcterms", "foaf", "owl", "prov", "rdf", "rdfs", "schema", "sdo"),
        *("sh", "skos", "vcard", "void", "xsd"),
    }
)
_REPEATED: Final = {
    SH.zeroOrMorePath: "*",
    SH.oneOrMorePath: "+",
    SH.zeroOrOnePath: "?",
}


DEEP: Final = 50
"""How deep shapes and paths may be nested; engines and Python itself end not far below that."""


class IllFormedError(Exception):
    """A shape or a parameter that has no meaning; it is named in a notice and passed over."""


class TooDeepError(IllFormedError):
    """A shape that is nested deeper than anything here can follow; all of it is passed over."""


@dataclass(frozen=True)
class Path:
    """A property path.

    `kind` is "predicate", "^", "/", "|", "*", "+" or "?"; a predicate has `iri`, all others `parts`
    of which they are made.
    """

    kind: str
    iri: ox.NamedNode | None = None
    parts: tuple["Path", ...] = ()

    @property
    def predicate(self) -> ox.NamedNode | None:
        """The predicate where the path is nothing else, or None."""
        return self.iri

    @property
    def forwards(self) -> tuple[ox.NamedNode, ...]:
        """The predicates of a path that goes forwards from one to the next; else nothing."""
        if self.iri is not None:
            return (self.iri,)
        inner = [part.forwards for part in self.parts] if self.kind == "/" else []
        return tuple(step for part in inner for step in part) if all(inner) else ()

    @property
    def text(self) -> str:
        """The path in SPARQL with full IRIs."""
        if self.kind == "predicate":
            return str(self.iri)
        inner = [part.text if part.iri else f"({part.text})" for part in self.parts]
        if self.kind == "^":
            return "^" + inner[0]
        if self.kind in {"/", "|"}:
            return balanced([Fragment(text) for text in inner], self.kind, "%s", blank="").text
        return inner[0] + self.kind

    @property
    def is_sequence(self) -> bool:
        """Whether an engine may take the path apart into a join of several patterns."""
        return self.kind == "/" or (self.kind == "^" and self.parts[0].is_sequence)

    @property
    def starts_backwards(self) -> bool:
        """Whether a first step may go from an object to its subject."""
        if self.kind == "^":
            return True
        if self.kind == "/":
            first = next((p for p in self.parts if not p.may_be_empty), self.parts[-1])
            until = self.parts[: self.parts.index(first) + 1]
            return any(part.starts_backwards for part in until)
        return any(part.starts_backwards for part in self.parts)

    @property
    def may_be_empty(self) -> bool:
        """Whether a node can be its own value by a walk of no step."""
        if self.kind in {"*", "?"}:
            return True
        empty = [part.may_be_empty for part in self.parts]
        if self.kind == "|":
            return any(empty)
        return bool(empty) and all(empty)

    def backwards(self) -> Iterator[ox.NamedNode]:
        """Return the predicates that the path goes from object to subject."""
        for part in self.parts:
            yield from part.last() if self.kind == "^" else part.backwards()

    def last(self) -> Iterator[ox.NamedNode]:
        """Return the predicates whose objects can be the values of the path."""
        if self.kind == "predicate" and self.iri is not None:
            yield self.iri
        elif self.kind == "/":
            for part in reversed(self.parts):
                yield from part.last()
                if not part.may_be_empty:
                    break
        elif self.kind != "^":
            for part in self.parts:
                yield from part.last()


def of_predicate(iri: ox.NamedNode) -> Path:
    """Return the path of one step."""
    return Path("predicate", iri)


def read_path(shapes: Shapes, node: Term, above: frozenset[Term] = frozenset()) -> Path:
    """Read the value of sh:path; raises IllFormedError with what is wrong."""
    if isinstance(node, ox.Literal):
        raise IllFormedError(f"sh:path is the literal {node}")
    if isinstance(node, ox.NamedNode):
        if node == RDF.nil:
            raise IllFormedError("sh:path is an empty list")
        return Path("predicate", checked_iri(shapes, node, "sh:path"))
    if node in above:
        raise IllFormedError("sh:path leads back to itself")
    if len(above) == DEEP:
        raise IllFormedError(f"sh:path is nested too deeply, more than {DEEP} times")
    above = above | {node}
    if shapes.objects(node, RDF.first):
        return Path("/", parts=_members(shapes, node, above, "a sequence"))
    described = [
        p for p in (SH.inversePath, SH.alternativePath, *_REPEATED) if shapes.objects(node, p)
    ]
    if len(described) != 1 or len(shapes.objects(node, described[0])) != 1:
        raise IllFormedError("sh:path is no valid property path")
    inner = shapes.objects(node, described[0])[0]
    if described[0] == SH.alternativePath:
        return Path("|", parts=_members(shapes, inner, above, "an alternative"))
    part = read_path(shapes, inner, above)
    return Path("^" if described[0] == SH.inversePath else _REPEATED[described[0]], parts=(part,))


def _members(shapes: Shapes, head: Term, above: frozenset[Term], what: str) -> tuple[Path, ...]:
    members = shapes.list(head)
    if members is None or len(members) < 2:  # noqa: PLR2004 - SHACL asks for at least two
        raise IllFormedError(f"sh:path has {what} of fewer than two steps")
    return tuple(read_path(shapes, member, above) for member in members)


def is_prefixed(term: Term) -> bool:
    """Check whether an IRI is a prefixed name, such as skos:inScheme, in angle brackets."""
    if not isinstance(term, ox.NamedNode):
        return False
    scheme, _, rest = term.value.partition(":")
    return scheme in _WELL_KNOWN and not rest.startswith("/")


def checked_iri(shapes: Shapes, node: Term, what: str) -> ox.NamedNode:
    """Return an IRI that can stand in a query; raises IllFormedError otherwise.

    A prefixed name in angle brackets is a slip, but where the data have the same one.
    """
    if not isinstance(node, ox.NamedNode):
        raise IllFormedError(f"{what} is {node}, which is no IRI")
    try:
        ox.NamedNode(node.value)  # the shapes are read leniently, but a query takes no less
    except ValueError as error:
        raise IllFormedError(f"{what} is <{node.value}>, which is no valid IRI") from error
    if is_prefixed(node) and node not in shapes.in_data:
        raise IllFormedError(
            f"{what} is <{node.value}>, a prefixed name in angle brackets; leave them away"
        )
    return node


def shape_path(shapes: Shapes, shape: Node) -> Path | None:
    """Return the path of a property shape, None for a node shape; raises IllFormedError."""
    if not shapes.is_property_shape(shape):
        return None
    found = shapes.objects(shape, SH.path)
    if len(found) != 1:
        raise IllFormedError(f"a property shape has {len(found) or 'no'} sh:path, it must have one")
    return read_path(shapes, found[0])
