"""The supervisor: parts in sub-investigations of their own, joined with the promises of one."""

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
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
from kgreason.base.budget import Limits
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
from kgreason.record.fanning import expected
from kgreason.record.plan_steps import answer_of

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
    place: Path, found: PlanResult
) -> None:
    whole = kgreason.investigate(
        place / "parts.ttl", shapes=place / "shapes.ttl", try_repairs=False
    )
    causes = [cause["statement"] for cause in whole.as_dict()["causes"]]
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
    assert audit(record).rules == set()


class Breaks:
    """Ends the first sub-investigation of the first fan-out in an error, all others as usual."""

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
    assert f"<{EX}Part>" in one.goal
    assert len(_of(made.result.record, "SynthesisedCause")) == 2
    for question in ("Compare the makers of all parts in every respect.", "Why do parts fail?"):
        assert api.routed(question, shapes=True).decision.pattern != "supervisor"
    with pytest.raises(OptionError, match="give one of symptom, class"):
        supervised(place, split="colour")
    with pytest.raises(OptionError, match="leave it out"):
        kgreason.plan("How many parts?", place / "parts.ttl", strategy="react", split="class")


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
