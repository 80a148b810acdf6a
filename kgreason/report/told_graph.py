"""What an export is made of: a copy of the record, with a graph of what is told beside it.

That graph names the causes as reports do (C1, C2 …), and cites all failing nodes with the causes
that hold them. The templates of `queries/export/` ask both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from kgreason.base.store import Results, Store, Term
from kgreason.base.templates import template
from kgreason.base.terms import RDFS, SH, SKOS, TRAILS, TYPE
from kgreason.report.entries import ReportedCause
from kgreason.report.focus_nodes import FocusNode, citation, described, seen_as
from kgreason.report.found import Found

_Held = dict[tuple[str, str], list[ox.NamedNode]]


@dataclass(frozen=True)
class ToldGraph:
    """A copy of the record of an investigation, with a graph of what is told of it.

    `complete` says whether all failing nodes are cited; else it is those that the record cites.
    """

    store: Store
    investigation: ox.NamedNode
    told: ox.NamedNode
    complete: bool

    def select(self, name: str, section: str = "main") -> Results:
        """Return the rows of an export template."""
        return self.store.select(self._text(name, section))

    def construct(self, name: str) -> list[ox.Triple]:
        """Return the triples of an export template."""
        return self.store.construct(self._text(name, "main"))

    def _text(self, name: str, section: str) -> str:
        made = template("export", name)
        return made.render(section, investigation=self.investigation, told=self.told)


def told_graph(result: Found) -> ToldGraph:
    """Return what is told of a result, with all failing nodes if its data are at hand."""
    iri = result.record.iri
    told = ox.NamedNode(f"{iri.value}:told")
    store = ox.Store()
    store.extend(result.told.store.quads(iri))
    store.extend(ox.Quad(t.subject, t.predicate, t.object, told) for t in _told(result))
    return ToldGraph(Store(store, "the export"), iri, told, result.at_hand is not None)


def _told(result: Found) -> Iterator[ox.Triple]:
    held: _Held = {}
    cited: dict[str, dict[FocusNode, None]] = {}
    for cause in result.causes:
        node = ox.NamedNode(f"{result.record.iri.value}:cause:{cause.id[1:]}")
        yield from _cause(node, cause)
        for one in result.nodes(cause):
            if one.fails is not False:
                held.setdefault((one.symptom, one.node), []).append(node)
                cited.setdefault(one.symptom, {})[one] = None
    at_hand = result.at_hand
    seen = {} if at_hand is None else seen_as(at_hand, result.told)
    for symptom in result.symptoms:
        yield ox.Triple(ox.NamedNode(symptom.id), RDFS.label, ox.Literal(symptom.name))
        found: list[tuple[FocusNode, Sequence[Term]]] = [
            (one, ()) for one in cited.get(symptom.id, ())
        ]
        if at_hand is not None and symptom.id in seen:
            failing = seen[symptom.id].failing
            all_ = described(at_hand, symptom.id, seen[symptom.id], failing)
            found = list(
                zip(all_, (failing[term] for term in sorted(failing, key=str)), strict=True)
            )
        yield from _nodes(symptom.id, found, held)


def _cause(node: ox.NamedNode, cause: ReportedCause) -> Iterator[ox.Triple]:
    said: dict[ox.NamedNode, ox.NamedNode | ox.Literal] = {
        TYPE: TRAILS.JointCause,
        SKOS.notation: ox.Literal(cause.id),
        TRAILS.index: ox.Literal(int(cause.id[1:])),
        TRAILS.statement: ox.Literal(cause.said),
        TRAILS.fingerprint: ox.Literal(cause.fingerprint),
        TRAILS.insideFailing: ox.Literal(cause.explains),
    }
    if cause.narrows:
        said[TRAILS.narrowed] = ox.Literal(cause.explains)
    for predicate, term in said.items():
        yield ox.Triple(node, predicate, term)
    for each in cause.hypotheses:
        yield ox.Triple(node, TRAILS.hypothesis, ox.NamedNode(each))


def _nodes(
    symptom: str, found: Sequence[tuple[FocusNode, Sequence[Term]]], held: _Held
) -> Iterator[ox.Triple]:
    """Return a citation for each value of each failing node; the terms of the values come along."""
    number = 0
    for one, values in found:
        for place, (value, source) in enumerate(one.statements):
            number += 1
            node = ox.NamedNode(f"{symptom}:failure:{number}")
            yield from citation(node, one, value, source)
            yield ox.Triple(node, TRAILS.index, ox.Literal(number))
            if place < len(values):
                yield ox.Triple(node, SH.value, values[place])
            for cause in held.get((symptom, one.node), ()):
                yield ox.Triple(cause, TRAILS.cites, node)
