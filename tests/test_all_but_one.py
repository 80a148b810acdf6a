"""All values but one as a cause, and the siblings that it and others are compared with."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

from kgreason.audit import audit
from kgreason.base.store import Row
from kgreason.context.view import number
from kgreason.record import Record
from kgreason.test import sibling_spread
from kgreason.test.finding import Setting
from tests.lifetime_support import asked, fates, nodes, of, sample, written

OTHER: Final = "Nodes whose mode is another than “rail” fail."
"""In the words of the family, which `frame` asks."""
ANYTHING_BUT: Final = "Nodes whose mode is anything but “rail” fail."
"""In the words of the language of conditions, which the default policy asks first."""
CODE: Final = {"policy": "code"}
MODES: Final = ("rail", "road", "sea", "air", "pipe")


def moved(folder: Path, rates: Mapping[str, float], extra: str = "", each: int = 60) -> Any:
    """Write samples by the mode in which they move; `rates` is how often one of a mode fails."""
    draw, rows = random.Random(6), []
    for mode, rate in rates.items():
        for _ in range(each):
            beside = f' ; e:shift "{draw.choice(extra)}"' if extra else ""
            fails = draw.random() < rate
            rows.append((f'e:mode "{mode}"{beside}', fails))
    draw.shuffle(rows)
    return written(folder, [sample(n, said, fails=bad) for n, (said, bad) in enumerate(rows)])


def spreads(record: Record) -> dict[str, dict[str, list[str]]]:
    """Give what was found of the spread among siblings, by the statement that was tested."""
    every = nodes(record)
    return {
        every[said["hypothesis"][0]]["statement"][0]: said
        for said in of(record, "Evidence").values()
        if said["testKind"] == ["sibling-spread"]
    }


# --- all values but one -----------------------------------------------------------------


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What fails unless it goes by rail."""
    rates = dict.fromkeys(MODES, 0.95) | {"rail": 0.02}
    return moved(tmp_path_factory.mktemp("rail"), rates, extra="abc")


@pytest.fixture(scope="module")
def rail(options: Any) -> Record:
    """The record under `frame`, where the family and its siblings are asked."""
    return asked(options)


@pytest.mark.parametrize("policy", ["code", "frame"])
def test_all_modes_but_one_are_the_cause(options: Any, rail: Record, policy: str) -> None:
    if policy == "code":
        rail = asked(options | CODE)
    assert fates(rail)[ANYTHING_BUT if policy == "code" else OTHER] == "Supported"
    [verdict] = of(rail, "Verdict").values()
    assert verdict["outcome"][0] in {"explained", "partly explained"}
    assert audit(rail).ok


def test_nodes_that_pass_are_counted_among_siblings(rail: Record) -> None:
    found = spreads(rail)[OTHER]
    passing, population = int(found["insideFailing"][0]), int(found["inside"][0])
    assert 20 <= passing <= population <= 40  # of the held-out half of the sixty by rail
    assert found["levels"] == ["5"]
    assert found["outcomeClass"] == ["beyond"]
    assert f"{passing} of {population} nodes of this level pass" in found["note"][0]


def test_all_values_but_one_are_not_proposed_in_pairs(tmp_path: Path) -> None:
    """With one shift more of them fail: the search says both in one region, and then the rest."""
    draw, rows = random.Random(7), []
    for n in range(720):
        mode, shift = draw.choice(MODES), draw.choice("ab")
        rate = 0.02 if mode == "rail" else 0.95 if shift == "a" else 0.35
        said = f'e:mode "{mode}" ; e:shift "{shift}"'
        rows.append(sample(n, said, fails=draw.random() < rate))
    options = written(tmp_path, rows) | {"max_hypotheses": 6}
    record = asked(options)
    assert OTHER in fates(record, 1)
    pairs = [s for s in of(record, "Hypothesis").values() if "part" in s]
    assert all("wasRevisionOf" in pair for pair in pairs)
    record = asked(options | CODE)
    told = fates(record)
    both = "Nodes whose shift is “a” and whose mode is anything but “rail” fail."
    assert [told[both], told[ANYTHING_BUT]] == ["Supported", "Supported"]
    assert not [s for s in of(record, "Hypothesis").values() if "part" in s]


def test_modes_that_differ_anyway_have_no_such_cause(tmp_path: Path) -> None:
    """One fails less than all others do, but no less than they differ among themselves."""
    rates = {"road": 0.8, "sea": 0.6, "air": 0.7, "pipe": 0.5, "rail": 0.36}
    options = moved(tmp_path, rates, each=120)
    record = asked(options)
    assert spreads(record)[OTHER]["outcomeClass"] == ["within"]
    assert fates(record, 1)[OTHER] != "Supported"
    assert "Supported" not in fates(asked(options | CODE)).values()


# --- siblings ---------------------------------------------------------------------------


def level(name: str, failing: int, population: int, shared: int = 0) -> Row:
    """Give the row of a sibling: nodes beside the region, and nodes of the region that have it."""
    counts = {"failing": failing, "population": population, "shared": shared}
    return {"level": ox.Literal(name), **{k: number(v) for k, v in counts.items()}}


def own(failing: int, population: int, mark: str = "true") -> Row:
    counts = {"failing": number(failing), "population": number(population)}
    return {"own": ox.Literal(mark), **counts}


PEERS: Final = (level("one", 2, 40), level("two", 3, 50, 4), level("three", 1, 45))
SETTING: Final = Setting(level=ox.Literal("mine"))


def test_a_level_that_nearly_all_of_the_region_share_is_no_peer() -> None:
    rows = [own(38, 40), level("mine", 0, 0, 40), *PEERS]
    above = level("above", 30, 60, 38), level("kind", 35, 60, 40)
    found = sibling_spread.read([*rows, *above], SETTING)
    assert found == sibling_spread.read(rows, SETTING)
    assert found.outcome == "beyond"
    assert found.figures["levels"] == 4


@pytest.mark.parametrize(("shared", "levels"), [(31, 5), (32, 4), (40, 4)])
def test_nearly_all_are_four_fifths_of_those_that_have_most(shared: int, levels: int) -> None:
    itself = level("mine", 0, 0, 40)
    rows = [own(38, 40), itself, *PEERS, level("beside", 20, 60, shared)]
    assert sibling_spread.read(rows, SETTING).figures["levels"] == levels


def test_where_too_few_peers_remain_all_levels_are_compared() -> None:
    rows = [own(38, 40), PEERS[0], level("above", 30, 60, 40), level("kind", 35, 60, 40)]
    assert sibling_spread.read(rows, SETTING).figures["levels"] == 4


def test_where_nodes_that_pass_are_counted_it_says_so() -> None:
    failing = sibling_spread.read([own(38, 40), *PEERS], SETTING)
    passing = sibling_spread.read([own(38, 40, sibling_spread.PASSING), *PEERS], SETTING)
    assert "38 of 40 nodes of this level fail" in failing.note
    assert "38 of 40 nodes of this level pass" in passing.note
    assert failing.figures == passing.figures
