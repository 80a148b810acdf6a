"""Run the recorded queries again on the graph, and look up what is cited."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import pyoxigraph as ox

from kgreason.audit.merged import History
from kgreason.base.errors import KgreasonError
from kgreason.base.store import Term, guarded_select
from kgreason.base.terms import PREFIXES, TRAILS
from kgreason.graph import Graph
from kgreason.graph.cited import digest
from kgreason.graph.graph import exact
from kgreason.graph.query_result import query_result
from kgreason.record import Record, uncited
from kgreason.shacl.exists_joins import once

_T = TypeVar("_T")
_TRUE: Final = frozenset({"true", "1"})
_FAILS: Final = ("fails", "fails inside the region", "fails although outside the region")
_PASSES: Final = ("passes although inside the region",)
_INSIDE: Final = ("fails inside the region", "passes although inside the region")
_OUTSIDE: Final = ("fails although outside the region",)


@dataclass(frozen=True, order=True)
class Difference:
    """A figure of a node of the record that the graph no longer gives; None where there is none."""

    node: str
    figure: str
    recorded: str | None
    found: str | None


@dataclass
class Sample:
    """Draws at most `most` of each kind of thing, always the same with the same seed.

    `drawn` says of each kind how many were drawn, and of how many.
    """

    most: int | None = None
    seed: int = 0
    drawn: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, kind: str, things: Sequence[_T]) -> list[_T]:
        """Draw from the things of a kind; they stay in their order."""
        taken = list(things)
        if self.most is not None and len(taken) > self.most:
            chance = random.Random(f"{self.seed} {kind}")  # noqa: S311 - a sample, no secret
            places = sorted(chance.sample(range(len(taken)), self.most))
            taken = [taken[place] for place in places]
        self.drawn[kind] = (len(taken), len(things))
        return taken


Failing = Mapping[str, Collection[Term]]
"""Who fails by the IRI of the symptom, where that was looked for anew."""


def recheck(
    record: Record,
    graph: Graph,
    *,
    seconds: float = 60.0,
    sample: Sample | None = None,
    failing: Failing | None = None,
    regions: bool = True,
) -> list[Difference]:
    """Count symptoms and regions again by their recorded queries, and look up what is cited.

    Of what is cited the digest is compared, and that it is there and fails or passes, inside or
    outside its region, as it is said to. `failing` are who fails by the shapes; else the recorded
    queries are taken at their word. The graph has to be loaded as it was for the investigation;
    `fingerprint` is compared too. A query may take `seconds`, for a user's text may be in it;
    without an answer it counts as different. All is looked at unless a sample is wanted.
    """
    rerun = _Rerun(History(record), graph, seconds, failing or {})
    return sorted(rerun.run(sample or Sample(), regions=regions))


def told(difference: Difference) -> str:
    """Return a sentence on what differs."""
    recorded, found = (x or "none" for x in (difference.recorded, difference.found))
    return f"{difference.figure} is recorded as {recorded}, but the data give {found}."


class _Rerun:
    """Runs queries of a record; of each the answer is kept."""

    def __init__(self, history: History, graph: Graph, seconds: float, failing: Failing) -> None:
        self._history, self._graph, self._seconds = history, graph, seconds
        self._given = failing
        self._kept: dict[tuple[str, str], frozenset[Term] | str] = {}

    def run(self, sample: Sample, *, regions: bool) -> Iterator[Difference]:
        """Return all that differs."""
        history = self._history
        yield from self._differs(
            history.iri,
            "fingerprint",
            self._one(history.iri, "fingerprint"),
            self._graph.fingerprint,
        )
        for symptom in sample.of("symptoms", self._all(TRAILS.Symptom)):
            yield from self._symptom(symptom)
        claimed = [h for h in self._all(TRAILS.Hypothesis) if self._one(h, "region") is not None]
        for hypothesis in sample.of("regions", claimed) if regions else ():
            yield from self._region(hypothesis)
        for call in sample.of("calls of tools", self._all(TRAILS.PlanStep)):
            yield from self._call(call)
        for citation in sample.of("citations", self._all(TRAILS.Citation)):
            yield from self._citation(citation)

    def _all(self, kind: ox.NamedNode) -> list[Term]:
        return sorted(self._history.instances(kind), key=str)

    def _symptom(self, symptom: Term) -> Iterator[Difference]:
        """Count who is looked at and who fails, by both queries.

        Who fails is asked with the query for the embedded store, which sees literals as they were
        written; the outcome query, which any engine understands, cannot.
        """
        population, failing = (self._one(symptom, name) for name in ("population", "failing"))
        if population is not None:
            found = self._focuses(symptom, "outcomeQuery")
            yield from self._differs(symptom, "population", population, _size(found))
        asked = self._focuses(symptom, "failingQuery")
        yield from self._differs(symptom, "failing", failing, _size(asked))
        given = self._given.get(symptom.value)
        if given is not None and not isinstance(asked, str) and set(asked) != set(given):
            only = f"{len(set(asked) - set(given))} others"
            yield Difference(
                symptom.value, "failing by its query", f"{len(asked)}, {only}", f"{len(given)}"
            )

    def _region(self, hypothesis: Term) -> Iterator[Difference]:
        inside = self._focuses(hypothesis, "region")
        yield from self._differs(
            hypothesis, "inside", self._one(hypothesis, "inside"), _size(inside)
        )
        failing = self._failing(hypothesis)
        if failing is not None and not isinstance(inside, str):
            found = str(len(inside & failing))
            recorded = self._one(hypothesis, "insideFailing")
            yield from self._differs(hypothesis, "insideFailing", recorded, found)

    def _call(self, call: Term) -> Iterator[Difference]:
        """Ask again what a strategy asked the graph."""
        text, recorded = self._one(call, "query"), self._one(call, "rowsDigest")
        if not text or recorded is None:
            return
        try:
            found = query_result(self._graph, text, self._seconds, call.value)
        except KgreasonError as error:
            yield Difference(
                call.value, "rowsDigest", recorded, f"an error ({str(error).partition(chr(10))[0]})"
            )
            return
        yield from self._differs(call, "rows", self._one(call, "rows"), str(len(found.rows)))
        yield from self._differs(call, "rowsDigest", recorded, found.digest)

    def _citation(self, citation: Term) -> Iterator[Difference]:
        properties = self._history.properties(citation)
        given = next(iter(properties.get(TRAILS.node, ())), None)
        if given is None:
            return
        node = uncited(given)
        named = next(iter(properties.get(TRAILS.field, ())), None)
        recorded = self._one(citation, "digest")
        if recorded is not None:
            path = named if isinstance(named, ox.NamedNode) else None
            found = digest(self._graph, node, path)
            yield from self._differs(citation, "digest", recorded, found)
        owners = self._history.statements(None, TRAILS.cites, citation)
        types = {o.subject: self._history.types(o.subject) for o in owners}
        owner = next((o for o, t in types.items() if t & {TRAILS.Symptom, TRAILS.Evidence}), None)
        if owner is not None:
            why = self._one(citation, "relevance") or ""
            yield from self._stands(citation, owner, node, why)

    def _stands(self, citation: Term, owner: Term, node: Term, why: str) -> Iterator[Difference]:
        """Describe where a node does not stand as it is cited: there, failing, inside."""
        about = self._link(owner, "hypothesis")
        failing = self._failing(about or owner)
        fails = failing is not None and node in failing
        if not fails and not self._there(node):
            yield Difference(citation.value, "node", node.value, "no such node")
            return
        if failing is not None and why in (*_FAILS, *_PASSES):
            said, is_so = ("passes" if x else "fails" for x in (why in _PASSES, not fails))
            yield from self._differs(citation, f"that {node.value}", said, is_so)
        inside = None if about is None else self._focuses(about, "region")
        if isinstance(inside, frozenset) and why in (*_INSIDE, *_OUTSIDE):
            said, is_so = (
                "lies inside" if x else "lies outside" for x in (why in _INSIDE, node in inside)
            )
            yield from self._differs(citation, f"that {node.value}", said, is_so)

    def _failing(self, node: Term) -> frozenset[Term] | None:
        """Return who fails the symptom that a node is, or is about."""
        symptom = self._link(node, "symptom") or node
        given = self._given.get(symptom.value)
        if given is not None:
            return frozenset(given)
        found = self._focuses(symptom, "failingQuery")
        return None if isinstance(found, str) else found

    def _there(self, node: Term) -> bool:
        """Check whether a node stands anywhere in the data."""
        inner = self._graph.store.inner
        found = [] if isinstance(node, ox.Literal) else [inner.quads_for_pattern(node, None, None)]
        return any(
            not str(quad.graph_name).startswith(f"<{PREFIXES['work']}")
            for quads in (*found, inner.quads_for_pattern(None, None, node))
            for quad in quads
        )

    def _focuses(self, node: Term, name: str) -> frozenset[Term] | str:
        """Return the nodes that a recorded query gives, or why it gives none."""
        key = (node.value, name)
        if key not in self._kept:
            self._kept[key] = self._asked(node, name)
        return self._kept[key]

    def _asked(self, node: Term, name: str) -> frozenset[Term] | str:
        text = self._one(node, name)
        if not text:
            return "no query"
        try:
            rows = guarded_select(self._graph.store, once(text), self._seconds, node.value)
        except KgreasonError as error:
            return f"an error ({str(error).partition(chr(10))[0]})"
        return frozenset(exact(row["focus"]) for row in rows if "focus" in row)

    def _differs(
        self, node: Term, figure: str, recorded: str | None, found: str | None
    ) -> Iterator[Difference]:
        if recorded != found:
            yield Difference(node.value, figure, recorded, found)

    def _link(self, node: Term, name: str) -> Term | None:
        values = self._history.properties(node).get(TRAILS[name], ())
        return next(iter(values), None)

    def _one(self, node: Term, name: str) -> str | None:
        values = self._history.values(node, TRAILS[name])
        return values[0] if values else None


def _size(found: frozenset[Term] | str) -> str:
    return found if isinstance(found, str) else str(len(found))
