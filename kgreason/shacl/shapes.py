"""A shapes graph, read with every literal as it was written, and what is asked of it."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import pyoxigraph as ox

from kgreason.base.errors import GraphError, ShapesError
from kgreason.base.store import Term
from kgreason.base.terms import OWL, RDF, RDFS, SH, TYPE
from kgreason.graph.bounds import MOST_BYTES, contents
from kgreason.graph.given import Objects
from kgreason.graph.load import FORMATS
from kgreason.graph.reading import as_utf8, explain, is_turtle

Node = ox.NamedNode | ox.BlankNode

TARGETS: Final = (
    SH.targetClass,
    SH.targetNode,
    SH.targetSubjectsOf,
    SH.targetObjectsOf,
    SH.target,
)
LISTS_OF_SHAPES: Final = (SH["and"], SH["or"], SH.xone)
SINGLE_SHAPES: Final = (SH.node, SH["not"], SH.qualifiedValueShape)
_DEEP: Final = 12
_SHORT: Final = re.compile(r"(?<![\w:.-])([A-Za-z][\w.-]*)?:(\w(?:[\w.-]*\w)?)")
"""A name with a prefix, as far as paths and names of shapes have such."""
_T = TypeVar("_T", ox.NamedNode | ox.BlankNode, Term)


@dataclass
class Shapes:
    """An index of a shapes graph: `index[subject][predicate]` is the tuple of objects.

    `files` are the paths it came from; `notices` say what was odd about them; `prefixes` are those
    that the files declare for themselves. `in_data` are IRIs that look like a slip, and
    that the data have all the same.
    """

    index: dict[Node, dict[ox.NamedNode, tuple[Term, ...]]]
    files: tuple[str, ...] = ()
    notices: list[str] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
    in_data: frozenset[ox.NamedNode] = frozenset()
    _parents: dict[Node, tuple[Node, ...]] | None = None
    _custom: tuple[ox.NamedNode, ...] | None = None
    _digests: dict[Node, str] = field(default_factory=dict)
    _subjects: dict[ox.NamedNode, tuple[Node, ...]] = field(default_factory=dict)

    def objects(self, subject: Term, predicate: ox.NamedNode) -> tuple[Term, ...]:
        """Return the objects in the order of the file, without repetition."""
        if isinstance(subject, ox.Literal):
            return ()
        return self.index.get(subject, {}).get(predicate, ())

    def one(self, subject: Term, predicate: ox.NamedNode) -> Term | None:
        """Return the first object, or None."""
        found = self.objects(subject, predicate)
        return found[0] if found else None

    def nodes(self, subject: Term, predicate: ox.NamedNode) -> tuple[Node, ...]:
        """Return the objects that are no literals."""
        return tuple(o for o in self.objects(subject, predicate) if not isinstance(o, ox.Literal))

    def list(self, head: Term) -> list[Term] | None:
        """Return the members of an RDF list, or None where it is none or is broken."""
        members: list[Term] = []
        seen: set[Term] = set()
        while head != RDF.nil:
            first = self.objects(head, RDF.first)
            rest = self.objects(head, RDF.rest)
            if head in seen or len(first) != 1 or len(rest) != 1:
                return None
            seen.add(head)
            members.append(first[0])
            head = rest[0]
        return members

    def subjects(self, predicate: ox.NamedNode) -> tuple[Node, ...]:
        """Return all that have a property."""
        if predicate not in self._subjects:
            self._subjects[predicate] = tuple(
                s for s, described in self.index.items() if predicate in described
            )
        return self._subjects[predicate]

    def triples(self) -> Iterator[ox.Triple]:
        """Return every triple, its literals as they were written."""
        for subject, described in self.index.items():
            for predicate, objects in described.items():
                for value in objects:
                    yield ox.Triple(subject, predicate, value)

    def is_true(self, subject: Term, predicate: ox.NamedNode) -> bool:
        """Check whether a flag such as sh:deactivated is set."""
        return any(
            isinstance(o, ox.Literal) and o.value in {"true", "1"}
            for o in self.objects(subject, predicate)
        )

    def parents(self, shape: Node) -> tuple[Node, ...]:
        """Return the shapes that use this one, by sh:property, sh:node, sh:or and the like."""
        if self._parents is None:
            found: dict[Node, list[Node]] = {}
            for subject, described in self.index.items():
                for predicate in (SH.property, *SINGLE_SHAPES):
                    for value in described.get(predicate, ()):
                        if not isinstance(value, ox.Literal):
                            found.setdefault(value, []).append(subject)
                for predicate in LISTS_OF_SHAPES:
                    for head in described.get(predicate, ()):
                        for value in self.list(head) or ():
                            if not isinstance(value, ox.Literal):
                                found.setdefault(value, []).append(subject)
            self._parents = {node: tuple(dict.fromkeys(up)) for node, up in found.items()}
        return self._parents.get(shape, ())

    def named(self, shape: Node) -> ox.NamedNode | None:
        """Return shape itself if it has a name, else the nearest shape above it that has one."""
        level, seen = [shape], {shape}
        while level:
            names = [n for n in level if isinstance(n, ox.NamedNode)]
            if names:
                return min(names, key=lambda n: n.value)
            level = [p for n in level for p in self.parents(n) if p not in seen]
            seen.update(level)
        return None

    def digest(self, node: Term, depth: int = 0) -> str:
        """Return a digest that is the same at every reading, for blank nodes by what they say."""
        if not isinstance(node, ox.BlankNode):
            return str(node)
        if node in self._digests:
            return self._digests[node]
        if depth > _DEEP:
            return "…"
        lines = sorted(
            f"{predicate} {self.digest(value, depth + 1)}"
            for predicate, values in self.index.get(node, {}).items()
            for value in values
        )
        made = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        if depth == 0:
            self._digests[node] = made
        return made

    def identity(self, shape: Node) -> str:
        """Return a digest of a shape; one without a name also by the named shape above it."""
        above = self.named(shape)
        return f"{self.digest(shape)} in {above.value if above else ''}"

    def classes(self) -> frozenset[Term]:
        """Return rdfs:Class, owl:Class and their subclasses in the shapes graph."""
        return self._below({RDFS.Class, OWL.Class})

    def _below(self, known: set[Term]) -> frozenset[Term]:
        grew = True
        while grew:
            grew = False
            for subject, described in self.index.items():
                if subject not in known and known & set(described.get(RDFS.subClassOf, ())):
                    known.add(subject)
                    grew = True
        return frozenset(known)

    def custom_components(self) -> tuple[ox.NamedNode, ...]:
        """Return the constraint components that the shapes graph defines."""
        if self._custom is None:
            kinds = self._below({SH.ConstraintComponent})
            self._custom = tuple(
                node
                for node, described in self.index.items()
                if kinds & set(described.get(TYPE, ()))
                and isinstance(node, ox.NamedNode)
                and node not in SH
            )
        return self._custom

    def is_property_shape(self, shape: Node) -> bool:
        """Check whether the shape has a path, or at least says that it is a property shape."""
        types = self.objects(shape, TYPE)
        return bool(self.objects(shape, SH.path)) or SH.PropertyShape in types


def key_of(*lines: str) -> str:
    """Return a short digest of some lines, as a key."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def read_shapes(
    paths: Sequence[Path], *, most: int = MOST_BYTES, objects: Objects = MappingProxyType({})
) -> Shapes:
    """Read SHACL files into one shapes graph; raises ShapesError that names the file and line.

    No packed file may hold more than `most` bytes. What is among `objects` is no file.
    """
    shapes = read_triples(paths, most=most, objects=objects)
    if not any(p.value.startswith(SH.iri) for d in shapes.index.values() for p in d):
        raise ShapesError(
            f"{', '.join(shapes.files)}: there is no SHACL in it (nothing uses {SH.iri}); "
            "give the file that holds the shapes."
        )
    return shapes


