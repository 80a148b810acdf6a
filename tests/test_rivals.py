"""Rivals of different frames: a shadow gives way to its cause, two causes stand together."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.templates import Fragment, template
from kgreason.record import Record
from kgreason.review.replay import replay
from tests.audit_support import relinked, tampered
from tests.lifetime_support import (
    Node,
    asked,
    fates,
    interrupted,
    nodes,
    of,
    sample,
    status,
    timeless,
    written,
)

HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
LINE: Final = "Nodes whose line is “old” fail."
SHADOWS: Final = {
    "value": "Nodes whose shift is “night” fail.",
    "date": "Nodes whose made is “2026-03-22” or later fail.",
}


def shadowed(folder: Path, kind: str, seed: int = 2) -> dict[str, Any]:
    """Write samples of which the old line has no mass; that line is on nights more than others.

    Many failing nodes that work at night, or were made late, are none of the old line's: by the
    failures they share the two are no rivals. All are in one named graph, so that the halves are
    the same wherever the files are.
    """
    draw, rows = random.Random(seed), []
    for n in range(2400):
        old = n % 20 < 7
        late = draw.random() < (0.72 if old else 0.36)
        fails = draw.random() < (0.9 if old else 0.4)
        day = draw.randint(22, 28) if late else draw.randint(1, 21)
        shift = f'e:shift "{"night" if late else "day"}"'
        made = f'e:made "2026-03-{day:02}"^^xsd:date'
        said = f'e:line "{"old" if old else "new"}" ; {shift if kind == "value" else made}'
        rows.append(sample(n, said, fails=fails))
    options = written(folder, rows)
    data = folder / "lab.trig"
    text = " ".join(rows)
    data.write_text(f"{HEAD}e:feed {{ {text} }}\n", encoding="utf-8")
    return options | {"data": data}


def told(record: Record, statement: str) -> Node:
    """Give the hypothesis of the first round with that statement."""
    found = of(record, "Hypothesis").values()
    return min(
        (s for s in found if s["statement"] == [statement]), key=lambda s: int(s["index"][0])
    )


def strata(record: Record) -> list[tuple[str, str, str]]:
    """Give of each test within strata what was tested, against what, and what came out."""
    every = nodes(record)
    out = []
    for said in of(record, "Evidence").values():
        if said["testKind"] == ["stratification"]:
            names = said["hypothesis"][0], every[said["test"][0]]["rival"][0]
            one, other = (every[name]["statement"][0] for name in names)
            out.append((one, other, said["outcomeClass"][0]))
    return out


def stages(record: Record) -> list[str]:
    """Give the phases of the steps of a record in order, with the stage of a design."""
    steps = sorted(of(record, "Step").values(), key=lambda s: int(s["index"][0]))
    return [s["phase"][0].rpartition("#")[2] + s.get("stage", [""])[0] for s in steps]


@dataclass(frozen=True)
class Run:
    """An investigation of a shadow: of what kind, what was asked, the ledger, the record."""

    kind: str
    options: dict[str, Any]
    ledger: Path
    record: Record


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Give the run of a kind of shadow; each is made once."""

    @cache
    def made(kind: str) -> Run:
        folder = tmp_path_factory.mktemp("shadow")
        options, ledger = shadowed(folder, kind), folder / "ledger"
        return Run(kind, options, ledger, asked(options, ledger=ledger))

    return made


@pytest.fixture(params=SHADOWS)
def shadow(request: pytest.FixtureRequest, runs: Callable[[str], Run]) -> Run:
    """Each of the runs."""
    return runs(request.param)


def test_a_shadow_in_another_frame_is_held_against_the_cause(shadow: Run) -> None:
    kind, record = shadow.kind, shadow.record
    leader, cause = told(record, SHADOWS[kind]), told(record, LINE)
    assert leader["frame"] != cause["frame"]
    assert set(strata(record)) == {
        (SHADOWS[kind], LINE, "vanishes"),
        (LINE, SHADOWS[kind], "persists"),
    }
    assert float(leader["confidence"][0]) > 0.8  # so that nothing else keeps it from support
    assert status(leader) == "Inconclusive"
    assert status(cause) == "Supported"


def test_without_that_the_shadow_would_be_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgreason.loop.challenge", lambda *_: None)
    record = asked(shadowed(tmp_path, "value"))
    assert fates(record, 1) == {LINE: "Supported", SHADOWS["value"]: "Supported"}


def test_each_of_the_two_tests_moves_the_frame_of_what_it_tests(shadow: Run) -> None:
    """The rival stands outside the frame, and no member of it goes by its name."""
    record = shadow.record
    every = nodes(record)
    tests = [t for t in of(record, "Test").values() if t["kind"] == ["stratification"]]
    assert len(tests) == 2
    for test in tests:
        frame = every[test["hypothesis"][0]]["frame"]
        expected = [every[name] for name in test["expects"]]
        roles = {e["hypothesis"][0]: e["role"][0] for e in expected}
        assert roles.pop(test["hypothesis"][0]) == "self"
        assert set(roles.values()) == {"none"}
        assert {every[name]["frame"][0] for name in roles} == set(frame)
        assert every[test["rival"][0]]["frame"] != frame
    steps = {every[t["step"][0]]["stage"][0] for t in tests}
    assert steps == {"3"}


