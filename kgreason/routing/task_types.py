"""Types of tasks and patterns: what the router chooses from, as `ontology/patterns.ttl` has it.

Extensions add their own; what they add is held to `shapes/patterns.ttl`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import pyoxigraph as ox

from kgreason.base.errors import OptionError
from kgreason.base.extensions import active, cached
from kgreason.base.resources import folder
from kgreason.base.store import Term
from kgreason.base.terms import RDFS, SKOS, TRAILS, TYPE
from kgreason.record.whole_shapes import whole_shapes
from kgreason.routing.learned import Reading, read_frames
from kgreason.routing.phrases import Phrases


@dataclass(frozen=True)
class Cue:
    """Phrases one of which in a question adds a weight to the score of a type, once."""

    weight: Decimal
    phrases: tuple[tuple[str, re.Pattern[str]], ...]

    def found(self, words: str) -> str | None:
        """Return the words of a question that one of its phrases fits, or None."""
        hits = (pattern.search(words) for _, pattern in self.phrases)
        return next((hit[0].strip(" .?") or "?" for hit in hits if hit), None)


@dataclass(frozen=True)
class TaskType:
    """A type of task: its valid patterns with their weights, by notation, and its cues."""

    iri: str
    name: str
    about: str
    when: str
    framing: str
    prior: Decimal
    patterns: tuple[tuple[str, Decimal], ...]
    cues: tuple[Cue, ...]


@dataclass(frozen=True)
class Pattern:
    """A pattern of thinking, which a strategy of the same name carries out."""

    iri: str
    name: str
    about: str
    when: str
    framing: str


@dataclass(frozen=True)
class Signal:
    """Something at hand, and the patterns that it speaks for, by notation, with weights.

    One that counts is given from `least` on.
    """

    name: str
    label: str
    least: int | None
    favours: tuple[tuple[str, Decimal], ...]


@dataclass(frozen=True)
class TaskTypes:
    """All that the router chooses from, by notation, and its rules."""

    types: dict[str, TaskType]
    patterns: dict[str, Pattern]
    signals: dict[str, Signal]
    fallback: tuple[str, str]
    margin: Decimal
    reading: Reading


@cached
def task_types() -> TaskTypes:
    """Return the types, patterns and signals that come along, and those of extensions.

    Raises OptionError for a file of an extension that is wrong, and says what is.
    """
    data = _data()
    groups = {
        data.text(node, SKOS.notation): data.texts(node, TRAILS.phrase)
        for node in data.of(TRAILS.WordGroup)
    }
    phrases = Phrases(groups)
    types = {}
    for node in data.of(TRAILS.TaskType):
        prior = Decimal(data.text(node, TRAILS.priorScore) or 0)
        cues = [_cue(data, one, phrases) for one in data.values(node, TRAILS.cue)]
        # Blank nodes come in any order; what is told of a decision does not hang on it.
        cues.sort(key=lambda cue: (-cue.weight, cue.phrases[0][0]))
        weights = _weights(data, node, TRAILS.validPattern)
        made = TaskType(node.value, *_told(data, node), prior, weights, tuple(cues))
        types[made.name] = made
    patterns = {
        made.name: made
        for made in (Pattern(n.value, *_told(data, n)) for n in data.of(TRAILS.Pattern))
    }
    signals = {}
    for node in data.of(TRAILS.Signal):
        name, least = data.text(node, SKOS.notation), data.text(node, TRAILS.atLeast)
        favours = _weights(data, node, TRAILS.favours)
        signals[name] = Signal(
            name, data.text(node, RDFS.label), int(least) if least else None, favours
        )
    (fallback_type,) = data.values(TRAILS.Routing, TRAILS.fallbackType)
    (fallback_pattern,) = data.values(TRAILS.Routing, TRAILS.fallbackPattern)
    fallback = tuple(data.text(n, SKOS.notation) for n in (fallback_type, fallback_pattern))
    margin = Decimal(data.text(TRAILS.Routing, TRAILS.leastMargin))
    chosen = (fallback[0], fallback[1])
    return TaskTypes(types, patterns, signals, chosen, margin, read_frames(phrases))


def _told(data: "_Data", node: Term) -> tuple[str, str, str, str]:
    names = (SKOS.notation, RDFS.comment, TRAILS.whenToUse, TRAILS.framing)
    name, about, when, framing = (data.text(node, one) for one in names)
    return name, about, when, framing


def _weights(data: "_Data", node: Term, predicate: ox.NamedNode) -> tuple[tuple[str, Decimal], ...]:
    """Return the patterns that a node names with weights, the greatest first."""
    found = []
    for one in data.values(node, predicate):
        (pattern,) = data.values(one, TRAILS.pattern)
        weight = Decimal(data.text(one, TRAILS.weight))
        found.append((data.text(pattern, SKOS.notation), weight))
    return tuple(sorted(found, key=lambda each: (-each[1], each[0])))


def _cue(data: "_Data", node: Term, phrases: Phrases) -> Cue:
    several = data.texts(node, TRAILS.phrase)
    compiled = tuple((text, phrases.compiled(text)) for text in several)
    return Cue(Decimal(data.text(node, TRAILS.weight)), compiled)


class _Data:
    """Reads values off the files, sorted."""

    def __init__(self, inner: ox.Store) -> None:
        self._inner = inner

    def of(self, kind: ox.NamedNode) -> list[Term]:
        """Return the nodes of a class."""
        quads = self._inner.quads_for_pattern(None, TYPE, kind, None)
        return sorted({q.subject for q in quads if not isinstance(q.subject, ox.Triple)}, key=str)

    def values(self, node: Term, predicate: ox.NamedNode) -> list[Term]:
        """Return the values of a property."""
        if isinstance(node, ox.Literal):
            return []
        quads = self._inner.quads_for_pattern(node, predicate, None, None)
        return sorted((q.object for q in quads if not isinstance(q.object, ox.Triple)), key=str)

    def texts(self, node: Term, predicate: ox.NamedNode) -> list[str]:
        """Return the values of a property as texts."""
        return [value.value for value in self.values(node, predicate)]

    def text(self, node: Term, predicate: ox.NamedNode) -> str:
        """Return the first value of a property as a text, or nothing."""
        return next(iter(self.texts(node, predicate)), "")


# Files


@cached
def _data() -> _Data:
    inner = ox.Store()
    inner.load(path=str(folder("ontology") / "patterns.ttl"), format=ox.RdfFormat.TURTLE)
    own = [file for extension in active() for file in extension.patterns()]
    for file in own:
        try:
            inner.load(file.read_bytes(), ox.RdfFormat.TURTLE)
        except (SyntaxError, ValueError) as error:
            raise OptionError(f"{file}: this is not Turtle ({error}).") from error
        except OSError as error:
            raise OptionError(f"{file}: the file cannot be read ({error.strerror}).") from error
        for fault in _faults(inner):
            raise OptionError(f"{file}: {fault}")
    return _Data(inner)


def _faults(inner: ox.Store) -> Iterator[str]:
    """Describe what the shapes say of the task types, and names that two of them have."""
    import pyshacl  # noqa: PLC0415 - takes half a second to load, and few need it
    import rdflib  # noqa: PLC0415

    text = ox.serialize((quad.triple for quad in inner), format=ox.RdfFormat.N_TRIPLES)
    data = rdflib.Graph().parse(data=text, format="nt")
    _, results, _ = pyshacl.validate(data, shacl_graph=whole_shapes("prefixes", "patterns"))
    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    if isinstance(results, rdflib.Graph):
        for result in sorted(results.objects(None, sh.result), key=str):
            node, path = (results.value(result, sh[n]) for n in ("focusNode", "resultPath"))
            yield f"{node}, {path}: {results.value(result, sh.resultMessage)}"
    known = _Data(inner)
    for one in known.of(TRAILS.TaskType):
        if not known.values(one, TRAILS.cue) and known.text(one, TRAILS.learned) != "true":
            yield f"the type of task {known.text(one, SKOS.notation)!r} has no trails:cue."
    for kind in (TRAILS.TaskType, TRAILS.Pattern, TRAILS.WordGroup):
        named: dict[str, Term] = {}
        for one in known.of(kind):
            name = known.text(one, SKOS.notation)
            if name in named:
                yield f"there are two called {name!r}; give yours another skos:notation."
            named[name] = one
            if kind != TRAILS.WordGroup and not isinstance(one, ox.NamedNode):
                yield f"what is called {name!r} has no IRI; give it one."
