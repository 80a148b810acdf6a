"""What can be reached from the nodes of a population: tables of (focus, end), each fetched once.

Nothing here depends on who fails, so several symptoms of one population share an atlas.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import pyoxigraph as ox
from pyoxigraph import BlankNode, Literal, NamedNode

from kgreason.base.budget import UNLIMITED, Budget, ask
from kgreason.base.figures import figure, integer
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment, Template, Value, template
from kgreason.base.terms import FORM_PREFIX, FORMS_GRAPH, PREFIXES, TYPE
from kgreason.graph import Graph
from kgreason.graph.graph import exact
from kgreason.graph.marks import Focus, Population, places
from kgreason.hypothesize.conditions.code import LENGTH_BITS, choice
from kgreason.hypothesize.conditions.links import Counted, Links
from kgreason.hypothesize.conditions.paths import LONGEST, MOST, OF_CLASS, Path, Step, kinds
from kgreason.hypothesize.conditions.sampling import Sample

LEAST: Final = integer("conditionNodes")
"""The least number of nodes that a condition must hold to be one that can be said."""
_LEAST_SOURCES: Final = integer("sourceNodes")
_FAN: Final = integer("stepFan")
_ROWS: Final = integer("stepPairs")
_BESIDE: Final = integer("beside")
_THRONG: Final = integer("throng")
_CLASS_SHARE: Final = figure("classShare")


@dataclass(frozen=True)
class Table:
    """What lies at the end of a path: the nodes that reach each end, a bit for each."""

    path: Path
    ends: Mapping[Term, int] = field(repr=False)

    @cached_property
    def some(self) -> int:
        """The nodes that reach anything."""
        return self.at_least[0]

    @cached_property
    def at_least(self) -> tuple[int, int]:
        """The nodes that reach at least one end, and two different ones."""
        one = two = 0
        for mask in self.ends.values():
            two |= one & mask
            one |= mask
        return one, two

    @cached_property
    def by_number(self) -> Mapping[int, int]:
        """The nodes by the number of different ends that they reach; those that reach none aside.

        Counted for all nodes at once, each figure of the binary numbers in a set of its own.
        """
        planes: list[int] = []
        for mask in self.ends.values():
            carry = mask
            for place, plane in enumerate(planes):
                planes[place], carry = plane ^ carry, plane & carry
            if carry:
                planes.append(carry)
        found = {0: self.some}
        for plane in reversed(planes):
            halves = [(2 * n + bit, nodes & (plane if bit else ~plane))
                      for n, nodes in found.items() for bit in (0, 1)]  # fmt: skip
            found = {n: nodes for n, nodes in halves if nodes}
        return found

    @property
    def functional(self) -> bool:
        """Whether no node reaches two ends."""
        return not self.at_least[1]


@dataclass(frozen=True)
class Way:
    """A step that can be taken from a path: how many pairs it has, from how many nodes."""

    step: Step
    pairs: int
    reached: int


@dataclass
class Atlas:
    """The tables of a population, and what could have been looked at in place of each.

    `mark` marks the nodes from which paths start, `nodes` is their set; `links` are what was read
    of the graph for any population. Of a `sample` all sets are in its own numbers; what is not
    `shared` is of no use to another symptom.
    """

    graph: Graph
    population: Population
    mark: NamedNode
    nodes: int
    links: Links
    budget: Budget = UNLIMITED
    sample: Sample | None = None
    shared: bool = False
    _tables: dict[Path, Table] = field(default_factory=dict, repr=False)
    _ways: dict[Path, Sequence[Way]] = field(default_factory=dict, repr=False)
    _above: dict[NamedNode, Mapping[Term, list[Term]]] = field(default_factory=dict, repr=False)
    _closures: dict[tuple[NamedNode, Term], frozenset[Term]] = field(
        default_factory=dict, repr=False
    )
    _pairs: dict[Path, int] = field(default_factory=dict, repr=False)
    _throngs: dict[Path, Sequence[Way]] = field(default_factory=dict, repr=False)
    _numbers: dict[Term, int] = field(default_factory=dict, repr=False)
    cut: dict[Path, Any] = field(default_factory=dict, repr=False)
    units: dict[tuple[Path, int], Any] = field(default_factory=dict, repr=False)

    @property
    def whole(self) -> bool:
        """Whether paths start from every node of the population."""
        return self.sample is None and self.nodes == (1 << len(self.population.nodes)) - 1

    @property
    def order(self) -> Sequence[Focus]:
        """The nodes by their numbers."""
        return self.population.nodes if self.sample is None else self.sample.nodes

    def own(self, mask: int) -> int:
        """Return those of some nodes of the population from which paths start."""
        return mask & self.nodes if self.sample is None else self.sample.own(mask)

    def let_go(self) -> None:
        """Forget what was fetched and cut.

        A cut knows its atlas and the atlas its cuts, a circle that lasts until cycles are looked
        for; that of a large population holds gigabytes.
        """
        paths = (self._tables, self._ways, self._throngs, self.cut, self.units)
        for kept in (*paths, self._closures, self._numbers):
            kept.clear()

    def known(self) -> list[Table]:
        """Return the tables that were fetched."""
        return list(self._tables.values())

    def table(self, path: Path) -> Table:
        """Return the table of a path; its beginning has been fetched before."""
        if path not in self._tables:
            self._tables[path] = Table(path, self._ends(path))
        return self._tables[path]

    def number(self, end: Term) -> int:
        """Return the number of an end, the same on all paths: sets of numbers are compared soon."""
        return self._numbers.setdefault(end, len(self._numbers))

    def pairs(self, path: Path) -> int:
        """Return the number of pairs that a table was made of."""
        return self._pairs.get(path, 0)

    def bits(self, path: Path) -> float:
        """Return what it costs to say a path: its length, and each step among those there were.

        At a blank node, where a step does not count, one bit says whether the path ends there.
        """
        length = self.length(path)
        ends = path in self._tables and self._blank(path)
        spent = LENGTH_BITS[length] + (len(path) - length) + ends
        for place, step in enumerate(path.steps):
            spent += self._chosen(Path(path.steps[:place]), step)
        return spent

    def _chosen(self, before: Path, step: Step) -> float:
        """Return what it costs to say one step of those that can be taken from the end of a path.

        Of which class a thing is comes first to anybody's mind, so that step has a share of its
        own, however many others there are; these share the rest evenly.
        """
        ways = [*self.ways(before), *self.throngs(before)]
        others = [way for way in ways if way.step != OF_CLASS]
        if not others or len(others) == len(ways):
            return choice(len(ways))
        share = max(_CLASS_SHARE, 1 / len(ways))
        return choice(1 / share if step == OF_CLASS else len(others) / (1 - share))

    def ways(self, path: Path) -> Sequence[Way]:
        """Return every step that can be taken from the end of a path, a few nodes' pairs apart."""
        if path not in self._ways:
            self._ways[path] = list(self._found(path)) if self.goes_on(path) else []
        return self._ways[path]

    def throngs(self, path: Path) -> Sequence[Way]:
        """Return the steps to what points at the end of a path in numbers: they alone say anything.

        Such as the nurses of a ward. What they are each like is nothing that a node is linked with.
        """
        if path not in self._throngs:
            # What steps there are is counted where the few of them are looked for.
            key = ("backward", *_key(self._things(path)))
            known = self.links.steps.get(key, ()) if self.ways(path) and path.steps else ()
            ways = (_way("backward", *found) for found in known)
            self._throngs[path] = [
                way
                for way in ways
                if way is not None
                and _BESIDE * way.reached < way.pairs <= min(_THRONG * way.reached, _ROWS)
                and not path.goes_back(way.step)
                and not any(step.kind == "within" for step in path.steps)
            ]
        return self._throngs[path]

    def is_throng(self, path: Path) -> bool:
        """Check whether a path ends with what points at something in numbers."""
        ways = self._throngs.get(path.before, ()) if path.steps else ()
        return any(way.step == path.steps[-1] for way in ways)

    def _things(self, path: Path) -> frozenset[Term]:
        """Return the things at the end of a path, from which steps lead on."""
        return frozenset(end for end in self.table(path).ends if not isinstance(end, Literal))

    def length(self, path: Path) -> int:
        """Return the number of steps of a path, without those that lead to blank nodes alone.

        The last one always counts.
        """
        steps = path.steps
        inner = (Path(steps[:place]) for place in range(1, len(steps)))
        return len(steps) - sum(1 for before in inner if self._blank(before))

    def _blank(self, path: Path) -> bool:
        ends = self.table(path).ends
        return bool(ends) and all(isinstance(end, BlankNode) for end in ends)

    def goes_on(self, path: Path) -> bool:
        """Check whether a path may have one step more; behind a blank node the last was none."""
        length = self.length(path) - (1 if path.steps and self._blank(path) else 0)
        return length < LONGEST and len(path) < MOST

    def _found(self, path: Path) -> list[Way]:
        last = path.steps[-1].kind if path.steps else "none"
        # What is said of a class is said of the schema, and tells no more than the class does.
        if last in {"classes", "properties"} or (path.steps and path.steps[-1].along == TYPE):
            return []
        nodes, out = path.nodes(self.mark), []
        ends = self.table(path).ends
        start = self.nodes.bit_count() if not path.steps else len(ends)
        there = self._things(path)
        here = _key(there)
        for kind in kinds():
            if kind.header["after"] not in {"any", last}:
                continue
            if kind.header["after"] == "source" and start < _LEAST_SOURCES:
                continue
            if not self._occurs(kind):
                continue
            # Which steps there are depends on the nodes alone, however one came there.
            key = (kind.name, *here)
            if key not in self.links.steps:
                self.links.steps[key] = self._counted(kind, nodes, there)
            for found in self.links.steps[key]:
                way = _way(kind.name, *found)
                if way is not None and self._fits(path, way):
                    out.append(way)
        return out

    def _counted(
        self, kind: Template, nodes: Fragment, there: Collection[Term]
    ) -> Sequence[Counted]:
        """Count the steps of a kind that can be taken from some nodes; `nodes` is their pattern."""
        if "named" in kind.sections:
            ask(self.budget, "path")
            return self.links.ways(kind, there)
        rows = self.select(kind.render("steps", nodes=nodes))
        return [(r["step"], int(r["pairs"].value), int(r["reached"].value)) for r in rows if r]

    def _occurs(self, kind: Template) -> bool:
        """Check whether a kind of step occurs anywhere, where its file says how to ask that."""
        known = self.links.occurs
        if kind.name not in known:
            asks = "when" in kind.sections
            known[kind.name] = not asks or self.graph.store.ask(kind.render("when"))
        return known[kind.name]

    def _fits(self, path: Path, way: Way) -> bool:
        """Check whether a step is worth saying at all, whoever fails."""
        wide = way.pairs > max(_ROWS, _FAN * self.nodes.bit_count())
        rare = not path.steps and way.reached < LEAST
        # That there is what is many in a source, as focus nodes are, says nothing; nor do the many
        # things that point at what a node points at, which may be focus nodes, too.
        others = way.step.kind == "within" or (way.step.kind == "backward" and len(path) > 0)
        wide = wide or (others and way.pairs > _BESIDE * way.reached)
        # What points at something else in the source says nothing of the focus node any more.
        astray = way.step.kind == "backward" and any(s.kind == "within" for s in path.steps)
        return not (wide or rare or astray or path.goes_back(way.step))

    def _ends(self, path: Path) -> dict[Term, int]:
        if not path.steps:
            order = self.order
            return {order[place]: 1 << place for place in places(self.nodes)}
        before, step = Path(path.steps[:-1]), path.steps[-1]
        start = self.table(before).ends
        ends: dict[Term, int] = {}
        pairs = self._exact(step, self._followed(before, step, start))
        self._pairs[path] = len(pairs)
        for here, there in pairs:
            mask = start.get(here)
            if mask is not None:
                ends[there] = ends.get(there, 0) | mask
        return ends

    def _followed(
        self, before: Path, step: Step, start: Mapping[Term, int]
    ) -> list[tuple[Term, Term]]:
        """Return the nodes at the end of a path, each with what a step leads to from there."""
        wanted = next((way.pairs for way in self.ways(before) if way.step == step), 0)
        links = self.links.pairs(step, wanted)
        if links is not None:
            ask(self.budget, "path")
            return [
                (here, there)
                for here in start
                if not isinstance(here, Literal)
                for there in links.get(here, ())
            ]
        if "triple" in step.template.header:
            ask(self.budget, "path")
            return self.links.each(step, start)
        given: dict[str, Value] = {"nodes": before.nodes(self.mark)}
        if step.named:
            given["property"] = step.along
        ask(self.budget, "path")
        return self.graph.store.pairs(step.template.render("ends", **given))

    def _exact(self, step: Step, pairs: list[tuple[Term, Term]]) -> list[tuple[Term, Term]]:
        """Put literals in as they were written, where storing has changed them."""
        if step.kind == "backward" or not step.named or step.along not in self.graph.formed:
            return pairs
        marked = ox.NamedNode(FORM_PREFIX + step.along.value)
        kept: dict[object, list[Term]] = {}
        for quad in self.graph.store.inner.quads_for_pattern(None, marked, None, FORMS_GRAPH):
            kept.setdefault(quad.subject, []).append(exact(quad.object))
        out = [pair for pair in pairs if pair[0] not in kept]
        out += [(here, form) for here in {h for h, _ in pairs if h in kept} for form in kept[here]]
        return out

    def above(self, relation: NamedNode) -> Mapping[Term, list[Term]]:
        """Return what stands directly above each class or concept."""
        if relation not in self._above:
            text = template("path", "forward").render("ends", nodes=Fragment(""), property=relation)
            out: dict[Term, list[Term]] = {}
            for row in self.select(text):
                if isinstance(row["there"], NamedNode):
                    out.setdefault(row["here"], []).append(row["there"])
            self._above[relation] = out
        return self._above[relation]

    def all_above(self, relation: NamedNode, end: Term) -> frozenset[Term]:
        """Return what stands above a class or concept, however many steps."""
        if (relation, end) not in self._closures:
            above = self.above(relation)
            seen, todo = set[Term](), [end]
            while todo:
                for upper in above.get(todo.pop(), ()):
                    if upper not in seen:
                        seen.add(upper)
                        todo.append(upper)
            self._closures[relation, end] = frozenset(seen)
        return self._closures[relation, end]

    def select(self, text: str) -> Sequence[Row]:
        """Ask the graph; raises Spent where the budget allows no more."""
        ask(self.budget, "path")
        return self.graph.store.select(text)


def _key(things: frozenset[Term]) -> tuple[int, int]:
    """Return what stands for a set of things, which would be kept for each path."""
    return len(things), hash(things)


def _way(kind: str, property_: Term, pairs: int, reached: int) -> Way | None:
    if not isinstance(property_, NamedNode) or not pairs:
        return None
    if kind == "backward" and property_ == TYPE:
        return None
    return Way(Step(kind, property_), pairs, reached)


RELATIONS: Final = (
    NamedNode(PREFIXES["rdfs"] + "subClassOf"),
    NamedNode(PREFIXES["skos"] + "broader"),
)
"""What leads from a class or concept to those above it."""
