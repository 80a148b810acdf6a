"""Keep values out: of a property, or of the nodes of a class, from all that follows.

It is done at the one door that all data come through. The rules are checked on the values as they
are; then the scratch copy of the graph is written anew with a digest in place of each value, and
who fails is told of that copy. Hypotheses, tests, the record and every face of it are made of the
copy, so that none of them has to remember to leave a value out.

A digest is an HMAC-SHA256 whose key is worked out of the whole of the data. A digest without a key
could be undone by trying names, and so could one with a salt that lies in the record, which goes
wherever the record goes. Only who has the data can work out this key, and who has them needs no
digest. Equal values have equal digests in one graph, and others in any other, so that the records
of two graphs cannot be joined by them.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote, unquote

import pyoxigraph as ox

from kgreason.base.errors import KgreasonError, OptionError
from kgreason.base.store import AnyTerm, Store, Term
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, OWL, PREFIXES, RDF, RDFS, SH, TYPE
from kgreason.context.symptom import Observed, Symptom
from kgreason.graph import Graph
from kgreason.graph.graph import Hidden, exact
from kgreason.graph.names import local_name
from kgreason.shacl import Constraint, Observation, observe_all
from kgreason.shacl.constraint import Result, Texts
from kgreason.shacl.fallback import all_listed, fails_listed
from kgreason.shacl.values import as_stored

_NODE: Final = "urn:kgreason:redacted:"
_TEXT: Final = "redacted:"
_FILE: Final = "urn:src:"
_DIGITS: Final = 12
"""Hexadecimal digits of a digest: of a million values two are alike once in 500 graphs."""
_SHORTEST: Final = 4
"""Letters from which on a value is looked for within other texts; shorter ones are common words."""
_CHUNK: Final = 5_000
_WORD: Final = re.compile(r"\w+")
_PARTS: Final = re.compile(r"[/#]")
_PROPERTIES: Final = frozenset(
    (RDF.Property, OWL.DatatypeProperty, OWL.ObjectProperty, OWL.AnnotationProperty)
)
_CLASSES: Final = frozenset((RDFS.Class, OWL.Class))
_VOCABULARIES: Final = (RDF, RDFS, OWL, SH)


class Redaction:
    """What is kept out of a graph, and what stands in its place."""

    def __init__(self, graph: Graph, given: Sequence[str]) -> None:
        self._inner = graph.store.inner
        self.properties, classes = self._meant(given)
        self._key = _key(self._inner)
        self.nodes = set(self._members(classes))
        self.literals: set[ox.Literal] = set()
        self._terms: dict[Term, Term] = {}
        self._words: dict[str, list[str]] = {}
        self._collect()

    def _meant(self, given: Sequence[str]) -> tuple[set[ox.NamedNode], set[ox.NamedNode]]:
        """Sort out properties and classes by their use; what nothing uses is refused."""
        properties, classes = set(), set()
        for iri in given:
            term = ox.NamedNode(iri)
            if any(term in each for each in _VOCABULARIES):
                raise OptionError(
                    f"--redact {iri}: rules are read by this term; give a property or class of the "
                    "data."
                )
            kinds = {q.object for q in self._inner.quads_for_pattern(term, TYPE, None, None)}
            a_property = self._used(None, term, None) or bool(kinds & _PROPERTIES)
            a_class = (
                self._used(None, TYPE, term)
                or self._used(None, RDFS.subClassOf, term)
                or bool(kinds & _CLASSES)
            )
            if not (a_property or a_class):
                raise OptionError(
                    f"--redact {iri}: nothing in the data or the ontology has this property or "
                    "class, so that nothing would be kept out; is it spelt as it is there?"
                )
            properties |= {term} if a_property else set()
            classes |= {term} if a_class else set()
        return properties, classes

    def _used(self, *pattern: ox.NamedNode | None) -> bool:
        subject, predicate, value = pattern
        found = self._inner.quads_for_pattern(subject, predicate, value, None)
        return next(found, None) is not None

    def _members(self, classes: Iterable[ox.NamedNode]) -> Iterator[Term]:
        """Return the nodes of classes and of the classes below them."""
        known, open_ = set(classes), list(classes)
        while open_:
            for quad in self._inner.quads_for_pattern(None, RDFS.subClassOf, open_.pop(), None):
                if isinstance(quad.subject, ox.NamedNode) and quad.subject not in known:
                    known.add(quad.subject)
                    open_.append(quad.subject)
        for one in known:
            for quad in self._inner.quads_for_pattern(None, TYPE, one, None):
                yield quad.subject  # type: ignore[misc]  # the loader lets no triples in

    def _collect(self) -> None:
        """Note every value that is kept out: of the properties, and of the nodes."""
        found: set[AnyTerm] = set(self.nodes)
        for one in self.properties:
            found |= {q.object for q in self._inner.quads_for_pattern(None, one, None, None)}
            form = ox.NamedNode(FORM_PREFIX + one.value)
            found |= {exact(q.object) for q in self._inner.quads_for_pattern(None, form, None)}
        for node in self.nodes:
            if not isinstance(node, ox.Literal):
                quads = self._inner.quads_for_pattern(node, None, None, None)
                found |= {exact(q.object) for q in quads if isinstance(q.object, ox.Literal)}
        for term in found:
            if isinstance(term, ox.Literal):
                self.literals.add(as_stored(term))  # type: ignore[arg-type]
                self._remember(term.value)
            elif not isinstance(term, ox.Triple) and not self._speaks(term):
                self._terms[term] = self._node(term)
                self._remember(term.value)
                if isinstance(term, ox.NamedNode):
                    self._remember(local_name(term.value))

    def _speaks(self, term: ox.NamedNode | ox.BlankNode) -> bool:
        """Check whether a term is a word of the vocabulary: a class or property that is used."""
        if not isinstance(term, ox.NamedNode):
            return False
        if any(term in each for each in _VOCABULARIES):
            return True
        return self._used(None, term, None) or self._used(None, TYPE, term)

    def _remember(self, text: str) -> None:
        """Note a text to be found within others: no number or date, and no short one."""
        first = _WORD.search(text)
        if first and len(text) >= _SHORTEST and any(letter.isalpha() for letter in text):
            known = self._words.setdefault(first[0].casefold(), [])
            if text not in known:
                known.append(text)
                known.sort(key=len, reverse=True)

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:_DIGITS]

    def _node(self, term: ox.NamedNode | ox.BlankNode) -> Term:
        name = self._digest(str(term))
        return ox.BlankNode(name) if isinstance(term, ox.BlankNode) else ox.NamedNode(_NODE + name)

    def _hidden(self, term: ox.Literal) -> ox.Literal:
        """Return the digest of a literal; its datatype and language are no value, and stay."""
        text = _TEXT + self._digest(str(as_stored(term)))
        if term.language:
            return ox.Literal(text, language=term.language)
        return ox.Literal(text, datatype=term.datatype)

    def term(self, term: AnyTerm, *, value: bool = False) -> Term:
        """Return what stands for a term; with `value` it is one that is kept out wherever it is."""
        if isinstance(term, ox.Literal):
            return self._hidden(term) if value else self._written(term)
        if isinstance(term, ox.Triple):
            raise OptionError("A triple stands as a term in the data, which cannot be redacted.")
        if term in self._terms or not isinstance(term, ox.NamedNode):
            return self._terms.get(term, term)
        return self._file(term) if term.value.startswith(_FILE) else self._below(term)

    def _written(self, term: ox.Literal) -> ox.Literal:
        """Return a literal with a digest in place of each value that stands in its text."""
        text = self.text(term.value)
        if text == term.value:
            return term
        if term.language:
            return ox.Literal(text, language=term.language)
        return ox.Literal(text, datatype=term.datatype)

    def _file(self, term: ox.NamedNode) -> ox.NamedNode:
        """Return the graph of a file; its name may hold a value."""
        name = unquote(term.value.removeprefix(_FILE))
        kept = self.text(name)
        return term if kept == name else ox.NamedNode(_FILE + quote(kept, safe="/-._~:"))

    def _below(self, term: ox.NamedNode) -> ox.NamedNode:
        """Return an IRI whose beginning is that of a node that is kept out, with that replaced."""
        for found in _PARTS.finditer(term.value):
            for end in (found.start(), found.end()):
                known = self._terms.get(_iri(term.value[:end]))
                if isinstance(known, ox.NamedNode):
                    return ox.NamedNode(known.value + ":" + self._digest(term.value))
        return term

    def text(self, text: str) -> str:
        """Return a text with a digest in place of each value that stands in it as whole words."""
        if not self._words:
            return text
        out, at = [], 0
        for word in _WORD.finditer(text):
            if word.start() < at:
                continue
            for known in self._words.get(word[0].casefold(), ()):
                lead = _WORD.search(known)
                start = word.start() - (lead.start() if lead else 0)
                end = start + len(known)
                if start >= at and text[start:end].casefold() == known.casefold():
                    if end < len(text) and known[-1].isalnum() and text[end].isalnum():
                        continue
                    out += [text[at:start], _TEXT + self._digest(known)]
                    at = end
                    break
        return "".join([*out, text[at:]])

    def quad(self, quad: ox.Quad) -> ox.Quad:
        """Return a statement of the copy."""
        kept = quad.subject in self.nodes or quad.predicate in self.properties
        name = quad.graph_name
        return ox.Quad(
            self.term(quad.subject),  # type: ignore[arg-type]  # no literal stands there
            quad.predicate,
            self.term(quad.object, value=kept and isinstance(quad.object, ox.Literal)),
            name if isinstance(name, ox.DefaultGraph) else self.term(name),  # type: ignore[arg-type]
        )

    def form(self, quad: ox.Quad) -> ox.Quad | None:
        """Return a statement of the graph of forms; None where its values are kept out."""
        own = ox.NamedNode(quad.predicate.value.removeprefix(FORM_PREFIX))
        if quad.subject in self.nodes or own in self.properties:
            return None
        subject = self.term(quad.subject)
        return ox.Quad(subject, quad.predicate, self.term(quad.object), FORMS_GRAPH)  # type: ignore[arg-type]


def redacted(
    graph: Graph, observed: Observed, given: Sequence[str], seconds: float
) -> tuple[Graph, Observed]:
    """Return a graph, and what was seen of it, with digests in place of what is kept out.

    `given` are IRIs of properties and classes. A rule that comes out the same on the copy is kept
    as it is; of one that looks at the values themselves only who fails is known from then on.
    Raises OptionError for an IRI that nothing uses.
    """
    redaction = Redaction(graph, given)
    made = _copy(graph, redaction)
    seen = [_told(symptom, redaction) for symptom in observed.symptoms]
    constraints = [symptom.constraint for symptom in seen]
    again = {one.key: found for one, found in observe_all(made, constraints, seconds=seconds)}
    symptoms = tuple(_kept(each, again[each.constraint.key], redaction) for each in seen)
    said = (
        f"Kept out: the values of {' and '.join(f'<{one}>' for one in given)} (of the property, "
        "or of the nodes of the class). A digest stands in place of each, here and in the record."
    )
    made.notices.append(said)
    texts = [tuple(map(redaction.text, one)) for one in (observed.notices, observed.doubts)]
    return made, Observed(symptoms, *texts)


def _copy(graph: Graph, redaction: Redaction) -> Graph:
    """Write the scratch copy anew, with digests."""
    store = ox.Store()
    chunk: list[ox.Quad] = []
    for quad in graph.store.inner:
        made = redaction.form(quad) if quad.graph_name == FORMS_GRAPH else redaction.quad(quad)
        if made is not None:
            chunk.append(made)
        if len(chunk) >= _CHUNK:
            store.extend(chunk)
            chunk.clear()
    store.extend(chunk)
    notices = [redaction.text(one) for one in graph.notices]
    hidden = Hidden(redaction.text, redaction.term)
    return replace(
        graph,
        store=Store(store, graph.store.where),
        formed=graph.formed - redaction.properties,
        notices=notices,
        mended={},
        hidden=hidden,
    )


def _told(symptom: Symptom, redaction: Redaction) -> Symptom:
    """Return a symptom with its nodes and values as they are in the copy."""
    constraint, seen = symptom.constraint, symptom.observation
    results = [_result(one, constraint, redaction) for one in seen.results]
    failing = {
        redaction.term(node): tuple(
            dict.fromkeys(
                _result(Result(node, value, None), constraint, redaction).value or value
                for value in values
            )
        )
        for node, values in seen.failing.items()
    }
    words = {
        name: None if text is None else redaction.text(text)
        for name, text in (("title", constraint.title), ("message", constraint.message))
    }
    numbers: Mapping[Term, object] = {
        redaction.term(node): number for node, number in constraint.numbers.items()
    }
    made = replace(constraint, numbers=numbers, **words)  # type: ignore[arg-type]
    return replace(
        symptom,
        constraint=made,
        observation=Observation(seen.population, failing, tuple(results)),
    )


def _result(one: Result, constraint: Constraint, redaction: Redaction) -> Result:
    """Return one result as it is in the copy; a value whose property is not told may be any."""
    path = one.path or (constraint.path.predicate if constraint.path else None)
    value = one.value
    if isinstance(value, ox.Literal):
        if isinstance(path, ox.NamedNode):
            kept = path in redaction.properties or one.focus in redaction.nodes
        else:
            kept = as_stored(value) in redaction.literals
        value = redaction.term(value, value=kept)
    elif value is not None:
        value = redaction.term(value)
    return Result(redaction.term(one.focus), value, one.path)


def _kept(symptom: Symptom, again: Observation | KgreasonError, redaction: Redaction) -> Symptom:
    """Return a symptom with its rule where that comes out the same, else with who fails alone."""
    constraint, seen = symptom.constraint, symptom.observation
    texts = (constraint.failing_query, constraint.outcome_query, constraint.population_query)
    clean = all(redaction.text(one) == one for one in texts) and not _names(constraint, redaction)
    same = isinstance(again, Observation) and again.population == seen.population
    if clean and same and again.failing == seen.failing:  # type: ignore[union-attr]
        return symptom
    nodes = list(seen.failing)
    target = constraint.exact.target
    population = seen.population
    if not same or redaction.text(target.text) != target.text:
        target, population = all_listed(nodes), None
    listed = Texts(target, fails_listed(nodes))
    made = replace(
        constraint,
        exact=listed,
        portable=listed,
        rule=None,
        guarded=False,
        parameters={},
        population=population,
        shapes=None,
        source=None,
        peers=None,
        numbers={},
    )
    return replace(symptom, constraint=made, observation=replace(seen, population=population))


def _names(constraint: Constraint, redaction: Redaction) -> bool:
    """Check whether a parameter of a rule is a value that is kept out."""
    given = (term for terms in constraint.parameters.values() for term in terms)
    return any(
        as_stored(one) in redaction.literals
        if isinstance(one, ox.Literal)
        else redaction.term(one) != one
        for one in given
    )


def _iri(text: str) -> Term:
    try:
        return ox.NamedNode(text)
    except ValueError:
        return ox.BlankNode()


def _key(inner: ox.Store) -> bytes:
    """Return a key that only who has all of the data can work out.

    It is a sum over the digests of the statements, since a store gives them in no certain order.
    The fingerprints of the record are plain digests of files, from which it does not follow.
    """
    total = 0
    own = PREFIXES["work"]
    for quad in inner.quads_for_pattern(None, None, None, ox.DefaultGraph()):
        line = hashlib.sha256(f"kgreason redaction {own} {quad}".encode()).digest()
        total = (total + int.from_bytes(line, "big")) % (1 << 256)
    return total.to_bytes(32, "big")
