"""The focus nodes of a cause: from its data where they are at hand, else those cited."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, overload
from urllib.parse import unquote

import pyoxigraph as ox

from kgreason.base.store import Row, Term
from kgreason.base.terms import PREFIXES, TRAILS, TYPE
from kgreason.context.symptom import Observed, Symptom
from kgreason.graph import Graph
from kgreason.graph.regions import region_nodes
from kgreason.record import Record
from kgreason.record.record import cited as as_cited
from kgreason.record.record import node_name
from kgreason.report.entries import ReportedCause, ReportedHypothesis, ReportedSymptom
from kgreason.report.frames import Framed

_OWN: Final = PREFIXES["work"]
_FILE: Final = "urn:src:"
FAILS, PASSES = "fails inside the region", "passes although inside the region"
"""Why a record cites a node of a region."""
FROM_DATA = "All nodes of the region, looked up in the data."
FROM_RECORD = (
    "Only the nodes that the record cites: the data are not at hand. kgreason.investigate gives "
    "a result that has them."
)


@dataclass(frozen=True)
class AtHand:
    """The data of an investigation, and what was seen of them."""

    graph: Graph
    observed: Observed


@dataclass(frozen=True)
class FocusNode:
    """A focus node in the region of a cause.

    `fails` is None where that is not known. `values` are the values at fault; where it passes, or
    none is at fault, those of the property of the constraint. As text, just as they were written.
    `field` is the property or path that they are values of. `sources` are the named graphs that
    hold each of the values, or where there is none those that describe the node; several graphs of
    one value stand in one text, with a blank between them.
    """

    node: str
    symptom: str
    fails: bool | None
    values: tuple[str, ...] = ()
    field: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[tuple[str | None, str | None], ...]:
        """Each value with its source; one pair without a value where there is none."""
        if not self.values:
            return ((None, " ".join(self.sources) or None),)
        given = self.sources or (None,) * len(self.values)
        return tuple(
            (value, source or None) for value, source in zip(self.values, given, strict=True)
        )


@dataclass(frozen=True)
class FocusNodes(Framed, Sequence[FocusNode]):
    """Focus nodes, in order; `complete` says whether they are all, `source` where they are from.

    `names` are those of the symptoms, by their IRI.
    """

    nodes: tuple[FocusNode, ...] = field(repr=False)
    complete: bool
    source: str
    names: Mapping[str, str] = field(default_factory=dict, repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """Return a plain dict for each value of a node, for any frame library: the node first.

        The keys are node, fails, field, value, source and rule (the name of the symptom). A source
        that is a file is named as it lay among the data.
        """
        return [
            {
                "node": one.node,
                "fails": one.fails,
                "field": one.field,
                "value": value,
                "source": _readable(source),
                "rule": self.names.get(one.symptom, one.symptom),
            }
            for one in self.nodes
            for value, source in one.statements
        ]

    def turtle(self) -> str:
        """Return the nodes as Turtle: a trails:Citation for each value of a node."""
        pairs = [(one, *pair) for one in self.nodes for pair in one.statements]
        triples = (
            made
            for number, (one, value, source) in enumerate(pairs, start=1)
            for made in citation(ox.BlankNode(f"n{number}"), one, value, source)
        )
        from kgreason.report.export.rdf import turtle  # noqa: PLC0415 - all exports come with it

        return turtle(triples, PREFIXES).decode()

    def those(self, *, failing: bool = True, passing: bool = True) -> "FocusNodes":
        """Return only the nodes that fail, or only those that pass; what is not known fails."""
        kept = (one for one in self.nodes if (passing if one.fails is False else failing))
        return replace(self, nodes=tuple(kept))

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[FocusNode]:
        return iter(self.nodes)

    @overload
    def __getitem__(self, index: int) -> FocusNode: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FocusNode]: ...
    def __getitem__(self, index: int | slice) -> FocusNode | Sequence[FocusNode]:
        return self.nodes[index]


def focus_nodes(
    cause: ReportedCause | ReportedHypothesis | ReportedSymptom,
    symptoms: Sequence[ReportedSymptom],
    record: Record,
    at_hand: AtHand | None,
) -> FocusNodes:
    """Return the focus nodes of a cause or hypothesis, symptom by symptom, sorted by name.

    Of a symptom those that fail are returned, or where the data are not at hand those that fail and
    are cited by the evidence on its hypotheses.
    """
    if isinstance(cause, ReportedSymptom):
        return _failing(cause, record, at_hand)
    wanted = {cause.id} if isinstance(cause, ReportedHypothesis) else set(cause.hypotheses)
    names = {symptom.id: symptom.name for symptom in symptoms}
    pairs = [(s, h) for s in symptoms for h in s.hypotheses if h.id in wanted]
    if at_hand is None:
        cited = dict.fromkeys(node for _, h in pairs for node in _cited(record, h))
        return FocusNodes(tuple(cited), complete=False, source=FROM_RECORD, names=names)
    found = dict.fromkeys(node for s, h in pairs for node in _inside(at_hand, record, s, h))
    return FocusNodes(tuple(found), complete=True, source=FROM_DATA, names=names)


def _failing(symptom: ReportedSymptom, record: Record, at_hand: AtHand | None) -> FocusNodes:
    names = {symptom.id: symptom.name}
    seen = None if at_hand is None else seen_as(at_hand, record).get(symptom.id)
    if at_hand is None or seen is None:
        cited = dict.fromkeys(node for h in symptom.hypotheses for node in _cited(record, h))
        nodes = tuple(node for node in cited if node.fails)
        return FocusNodes(nodes, complete=False, source=FROM_RECORD, names=names)
    nodes = tuple(described(at_hand, symptom.id, seen, seen.observation.failing))
    return FocusNodes(nodes, complete=True, source=FROM_DATA, names=names)


def _cited(record: Record, hypothesis: ReportedHypothesis) -> Iterator[FocusNode]:
    """Return the nodes that the evidence on a hypothesis cites as inside of its region."""
    said: dict[str, list[Row]] = {}
    for row in record.select("cited-focus-nodes", hypothesis=ox.NamedNode(hypothesis.id)):
        said.setdefault(node_name(row["node"]), []).append(row)
    for node, rows in sorted(said.items()):
        fails = {"true": True, "false": False}.get(_of(rows[0], "fails"))
        values: dict[str, list[str]] = {}
        for row in rows:
            if "value" in row:
                values.setdefault(row["value"].value, []).append(_of(row, "graph"))
        graphs = [" ".join(filter(None, dict.fromkeys(held))) for held in values.values()]
        if not values:
            graphs = list(filter(None, dict.fromkeys(_of(row, "graph") for row in rows)))
        field_ = next((row["field"] for row in rows if "field" in row), None)
        yield FocusNode(
            node,
            rows[0]["symptom"].value,
            fails,
            tuple(values),
            None if field_ is None else node_name(field_),
            tuple(graphs),
        )


def _of(row: Row, name: str) -> str:
    return row[name].value if name in row else ""


def _inside(
    at_hand: AtHand, record: Record, symptom: ReportedSymptom, hypothesis: ReportedHypothesis
) -> Iterator[FocusNode]:
    """Return the focus nodes in the region of a hypothesis, from the data."""
    if hypothesis.region is None:
        return
    seen = seen_as(at_hand, record).get(symptom.id)
    if seen is not None:
        nodes = region_nodes(at_hand.graph.store.inner, hypothesis.region)
        yield from described(at_hand, symptom.id, seen, nodes)


def seen_as(at_hand: AtHand, record: Record) -> dict[str, Symptom]:
    """Return the recorded symptoms as they were seen in the data, by their IRI."""
    seen = {one.constraint.key: one for one in at_hand.observed.symptoms}
    rows = record.select("symptom-keys")
    return {r["symptom"].value: seen[r["key"].value] for r in rows if r["key"].value in seen}


def described(
    at_hand: AtHand, symptom: str, seen: Symptom, nodes: Iterable[Term]
) -> Iterator[FocusNode]:
    """Return focus nodes of a symptom with what the data say of them, sorted by name."""
    path = seen.constraint.path
    predicate = path.predicate if path is not None else None
    named = path.text if path is not None and predicate is None else None
    failing = seen.observation.failing
    for node in sorted(nodes, key=str):
        values: Sequence[Term] = failing.get(node, ())
        if not values and predicate is not None and not isinstance(node, ox.Literal):
            values = at_hand.graph.exact_values(node, predicate)
        yield FocusNode(
            node_name(as_cited(node)),
            symptom,
            node in failing,
            tuple(map(_text, values)),
            named if predicate is None else predicate.value,
            _sources(at_hand.graph, node, predicate, values),
        )


def _sources(
    graph: Graph, node: Term, predicate: ox.NamedNode | None, values: Sequence[Term]
) -> tuple[str, ...]:
    """Return the named graphs of each value, else those that describe the node."""
    if isinstance(node, ox.Literal):
        return ("",) * len(values)
    at = predicate if values else None
    held: dict[ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, list[str]] = {}
    every: dict[str, None] = {}
    for quad in graph.store.inner.quads_for_pattern(node, at, None, None):
        name = quad.graph_name
        if isinstance(name, ox.NamedNode) and not name.value.startswith(_OWN):
            held.setdefault(quad.object, []).append(name.value)
            every[name.value] = None
    if not values:
        return tuple(sorted(every))
    whole = " ".join(sorted(every))
    # A literal whose form the store rewrote is not found as it was written.
    return tuple(" ".join(sorted(held[v])) if v in held else whole for v in values)


def _readable(source: str | None) -> str | None:
    """Return sources as they are told: a file by its name, any other named graph by its IRI."""
    if source is None:
        return None
    parts = (
        unquote(one.removeprefix(_FILE)) if one.startswith(_FILE) else one for one in source.split()
    )
    return " ".join(parts)


def _text(term: Term) -> str:
    return node_name(as_cited(term))


def citation(
    node: ox.NamedNode | ox.BlankNode, one: FocusNode, value: str | None, source: str | None
) -> Iterator[ox.Triple]:
    """Return what a citation of one value of a focus node says."""
    said = {
        TYPE: TRAILS.Citation,
        TRAILS.node: named(one.node),
        TRAILS.symptom: ox.NamedNode(one.symptom),
        TRAILS.field: None if one.field is None else named(one.field),
        TRAILS.value: None if value is None else ox.Literal(value),
        TRAILS.relevance: ox.Literal(PASSES if one.fails is False else FAILS),
    }
    for predicate, term in said.items():
        if term is not None:
            yield ox.Triple(node, predicate, term)
    for graph in (source or "").split():
        yield ox.Triple(node, TRAILS.graph, named(graph))


def named(text: str) -> ox.NamedNode | ox.Literal:
    """Return the term that a text names: an IRI, or a literal for anything else."""
    if not text.startswith("_:") and ":" in text:
        try:
            return ox.NamedNode(text)
        except ValueError:
            pass
    return ox.Literal(text)
