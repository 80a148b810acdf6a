"""Short names for people: labels where the graph has them, local names otherwise."""

import re
from functools import cached_property
from itertools import islice

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import DCT, RDFS, SKOS, TRAILS, TYPE, XSD
from kgreason.graph.graph import Graph

_LABELS = (SKOS.prefLabel, RDFS.label, DCT.title)
_KNOWN = {TYPE: "type", TRAILS.graph: "source"}
_LONGEST = 60
_OPAQUE = re.compile(r"[A-Za-z]{1,3}\d+|[A-Za-z]+_\d{4,}|\d+|[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]+)*")
"""A code that says nothing to people: P31 of Wikidata, RO_0002202 of the OBO Foundry, a digest."""
_NAMING = re.compile(r"(?:[a-z]+[_-]?)?(?:name|label|title)", re.IGNORECASE)
"""What a property is called that names things: name, Full_Name, displayLabel."""
_PARTS = re.compile(r"first|given|sur|family|last|middle|nick|alt", re.IGNORECASE)
"""What only a part of a name is called by, or another one."""
_IN_PATH = re.compile(r"<([^>]*)>")
_LOOKED_AT = 200  # statements of a thing among which a name is looked for


class Names:
    """Returns each term a short name, and remembers it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._cache: dict[Term, str] = {}

    def __call__(self, term: Term | None) -> str:
        """Return the short name of a term."""
        if term is None:
            return ""
        if term not in self._cache:
            self._cache[term] = self._make(term)
        return self._cache[term]

    def _make(self, term: Term) -> str:
        local = unlabelled(term)
        if not isinstance(term, ox.NamedNode) or term in _KNOWN:
            return local
        if term.value in self._sources:
            local = self._apart(term.value, local)
        opaque = _OPAQUE.fullmatch(local) is not None
        label = self._label(term, None if opaque else ox.DefaultGraph())
        if opaque and label is None:
            label = self._called(term)
        if label and label != local and (opaque or not local.isidentifier()):
            return f"“{label}”" if _bare(label) == _bare(local) else f"“{label}” ({local})"
        return local

    @cached_property
    def _sources(self) -> frozenset[str]:
        return frozenset(graph.value for graph in self._graph.named_graphs())

    def _apart(self, source: str, name: str) -> str:
        """Return as much of the end of a source as no other one has: tms/2020 beside emu/2020."""
        others = [other for other in self._sources if other != source]
        whole = source.removeprefix("urn:src:")
        while name != whole and any(re.search(f"(?:^|[/#:]){re.escape(name)}$", o) for o in others):
            before = whole.removesuffix(name)
            more = before.rstrip("/#:")
            name = whole[max(more.rfind(mark) for mark in "/#:") + 1 :]
            if not more:
                return whole
        return name

    def _label(self, term: ox.NamedNode, graph: ox.DefaultGraph | None) -> str | None:
        for predicate in _LABELS:
            values = [
                q.object
                for q in self._graph.store.inner.quads_for_pattern(term, predicate, None, graph)
                if isinstance(q.object, ox.Literal)
            ]
            if values:
                best = min(values, key=lambda v: ((v.language or "") not in {"", "en"}, v.value))
                return best.value[:_LONGEST]
        return None

    def _called(self, term: ox.NamedNode) -> str | None:
        """Return what a property calls a thing that has none of the usual labels."""
        said = self._graph.store.inner.quads_for_pattern(term, None, None, ox.DefaultGraph())
        found = [
            (_PARTS.match(local) is not None, len(local), quad.predicate.value, quad.object.value)
            for quad in islice(said, _LOOKED_AT)
            if isinstance(quad.object, ox.Literal)
            and _NAMING.fullmatch(local := local_name(quad.predicate.value))
        ]
        return min(found)[-1][:_LONGEST] if found else None


def _bare(name: str) -> str:
    """Return the letters and figures of a name alone."""
    return re.sub(r"[\W_]+", "", name).casefold()


def unlabelled(term: Term) -> str:
    """Return the short name of a term of which no label is known."""
    if isinstance(term, ox.Literal):
        if term.value.startswith(XSD.iri):
            return f"xsd:{term.value.removeprefix(XSD.iri)}"
        return f"“{_shortened(term.value)}”"
    if isinstance(term, ox.BlankNode):
        return f"_:{term.value}"
    return _KNOWN.get(term) or local_name(term.value).removeprefix("urn:src:")


def _shortened(text: str) -> str:
    """Return a text that is not too long; what is one word, such as a namespace, keeps its end."""
    if len(text) <= _LONGEST:
        return text
    if re.search(r"\s", text):
        return text[:_LONGEST] + "…"
    return f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def path_name(path: str) -> str:
    """Return a property path with local names in place of its IRIs; a bare IRI is one step."""
    if "<" not in path:
        return local_name(path)
    return _IN_PATH.sub(lambda found: local_name(found[1]), path)


def local_name(iri: str) -> str:
    """Return what follows the last / or # of an IRI, of a URN also the last colon.

    The whole, if nothing follows.
    """
    tail = iri.rstrip("/#")
    for mark in ("#", "/", *(":" if iri.startswith("urn:") else "")):
        if mark in tail and tail.rsplit(mark, 1)[1]:
            tail = tail.rsplit(mark, 1)[1]
            break
    else:
        return iri
    return tail
