"""Take an extract from an endpoint: probe it, ask who fails, and take what lies around them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

import pyoxigraph as ox

from kgreason.base.errors import GraphError
from kgreason.base.fetching import Late, SourceError
from kgreason.base.figures import integer
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import PREFIXES
from kgreason.endpoint.asking_endpoint import (
    BATCH,
    AskingEndpoint,
    EndpointStore,
    Inconsistent,
    about_one_query,
    batches,
)
from kgreason.endpoint.class_lists import ClassLists
from kgreason.endpoint.extract import Asked, Extract
from kgreason.endpoint.kept_answers import KEPT_HOURS, KeptAnswers
from kgreason.endpoint.known import Rules, known
from kgreason.endpoint.local_store import asking_of
from kgreason.endpoint.named_endpoint import NamedEndpoint
from kgreason.endpoint.neighbourhood import Layout, Neighbourhood
from kgreason.endpoint.paging import ROLE, Besides, Checked, Listed, Nodes, Pages, Plain, digest
from kgreason.endpoint.probing import Probed, dialect_of, notices, probe, stored
from kgreason.endpoint.strata import MOST, strata, unseen
from kgreason.endpoint.streaming import pages_of
from kgreason.graph import Graph
from kgreason.shacl import Compiled, Constraint
from kgreason.shacl.constraint import Texts, label
from kgreason.shacl.population import Counts

Compile = Callable[[Graph, Counts], Compiled]
"""Compiles shapes for a graph whose nodes are counted elsewhere."""
Told = Callable[[str, int, int], None]
ALL: Final = "all"
"""The rule of a sample that is everything."""
_RULE: Final = (
    "the failing nodes of the smallest MD5 of seed and IRI, {cap:,} at most, and {ratio} times as "
    "many passing nodes in the same order, but no fewer than make up {whole:,}"
)
_WHOLE: Final = integer("endpointWhole")
_GRAPHS: Final = 50
_ENDPOINT: Final = ox.NamedNode(PREFIXES["void"] + "sparqlEndpoint")
_FEW: Final = 20
_NO_LIMIT: Final = 1 << 62


def pull(
    named: NamedEndpoint,
    rules: Rules,
    compile_: Compile,
    seed: int,
    told: Told | None = None,
    answers: KeptAnswers | None = None,
) -> Extract:
    """Take an extract; raises SourceError where the endpoint does not answer as it should.

    What it did answer is kept in `answers` until the extract is whole.
    """
    try:
        found = _Pull(named, seed, told, answers).run(rules, compile_)
    except (Inconsistent, GraphError):
        if answers is not None:
            answers.forget()  # the data may have changed since
        raise
    except SourceError as error:
        if answers is None or (about_one_query(error) and not isinstance(error, Late)):
            raise
        raise SourceError(
            f"{error} What was answered is kept in {answers.folder}: the same command goes on from "
            "there.",
            error.status,
        ) from error
    if answers is not None:
        answers.forget()
    return found


def estimate(
    named: NamedEndpoint, rules: Rules, compile_: Compile, seed: int, told: Told | None = None
) -> "Estimate":
    """Probe an endpoint and count, and estimate what an extract would take; raises SourceError."""
    return _Pull(named, seed, told).estimate(rules, compile_)


@dataclass(frozen=True)
class Estimate:
    """What an extract would take, by what a few nodes of it took.

    `failing` has, by the name of a constraint, how many nodes fail of how many; `members` are the
    focus nodes that would be taken; `queries` and `bytes` are estimates, `asked` what the estimate
    itself has asked.
    """

    dialect: str
    failing: Mapping[str, tuple[int, int]]
    members: int
    queries: int
    bytes: int
    asked: int
    refused: tuple[str, ...]
    notices: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{name}: {bad:,} of {all_:,} fail" for name, (bad, all_) in self.failing.items()]
        lines.append(
            f"An investigation would take {self.members:,} focus nodes with what lies around them: "
            f"about {self.queries:,} queries and {self.bytes / 1e6:,.1f} MB of answers."
        )
        return "\n".join([*self.notices, *self.refused, *lines])


class _Counts:
    """Counts the nodes of targets on an endpoint, which has a time limit of its own."""

    def __init__(self, pages: Pages, asking: AskingEndpoint) -> None:
        self._pages, self._asking = pages, asking

    def count(self, target: Fragment, *, guarded: bool) -> int | None:  # noqa: ARG002
        """Return the number of nodes; None where that takes the endpoint too long."""
        try:
            return self._pages.population(target)
        except Late as error:
            if not self._asking.goes_on_after(error):
                raise
            return None


class _Pull:
    def __init__(
        self,
        named: NamedEndpoint,
        seed: int,
        told: Told | None,
        answers: KeptAnswers | None = None,
    ) -> None:
        self.named, self.seed = named, seed
        self.asking = asking_of(named, told, answers)
        self.pages = pages_of(self.asking, seed)
        self.lists: dict[str, tuple[str, ...]] = {}
        self.wholes: dict[str, Listed] = {}
        self.reported: dict[str, tuple[Fragment, tuple[str, ...]]] = {}
        self.classes: ClassLists | None = None
        self.refused: list[str] = []
        self.notices: list[str] = []

    def run(self, rules: Rules, compile_: Compile) -> Extract:
        layout, probed, compiled = self._begun(rules, compile_)
        asked = [
            one
            for each in compiled.constraints
            if (one := self._asked(each, probed, _said(compiled, each)))
        ]
        around = Neighbourhood(self.asking, layout, self.seed)
        names = dict.fromkeys(one.members for one in asked if one.failing)
        around.take((node for name in names for node in self.lists[name]), self.named.hops)
        if layout.named:
            asked = [self._spread(one, around) for one in asked]
        forms, seen = ((), None) if probed.lost else stored(q.object for q in around.quads)
        if self.asking.asked.kept:
            self.notices.append(
                f"{self.asking.asked.kept} of {self.asking.asked.queries} answers of "
                f"{self.named.host} were kept from a run that was interrupted, at most "
                f"{KEPT_HOURS} hours ago."
            )
        return Extract(
            address=self.named.address,
            graphs=self.named.graphs,
            dialect=probed.dialect.name,
            server=self.asking.server,
            merged=self.asking.graphs,
            union=self.asking.union,
            seed=self.seed,
            cap=self.named.cap,
            ratio=self.named.ratio,
            hops=self.named.hops,
            queries=self.asking.asked.queries,
            bytes=self.asking.asked.bytes,
            kept=self.asking.asked.kept,
            lost=probed.lost,
            constraints=tuple(asked),
            lists=self.lists,
            probes=(*probed.results, *forms),
            seen=seen,
            refused=tuple(self.refused),
            cut=tuple(around.cut),
            notices=tuple(self.notices),
            quads="".join(around.lines()) or _nothing(self.named.address),
        )

    def _spread(self, one: Asked, around: Neighbourhood) -> Asked:
        """Add to a sample how its nodes are spread over sources; to one of everyone nothing."""
        if not one.failing or one.rule == ALL or one.population > MOST:
            return one
        target, failing = self._frame(one)
        found = strata(
            self.asking,
            target,
            failing,
            around.quads,
            self.lists[one.members],
            one.failed,
        )
        for each in unseen(found, one.failing / one.population):
            self.notices.append(
                f"{each.graph}: {each.failing_there:,} of "
                f"{each.failing_there + each.passing_there:,} nodes that it describes fail at "
                f"{self.named.host}, but {each.failing} of them were taken, so that what is wrong "
                "with this source may not be found; take more with --cap, or look at it alone with "
                "--graph."
            )
        return replace(one, strata=found)

    def _frame(self, one: Asked) -> tuple[Fragment, Sequence[Fragment]]:
        """Return the patterns of the nodes that a sample is of, and of those of them that fail."""
        if one.texts is not None:
            return one.texts.target, (failing_nodes(one.texts),)
        target, nodes = self.reported[one.key]
        these = template(ROLE, "these")
        return target, [
            these.fragment(nodes=[ox.NamedNode(node) for node in batch]) for batch in batches(nodes)
        ]

    def _begun(self, rules: Rules, compile_: Compile) -> tuple[Layout, Probed, Compiled]:
        """Probe the endpoint, and compile for it what says who fails."""
        layout = self._layout()
        probed = probe(self.asking, dialect_of(self.asking))
        self.notices += notices(probed, self.named.host)
        store = EndpointStore(self.asking, known(self.asking, rules, self.notices))
        compiled = compile_(Graph(store, (), "", 0, 0), _Counts(self.pages, self.asking))
        self.notices += compiled.notices
        self.notices += [
            f"{label(one)}: which nodes reach {one.at.value} is told here; by how much the "
            "means of its numbers differ is not, for these are not asked of an endpoint."
            for one in compiled.constraints
            if one.at is not None
        ]
        self.refused += [
            f"{label(one)}: {one.reason}, and no endpoint can be asked that; it is passed over."
            for one in compiled.fallback
        ]
        return layout, probed, compiled

    def estimate(self, rules: Rules, compile_: Compile) -> Estimate:
        """Count who fails, take what lies around a few of these, and estimate the rest."""
        layout, probed, compiled = self._begun(rules, compile_)
        failing: dict[str, tuple[int, int]] = {}
        members, few = 0, set[str]()
        for constraint in compiled.constraints:
            spelled, why = self._spelled(constraint, probed)
            if why is None:
                bad, _ = self._bad(spelled, _FEW, _said(compiled, constraint))
                if bad.total:
                    population = constraint.population or bad.total
                    failing[constraint.label] = (bad.total, population)
                    taken = min(bad.total, self.named.cap)
                    members += min(population, taken + self._wanted(taken))
                    few.update(bad.nodes)
        before = replace(self.asking.asked)
        around = Neighbourhood(self.asking, layout, self.seed)
        around.take(few, self.named.hops)
        spent = self.asking.asked
        around_few = spent.queries - before.queries
        each = (spent.bytes - before.bytes) / max(1, len(few))
        return Estimate(
            probed.dialect.name,
            failing,
            members,
            round(before.queries + 3 * len(failing) + around_few * (1 + members / BATCH)),
            round(before.bytes + each * members),
            spent.queries,
            tuple(self.refused),
            tuple(self.notices),
        )

    def _layout(self) -> Layout:
        """Find out how the endpoint keeps its graphs, and have it merge them where it does not."""
        own = template(ROLE, "named-graphs")
        plain = self.asking.count(own.render("plain"))
        rows = self.asking.select(own.render("one"))
        if not rows and not plain:
            of = f" in {', '.join(self.named.graphs)}" if self.named.graphs else ""
            raise GraphError(f"{self.named.address}: there are no statements{of}.")
        if not rows:
            return Layout(named=False)
        if self.asking.graphs:
            return Layout(named=True, covered=True)
        one = {
            name: term
            for name in ("subject", "property", "value")
            if isinstance(term := rows[0][name], ox.NamedNode)
        }
        merged = own.render("merged", **one)
        if self.asking.count(merged):
            return Layout(named=True)
        union = dialect_of(self.asking).union
        if union is not None:
            self.asking.union = union
            if self.asking.count(merged):
                return Layout(named=True)
            self.asking.union = None
        graphs = self.asking.nodes(own.render("graphs"), "graph")
        if not plain and len(graphs) <= _GRAPHS:
            self.asking.graphs = tuple(sorted(graph.value for graph in graphs))
            return Layout(named=True, covered=True)
        if not plain:
            raise GraphError(
                f"{self.named.address}: the default graph is empty, and there are more than "
                f"{_GRAPHS} named graphs; name those to look at with --graph IRI, or have the "
                "server make the union of all its default graph."
            )
        self.notices.append(
            f"{self.named.address}: the default graph does not hold what the named graphs hold, "
            "and only the default graph is looked at; name graphs with --graph IRI to look at them."
        )
        return Layout(named=False)

    def _asked(
        self, constraint: Constraint, probed: Probed, reported: AbstractSet[str] | None
    ) -> Asked | None:
        """Ask who is looked at and who fails; None where that cannot be asked here."""
        spelled, why = self._spelled(constraint, probed)
        if why is None:
            try:
                return self._drawn(replace(constraint, portable=spelled), reported)
            except SourceError as error:
                if not self.asking.goes_on_after(error):
                    raise
                why = f"{error} It is passed over."
        self.refused.append(f"{constraint.label}: {why}")
        return None

    def _spelled(self, constraint: Constraint, probed: Probed) -> tuple[Texts, str | None]:
        """Return the texts that can be asked here, and why they cannot, where that is so."""
        if self.classes is None:
            self.classes = ClassLists(self.asking, probed.dialect)
        spelled = self.classes.texts(probed.spelled(constraint.portable))
        return spelled, probed.refuses(spelled)

    def _bad(
        self, texts: Texts, most: int, reported: AbstractSet[str] | None
    ) -> tuple[Listed, Listed]:
        """Return failing nodes, `most` at most, and as many of them as are known.

        Those that a report names fail where they are looked at at the endpoint.
        """
        if reported is None:
            bad = self.pages.sample(_failing(texts), most)
            return bad, bad
        there: set[str] = set()
        for batch in batches(sorted(reported)):
            query = template(ROLE, "among-target").render(
                nodes=[ox.NamedNode(one) for one in batch], target=texts.target
            )
            there.update(node.value for node in self.asking.nodes(query, "focus"))
        ordered = sorted(there, key=lambda iri: digest(self.pages.seed, iri))
        known_ = Listed(len(ordered), tuple(ordered))
        return replace(known_, nodes=known_.nodes[:most]), known_

    def _drawn(self, constraint: Constraint, reported: AbstractSet[str] | None) -> Asked:
        """Draw failing and passing nodes; all of them where that is not too many."""
        texts = constraint.portable
        bad, known_ = self._bad(texts, self.named.cap, reported)
        population = constraint.population or 0
        if reported is not None and bad.total < len(reported):
            gone = f"{len(reported) - bad.total:,} of {len(reported):,}"
            self.notices.append(
                f"{constraint.label}: {gone} nodes that fail by the report are not among those "
                f"that are looked at at {self.named.host}; they are passed over."
            )
        if reported is not None:
            self.reported[constraint.key] = texts.target, known_.nodes
        if not bad.total:
            return Asked(constraint.key, population, 0)
        wanted = self._wanted(len(bad.nodes))
        if bad.whole and population - bad.total <= wanted:
            members, rule = self._whole(texts.target), ALL
            population = len(members)
        else:
            besides = Besides(_failing(texts), known_)
            good = self.pages.sample(Plain(texts.target), wanted, besides=besides)
            members = (*bad.nodes, *good.nodes)
            population = bad.total + good.total
            rule = _RULE.format(cap=self.named.cap, ratio=self.named.ratio, whole=_WHOLE)
        members = tuple(sorted(members))
        name = hashlib.sha256("\n".join(members).encode()).hexdigest()[:16]
        self.lists.setdefault(name, members)
        if not set(bad.nodes) <= set(members):
            raise GraphError(
                f"{self.named.host}: nodes fail {constraint.label} that are not looked at; the "
                "data change while they are read."
            )
        made = Asked(constraint.key, population, bad.total, name, tuple(sorted(bad.nodes)), rule)
        return made if reported is not None else made.by(texts)

    def _wanted(self, failing: int) -> int:
        """Return how many passing nodes are taken beside so many failing ones, at most."""
        return max(self.named.ratio * failing, _WHOLE - failing)

    def _whole(self, target: Fragment) -> tuple[str, ...]:
        """Return all nodes of a target, asked once for all constraints that share it."""
        if target.text not in self.wholes:
            self.wholes[target.text] = self.pages.sample(Plain(target), _NO_LIMIT)
        return self.wholes[target.text].nodes


def _nothing(address: str) -> str:
    """Return what stands for an extract where nothing fails: that there is the endpoint."""
    there = ox.NamedNode(address)
    return f"{ox.Quad(there, _ENDPOINT, there)} .\n"


def _said(compiled: Compiled, constraint: Constraint) -> AbstractSet[str] | None:
    """Return the nodes that fail by a report; None where there is none."""
    said = compiled.reported.get(constraint.key)
    if said is None:
        return None
    return {node.value for node in said.failing if isinstance(node, ox.NamedNode)}


def _failing(texts: Texts) -> Nodes:
    """Return the nodes that fail by some texts, which are asked for in pages."""
    every = failing_nodes(texts)
    return Plain(every) if texts.whole else Checked(every, texts.target, texts.violation)


def failing_nodes(
    texts: Texts, region: Fragment | None = None, *, tested: bool = False
) -> Fragment:
    """Return the pattern of the nodes that fail by some texts, as any engine is asked.

    Only those in a region are checked, where there is one and the target stands by itself; each of
    them is `tested` for the target, or they are joined with all that have it.
    """
    target = Fragment("") if texts.whole else texts.target
    if region is not None:
        target = template(ROLE, "in-region").fragment(
            region=region, target=target, tested=tested and bool(target.text)
        )
    return template(ROLE, "failing-nodes").fragment(target=target, violation=texts.violation)
