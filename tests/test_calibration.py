"""Calibration: what is learned, what it is learned from, how it is applied, kept and audited."""

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Final

import jsonschema
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kgreason
from kgreason.audit import audit
from kgreason.audit.second_engine import recomputed
from kgreason.base.errors import GraphError, LedgerError, OptionError
from kgreason.base.terms import POLICY, TRAILS, TYPE
from kgreason.cli import app
from kgreason.inject.calibration_cases import Case, judged, trials
from kgreason.inject.calibration_rdf import calibrated, calibration_of
from kgreason.inject.fit_policy import fitted, proposed
from kgreason.inject.isotonic import Block, bounds, fit, pooled, tied, value_at
from kgreason.inject.learn_calibration import FOLDS, folded, learn, out_of_fold
from kgreason.record import Ledger, Record, calibration, policy
from kgreason.record.ranking import hypotheses
from kgreason.review.judge import judge, opinions
from kgreason.review.rejudge import Evidence
from kgreason.review.replay import replay
from tests.audit_support import CASES, kept_in, lab, relinked, statements, tampered, tiny

ROOT: Final = Path(__file__).resolve().parents[1]
SCHEMA: Final = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "calibration.toml").read_text(encoding="utf-8")
)["mutant"]
FRAME: Final = POLICY.frame.value
"""The policy of the cases here, as of those from which the map that comes along was learned."""

FRAMED: Final = ("--policy", "frame")

Pairs = list[tuple[float, bool]]
PAIRS = st.lists(st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.booleans()), min_size=1)


# --- the map ----------------------------------------------------------------------------


def loss(blocks: Sequence[Block]) -> float:
    """Give the squared error of the shares of some blocks."""
    return sum(b.right * (1 - b.share) ** 2 + (b.number - b.right) * b.share**2 for b in blocks)


def best(start: list[Block]) -> float:
    """Give the least squared error of all non-decreasing step functions, tried one by one."""
    places = range(1, len(start))
    found = []
    for size in range(len(start)):
        for cuts in combinations(places, size):
            ends = [0, *cuts, len(start)]
            made = [sum(start[a + 1 : b], start[a]) for a, b in pairwise(ends)]
            if all(one.share <= next_.share for one, next_ in pairwise(made)):
                found.append(loss(made))
    return min(found)


@given(PAIRS)
def test_pooling_is_the_best_of_all_rising_step_functions(pairs: Pairs) -> None:
    start = tied(pairs)
    made = pooled(start, lambda block: block.share)
    assert loss(made) == pytest.approx(best(start))
    assert all(one.share < next_.share for one, next_ in pairwise(made))


@given(PAIRS, st.integers(1, 12))
def test_a_map_rises_and_is_never_certain(pairs: Pairs, least: int) -> None:
    made = fit(pairs, least)
    values = [calibrated(block) for block in made]
    assert all(one <= next_ for one, next_ in pairwise(values))
    assert all(Decimal(0) < value < Decimal(1) for value in values)
    assert sum(block.number for block in made) == len(pairs)
    assert sum(block.right for block in made) == sum(right for _, right in pairs)
    assert len(made) == 1 or all(block.number >= least for block in made)
    for one, next_, end in zip(made, made[1:], bounds(made), strict=False):
        assert one.last < end <= next_.first


