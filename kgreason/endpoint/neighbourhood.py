"""What lies around some nodes on an endpoint, up to some steps away, with its named graphs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyoxigraph as ox

from kgreason.base.fetching import Late, SourceError
from kgreason.base.figures import integer
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Value, template
from kgreason.base.terms import RDFS, TYPE
from kgreason.endpoint.asking_endpoint import (
    AskingEndpoint,
    Inconsistent,
    about_one_query,
    batches,
)
from kgreason.endpoint.paging import ROLE, digest

_LEVELS: Final = 20  # of superclasses
_DEFAULT: Final = ox.DefaultGraph()
_HUB: Final = integer("endpointHub")
_LINKS: Final = integer("endpointLinks")
_SOME: Final = 100  # nodes of each kind of link that are asked what points at them
_OF_CLASSES: Final = frozenset({TYPE.value, RDFS.subClassOf.value})


class Cut(NamedTuple):
    """What was left out: of what node (None: of a whole step), in which direction, how much."""

    node: str | None
    direction: str
    number: int


@dataclass(frozen=True)
class Layout:
    """How an endpoint keeps its graphs: the default graph is what is investigated.

    `named` says that there are named graphs, of which the default graph holds what they hold;
    `covered` that it holds nothing else.
    """

    named: bool
    covered: bool = False


@dataclass
class Neighbourhood:
    """Quads around the nodes that `take` was given, and what was `cut` off."""

    asking: AskingEndpoint
    layout: Layout
    seed: int
    quads: set[ox.Quad] = field(default_factory=set)
    cut: list[Cut] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _answers: int = 0

    def take(self, members: Iterable[str], hops: int) -> None:
        """Take what is said of some nodes, what points at them, and so on; raises SourceError."""
        members = sorted(set(members))
        self._take(members)
        self._linked(members)
        for step in range(1, hops + 1):
            reached = self._some(self._ends(), f"step {step}")
            self._take(reached)
            if step < hops:
                self._behind(reached, frozenset(members), f"step {step}")
        self._take(sorted({q.predicate.value for q in self.quads} - self._seen))
        self._take(sorted(self._imports() - self._seen))
        for _ in range(_LEVELS):
            classes = self._classes() - self._seen
            if not classes:
                break
            self._take(sorted(classes))

    def lines(self) -> Iterator[str]:
        """Return the quads as lines of N-Quads, sorted."""
        yield from sorted(f"{quad} .\n" for quad in self.quads)

    def _ends(self) -> set[str]:
        """Return the nodes that were reached and of which nothing is known yet."""
        ends = (t for q in self.quads for t in (q.subject, q.object))
        return {t.value for t in ends if isinstance(t, ox.NamedNode)} - self._seen

    def _imports(self) -> set[str]:
        """Take which ontologies the data import, a hundred at most; gives these ontologies."""
        own = template(ROLE, "imports")
        parts = ["graphs"] if self.layout.named else []
        parts += [] if self.layout.covered else ["plain"]
        found: set[ox.Quad] = set()
        for part in parts:
            rows = self.asking.select(own.render(part, merged=self.layout.named))
            for row in rows:
                node, link, value = row["node"], row["property"], row["value"]
                if isinstance(node, ox.NamedNode) and isinstance(link, ox.NamedNode):
                    found.add(ox.Quad(node, link, value, _graph(row)))
        self.quads.update(found)
        return {q.object.value for q in found if isinstance(q.object, ox.NamedNode)}

    def _classes(self) -> set[str]:
        return {
            q.object.value
            for q in self.quads
            if q.predicate in {TYPE, RDFS.subClassOf} and isinstance(q.object, ox.NamedNode)
        }

    def _some(self, nodes: set[str], where: str) -> list[str]:
        """Return nodes in a fixed order; where there are too many, a sample of them."""
        most = integer("endpointNodes")
        if len(nodes) > most:
            self.cut.append(Cut(None, where, len(nodes) - most))
            return sorted(nodes, key=lambda iri: digest(self.seed, iri))[:most]
        return sorted(nodes)

    def _take(self, nodes: Sequence[str]) -> None:
        """Take what is said of nodes, but not of one of which too much is said."""
        for batch in batches(nodes):
            self._seen.update(batch)
            query = template(ROLE, "described").render("size", nodes=_terms(batch))
            sizes = {r["node"].value: r for r in self.asking.select(query) if "node" in r}
            counted = {n: (_int(r["named"]), _int(r["blank"])) for n, r in sizes.items()}
            whole = {n: sum(c) for n, c in counted.items()}
            for group in self._grouped(whole, "described", integer("endpointStatements")):
                named = sum(counted[n][0] for n in group)
                self._pull(group, named)
                if any(counted[n][1] for n in group):
                    self._blanks([n for n in group if counted[n][1]])

    def _pull(self, group: Sequence[str], counted: int) -> None:
        found: list[ox.Quad] = []
        for row in self._rows("described", group):
            predicate = row["property"]
            if isinstance(predicate, ox.NamedNode):
                node = ox.NamedNode(row["node"].value)
                found.append(ox.Quad(node, predicate, row["value"], _graph(row)))
        told = len({quad.triple for quad in found})
        if told != counted:
            raise Inconsistent(
                f"{self.asking.named.host} counts {counted:,} statements, but gives {told:,} of "
                "them; its answers are cut without a word, or the data change while they are read."
            )
        self.quads.update(found)

    def _blanks(self, group: Sequence[str]) -> None:
        for row in self._rows("blank-values", group):
            named = self._namer()
            graph = _graph(row)
            steps = (("node", "link", "blank"), ("blank", "property", "value"))
            for subject, predicate, value in (*steps, ("value", "further", "end")):
                if value in row and isinstance(row[predicate], ox.NamedNode):
                    start = named(row[subject])
                    if not isinstance(start, ox.Literal):
                        link = ox.NamedNode(row[predicate].value)
                        self.quads.add(ox.Quad(start, link, named(row[value]), graph))

    def _namer(self) -> Callable[[Term], Term]:
        """Return what gives the blank nodes of one answer names that no other answer has."""
        number = self._answers

        def named(term: Term) -> Term:
            if not isinstance(term, ox.BlankNode):
                return term
            return ox.BlankNode(f"a{number}x{digest(number, term.value)[:16]}")

        return named

    def _behind(self, nodes: Sequence[str], members: AbstractSet[str], where: str) -> None:
        """Take what points at nodes that were reached, but not the other nodes that reach them so.

        These may be all there are: so only properties are followed by which no focus node points,
        and no node at which many of the focus nodes that were taken point.
        """
        often: dict[str, set[str]] = defaultdict(set)
        links: dict[tuple[str, bool], set[str]] = defaultdict(set)
        for quad in self.quads:
            start, end = quad.subject, quad.object
            if isinstance(start, ox.NamedNode) and isinstance(end, ox.NamedNode):
                if start.value in members:
                    links[quad.predicate.value, True].add(end.value)
                    often[end.value].add(start.value)
                elif end.value in members:
                    links[quad.predicate.value, False].add(start.value)
        few = [node for node in nodes if len(often[node]) <= _HUB]
        some = set[str]()
        for ends in links.values():
            ordered = sorted(ends.intersection(few), key=lambda iri: digest(self.seed, iri))
            some.update(ordered[:_SOME])
        from_members = {name for name, forwards in links if forwards}
        try:
            found = self._linking(sorted(some)) - from_members - _OF_CLASSES
            if found:
                self._linked(few, sorted(found), where)
        except SourceError as error:
            if not about_one_query(error) and not isinstance(error, Late):
                raise
            self.cut.append(Cut(None, f"linked at {where}", len(few)))

    def _linking(self, nodes: Sequence[str]) -> set[str]:
        """Return the properties along which something points at nodes."""
        found: set[str] = set()
        for batch in batches(nodes):
            query = template(ROLE, "linking").render(nodes=_terms(batch))
            found.update(one.value for one in self.asking.nodes(query, "property"))
        return found

    def _linked(self, nodes: Sequence[str], links: Sequence[str] = (), where: str = "") -> None:
        """Take what points at nodes, along `links` where given; not at one at which too much does.

        Nodes of a step are counted where they are cut, and not named.
        """
        hub = _LINKS if links else _HUB
        before = len(self.cut)
        for batch in batches(nodes):
            query = template(ROLE, "linked").render(
                "size", nodes=_terms(batch), links=_terms(links)
            )
            sizes = {
                r["node"].value: _int(r["n"]) for r in self.asking.select(query) if "node" in r
            }
            for group in self._grouped(sizes, "linked", hub):
                for row in self._rows("linked", group, links=_terms(links)):
                    other, predicate = row["other"], row["property"]
                    if isinstance(other, ox.NamedNode) and isinstance(predicate, ox.NamedNode):
                        self.quads.add(ox.Quad(other, predicate, row["node"], _graph(row)))
        if links and len(self.cut) > before:
            self.cut[before:] = [Cut(None, f"linked at {where}", len(self.cut) - before)]

    def _grouped(self, sizes: dict[str, int], direction: str, hub: int) -> Iterator[list[str]]:
        """Return groups of nodes whose answers are not too long; hubs are cut."""
        most = self.asking.page
        group: list[str] = []
        rows = 0
        for node, size in sorted(sizes.items()):
            if size > min(hub, most):
                self.cut.append(Cut(node, direction, size))
                continue
            if group and rows + size > most:
                yield group
                group, rows = [], 0
            group.append(node)
            rows += size
        if group:
            yield group

    def _rows(self, name: str, group: Sequence[str], **more: Value) -> Iterator[Row]:
        """Return the answers for a group from the named graphs, then from the default graph."""
        if self.layout.named:
            self._answers += 1
            yield from self.asking.select(
                template(ROLE, name).render("graphs", nodes=_terms(group), **more)
            )
        if not self.layout.covered:
            self._answers += 1
            text = template(ROLE, name).render(
                "plain", nodes=_terms(group), merged=self.layout.named, **more
            )
            yield from self.asking.select(text)


def _graph(row: Row) -> ox.NamedNode | ox.DefaultGraph:
    graph = row.get("graph")
    return graph if isinstance(graph, ox.NamedNode) else _DEFAULT


def _terms(nodes: Iterable[str]) -> list[ox.NamedNode | ox.Literal | Fragment]:
    return [ox.NamedNode(iri) for iri in nodes]


def _int(term: Term) -> int:
    return int(float(term.value))
