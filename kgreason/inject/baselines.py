"""Other ways to find the region of a fault, run on one table of features.

Each baseline gives a ranked list of at most three regions, whatever it is given; none abstains.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from importlib import import_module
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.inject.feature_table import LEAST, Features

LISTED: Final = 3
"""The most regions that a baseline gives."""
_OUTCOME: Final = "fails"
_CUTS: Final = 20
_DEEP: Final = 2
_KEPT: Final = 20  # of which the first that differ in their nodes are listed
_LEVELS: Final = 4
_REDUNDANT: Final = 0.05


@dataclass(frozen=True)
class Region:
    """One answer of a baseline: a condition in words, and the places of the nodes that meet it."""

    condition: str
    nodes: frozenset[int] = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """The regions of a baseline, the best first, what it chose from, and CPU seconds of search.

    Reading, making the table and importing a package are not in `seconds`.
    """

    regions: tuple[Region, ...]
    candidates: int
    seconds: float


@dataclass(frozen=True)
class Baseline:
    """A way to find regions: its name, what it does, the modules it needs, and the work."""

    name: str
    summary: str
    needs: tuple[str, ...]
    search: Callable[[Features, int], Answer] = field(repr=False)


def chosen(names: str) -> tuple[str, ...]:
    """Return the names of a list with commas, or all for `all`; their packages are then imported.

    Raises OptionError for what is no baseline, and for one whose package is not installed.
    """
    wanted = [name for name in (part.strip() for part in names.split(",")) if name]
    if wanted == ["all"]:
        wanted = list(BASELINES)
    if not wanted:
        raise OptionError(f"No baseline was named; there are: {', '.join(BASELINES)}.")
    for name in wanted:
        if name not in BASELINES:
            raise OptionError(f"There is no baseline {name!r}; there are: {', '.join(BASELINES)}.")
        for module in BASELINES[name].needs:
            _import(module, name)
    return tuple(dict.fromkeys(wanted))


def _import(module: str, name: str) -> None:
    """Import a package before trials are forked, or else each of them would have to."""
    try:
        import_module(module)
    except ImportError as error:
        raise OptionError(
            f"The baseline {name} needs the package {module}, which cannot be imported ({error}); "
            "install kgreason with the extra `baselines`."
        ) from error


def _by_count(known: Features, _: int) -> Answer:
    """Rank single levels by the number of their failing nodes, the smaller level first in a tie."""

    def merit(nodes: frozenset[int]) -> tuple[float, float]:
        return len(nodes & known.failing), -len(nodes)

    return _grouped(known, merit)


def _by_rate(known: Features, _: int) -> Answer:
    """Rank single levels by the share of their nodes that fail, the larger level first in a tie."""

    def merit(nodes: frozenset[int]) -> tuple[float, float]:
        return len(nodes & known.failing) / len(nodes), len(nodes)

    return _grouped(known, merit)


def _grouped(known: Features, merit: Callable[[frozenset[int]], tuple[float, float]]) -> Answer:
    begun = time.process_time()
    merits = {item: merit(nodes) for item, nodes in known.items.items() if nodes & known.failing}
    # By what is best, then by name, so that a tie is always broken alike.
    order = sorted(merits, key=lambda item: (-merits[item][0], -merits[item][1], item))
    regions = [Region(f"{name} = {value}", known.items[name, value]) for name, value in order]
    return _answer(regions, len(known.items), begun)


def _answer(regions: Iterable[Region], candidates: int, begun: float) -> Answer:
    """Return the first regions that differ; one that holds no node or every node says nothing."""
    distinct: dict[frozenset[int], Region] = {}
    for region in regions:
        if region.nodes:
            distinct.setdefault(region.nodes, region)
        if len(distinct) == LISTED:
            break
    return Answer(tuple(distinct.values()), candidates, time.process_time() - begun)


def _frame(known: Features) -> Any:
    """Return the columns of texts as a pandas table, with the outcome as the last."""
    import pandas  # noqa: ICN001, PLC0415 - optional

    cells: dict[str, Any] = {
        name: pandas.Series(list(column), dtype=object) for name, column in known.columns.items()
    }
    cells[_OUTCOME] = [place in known.failing for place in range(len(known.nodes))]
    return pandas.DataFrame(cells)


def _pysubgroup(known: Features, _: int, *, quality: str) -> Answer:
    """Search all conjunctions of two conditions, with days cut at twenty quantiles."""
    import pysubgroup  # noqa: PLC0415 - optional

    frame = _frame(known)
    space = [pysubgroup.EqualitySelector(name, value) for name, value in known.items]
    for name, held in known.numbers.items():
        frame[name] = [float("nan") if day is None else day for day in held]
        space += pysubgroup.create_numeric_selectors(
            frame[[name]], nbins=_CUTS, intervals_only=False
        )
    begun = time.process_time()
    task = pysubgroup.SubgroupDiscoveryTask(
        frame,
        pysubgroup.BinaryTarget(target_attribute=_OUTCOME, target_value=True),
        space,
        result_set_size=_KEPT,
        depth=_DEEP,
        # WRAcc is the standard quality with the size to the power of 1; 0.5 is the binomial test.
        qf=pysubgroup.WRAccQF() if quality == "wracc" else pysubgroup.StandardQF(0.5),
        min_quality=0,
        constraints=[pysubgroup.MinSupportConstraint(LEAST)],
    )
    found = pysubgroup.DFS(pysubgroup.BitSetRepresentation).execute(task)
    regions = [Region(str(s), _places(s.covers(frame))) for _, s, _ in found.results]
    return _answer(regions, len(space) * (len(space) + 1) // 2, begun)


def _places(covered: Any) -> frozenset[int]:
    return frozenset(map(int, covered.nonzero()[0]))


def _divexplorer(known: Features, _: int, *, rank: str) -> Answer:
    """Rank itemsets of at most two items, those whose items add less than 0.05 left out.

    That is by divergence, the rate inside less the overall rate, or by its t.
    """
    import divexplorer  # noqa: PLC0415 - optional
    from divexplorer import divexplorer as inner  # noqa: PLC0415 - optional

    items = {f"{name}={value}": nodes for (name, value), nodes in known.items.items()}
    if not items:
        return Answer((), 0, 0.0)
    frame = _frame(known)
    # Its own interface cannot bound the length of itemsets, and their number is exponential in it.
    inner.fpgrowth_cm = partial(_original(inner.fpgrowth_cm), max_len=_DEEP)
    begun = time.process_time()
    found = divexplorer.DivergenceExplorer(frame).get_pattern_divergence(
        min_support=LEAST / len(frame), boolean_outcomes=[_OUTCOME]
    )
    ranked = divexplorer.DivergencePatternProcessor(found, _OUTCOME).get_patterns(
        th_redundancy=_REDUNDANT
    )
    gains, merits = ranked[f"{_OUTCOME}_div"], ranked[f"{_OUTCOME}_{rank}"]
    rows = [
        (float(merit), Region(" and ".join(sorted(s)), _common(s, items)))
        for s, gain, merit in zip(ranked["itemset"], gains, merits, strict=True)
        if s and gain > 0
    ]
    # Its own order of ties is that of a hash, which differs from run to run.
    rows.sort(key=lambda row: (-round(row[0], 9), -len(row[1].nodes), row[1].condition))
    regions = [region for _, region in rows]
    return _answer(regions, len(found) - 1, begun)


def _common(names: Iterable[str], items: Mapping[str, frozenset[int]]) -> frozenset[int]:
    return frozenset.intersection(*(items[name] for name in names))


def _original(function: Any) -> Any:
    return function.func if isinstance(function, partial) else function


def _tree(known: Features, seed: int) -> Answer:
    """Grow a decision tree; rank its paths, long and short, by the failures they explain.

    That is the number of failing nodes beyond what the overall rate predicts for so many nodes.
    """
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - optional

    matrix, names = _matrix(known)
    failing = [place in known.failing for place in range(len(known.nodes))]
    begun = time.process_time()
    tree = DecisionTreeClassifier(
        max_depth=_LEVELS, min_samples_leaf=LEAST, class_weight="balanced", random_state=seed
    ).fit(matrix, failing)
    through = tree.decision_path(matrix).tocsc()
    rate = len(known.failing) / len(known.nodes)
    regions = []
    for number, condition in _paths(tree.tree_, names, len(known.items)):
        begin, end = through.indptr[number], through.indptr[number + 1]
        nodes = frozenset(map(int, through.indices[begin:end]))
        regions.append((len(nodes & known.failing) - rate * len(nodes), Region(condition, nodes)))
    regions.sort(key=lambda pair: -pair[0])
    cuts = len(known.items) + sum(len(set(held)) - 1 for held in known.numbers.values())
    splits = sum(1 for left in tree.tree_.children_left if left >= 0)
    return _answer((r for gain, r in regions if gain > 0), cuts * splits, begun)


def _matrix(known: Features) -> tuple[Any, list[str]]:
    """Return a column of 0 and 1 for each item and one of numbers for days, with their names."""
    from scipy import sparse  # noqa: PLC0415 - optional

    names = [f"{name} = {value}" for name, value in known.items] + list(known.numbers)
    rows, values, starts = [], [], [0]
    for nodes in known.items.values():
        rows += sorted(nodes)
        values += [1.0] * len(nodes)
        starts.append(len(rows))
    for held in known.numbers.values():
        stated = [(place, float(day)) for place, day in enumerate(held) if day is not None]
        rows += [place for place, _ in stated]
        values += [day for _, day in stated]
        starts.append(len(rows))
    shape = len(known.nodes), len(names)
    return sparse.csc_matrix((values, rows, starts), shape=shape), names


def _paths(tree: Any, names: list[str], items: int) -> Iterable[tuple[int, str]]:
    """Return each node of a grown tree but its root, with the conditions that lead to it.

    The first `items` columns are of 0 and 1, the others of days.
    """
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if conditions:
            yield node, " and ".join(conditions)
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left >= 0:
            number, cut = int(tree.feature[node]), float(tree.threshold[node])
            low, high = _sides(names[number], cut, item=number < items)
            waiting += [(left, (*conditions, low)), (right, (*conditions, high))]


def _sides(name: str, cut: float, *, item: bool) -> tuple[str, str]:
    if item:
        return f"not {name}", name
    day = date.fromordinal(int(cut)).isoformat()
    return f"{name} up to {day}", f"{name} after {day}"


def _subgroups(quality: str, words: str) -> Baseline:
    search = partial(_pysubgroup, quality=quality)
    return Baseline(
        f"pysubgroup-{quality}", f"subgroup discovery by {words}", ("pysubgroup",), search
    )


def _itemsets(name: str, rank: str, words: str) -> Baseline:
    return Baseline(
        name, f"itemsets by {words}", ("divexplorer",), partial(_divexplorer, rank=rank)
    )


BASELINES: Final = {
    baseline.name: baseline
    for baseline in (
        Baseline("group-by-count", "the level with most failing nodes", (), _by_count),
        Baseline("group-by-rate", "the level with the highest rate", (), _by_rate),
        _subgroups("wracc", "weighted relative accuracy"),
        _subgroups("binomial", "the quality of the binomial test"),
        _itemsets("divexplorer", "div", "divergence"),
        _itemsets("divexplorer-t", "t", "the t of their divergence"),
        Baseline("decision-tree", "paths of a decision tree", ("sklearn",), _tree),
    )
}
"""Every baseline by its name."""
