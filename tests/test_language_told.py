"""What the result tells of the search in conditions: bits, what was not reached, and the seed."""

import random
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.hypothesize.conditions.hunt import Extent
from tests.lifetime_support import sample, written

BOX: Final = "Nodes whose box is “boxfour” fail."
SEEDED: Final = "- **Depends on the seed:** it was tested on the half"


def boxes(folder: Path) -> dict[str, Any]:
    """Write samples that mostly fail in one of nine boxes."""
    draw, rows = random.Random(7), []
    names = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
    for n in range(480):
        fails = draw.random() < (0.9 if n % 9 == 4 else 0.03)
        rows.append(sample(n, f'e:box "box{names[n % 9]}"', fails=fails))
    return {"calibration": "none"} | written(folder, rows)


def asked(options: dict[str, Any], **more: Any) -> kgreason.Result:
    return kgreason.investigate(**options, **more)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[kgreason.Result]:
    options = boxes(tmp_path_factory.mktemp("boxes"))
    return [asked(options, seed=seed) for seed in (0, 1)]


def test_a_cause_that_the_search_tells_is_the_same_with_another_seed(
    results: list[kgreason.Result],
) -> None:
    told = [
        [
            (s.verdict, s.explained, h.statement, h.status, h.bits)
            for s in each.symptoms
            for h in s.hypotheses
        ]
        for each in results
    ]
    assert told[0] == told[1]
    assert told[0][0][2:4] == (BOX, "supported")
    assert [c.fingerprint for c in results[0].causes] == [c.fingerprint for c in results[1].causes]
    assert not any(h.depends_on_seed for s in results[0].symptoms for h in s.hypotheses)
    assert SEEDED not in results[0].markdown()


def test_the_bits_of_a_cause_are_told(results: list[kgreason.Result]) -> None:
    (cause,) = results[0].causes
    assert cause.bits is not None
    assert cause.bits.saved > 100
    assert 3 < cause.bits.code_length < 12
    assert cause.bits == results[0].symptoms[0].hypotheses[0].bits
    assert results[0].symptoms[0].hypotheses[-1].bits is None  # of “no systematic cause”


def test_the_methodology_says_how_far_the_search_went(results: list[kgreason.Result]) -> None:
    (symptom,) = results[0].symptoms
    assert symptom.search is not None
    assert symptom.search.paths > 3
    assert symptom.search.conditions > 20
    assert (symptom.search.unreached, symptom.search.examples) == (0, ())
    told = results[0].markdown().partition("# Methodology")[2]
    said = "searches; of the paths within reach none that could have told more was left out"
    assert said in told


def test_paths_that_were_not_reached_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching = import_module("kgreason.hypothesize.conditions.search")
    monkeypatch.setattr(searching, "Extent", lambda: Extent(paths=2))
    result = asked(boxes(tmp_path))
    (symptom,) = result.symptoms
    assert symptom.search is not None
    assert symptom.search.unreached > 0
    assert symptom.search.examples
    told = result.markdown().partition("# Methodology")[2]
    assert "that might have told more" in told
    assert f"not reached, among them “{min(symptom.search.examples)}”" in told
    assert audit(result.record).ok


def test_a_cause_that_only_a_half_bears_out_says_that_it_hangs_on_the_seed(tmp_path: Path) -> None:
    """Sixteen of sixty fail, of the others one in fifty: too little for the search among all."""
    draw, boxes_ = random.Random(116), [f"box{n % 20}" for n in range(1200)]
    inside = [n for n in range(1200) if boxes_[n] == "box4"]
    bad = {*draw.sample(inside, 16), *draw.sample(sorted(set(range(1200)) - set(inside)), 23)}
    rows = [sample(n, f'e:box "{boxes_[n]}"', fails=n in bad) for n in range(1200)]
    result = asked(written(tmp_path, rows) | {"calibration": "none"})
    (symptom,) = result.symptoms
    leading = symptom.hypotheses[0]
    assert (leading.status, leading.bits) == ("supported", None)
    assert leading.depends_on_seed
    assert SEEDED in result.markdown()
    assert audit(result.record).ok