@given(PAIRS, st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_who_is_surer_is_not_estimated_lower(pairs: Pairs, asked: list[float]) -> None:
    made = fit(pairs, 3)
    found = [value_at(made, confidence) for confidence in sorted(asked)]
    assert found == sorted(found)


def test_a_map_by_hand() -> None:
    low, high = [(0.2, False)] * 8 + [(0.2, True)] * 2, [(0.7, True)] * 9 + [(0.9, False)]
    first, second = fit(low + high)
    assert (first.number, first.right, second.number, second.right) == (10, 2, 10, 9)
    assert bounds([first, second]) == [0.45]
    assert [calibrated(b) for b in (first, second)] == [Decimal("0.25"), Decimal("0.833333")]


def test_shrunk_values_rise_too() -> None:
    """200 of 205 and then 10 of 10: the second is worth less by itself, so both are one."""
    sure = [(0.8, True)] * 200 + [(0.8, False)] * 5 + [(0.9, True)] * 10
    (both,) = fit(sure)
    assert (both.number, both.right) == (215, 210)


# --- what it is learned from ------------------------------------------------------------


def case(confidence: float, right: bool, graph: str = "g", seed: int = 0, **more: Any) -> Case:  # noqa: FBT001 - right or wrong
    return Case(confidence, right, graph, "source", seed, more.pop("policy", FRAME), **more)


def some(adjustment: float | None = None) -> list[Case]:
    """Forty leaders over four seeds that claim more than they hold."""
    out = []
    for n in range(20):
        out.append(case(0.4, n % 10 == 0, seed=n % 4, adjustment=adjustment))
        out.append(case(0.98, n % 5 != 0, seed=n % 4, adjustment=adjustment))
    return out


def split() -> list[Case]:
    """Leaders of which those that gained by their features do better."""
    return [
        case(raw, n % every == 0, seed=n, adjustment=0.0)
        for raw, every in ((0.2, 6), (0.97, 2), (0.999, 1))
        for n in range(24)
    ]


def written(folder: Path, cases: Sequence[Case], name: str = "map.ttl", **options: Any) -> Path:
    path = folder / name
    made = learn(cases, "frame", **options)
    path.write_text(calibration_of(made).turtle(), encoding="utf-8")
    return path


def test_folds_are_graphs_where_there_are_three() -> None:
    cases = [case(0.5, right=True, graph=name) for name in "abca"]
    assert folded(cases) == ("graph", ["a", "b", "c", "a"])
    cases = [case(0.5, right=True, seed=seed) for seed in (3, 13, 14)]
    assert folded(cases) == ("seed", [3, 13 % FOLDS, 4])


def test_no_case_has_a_say_in_its_own_estimate() -> None:
    pairs: Pairs = [(0.5, True)] * 4 + [(0.5, False)] * 2
    folds = ["a"] * 4 + ["b"] * 2
    # Those of a are judged by 0 of 2 right, those of b by 4 of 4.
    assert out_of_fold(pairs, folds) == pytest.approx([0.25] * 4 + [0.833333] * 2)
    assert out_of_fold(pairs, ["a"] * 6) == []


def test_what_is_learned_by_hand() -> None:
    made = learn(some(), "frame")
    assert made.folded_by == "seed"
    assert made.folds == 4
    assert made.before["ece"] == pytest.approx((0.3 + 0.18) / 2)
    assert made.before["brier"] == pytest.approx((0.18 + 0.1924) / 2)
    assert made.after is not None
    assert made.after["ece"] < made.before["ece"] / 2
    steps = [(b.number, b.right, calibrated(b)) for b in made.blocks]
    assert steps == [(20, 2, Decimal("0.136364")), (20, 16, Decimal("0.772727"))]


def test_features_move_the_input() -> None:
    (first, second) = learn(some(0.1), "frame", features=True).blocks
    assert (first.first, second.last) == (0.5, 1.0)  # 0.98 and 0.1 are kept at 1
    with pytest.raises(OptionError, match="whose adjustment is known"):
        learn(some(), "frame", features=True)


def test_other_policies_are_left_out() -> None:
    other = case(0.1, right=True, policy=POLICY.delta.value)
    assert len(learn([*some(), other], "frame").cases) == 40
    assert len(learn([*some(), other], "delta").cases) == 1
    with pytest.raises(OptionError, match="no case under the policy e-value"):
        learn(some(), "e-value")
    with pytest.raises(OptionError, match="no policy 'nonsense'"):
        learn(some(), "nonsense")


TRIAL: Final = {
    "outcome": "done", "confidence": 0.9, "leader_right": True, "graph": "g", "fault": "source",
    "seed": 3, "policy": FRAME, "features": {"adjustment": 0.1},
}  # fmt: skip


def test_trials_are_read(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    rest = [
        {"outcome": "failed"},
        TRIAL | {"confidence": None},
        {k: v for k, v in TRIAL.items() if k not in {"policy", "features"}},
    ]
    file.write_text(json.dumps({"trials": [TRIAL, *rest]}), encoding="utf-8")
    with_, without = trials(file)
    right = True
    assert with_ == Case(0.9, right, "g", "source", 3, FRAME, 0.1)
    assert without == Case(0.9, right, "g", "source", 3, FRAME, None)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"trials": 3}', '{"trials": [{}]}', "\xff",
        json.dumps({"trials": [TRIAL | {"confidence": 1.2}]}),
        json.dumps({"trials": [TRIAL | {"leader_right": "yes"}]}),
        json.dumps({"trials": [TRIAL | {"features": {"adjustment": "much"}}]}),
    ],
)  # fmt: skip
def test_what_is_no_result_of_a_benchmark_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(GraphError, match=r"no results\.json of"):
        trials(file)
    ended = CliRunner().invoke(app, ["calibrate", str(file)])
    assert ended.exit_code == 2
    assert len(ended.stderr.strip().splitlines()) == 1


# --- files ------------------------------------------------------------------------------


