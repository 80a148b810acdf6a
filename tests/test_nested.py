"""A supervisor's parts that are divided again, to a limit; the promises hold over all levels."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.budget import Limits
from kgreason.base.errors import LedgerError, OptionError
from kgreason.base.store import Store
from kgreason.base.terms import TRAILS
from kgreason.observe.request import Request
from kgreason.planner.fan_in import fan_in
from kgreason.planner.splitting import split_kinds
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.planner.sub_investigations import InTurn, Place
from kgreason.planner.supervisor import Supervisor
from kgreason.record import Ledger, Record
from kgreason.record.fanning import expected, expected_below
from kgreason.record.plan_steps import answer_of
from kgreason.report import markdown
from tests.queue_support import segments, workers_here
from tests.test_supervisor import HEAD, Breaks

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("mass", "width", "code", "name")
KINDS = "source,symptom"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of two sources, each with two broken rules; a cause of the old one breaks both."""
    folder = tmp_path_factory.mktemp("feeds")
    (folder / "data").mkdir()
    rows: dict[str, list[str]] = {"old": [], "new": []}
    for n in range(120):
        maker, colour = n % 4, ("red", "blue", "green", "grey", "white")[n % 5]
        lacks = {
            "mass": maker == 0,
            "width": maker == 0 and n % 8,
            "code": colour == "red",
            "name": colour == "grey",
        }
        has = "".join(f' ; ex:{name} "{name} {n}"' for name in NAMES if not lacks[name])
        said = f'ex:p{n} a ex:Part ; ex:madeBy ex:m{maker} ; ex:colour "{colour}"{has} .'
        rows["old" if maker == 0 else "new"].append(said)
    for name, each in rows.items():
        text = HEAD + "\n".join(each) + "\n"
        (folder / "data" / f"{name}.ttl").write_text(text, encoding="utf-8")
    needed = " , ".join(f"[ sh:path ex:{name} ; sh:minCount 1 ]" for name in NAMES)
    shapes = f"{HEAD}ex:Shape a sh:NodeShape ; sh:targetClass ex:Part ; sh:property {needed} .\n"
    (folder / "shapes.ttl").write_text(shapes, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(place: Path, tmp_path_factory: pytest.TempPathFactory) -> PlanResult:
    return kgreason.plan(
        "Why are these rules broken?",
        place / "data",
        shapes=place / "shapes.ttl",
        strategy="supervisor",
        split=KINDS,
        ledger=tmp_path_factory.mktemp("ledgers") / "ledger",
    )


def asked(place: Path, ledger: Path) -> PlanContext:
    names: dict[str, Any] = {
        "data": (str(place / "data"),),
        "shapes": (str(place / "shapes.ttl"),),
    }
    routing = kgreason.route("Why?", shapes=True, strategy="supervisor").decision.as_dict()
    request = Request(**names, routing=routing, try_repairs=False)
    return PlanContext(request, ledger, more={"split": KINDS})


@pytest.mark.slow
def test_all_levels_together_end_as_one_investigation(place: Path, found: PlanResult) -> None:
    with kgreason.investigate(
        place / "data", shapes=place / "shapes.ttl", try_repairs=False
    ) as whole:
        once = whole.as_dict()
    told = found.as_dict()
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    same = ("id", "statement", "explains", "adds", "fingerprint", "said")
    assert len(told["causes"]) == 3
    assert [[c[k] for k in same] for c in told["causes"]] == [
        [c[k] for k in same] for c in once["causes"]
    ]
    assert told["explanation"] == once["explanation"]
    assert {s["name"]: s["verdict"] for s in told["symptoms"]} == {
        s["name"]: s["verdict"] for s in once["symptoms"]
    }


@pytest.mark.slow
def test_the_family_of_e_bh_and_the_statuses_are_of_all_levels(found: PlanResult) -> None:
    record, made = found.result.record, found.as_dict()["synthesis"]
    leaves = fan_in(record).used
    assert len(leaves) == 4
    families = [len(_by_statistics(Record(record.store, one.session))) for one in leaves]
    assert made["family"] == sum(families) > max(families)
    for one in expected_below(record):
        own = Record(record.store, one.session)
        assert own.store.values(own.iri, TRAILS.correlation, own.iri) == record.store.values(
            record.iri, TRAILS.correlation, record.iri
        )
        statuses = list(
            record.store.inner.quads_for_pattern(None, TRAILS.finalStatus, None, one.session)
        )
        assert statuses == []  # final statuses are given above all levels alone
        assert audit(own).rules == set()
    assert audit(record).rules == set()


def _by_statistics(record: Record) -> list[Any]:
    gate = ox.Literal("statistics")
    return list(record.store.inner.quads_for_pattern(None, TRAILS.gate, gate, record.iri))


def test_the_levels_are_told_drawn_and_followed(found: PlanResult) -> None:
    told = [
        (one["parent"], one["divided"], one["status"])
        for one in found.as_dict()["synthesis"]["parts"]
    ]
    record = found.result.record
    first, second = expected(record)
    top, upper, lower = record.iri.value, first.session.value, second.session.value
    assert told == [
        (top, True, "complete"), *[(upper, False, "complete")] * 2,
        (top, True, "complete"), *[(lower, False, "complete")] * 2,
    ]  # fmt: skip
    rows = list(found.result.ask("how-was-it-divided"))
    depths = sorted(r["depth"].value for r in rows if r["what"].value == "fan-out")
    assert depths == ["0", "1", "1"]
    known = {row["node"].value for row in rows}
    assert {row["from"].value for row in rows if "from" in row} <= known
    text, page = found.result.markdown(), found.result.html()
    assert "fan-out by symptom** (from sub-investigation I2)" in text
    assert "within I2: Why is this broken" in text
    assert page.count('<svg class="dag"') == 1
    assert "This is a part of I1." in markdown.render(Record(record.store, first.session))


@pytest.mark.parametrize(
    ("name", "value"), [("depth", "1"), ("correlation", '"another"'), ("assignment", "<urn:x:a>")]
)
def test_a_link_that_hides_how_deep_it_lies_is_found(
    found: PlanResult, name: str, value: str
) -> None:
    record = found.result.record
    leaf = fan_in(record).used[0].session
    inner = ox.Store()
    inner.extend(record.store.quads())
    inner.update(f"""PREFIX trails: <https://w3id.org/trails#>
        DELETE {{ GRAPH <{leaf.value}> {{ <{leaf.value}> trails:{name} ?old }} }}
        INSERT {{ GRAPH <{leaf.value}> {{ <{leaf.value}> trails:{name} {value} }} }}
        WHERE {{ GRAPH <{leaf.value}> {{ <{leaf.value}> trails:{name} ?old }} }}""")
    assert "part-parent" in audit(Record(Store(inner, "a copy"), leaf)).rules
    assert "part-parent" not in audit(Record(record.store, leaf)).rules


class Dies:
    """Carries one on and is gone, as a process that is killed."""

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        InTurn().carry(sessions[:1], place, wait)
        raise KeyboardInterrupt


class LeavesOne:
    """Carries on all but the first, as if its worker were slow."""

    def carry(self, sessions: Sequence[Any], place: Place, wait: float | None, /) -> None:
        InTurn().carry(sessions[1:], place, wait)


@pytest.mark.slow
def test_an_error_below_is_given_out_again_by_whoever_gave_it_out(
    place: Path, found: PlanResult, tmp_path: Path
) -> None:
    carrier = Breaks()
    made = Supervisor(KINDS, carrier).run("Why?", asked(place, tmp_path / "l"), Limits())
    record = made.result.record
    assert carrier.times == 2
    assert [one.fan_out_number for one in expected(record)] == [1, 1]
    first = expected(Record(record.store, expected(record)[0].session))
    assert [(one.fan_out_number, one.status) for one in first] == [
        (1, "error"), (1, "complete"), (2, "complete")
    ]  # fmt: skip
    assert made.answer == found.answer
    assert audit(record).rules == set()


@pytest.mark.slow
def test_a_restart_goes_on_at_every_level(place: Path, found: PlanResult, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with pytest.raises(KeyboardInterrupt):
        Supervisor(KINDS, Dies()).run("Why?", asked(place, ledger), Limits())
    with Ledger.read(ledger) as reader:
        assert len(reader.entries()) == 7
    with pytest.raises(LedgerError, match="part of a divided question"):
        kgreason.resume(ledger, "I2")
    with kgreason.resume(ledger) as result:
        answer = answer_of(result.record)
        assert answer is not None
        assert answer["text"] == found.answer
        assert len(expected_below(result.record)) == 6
        assert audit(result.record).rules == set()


@pytest.mark.slow
def test_what_is_missing_below_is_named_above(place: Path, tmp_path: Path) -> None:
    made = Supervisor(KINDS, LeavesOne()).run("Why?", asked(place, tmp_path / "l"), Limits())
    record = made.result.record
    (missing,) = fan_in(record).missing
    assert missing.parent == expected(record)[0].session
    assert missing.goal in made.answer
    assert made.as_dict()["synthesis"]["partial"]
    assert audit(record).rules == set()
    part = answer_of(Record(record.store, missing.parent))
    assert part is not None
    assert part["text"].startswith("1 of 2 parts of this part ended. Missing is “")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("source,source", "each kind stands once"),
        ("symptom,colour", "give one of symptom, class, source, goal"),
        ("source,goal", "say each goal"),
    ],
)
def test_kinds_that_divide_nothing_are_refused(wanted: str, why: str) -> None:
    with pytest.raises(OptionError, match=why):
        split_kinds(wanted)


