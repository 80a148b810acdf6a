"""`kgreason bench --baselines`: the table of features, what they find in it, their scores."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.base.errors import OptionError
from kgreason.base.store import Term
from kgreason.base.terms import TYPE, XSD
from kgreason.inject import Trial, base_of
from kgreason.inject import trials as running
from kgreason.inject.baseline_trials import compared, failing_of
from kgreason.inject.baselines import BASELINES, LISTED, chosen
from kgreason.inject.bench_page import as_markdown
from kgreason.inject.designs import designs
from kgreason.inject.fault import Cause, Target, Truth
from kgreason.inject.feature_table import LEAST, Features, features
from kgreason.inject.inject import inject
from kgreason.inject.scoring import by_place
from kgreason.inject.summary import OWN, OWN_KIND, figures
from kgreason.inject.true_constraints import derive
from tests.cli_support import run

pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning:pysubgroup")

GRAPH = "generated:400"
FREE = ("group-by-count", "group-by-rate")
EX = "https://example.org/"


def term(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


THING, CODE, TEAM, TAG, DAY, MARK = map(term, ("Thing", "code", "team", "tag", "day", "mark"))
NODES = [term(f"n{i:03}") for i in range(200)]


def needed(name: str) -> None:
    missing = [module for module in BASELINES[name].needs if find_spec(module) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} is not installed: the extra `baselines`")


def small() -> ox.Store:
    """Make 200 things: four teams, tags of which a thing may have two, a day each, some marks."""
    store = ox.Store()
    for place, node in enumerate(NODES):
        graph = term("east" if place < 120 else "west")
        day = ox.Literal(f"{2020 + place // 50}-01-{1 + place % 28:02}", datatype=XSD.date)
        told: list[tuple[ox.NamedNode, Term]] = [
            (TYPE, THING),
            (TEAM, ox.Literal(f"team {place // 50}")),
            (DAY, day),
        ]
        told += [(TAG, ox.Literal("a"))] * (place % 2 == 0) + [(TAG, ox.Literal("b"))] * (
            place % 3 == 0
        )
        told += [(MARK, ox.Literal(str(place)))] * (place % 4 == 0)
        told += [(CODE, ox.Literal("same"))] * (place >= 10)
        store.extend(ox.Quad(node, p, o, graph) for p, o in told)
    return store


def truth_of(*regions: range) -> Truth:
    target = Target(THING, CODE, "MinCount", None, len(NODES), 0)
    causes = tuple(
        Cause("cohort", frozenset({"cohort"}), "", nodes, nodes)
        for nodes in (frozenset(NODES[place] for place in region) for region in regions)
    )
    return Truth(target, causes, ("drop",), 0.0, frozenset(NODES))


@pytest.fixture(scope="module")
def known() -> Features:
    """Let nodes 50 to 89 of the second team fail."""
    return features(small(), truth_of(range(50, 100)), frozenset(NODES[50:90]))


def test_the_table_has_every_dimension_but_the_constrained_path(known: Features) -> None:
    assert known.nodes == tuple(NODES)
    assert known.failing == frozenset(range(50, 90))
    assert set(known.columns) == {
        "graph", str(TEAM), f'{TAG} "a"', f'{TAG} "b"', f"{TAG} is stated",
        f"{MARK} is stated", f"year of {DAY}", f"month of {DAY}",
    }  # fmt: skip
    assert not any(str(CODE) in name for name in known.columns)
    assert set(known.numbers) == {str(DAY)}


def test_cells_are_those_of_the_node(known: Features) -> None:
    assert {known.columns[str(TEAM)][place] for place in range(50, 100)} == {'"team 1"'}
    assert known.columns[f'{TAG} "b"'][:4] == ("yes", None, None, "yes")
    assert known.columns[f"{MARK} is stated"][:2] == ("yes", "no")
    assert known.columns[f"year of {DAY}"][0] == "2020"
    first, second = known.numbers[str(DAY)][:2]
    assert first is not None
    assert second == first + 1
    assert known.items["graph", f"<{EX}west>"] == frozenset(range(120, 200))
    assert all(LEAST <= len(nodes) < len(NODES) for nodes in known.items.values())


@pytest.mark.parametrize("name", BASELINES)
def test_a_plain_region_is_found_first(known: Features, name: str) -> None:
    needed(name)
    answer = BASELINES[name].search(known, 0)
    assert 1 <= len(answer.regions) <= LISTED
    assert len({region.nodes for region in answer.regions}) == len(answer.regions)
    assert answer.candidates >= len(answer.regions)
    if name == "divexplorer":  # which prefers what fails even oftener: it lists parts of the team
        assert any(region.nodes <= frozenset(range(50, 100)) for region in answer.regions)
    else:
        assert answer.regions[0].nodes == frozenset(range(50, 100))


def test_ties_are_broken_by_size_and_name(known: Features) -> None:
    needed("divexplorer")
    spans = {"c": range(30), "b": range(30, 70), "a": range(70, 100)}  # all of them fail wholly
    columns = {
        name: tuple("yes" if place in span else None for place in range(200))
        for name, span in spans.items()
    }
    tied = replace(known, failing=frozenset(range(100)), columns=columns, numbers={})
    answer = BASELINES["divexplorer"].search(tied, 0)
    assert [region.condition for region in answer.regions] == ["b=yes", "a=yes", "c=yes"]


@pytest.mark.parametrize("name", BASELINES)
def test_days_are_cut_where_numbers_can_be(known: Features, name: str) -> None:
    needed(name)
    days = [600 + place for place in range(200)]
    late = frozenset(range(140, 200))
    dated = replace(
        known, failing=late, columns={"none": (None,) * 200}, numbers={"day": tuple(days)}
    )
    regions = BASELINES[name].search(dated, 0).regions
    takes_numbers = name.startswith("pysubgroup") or name == "decision-tree"
    assert [r.nodes for r in regions[:1]] == ([late] if takes_numbers else [])


def test_nothing_failing_gives_no_report() -> None:
    scores = compared(FREE, truth_of(), small(), frozenset(), 0)
    assert {(s["reported"], s["outcome"]) for s in scores.values()} == {(0, "done")}


def test_an_error_of_a_peer_is_told_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Features, __: int) -> Any:
        raise ValueError("of no value")

    monkeypatch.setitem(BASELINES, FREE[0], replace(BASELINES[FREE[0]], search=broken))
    scores = compared(FREE, truth_of(range(50, 100)), small(), frozenset(NODES[50:90]), 0)
    assert scores[FREE[0]]["outcome"] == "failed"
    assert scores[FREE[0]]["why"] == "ValueError: of no value"
    assert scores[FREE[0]]["top1"] is False
    assert scores[FREE[1]]["outcome"] == "done"
    assert scores[FREE[1]]["top1"] is True


def test_a_region_by_chance_is_listed_but_not_significant() -> None:
    some = frozenset(NODES[place] for place in range(0, 200, 7))
    scores = compared(FREE, truth_of(), small(), some, 0)
    for score in scores.values():
        assert score["reported"] == LISTED
        assert score["significant"]["reported"] == 0
        assert all(region["p"] > 0.05 for region in score["regions"])


def test_places_are_scored_as_kgreason_is() -> None:
    truth = truth_of(range(50, 100), range(150, 200))
    first, second = (cause.nodes for cause in truth.causes)
    other = frozenset(NODES[:20])
    assert by_place([first, second], truth) == {
        "top1": True, "top3": True, "f1": 1.0, "reported": 2,
    }  # fmt: skip
    assert by_place([other, first], truth) == {
        "top1": False, "top3": True, "f1": 0.5, "reported": 2,
    }  # fmt: skip
    assert by_place([], truth) == {"top1": False, "top3": False, "f1": 0.0, "reported": 0}
    # Nine in ten of the cause, but just the nodes that its proxy marks: wrong.
    proxy = frozenset(NODES[50:95])
    assert by_place([proxy], truth)["top1"] is True
    assert by_place([proxy], replace(truth, decoy=proxy))["top1"] is False


def test_failing_nodes_come_from_the_constraint(tmp_path: Path) -> None:
    base = base_of(GRAPH)
    truth = inject(base, derive(base), designs()["null-independent"], 0)
    data, shapes, ontology = running._written(base, tmp_path)
    failing = failing_of(data, shapes, ontology, truth)
    path = truth.target.path
    held = {q.subject for q in base.store.quads_for_pattern(None, path, None, None)}
    assert truth.target.component == "MinCount"
    assert failing == {node for node in truth.population if node not in held}
    assert failing


@pytest.fixture(scope="module")
def trials() -> list[dict[str, Any]]:
    base = base_of(GRAPH)
    known = tuple(derive(base))
    asked = [
        Trial(base, known, designs()[name], 1, None, FREE) for name in ("source", "null-clustered")
    ]
    return list(running.run(asked, jobs=1, seconds=300.0))


def test_peers_are_scored_in_the_same_trial(trials: list[dict[str, Any]]) -> None:
    assert [t["outcome"] for t in trials] == ["done", "done"]
    for trial in trials:
        assert set(trial["peers"]) == set(FREE)
        for score in trial["peers"].values():
            assert score["outcome"] == "done"
            assert score["reported"] == len(score["regions"]) == LISTED
            assert score["significant"]["reported"] <= score["reported"]
    source = next(t for t in trials if t["fault"] == "source")
    best = source["peers"]["group-by-count"]
    assert best["top3"] == any(region["jaccard"] >= 0.8 for region in best["regions"])


def test_the_page_sets_them_beside_kgreason(trials: list[dict[str, Any]]) -> None:
    groups = figures(trials)["peers"]
    assert list(groups) == ["all", "one strong cause, a region", "null"]
    rows = groups["all"]
    assert list(rows) == [OWN_KIND, OWN, *FREE]
    assert rows[OWN]["top1"] >= rows[OWN_KIND]["top1"]
    assert {rows[name]["false_report"] for name in FREE} == {1.0}
    assert {row["trials"] for row in rows.values()} == {2}
    page = as_markdown(trials)
    assert "## Baselines on the same data" in page
    assert "| null | group-by-count | 1 |" in page


def test_without_peers_there_is_no_such_table(trials: list[dict[str, Any]]) -> None:
    alone = [{key: value for key, value in t.items() if key != "peers"} for t in trials]
    assert figures(alone)["peers"] == {}
    assert "## Baselines" not in as_markdown(alone)


def test_the_command_takes_names() -> None:
    done = run(
        "bench", "--graph", GRAPH, "--faults", "null-independent", "--seeds", "0:1",
        "--peers", "group-by-rate", "--format", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    (trial,) = json.loads(done.out)["trials"]
    assert list(trial["peers"]) == ["group-by-rate"]


@pytest.mark.parametrize(
    ("names", "said"), [("oracle", "There is no baseline 'oracle'"), (",", "No baseline was named")]
)
def test_wrong_names_are_named(names: str, said: str) -> None:
    done = run("bench", "--graph", GRAPH, "--faults", "source", "--peers", names)
    assert done.code == 2
    assert said in done.err


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = replace(BASELINES["group-by-rate"], needs=("kgreason_has_no_such_package",))
    monkeypatch.setitem(BASELINES, "rare", rare)
    with pytest.raises(
        OptionError, match=r"The baseline rare needs the package .* extra `baselines`"
    ):
        chosen("rare")
    assert chosen("group-by-rate, group-by-count,group-by-rate") == FREE[::-1]
