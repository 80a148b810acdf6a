"""The lifetime of a hypothesis: tried again, refined, remembered, set aside, acted on."""

import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import RecordError, RunError
from kgreason.base.templates import Fragment
from kgreason.base.terms import TRAILS
from kgreason.context.context import view_of
from kgreason.context.symptom import Symptom
from kgreason.hypothesize import bindings
from kgreason.hypothesize.candidates import Candidate, filled
from kgreason.hypothesize.memory import Memory, remembered
from kgreason.hypothesize.refine import refined, variants
from kgreason.hypothesize.wording import wording
from kgreason.loop import Investigation
from kgreason.record import Ledger, Record
from kgreason.record.permits import authorise, commit_to, permitted, release
from tests.audit_support import CASES, own_policy, relinked, tampered
from tests.lifetime_support import (
    acted,
    asked,
    catch_all,
    copied,
    falling_over,
    fates,
    goods,
    history,
    interrupted,
    lookalikes,
    nodes,
    of,
    one,
    sample,
    stalling,
    status,
    supported,
    timeless,
    two_causes,
    written,
)

MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "lifetime.toml").read_text(encoding="utf-8")
)["mutant"]
HISTORIES: Final = sorted({mutant["history"] for mutant in MUTANTS} | {"reseeded"})
GOODS: Final = "Nodes of the class Goods or a class below it fail."
SORT: Final = "Nodes of the class Sort{} fail."
PREFIX: Final = "PREFIX trails: <https://w3id.org/trails#>\n"


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Record]:
    """Give a record by the name of its history; each is made once."""

    @cache
    def made(name: str) -> Record:
        return history(tmp_path_factory.mktemp("history"), name)

    return made


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of an investigation that rejects one idea and refines another."""
    return asked(lookalikes(tmp_path_factory.mktemp("lookalikes")))


def own(folder: Path, *changes: tuple[str, str]) -> str:
    """Write a policy that rules as the shipped one does but for some changes."""
    path = own_policy(folder)
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return str(path)


def members(options: dict[str, Any], region: str) -> set[str]:
    """Give the local names of the nodes that a region query finds in the data."""
    store = ox.Store()
    for path in sorted(options["data"].glob("*.ttl")):
        graph = ox.NamedNode(path.resolve().as_uri())
        store.load(path=str(path), format=ox.RdfFormat.TURTLE, to_graph=graph)
    found = store.query(region, use_default_graph_as_union=True)
    assert isinstance(found, ox.QuerySolutions)
    return {row["focus"].value.rpartition("/")[2] for row in found}


def transitions(record: Record, rule: str) -> list[dict[str, list[str]]]:
    """Give the changes of status by a gate."""
    return [t for t in of(record, "StatusTransition").values() if t["rule"] == [rule]]


# --- histories: clean as written, and what someone did to them --------------------------


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.slow
def test_a_history_as_it_was_written_is_clean(
    name: str, histories: Callable[[str], Record]
) -> None:
    found = audit(histories(name))
    assert found.ok, str(found)
    notices = {"policy-known"} if "own" in name or name == "forgetful" else set()
    assert {notice.rule for notice in found.notices} == notices


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
@pytest.mark.slow
def test_a_mutant_is_found_by_the_rules_named(
    mutant: dict[str, Any], histories: Callable[[str], Record]
) -> None:
    found = audit(relinked(tampered(histories(mutant["history"]), mutant["update"])))
    assert found.rules == set(mutant["rules"]), str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", HISTORIES)
def test_both_engines_find_the_same(name: str, histories: Callable[[str], Record]) -> None:
    updates = [mutant["update"] for mutant in MUTANTS if mutant["history"] == name]
    for record in (histories(name), tampered(histories(name), *updates, strict=False)):
        native, reference = audit(record), audit(record, engine="pyshacl")
        said = [{(f.rule, f.node) for f in found.findings} for found in (native, reference)]
        assert said[0] == said[1]


# --- attempts ---------------------------------------------------------------------------


def test_a_test_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    with falling_over(lambda _, before: before == 0) as kinds:
        record = asked(goods(tmp_path))
    attempts = {
        (x["test"][0], x["attempt"][0]): x["closed"][0].rpartition("#")[2]
        for x in of(record, "Execution").values()
    }
    first = kinds[0]
    [tried_twice] = {test for test, number in attempts if number == "2"}
    assert nodes(record)[tried_twice]["kind"] == [first]
    assert attempts[tried_twice, "1"] == "Error"
    assert attempts[tried_twice, "2"] == "Result"
    assert "Archived" not in fates(record).values()
    assert fates(record)[GOODS] == "Supported"
    assert audit(record).ok


def test_a_test_that_never_runs_archives_its_hypothesis(
    histories: Callable[[str], Record],
) -> None:
    record = histories("failing")
    [change] = transitions(record, "archive")
    assert change["cause"] == ["a test failed to run 2 times"]
    closed = [x["closed"][0] for x in of(record, "Execution").values() if "note" in x]
    assert closed == [TRAILS.Error.value] * 2
    assert set(fates(record).values()) == {"Archived"}
    [verdict] = of(record, "Verdict").values()
    assert verdict["outcome"] == ["inconclusive"] or verdict["explained"] == ["0"]
    assert all("hypothesis" not in claim for claim in of(record, "Claim").values())


def test_a_policy_that_does_not_count_attempts_tries_once_and_archives_nothing(
    tmp_path: Path,
) -> None:
    rules = own(tmp_path, ("    policy:attempts 2 ;\n", ""), (' , "archive"', ""))
    with falling_over(lambda kind, _: kind == "counterexamples"):
        record = asked(goods(tmp_path), policy=rules)
    tests = [x["test"][0] for x in of(record, "Execution").values() if "note" in x]
    assert len(tests) == len(set(tests)) > 0
    assert "Archived" not in fates(record).values()


def test_after_an_archive_what_was_left_out_has_its_turn(tmp_path: Path) -> None:
    options = goods(tmp_path, 50) | {"max_hypotheses": 1}
    known = fates(asked(options), 1)
    left = iter(range(2))
    with falling_over(lambda kind, _: kind == "association" and next(left, None) is not None):
        record = asked(options)
    first, second = fates(record, 1), fates(record, 2)
    assert list(first.values()) == ["Archived"]
    assert first.keys() == known.keys()
    [plan] = [p for p in of(record, "HypothesisPlan").values() if p["round"] == ["1"]]
    assert second
    assert set(second) <= set(plan["leftOut"])
    assert audit(record).ok


# --- stalls -----------------------------------------------------------------------------


def test_a_round_with_nothing_new_is_a_stall_and_the_last_on_its_symptom(
    histories: Callable[[str], Record],
) -> None:
    record = histories("doubtful")
    [stall] = of(record, "Stall").values()
    [hypothesis] = [n for n, s in of(record, "Hypothesis").items() if "region" in s]
    assert stall["setAside"] == [hypothesis]
    assert stall["round"] == ["2"]
    assert status(nodes(record)[hypothesis]) == "Inconclusive"
    rounds = [plan["round"][0] for plan in of(record, "HypothesisPlan").values()]
    assert sorted(rounds) == ["1", "2"]


def test_where_the_catch_all_won_there_is_no_second_round(tmp_path: Path) -> None:
    """What stood against it is not open, so there is nothing to look into again.

    One box fails more often than the others, but they differ widely among themselves.
    """
    rows = []
    for n in range(480):
        place, box = divmod(n, 12)
        often = box == 0 and place * 5 % 11 < 5
        fails = often or (place + box * 5) % (9, 5, 20)[box % 3] == 0
        rows.append(sample(n, f'e:box "{box}"', fails=fails))
    record = asked(written(tmp_path, rows))
    winners = [s for s in of(record, "Hypothesis").values() if status(s) == "Supported"]
    assert winners
    assert all("region" not in winner for winner in winners)
    assert set(fates(record).values()) == {"Inconclusive"}
    assert {plan["round"][0] for plan in of(record, "HypothesisPlan").values()} == {"1"}


# --- refinement -------------------------------------------------------------------------


def test_what_no_sort_can_tell_alone_the_one_above_them_tells(tmp_path: Path) -> None:
    options = goods(tmp_path)
    record = asked(options)
    found = of(record, "Hypothesis")
    [(name, new)] = [(n, s) for n, s in found.items() if "wasRevisionOf" in s]
    old = found[new["wasRevisionOf"][0]]
    assert status(new) == "Supported"
    assert new["refinement"] == [TRAILS.Generalise.value]
    assert members(options, new["region"][0]) == {f"s{n}" for n in range(4 * 24)}
    [verdict] = of(record, "Verdict").values()
    assert verdict["outcome"][0] in {"explained", "partly explained"}
    # The wording that was left behind can still be read, with what became of it.
    assert status(old) == "Refined"
    assert "Sort0" in old["statement"][0]
    assert members(options, old["region"][0]) == {f"s{n}" for n in range(24)}
    [change] = transitions(record, "refine")
    assert change["cause"] == [f"revised by {name}"]
    assert change["from"] == [TRAILS.Inconclusive.value]
    assert audit(record).ok


def test_what_no_concept_can_tell_alone_the_broader_one_tells_at_once(tmp_path: Path) -> None:
    """It is proposed by itself, and tells more than the concept in it that stands out most."""
    options = goods(tmp_path, concepts=True)
    record = asked(options)
    found = {s["statement"][0]: s for s in of(record, "Hypothesis").values() if "region" in s}
    broader = "Nodes whose about is Goods or narrower fail."
    assert fates(record) == {broader: "Supported"}
    assert fates(record, 1) == fates(record)
    assert members(options, found[broader]["region"][0]) == {f"s{n}" for n in range(4 * 24)}
    assert not any("wasRevisionOf" in said for said in found.values())
    [verdict] = of(record, "Verdict").values()
    assert verdict["outcome"][0] in {"explained", "partly explained"}
    assert audit(record).ok


def test_a_concept_that_is_open_is_widened_to_the_broader_one(tmp_path: Path) -> None:
    options = goods(tmp_path, concepts=True)
    with investigated(options) as (investigation, symptom):
        view = view_of(investigation.context, symptom, 1)
        dimension, level = (f"<https://example.org/lab/{name}>" for name in ("about", "Sort0"))
        plain = {"family": "cohort-value", "values": {"dimension": dimension, "level": level}}
        parent = bindings.read(view, json.dumps(plain))
        made = refined(view, parent, variants(view, parent, ()), lambda _: False)
        none = refined(
            view,
            parent,
            variants(view, parent, ()),
            lambda candidate: "Goods" in candidate.region.text,
        )
    assert made is not None
    assert made.way == "generalise"
    assert made.family.name == "cohort-broader"
    assert made.values["level"] == ox.NamedNode("https://example.org/lab/Goods")
    assert made.members.bit_count() == 4 * 24
    assert made.score > parent.score
    assert none is None


def test_nothing_is_refined_in_the_first_round(histories: Callable[[str], Record]) -> None:
    every = nodes(histories("goods"))
    rounds = [every[s["frame"][0]]["round"][0] for s in every.values() if "wasRevisionOf" in s]
    assert rounds == ["2"]


def test_a_policy_without_a_round_for_it_refines_nothing(tmp_path: Path) -> None:
    rules = own(tmp_path, ("    policy:refineRound 2 ;\n", ""), (' , "refine"', ""))
    record = asked(goods(tmp_path), policy=rules)
    assert not [s for s in of(record, "Hypothesis").values() if "wasRevisionOf" in s]
    assert not transitions(record, "refine")
    assert GOODS not in fates(record)
    assert fates(record)[SORT.format(0)] == "Inconclusive"


@pytest.mark.parametrize(("bound", "moved"), [(13, "15"), (17, "15"), (15, None)])
def test_a_bound_that_was_drawn_wrong_is_moved(
    tmp_path: Path, bound: int, moved: str | None
) -> None:
    """Failures begin on the 15th; there is no better day than that."""
    rows = []
    for n in range(560):
        day = 1 + n % 28
        fails = n % 3 > 0 if day >= 15 else n % 31 == 0
        rows.append(sample(n, f'e:made "2026-03-{day:02}"^^xsd:date', fails=fails))
    with investigated(written(tmp_path, rows)) as (investigation, symptom):
        view = view_of(investigation.context, symptom, 1)
        plain = {
            "family": "drift",
            "values": {
                "dimension": "<https://example.org/lab/made>",
                "level": f'"2026-03-{bound:02}"',
            },
        }
        parent = bindings.read(view, json.dumps(plain))
        made = refined(view, parent, variants(view, parent, ()), lambda _: False)
    if moved is None:
        assert made is None
    else:
        assert made is not None
        assert made.way == "move-bound"
        assert made.family == parent.family
        assert made.values["level"].value == f"2026-03-{moved}"
        assert made.score > parent.score


def test_a_third_condition_is_added_to_two(tmp_path: Path) -> None:
    """Only what is red, square and heavy at once fails; in the first round pairs are looked at."""
    rows = []
    for n in range(1200):
        traits = [n % 2, n // 2 % 2, n // 4 % 2]
        said = " ; ".join(f'e:trait{i} "{v}"' for i, v in enumerate(traits))
        fails = n // 8 % 5 > 0 if all(traits) else n % 97 == 0
        rows.append(sample(n, said, fails=fails))
    options = written(tmp_path, rows) | {"max_hypotheses": 6}
    rules = own(tmp_path, ("policy:threshold 0.8", "policy:threshold 0.99999"))
    record = asked(options, policy=rules)
    found = of(record, "Hypothesis")
    [new] = [s for s in found.values() if len(s.get("part", ())) == 3]
    old = found[new["wasRevisionOf"][0]]
    assert new["refinement"] == [TRAILS.AddCondition.value]
    assert len(old["part"]) == 2
    assert status(old) == "Refined"
    assert new["statement"][0].count(" and ") >= 2
    assert len(json.loads(new["bindings"][0])["parts"]) == 3
    heavy = {f"s{n}" for n in range(1200) if n % 8 == 7}
    assert members(options, new["region"][0]) == heavy
    assert audit(record).ok


# --- memory -----------------------------------------------------------------------------


def causes(record: Record) -> set[str]:
    return {statement for statement, fate in fates(record).items() if fate == "Supported"}


def refusals(record: Record) -> dict[str, str]:
    """Give the reason of each refusal by the statement that was refused."""
    return {r["statement"][0]: r["reason"][0] for r in of(record, "Refusal").values()}


def test_what_was_rejected_is_not_proposed_again_in_the_same_ledger(
    looked: Record, histories: Callable[[str], Record]
) -> None:
    record = histories("again")
    rejected = {statement for statement, fate in fates(looked).items() if fate == "Refuted"}
    assert rejected
    assert rejected.isdisjoint(fates(record))
    told = refusals(record)
    assert rejected <= set(told)
    for statement in rejected:
        before = told[statement].removeprefix("refuted as ")
        assert before in {r["refused"][0] for r in of(record, "Refusal").values()}
        assert ":hypothesis:" in before
        assert not before.startswith(record.iri.value)
    assert causes(record) == causes(looked) == {GOODS}


def test_what_was_supported_or_left_open_is_proposed_again(
    looked: Record, histories: Callable[[str], Record]
) -> None:
    """Only what was rejected is kept out: a cause that is still there has to be found again."""
    first = {s for s, fate in fates(looked).items() if fate not in {"Refuted", "Archived"}}
    assert first <= set(fates(histories("again")))


def test_refusals_count_in_the_family(looked: Record, histories: Callable[[str], Record]) -> None:
    record = histories("again")
    told = [s for s in of(record, "Hypothesis").values() if s["gate"] == ["statistics"]]
    refused = [r for r in of(record, "Refusal").values() if r["gate"] == ["statistics"]]
    assert refused
    family = max(int(s["ebhFamily"][0]) for s in nodes(record).values() if "ebhFamily" in s)
    assert family == len(told) + len(refused)
    assert not of(looked, "Refusal") or family > len(told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("seed", "the split of the data (--seed) changed"),
        ("data", "the data changed"),
        ("policy", "the policy changed"),
    ],
)
def test_with_other_evidence_what_was_rejected_may_be_proposed_again(
    tmp_path: Path, looked: Record, change: str, told: str
) -> None:
    options = lookalikes(tmp_path)
    ledger = tmp_path / "ledger"
    asked(options, ledger=ledger)
    more: dict[str, Any] = {}
    if change == "seed":
        more["seed"] = 1
    elif change == "policy":
        more["policy"] = own(tmp_path, ('owl:versionInfo "', 'owl:versionInfo "mine-'))
    else:
        with (options["data"] / "feed-1.ttl").open("a", encoding="utf-8") as file:
            file.write('e:shelf e:label "a" .\n')
    record = asked(options, ledger=ledger, **more)
    rejected = {statement for statement, fate in fates(looked).items() if fate == "Refuted"}
    back = [s for s in of(record, "Hypothesis").values() if "rejectedBefore" in s]
    assert {s["statement"][0] for s in back} <= rejected
    assert back
    for said in back:
        assert said["reason"][0].endswith(f"; since then {told}")
        assert ":hypothesis:" in said["rejectedBefore"][0]
        assert not said["rejectedBefore"][0].startswith(record.iri.value)
    assert not of(record, "Refusal").keys() & {s["statement"][0] for s in back}
    assert audit(record).rules == set()


def test_what_was_rejected_is_not_proposed_again_on_what_is_left(tmp_path: Path) -> None:
    record = asked(two_causes(tmp_path))
    first = {statement for statement, fate in fates(record, 1).items() if fate == "Refuted"}
    assert first
    assert first.isdisjoint(fates(record, 2))
    assert first <= set(refusals(record))
    every = nodes(record)
    for refusal in of(record, "Refusal").values():
        assert every[refusal["step"][0]]["round"] == ["2"]


def test_a_policy_without_memory_proposes_it_again(histories: Callable[[str], Record]) -> None:
    record = histories("forgetful")
    first = {statement for statement, fate in fates(record, 1).items() if fate == "Refuted"}
    assert first & set(fates(record, 2))
    assert not of(record, "Refusal")


@contextmanager
def investigated(options: dict[str, Any]) -> Iterator[tuple[Investigation, Symptom]]:
    """Give an investigation of one symptom that was run under `frame`, with its graph at hand."""
    kept: list[Investigation] = []
    run = Investigation.run

    def running(self: Investigation) -> None:
        kept.append(self)
        run(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Investigation, "run", running)
        with kgreason.investigate(**{"policy": "frame"} | options):
            [investigation] = kept
            [symptom] = investigation.symptoms
            yield investigation, symptom


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Candidate]]:
    """What is remembered when round 2 begins, and the candidate that was rejected."""
    options = lookalikes(tmp_path_factory.mktemp("memory"))
    with investigated(options) as (investigation, symptom):
        context = investigation.context
        view = view_of(context, symptom, 1)
        told, first = of(context.record, "Hypothesis").values(), fates(context.record, 1)
        rejected = next(s for s in told if first.get(s["statement"][0]) == "Refuted")
        memory = remembered(context, symptom, view, 2)
        yield memory, bindings.read(view, rejected["bindings"][0])


def like(memory: Memory, candidate: Candidate, pattern: str, sort: str) -> Candidate:
    """Give a candidate with another region, in the words for a class."""
    region = Fragment(pattern, {"e": "https://example.org/lab/"})
    values = {**candidate.values, "level": ox.NamedNode(sort)}
    made = Candidate(candidate.family, values, candidate.table, region, region)
    return filled(memory.view, made)


def test_the_very_same_is_remembered(remembering: tuple[Memory, Candidate]) -> None:
    memory, candidate = remembering
    past = memory.of(candidate)
    assert past is not None
    assert past.rejected
    assert memory.rejected(candidate)
    assert memory.known(candidate)


@pytest.mark.parametrize(("left_out", "near"), [(1, True), (2, True), (3, False), (9, False)])
def test_nearly_the_same_nodes_are_the_same_idea(
    remembering: tuple[Memory, Candidate], left_out: int, *, near: bool
) -> None:
    """Of the 40 nodes of the class that was rejected 38 are 0.95, 37 are less."""
    memory, candidate = remembering
    sort = candidate.values["level"].value.rpartition("Sort")[2]
    first = int(sort) * 40
    without = ", ".join(f"e:s{first + n}" for n in range(left_out))
    other = like(
        memory,
        candidate,
        f"?focus a e:Sort{sort} . FILTER (?focus NOT IN ({without}))",
        "https://example.org/lab/Crate",
    )
    assert other.members.bit_count() == 40 - left_out
    assert memory.rejected(other) == near
    assert memory.known(other) == near


@pytest.mark.parametrize(("name", "same"), [("{}", True), ("{}b", False)])
def test_the_same_words_are_the_same_idea(
    remembering: tuple[Memory, Candidate], name: str, *, same: bool
) -> None:
    memory, candidate = remembering
    sort = candidate.values["level"].value.rpartition("/")[2]
    elsewhere = "https://example.org/other/" + name.format(sort)
    other = like(memory, candidate, "?focus a e:Sort9 .", elsewhere)
    assert memory.rejected(other) == same


def test_what_is_not_rejected_is_near_to_nothing(remembering: tuple[Memory, Candidate]) -> None:
    """Of ideas that were not rejected only the very same count as known."""
    memory, candidate = remembering
    refined = "?focus a e:Sort0 . FILTER (?focus != e:s0)"
    other = like(memory, candidate, refined, "https://example.org/lab/Crate")
    assert memory.of(other) is None


# --- tests ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["again", "forgetful", "doubtful", "goods"])
def test_no_test_is_registered_twice(name: str, histories: Callable[[str], Record]) -> None:
    every = nodes(histories(name))
    told = [
        (t["kind"][0], t["split"][0], t["query"][0], every[t["hypothesis"][0]]["regionPattern"][0])
        for t in of(histories(name), "Test").values()
    ]
    assert len(told) > 2
    assert len(told) == len(set(told))


def test_each_of_several_of_one_dimension_is_held_against_its_siblings(looked: Record) -> None:
    """The query is the same for all of them, and yet it is a test of each."""
    every = nodes(looked)
    sorts = {n for n, s in of(looked, "Hypothesis").items() if s["family"] == ["cohort-class"]}
    spread = [t for t in of(looked, "Test").values() if t["kind"] == ["sibling-spread"]]
    assert len(sorts) > 1
    assert {t["hypothesis"][0] for t in spread} == sorts
    assert len({t["query"][0] for t in spread}) < len(spread) or len(
        {every[t["hypothesis"][0]]["frame"][0] for t in spread}
    ) == len(spread)


# --- rounds -----------------------------------------------------------------------------


def test_a_round_without_a_hypothesis_fails_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, ledger = goods(tmp_path), tmp_path / "ledger"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("kgreason.loop.decide", stop)
        with pytest.raises(KeyboardInterrupt):
            asked(options, ledger=ledger)
    with Ledger.write(ledger) as store:
        record = store.record(store.entry())
        store.store.inner.update(
            f"{PREFIX}DELETE {{ GRAPH ?g {{ ?h a trails:Hypothesis }} }} "
            "WHERE { GRAPH ?g { ?h a trails:Hypothesis } }"
        )
        steps = len(of(record, "Step"))
    with pytest.raises(RunError, match=r"round 1 ended without a hypothesis\."):
        kgreason.resume(ledger)
    with Ledger.read(ledger) as store:
        # The one step more says that the run failed, and how.
        ended = of(store.record(store.entry()), "Step")
        assert len(ended) == steps + 1
        assert [s for s in ended.values() if s["phase"] == [TRAILS.Fail.value]]


def test_every_round_says_what_it_was_about(histories: Callable[[str], Record]) -> None:
    record = histories("goods")
    every = nodes(record)
    rounds = {
        s["round"][0]: {every[h]["statement"][0] for h in s["considered"] if "region" in every[h]}
        for s in every.values()
        if s.get("phase") == [TRAILS.Decide.value]
    }
    assert rounds["1"] == {SORT.format(0)}
    assert rounds["2"] == {GOODS}


def later_steps(record: Record) -> list[int]:
    """Give the places of the steps from the end of the first round to the last one."""
    steps = of(record, "Step").values()
    [decided] = [
        int(s["index"][0])
        for s in steps
        if s["phase"] == [TRAILS.Decide.value] and s["round"] == ["1"]
    ]
    return list(range(decided, len(steps)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(goods, id="refined"),
        pytest.param(lookalikes, id="refined and refuted"),
        pytest.param(stalling, id="stalled"),
    ],
)
def test_a_run_that_ended_in_a_later_round_goes_on_as_if_it_had_not(
    tmp_path: Path, make: Callable[[Path], dict[str, Any]]
) -> None:
    """Whichever was the last step that it wrote."""
    options = make(tmp_path)
    whole = asked(options, ledger=tmp_path / "undisturbed")
    places = later_steps(whole)
    assert len(places) > 4
    for steps in places:
        ledger = tmp_path / f"interrupted-{steps}"
        interrupted(options, ledger, steps)
        with kgreason.resume(ledger) as result:
            resumed = copied(result.record)
        assert timeless(resumed) == timeless(whole), f"after step {steps}"
        assert audit(resumed).ok


# --- permissions ------------------------------------------------------------------------


def put(record: Record, node: ox.NamedNode, state: str, confidence: str) -> Record:
    """Give a copy of a record in which a hypothesis has another status and confidence."""
    return tampered(
        record,
        f"""DELETE {{ {node} trails:status ?s ; trails:confidence ?c }}
