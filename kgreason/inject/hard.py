"""Regions that are hard to find: far away, cut out of numbers, dates and texts, or of three parts.

Each finder gives one region of `low` to `high` nodes, or None where the graph has none. A region
far away is none that a shorter path tells of as well.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.store import Term
from kgreason.base.terms import TYPE
from kgreason.inject import conditions as levels
from kgreason.inject.conditions import DATE, ORIGINS
from kgreason.inject.dimensions import VOCABULARY
from kgreason.inject.fault import ALIKE, Level
from kgreason.inject.reached import Reached, reached
from kgreason.inject.site import Site
from kgreason.inject.true_constraints import NUMBERS

Finder = Callable[[Site, int, int], Level | None]

_WAYS: Final = 3
_TWIN: Final = 0.98
_COVERED: Final = 0.9
_CUTS: Final = 10
_APART: Final = 3
_PART: Final = (0.25, 0.75)
_TRIES: Final = 300
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")
_SHARED: Final = 5
_RUN: Final = 15
_SOURCES: Final = 10
_WRONG: Final = ("Ã©", "Ã¼", "Ã¶", "â€“", "Ã±")  # UTF-8 read as Windows-1252
_MARKED: Final = '"[ÃÂâ][^ ]"'


def _all(site: Site, longest: int) -> list[Reached]:
    return list(reached(site.base.store, site.table, site.target.path, longest))


def _drawn(site: Site, found: Iterable[Level]) -> Level | None:
    """Draw a dimension first, then one of its levels, so that large dimensions are not favoured."""
    by: dict[str, list[Level]] = defaultdict(list)
    for level in found:
        by[level.dimension].append(level)
    if not by:
        return None
    return site.rng.choice(by[site.rng.choice(sorted(by))])


def _shorter(site: Site, paths: Iterable[Reached], steps: int) -> Callable[[frozenset[int]], bool]:
    """Return a check whether a path of fewer steps, or a class or graph, tells much the same."""
    known = [places for p in paths if len(p.steps) < steps for places in p.ends.values()]
    known += [level.nodes for level in levels.levels(site.table, site.target.path, covered=0.0)]
    known = [places for places in known if len(places) > 1]

    def same(nodes: frozenset[int]) -> bool:
        return any(len(nodes & k) >= ALIKE * len(nodes | k) for k in known)

    return same


def _told(path: Reached, end: Term) -> str:
    return path.condition("?x").replace("?x .", f"{end} .")


def _far(steps: Sequence[int], *, origin: bool) -> Finder:
    """Return a finder of what is one thing so many steps away."""

    def find(site: Site, low: int, high: int) -> Level | None:
        paths = _all(site, max(steps))
        same = _shorter(site, paths, min(steps))
        form = "far"
        return _drawn(
            site,
            (
                Level(p.kind, form, p.path, str(end), _told(p, end), places, len(p.ends))
                for p in paths
                if len(p.steps) in steps and p.origin == origin
                for end, places in p.ends.items()
                if low <= len(places) <= high and _one_thing(end)
                if p.ways[end] >= _WAYS and not same(places)
            ),
        )

    return find


def _one_thing(end: Term) -> bool:
    """Check whether an end is one of a kind, and no measured number and no date."""
    measured = (_number(end) or 0) % 1 or _date(end)
    return not isinstance(end, ox.BlankNode) and not measured


def _number(end: Term) -> float | None:
    if not isinstance(end, ox.Literal) or end.datatype not in NUMBERS:
        return None
    try:
        return float(end.value)
    except ValueError:
        return None


def _date(end: Term) -> str | None:
    dated = isinstance(end, ox.Literal) and DATE.fullmatch(end.value)
    return end.value if dated and isinstance(end, ox.Literal) else None


Ordered = list[tuple[Term, frozenset[int]]]


def _ordered(
    site: Site, of: Callable[[Term], float | str | None]
) -> Iterator[tuple[Reached, Ordered]]:
    """Return the paths of up to two steps whose ends can be put in order, with these in order."""
    for path in _all(site, 2):
        keys = {end: of(end) for end in path.ends}
        usable = [end for end in path.ends if keys[end] is not None]
        covered = frozenset[int]().union(*(path.ends[end] for end in usable))
        if len(usable) < _CUTS or len(covered) < _COVERED * site.size:
            continue
        try:
            # Keys of one path are all numbers or all texts, which mypy cannot know; others raise.
            usable.sort(key=lambda end: keys[end])  # type: ignore[arg-type, return-value]
        except TypeError:
            continue
        yield path, [(end, path.ends[end]) for end in usable]


def _cuts(
    ordered: Ordered, low: int, high: int, kind: str
) -> list[tuple[int, int, frozenset[int]]]:
    """Return the runs of ends that hold so many nodes: to either side of a bound, or between."""
    last = len(ordered)
    if last < 2 * _APART:
        return []
    inner = range(_APART, last - _APART + 1)
    spans: Iterable[tuple[int, int]]
    if kind == "bound":
        spans = [*((cut, last) for cut in inner), *((0, cut) for cut in inner)]
    else:
        some = inner[:: max(1, last // 40)]
        spans = ((a, b) for a, b in itertools.combinations(some, 2) if b - a >= _APART)
    out = []
    for begin, end in spans:
        nodes = frozenset[int]().union(*(places for _, places in ordered[begin:end]))
        if low <= len(nodes) <= high:
            out.append((begin, end, nodes))
    return out


def _cut(kind: str, of: Callable[[Term], float | str | None]) -> Finder:
    """Return a finder of nodes on one side of a bound, or between two, of numbers or dates."""

    def find(site: Site, low: int, high: int) -> Level | None:
        found = []
        for path, ordered in _ordered(site, of):
            for begin, end, nodes in _cuts(ordered, low, high, kind):
                first = ordered[begin][0] if begin else None
                final = ordered[end - 1][0] if end < len(ordered) else None
                found.append((path, first, final, nodes, len(ordered)))
        by = sorted({path.path for path, *_ in found})
        if not by:
            return None
        name = site.rng.choice(by)
        path, first, final, nodes, many = site.rng.choice([f for f in found if f[0].path == name])
        tests = [f"?x >= {first}"] * (first is not None) + [f"?x <= {final}"] * (final is not None)
        condition = f"{path.condition('?x')} FILTER ({' && '.join(tests)})"
        dated = of is _date
        kinds = frozenset({"drift", path.kind} if dated and path.origin else ())
        told = "drift" if dated else path.kind
        many = many * 2 if kind == "bound" else many * many // 2
        return Level(told, kind, path.path, " and ".join(tests), condition, nodes, many, kinds)

    return find


def _three(site: Site, low: int, high: int) -> Level | None:
    """Return what meets three conditions, of which none can be left out."""
    parts = [
        Level(p.kind, "far", p.path, str(end), _told(p, end), places, len(p.ends))
        for p in _all(site, 2)
        for end, places in p.ends.items()
        if _PART[0] <= len(places) / site.size <= _PART[1] and _one_thing(end)
    ]
    if len({part.dimension for part in parts}) < 3:  # noqa: PLR2004 - as many as are joined
        return None
    for _ in range(_TRIES):
        three = site.rng.sample(parts, 3)
        nodes = three[0].nodes & three[1].nodes & three[2].nodes
        pairs = [a.nodes & b.nodes for a, b in itertools.combinations(three, 2)]
        needed = all(len(nodes) <= _PART[1] * len(pair) for pair in pairs)
        if low <= len(nodes) <= high and needed and len({p.dimension for p in three}) == len(three):
            renamed = (re.sub(r"\?x", f"?x{n}_", p.condition) for n, p in enumerate(three))
            return Level(
                "cohort",
                "conjunction",
                " and ".join(p.dimension for p in three),
                " and ".join(p.level for p in three),
                " ".join(renamed),
                nodes,
                three[0].levels * three[1].levels * three[2].levels,
                frozenset(p.kind for p in three),
            )
    return None


def _pieces(texts: Mapping[str, frozenset[int]]) -> Iterator[tuple[str, frozenset[int]]]:
    """Return the words that several texts hold, each with the places of the texts that do."""
    words = sorted({word for text in texts for word in _WORDS.findall(text)})
    for word in words:
        holding = [places for text, places in texts.items() if word in text]
        if len(holding) >= _SHARED:
            yield word, frozenset[int]().union(*holding)


def _in_value(site: Site, low: int, high: int) -> Level | None:
    """Return the nodes that have a word in a text, of their own or of what they point at."""
    found = []
    for path in _all(site, 2):
        texts = {e.value: n for e, n in path.ends.items() if isinstance(e, ox.Literal)}
        for word, nodes in _pieces(texts):
            test = f"FILTER (CONTAINS(STR(?x), {ox.Literal(word)}))"
            if low <= len(nodes) <= high:
                told = f"{path.condition('?x')} {test}"
                found.append(Level(path.kind, "text", path.path, word, told, nodes, len(texts)))
    return _drawn(site, found)


def _in_iri(site: Site, low: int, high: int) -> Level | None:
    """Return the nodes that have a word in their own IRI."""
    texts = {node.value: frozenset({place}) for place, node in enumerate(site.table.nodes)}
    pattern = f"GRAPH ?g {{ ?focus {TYPE} ?c . }}"
    return _drawn(
        site,
        (
            Level(
                "cohort",
                "text",
                "IRI",
                word,
                f"{pattern} FILTER (CONTAINS(STR(?focus), {ox.Literal(word)}))",
                nodes,
                len(texts),
                frozenset({"source"}),
            )
            for word, nodes in _pieces(texts)
            if low <= len(nodes) <= high
        ),
    )


def _lacks(site: Site, low: int, high: int) -> Level | None:
    """Return the nodes whose named graphs have no node of a class."""
    graphs = sorted({g for held in site.table.graphs.values() for g in held}, key=str)
    if len(graphs) < _SOURCES:
        return None
    members: dict[Term, set[ox.NamedNode]] = defaultdict(set)
    for graph in graphs:
        for quad in site.base.store.quads_for_pattern(None, TYPE, None, graph):
            if isinstance(quad.object, ox.NamedNode) and quad.object != site.table.cls:
                members[quad.object].add(graph)
    found = []
    for cls in sorted(members, key=str):
        nodes = frozenset(p for p, held in site.table.graphs.items() if not held & members[cls])
        lacking = len(graphs) - len(members[cls])
        if low <= len(nodes) <= high and lacking >= _WAYS:
            condition = (
                "GRAPH ?g { ?focus ?p ?o . } "
                f"FILTER NOT EXISTS {{ GRAPH ?g {{ ?other {TYPE} {cls} . }} }}"
            )
            many = len(members)
            found.append(Level("source", "lacks", "sources", str(cls), condition, nodes, many))
    return site.rng.choice(found) if found else None


def _wrongly_decoded(site: Site, low: int, high: int) -> Level | None:
    """Decode a text of some nodes wrongly, and return these nodes."""
    store, rng = site.base.store, site.rng
    names = [
        name
        for name in sorted(site.table.values, key=str)
        if name not in {TYPE, site.target.path}
        and len(site.table.values[name]) >= _COVERED * site.size
        and all(_is_text(v) for vs in site.table.values[name].values() for v, _ in vs)
    ]
    if not names or low > high:
        return None
    name = rng.choice(names)
    held = sorted(site.table.values[name])
    chosen = rng.sample(held, min(len(held), rng.randint(low, high)))
    for place in sorted(chosen):
        for value, graph in site.table.values[name][place]:
            node = site.table.nodes[place]
            old = list(store.quads_for_pattern(node, name, value, graph))
            for quad in old:
                store.remove(quad)
            store.add(ox.Quad(node, name, _broken(value, rng.choice(_WRONG)), graph))
    condition = f"GRAPH ?g {{ ?focus {name} ?x . }} FILTER (REGEX(STR(?x), {_MARKED}))"
    site.added += ("wrong decoding",)
    return Level("cohort", "text", str(name), "decoding", condition, frozenset(chosen), len(names))


def _is_text(value: Term) -> bool:
    return (
        isinstance(value, ox.Literal)
        and bool(_WORDS.search(value.value))
        and (value.language is not None or value.datatype.value.endswith("#string"))
    )


def _broken(value: Term, wrong: str) -> ox.Literal:
    """Return a text with its second letter decoded wrongly, in its language."""
    text = f"{value.value[:1]}{wrong}{value.value[2:]}" if isinstance(value, ox.Literal) else wrong
    language = value.language if isinstance(value, ox.Literal) else None
    return ox.Literal(text, language=language) if language else ox.Literal(text)


def _run_twice(site: Site, low: int, high: int) -> Level | None:
    """State a second origin of all nodes of one, as when an import is run twice."""
    known = levels.levels(site.table, site.target.path)
    least = min(low, _RUN)  # runs are as large as they are
    found = _drawn(site, (v for v in known if v.form == "batch" and least <= len(v.nodes) <= high))
    if found is None:
        return None
    name = next(n for n in sorted(ORIGINS, key=str) if str(n) == found.dimension)
    again = ox.NamedNode(f"{VOCABULARY}run-{site.rng.randrange(1000)}")
    for place in sorted(found.nodes):
        graph = min(site.table.graphs[place], key=lambda g: g.value)
        site.base.store.add(ox.Quad(site.table.nodes[place], name, again, graph))
    site.added += ("second run",)
    return found


def twins(site: Site, nodes: frozenset[int]) -> frozenset[str]:
    """Return the kinds of cause of all paths that tell (nearly) the same nodes by one end."""
    return frozenset(
        path.kind
        for path in _all(site, 3)
        for places in path.ends.values()
        if len(places & nodes) >= _TWIN * len(places | nodes)
    )


FORMS: Final[Mapping[str, Finder]] = {
    "two-steps": _far((2,), origin=False),
    "three-steps": _far((3,), origin=False),
    "activity": _far((2, 3), origin=True),
    "bound": _cut("bound", _number),
    "interval": _cut("interval", _number),
    "window": _cut("interval", _date),
    "three-conditions": _three,
    "text-in-value": _in_value,
    "text-in-iri": _in_iri,
    "source-lacks": _lacks,
    "mis-decoded": _wrongly_decoded,
    "run-twice": _run_twice,
}
"""The hard forms of regions by name."""
