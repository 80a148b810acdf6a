"""The scripts that hold kgreason against adversaries and other methods count what they say."""

import sys
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("benchmarks/ is not here", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import adversary_bench  # type: ignore[import-not-found]  # noqa: E402
import riskloc_bench  # type: ignore[import-not-found]  # noqa: E402

Null = tuple[Any, dict[str, list[Any]]]

# Adversaries

NET = "https://example.org/network/vocab#"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Null:
    made: Null = adversary_bench.made(0, 300, "frame", tmp_path_factory.mktemp("null"))
    return made


def failing(data: Path, path: ox.NamedNode) -> set[Any]:
    store = ox.Store()
    store.bulk_load(path=str(data), format=ox.RdfFormat.N_QUADS)
    cls = ox.NamedNode(f"{NET}Result")
    nodes = {q.subject for q in store.quads_for_pattern(None, None, cls, None)}
    return nodes - {q.subject for q in store.quads_for_pattern(None, path, None, None)}


def test_a_null_has_two_symptoms_and_is_the_same_again(asked: Null, tmp_path: Path) -> None:
    null, _ = asked
    again, _ = adversary_bench.made(0, 300, "frame", tmp_path)
    assert len(null.paths) == 2
    for path in null.paths:
        assert 3 <= len(failing(null.data, path)) < 100
        assert failing(null.data, path) == failing(again.data, path)
    both = (null.folder / "shapes-both.ttl").read_text(encoding="utf-8")
    assert both.count("minCount") == 2
    assert (null.folder / "shapes-0.ttl").read_text(encoding="utf-8").count("minCount") == 1


def test_proposals_are_made_of_what_fails_and_are_read(
    asked: Null,
) -> None:
    null, proposals = asked
    listed = [p for p in proposals["queries"] if "VALUES" in p["region"]["pattern"]]
    for proposal, path in zip(listed, null.paths, strict=True):
        named = {n for n in failing(null.data, path) if str(n) in proposal["region"]["pattern"]}
        assert len(named) == len(failing(null.data, path)) * 3 // 4
        assert proposal["symptom"] == path.value
    assert len(proposals["conditions"]) == 2 * adversary_bench.PROPOSED
    for kind in ("conditions", "queries"):
        supported, tests = adversary_bench.investigated(null, hypotheses=proposals[kind])
        assert supported >= 0
        assert tests > 0


def test_a_half_has_the_results_of_that_half_alone(asked: Null, tmp_path: Path) -> None:
    null, _ = asked
    sizes = []
    for half in ("day", "night"):
        out = tmp_path / f"{half}.nq"
        adversary_bench._half(null.data, half, out)
        store = ox.Store()
        store.bulk_load(path=str(out), format=ox.RdfFormat.N_QUADS)
        shift = ox.NamedNode(f"{NET}shift")
        found = {q.object.value for q in store.quads_for_pattern(None, shift, None, None)}  # type: ignore[union-attr]
        assert found == {half}
        cls = ox.NamedNode(f"{NET}Result")
        sizes.append(len(list(store.quads_for_pattern(None, None, cls, None))))
    assert sum(sizes) == 300


def test_the_table_of_adversaries_counts_nulls_with_a_cause() -> None:
    names = adversary_bench.ROWS
    quiet = dict.fromkeys(names, 0) | {"null": "independent", "policy": "frame", "cpu-honest": 1.0}
    told = list(adversary_bench.table([quiet, quiet | {"seeds": 2}, quiet | {"honest": 1}, quiet]))
    assert "| asked once | 1 | 25.0 % |" in "\n".join(told)
    assert any(line.startswith("| asked again with other seeds | 1 ") for line in told)
    assert "- independent: 1 and 2 of 4" in told


def test_the_interval_is_that_of_wilson() -> None:
    low, high = adversary_bench.interval(0, 200)
    assert low == 0
    assert high == pytest.approx(1.96**2 / (200 + 1.96**2))


# RiskLoc


def instance(true: str = "a=1&b=2") -> Any:
    rows = [[str(a), str(b), str(c), 0] for a in range(6) for b in range(6) for c in range(6)]
    told = {"attributes": ["a", "b", "c"], "rows": rows, "true": true.split(";")}
    found = riskloc_bench.made("made up", told)
    beyond = 0
    for label in found.true:
        beyond |= found.holding(label)
    told["rows"] = [[*row[:-1], beyond >> n & 1] for n, row in enumerate(rows)]
    return riskloc_bench.made("made up", told)


def test_a_conjunction_holds_its_rows() -> None:
    made = instance()
    assert made.holding("a=1").bit_count() == 36
    assert made.holding("a=1&b=2").bit_count() == 6
    assert made.holding("a=9") == 0
    assert len(made.beyond) == 6


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (["a=1"], ["a=1"]),
        (["a=1&b=2"], ["a=1&b=2"]),
        (["a=1", "a=3"], ["a=1", "a=3"]),
        (["a=1&b=2", "a=1&b=3"], ["a=1&b=2", "a=1&b=3"]),
        (["a=1&b=2&c=0"], ["a=1&b=2&c=0"]),
    ],
)
def test_rows_are_read_as_conjunctions(said: list[str], read: list[str]) -> None:
    made = instance()
    held = 0
    for label in said:
        held |= made.holding(label)
    assert riskloc_bench.labels(held, made) == read


