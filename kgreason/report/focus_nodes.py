"""The focus nodes of a cause: from its data where they are at hand, else those cited."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.context.symptom import Observed
from kgreason.graph import Graph
from kgreason.graph.regions import region_nodes
from kgreason.record import Record
from kgreason.record.record import cited as as_cited
from kgreason.record.record import node_name
from kgreason.report.entries import ReportedCause, ReportedHypothesis, ReportedSymptom

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
    """

    node: str
    symptom: str
    fails: bool | None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class FocusNodes(Sequence[FocusNode]):
    """Focus nodes, in order; `complete` says whether they are all, `source` where they are from."""

    nodes: tuple[FocusNode, ...] = field(repr=False)
    complete: bool
    source: str

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
    cause: ReportedCause | ReportedHypothesis,
    symptoms: Sequence[ReportedSymptom],
    record: Record,
    at_hand: AtHand | None,
) -> FocusNodes:
    """Return the focus nodes of a cause or hypothesis, symptom by symptom, sorted by name."""
    wanted = {cause.id} if isinstance(cause, ReportedHypothesis) else set(cause.hypotheses)
    pairs = [(s, h) for s in symptoms for h in s.hypotheses if h.id in wanted]
    if at_hand is None:
        cited = dict.fromkeys(node for _, h in pairs for node in _cited(record, h))
        return FocusNodes(tuple(cited), complete=False, source=FROM_RECORD)
    found = dict.fromkeys(node for s, h in pairs for node in _inside(at_hand, record, s, h))
    return FocusNodes(tuple(found), complete=True, source=FROM_DATA)


def _cited(record: Record, hypothesis: ReportedHypothesis) -> Iterator[FocusNode]:
    """Return the nodes that the evidence on a hypothesis cites as inside of its region."""
    said: dict[str, tuple[bool | None, str, list[str]]] = {}
    for row in record.select("cited-focus-nodes", hypothesis=ox.NamedNode(hypothesis.id)):
        fails = {"true": True, "false": False}.get(row["fails"].value if "fails" in row else "")
        entry = said.setdefault(node_name(row["node"]), (fails, row["symptom"].value, []))
        if "value" in row:
            entry[2].append(row["value"].value)
    for node, (fails, symptom, values) in sorted(said.items()):
        yield FocusNode(node, symptom, fails, tuple(dict.fromkeys(values)))


def _inside(
    at_hand: AtHand, record: Record, symptom: ReportedSymptom, hypothesis: ReportedHypothesis
) -> Iterator[FocusNode]:
    """Return the focus nodes in the region of a hypothesis, from the data."""
    keys = {row["symptom"].value: row["key"].value for row in record.select("symptom-keys")}
    seen = {one.constraint.key: one for one in at_hand.observed.symptoms}.get(keys[symptom.id])
    if seen is None or hypothesis.region is None:
        return
    path = seen.constraint.path
    predicate = path.predicate if path is not None else None
    failing = seen.observation.failing
    for node in sorted(region_nodes(at_hand.graph.store.inner, hypothesis.region), key=str):
        values: Sequence[Term] = failing.get(node, ())
        if not values and predicate is not None:
            values = at_hand.graph.exact_values(node, predicate)
        name = node_name(as_cited(node))
        yield FocusNode(name, symptom.id, node in failing, tuple(map(_text, values)))


def _text(term: Term) -> str:
    return node_name(as_cited(term))
