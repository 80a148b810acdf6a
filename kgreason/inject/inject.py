"""Sow one fault: choose a constraint and a region, do the damage, and keep what is true."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import pyoxigraph as ox

from kgreason.base.templates import Template, Value
from kgreason.base.terms import TYPE
from kgreason.inject import conditions as levels
from kgreason.inject import dimensions as decorate
from kgreason.inject.base_graph import Ground
from kgreason.inject.corrupt import SHAPES_GRAPH, Unfit, fits, parameters, strike, words
from kgreason.inject.designs import ORIGINAL, REGIONS, Design, operations
from kgreason.inject.fault import (
    NODE_SHAPE,
    PROPERTY_SHAPE,
    Cause,
    Level,
    Table,
    Target,
    Truth,
    draws,
)

_TARGETS: Final = 6
_LEAST: Final = 40
_STRONG: Final = (0.03, 0.4)
_WEAK: Final = (30, 100)
_HALF: Final = (0.15, 0.6)
_TWIN: Final = 0.98
_AGREE: Final = 0.97
_HIDDEN: Final = (20, 60)


@dataclass
class Plot:
    """Where a fault is being sown."""

    ground: Ground
    table: Table
    target: Target
    operation: Template
    rng: Random
    decoration: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of focus nodes."""
        return len(self.table.nodes)


def sow(ground: Ground, targets: Sequence[Target], design: Design, seed: int) -> Truth:
    """Sow a fault into a graph, whose store is changed; raises Unfit where it has no place."""
    rng = draws(ground.name, design.name, seed)
    plots = list(_plots(ground, targets, design, rng))
    if not plots:
        raise Unfit("no constraint of the clean data can be broken in this way")
    if design.null:
        return _null(plots[0], design)
    if not design.forms:
        return _manner(plots)
    for plot in plots:
        regions = _regions(plot, design)
        if regions:
            return _strike_regions(plot, design, regions)
    plot = _decorated(max(plots, key=lambda p: p.size), design)
    regions = _regions(plot, design)
    if not regions:
        raise Unfit("no region of the right size was found")
    return _strike_regions(plot, design, regions)