def test_a_map_is_the_same_again_as_a_file(tmp_path: Path) -> None:
    made = calibration_of(learn(some(), "frame"))
    read = calibration.load(str(written(tmp_path, some())))
    assert read is not None
    assert (read.iri, read.policy, read.triples) == (made.iri, POLICY.frame, made.triples)
    assert made.turtle() == calibration_of(learn(list(reversed(some())), "frame")).turtle()
    assert made.iri != calibration_of(learn(some()[1:], "frame")).iri


@pytest.mark.parametrize(
    ("name", "rules"), [("calibration", POLICY.frame), ("calibration-code", POLICY.code)]
)
def test_a_map_that_comes_along_is_sound(name: str, rules: ox.NamedNode, tmp_path: Path) -> None:
    """It is not checked at each run, so it is checked here, as a file of a user would be."""
    shipped = ROOT / "ontology" / f"{name}.ttl"
    copy = tmp_path / "copy.ttl"
    copy.write_bytes(shipped.read_bytes())
    assert calibration.load(str(copy)) == calibration.under(calibration.DEFAULT, rules)
    assert calibration.under(calibration.DEFAULT, POLICY.delta) is None
    assert calibration.load(calibration.NONE) is None
    assert "kgreason bench" in shipped.read_text(encoding="utf-8")


def test_the_map_of_the_default_policy_knows_causes_of_each_proof_and_natural_faults() -> None:
    found = calibration.under(calibration.DEFAULT, POLICY.code)
    assert found is not None
    assert found.proofs >= {"direct", "bits", "halves"}
    natural = [
        int(t.object.value)
        for t in found.triples
        if t.predicate == TRAILS.naturalLeaders and isinstance(t.object, ox.Literal)
    ]
    assert sum(natural) >= 30


STEP_ONE: Final = r"<urn:kgreason:calibration:[0-9a-f]{16}:step:1>"
BROKEN: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "not Turtle": ("this is not Turtle", lambda _: "nonsense"),
    "empty": ("it describes none", lambda _: ""),
    "changed": ("is the digest of", lambda t: re.sub(r"rawEce [\d.]+", "rawEce 0.5", t)),
    "renamed": ("is the digest of", lambda t: re.sub(r"calibration:[0-9a-f]{16}", "other:x", t)),
    "more": ("is the digest of", lambda t: t + "<urn:x> <urn:y> <urn:z> ."),
    "a value": ("A stretch of", lambda t: t.replace("calibrated 0.136364", "calibrated 0.2")),
    "a gap": ("stretches do not cover", lambda t: t.replace("upper 0.69", "upper 0.5")),
    "a sum": ("leaders: ", lambda t: re.sub(r"leaders 40 ;", "leaders 0 ;", t)),
    "a fold": ("foldedBy: ", lambda t: t.replace('"seed"', '"luck"')),
    "a blank": ("--calibration", lambda t: re.sub(STEP_ONE, "_:b", t)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.slow
def test_a_file_that_cannot_be_used_is_refused(name: str, tmp_path: Path) -> None:
    said, change = BROKEN[name]
    file = written(tmp_path, some())
    text = file.read_text(encoding="utf-8")
    assert change(text) != text
    file.write_text(change(text), encoding="utf-8")
    with pytest.raises(OptionError, match=said):
        calibration.load(str(file))
    tiny(tmp_path)
    ended = CliRunner().invoke(
        app,
        ["investigate", str(tmp_path / "data"), "--shapes", str(tmp_path / "shapes.ttl"),
         "--calibration", str(file), "--ledger", str(tmp_path / "ledger")],
    )  # fmt: skip
    assert ended.exit_code == 2
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "ledger").exists()


def test_another_name_or_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"give a FILE\.ttl or none"):
        calibration.load("best")
    with pytest.raises(OptionError, match="cannot be read"):
        calibration.load(str(tmp_path / "missing.ttl"))
    with pytest.raises(OptionError, match=r"learned under the policy .*frame"):
        calibration.under(str(written(tmp_path, some())), POLICY.delta)


# --- in a record ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ledger of an investigation that was calibrated, by features, and judged."""
    folder = tmp_path_factory.mktemp("calibrated")
    file = written(folder, split(), features=True)
    lab(folder, policy="frame", calibration=str(file), ledger=folder / "ledger").store.close()
    judge(folder / "ledger", "1", "Ada", right=True)
    judge(folder / "ledger", "1", "Bob", right=True, note="I asked them.")
    judge(folder / "ledger", "2", "Ada", right=True)
    judge(folder / "ledger", "2", "Ada", right=False)
    return folder


