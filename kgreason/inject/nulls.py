"""Nulls: how likely each node is corrupted where there is nothing to be found.

A cluster has a rate of its own (a normal intercept on the logit scale, sigma 1). No condition is
at fault: the clusters differ, and that is all there is to say.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Final

import pyoxigraph as ox

from kgreason.inject import conditions as levels
from kgreason.inject import dimensions
from kgreason.inject.corrupt import Unfit
from kgreason.inject.reached import Reached, reached
from kgreason.inject.site import Site

Clusters = list[list[int]]
"""Places of nodes, cluster by cluster."""

_HIDDEN: Final = (20, 60)
_SIGMA: Final = 1.0
_LEAST: Final = 10
_FEW: Final = (5, 9)
_COVERED: Final = 0.9
_MEAN: Final = 4.0
_ONE: Final = 0.5


def chances(site: Site, null: str, rate: float) -> list[float]:
    """Return each node its chance of being corrupted, 0 to 1; `rate` where its cluster is as usual.

    `null` is how nodes are clustered: `independent`, or a name of CLUSTERED. What a graph lacks is
    added where it can be. Raises Unfit where it cannot.
    """
    if null == "independent":
        return [rate] * site.size
    middle = math.log(rate / (1 - rate))
    pulls = [0.0] * site.size
    for name in CLUSTERED[null].split():
        for places in _hidden(site) if name == "hidden" else _told(site, name):
            pull = site.rng.gauss(0, _SIGMA)
            for place in places:
                pulls[place] += pull
    return [1 / (1 + math.exp(-(middle + pull))) for pull in pulls]


CLUSTERED: Final = {
    "clustered": "hidden",
    "by-document": "document",
    "by-run": "run",
    "by-thing": "thing",
    "by-value": "value",
    "by-day": "day",
    "by-far": "far",
    "by-few": "few",
    "crossed": "document thing",
}
"""The dimensions by whose levels nodes are clustered, for each null."""


def _hidden(site: Site) -> Iterator[list[int]]:
    """Return hidden batches of 20 to 60 nodes, of one graph and of one value of a property."""
    rng = site.rng
    known = levels.levels(site.table, site.target.path)
    few = sorted({v.dimension for v in known if v.form == "cohort" and v.levels <= _HIDDEN[0]})
    values = dict.fromkeys(range(site.size), "")
    if few:
        dimension = rng.choice(few)
        for level in known:
            if level.dimension == dimension:
                values.update(dict.fromkeys(level.nodes, level.level))
    cells: dict[tuple[str, str], list[int]] = {}
    for place in range(site.size):
        feed = min(g.value for g in site.table.graphs[place])
        cells.setdefault((feed, values[place]), []).append(place)
    for _, places in sorted(cells.items()):
        rng.shuffle(places)
        start = 0
        while start < len(places):
            batch = places[start : start + rng.randint(*_HIDDEN)]
            yield batch
            start += len(batch)


def _told(site: Site, name: str) -> Iterable[list[int]]:
    """Draw a dimension of a sort, and return the nodes of each of its levels."""
    found = list(_PARTED[name](site))
    if not found and name in _ADDED:
        store, form = site.base.store, _ADDED[name]
        site.table = dimensions.add_dimension(store, site.table, form, site.rng, weak=True)
        site.added += (form,)
        found = list(_PARTED[name](site))
    if not found:
        raise Unfit(f"no dimension of the sort {name!r} parts the nodes into enough clusters")
    return site.rng.choice(found)


def _usable(
    groups: Iterable[Iterable[int]], size: int, fewest: int = _LEAST, most: int | None = None
) -> Clusters | None:
    """Return groups as clusters that do not overlap, if they are enough and none holds most."""
    seen: set[int] = set()
    out: Clusters = []
    for group in groups:
        places = sorted(set(group) - seen)
        seen.update(places)
        if places:
            out.append(places)
    enough = fewest <= len(out) <= (most or size / _MEAN)
    if not enough or len(seen) < _COVERED * size or max(map(len, out)) > _ONE * size:
        return None
    return out


def _by_document(site: Site, fewest: int = _LEAST, most: int | None = None) -> Iterator[Clusters]:
    groups: dict[str, list[int]] = defaultdict(list)
    for place, graphs in site.table.graphs.items():
        groups[min(g.value for g in graphs)].append(place)
    found = _usable((groups[name] for name in sorted(groups)), site.size, fewest, most)
    if found:
        yield found


def _paths(site: Site, longest: int) -> Iterator[Reached]:
    return reached(site.base.store, site.table, site.target.path, longest)


def _ends(site: Site, wanted: Callable[[Reached], bool], longest: int = 1) -> Iterator[Clusters]:
    for path in _paths(site, longest):
        found = _usable(path.ends.values(), site.size) if wanted(path) else None
        if found:
            yield found


def _points(path: Reached) -> bool:
    return all(isinstance(end, ox.NamedNode) for end in path.ends)


def _by_few(site: Site) -> Iterator[Clusters]:
    yield from _by_document(site, *_FEW)
    for path in _paths(site, 2):
        found = _usable(path.ends.values(), site.size, *_FEW)
        if found:
            yield found


def _by_day(site: Site) -> Iterator[Clusters]:
    """Return, for each dated property, the finest of days, weeks and months that holds enough."""
    for texts in levels.days(site.table, site.target.path).values():
        for length in (1, 7, 28):
            groups = _periods(texts, length)
            found = _usable((groups[n] for n in sorted(groups)), site.size)
            if found:
                yield found
                break


def _periods(texts: Mapping[int, str], length: int) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for place, text in texts.items():
        year, month, day = (*map(int, text[:10].split("-")), 1, 1)[:3]
        groups[date(year, month, day).toordinal() // length].append(place)
    return groups


_PARTED: Final[Mapping[str, Callable[[Site], Iterator[Clusters]]]] = {
    "document": _by_document,
    "run": lambda site: _ends(site, lambda p: p.origin),
    "thing": lambda site: _ends(site, lambda p: not p.origin and _points(p)),
    "value": lambda site: _ends(site, lambda p: not _points(p)),
    "day": _by_day,
    "far": lambda site: _ends(site, lambda p: len(p.steps) > 1, 3),
    "few": _by_few,
}
_ADDED: Final = {"document": "source", "run": "batch", "value": "cohort", "day": "drift"}
"""What is added to a graph that has no dimension of a sort."""
