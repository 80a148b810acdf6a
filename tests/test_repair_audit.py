"""The audit of a history in which repairs were tried, and one was given out."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from kgreason.audit import audit
from kgreason.audit.pyshacl_reference import findings as by_pyshacl
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record
from kgreason.repair.apply import Wanted, repair
from tests.audit_support import CASES, lab, relinked, statements, tampered

MUTANTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (CASES / "repair.toml").read_text(encoding="utf-8")
)["mutant"]


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of an investigation with an intervention, repaired after its end."""
    folder = tmp_path_factory.mktemp("repaired")
    lab(folder, ledger=folder / "ledger", interventions=5).store.close()
    done = repair(folder / "ledger", None, wanted=Wanted(out=str(folder / "m.nq")))
    # 18 of feed 3 and two others lack a mass; 24 labels stand under another predicate.
    assert (done.before, done.after) == (20 + 24, 20)
    with Ledger.read(folder / "ledger") as reader:
        record = reader.record(reader.entry())
        kept = Ledger.memory()
        kept.store.inner.extend(statements(record))
        return Record(kept.store, record.iri)


def test_a_history_with_repairs_is_clean(repaired: Record) -> None:
    found = audit(repaired)
    assert found.ok, str(found)
    classes = [q.object for q in statements(repaired)]
    assert classes.count(TRAILS.RepairAttempt) == 2
    assert classes.count(TRAILS.RepairApplication) == 1
    assert classes.count(TRAILS.Commitment) == classes.count(TRAILS.Release) == 2


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m["name"])
@pytest.mark.slow
def test_what_was_done_to_it_is_found(repaired: Record, mutant: dict[str, Any]) -> None:
    found = audit(relinked(tampered(repaired, mutant["update"])))
    assert found.rules == set(mutant["rules"]), str(found)


@pytest.mark.slow
def test_pyshacl_agrees(repaired: Record) -> None:
    from kgreason.audit.merged import History  # noqa: PLC0415 - for this one test

    assert list(by_pyshacl(History(repaired))) == []


def test_what_a_step_may_not_write_is_refused(repaired: Record, tmp_path: Path) -> None:
    """The commitment is one at a time: the engine itself refuses a second."""
    from kgreason.base.errors import RecordError  # noqa: PLC0415 - for this one test
    from kgreason.record.permits import authorise, commit_to  # noqa: PLC0415

    _ = tmp_path
    row = next(r for r in repaired.select("repairable") if "mapping" in r["family"].value)
    open_ = tampered(repaired, "DELETE { ?r ?p ?o } WHERE { ?r a trails:Release ; ?p ?o }")
    step = open_.step("Act")
    grant, _ = authorise(open_, step, TRAILS.TryRepair, row["hypothesis"])  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="stands"):
        commit_to(open_, step, row["hypothesis"], grant, row["region"].value, "again")  # type: ignore[arg-type]
