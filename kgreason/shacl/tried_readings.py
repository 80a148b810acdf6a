"""What an outcome query asks, found by trial where its text is not understood.

A query can say in countless ways that a label is in the wrong language. What it asks is seen
without reading it: some nodes with the outcome are given what nodes without it say by one property,
and the query is asked again. Where some lose the outcome, and nearly all nodes without it get it
with what those had said, this property decides. Which of its values bring the outcome about is seen
by giving each of them to a node without it.

All is tried in a child process, so that the graph stays as it is.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import RunError
from kgreason.base.figures import figure, integer
from kgreason.base.store import Store, Term, guarded
from kgreason.base.templates import Fragment
from kgreason.base.terms import RDF, SH, WORK, XSD
from kgreason.graph import Graph
from kgreason.shacl.paths import of_predicate
from kgreason.shacl.readings import Reading, lack_of
from kgreason.shacl.tokens import tokenize

_SAMPLE: Final = integer("triedNodes")
_FEWEST: Final = integer("triedLeast")
_PROPERTIES: Final = integer("triedProperties")
_ROUNDS: Final = integer("triedRounds")
_VALUES: Final = integer("triedValues")
_POPULATION: Final = integer("triedPopulation")
_NEARLY: Final = figure("triedShare")
_LITERAL: Final = frozenset({"LanguageIn", "Datatype", "Pattern", "In"})
_CONSTANTS: Final = frozenset({"iri", "string", "number"})
_THING: Final = frozenset({"Pattern", "In"})

_UNREAD: Final = frozenset({"MinCount", "QualifiedMinCount"})
"""Components of a value that has to pass a test of which no more is known."""
_TRIALS: Final = 0.25
Node = ox.NamedNode | ox.BlankNode
Asked = Callable[[], Mapping[Term, bool]]
"""Returns for each node whether it has the outcome, as the graph is now."""


@dataclass(frozen=True)
class _Found:
    """A property that decides, and its values that bring the outcome about, if they are known.

    `usual` is the datatype of nearly all its values at nodes without the outcome.
    """

    predicate: ox.NamedNode
    lacking: bool
    values: tuple[Term, ...] = ()
    usual: ox.NamedNode | None = None


def tried_readings(
    query: str, graph: Graph, outcomes: Mapping[Term, bool], seconds: float, where: str
) -> tuple[Reading, ...]:
    """Return what a query asks of the values of single properties, as trials show it.

    `outcomes` says of each node whether it has the outcome. Nothing is tried where too few nodes
    have it or have it not, or where the population is large; nothing is found where all trials take
    longer than a quarter of `seconds`, which the query itself may take. `query` has full IRIs;
    values that it names itself are no finding.
    """
    if len(outcomes) > _POPULATION:
        return ()
    try:
        found = guarded(partial(_tried, query, graph.store, outcomes), seconds * _TRIALS, where)
    except RunError:
        return ()
    return tuple(_reading(one) for one in found if not _says_so(query, one.values))


def corrected_readings(
    read: Sequence[Reading],
    query: str,
    graph: Graph,
    outcomes: Mapping[Term, bool],
    seconds: float,
    where: str,
) -> tuple[Reading, ...]:
    """Return readings of a query as the data bear them out, and else what trials show it to ask.

    A reading whose values no node with the outcome has is none: what a test makes of a value that
    it fits ill is an error, and that may be the outcome. Where a value is lacking that passes a
    test which is not understood, and there are values, trials may show which ones are at fault.
    Takes what `tried_readings` takes; where that finds nothing, gives the readings as they are.
    """
    trials = partial(tried_readings, query, graph, outcomes, seconds, where)
    borne = [one for one in read if _borne_out(one, graph.store, outcomes, seconds, where)]
    if borne and not all(one.lacking and one.components == _UNREAD for one in borne):
        return _with_values(borne, trials)
    found = trials()
    if borne:
        paths = {one.path for one in borne}
        found = tuple(one for one in found if one.path in paths and one.offending is not None)
    return found or tuple(borne) or tuple(read)


def _borne_out(
    read: Reading, store: Store, outcomes: Mapping[Term, bool], seconds: float, where: str
) -> bool:
    """Check whether a node with the outcome has a value that a reading calls at fault.

    That a value is that of another node is what the query asks; to pair all that share one may
    take longer than the query.
    """
    if read.offending is None or "UniqueValue" in read.components:
        return True
    asked = partial(store.column, f"SELECT DISTINCT ?focus WHERE {{ {read.offending.text} }}")
    try:
        return any(outcomes.get(node, False) for node in guarded(asked, seconds, where))
    except RunError:
        return True


def _with_values(
    read: Sequence[Reading], trials: Callable[[], tuple[Reading, ...]]
) -> tuple[Reading, ...]:
    """Return readings of a query with the values at fault, where trials show them.

    What a query asks of several values together, such as of one text made of all of them, names
    none of them.
    """
    open_ = {r.path for r in read if not r.lacking and r.most is None and r.offending is None}
    if not open_:
        return tuple(read)
    found = {one.path: one.offending for one in trials() if one.offending is not None}
    return tuple(
        replace(one, offending=found[one.path]) if one.path in open_ & found.keys() else one
        for one in read
    )


def _says_so(query: str, values: Sequence[Term]) -> bool:
    """Check whether a query names all values that bring the outcome about: they are its rule."""
    named = {token.text.strip("<>\"'") for token in tokenize(query) if token.kind in _CONSTANTS}
    return bool(values) and all(one.value in named for one in values)


def _reading(found: _Found) -> Reading:
    path = of_predicate(found.predicate)
    if found.lacking:
        return lack_of(path)
    wrong = {one.datatype for one in found.values if isinstance(one, ox.Literal)}
    literals = not found.values or bool(wrong)
    # Of which datatype values are asked tells only what has another one.
    asked = found.usual if found.usual is not None and wrong and found.usual not in wrong else None
    listed = " ".join(str(one) for one in found.values)
    at_fault = f"VALUES ?value {{ {listed} }} ?focus {found.predicate} ?value ."
    return Reading(
        path,
        (_LITERAL if asked is None else _LITERAL - {"LanguageIn"}) if literals else _THING,
        lacking=False,
        offending=Fragment(at_fault) if found.values else None,
        parameters={SH.datatype: (asked,)} if asked is not None else {},
    )


def _tried(query: str, store: Store, outcomes: Mapping[Term, bool]) -> list[_Found]:
    trial = _Trial(store, partial(_asked, store, query), outcomes)
    return list(trial.found())


def _asked(store: Store, query: str) -> dict[Term, bool]:
    out: dict[Term, bool] = {}
    for row in store.select(query):
        if "focus" in row and "outcome" in row:
            true = row["outcome"].value in {"true", "1"}
            out[row["focus"]] = out.get(row["focus"], False) or true
    return out


class _Trial:
    """Exchanges values on a store that may be changed, and asks again."""

    def __init__(self, store: Store, asked: Asked, outcomes: Mapping[Term, bool]) -> None:
        self._inner, self._asked = store.inner, asked
        nodes = sorted((n for n in outcomes if isinstance(n, Node)), key=str)
        self._failing = [node for node in nodes if outcomes[node]]
        self._passing = [node for node in nodes if not outcomes[node]]

    def found(self) -> Iterator[_Found]:
        """Return the properties that decide."""
        if min(len(self._failing), len(self._passing)) < _FEWEST:
            return
        for predicate in self._predicates():
            having = [
                [node for node in nodes if self._has(predicate, node)]
                for nodes in (self._failing, self._passing)
            ]
            lacking = not having[0] and len(having[1]) >= _FEWEST
            if not lacking and len(having[0]) < _FEWEST:
                continue
            failing = _evenly(having[0] or self._failing)
            passing = _evenly(having[1] or self._passing)
            after = self._with(predicate, failing, passing)
            mended = [node for node in failing if after.get(node) is False]
            if len(mended) < _FEWEST or not (lacking or self._is_text(predicate, mended)):
                continue
            after = self._with(predicate, passing, mended)
            # A node without what is lacking may be none that the query looks at.
            broken = [n for n in passing if after.get(n, lacking) is True]
            if len(broken) >= _NEARLY * len(passing):
                values = () if lacking else self._at_fault(predicate, mended)
                yield _Found(predicate, lacking, values, self._usual(predicate))

    def _predicates(self) -> list[ox.NamedNode]:
        """Return the properties of a few nodes of both sides, those that most have first."""
        told: dict[ox.NamedNode, int] = {}
        for node in (*_evenly(self._failing), *_evenly(self._passing)):
            for predicate in {quad.predicate for quad in self._said(node)}:
                told[predicate] = told.get(predicate, 0) + 1
        often = sorted(told, key=lambda p: (-told[p], p.value))
        return [p for p in often if told[p] >= _FEWEST][:_PROPERTIES]

    def _said(self, node: Node, predicate: ox.NamedNode | None = None) -> list[ox.Quad]:
        found = self._inner.quads_for_pattern(node, predicate, None, None)
        return [quad for quad in found if quad.graph_name not in WORK]

    def _values(self, node: Node, predicate: ox.NamedNode) -> set[ox.NamedNode | ox.Literal]:
        """Return the values of a node that a query can name."""
        found = (quad.object for quad in self._said(node, predicate))
        return {one for one in found if isinstance(one, ox.NamedNode | ox.Literal)}

    def _is_text(self, predicate: ox.NamedNode, nodes: Sequence[Node]) -> bool:
        """Check whether values are texts or things.

        A number, a date or a yes is what an outcome is made of, and no wrong form.
        """
        literals = (
            one
            for node in nodes
            for one in self._values(node, predicate)
            if isinstance(one, ox.Literal)
        )
        return all(one.datatype in {XSD.string, RDF.langString} for one in literals)

    def _usual(self, predicate: ox.NamedNode) -> ox.NamedNode | None:
        """Return the datatype of nearly all values of a property at nodes without the outcome."""
        found = [v for node in _evenly(self._passing) for v in self._values(node, predicate)]
        kinds = Counter(one.datatype for one in found if isinstance(one, ox.Literal))
        kind, often = next(iter(kinds.most_common(1)), (None, 0))
        return kind if often >= _NEARLY * len(found) else None

    def _has(self, predicate: ox.NamedNode, node: Node) -> bool:
        return bool(self._said(node, predicate))

    def _with(
        self, predicate: ox.NamedNode, nodes: Sequence[Node], donors: Sequence[Node]
    ) -> Mapping[Term, bool]:
        """Return the outcomes once each of some nodes says what one of the donors does."""
        said = {node: self._said(node, predicate) for node in (*nodes, *donors)}
        given = {
            node: [ox.Quad(node, predicate, q.object, q.graph_name) for q in said[donor]]
            for node, donor in zip(nodes, cycle(donors))
        }
        return self._instead(said, given)

    def _instead(
        self, said: Mapping[Node, list[ox.Quad]], given: Mapping[Node, list[ox.Quad]]
    ) -> Mapping[Term, bool]:
        """Return the outcomes with other statements of some nodes; then they are as they were."""
        for node, quads in given.items():
            for quad in said[node]:
                self._inner.remove(quad)
            self._inner.extend(quads)
        after = self._asked()
        for node, quads in given.items():
            for quad in quads:
                self._inner.remove(quad)
            self._inner.extend(said[node])
        return after

    def _at_fault(self, predicate: ox.NamedNode, mended: Sequence[Node]) -> tuple[Term, ...]:
        """Return the values that bring the outcome about, alone or beside others, if that is known.

        Only values that no node without the outcome has can be, and nearly all nodes that are
        `mended` by other values have to have one of them.
        """
        fine = {one for node in self._passing for one in self._values(node, predicate)}
        own = {n: self._values(n, predicate) - fine for n in self._failing}
        tried = sorted({value for values in own.values() for value in values}, key=str)
        hosts = sorted(self._passing, key=lambda n: not self._has(predicate, n))[: len(tried)]
        if not 0 < len(tried) <= min(_VALUES, _ROUNDS * len(hosts)):
            return ()
        for kept in (False, True):
            wrong = {
                one
                for start in range(0, len(tried), len(hosts))
                for one in self._wrong(predicate, tried[start : start + len(hosts)], hosts, kept)
            }
            told = sum(1 for node in mended if wrong & own[node])
            if told >= _NEARLY * len(mended):
                return tuple(one for one in tried if one in wrong)
        return ()

    def _wrong(
        self,
        predicate: ox.NamedNode,
        tried: Sequence[ox.NamedNode | ox.Literal],
        hosts: Sequence[Node],
        kept: bool,  # noqa: FBT001 - whether hosts keep what they say
    ) -> Iterator[ox.NamedNode | ox.Literal]:
        """Return those of some values, one to each host, that bring the outcome about."""
        said = {node: self._said(node, predicate) for node in hosts[: len(tried)]}
        given = {
            node: [
                *(said[node] if kept else ()),
                *(ox.Quad(node, predicate, value, home) for home in self._homes(node)),
            ]
            for node, value in zip(said, tried, strict=True)
        }
        after = self._instead(said, given)
        yield from (v for node, v in zip(said, tried, strict=True) if after.get(node) is True)

    def _homes(self, node: Node) -> list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph]:
        """Return the graphs that tell of a node."""
        return sorted({quad.graph_name for quad in self._said(node)}, key=str)


def _evenly(nodes: Sequence[Node]) -> list[Node]:
    """Return a few nodes out of all parts of a list."""
    return list(nodes[:: max(1, len(nodes) // _SAMPLE)][:_SAMPLE])
