"""Literals whose form a store would rewrite.

The embedded store keeps a value, not a text: "05" becomes "5", xsd:int becomes xsd:integer. While
data is loaded, `Forms` notes each subject and predicate with such a literal; afterwards all exact
values of that subject and predicate stand in the graph of forms, the datatype IRI with a mark in
front so that the store leaves them alone.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeGuard

import pyoxigraph as ox

from kgreason.base.store import AnyTerm
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, XSD

_KEPT: Final = frozenset(
    {XSD.string, XSD.anyURI, ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")}
)
BOUNDS: Final[dict[ox.NamedNode, tuple[float, float]]] = {
    XSD.byte: (-(2**7), 2**7 - 1),
    XSD.short: (-(2**15), 2**15 - 1),
    XSD.int: (-(2**31), 2**31 - 1),
    XSD.unsignedByte: (0, 2**8 - 1),
    XSD.unsignedShort: (0, 2**16 - 1),
    XSD.unsignedInt: (0, 2**32 - 1),
    XSD.unsignedLong: (0, math.inf),
    XSD.nonNegativeInteger: (0, math.inf),
    XSD.positiveInteger: (1, math.inf),
    XSD.nonPositiveInteger: (-math.inf, 0),
    XSD.negativeInteger: (-math.inf, -1),
}
"""What the types derived from xsd:integer admit, as far as the store would not know."""
_REMEMBERED: Final = 200_000
_CHUNK: Final = 5_000
_PROBE: Final = ox.NamedNode("urn:x-kgreason:work:probe")

Key = tuple[ox.NamedNode | ox.BlankNode | ox.Triple, ox.NamedNode]


class Forms:
    """Collects exact forms while quads pass by in chunks.

    `beyond` says whether a number was among them that its type does not admit.
    """

    def __init__(self) -> None:
        self.beyond = False
        self._stored: dict[ox.Literal, ox.Literal] = {}
        self._exact: dict[Key, set[ox.Literal]] = {}
        self._rewritten: dict[Key, set[ox.Literal]] = {}

    def watch(self, chunk: Sequence[ox.Quad], store: ox.Store) -> None:
        """Note what storing this chunk would change; call before it is stored."""
        typed = [((q.subject, q.predicate), o) for q in chunk if _may_change(o := q.object)]
        self._note(typed, store)

    def scan(self, read: Callable[[], Iterable[ox.Quad]], store: ox.Store) -> int | None:
        """Note what storing a file would change, without a Python object for all it holds.

        `read` reads the file; it is read again where storing would change something. Gives the
        number of quads; None where a blank node has such a literal, for it might be read under
        another label when it is stored. Call before the file is stored.
        """
        count = 0
        touched: set[Key] = set()
        quads = iter(read())
        while chunk := list(itertools.islice(quads, _CHUNK)):
            count += len(chunk)
            objects = [q.object for q in chunk]
            self._learn_all(o for o in objects if _may_change(o))
            touched |= {
                (q.subject, q.predicate)
                for q, o in zip(chunk, objects, strict=True)
                if _may_change(o) and self._stored[o] != o
            }
        if any(isinstance(subject, ox.BlankNode) for subject, _ in touched):
            return None
        if touched:
            again = ((q, q.object) for q in read())
            typed = [((q.subject, q.predicate), o) for q, o in again if _may_change(o)]
            self._note([(key, form) for key, form in typed if key in touched], store)
        return count

    def _note(self, typed: Sequence[tuple[Key, ox.Literal]], store: ox.Store) -> None:
        self._learn_all(form for _, form in typed)
        plain_here: dict[Key, set[ox.Literal]] = {}
        for key, form in typed:
            if self._stored[form] == form:
                plain_here.setdefault(key, set()).add(form)
        for key, form in typed:
            value = self._stored[form]
            if value != form:
                forms = self._exact.setdefault(key, set())
                seen = self._rewritten.setdefault(key, set())
                if value not in seen and _holds(store, key, value):
                    forms.add(value)
                seen.add(value)
                forms.add(form)
        for key, plain in plain_here.items():
            if key in self._exact:
                self._exact[key] |= plain

    def write(self, store: ox.Store) -> frozenset[ox.NamedNode]:
        """Write the graph of forms; gives the predicates it has entries for."""
        for (subject, predicate), forms in self._exact.items():
            rewritten = self._rewritten[subject, predicate]
            marked = ox.NamedNode(FORM_PREFIX + predicate.value)
            others = [
                q.object
                for q in store.quads_for_pattern(subject, predicate, None, None)
                if q.object not in rewritten
            ]
            store.extend(
                ox.Quad(subject, marked, mark(term), FORMS_GRAPH) for term in (*forms, *others)
            )
        return frozenset(predicate for _, predicate in self._exact)

    def _learn_all(self, forms: Iterable[ox.Literal]) -> None:
        if len(self._stored) > _REMEMBERED:
            self._stored.clear()
        self._learn({form for form in forms if form not in self._stored})

    def _learn(self, literals: Iterable[ox.Literal]) -> None:
        literals = list(literals)
        self.beyond = self.beyond or not all(map(admitted, literals))
        probe = ox.Store()
        probe.extend(
            ox.Quad(ox.NamedNode(f"{_PROBE.value}:{i}"), _PROBE, literal)
            for i, literal in enumerate(literals)
        )
        for quad in probe:
            if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.Literal):
                index = int(quad.subject.value.rsplit(":", 1)[1])
                self._stored[literals[index]] = quad.object


def _may_change(term: object) -> TypeGuard[ox.Literal]:
    return isinstance(term, ox.Literal) and term.language is None and term.datatype not in _KEPT


def admitted(literal: ox.Literal) -> bool:
    """Check whether a number is one that its datatype admits; true of every other literal."""
    bounds = BOUNDS.get(literal.datatype)
    if bounds is None:
        return True
    try:
        return bounds[0] <= int(literal.value) <= bounds[1]
    except ValueError:
        return True


def _holds(store: ox.Store, key: Key, value: ox.Literal) -> bool:
    found = store.quads_for_pattern(*key, value, None)
    return next(iter(found), None) is not None


def mark(term: AnyTerm) -> AnyTerm:
    """Return a term as it stands in the graph of forms: with a mark before its datatype."""
    if _may_change(term):
        return ox.Literal(term.value, datatype=ox.NamedNode(FORM_PREFIX + term.datatype.value))
    return term