@pytest.fixture(scope="module")
def record(place: Path) -> Record:
    """A copy of that record in memory."""
    return copied(place / "ledger")


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ledger of an investigation under code, whose last rule goes by estimates.

    Its source was told on a held-out half, and its mapping by a direct check.
    """
    folder = tmp_path_factory.mktemp("brought")
    lab(folder, calibration="default", ledger=folder / "ledger").store.close()
    return folder


@pytest.fixture(scope="module")
def lowered(brought: Path) -> Record:
    """A copy of that record in memory."""
    return copied(brought / "ledger")


def copied(place: Path) -> Record:
    with Ledger.read(place) as ledger:
        found = ledger.record(ledger.entry())
        kept = Ledger.memory()
        kept.store.inner.extend(statements(found))
        return Record(kept.store, found.iri)


def test_estimates_are_what_the_map_says(record: Record) -> None:
    made = learn(split(), "frame", features=True)
    rows = record.store.select(
        "PREFIX trails: <https://w3id.org/trails#> SELECT ?raw ?adjustment ?calibrated ?now "
        f"WHERE {{ GRAPH {record.iri} {{ ?e a trails:Estimate ; trails:raw ?raw ; "
        "trails:calibrated ?calibrated ; trails:hypothesis ?h . "
        "?h trails:symptom ?s ; trails:confidence ?now . "
        "?v trails:symptom ?s ; trails:adjustment ?adjustment } }"
    )
    assert len(rows) == len(record.select("standings")) > 4
    values = set()
    for row in rows:
        raw, adjustment = (float(row[name].value) for name in ("raw", "adjustment"))
        expected = value_at(made.blocks, min(1.0, max(0.0, raw + adjustment)))
        assert float(row["calibrated"].value) == expected
        assert row["raw"] == row["now"]
        values.add(expected)
    assert len(values) > 1
    assert calibration.recorded(record) == calibration_of(made)


def test_status_and_confidence_do_not_depend_on_it(place: Path, record: Record) -> None:
    def fates(of: Record) -> list[Any]:
        return [(r["status"].value, r["confidence"].value) for r in of.select("standings")]

    options: dict[str, Any] = {"shapes": place / "shapes.ttl", "max_hypotheses": 3}
    options["policy"] = "frame"
    with kgreason.investigate(place / "data", calibration="none", **options) as without:
        assert fates(without.record) == fates(record)
        assert calibration.recorded(without.record) is None


def test_the_result_has_both(place: Path) -> None:
    with kgreason.result(place / "ledger") as result:
        told, page = result.as_dict(), result.markdown()
    jsonschema.validate(told, SCHEMA)
    supported = [h for s in told["symptoms"] for h in s["hypotheses"] if h["status"] == "supported"]
    assert supported
    assert all(h["calibrated"] is not None for h in supported)
    assert any(h["calibrated"] != h["confidence"] for h in supported)
    assert all(s["features"]["adjustment"] == 0.1 for s in told["symptoms"])
    assert page.count("## Calibrated confidence") == len(supported)
    assert "Bob" in page
    assert "I asked them." in page


def test_without_a_map_the_result_says_null(place: Path) -> None:
    options: dict[str, Any] = {"shapes": place / "shapes.ttl", "max_hypotheses": 3}
    for more in ({"calibration": "none"}, {"policy": "delta"}):
        with kgreason.investigate(place / "data", **(options | more)) as result:
            told = result.as_dict()
        jsonschema.validate(told, SCHEMA)
        found = [h["calibrated"] for s in told["symptoms"] for h in s["hypotheses"]]
        assert set(found) == {None}


def test_by_default_causes_are_calibrated_and_the_report_says_on_what(place: Path) -> None:
    options: dict[str, Any] = {"shapes": place / "shapes.ttl", "max_hypotheses": 3}
    with kgreason.investigate(place / "data", **options) as result:
        told, page = result.as_dict(), result.markdown()
        assert audit(result.record).ok
    jsonschema.validate(told, SCHEMA)
    causes = [
        h
        for s in told["symptoms"]
        for h in s["hypotheses"]
        if h["status"] == "supported" and h["kind"] != "none"
    ]
    assert causes
    assert all(h["calibrated"] is not None and h["calibrated_on"] is not None for h in causes)
    assert "faults that nobody sowed, in other people" in page
    assert "Among its rivals alone its confidence would be" in page
    assert all(h["confidence"] == min(h["posterior"], h["calibrated"]) for h in causes)
    assert any(h["confidence"] < h["posterior"] for h in causes)


def test_a_replay_uses_the_recorded_copy(place: Path) -> None:
    kept = (place / "map.ttl").read_bytes()
    (place / "map.ttl").unlink()
    try:
        assert replay(place / "ledger").same
    finally:
        (place / "map.ttl").write_bytes(kept)


def test_a_judged_history_is_clean(record: Record) -> None:
    found = audit(record)
    assert found.ok, str(found)
    assert not found.notices


@pytest.mark.slow
def test_both_engines_find_nothing(record: Record) -> None:
    found = audit(record, engine="pyshacl")
    assert found.ok, str(found)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
@pytest.mark.slow
def test_a_mutant_is_found_by_the_rules_named(
    mutant: dict[str, Any], record: Record, lowered: Record
) -> None:
    forged = tampered(lowered if "history" in mutant else record, mutant["update"])
    assert "seal" in audit(forged).rules
    assert audit(relinked(forged)).rules == set(mutant["rules"])


@pytest.mark.slow
@pytest.mark.parametrize("start", range(3))
def test_both_engines_find_the_same(start: int, record: Record) -> None:
    mutants = [mutant for mutant in MUTANTS if "history" not in mutant]
    updates = [mutant["update"] for mutant in mutants[start::3]]
    forged = tampered(record, *updates, strict=False)
    said = {(f.rule, f.node) for f in audit(forged).findings}
    assert {(f.rule, f.node) for f in audit(forged, engine="pyshacl").findings} == said
    assert len(said) >= len(updates)


# --- what it brings down ------------------------------------------------------------------


def test_a_cause_is_told_for_no_more_than_its_kind_of_proof_is_worth(lowered: Record) -> None:
    found = audit(lowered)
    assert found.ok, str(found)
    known = [h for group in hypotheses(lowered).values() for h in group]
    values = {str(row["hypothesis"].value): row for row in lowered.select("result-estimates")}
    for one in known:
        if one.cause:
            assert one.confidence == float(values[one.id]["calibrated"].value) < one.posterior
        else:
            assert one.confidence == one.posterior
    assert {one.proof for one in known if one.cause} == {"direct", "halves"}
    # The status was given by what it was among its rivals.
    assert all(one.posterior >= 0.8 for one in known if one.cause)


def test_what_was_brought_down_is_not_brought_down_again(lowered: Record) -> None:
    before = statements(lowered)
    (step,) = lowered.select("steps-of", phase=TRAILS.Conclude)
    (rule,) = policy.load().last_rules
    given = {"investigation": lowered.iri, "step": ox.NamedNode(step["step"].value)}
    lowered.store.update(rule.render(**given))
    assert set(statements(lowered)) == set(before)


def test_a_second_engine_brings_it_down_too(tmp_path: Path) -> None:
    record = tiny(tmp_path, calibration="default")
    assert [q for q in statements(record) if q.predicate == TRAILS.estimate]
    found = recomputed(audit(record), record)
    assert found.ok, str(found)


def test_who_judges_it_again_comes_to_the_same(brought: Path, lowered: Record) -> None:
    assert replay(brought / "ledger").same
    evidence = Evidence(lowered)
    again = evidence.judged(policy.load())
    assert [dict(r) for r in again.select("standings")] == [
        dict(r) for r in lowered.select("standings")
    ]
    # What was learned under one policy brings nothing down under another.
    framed = evidence.judged(policy.load("frame"))
    assert not [q for q in statements(framed) if q.predicate == TRAILS.estimate]


def test_a_judgement_is_learned_from_by_what_it_was_among_its_rivals(brought: Path) -> None:
    judge(brought / "ledger", "1", "Ada", right=True)
    ((one,), _) = judged(brought / "ledger")
    with Ledger.read(brought / "ledger") as ledger:
        record = ledger.record(ledger.entry())
        assert audit(record).ok
        (told,) = (h for group in hypotheses(record).values() for h in group if h.order == 0)
    assert one.confidence == told.posterior > told.confidence


def test_results_are_learned_from_by_what_a_leader_was_among_its_rivals(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"trials": [TRIAL | {"posterior": 0.99}]}), encoding="utf-8")
    (one,) = trials(file)
    assert one.confidence == 0.99


# --- what people say --------------------------------------------------------------------


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_last_judgement_of_each_person_counts(record: Record) -> None:
    said = {
        key.rpartition(":")[2]: [(one.person, one.right) for one in found]
        for key, found in opinions(record).items()
    }
    assert said == {"1": [("Ada", True), ("Bob", True)], "2": [("Ada", False)]}


def test_judgements_are_learned_from(place: Path) -> None:
    cases, notices = judged(place / "ledger")
    assert notices == []
    assert [(c.right, c.fault, c.adjustment) for c in cases] == [
        (True, "judgement", 0.1), (False, "judgement", 0.1),
    ]  # fmt: skip
    assert learn(cases, "frame").judged == 2


def test_the_command_appends_and_tells_of_contradictions(tmp_path: Path) -> None:
    kept_in(tmp_path / "ledger", tiny(tmp_path)).store.close()
    at = ("--ledger", tmp_path / "ledger")
    first = run("verdict", "H1", "right", "--by", "Ada", *at)
    assert first.exit_code == 0, first.stderr
    assert re.fullmatch(r"\S+:judgement:1: \S+:hypothesis:1 is right\.\n", first.stdout)
    assert first.stderr == ""
    iri = first.stdout.split()[1]
    second = run("verdict", iri, "wrong", "--by", "Bob", "--note", "No.", *at)
    assert second.exit_code == 0
    assert f"contradict each other on {iri} (Ada: right, Bob: wrong)" in second.stderr
    none = run("calibrate", *at)
    assert none.exit_code == 2
    assert "left out" in none.stderr
    third = run("verdict", "H1", "wrong", "--by", "Ada", "--investigation", "1", *at)
    assert third.stderr == ""
    with kgreason.result(tmp_path / "ledger") as result:
        people = [q for q in statements(result.record) if q.predicate == TYPE]
        assert sum(q.object.value.endswith("#Person") for q in people) == 2
        assert audit(result.record).ok
    out = tmp_path / "map.ttl"
    made = run("calibrate", *at, "--out", out, "--force")
    assert made.exit_code == 2
    assert "1 cases, 1 of them judged by people" in made.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("9", "right", "--by", "Ada"),
        ("H1", "right", "--by", " "),
        ("H1", "right", "--by", "Ada", "--investigation", "7"),
        ("H1", "perhaps", "--by", "Ada"),
        ("H1", "right"),
    ],
)
@pytest.mark.slow
def test_a_judgement_that_cannot_be_is_refused(arguments: tuple[str, ...], place: Path) -> None:
    before = run("report", "--ledger", place / "ledger").stdout
    assert run("verdict", *arguments, "--ledger", place / "ledger").exit_code == 2
    assert run("report", "--ledger", place / "ledger").stdout == before


def test_an_unfinished_investigation_is_not_judged(tmp_path: Path) -> None:
    running = tampered(
        tiny(tmp_path),
        "DELETE { ?i trails:state ?s } INSERT { ?i trails:state trails:Running } "
        "WHERE { ?i trails:state ?s }",
    )
    kept_in(tmp_path / "ledger", running).store.close()
    with pytest.raises(LedgerError, match="is not finished"):
        judge(tmp_path / "ledger", "1", "Ada", right=True)
    ended = run("verdict", "H1", "right", "--by", "Ada", "--ledger", tmp_path / "ledger")
    assert ended.exit_code == 2
    assert "kgreason resume" in ended.stderr


def test_the_command_learns(tmp_path: Path) -> None:
    for name, graph in (("a", "one"), ("b", "two"), ("c", "three")):
        done = [TRIAL | {"graph": graph, "leader_right": n % 2 == 0, "seed": n} for n in range(12)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"trials": done}), encoding="utf-8")
    files = [tmp_path / f"{name}.json" for name in "abc"]
    made = run("calibrate", *files, *FRAMED, "--with-features", "--out", tmp_path / "map.ttl")
    assert made.exit_code == 0
    assert "ECE 0.4000 raw, 0.0000 calibrated" in made.stderr
    assert "(3 folds by graph)" in made.stderr
    found = calibration.load(str(tmp_path / "map.ttl"))
    assert found is not None
    said = {t.predicate: t.object for t in found.triples if t.subject == found.iri}
    assert said[TRAILS.leaders] == ox.Literal(36)
    assert said[TRAILS.withFeatures] == ox.Literal(True)  # noqa: FBT003 - the value of a literal
    assert run("calibrate").exit_code == 2
    assert run("calibrate", tmp_path / "missing.json").exit_code == 2


def results(folder: Path, name: str, trials: Sequence[dict[str, Any]]) -> Path:
    path = folder / name
    path.write_text(json.dumps({"trials": list(trials)}), encoding="utf-8")
    return path


def test_few_cases_are_no_map(tmp_path: Path) -> None:
    """Six leaders that are right: by Laplace's rule the map claims less, out of fold as well."""
    six = [TRIAL | {"confidence": 0.99, "seed": n} for n in range(6)]
    file, out = results(tmp_path, "six.json", six), tmp_path / "map.ttl"
    made = run("calibrate", file, *FRAMED, "--out", out, "--force")
    assert made.exit_code == 2
    assert "ECE 0.0100 raw, 0.1429 calibrated" in made.stderr
    assert "6 cases" in made.stderr
    assert "asks for 30 (policy:calibrateFrom)" in made.stderr
    assert not out.exists()