def test_rows_that_nothing_tells_have_no_conjunction() -> None:
    made = instance()
    held = sum(1 << n for n in (0, 1, 13, 20, 51, 93, 142, 163, 201))
    assert riskloc_bench.labels(held, made) == []


def test_climbing_finds_what_is_there_and_ends() -> None:
    made = instance("a=1;b=2&c=3")
    assert set(riskloc_bench.climbed(made)) == made.true


def test_scores_are_those_of_the_checkout() -> None:
    made = instance("a=1;b=2&c=3")
    found = riskloc_bench.scored(["a=1", "c=2"], made, 1.0)
    assert (found["tp"], found["fp"], found["fn"]) == (1, 1, 1)


def test_what_kgreason_supports_is_scored(tmp_path: Path) -> None:
    made = instance("a=1")
    data = tmp_path / "rows.nt"
    ox.serialize(riskloc_bench.triples(made), str(data), format=ox.RdfFormat.N_TRIPLES)
    found = riskloc_bench.attempted(made, data, "frame")
    assert found["error"] is None
    assert found["said"] == ["a=1"]
    assert (found["tp"], found["fp"], found["fn"]) == (1, 0, 0)


def test_a_region_may_ask_for_the_named_graph_of_a_statement(tmp_path: Path) -> None:
    made = instance("a=1")
    data = tmp_path / "rows.nt"
    ox.serialize(riskloc_bench.triples(made), str(data), format=ox.RdfFormat.N_TRIPLES)
    store = riskloc_bench.stored(data)
    inside = f'?focus <{riskloc_bench.ROW}a> "1"'
    for pattern in (inside, f"GRAPH ?g {{ {inside} }}"):
        query = f"SELECT DISTINCT ?focus WHERE {{ {pattern} }}"
        held = riskloc_bench.region(store, query, riskloc_bench.places(made))
        assert held == made.holding("a=1")


def test_small_causes_are_counted_apart() -> None:
    found = {"tp": 1, "fp": 0, "fn": 1, "cpu": 1.0, "said": ["a=1"], "error": None}
    one = {"set": "S", "true": ["a=1", "b=2"], "true-beyond": [9, 1], "found": {"riskloc": found}}
    text = "\n".join(riskloc_bench.table([one]))
    assert "2 true causes, of which 1 have at most two rows" in text
    assert "| riskloc | 0.67 | 1.00 | 0.50 | 1.00 | 1.0 | 0 |" in text