def test_a_question_is_divided_to_the_limit_alone() -> None:
    assert split_kinds("source, class,symptom") == ("source", "class", "symptom")
    assert split_kinds("goal,symptom", ["one"]) == ("goal", "symptom")
    with pytest.raises(OptionError, match="divided 3 times at most"):
        split_kinds("goal,source,class,symptom", ["one"])


@pytest.mark.slow
def test_parts_at_the_lowest_level_are_carried_on_by_workers(
    place: Path, found: PlanResult, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    with workers_here() as opened:
        made = kgreason.plan(
            "Why are these rules broken?",
            place / "data",
            shapes=place / "shapes.ttl",
            strategy="supervisor",
            split=KINDS,
            ledger=ledger,
            queue=ledger,
        )
    record = made.result.record
    assert made.answer == found.answer
    assert len(opened[0].said) == len(fan_in(record).used) == 4
    for one in expected_below(record):
        own = Record(record.store, one.session)
        assert len(segments(own)) == (not one.divided)
        assert audit(own).rules == set()
    assert audit(record).rules == set()


@pytest.mark.slow
def test_three_levels_end_as_one_investigation(tmp_path: Path) -> None:
    rows = []
    for n in range(160):
        kind, maker = "Part" if n % 2 else "Tool", (n // 2) % 4
        lacks = {"mass": maker == (0 if kind == "Part" else 1), "width": maker == 0}
        has = "".join(f" ; ex:{one}{kind} {n}" for one, lack in lacks.items() if not lack)
        rows.append(f"ex:p{n} a ex:{kind} ; ex:madeBy ex:m{maker}{has} .")
    (tmp_path / "data").mkdir()
    for feed, makers in (("old", "01"), ("new", "23")):
        own = [row for row in rows if row.partition("ex:madeBy ex:m")[2][:1] in makers]
        text = HEAD + "\n".join(own) + "\n"
        (tmp_path / "data" / f"{feed}.ttl").write_text(text, encoding="utf-8")
    shapes = ""
    for kind in ("Part", "Tool"):
        paths = " , ".join(f"[ sh:path ex:{one}{kind} ; sh:minCount 1 ]" for one in NAMES[:2])
        shapes += f"ex:{kind}Shape a sh:NodeShape ; sh:targetClass ex:{kind} ; "
        shapes += f"sh:property {paths} .\n"
    (tmp_path / "shapes.ttl").write_text(HEAD + shapes, encoding="utf-8")
    asked_: dict[str, Any] = {"data": tmp_path / "data", "shapes": tmp_path / "shapes.ttl"}
    with kgreason.investigate(**asked_, try_repairs=False) as whole:
        once = whole.as_dict()
    made = kgreason.plan("Why?", **asked_, strategy="supervisor", split="source,class,symptom")
    record, told = made.result.record, made.as_dict()
    assert [c["statement"] for c in told["causes"]] == [c["statement"] for c in once["causes"]]
    assert told["explanation"] == once["explanation"]
    depths = []
    for one in expected_below(record):
        own_record = Record(record.store, one.session)
        (depth,) = own_record.store.values(own_record.iri, TRAILS.depth, own_record.iri)
        depths.append(depth)
        assert audit(own_record).rules == set()
    assert max(map(str, depths)).startswith('"3"')
    assert len(depths) == 7
    rows_ = list(made.result.ask("what-it-cost"))
    assert [row["part"].value for row in rows_].count("part of a part") == 6
    assert audit(record).rules == set()