def test_a_map_that_is_worse_out_of_fold_is_written_by_force_alone(tmp_path: Path) -> None:
    """In each fold others are right: what is learned of one is wrong of the other."""
    cases = [
        TRIAL | {"confidence": 0.5, "seed": n % 2, "leader_right": n % 2 == 0} for n in range(40)
    ]
    file, out = results(tmp_path, "two.json", cases), tmp_path / "map.ttl"
    refused = run("calibrate", file, *FRAMED, "--out", out)
    assert refused.exit_code == 1
    assert re.search(r"ECE 0\.0000 raw, 0\.\d+ calibrated", refused.stderr)
    assert "worse than none does. It is not written; --force" in refused.stderr
    assert not out.exists()
    forced = run("calibrate", file, *FRAMED, "--out", out, "--force")
    assert forced.exit_code == 0
    assert "worse than none does. It is written since --force asks for it." in forced.stderr
    assert calibration.load(str(out)) is not None


def test_a_map_that_was_not_tried_is_written_by_force_alone(tmp_path: Path) -> None:
    file = results(tmp_path, "one.json", [TRIAL] * 40)
    refused = run("calibrate", file, *FRAMED)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "The cases make one fold" in refused.stderr
    forced = run("calibrate", file, *FRAMED, "--force")
    assert forced.exit_code == 0
    assert "trails:Calibration" in forced.stdout


