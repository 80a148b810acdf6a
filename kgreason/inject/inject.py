"""Inject one fault: choose a constraint and a region, do the damage, and keep what is true."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Value
from kgreason.base.terms import TYPE
from kgreason.inject import conditions as levels
from kgreason.inject import dimensions, hard, nulls
from kgreason.inject.base_graph import BaseGraph
from kgreason.inject.corrupt import SHAPES_GRAPH, Unfit, corrupt, fits, parameters, words
from kgreason.inject.designs import NONE, ORIGINAL, REGIONS, Design, operations
from kgreason.inject.fault import (
    NODE_SHAPE,
    PROPERTY_SHAPE,
    Cause,
    Level,
    Target,
    Truth,
    draws,
)
from kgreason.inject.site import Site

_TARGETS: Final = 6
_LEAST: Final = 40
_STRONG: Final = (0.03, 0.4)
_WEAK: Final = (30, 100)
_HALF: Final = (0.15, 0.6)
_TWIN: Final = 0.98
_AGREE: Final = 0.97


def inject(base: BaseGraph, targets: Sequence[Target], design: Design, seed: int) -> Truth:
    """Inject a fault into a graph, whose store is changed; raises Unfit where it has no place."""
    rng = draws(base.name, design.name, seed)
    sites = list(_sites(base, targets, design, rng))
    if not sites:
        raise Unfit("no constraint of the clean data can be broken in this way")
    if design.null:
        return _first(sites, lambda site: _null(site, design))
    if not design.forms:
        return _first(sites, _mechanism)
    for site in sites:
        regions = _regions(site, design)
        if regions:
            return _corrupt_regions(site, design, regions)
    if design.hard:
        raise Unfit("no region of this form and of the right size was found")
    site = _with_dimensions(max(sites, key=lambda p: p.size), design)
    regions = _regions(site, design)
    if not regions:
        raise Unfit("no region of the right size was found")
    return _corrupt_regions(site, design, regions)


def _sites(
    base: BaseGraph, targets: Sequence[Target], design: Design, rng: Random
) -> Iterator[Site]:
    """Return some constraints to break, each with an operation, in an order drawn by lot.

    Classes are drawn first, so that one with many properties is not drawn more often. Constraints
    without a failure in the clean data are taken where there are any.
    """
    every = operations()
    if design.operation:
        usable = [every[design.operation]]
    elif design.null:
        usable = [every["drop"]]
    else:
        usable = [o for o in every.values() if o.header["cause"] == ORIGINAL]
    tables = {table.cls: table for table in base.tables}
    fitting = {
        o.name: [t for t in targets if fits(o, t, tables[t.cls], base.store)] for o in usable
    }
    sound = {name: [t for t in found if t.failing == 0] for name, found in fitting.items()}
    if not any(sound.values()) and not design.null:
        sound = fitting
    names = [name for name, found in sound.items() if found]
    if not names:
        return
    operation = every[rng.choice(names)]
    left = sound[operation.name]
    classes = sorted({t.cls for t in left}, key=lambda c: c.value)
    rng.shuffle(classes)
    for turn in range(_TARGETS):
        for cls in classes[: _TARGETS - turn]:
            own = [t for t in left if t.cls == cls]
            if own:
                chosen = rng.choice(own)
                left.remove(chosen)
                yield Site(base, tables[cls], chosen, operation, rng)


def _with_dimensions(site: Site, design: Design) -> Site:
    wanted = [f for f in design.forms if f not in {"any", "conjunction"}] or ["cohort", "source"]
    for form in wanted:
        site.table = dimensions.add_dimension(
            site.base.store, site.table, form, site.rng, weak=design.weak
        )
        site.added += (form,)
    return site


def _regions(site: Site, design: Design) -> list[Level]:
    """Draw one region for each cause; nothing where there is none of the right size."""
    known = levels.levels(site.table, site.target.path)
    out: list[Level] = []
    for form in design.forms:
        forms = [form] if form != "any" else site.rng.sample(REGIONS, len(REGIONS))
        for each in forms:
            found = _region(site, each, known, out, weak=design.weak)
            if found is not None:
                out.append(found)
                break
        else:
            return []
    return out


def _region(
    site: Site, form: str, known: Sequence[Level], taken: Sequence[Level], *, weak: bool
) -> Level | None:
    low, high = _bounds(site.size, weak=weak)
    if form in hard.FORMS:
        return hard.FORMS[form](site, low, high)
    if form == "conjunction":
        return _conjunction(site, known, low, high)
    if form == "drift":
        found = levels.since(site.table, site.target.path, site.rng, low, high)
        usable = [found] if found else []
    else:
        usable = [v for v in known if v.form == form and low <= len(v.nodes) <= high]
    usable = [v for v in usable if all(_apart(v, other) for other in taken)]
    dimensions = sorted({v.dimension for v in usable})
    if not dimensions:
        return None
    dimension = site.rng.choice(dimensions)
    return site.rng.choice([v for v in usable if v.dimension == dimension])


def _bounds(size: int, *, weak: bool) -> tuple[int, int]:
    if weak:
        return _WEAK
    return max(_LEAST, math.ceil(_STRONG[0] * size)), math.floor(_STRONG[1] * size)


def _apart(one: Level, other: Level) -> bool:
    shared = len(one.nodes & other.nodes)
    return one.dimension != other.dimension and shared < min(len(one.nodes), len(other.nodes)) / 2


def _conjunction(site: Site, known: Sequence[Level], low: int, high: int) -> Level | None:
    parts = [v for v in known if _HALF[0] <= len(v.nodes) / site.size <= _HALF[1]]
    for _ in range(200):
        if len({v.dimension for v in parts}) < 2:  # noqa: PLR2004 - it takes two to join
            return None
        one, other = site.rng.sample(parts, 2)
        both = one.nodes & other.nodes
        # Else one of the two conditions alone describes (nearly) the same nodes.
        told_apart = len(both) <= 0.75 * min(len(one.nodes), len(other.nodes))
        if one.dimension != other.dimension and low <= len(both) <= high and told_apart:
            condition = f"{one.condition} {other.condition.replace('?g ', '?h ')}"
            dimension = f"{one.dimension} and {other.dimension}"
            level = f"{one.level} and {other.level}"
            many = one.levels * other.levels
            kinds = frozenset({one.kind, other.kind})
            return Level("cohort", "conjunction", dimension, level, condition, both, many, kinds)
    return None


def _corrupt_regions(site: Site, design: Design, regions: Sequence[Level]) -> Truth:
    rng = site.rng
    low, high = (0.15, 0.4) if design.weak else (0.6, 1.0)
    background = rng.choice((0.0, rng.uniform(0.0, 0.03)))
    corrupted: set[int] = set()
    causes = []
    for region in regions:
        severity = rng.uniform(low, high)
        hit = {place for place in sorted(region.nodes) if rng.random() < severity}
        corrupted |= hit
        cause = _cause(site, region, hit, severity)
        if design.hard:
            cause = replace(cause, twins=cause.twins | hard.twins(site, region.nodes))
        causes.append(cause)
    corrupted |= {place for place in range(site.size) if rng.random() < background}
    added, decoy = site.added, frozenset[ox.NamedNode]()
    if design.proxy:
        store, meant = site.base.store, regions[0].nodes
        decoy = _nodes(site, dimensions.proxy(store, site.table, meant, _AGREE, rng))
        added += ("proxy",)
    values = parameters(site.operation, site.target, site.table, rng)
    nodes = [site.table.nodes[place] for place in sorted(corrupted)]
    _corrupt(site, nodes, values)
    kinds = words(site.operation, "cause")
    if kinds != [ORIGINAL]:  # the mechanism tells of the cause as well as its region does
        own = frozenset(nodes)
        causes = [replace(c, twins=c.twins | set(kinds), also=(own,)) for c in causes]
    return replace(_truth(site, causes, background, added), decoy=decoy)


def _cause(site: Site, region: Level, hit: set[int], severity: float) -> Cause:
    twins = frozenset(
        other.kind
        for other in levels.levels(site.table, site.target.path)
        if len(other.nodes & region.nodes) >= _TWIN * len(other.nodes | region.nodes)
    )
    return Cause(
        region.kind,
        twins | region.kinds | {region.kind},
        region.condition,
        _nodes(site, region.nodes),
        _nodes(site, hit),
        region.levels,
        severity,
    )


def _nodes(site: Site, places: set[int] | frozenset[int]) -> frozenset[ox.NamedNode]:
    return frozenset(site.table.nodes[place] for place in places)


def _truth(site: Site, causes: Sequence[Cause], background: float, added: tuple[str, ...]) -> Truth:
    shape = NODE_SHAPE if site.target.component == "Closed" else PROPERTY_SHAPE
    return Truth(
        site.target,
        tuple(causes),
        (site.operation.name,),
        background,
        frozenset(site.table.nodes),
        added,
        shape.value,
    )


def _null(site: Site, design: Design) -> Truth:
    rng = site.rng
    rate = rng.uniform(0.02, 0.08)
    chances = nulls.chances(site, design.null or "independent", rate)
    nodes = [
        n for n, chance in zip(site.table.nodes, chances, strict=True) if rng.random() < chance
    ]
    values = parameters(site.operation, site.target, site.table, rng)
    _corrupt(site, nodes, values)
    return _truth(site, [], sum(chances) / site.size, site.added)


def _first(sites: Sequence[Site], made: Callable[[Site], Truth]) -> Truth:
    """Return what is made of the first site that is fit for it; raises Unfit where none is."""
    for site in sites:
        try:
            return made(site)
        except Unfit as error:
            why = error
    raise why


def _mechanism(site: Site) -> Truth:
    return _by_mechanism(site, parameters(site.operation, site.target, site.table, site.rng))


def _by_mechanism(site: Site, values: dict[str, Value]) -> Truth:
    changed = words(site.operation, "corrupts")[0]
    if changed == "shape":
        return _by_shape(site, values)
    places, nodes = (
        _corrupted_values(site) if changed == "value" else _corrupted_nodes(site, values)
    )
    closed = words(site.operation, "components") == ["Closed"]
    if closed:
        site.target = replace(site.target, component="Closed")
    _corrupt(site, nodes, values)
    focus = _nodes(site, places)
    kinds = [kind for kind in words(site.operation, "cause") if kind != NONE]
    about = "properties that are not listed" if closed else site.target.path
    told = f"{site.operation.header['title']}: {about}"
    also = _by_property(site, focus) if closed else ()
    cause = Cause(kinds[0], frozenset(kinds), told, focus, focus, also=also)
    silence = NONE in words(site.operation, "cause")
    return replace(_truth(site, [cause], 0.0, site.added), silence=silence)


def _by_property(site: Site, nodes: frozenset[ox.NamedNode]) -> tuple[frozenset[ox.NamedNode], ...]:
    """Return the corrupted nodes of each property that was not there before."""
    groups: dict[ox.NamedNode, set[ox.NamedNode]] = {}
    for node in nodes:
        for quad in site.base.store.quads_for_pattern(node, None, None, None):
            if quad.predicate not in site.table.values:
                groups.setdefault(quad.predicate, set()).add(node)
    return tuple(frozenset(groups[name]) for name in sorted(groups, key=str))


def _by_shape(site: Site, values: dict[str, Value]) -> Truth:
    nodes, about = frozenset(site.table.nodes), site.target.path
    if words(site.operation, "components") == ["Closed"]:
        listed = values["listed"]
        known = set(listed) if isinstance(listed, list) else set()
        (about,) = set(site.table.values) - known - {TYPE}
        nodes = _nodes(site, set(site.table.values[about]))
        site.target = replace(site.target, component="Closed")
    _corrupt(site, (), values)
    kind = words(site.operation, "cause")[0]
    told = f"{site.operation.header['title']}: {about}"
    cause = Cause(kind, frozenset({kind}), told, nodes, nodes)
    return _truth(site, [cause], 0.0, site.added)


def _corrupt(site: Site, nodes: Iterable[ox.NamedNode], values: dict[str, Value]) -> None:
    store = site.base.store
    triples = site.target.shapes()
    store.extend(ox.Quad(t.subject, t.predicate, t.object, SHAPES_GRAPH) for t in triples)
    corrupt(store, site.operation, nodes, values)


def _share(site: Site) -> list[float]:
    """Draw how likely each node is corrupted: alike, or each graph with a rate of its own."""
    share = site.rng.uniform(0.05, 0.5)
    if site.rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [share] * site.size
    rates: dict[str, float] = {}
    out = []
    for place in range(site.size):
        graph = min(g.value for g in site.table.graphs[place])
        if graph not in rates:
            rates[graph] = min(0.9, share * site.rng.uniform(0, 2))
        out.append(rates[graph])
    return out


def _corrupted_nodes(site: Site, values: dict[str, Value]) -> tuple[set[int], list[ox.NamedNode]]:
    """Draw nodes that hold the property, and are not in the second source if there is one."""
    second = values.get("graph")
    graphs = site.table.graphs
    held = [p for p in site.table.values[site.target.path] if second not in graphs[p]]
    if len(held) < _LEAST:
        raise Unfit("too few nodes could be corrupted")
    chances = _share(site)
    places = {p for p in sorted(held) if site.rng.random() < chances[p]}
    if len(places) < _LEAST:
        places |= set(site.rng.sample(sorted(held), _LEAST))
    return places, [site.table.nodes[place] for place in sorted(places)]


def _corrupted_values(site: Site) -> tuple[set[int], list[ox.NamedNode]]:
    """Corrupt things until enough nodes point at one of them."""
    pointing: dict[ox.NamedNode, set[int]] = {}
    for place, values in site.table.values[site.target.path].items():
        for value, _ in values:
            if isinstance(value, ox.NamedNode):
                pointing.setdefault(value, set()).add(place)
    things = sorted(pointing, key=lambda thing: thing.value)
    site.rng.shuffle(things)
    wanted = max(_LEAST, site.rng.uniform(0.05, 0.5) * site.size)
    places: set[int] = set()
    corrupted = []
    for thing in things:
        if len(places) >= wanted:
            break
        if len(places | pointing[thing]) <= 0.8 * site.size:
            places |= pointing[thing]
            corrupted.append(thing)
    if len(places) < _LEAST:
        raise Unfit("too few nodes point at things that could be corrupted")
    return places, corrupted
