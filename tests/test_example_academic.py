"""The shipped academic example: made again as it is, and investigated as its README says."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.report.result import Result
from tests.example_support import (
    ENOUGH,
    EXAMPLES,
    assert_same_bytes,
    assert_same_content,
    data,
    filled,
    focus_nodes,
    generate,
    make_again,
    readme,
    rows_of,
    section,
    sizes,
)

pytestmark = pytest.mark.slow  # whole investigations of an example

EXAMPLE = EXAMPLES / "academic"
DATA = data(EXAMPLE)
TRUTH: dict[str, Any] = json.loads((EXAMPLE / "truth.json").read_text(encoding="utf-8"))
QUESTIONS: dict[str, dict[str, Any]] = {asked["name"]: asked for asked in TRUTH["questions"]}
FACTORS = {factor["name"]: asked for asked in TRUTH["questions"] for factor in asked["factors"]}
# Who has which outcome and who is asked, written down apart from generate.py and the queries.
PREFIXES = "PREFIX ex: <https://example.org/scholar/vocab#> "
ASKED = {
    "open-access": ("?focus ex:openAccess ?any .", "?focus ex:openAccess true"),
    "often-cited": (
        '?focus ex:publishedOn ?day FILTER (STR(?day) < "2021")',
        "{ SELECT ?focus { ?citing ex:cites ?focus } GROUP BY ?focus HAVING (COUNT(*) >= 12) }",
    ),
    "retracted": ("?focus ex:title ?any .", "?focus ex:retractedOn ?when"),
}


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_again(EXAMPLE, tmp_path_factory.mktemp("again"), "planted")


@pytest.fixture(scope="module")
def store() -> ox.Store:
    return filled(DATA)


def test_the_data_are_made_again_with_the_same_content(again: Path) -> None:
    assert_same_content(DATA, again / "data")


@pytest.mark.skipif(
    "ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng compresses the same text to other bytes"
)
def test_the_data_are_made_again_byte_for_byte(again: Path) -> None:
    assert_same_bytes(DATA, again / "data")


@pytest.mark.parametrize("name", ["truth.json", "README.md"])
def test_the_truth_and_its_table_are_made_again(again: Path, name: str) -> None:
    assert (again / name).read_bytes() == (EXAMPLE / name).read_bytes()


def test_truth_of_another_seed_is_printed_and_nothing_written(tmp_path: Path) -> None:
    other = json.loads(generate(EXAMPLE, "--truth", "--seed", "7", "--out", tmp_path))
    assert not list(tmp_path.iterdir())
    assert [asked["name"] for asked in other["questions"]] == list(QUESTIONS)
    for one, asked in zip(other["questions"], TRUTH["questions"], strict=True):
        assert [f["name"] for f in one["factors"]] == [f["name"] for f in asked["factors"]]
        assert one["failing"] != asked["failing"]


def test_the_files_are_small_and_have_the_size_that_is_told() -> None:
    counted = sizes(DATA)
    assert counted == TRUTH["graphs"]
    assert 20_000 <= sum(counted.values()) == TRUTH["triples"] <= 40_000
    assert sum(path.stat().st_size for path in DATA) < 300_000


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_counts_agree_with_sparql(store: ox.Store, name: str) -> None:
    asked = QUESTIONS[name]
    who, what = ASKED[name]
    select = f"{PREFIXES} SELECT DISTINCT ?focus WHERE {{ {who} "
    population = focus_nodes(store, f"{select} }}")
    failing = focus_nodes(store, f"{select} {what} }}")
    assert (len(failing), len(population)) == (asked["failing"], asked["population"])
    for factor in asked["factors"] + asked["proxies"]:
        region = focus_nodes(store, factor["query"])
        assert region <= population
        for side, nodes in (("inside", population & region), ("outside", population - region)):
            counted = {"failing": len(failing & nodes), "population": len(nodes)}
            assert factor[side] == counted, (factor["name"], side)


@pytest.mark.parametrize("name", FACTORS)
def test_what_was_planted_is_there_to_be_seen(name: str) -> None:
    (factor,) = (f for f in FACTORS[name]["factors"] if f["name"] == name)
    inside, outside = factor["inside"], factor["outside"]
    assert inside["failing"] / inside["population"] > 0.4
    assert outside["failing"] / outside["population"] < 0.4
    assert inside["population"] >= 80


def test_the_proxy_would_be_taken_for_a_factor_by_its_share_alone() -> None:
    for asked in QUESTIONS.values():
        for proxy in asked["proxies"]:
            inside, outside = proxy["inside"], proxy["outside"]
            by_chance = inside["population"] * outside["failing"] / outside["population"]
            assert inside["failing"] > 1.3 * by_chance


class Answer(NamedTuple):
    """What an investigation said of a question, with the nodes of each supported region."""

    result: Result
    symptom: dict[str, Any]
    regions: list[set[str]]

    def best(self, nodes: set[str]) -> float:
        """Give the Jaccard index, 0 to 1, of the supported region most like some nodes."""
        return max((len(one & nodes) / len(one | nodes) for one in self.regions), default=0)


@pytest.fixture(scope="module")
def answers(store: ox.Store) -> dict[str, Answer]:
    found = {}
    for name, asked in QUESTIONS.items():
        result = kgreason.investigate(
            EXAMPLE / "data", outcome=EXAMPLE / asked["query"], at=asked["at"]
        )
        (symptom,) = result.as_dict()["symptoms"]
        supported = [h for h in symptom["hypotheses"] if h["status"] == "supported"]
        regions = [focus_nodes(store, h["region"]) for h in supported if h["region"]]
        found[name] = Answer(result, symptom, regions)
    return found


def region_of(store: ox.Store, asked: dict[str, Any], name: str) -> set[str]:
    """Give the nodes of a factor or proxy."""
    (one,) = (f for f in asked["factors"] + asked["proxies"] if f["name"] == name)
    return focus_nodes(store, one["query"])


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_question_is_understood(answers: dict[str, Answer], name: str) -> None:
    symptom, asked = answers[name].symptom, QUESTIONS[name]
    assert (symptom["failing"], symptom["population"]) == (asked["failing"], asked["population"])


@pytest.mark.parametrize("name", FACTORS)
def test_a_planted_factor_is_found(answers: dict[str, Answer], store: ox.Store, name: str) -> None:
    asked = FACTORS[name]
    assert answers[asked["name"]].best(region_of(store, asked, name)) >= ENOUGH


@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_is_told_that_is_no_planted_factor(
    answers: dict[str, Answer], store: ox.Store, name: str
) -> None:
    """Each supported region is mostly made of one factor, and is less like any proxy."""
    asked = QUESTIONS[name]
    planted = [region_of(store, asked, factor["name"]) for factor in asked["factors"]]
    proxies = [region_of(store, asked, proxy["name"]) for proxy in asked["proxies"]]
    for told in answers[name].regions:
        like = max((len(told & nodes) / len(told | nodes) for nodes in planted), default=0)
        assert like > 0.5
        assert all(len(told & nodes) / len(told | nodes) < like for nodes in proxies)


def test_none_is_reported_where_nothing_was_planted(answers: dict[str, Answer]) -> None:
    (name,) = (name for name, asked in QUESTIONS.items() if not asked["factors"])
    assert answers[name].symptom["verdict"] == "no systematic cause"
    assert answers[name].symptom["hypotheses"][0]["kind"] == "none"
    assert not answers[name].regions


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_record_is_clean(answers: dict[str, Answer], name: str) -> None:
    found = audit(answers[name].result.record)
    assert found.ok, str(found)
    assert found.checked["updates"] > 10


def test_the_readme_tells_what_was_found(answers: dict[str, Answer], store: ox.Store) -> None:
    rows = rows_of(section("found", readme(EXAMPLE)))
    told = {row[0]: row[1] for row in rows}
    measured = {
        name: f"{answers[asked['name']].best(region_of(store, asked, name)):.2f}"
        for name, asked in FACTORS.items()
    }
    assert told == measured


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_readme_shows_the_row_that_is_printed(answers: dict[str, Answer], name: str) -> None:
    printed = answers[name].result.markdown()
    (row,) = re.findall(r"^\| The outcome that was asked about \|.*$", printed, re.MULTILINE)
    assert row in readme(EXAMPLE)