@pytest.mark.slow
def test_the_record_is_clean_and_replays(shadow: Run) -> None:
    found = audit(shadow.record)
    assert found.ok, str(found)
    assert replay(shadow.ledger).same


LOWER: Final = """DELETE { ?cause trails:confidence ?c . ?update trails:after ?a }
INSERT { ?cause trails:confidence 0.5 . ?update trails:after 0.5 }
WHERE { ?cause trails:statement ?said ; trails:confidence ?c . FILTER CONTAINS(?said, "old")
  ?update trails:hypothesis ?cause ; trails:rule "frame" ; trails:after ?a }"""
UNTOLD: Final = """DELETE { ?found trails:outcomeClass "persists" ; trails:polarity ?was }
INSERT { ?found trails:outcomeClass "undetermined" ; trails:polarity trails:Neutral }
WHERE { ?found trails:outcomeClass "persists" ; trails:polarity ?was }"""
SUPPORT: Final = """
DELETE { ?change trails:to ?was ; trails:rule ?rule . ?shadow trails:status ?was }
INSERT { ?change trails:to trails:Supported ; trails:rule "support" .
  ?shadow trails:status trails:Supported }
WHERE { ?shadow trails:statement ?said ; trails:status ?was . FILTER CONTAINS(?said, "night")
  ?change trails:hypothesis ?shadow ; trails:rule "leave-open" , ?rule ; trails:to ?was }"""
VANISHES: Final = "its association vanishes once a better rival is held fixed"


@pytest.mark.parametrize(
    ("updates", "barred"),
    [((), True), ((LOWER,), True), ((UNTOLD,), True), ((LOWER, UNTOLD), False)],
    ids=["as it was", "cause is lower", "cause was not told", "neither"],
)
def test_a_shadow_is_told_by_a_better_rival_or_by_one_that_persists(
    runs: Callable[[str], Run], updates: tuple[str, ...], *, barred: bool
) -> None:
    """By the audit of one that was supported, and by the report of one that was not."""
    record = tampered(runs("value").record, *updates)
    found = relinked(tampered(record, SUPPORT))
    assert ("gate-proxy" in audit(found).rules) == barred
    cause = next(n for n, s in of(record, "Hypothesis").items() if s["statement"] == [LINE])
    symptom = ox.NamedNode(told(record, LINE)["symptom"][0])
    others: list[ox.NamedNode | ox.Literal | Fragment] = [ox.NamedNode(cause)]
    text = template("report", "rivals").render(
        investigation=record.iri, symptom=symptom, ranked=others, told=others
    )
    found_fates = record.store.select(text)
    rows = {r["rival"].value.rpartition(" (H")[0]: r["fate"].value for r in found_fates}
    assert (VANISHES in rows[SHADOWS["value"]]) == barred


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 2])
def test_a_run_that_ended_around_the_challenge_goes_on_as_if_it_had_not(
    tmp_path: Path, runs: Callable[[str], Run], after: int
) -> None:
    """Before the tests were registered, and between the two."""
    run = runs("value")
    place = stages(run.record).index("Design3")
    expected = ["Design2", "Design3", "Execute", "Execute", "Decide"]
    assert stages(run.record)[place - 1 : place + 4] == expected
    interrupted(run.options, tmp_path / "ledger", place + after)
    with kgreason.resume(tmp_path / "ledger") as result:
        assert timeless(result.record) == timeless(run.record)


@pytest.mark.slow
def test_where_the_budget_is_spent_nothing_is_challenged(
    runs: Callable[[str], Run],
) -> None:
    options = runs("value").options
    cut = asked(options, max_steps=stages(runs("value").record).index("Design3"))
    assert {"Design2", "Conclude"} <= set(stages(cut))
    assert "Design3" not in stages(cut)
    assert not strata(cut)


def test_of_two_disjoint_causes_neither_is_challenged_away(tmp_path: Path) -> None:
    """Each stands in a frame of its own, and holding one fixed makes the other only clearer."""
    draw, rows = random.Random(3), []
    for n in range(900):
        place = n // 3 % 6
        line = "b" if place == 1 else draw.choice("acdef")
        shop = "y" if place == 4 else draw.choice("uvwxz")
        fails = draw.random() < {1: 0.8, 4: 0.7}.get(place, 0.05)
        rows.append(sample(n, f'e:line "{line}" ; e:shop "{shop}"', fails=fails))
    record = asked(written(tmp_path, rows))
    both = ["Nodes whose line is “b” fail.", "Nodes whose shop is “y” fail."]
    assert fates(record, 1) == dict.fromkeys(both, "Supported")
    assert told(record, both[0])["frame"] != told(record, both[1])["frame"]
    assert not strata(record)
    assert audit(record).ok