# --- by kind of proof -------------------------------------------------------------------


def proven(fault: str = "source") -> list[Case]:
    """Leaders of two kinds of proof: bits are right in half of the cases, checks in nearly all."""
    out = []
    for n in range(24):
        more: dict[str, Any] = {"seed": n // 6, "policy": POLICY.code.value}
        named = fault if n % 3 else "natural"
        out.append(replace(case(0.99, right=n % 12 != 0, **more), proof="direct", fault=named))
        out.append(replace(case(0.99, right=n % 2 == 0, **more), proof="bits"))
    return [*out, replace(case(0.99, right=True, **more), proof="halves")]


def test_each_kind_of_proof_has_a_map_of_its_own(tmp_path: Path) -> None:
    made = learn(proven(), "code")
    assert list(made.maps) == ["bits", "direct"]  # one case says nothing of halves
    assert [(b.number, b.right) for b in made.blocks] == [(24, 12), (24, 22)]
    assert made.after is not None
    assert made.after["ece"] < made.before["ece"] / 2
    file = tmp_path / "map.ttl"
    file.write_text(calibration_of(made).turtle(), encoding="utf-8")
    read = calibration.load(str(file))
    assert read is not None
    assert read.proofs == {"bits", "direct"}
    counted = {str(t.object) for t in read.triples if t.predicate == TRAILS.naturalLeaders}
    assert {one[1] for one in counted} == {"0", "8"}


def test_no_map_is_judged_by_cases_of_another_proof() -> None:
    pairs: Pairs = [(0.5, True)] * 20 + [(0.5, False)] * 20
    folds = ["a", "b"] * 20
    proofs = ["bits"] * 20 + ["direct"] * 20
    expected = pytest.approx([11 / 12] * 20 + [1 / 12] * 20, abs=1e-6)
    assert out_of_fold(pairs, folds, proofs) == expected
    # What the other folds know too little of stays as it is.
    assert out_of_fold(pairs, ["a"] * 31 + ["b"] * 9, proofs)[:31] == [0.5] * 31


def test_the_report_says_on_what_and_where_there_is_no_record(tmp_path: Path) -> None:
    """Labels are told by a direct check, which the map knows; masses in a way it knows not."""
    file = tmp_path / "map.ttl"
    known = [c for c in proven() if c.proof == "direct"]
    file.write_text(calibration_of(learn(known, "code")).turtle(), encoding="utf-8")
    ledger = tmp_path / "ledger"
    lab(tmp_path, policy="code", calibration=str(file), ledger=ledger).store.close()
    with kgreason.result(ledger) as result:
        text, found = result.markdown(), audit(result.record)
        symptoms = result.symptoms
    told = {h.proof: h for s in symptoms for h in s.hypotheses if h.status == "supported"}
    others = {proof or "" for proof in told} - {"direct", "none"}
    assert others
    on = told["direct"].calibrated_on
    assert on is not None
    assert (on.cases, on.right, on.natural, on.natural_right) == (24, 22, 8, 6)
    assert all(told[one].calibrated is None for one in others)
    assert (
        "of 24 causes told by direct checks with a confidence from 0 to 1, 22 were right when the "
        "cause was known; 8 of them were faults that nobody sowed, in other people\u2019s graphs, "
        "and of these 6 were right" in text
    )
    how = {"bits": "by their bits among all nodes", "halves": "on a held-out half"}
    assert all(f"too few of which were told {how[one]} as this one is." in text for one in others)
    assert found.ok, str(found)


def test_natural_cases_are_read(tmp_path: Path) -> None:
    leader = {"confidence": 0.9, "right": True, "proof": "direct", "policy": FRAME, "seed": 0}
    file = tmp_path / "natural.json"
    told = [{"case": "a", "split": "learn", "leader": leader}, {"case": "b", "leader": None}]
    file.write_text(json.dumps(told))
    sure: dict[str, Any] = {"fault": "natural", "seed": 0, "policy": FRAME, "proof": "direct"}
    assert trials(file) == [Case(0.9, right=True, graph="a", part="learn", **sure)]


def test_natural_faults_are_counted_by_their_part_and_not_one_by_one() -> None:
    cases = [replace(case(0.9, right=True, seed=n), proof="direct") for n in range(40)]
    cases += [
        replace(each, graph=f"case {n // 2}", fault="natural", part="learn")
        for n, each in enumerate(cases)
    ]
    made = calibration_of(learn(cases, "frame"))
    told = {str(t.object) for t in made.triples if t.predicate == TRAILS.ofGraph}
    assert '"learn (20 graphs)"' in told
    assert not any("case " in one for one in told)


# --- the numbers of a policy ------------------------------------------------------------


def overbold(many: int = 40) -> list[Case]:
    """Leaders that were told from 0.8 on, of which those below 0.95 are wrong."""
    return [
        replace(
            case(sure, right=sure > 0.9, seed=n % 4, policy=POLICY.code.value),
            told=True, winning=sure,
        )
        for n in range(many)
        for sure in (0.82, 0.97)
    ]  # fmt: skip


def test_a_threshold_is_fitted_out_of_fold() -> None:
    threshold, features = fitted(overbold(), "code")
    assert threshold.now == {"threshold": 0.8}
    assert threshold.wanted == {"threshold": 0.83}
    assert threshold.before == pytest.approx((4 - 1) / 2)  # a wrong one costs four right ones
    assert threshold.after == pytest.approx(-0.5)
    assert threshold.better
    assert features.after < features.before


def test_what_does_no_better_is_left_as_it_is() -> None:
    sure = [replace(c, right=True, confidence=1.0, winning=None) for c in overbold(8)]
    (threshold,) = fitted(sure, "code")
    assert threshold.wanted == threshold.now
    assert not threshold.better
    with pytest.raises(OptionError, match="no case under the policy frame"):
        fitted(sure, "frame")
    with pytest.raises(OptionError, match="one fold"):
        fitted([replace(c, seed=0) for c in sure], "code")


def test_a_policy_is_proposed_as_a_file_that_can_be_taken_over(tmp_path: Path) -> None:
    file = tmp_path / "fitted.ttl"
    file.write_text(proposed(fitted(overbold(), "code"), "code"), encoding="utf-8")
    made = policy.load(str(file))
    assert made.iri not in {POLICY.code, POLICY.frame}
    assert made.number("threshold") == Decimal("0.83")
    assert made.gates == policy.load("code").gates
    assert "# 80 cases, 4 folds: threshold 0.83 (now 0.8)" in file.read_text(encoding="utf-8")
    assert policy.load("code").number("threshold") == Decimal("0.8")


def test_the_command_writes_a_policy_only_if_it_does_better(tmp_path: Path) -> None:
    rows = [
        TRIAL | {"seed": n % 4, "confidence": sure, "leader_right": sure > 0.9, "leader": "source",
                 "supported": [{}], "policy": POLICY.code.value}
        for n in range(20)
        for sure in (0.82, 0.97)
    ]  # fmt: skip
    results, out = tmp_path / "results.json", tmp_path / "mine.ttl"
    results.write_text(json.dumps({"trials": rows}), encoding="utf-8")
    ended = run("calibrate", results, "--fit-policy", out)
    assert ended.exit_code == 0, ended.stderr
    assert "threshold 0.83 (now 0.8)" in ended.stderr
    assert policy.load(str(out)).number("threshold") == Decimal("0.83")
    good = [row | {"leader_right": True} for row in rows]
    results.write_text(json.dumps({"trials": good}), encoding="utf-8")
    none = tmp_path / "none.ttl"
    ended = run("calibrate", results, "--fit-policy", none)
    assert "No policy is written" in ended.stderr
    assert not none.exists()