INSERT {{ {node} trails:status trails:{state} ; trails:confidence {confidence} }}
WHERE {{ {node} trails:status ?s ; trails:confidence ?c }}""",
    )


@pytest.mark.parametrize(
    ("action", "state", "confidence", "why"),
    [
        ("ApplyRepair", "Supported", "0.8", ""),
        ("ApplyRepair", "Converged", "0.9", ""),
        ("ApplyRepair", "Supported", "0.799999", "its confidence 0.799999 is below 0.8"),
        ("ApplyRepair", "Inconclusive", "0.9", "the policy does not allow it at status inconcl"),
        ("PublishReport", "Supported", "0.85", ""),
        ("PublishReport", "Testing", "0.99", "the policy does not allow it at status testing"),
        ("TryRepair", "Inconclusive", "0.1", ""),
        ("TryRepair", "Testing", "0.0", ""),
        ("TryRepair", "Refuted", "0.99", "the policy does not allow it at status refuted"),
        ("TryRepair", "Archived", "0.99", "the policy does not allow it at status archived"),
        ("TryRepair", "Refined", "0.99", "the policy does not allow it at status refined"),
    ],
)
def test_a_policy_allows_by_status_and_confidence(
    histories: Callable[[str], Record], action: str, state: str, confidence: str, why: str
) -> None:
    record = histories("acted")
    cause = supported(record)
    permit = permitted(put(record, cause, state, confidence + "1"), TRAILS[action], cause)
    exact = permitted(put(record, cause, state, confidence), TRAILS[action], cause)
    assert exact.granted == (not why)
    assert permit.status == TRAILS[state]
    assert (why or "the policy allows it at status") in exact.why
    assert exact.confidence == Decimal(confidence)


@pytest.mark.parametrize("action", ["TryRepair", "ApplyRepair", "PublishReport"])
def test_nothing_is_done_about_the_catch_all(
    histories: Callable[[str], Record], action: str
) -> None:
    record = histories("acted")
    none = catch_all(record)
    assert not permitted(put(record, none, "Supported", "0.99"), TRAILS[action], none).granted


def test_a_policy_that_allows_nothing_allows_nothing(tmp_path: Path) -> None:
    record = tampered(
        acted(tmp_path), "DELETE { ?p policy:allows ?x } WHERE { ?p policy:allows ?x }"
    )
    permit = permitted(record, TRAILS.TryRepair, supported(record))
    assert not permit.granted
    assert permit.why == "the policy does not allow it at status supported"


def test_what_is_no_hypothesis_is_named(histories: Callable[[str], Record]) -> None:
    with pytest.raises(RecordError, match=r"urn:x: urn:kgreason:.* has no such hypothesis\."):
        permitted(histories("acted"), TRAILS.TryRepair, ox.NamedNode("urn:x"))


def test_a_refusal_is_recorded_as_a_grant_is(histories: Callable[[str], Record]) -> None:
    record = histories("acted")
    said = {
        (a["hypothesis"][0], a["action"][0].rpartition("#")[2]): a
        for a in of(record, "Authorisation").values()
    }
    cause, none = supported(record).value, catch_all(record).value
    assert said[none, "ApplyRepair"]["granted"] == ["false"]
    assert said[cause, "ApplyRepair"]["granted"] == ["true"]
    assert said[none, "ApplyRepair"]["reason"][0].startswith("the policy does not allow it")
    assert all(a["atConfidence"] and a["atStatus"] for a in said.values())


def test_two_commitments_at_once_are_refused(tmp_path: Path) -> None:
    record = acted(tmp_path)
    cause = supported(record)
    [stands] = [row["commitment"] for row in record.select("commitments")]
    region = one(record, cause)["region"][0]
    step = record.step("Act")
    grant, _ = authorise(record, step, TRAILS.TryRepair, cause)
    with pytest.raises(RecordError, match="release it before another is chosen") as raised:
        commit_to(record, step, cause, grant, region, "one more")
    assert stands.value in str(raised.value)
    step = Record(record.store, record.iri).step("Act")
    release(step, ox.NamedNode(stands.value), "it did not help")
    record.commit(step)
    assert not record.select("commitments")
    step = record.step("Act")
    grant, _ = authorise(record, step, TRAILS.TryRepair, cause)
    commit_to(record, step, cause, grant, region, "one more")
    record.commit(step)
    assert len(record.select("commitments")) == 1
    assert audit(record).ok


# --- words ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [2, 3])
def test_several_conditions_are_told_in_one_sentence(
    remembering: tuple[Memory, Candidate], number: int
) -> None:
    memory, candidate = remembering
    parts = tuple(
        like(memory, candidate, f"?focus a e:Sort{n} .", f"https://example.org/lab/Sort{n}")
        for n in range(number)
    )
    symptom: Symptom = memory.symptom
    told = wording(bindings.joined(parts), memory.context.names, symptom.constraint)
    clauses = " and ".join(f"of the class Sort{n}" for n in range(number))
    assert told.statement == f"Nodes {clauses} fail."
