"""The supervisor: parts in sub-investigations of their own, joined with the promises of one."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreason
from kgreason import api
from kgreason.audit import audit
from kgreason.base.budget import Cost, Limits, Metered
from kgreason.base.errors import OptionError, RunError
from kgreason.base.store import Store
from kgreason.base.templates import template
from kgreason.base.terms import TRAILS, TYPE
from kgreason.loop import Investigation
from kgreason.observe.opening import recorded_request
from kgreason.observe.request import Request
from kgreason.planner.fan_in import correlation_of, fan_in
from kgreason.planner.registered import Registered, registered, same
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.planner.sub_investigations import InTurn, Place
from kgreason.planner.supervisor import Supervisor
from kgreason.record import Ledger, Record
from kgreason.record.fanning import assigned, expected
from kgreason.record.plan_steps import answer_of
from kgreason.report import markdown
from kgreason.report.as_json import as_dict
from kgreason.report.diagram import lay_out
from kgreason.report.document import section
from kgreason.report.layouts import Drawn
from kgreason.run import opened_elsewhere

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
EX = "https://example.org/"
HEAD = f"@prefix ex: <{EX}> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def factory(folder: Path) -> dict[str, Any]:
    """Write parts that lack a mass where one maker made them, and a code where they are red."""
    rows = []
    for n in range(120):
        maker, colour = n % 4, ("red", "blue", "green", "grey", "white")[n % 5]
        mass = "" if maker == 0 else f" ; ex:mass {n}"
        code = "" if colour == "red" else f' ; ex:code "c{n}"'
        rows.append(
            f'ex:p{n} a ex:Part ; ex:madeBy ex:m{maker} ; ex:colour "{colour}"{mass}{code} .'
        )
    (folder / "parts.ttl").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    shapes = "ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property " + " , ".join(
        f"[ sh:path ex:{name} ; sh:minCount 1 ]" for name in ("mass", "code")
    )
    (folder / "shapes.ttl").write_text(f"{HEAD}{shapes} .\n", encoding="utf-8")
    return {"data": folder / "parts.ttl", "shapes": folder / "shapes.ttl"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factory")
    factory(folder)
    return folder


def supervised(place: Path, **more: Any) -> PlanResult:
    return kgreason.plan(
        "Why are these rules broken?",
        place / "parts.ttl",
        shapes=place / "shapes.ttl",
        strategy="supervisor",
        **more,
    )


@pytest.fixture(scope="module")
def found(place: Path, tmp_path_factory: pytest.TempPathFactory) -> PlanResult:
    return supervised(place, ledger=tmp_path_factory.mktemp("ledgers") / "ledger")


@pytest.fixture(scope="module")
def sessions(found: PlanResult) -> list[Record]:
    record = found.result.record
    return [Record(record.store, one.session) for one in expected(record)]


def test_a_question_divided_by_symptom_ends_with_the_causes_of_one_investigation(
    whole: dict[str, Any], found: PlanResult
) -> None:
    causes = [cause["statement"] for cause in whole["causes"]]
    assert len(causes) == 2
    rows = found.result.record.store.values
    told = [
        str(rows(one, TRAILS.statement, found.result.record.iri)[0])
        for one in _of(found.result.record, "SynthesisedCause")
    ]
    assert told == [f'"{statement}"' for statement in causes]
    assert all(statement in found.answer for statement in causes)
    assert found.answered
    assert found.citations


@pytest.fixture(scope="module")
def whole(place: Path) -> dict[str, Any]:
    with kgreason.investigate(
        place / "parts.ttl", shapes=place / "shapes.ttl", try_repairs=False
    ) as result:
        return result.as_dict() | {"markdown": result.markdown(), "summary": result.summary()}


def test_the_report_of_a_divided_question_tells_causes_as_one_investigation(
    whole: dict[str, Any], found: PlanResult
) -> None:
    told = found.as_dict()
    assert told["explanation"] == whole["explanation"]
    same = ("id", "statement", "explains", "adds", "said", "fingerprint", "repair")
    assert [[c[k] for k in same] for c in told["causes"]] == [
        [c[k] for k in same] for c in whole["causes"]
    ]
    verdicts = ("name", "failing", "explained", "verdict")
    assert [[s[k] for k in verdicts] for s in told["symptoms"]] == [
        [s[k] for k in verdicts] for s in whole["symptoms"]
    ]
    commands = [cause["next"]["command"] for cause in told["causes"]]
    assert commands == ["nodes C1 I2 --format csv", "nodes C1 I3 --format csv"]
    page, text = found.result.html(), found.result.markdown()
    findings, until = "# Key findings", "<!-- report/"
    assert (
        text.partition(findings)[2].partition(until)[0]
        == (whole["markdown"].partition(findings)[2].partition(until)[0])
    )
    assert "# Evidence for" in text
    assert "over all 2 hypotheses told by statistics" in text
    assert "*Cites* [p104]" in text
    assert "What it says itself is provisional" in page
    assert "2 causes explain all 54" in found.result.summary()
    (cause, _) = found.result.causes
    nodes = found.result.nodes(cause)
    assert len(nodes) >= 5
    assert all(node.fails for node in nodes)
    assert found.result.cause("H3").statement == told["causes"][1]["statement"]
    assert found.result.formatted("csv").count("\n") == 1 + len(told["causes"])


def test_the_division_is_drawn_from_routing_to_causes(found: PlanResult) -> None:
    (made,) = section(found.result.record, "division").sections
    drawn = lay_out(made.content.drawn)
    assert [kind for _, kind in drawn.heads] == [
        *("routing", "fan-out", "assignment", "sub-investigation", "completion", "synthesis"),
        "cause",
    ]
    assert len(drawn.links) == 1 + 2 + 2 + 2 + 2 + 2
    assert [box.text for box in drawn.boxes if box.kind == "sub-investigation"] == ["I2", "I3"]
    assert {box.x + drawn.box <= drawn.width for box in drawn.boxes} == {True}
    page = found.result.html()
    assert page.count('<svg class="dag"') == 1
    assert all(escape(box.whole) in page for box in drawn.boxes)
    assert "- **synthesis whole** (from completion complete, completion complete)" in (
        found.result.markdown()
    )


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.data())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_boxes_of_a_diagram_never_overlap(columns: list[int], data: st.DataObject) -> None:
    nodes: list[Drawn] = []
    for number, column in enumerate(columns):
        known = st.lists(st.sampled_from([n.iri for n in nodes]), max_size=3) if nodes else None
        came = data.draw(known) if known is not None else []
        nodes.append(Drawn(f"n{number}", column, "kind", "name", "said", tuple(came)))
    boxes = lay_out(nodes).boxes
    assert {box.iri for box in boxes} == {node.iri for node in nodes}
    for one, other in combinations(boxes, 2):
        assert one.x != other.x or abs(one.y - other.y) >= 30


@pytest.mark.slow
def test_the_explorer_draws_the_division_and_leads_to_each_part(
    place: Path, tmp_path: Path
) -> None:
    pytest.importorskip("starlette", reason="needs the extra `serve`")
    pytest.importorskip("httpx", reason="the client of the tests needs httpx")
    from tests.serve_support import client  # noqa: PLC0415 - needs the extra

    ledger = tmp_path / "ledger"
    made = supervised(place, ledger=ledger)
    nonce, *parts = (
        iri.rpartition(":")[2]
        for iri in (
            made.investigation,
            *(part["investigation"] for part in made.as_dict()["synthesis"]["parts"]),
        )
    )
    made.result.close()
    site = client(ledger)
    page = site.get(f"/i/{nonce}").text
    assert page.count('<svg class="dag"') == 1
    assert all(f'<a href="/i/{part}"><g class="sub-investigation' in page for part in parts)
    assert "This is a part of I1." in site.get(f"/i/{parts[0]}").text
    cause = site.get(f"/i/{nonce}/causes/C2").text
    assert f'href="/i/{parts[1]}/hypotheses/1"' in cause
    assert site.get(f"/i/{parts[1]}/hypotheses/1").status_code == 200


def test_a_part_says_that_it_is_provisional(sessions: list[Record]) -> None:
    assert "This is a part of I1." in markdown.render(sessions[0])


def test_what_all_parts_change_is_told_and_no_cause_is_left_of_it(
    found: PlanResult, quads: list[ox.Quad]
) -> None:
    record = copied(found.result.record, quads)
    change = """PREFIX trails: <https://w3id.org/trails#>
        DELETE { GRAPH ?g { ?f trails:finalStatus ?s . ?c trails:adds ?n . } }
        INSERT { GRAPH ?g { ?f trails:finalStatus trails:Inconclusive . } }
        WHERE { GRAPH ?g { ?c a trails:SynthesisedCause ; trails:index 1 .
          ?c trails:adds ?n ; trails:hypothesis ?h .
          ?f a trails:FinalStatus ; trails:hypothesis ?h ; trails:finalStatus ?s . } }"""
    record.store.inner.update(change)
    assert [cause["statement"] for cause in as_dict(record)["causes"]] == [
        found.as_dict()["causes"][1]["statement"]
    ]
    assert "is supported by its part alone, and inconclusive when all parts" in markdown.render(
        record
    )


def _of(record: Record, kind: str) -> list[Any]:
    quads = record.store.inner.quads_for_pattern(None, None, TRAILS[kind], record.iri)
    return sorted((q.subject for q in quads), key=str)


def test_each_part_is_a_session_of_its_own_under_one_correlation(
    found: PlanResult, sessions: list[Record]
) -> None:
    parent = found.result.record
    assert len(sessions) == 2
    for one in sessions:
        values = one.store.values
        assert values(one.iri, TRAILS.parent, one.iri) == [parent.iri]
        assert values(one.iri, TRAILS.correlation, one.iri) == parent.store.values(
            parent.iri, TRAILS.correlation, parent.iri
        )
        assert audit(one).rules == set()
    assert audit(parent).rules == set()
    assert fan_in(parent).done
    tests = [len(_of(one, "Evidence")) for one in sessions]
    assert all(tests)
    assert found.usage.tests == sum(tests)


def copied(record: Record, quads: list[ox.Quad]) -> Record:
    store = ox.Store()
    for quad in quads:
        store.add(quad)
    return Record(Store(store, "a copy"), record.iri)


@pytest.fixture(scope="module")
def quads(found: PlanResult) -> list[ox.Quad]:
    return list(found.result.record.store.quads())


@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_disorder_and_repetition_of_completions_change_nothing(
    found: PlanResult, sessions: list[Record], quads: list[ox.Quad], data: st.DataObject
) -> None:
    record = found.result.record
    ends = [q for q in quads if q.predicate == TYPE and q.object == TRAILS.Completion]
    of_ends = [q for q in quads if q.subject in {end.subject for end in ends}]
    rest = [q for q in quads if q not in of_ends]
    late = data.draw(st.permutations(of_ends + data.draw(st.lists(st.sampled_from(of_ends)))))
    before, after = fan_in(copied(record, rest)), fan_in(copied(record, [*rest, *late]))
    assert not before.used
    assert [one.session for one in before.missing] == [one.iri for one in sessions]
    assert after == fan_in(record)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_what_is_the_same_and_what_it_counts_does_not_depend_on_the_order(
    found: PlanResult, data: st.DataObject
) -> None:
    record = found.result.record
    known = registered(record.store, correlation_of(record))
    used = {one.investigation for one in known}
    twins = [replace(one, investigation=f"{one.investigation}-again") for one in known]
    once = same(known, used)
    mixed = data.draw(st.permutations([*known, *twins]))
    both = same(mixed, used)
    assert len(both) == len(once)
    assert {one.first.iri: one.e for one in both} == {one.first.iri: one.e for one in once}


def test_the_same_hypothesis_counts_once_with_the_mean_of_what_was_tested() -> None:
    one = Registered(
        ox.NamedNode("urn:a:hypothesis:1"), "urn:a", ("g", "k", "cohort", "r"), "statistics",
        TRAILS.Supported.value, Decimal("0.9"), Decimal(400), "It fails.", 3, Decimal(2), Decimal(),
    )  # fmt: skip
    other = replace(one, iri=ox.NamedNode("urn:b:hypothesis:7"), investigation="urn:b",
                    e=Decimal(100), items=5, status=TRAILS.Refuted.value)  # fmt: skip
    untested = replace(one, iri=ox.NamedNode("urn:c:hypothesis:1"), investigation="urn:c",
                       e=Decimal(1), items=0)  # fmt: skip
    (found,) = same([untested, one, other], {"urn:a", "urn:b"})
    assert found.e == Decimal(250)
    assert found.first == other  # that with most evidence stands for all
    assert found.contradictory
    assert len(same([one, replace(one, iri=other.iri)], {"urn:a"})) == 2  # of one investigation


class LeavesOne:
    """Carries on all but the first, as if its worker were slow."""

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        InTurn().carry(sessions[1:], place, wait)


def asked(place: Path, ledger: Path) -> PlanContext:
    names: dict[str, Any] = {
        "data": (str(place / "parts.ttl"),),
        "shapes": (str(place / "shapes.ttl"),),
    }
    routing = kgreason.route("Why?", shapes=True, strategy="supervisor").decision.as_dict()
    return PlanContext(Request(**names, routing=routing, try_repairs=False), ledger)


@pytest.mark.slow
def test_what_does_not_end_in_time_is_named_in_a_partial_synthesis(
    place: Path, tmp_path: Path
) -> None:
    made = Supervisor(carrier=LeavesOne()).run("Why?", asked(place, tmp_path / "l"), Limits())
    record = made.result.record
    (synthesis,) = _of(record, "Synthesis")
    (missing,) = fan_in(record).missing
    assert record.store.values(synthesis, TRAILS.missing, record.iri) == [missing.assignment]
    assert missing.goal in made.answer
    assert "did not end in time" in made.answer
    for told in (made.result.summary(), made.result.markdown(), made.result.html()):
        assert missing.goal in told.replace("\n", " ")
    assert f"Missing is “{missing.goal}”: nothing is said of this part" in made.result.markdown()
    assert len(made.as_dict()["causes"]) == 1
    assert audit(record).rules == set()


class Breaks:
    """Ends the first sub-investigation that is carried on in an error, all others as usual."""

    def __init__(self) -> None:
        self.times = 0

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        self.times += 1
        if self.times == 1:
            broken = Record(place.ledger.store, sessions[0], place.ledger.blobs)
            asked_ = recorded_request(broken)
            made = Investigation(place.graph, (), broken, asked_)
            with pytest.raises(RunError):
                made.carry_out(lambda: (_ for _ in ()).throw(RunError("It is gone.")).__next__())
            sessions = sessions[1:]
        InTurn().carry(sessions, place, wait)


@pytest.mark.slow
def test_an_error_is_a_completion_and_its_part_is_given_out_once_more(
    place: Path, found: PlanResult, tmp_path: Path
) -> None:
    carrier = Breaks()
    made = Supervisor(carrier=carrier).run("Why?", asked(place, tmp_path / "l"), Limits())
    record = made.result.record
    assert carrier.times == 2
    first, second, again = expected(record)
    assert (first.status, first.reason, first.missed) == ("error", "It is gone.", True)
    assert second.complete
    assert (again.goal, again.fan_out_number, again.status) == (first.goal, 2, "complete")
    assert made.answer == found.answer
    assert audit(record).rules == set()


class Stops:
    """A budget that ends the work before rivals are told apart."""

    def spent(self, unit: str) -> str | None:
        """Return that it stopped at that unit of work."""
        return "stopped before rivals were told apart" if unit == "rivals" else None

    def charge(self, cost: Cost) -> None:
        """Take nothing off."""


class Hasty:
    """Carries the first part on within a budget that ends too soon, and all others as usual."""

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        record = Record(place.ledger.store, sessions[0], place.ledger.blobs)
        made = opened_elsewhere(record, recorded_request(record), place.graph, place.observed)
        made.context.budget = Metered(Stops())
        made.run()
        InTurn().carry(sessions[1:], place, wait)


@pytest.mark.slow
def test_parts_that_contradict_each_other_are_judged_by_the_evidence_of_all(tmp_path: Path) -> None:
    """Who made a part decides on its mass, and mostly on its colour: two rivals of one frame.

    One part is cut off before these were told apart, and so supports neither; the other one, about
    the same rule and nodes among others, supports the maker. All evidence together supports it.
    """
    dice = random.Random(2)
    rows = []
    for n in range(240):
        made = n % 4 == 0
        red = dice.random() < (0.8 if made else 0.1)
        mass = "" if dice.random() < (0.9 if made else 0.03) else f" ; ex:mass {n}"
        size = "" if n % 4 == 1 else f" ; ex:size {n}"
        colour = "red" if red else dice.choice(["blue", "green"])
        said = f'ex:p{n} a ex:Part ; ex:madeBy ex:m{n % 4} ; ex:colour "{colour}"{mass}{size} .'
        rows.append(said)
    (tmp_path / "parts.ttl").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    shapes = "ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property " + " , ".join(
        f"[ sh:path ex:{name} ; sh:minCount 1 ]" for name in ("mass", "size")
    )
    (tmp_path / "shapes.ttl").write_text(f"{HEAD}{shapes} .\n", encoding="utf-8")
    context = asked(tmp_path, tmp_path / "ledger")
    context = replace(context, more={"goals": ("What about the mass?", "What of each Part?")})
    made_ = Supervisor(carrier=Hasty()).run("Why?", context, Limits())
    record, told = made_.result.record, made_.as_dict()
    maker = "Nodes whose madeBy is m0 fail."
    found = {h["id"]: h for h in told["synthesis"]["hypotheses"]}
    (contradiction,) = _of(record, "Contradiction")
    values = record.store.values
    pair = [found[one.value] for one in values(contradiction, TRAILS.hypothesis, record.iri)]
    assert sorted(one["provisional"] for one in pair) == ["inconclusive", "supported"]
    assert {one["status"] for one in pair} == {"supported"}
    assert {one["e"] for one in pair} == {pair[0]["e"]}  # tests on the same nodes count once
    assert [cause["statement"] for cause in told["causes"]].count(maker) == 1
    assert f"Parts disagree: “{maker}” is supported by one sub-investigation" in (
        made_.result.markdown()
    )
    assert audit(record).rules == set()


class Dies:
    """Carries one on and is gone, as a process that is killed."""

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        InTurn().carry(sessions[:1], place, wait)
        raise KeyboardInterrupt


def test_a_restart_carries_on_what_is_open_and_ends_with_the_same(
    place: Path, found: PlanResult, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    with pytest.raises(KeyboardInterrupt):
        Supervisor(carrier=Dies()).run("Why?", asked(place, ledger), Limits())
    with Ledger.read(ledger) as reader:
        assert [one.finished for one in reader.entries()] == [False, True, False]
    with kgreason.resume(ledger) as result:
        record = result.record
        answer = answer_of(record)
        assert answer is not None
        assert answer["text"] == found.answer
        assert len(expected(record)) == 2
        assert audit(record).rules == set()


def test_one_query_follows_a_correlation_from_routing_to_synthesis(found: PlanResult) -> None:
    rows = list(found.result.ask("how-was-it-divided"))
    what = [row["what"].value for row in rows]
    assert list(dict.fromkeys(what)) == [
        *("routing", "fan-out", "assignment", "sub-investigation", "completion", "synthesis"),
        "cause",
    ]
    known = {row["node"].value for row in rows}
    came = {row["from"].value for row in rows if "from" in row}
    assert came <= known  # from each row the ways lead back to the routing
    assert what.count("completion") == 2
    shown = [step.action for step in found.steps]
    assert "fan in" in shown
    assert sum(action.startswith("fan out to") for action in shown) == 2


def test_parts_may_be_classes_and_nobody_is_routed_to_a_division(place: Path) -> None:
    made = supervised(place, split="class")
    (one,) = expected(made.result.record)
    assert one.complete
    assert one.goal == "Why is this broken: the rules for Part?"
    assert len(_of(made.result.record, "SynthesisedCause")) == 2
    for question in ("Compare the makers of all parts in every respect.", "Why do parts fail?"):
        assert api.routed(question, shapes=True).decision.pattern != "supervisor"
    with pytest.raises(OptionError, match="give one of symptom, class, source, goal"):
        supervised(place, split="colour")
    with pytest.raises(OptionError, match="leave it out"):
        kgreason.plan("How many parts?", place / "parts.ttl", strategy="react", split="class")


@pytest.mark.slow
def test_parts_may_be_sources(tmp_path: Path) -> None:
    asked = factory(tmp_path)
    (tmp_path / "data").mkdir()
    lines = asked["data"].read_text(encoding="utf-8").splitlines()
    parts = {"old": [], "new": []}  # type: dict[str, list[str]]
    for line in lines[2:]:
        parts["old" if "ex:m0" in line else "new"].append(line)
    for name, rows in parts.items():
        text = "\n".join([*lines[:2], *rows, ""])
        (tmp_path / "data" / f"{name}.ttl").write_text(text, encoding="utf-8")
    made = kgreason.plan(
        "Why?", tmp_path / "data", shapes=asked["shapes"], strategy="supervisor", split="source"
    )
    record = made.result.record
    assert [(part.within_source, len(part.symptoms)) for part in assigned(record)] == [
        ("urn:src:old.ttl", 1),
        ("urn:src:new.ttl", 1),
    ]
    assert len(made.as_dict()["causes"]) == 2
    assert audit(record).rules == set()


@pytest.mark.slow
def test_goals_that_overlap_find_a_cause_twice_and_tell_it_once(
    place: Path, found: PlanResult
) -> None:
    goals = ("What about the mass?", "Look into mass and code.")
    made = supervised(place, goals=goals)
    record = made.result.record
    assert [(part.goal, len(part.symptoms)) for part in assigned(record)] == [
        (goals[0], 1),
        (goals[1], 2),
    ]
    told, once = made.as_dict(), found.as_dict()
    same = ("statement", "explains", "adds", "fingerprint")
    assert [[c[k] for k in same] for c in told["causes"]] == [
        [c[k] for k in same] for c in once["causes"]
    ]
    assert told["explanation"] == once["explanation"]
    assert told["synthesis"]["family"] == once["synthesis"]["family"]
    assert len(told["synthesis"]["hypotheses"]) > len(once["synthesis"]["hypotheses"])
    assert [len(s["hypotheses"]) for s in told["symptoms"]] == [
        len(s["hypotheses"]) for s in once["symptoms"]
    ]
    assert audit(record).rules == set()


def test_a_goal_names_what_is_broken_and_the_rest_is_a_part(place: Path) -> None:
    made = supervised(place, goals=["What about the code?"])
    assert [part.goal for part in assigned(made.result.record)] == [
        "What about the code?",
        "Why is this broken: what no goal names?",
    ]
    with pytest.raises(OptionError, match="names nothing that is broken"):
        supervised(place, goals=["What about the price?"])
    with pytest.raises(OptionError, match="leave out --split class"):
        supervised(place, split="class", goals=["What about the code?"])
    with pytest.raises(OptionError, match="say each goal by --goal"):
        supervised(place, split="goal")
    with pytest.raises(OptionError, match="stands once"):
        supervised(place, goals=["code", "code"])
    with pytest.raises(OptionError, match="--goal is about"):
        kgreason.plan("How many parts?", place / "parts.ttl", strategy="react", goals=["mass"])


def test_the_synthesis_is_in_the_result(found: PlanResult, sessions: list[Record]) -> None:
    told = found.as_dict()
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    made = told["synthesis"]
    assert [one["investigation"] for one in made["parts"]] == [one.iri.value for one in sessions]
    assert sum(cause["adds"] for cause in made["causes"]) == made["explained"]
    supported = {h["id"] for h in made["hypotheses"] if h["status"] == "supported"}
    assert {h for cause in made["causes"] for h in cause["hypotheses"]} <= supported
    families = [
        sum(row["gate"].value == "statistics" for row in one.store.select(
            template("record", "registered").render(correlation=ox.Literal(made["correlation"]))
        ) if row["investigation"].value == one.iri.value)
        for one in sessions
    ]  # fmt: skip
    assert made["family"] == sum(families) > max(families)


def test_data_that_conform_leave_nothing_to_divide(place: Path, tmp_path: Path) -> None:
    rule = "[ sh:path ex:madeBy ; sh:minCount 1 ]"
    shapes = f"{HEAD}ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property {rule} .\n"
    (tmp_path / "shapes.ttl").write_text(shapes, encoding="utf-8")
    made = kgreason.plan(
        "Why?", place / "parts.ttl", shapes=tmp_path / "shapes.ttl", strategy="supervisor"
    )
    assert not made.answered
    assert made.answer == "No rule is broken, so there is nothing to divide."
    assert audit(made.result.record).rules == set()