def _plots(
    ground: Ground, targets: Sequence[Target], design: Design, rng: Random
) -> Iterator[Plot]:
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
    tables = {table.cls: table for table in ground.tables}
    fitting = {
        o.name: [t for t in targets if fits(o, t, tables[t.cls], ground.store)] for o in usable
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
                yield Plot(ground, tables[cls], chosen, operation, rng)


def _decorated(plot: Plot, design: Design) -> Plot:
    wanted = [f for f in design.forms if f not in {"any", "conjunction"}] or ["cohort", "source"]
    for form in wanted:
        plot.table = decorate.decorate(
            plot.ground.store, plot.table, form, plot.rng, weak=design.weak
        )
        plot.decoration += (form,)
    return plot


def _regions(plot: Plot, design: Design) -> list[Level]:
    """Draw one region for each cause; nothing where there is none of the right size."""
    known = levels.levels(plot.table, plot.target.path)
    out: list[Level] = []
    for form in design.forms:
        forms = [form] if form != "any" else plot.rng.sample(REGIONS, len(REGIONS))
        for each in forms:
            found = _region(plot, each, known, out, weak=design.weak)
            if found is not None:
                out.append(found)
                break
        else:
            return []
    return out


def _region(
    plot: Plot, form: str, known: Sequence[Level], taken: Sequence[Level], *, weak: bool
) -> Level | None:
    low, high = _bounds(plot.size, weak=weak)
    if form == "conjunction":
        return _conjunction(plot, known, low, high)
    if form == "drift":
        found = levels.since(plot.table, plot.target.path, plot.rng, low, high)
        usable = [found] if found else []
    else:
        usable = [v for v in known if v.form == form and low <= len(v.nodes) <= high]
    usable = [v for v in usable if all(_apart(v, other) for other in taken)]
    dimensions = sorted({v.dimension for v in usable})
    if not dimensions:
        return None
    dimension = plot.rng.choice(dimensions)
    return plot.rng.choice([v for v in usable if v.dimension == dimension])


def _bounds(size: int, *, weak: bool) -> tuple[int, int]:
    if weak:
        return _WEAK
    return max(_LEAST, math.ceil(_STRONG[0] * size)), math.floor(_STRONG[1] * size)


def _apart(one: Level, other: Level) -> bool:
    shared = len(one.nodes & other.nodes)
    return one.dimension != other.dimension and shared < min(len(one.nodes), len(other.nodes)) / 2


def _conjunction(plot: Plot, known: Sequence[Level], low: int, high: int) -> Level | None:
    parts = [v for v in known if _HALF[0] <= len(v.nodes) / plot.size <= _HALF[1]]
    for _ in range(200):
        if len({v.dimension for v in parts}) < 2:  # noqa: PLR2004 - it takes two to join
            return None
        one, other = plot.rng.sample(parts, 2)
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


def _strike_regions(plot: Plot, design: Design, regions: Sequence[Level]) -> Truth:
    rng = plot.rng
    low, high = (0.15, 0.4) if design.weak else (0.6, 1.0)
    background = rng.choice((0.0, rng.uniform(0.0, 0.03)))
    struck: set[int] = set()
    causes = []
    for region in regions:
        severity = rng.uniform(low, high)
        hit = {place for place in sorted(region.nodes) if rng.random() < severity}
        struck |= hit
        causes.append(_cause(plot, region, hit, severity))
    struck |= {place for place in range(plot.size) if rng.random() < background}
    decoration, decoy = plot.decoration, frozenset[ox.NamedNode]()
    if design.proxy:
        store, meant = plot.ground.store, regions[0].nodes
        decoy = _nodes(plot, decorate.proxy(store, plot.table, meant, _AGREE, rng))
        decoration += ("proxy",)
    values = parameters(plot.operation, plot.target, plot.table, rng)
    nodes = [plot.table.nodes[place] for place in sorted(struck)]
    _strike(plot, nodes, values)
    return replace(_truth(plot, causes, background, decoration), decoy=decoy)


def _cause(plot: Plot, region: Level, hit: set[int], severity: float) -> Cause:
    twins = frozenset(
        other.kind
        for other in levels.levels(plot.table, plot.target.path)
        if len(other.nodes & region.nodes) >= _TWIN * len(other.nodes | region.nodes)
    )
    return Cause(
        region.kind,
        twins | region.kinds | {region.kind},
        region.condition,
        _nodes(plot, region.nodes),
        _nodes(plot, hit),
        region.levels,
        severity,
    )


def _nodes(plot: Plot, places: set[int] | frozenset[int]) -> frozenset[ox.NamedNode]:
    return frozenset(plot.table.nodes[place] for place in places)


def _truth(
    plot: Plot, causes: Sequence[Cause], background: float, decoration: tuple[str, ...]
) -> Truth:
    shape = NODE_SHAPE if plot.target.component == "Closed" else PROPERTY_SHAPE
    return Truth(
        plot.target,
        tuple(causes),
        (plot.operation.name,),
        background,
        frozenset(plot.table.nodes),
        decoration,
        shape.value,
    )


def _null(plot: Plot, design: Design) -> Truth:
    rng = plot.rng
    rate = rng.uniform(0.02, 0.08)
    chances = [rate] * plot.size
    if design.null == "clustered":
        chances = _clustered(plot, rate)
    nodes = [
        n for n, chance in zip(plot.table.nodes, chances, strict=True) if rng.random() < chance
    ]
    values = parameters(plot.operation, plot.target, plot.table, rng)
    _strike(plot, nodes, values)
    return _truth(plot, [], rate, plot.decoration)


def _clustered(plot: Plot, rate: float) -> list[float]:
    """Return each node its chance: a random intercept (sigma 1) for each hidden batch.

    Batches hold 20 to 60 nodes each, of one graph and of one value of a property drawn by lot.
    """
    rng = plot.rng
    known = levels.levels(plot.table, plot.target.path)
    few = sorted({v.dimension for v in known if v.form == "cohort" and v.levels <= _HIDDEN[0]})
    values = dict.fromkeys(range(plot.size), "")
    if few:
        dimension = rng.choice(few)
        for level in known:
            if level.dimension == dimension:
                values.update(dict.fromkeys(level.nodes, level.level))
    cells: dict[tuple[str, str], list[int]] = {}
    for place in range(plot.size):
        feed = min(g.value for g in plot.table.graphs[place])
        cells.setdefault((feed, values[place]), []).append(place)
    chances = [0.0] * plot.size
    middle = math.log(rate / (1 - rate))
    for _, places in sorted(cells.items()):
        rng.shuffle(places)
        start = 0
        while start < len(places):
            batch = places[start : start + rng.randint(*_HIDDEN)]
            chance = 1 / (1 + math.exp(-(middle + rng.gauss(0, 1))))
            for place in batch:
                chances[place] = chance
            start += len(batch)
    return chances


def _manner(plots: Sequence[Plot]) -> Truth:
    for plot in plots:
        try:
            values = parameters(plot.operation, plot.target, plot.table, plot.rng)
            return _by_manner(plot, values)
        except Unfit as error:
            why = error
    raise why


def _by_manner(plot: Plot, values: dict[str, Value]) -> Truth:
    strikes = words(plot.operation, "strikes")[0]
    if strikes == "shape":
        return _by_shape(plot, values)
    places, nodes = _struck_values(plot) if strikes == "value" else _struck_nodes(plot, values)
    _strike(plot, nodes, values)
    focus = _nodes(plot, places)
    kinds = words(plot.operation, "cause")
    told = f"{plot.operation.header['title']}: {plot.target.path}"
    cause = Cause(kinds[0], frozenset(kinds), told, focus, focus)
    return _truth(plot, [cause], 0.0, plot.decoration)


def _by_shape(plot: Plot, values: dict[str, Value]) -> Truth:
    nodes, about = frozenset(plot.table.nodes), plot.target.path
    if words(plot.operation, "components") == ["Closed"]:
        listed = values["listed"]
        known = set(listed) if isinstance(listed, list) else set()
        (about,) = set(plot.table.values) - known - {TYPE}
        nodes = _nodes(plot, set(plot.table.values[about]))
        plot.target = replace(plot.target, component="Closed")
    _strike(plot, (), values)
    kind = words(plot.operation, "cause")[0]
    told = f"{plot.operation.header['title']}: {about}"
    cause = Cause(kind, frozenset({kind}), told, nodes, nodes)
    return _truth(plot, [cause], 0.0, plot.decoration)


def _strike(plot: Plot, nodes: Iterable[ox.NamedNode], values: dict[str, Value]) -> None:
    store = plot.ground.store
    triples = plot.target.shapes()
    store.extend(ox.Quad(t.subject, t.predicate, t.object, SHAPES_GRAPH) for t in triples)
    strike(store, plot.operation, nodes, values)


def _share(plot: Plot) -> list[float]:
    """Draw how likely each node is struck: alike, or each graph with a rate of its own."""
    share = plot.rng.uniform(0.05, 0.5)
    if plot.rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [share] * plot.size
    rates: dict[str, float] = {}
    out = []
    for place in range(plot.size):
        graph = min(g.value for g in plot.table.graphs[place])
        if graph not in rates:
            rates[graph] = min(0.9, share * plot.rng.uniform(0, 2))
        out.append(rates[graph])
    return out


def _struck_nodes(plot: Plot, values: dict[str, Value]) -> tuple[set[int], list[ox.NamedNode]]:
    """Draw nodes that hold the property, and are not in the second source if there is one."""
    second = values.get("graph")
    graphs = plot.table.graphs
    held = [p for p in plot.table.values[plot.target.path] if second not in graphs[p]]
    if len(held) < _LEAST:
        raise Unfit("too few nodes could be struck")
    chances = _share(plot)
    places = {p for p in sorted(held) if plot.rng.random() < chances[p]}
    if len(places) < _LEAST:
        places |= set(plot.rng.sample(sorted(held), _LEAST))
    return places, [plot.table.nodes[place] for place in sorted(places)]


def _struck_values(plot: Plot) -> tuple[set[int], list[ox.NamedNode]]:
    """Strike things until enough nodes point at one of them."""
    pointing: dict[ox.NamedNode, set[int]] = {}
    for place, values in plot.table.values[plot.target.path].items():
        for value, _ in values:
            if isinstance(value, ox.NamedNode):
                pointing.setdefault(value, set()).add(place)
    things = sorted(pointing, key=lambda thing: thing.value)
    plot.rng.shuffle(things)
    wanted = max(_LEAST, plot.rng.uniform(0.05, 0.5) * plot.size)
    places: set[int] = set()
    struck = []
    for thing in things:
        if len(places) >= wanted:
            break
        if len(places | pointing[thing]) <= 0.8 * plot.size:
            places |= pointing[thing]
            struck.append(thing)
    if len(places) < _LEAST:
        raise Unfit("too few nodes point at things that could be struck")
    return places, struck
