"""Segments: what a worker wrote of an investigation away from its record, as a chain of its own.

A worker begins from a copy of the record and writes steps of its own. Cut off, these are a segment:
a named graph whose nodes are named after the session and the step of work, so that they are the
same whoever does it, and whose first seal is taken over the seal of the step that it began from.
`kgreason.record.joining` puts a segment into the record.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import LedgerError
from kgreason.base.store import Term
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.record.record import Node, Record
from kgreason.record.seal import lines, seal

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,79}")
WHOLE: Final = "whole"
"""The step of work that carries an investigation on to its end."""
_UNSEALED: Final = frozenset({TRAILS.hash})
_ABOUT: Final = "hypothesis"
Rename = Callable[[re.Match[str]], str]
"""Gives the new IRI of a node for its name."""


@dataclass(frozen=True)
class Began:
    """Where a segment begins: a step, its seal, and all that the record said then."""

    head: Node
    hash: str
    said: frozenset[ox.Triple]


@dataclass(frozen=True)
class Segment:
    """The steps that a worker wrote, under the names of the segment.

    `sealed` is what is said of the nodes of these steps, `added` and `removed` what changed of
    earlier nodes (current values alone); `hash` is the seal of its last step. `cut` says why the
    work was cut short, where it was.
    """

    investigation: Node
    name: str
    head: Node
    sealed: tuple[ox.Triple, ...]
    added: tuple[ox.Triple, ...]
    removed: tuple[ox.Triple, ...]
    hash: str
    version: str
    worker: str
    cut: str | None = None

    @property
    def graph(self) -> Node:
        """The named graph of the segment; the names of its nodes begin with its IRI."""
        return graph_of(self.investigation, self.name)

    @property
    def steps(self) -> list[Node]:
        """Its steps, in their order."""
        return steps_of(self.sealed, names_within(self.graph))

    def n_quads(self) -> bytes:
        """Return the segment as N-Quads."""
        graph = self.graph
        about = [
            ox.Triple(graph, TYPE, TRAILS.Segment),
            ox.Triple(graph, TRAILS.segmentStep, ox.Literal(self.name)),
            ox.Triple(graph, TRAILS.investigation, self.investigation),
            ox.Triple(graph, TRAILS.beganFrom, self.head),
            ox.Triple(graph, TRAILS.segmentHash, ox.Literal(self.hash)),
            ox.Triple(graph, TRAILS.workerVersion, ox.Literal(self.version)),
            ox.Triple(graph, TRAILS.worker, ox.Literal(self.worker)),
        ]
        if self.cut is not None:
            about.append(ox.Triple(graph, TRAILS.cut, ox.Literal(self.cut)))
        parts = {
            graph: (*about, *self.sealed),
            _beside(graph, "now"): self.added,
            _beside(graph, "before"): self.removed,
        }
        quads = (
            ox.Quad(t.subject, t.predicate, t.object, name)
            for name, said in parts.items()
            for t in said
        )
        return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""


def graph_of(investigation: Node, name: str) -> Node:
    """Return the graph of a segment; raises LedgerError for a name that no step of work has."""
    if _NAME.fullmatch(name) is None:
        raise LedgerError(f"{name!r} is no name of a step of work.")
    return ox.NamedNode(f"{investigation.value}:segment:{name}")


def _beside(graph: Node, what: str) -> Node:
    return ox.NamedNode(f"{graph.value}:{what}")


def began(record: Record) -> Began:
    """Return where a segment of a record would begin now; raises LedgerError without a step."""
    head = next(iter(record.store.values(record.iri, TRAILS.head, record.iri)), None)
    if not isinstance(head, ox.NamedNode):
        raise LedgerError(f"{record.iri.value}: there is no step yet to begin from.")
    (hash_,) = record.store.values(head, TRAILS.hash, record.iri)
    return Began(head, hash_.value, frozenset(q.triple for q in record.store.quads(record.iri)))


def cut_off(
    record: Record, start: Began, name: str, version: str, worker: str, cut: str | None = None
) -> Segment:
    """Return what was written of a record since `start`, as the segment of a step of work."""
    graph, own = graph_of(record.iri, name), names_within(record.iri)
    now = {q.triple for q in record.store.quads(record.iri)}
    new, gone = now - start.said, start.said - now
    steps = {t.subject for t in new if t.predicate == TYPE and t.object == TRAILS.Step}
    nodes = {t.subject for t in new if t.predicate == TRAILS.step and t.object in steps}
    written = [t for t in new if t.subject in nodes]
    known = (t.subject for t in start.said if t.predicate == TRAILS.step)
    rename = into_segment(graph, highest(known, own))
    moved = renamed(written, own, rename, numbered_kinds(written, own))
    made = sealed(moved, names_within(graph), start.hash)
    return Segment(
        record.iri,
        name,
        start.head,
        tuple(made.triples),
        tuple(renamed((t for t in new if t.subject not in nodes), own, rename)),
        tuple(gone),
        made.hash,
        version,
        worker,
        cut,
    )


def read_segment(text: bytes) -> Segment:
    """Read a segment; raises LedgerError where the text is none."""
    try:
        quads = list(ox.parse(text, format=ox.RdfFormat.N_QUADS))
    except (SyntaxError, ValueError) as error:
        raise LedgerError(f"A segment cannot be read ({error}).") from error
    graphs = [
        q.subject
        for q in quads
        if (q.predicate, q.object) == (TYPE, TRAILS.Segment) and q.graph_name == q.subject
    ]
    if len(graphs) != 1 or not isinstance(graphs[0], ox.NamedNode):
        raise LedgerError("A text that should be a segment is about none, or about several.")
    graph = graphs[0]
    parts: dict[object, list[ox.Triple]] = {}
    for quad in quads:
        parts.setdefault(quad.graph_name, []).append(quad.triple)
    about = {t.predicate: t.object for t in parts[graph] if t.subject == graph}
    try:
        return Segment(
            _node(about[TRAILS.investigation]),
            about[TRAILS.segmentStep].value,  # type: ignore[union-attr] # AttributeError is caught
            _node(about[TRAILS.beganFrom]),
            tuple(t for t in parts[graph] if t.subject != graph),
            tuple(parts.get(_beside(graph, "now"), ())),
            tuple(parts.get(_beside(graph, "before"), ())),
            hash=about[TRAILS.segmentHash].value,  # type: ignore[union-attr]
            version=about[TRAILS.workerVersion].value,  # type: ignore[union-attr]
            worker=about[TRAILS.worker].value,  # type: ignore[union-attr]
            cut=about[TRAILS.cut].value if TRAILS.cut in about else None,  # type: ignore[union-attr]
        )
    except (KeyError, AttributeError, TypeError) as error:
        raise LedgerError(f"{graph.value}: this segment does not say all it has to.") from error


def _node(term: object) -> Node:
    if not isinstance(term, ox.NamedNode):
        raise TypeError
    return term


# Names


def names_within(scope: Node) -> re.Pattern[str]:
    """Return what finds the names of nodes of a record, or of a segment, in a text.

    A name may end with what was done to a hypothesis of a number: `:evidence:3:update:7`.
    """
    end = r"(?:(:[a-z-]+:)(before-)?([0-9]+))?"
    return re.compile(re.escape(scope.value) + r":([a-z]+):([0-9]+)" + end + r"(?![0-9])")


def kind_and_number(node: object, own: re.Pattern[str]) -> tuple[str, int] | None:
    """Return the kind and number by which a node is named, or None for one of another name."""
    match = own.fullmatch(node.value) if isinstance(node, ox.NamedNode) else None
    return (match[1], int(match[2])) if match and match[3] is None else None


def highest(nodes: Iterable[object], own: re.Pattern[str]) -> dict[str, int]:
    """Return the highest number of each kind among nodes."""
    found: dict[str, int] = {}
    for node in nodes:
        known = kind_and_number(node, own)
        if known is not None:
            found[known[0]] = max(found.get(known[0], 0), known[1])
    return found


def into_segment(scope: Node, before: Mapping[str, int]) -> Rename:
    """Return how nodes of a record are named in a segment, where so many of a kind were before.

    What was there before keeps its name.
    """

    def new(match: re.Match[str]) -> str:
        kind, number = match[1], int(match[2]) - before.get(match[1], 0)
        if number <= 0:
            return match[0]
        start = f"{scope.value}:{kind}:{number}"
        if match[3] is None:
            return start
        of = int(match[5]) - before.get(_ABOUT, 0)
        return f"{start}{match[3]}{of if of > 0 else f'before-{match[5]}'}"

    return new


def into_record(scope: Node, before: Mapping[str, int]) -> Rename:
    """Return how nodes of a segment are named in a record that has so many of a kind already."""

    def new(match: re.Match[str]) -> str:
        start = f"{scope.value}:{match[1]}:{int(match[2]) + before.get(match[1], 0)}"
        if match[3] is None:
            return start
        of = int(match[5]) + (0 if match[4] else before.get(_ABOUT, 0))
        return f"{start}{match[3]}{of}"

    return new


def numbered_kinds(written: Iterable[ox.Triple], own: re.Pattern[str]) -> frozenset[str]:
    """Return the kinds of which each node gives its own number as its index."""
    told: dict[str, bool] = {}
    for triple in written:
        if triple.predicate == TRAILS.index and isinstance(triple.object, ox.Literal):
            known = kind_and_number(triple.subject, own)
            if known is not None:
                same = triple.object.value == str(known[1])
                told[known[0]] = told.get(known[0], True) and same
    return frozenset(kind for kind, same in told.items() if same)


def renamed(
    triples: Iterable[ox.Triple],
    own: re.Pattern[str],
    rename: Rename,
    numbered: frozenset[str] = frozenset(),
) -> Iterator[ox.Triple]:
    """Return statements with nodes under other names, also where a text names them.

    The index of a node of a numbered kind becomes its new number.
    """

    def term(value: Term | ox.Triple) -> Term | ox.Triple:
        if isinstance(value, ox.NamedNode):
            return ox.NamedNode(own.sub(rename, value.value))
        if isinstance(value, ox.Literal) and own.search(value.value):
            text = own.sub(rename, value.value)
            if value.language:
                return ox.Literal(text, language=value.language)
            return ox.Literal(text, datatype=value.datatype)
        return value

    for triple in triples:
        subject, value = term(triple.subject), term(triple.object)
        if triple.predicate == TRAILS.index and isinstance(value, ox.Literal):
            known = kind_and_number(triple.subject, own)
            if known is not None and known[0] in numbered:
                number = subject.value.rpartition(":")[2]  # type: ignore[union-attr] # a node
                value = ox.Literal(number, datatype=value.datatype)
        yield ox.Triple(subject, triple.predicate, value)  # type: ignore[arg-type] # a node


# Seals


@dataclass(frozen=True)
class Chain:
    """Sealed statements, with the seal of each step among them, and the last of these seals."""

    triples: Sequence[ox.Triple]
    hash: str


def by_step(
    triples: Iterable[ox.Triple],
) -> dict[object, dict[Node, dict[ox.NamedNode, list[Term]]]]:
    """Return what is said of the nodes of each step, by node and property."""
    about: dict[Node, dict[ox.NamedNode, list[Term]]] = {}
    for triple in triples:
        if isinstance(triple.subject, ox.NamedNode) and not isinstance(triple.object, ox.Triple):
            about.setdefault(triple.subject, {}).setdefault(triple.predicate, []).append(
                triple.object
            )
    found: dict[object, dict[Node, dict[ox.NamedNode, list[Term]]]] = {}
    for node, properties in about.items():
        for step in properties.get(TRAILS.step, ())[:1]:
            found.setdefault(step, {})[node] = properties
    return found


def steps_of(triples: Iterable[ox.Triple], own: re.Pattern[str]) -> list[Node]:
    """Return the steps among statements, by their numbers."""
    steps = (t.subject for t in triples if t.predicate == TYPE and t.object == TRAILS.Step)
    known = ((kind_and_number(step, own), step) for step in steps)
    return [step for place, step in sorted(k for k in known if k[0]) if place]  # type: ignore[misc]


def sealed(triples: Iterable[ox.Triple], own: re.Pattern[str], before: str) -> Chain:
    """Seal statements step by step, the first over the hash `before`; old seals are left out."""
    plain = [t for t in triples if t.predicate not in _UNSEALED]
    found, out, last = by_step(plain), list(plain), before
    for step in steps_of(plain, own):
        last = seal(last, _lines(found.get(step, {})))
        out.append(ox.Triple(step, TRAILS.hash, ox.Literal(last)))
    return Chain(out, last)


def _lines(nodes: Mapping[Node, Mapping[ox.NamedNode, list[Term]]]) -> Iterator[str]:
    return (line for node, about in nodes.items() for line in lines(node, about))


TIMES: Final = frozenset({PROV.startedAtTime, PROV.endedAtTime})
"""What a clock that was put right moves."""
