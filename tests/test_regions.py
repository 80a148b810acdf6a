"""Which regions are proposed: of several that overlap, of nearly all nodes, of a few documents."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import pyoxigraph as ox
import pytest

from kgreason.base.statistics import Table
from kgreason.base.store import Store, Term
from kgreason.base.templates import Fragment, template
from kgreason.base.terms import TRAILS
from kgreason.context.view import View, table
from kgreason.graph import Graph
from kgreason.graph.marks import mark_failing, mark_population, places
from kgreason.hypothesize.candidates import Candidate
from kgreason.hypothesize.filters import redundancy
from kgreason.hypothesize.filters.filter import Round
from kgreason.hypothesize.filters.lift import Lift
from tests.lifetime_support import asked, fates, of, sample, written

REST: Final = (400, 4)

Block = tuple[int, int]


def looked_at(*blocks: Block) -> tuple[View, list[int]]:
    """Give a view of a population, and the sets of nodes of the blocks of its discovery half.

    A block is (nodes, those of them that fail).
    """
    graph = Graph(Store(ox.Store(), "test"), (), "", 0, 0)
    size = 2 * sum(nodes for nodes, _ in blocks)
    everyone = [ox.NamedNode(f"https://example.org/{n:05}") for n in range(size)]
    population = mark_population(graph, "key", {n: ["urn:feed"] for n in everyone}, (), 0)
    free = iter(places(population.node.discovery_mask))
    sets, failing = [], []
    for nodes, bad in blocks:
        own = [next(free) for _ in range(nodes)]
        failing += [population.nodes[place] for place in own[:bad]]
        sets.append(sum(1 << place for place in own))
    marks = mark_failing(graph, "key", population, failing, 8)
    assert marks.split
    return View(graph, cast("Any", None), marks), sets


def region(view: View, nodes: int, name: str, family: str = "cohort-value") -> Candidate:
    """Give a candidate with a set of nodes."""
    counts = table(view, nodes, view.marks.node.discovery_mask)
    values: dict[str, Term] = {"dimension": TRAILS.kind, "level": ox.Literal(name)}
    pattern = Fragment(name)
    used = template("hypothesize", family)
    return Candidate(used, values, counts, pattern, pattern, members=nodes)


def kept(view: View, **sets: int) -> set[str]:
    """Give the names of the regions that are left."""
    regions = [region(view, nodes, name) for name, nodes in sets.items()]
    found = redundancy.Redundancy()(view, regions, Round(8))
    left = {candidate.region.text for candidate in found.kept}
    assert {d.candidate.region.text for d in found.dropped} == set(sets) - left
    return left


# --- regions in regions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "around", "left"),
    [
        ((60, 54), (60, 14), {"small"}),  # what is around fails too, but far less
        ((60, 54), (60, 30), {"large"}),
        ((60, 54), (60, 18), {"small", "large"}),  # hardly better: both are put to the test
    ],
)
def test_of_nested_regions_the_far_better_one_goes_first(
    core: Block, around: Block, left: set[str]
) -> None:
    view, (small, more, _) = looked_at(core, around, REST)
    assert kept(view, small=small, large=small | more) == left


def test_a_region_made_up_of_two_that_fail_differently_is_none() -> None:
    view, (often, seldom, _) = looked_at((60, 57), (60, 30), REST)
    assert kept(view, often=often, seldom=seldom, both=often | seldom) == {"often", "seldom"}


def test_a_region_made_up_of_two_that_fail_alike_is_one() -> None:
    view, (one, other, _) = looked_at((60, 50), (60, 52), REST)
    assert kept(view, one=one, other=other, both=one | other) == {"both"}


@pytest.mark.parametrize(("bad", "superfluous"), [(54, True), (50, True), (34, False)])
def test_a_part_that_fails_clearly_less_is_not_told_by_the_whole(
    bad: int, *, superfluous: bool
) -> None:
    view, (part, more, _) = looked_at((60, bad), (60, 54), REST)
    one, whole = region(view, part, "part"), region(view, part | more, "whole")
    assert (redundancy._superfluous(view, one, whole) is not None) == superfluous
    assert redundancy._superfluous(view, whole, one) is None


# --- regions of nearly all nodes ----------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "tells"),
    [
        (Table(300, 950, 0, 50), False),  # sure enough, but 32 % of 950 where it is 30 % of all
        (Table(950, 950, 10, 50), True),  # everything in it fails
        (Table(940, 950, 10, 50), True),
        (Table(300, 600, 20, 400), True),
        (Table(0, 0, 30, 1000), True),  # nothing is said of nothing
        (Table(900, 900, 100, 100), True),  # nor where all fail
    ],
)
def test_nearly_all_nodes_with_nearly_the_rate_of_all_tell_nothing(
    counts: Table, *, tells: bool
) -> None:
    view, (nodes, _) = looked_at((20, 15), REST)
    origin = replace(region(view, nodes, "any"), table=counts)
    assert (Lift().against(view, origin) is None) == tells
    mechanism = replace(origin, family=template("hypothesize", "value-form"))
    assert Lift().against(view, mechanism) is None


@pytest.mark.parametrize(("sound", "proposed"), [(0.7, False), (0.2, True)])
def test_of_nearly_all_nodes_only_what_tells_is_proposed(
    tmp_path: Path, sound: float, *, proposed: bool
) -> None:
    """Nodes of an old kind never fail, and are few; of others three tenths fail, or eight."""
    draw, rows = random.Random(4), []
    for n in range(600):
        old = n // 3 % 12 == 0
        fails = not old and draw.random() >= sound
        rows.append(sample(n, f'e:kind "{"old" if old else "new"}"', fails=fails))
    found = fates(asked(written(tmp_path, rows)), 1)
    assert list(found) == (["Nodes whose kind is “new” fail."] if proposed else [])


# --- folders of documents -----------------------------------------------------------------


def documents(folder: Path, north: Sequence[float], south: float) -> dict[str, Any]:
    """Write documents of two folders; `north` is how often nodes of each of its documents fail.

    A document is too small to be proposed by itself.
    """
    draw, said, number = random.Random(5), [], 0
    for name, rates in (("north", north), ("south", [south] * 60)):
        for place, rate in enumerate(rates):
            rows = []
            for _ in range(4):
                rows.append(sample(number, f'e:n "{number}"', fails=draw.random() < rate))
                number += 1
            said.append(f"<https://example.org/{name}/d{place}> {{ {' '.join(rows)} }}")
    options = written(folder, [])
    path = folder / "lab.trig"
    text = "\n".join(said)
    path.write_text(f"@prefix e: <https://example.org/lab/> .\n{text}\n", encoding="utf-8")
    return options | {"data": path}


@pytest.mark.parametrize(
    ("north", "south", "proposed"),
    [
        ([1.0] * 12 + [0.08] * 48, 0.08, False),  # twelve documents, not their folder
        ([0.4] * 60, 0.08, True),
        ([0.8] * 28 + [0.0] * 32, 0.005, True),  # nearly half of them, and hardly one elsewhere
    ],
    ids=["few", "all", "half"],
)
def test_a_folder_fails_where_more_of_its_documents_do(
    tmp_path: Path, north: Sequence[float], south: float, *, proposed: bool
) -> None:
    record = asked(documents(tmp_path, north, south))
    found = [s["family"][0] for s in of(record, "Hypothesis").values() if "region" in s]
    assert ("source-prefix" in found) == proposed, fates(record)