def read_triples(
    paths: Sequence[Path], *, most: int = MOST_BYTES, objects: Objects = MappingProxyType({})
) -> Shapes:
    """Read RDF files into an index; raises ShapesError that names the file and line."""
    index: dict[Node, dict[ox.NamedNode, dict[Term, None]]] = {}
    notices: list[str] = []
    prefixes: dict[str, str] = {}
    for number, path in enumerate(paths):
        count = 0
        for quad in _parse(path, prefixes, most, objects):
            subject, value = quad.subject, quad.object
            if isinstance(subject, ox.Triple) or isinstance(value, ox.Triple):
                continue
            count += 1
            described = index.setdefault(_apart(subject, number), {})
            described.setdefault(quad.predicate, {})[_apart(value, number)] = None
        if not count:
            notices.append(f"{path}: there are no triples in this file.")
    return Shapes(
        {s: {p: tuple(o) for p, o in described.items()} for s, described in index.items()},
        tuple(str(path) for path in paths),
        notices,
        prefixes,
    )


def _apart(term: _T, number: int) -> "_T | ox.BlankNode":
    """Keep the blank nodes of several files apart."""
    if number and isinstance(term, ox.BlankNode):
        return ox.BlankNode(f"s{number}_{term.value}")
    return term


def expanded(text: str, prefixes: Mapping[str, str]) -> str:
    """Return a path or name of SPARQL with full IRIs, where it uses known prefixes."""

    def full(found: re.Match[str]) -> str:
        known = prefixes.get(found[1] or "")
        return found[0] if known is None else f"<{known}{found[2]}>"

    parts = re.split(r"(<[^>]*>)", text)
    return "".join(part if part.startswith("<") else _SHORT.sub(full, part) for part in parts)


def _parse(path: Path, prefixes: dict[str, str], most: int, objects: Objects) -> Iterator[ox.Quad]:
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in FORMATS:
        raise ShapesError(
            f"{path}: the ending {suffix or '(none)'} is not known; "
            f"use one of {', '.join(FORMATS)}."
        )
    try:
        known = objects.get(str(path))
        content = contents(path, most) if known is None else known.content
        how = FORMATS[suffix]
        if suffix == ".owl" and is_turtle(content):
            how = FORMATS[".ttl"]
        content = as_utf8(path, content, how)
    except GraphError as error:
        raise ShapesError(str(error)) from error
    base = None if suffix in {".nt", ".nq"} else "file:///" + path.name.replace(" ", "%20")
    try:
        parser = ox.parse(content, format=how, base_iri=base, lenient=True)
        yield from parser
        prefixes.update(parser.prefixes)
    except (SyntaxError, ValueError) as error:
        raise ShapesError(f"{path}: {explain(error, content, how)}") from error
