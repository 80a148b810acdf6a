"""Literals whose form a store would rewrite.

The embedded store keeps a value, not a text: "05" becomes "5", xsd:int becomes xsd:integer. While
data is loaded, `Forms` notes each subject and predicate with such a literal; afterwards all exact
values of that subject and predicate stand in the graph of forms, the datatype IRI with a mark in
front so that the store leaves them alone.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.store import AnyTerm
from kgreason.terms import FORM_PREFIX, FORMS_GRAPH, XSD

_KEPT: Final = frozenset(
    {XSD.string, XSD.anyURI, ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")}
)
_REMEMBERED: Final = 200_000
_PROBE: Final = ox.NamedNode("urn:x-kgreason:work:probe")

Key = tuple[ox.NamedNode | ox.BlankNode | ox.Triple, ox.NamedNode]


class Forms:
    """Collects exact forms while quads pass by in chunks."""

    def __init__(self) -> None:
        self._stored: dict[ox.Literal, ox.Literal] = {}
        self._exact: dict[Key, set[ox.Literal]] = {}
        self._rewritten: dict[Key, set[ox.Literal]] = {}

    def watch(self, chunk: Sequence[ox.Quad], store: ox.Store) -> None:
        """Note what storing this chunk would change; call before it is stored."""
        typed = [
            ((q.subject, q.predicate), q.object)
            for q in chunk
            if isinstance(q.object, ox.Literal) and _may_change(q.object)
        ]
        if not typed:
            return
        if len(self._stored) > _REMEMBERED:
            self._stored.clear()
        self._learn({form for _, form in typed if form not in self._stored})
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

    def _learn(self, literals: Iterable[ox.Literal]) -> None:
        literals = list(literals)
        probe = ox.Store()
        probe.extend(
            ox.Quad(ox.NamedNode(f"{_PROBE.value}:{i}"), _PROBE, literal)
            for i, literal in enumerate(literals)
        )
        for quad in probe:
            if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.Literal):
                index = int(quad.subject.value.rsplit(":", 1)[1])
                self._stored[literals[index]] = quad.object


def _may_change(term: object) -> bool:
    return isinstance(term, ox.Literal) and term.language is None and term.datatype not in _KEPT


def _holds(store: ox.Store, key: Key, value: ox.Literal) -> bool:
    found = store.quads_for_pattern(*key, value, None)
    return next(iter(found), None) is not None


def mark(term: AnyTerm) -> AnyTerm:
    """Give a term as it stands in the graph of forms: with a mark before its datatype."""
    if _may_change(term) and isinstance(term, ox.Literal):
        return ox.Literal(term.value, datatype=ox.NamedNode(FORM_PREFIX + term.datatype.value))
    return term
