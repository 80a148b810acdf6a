"""That there is no systematic cause is earned: by tests that could have found one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgreason
from kgreason.audit import audit
from kgreason.base.detectable import detectable, halves
from kgreason.base.statistics import e_value_two_proportions, intraclass
from kgreason.record import Ledger
from tests.test_narrowed import SHAPES


def vases(failing: int, nodes: int, seed: int = 0) -> str:
    """Return vases with a workshop, a room and a year; some of them, by chance, lack a date."""
    drawn = random.Random(seed)
    bad = set(drawn.sample(range(nodes), failing))
    lines = ["@prefix ex: <http://ex.org/> ."]
    for n in range(nodes):
        dated = "" if n in bad else f' ; ex:date "{drawn.randrange(1000)}"'
        lines.append(
            f"ex:v{n} a ex:Vase ; ex:maker ex:m{drawn.randrange(6)} ; "
            f"ex:room ex:r{drawn.randrange(20)} ; ex:year {1900 + drawn.randrange(100)}{dated} ."
        )
    return "\n".join(lines) + "\n"


def found(data: str, ledger: Path, policy: str = "frame") -> tuple[kgreason.ReportedSymptom, str]:
    """Investigate, hold the record to the audit, and return the symptom and the report."""
    with kgreason.investigate(data, shapes=SHAPES, ledger=ledger, policy=policy) as result:
        (symptom,), text = result.symptoms, result.markdown()
    with Ledger.read(ledger) as store:
        checked = audit(store.record(store.entry(None)))
    assert checked.ok, checked
    return symptom, text


def until(
    verdict: str, folder: Path, tested: Sequence[bool]
) -> tuple[kgreason.ReportedSymptom, str]:
    """Return the first noise of which something was tested, or nothing was, as is wanted."""
    for seed in range(30):
        symptom, text = found(vases(60, 400, seed), folder / str(seed))
        proposed = any(h.kind != "none" for h in symptom.hypotheses)
        assert symptom.verdict in {"no systematic cause", "inconclusive"}
        if symptom.verdict == verdict and proposed in tested:
            return symptom, text
    raise AssertionError(f"no noise is {verdict}")


@pytest.mark.slow
def test_by_default_the_best_condition_is_tested_where_none_is_good_enough(tmp_path: Path) -> None:
    """Of ten noises most have no systematic cause, and each verdict has a test behind it."""
    verdicts = []
    for seed in range(10):
        symptom, _ = found(vases(60, 400, seed), tmp_path / str(seed), "code")
        verdicts.append(symptom.verdict)
        assert any(h.kind != "none" and h.evidence for h in symptom.hypotheses)
    assert verdicts.count("no systematic cause") >= 8


@pytest.mark.slow
def test_none_states_the_smallest_effect_that_would_have_been_seen(tmp_path: Path) -> None:
    symptom, text = until("no systematic cause", tmp_path, [True])
    effect = symptom.detectable
    assert effect is not None
    tried = sum(h.e_value is not None for h in symptom.hypotheses)
    expected = detectable(400, 60, tried / 0.05)
    assert expected is not None
    assert (effect.nodes, effect.failing, effect.fewest) == (60, expected.failing, expected.fewest)
    assert effect.rate == effect.failing / 60
    assert f"one on 60 nodes would have been seen where {effect.rate:.0%}"[:-1] in text
    assert f"one all of whose nodes fail from {effect.fewest} nodes on." in text
    assert symptom.nearest == ()


def test_where_nothing_was_tested_the_nearest_are_shown(tmp_path: Path) -> None:
    symptom, text = until("inconclusive", tmp_path, [False])
    assert symptom.open == ("no condition set them apart clearly enough to be tested",)
    assert 0 < len(symptom.nearest) <= 5
    for one in symptom.nearest:
        inside, outside = one.inside, one.outside
        assert not one.tested
        assert inside.failing * outside.population > outside.failing * inside.population
        assert f"| {one.statement} | {inside.failing} of {inside.population} (" in text
    assert "### Nearest candidates, not tested" in text
    assert "None of these was put to a test, so none of them is a finding." in text


def test_what_one_gate_alone_holds_back_is_inconclusive(tmp_path: Path) -> None:
    drawn = random.Random(1)
    lines = ["@prefix ex: <http://ex.org/> ."]
    # Each workshop has a rate of its own, so that the worst lies within the spread.
    for maker, (failing, nodes) in enumerate([(30, 60), (14, 60), (4, 60), (1, 60), (0, 60)]):
        for n in range(nodes):
            dated = "" if n < failing else f' ; ex:date "{drawn.randrange(1000)}"'
            lines.append(f"ex:v{maker}-{n} a ex:Vase ; ex:maker ex:m{maker}{dated} .")
    symptom, _ = found("\n".join(lines) + "\n", tmp_path)
    assert symptom.verdict == "inconclusive"
    assert symptom.open == (
        (
            "only one gate holds back “Nodes whose maker is m0 fail.”: "
            "its rate lies within the spread of its siblings"
        ),
        "too much speaks for what was tested to say that there is no cause",
    )


def test_a_rival_that_saves_bits_withholds_none(tmp_path: Path) -> None:
    """Too few workshops tell whether the worst differs from them by chance."""
    drawn = random.Random(0)
    lines = ["@prefix ex: <http://ex.org/> ."]
    for maker, (failing, nodes) in enumerate([(12, 17), (5, 23), (4, 23), (4, 23)]):
        for n in range(nodes):
            dated = "" if n < failing else f' ; ex:date "{drawn.randrange(1000)}"'
            room = f"ex:r{drawn.randrange(20)}"
            lines.append(
                f"ex:v{maker}-{n} a ex:Vase ; ex:maker ex:m{maker} ; ex:room {room}{dated} ."
            )
    symptom, _ = found("\n".join(lines) + "\n", tmp_path, "code")
    assert symptom.verdict == "inconclusive"
    why = "“Nodes whose maker is m0 fail.” saves 2.3 bits beyond what it costs to say"
    assert symptom.open == (why,)


def test_among_too_few_nothing_would_have_been_seen(tmp_path: Path) -> None:
    assert detectable(10, 8, 20) is None
    symptom, text = found(vases(8, 10), tmp_path)
    assert (symptom.verdict, symptom.detectable) == ("inconclusive", None)
    assert (
        "among so few nodes not even a condition whose nodes all fail would have been seen"
        in symptom.open
    )
    assert "would have been seen where" not in text


@given(st.integers(20, 3000), st.integers(8, 400), st.sampled_from([20.0, 200.0, 2000.0]))
def test_it_is_the_smallest(population: int, failing: int, needed: float) -> None:
    seen = detectable(population, failing, needed)
    if failing >= population or seen is None:
        return

    def e_value(inside: int, bad: int) -> float:
        return e_value_two_proportions(*halves(population, failing, inside, bad))

    assert seen.nodes == min(failing, population // 2)
    assert e_value(seen.nodes, seen.failing) >= needed
    assert e_value(seen.fewest, seen.fewest) >= needed
    assert seen.fewest <= seen.nodes


def test_more_that_is_tried_takes_a_larger_effect() -> None:
    seen = [detectable(2200, 75, tried / 0.05) for tried in (1, 10, 100, 1000)]
    failing = [one.failing for one in seen if one is not None]
    assert len(failing) == 4
    assert failing == sorted(set(failing))


@pytest.mark.parametrize(("population", "failing"), [(0, 0), (10, 10), (10, 1), (5, 0)])
def test_where_there_is_nothing_to_compare_nothing_is_seen(population: int, failing: int) -> None:
    assert detectable(population, failing, 20) is None


@pytest.mark.parametrize(
    ("groups", "share"),
    [
        ([(5, 5), (0, 7), (4, 4)], 1.0),
        ([(0, 5)], 0.0),
        ([(1, 1), (0, 1)], 0.0),
        ([(2, 4), (2, 4)], -1 / 3),  # within groups it varies more than between them
    ],
)
def test_intraclass(groups: list[tuple[int, int]], share: float) -> None:
    assert intraclass(groups) == pytest.approx(share)


def test_where_whole_sources_fail_or_none_nothing_can_be_compared(tmp_path: Path) -> None:
    """One small source of four fails wholly, too few nodes to tell by, and no other does."""
    (tmp_path / "data").mkdir()
    for place, nodes in enumerate((4, 40, 40, 40)):
        dated = ' ; ex:date "1"' if place else ""
        lines = [f"ex:v{place}-{n} a ex:Vase ; ex:room ex:r{n % 5}{dated} ." for n in range(nodes)]
        text = "\n".join(["@prefix ex: <http://ex.org/> .", *lines])
        (tmp_path / "data" / f"{place}.ttl").write_text(text, encoding="utf-8")
    symptom, text = found(str(tmp_path / "data"), tmp_path / "ledger", "code")
    assert symptom.verdict == "inconclusive"
    why = "each of the 4 sources fails wholly or not at all: nothing inside them can be compared"
    assert why in symptom.open
    assert "fails wholly or not at all" in text


def pots(failing: int, *, of_one_maker: bool) -> str:
    """Return 90 vases by eight makers; those of one maker lack a date, or as many by chance."""
    drawn = random.Random(failing)
    by_chance = set(drawn.sample(range(90), failing))
    lines = ["@prefix ex: <http://ex.org/> ."]
    for n in range(90):
        maker = 7 if n < failing else drawn.randrange(7)
        bad = n < failing if of_one_maker else n in by_chance
        dated = "" if bad else f' ; ex:date "{drawn.randrange(1000)}"'
        lines.append(
            f"ex:v{n} a ex:Vase ; ex:maker ex:m{maker} ; ex:year {drawn.randrange(90)}{dated} ."
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("failing", [5, 7])
def test_a_few_failing_nodes_are_enough_for_a_clean_cause(failing: int, tmp_path: Path) -> None:
    """Conditions pay by their bits on all nodes, so a small group needs no half held out."""
    symptom, _ = found(pots(failing, of_one_maker=True), tmp_path / "maker", "code")
    assert symptom.verdict == "explained"
    assert symptom.hypotheses[0].statement == "Nodes whose maker is m7 fail."
    symptom, _ = found(pots(failing, of_one_maker=False), tmp_path / "chance", "code")
    # A cause behind half of so few would not have been seen.
    assert symptom.verdict == "inconclusive"
    assert f"nodes on, and {failing} fail in all" in " ".join(symptom.open)


def test_where_a_cause_of_half_would_be_seen_it_is_said_that_there_is_none(tmp_path: Path) -> None:
    symptom, _ = found(pots(16, of_one_maker=False), tmp_path / "chance", "code")
    assert symptom.verdict == "no systematic cause"


def test_four_failing_nodes_are_too_few(tmp_path: Path) -> None:
    symptom, _ = found(pots(4, of_one_maker=True), tmp_path / "maker", "code")
    assert symptom.verdict == "inconclusive"
