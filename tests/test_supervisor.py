"""The supervisor: parts in sub-investigations of their own, joined with the promises of one."""

from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.terms import TRAILS
from kgreason.planner.fan_in import fan_in
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.record import Record
from kgreason.record.fanning import expected

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
