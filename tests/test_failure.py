"""An error ends an investigation as a recorded state, and it can be resumed from there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kgreason
from kgreason import loop
from kgreason.audit import audit
from kgreason.base.errors import RunError
from kgreason.base.redaction import without_secrets
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record
from kgreason.review.replay import replay
from tests.audit_support import ROOT, lab, statements
from tests.cli_support import run
from tests.lifetime_support import fates, nodes, of

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))


def failing(
    monkeypatch: pytest.MonkeyPatch, after: int, error: BaseException
) -> Callable[[], None]:
    """Let the running of tests raise an error after so many; gives what mends it."""
    whole, calls = loop.execute, []  # type: ignore[attr-defined]

    def broken(*args: Any) -> None:
        calls.append(args)
        if len(calls) > after:
            raise error
        whole(*args)

    monkeypatch.setattr(loop, "execute", broken)
    return lambda: monkeypatch.setattr(loop, "execute", whole)


def broken_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, after: int = 2
) -> Path:
    """Investigate until a test raises an error; gives the ledger."""
    mend = failing(monkeypatch, after, error)
    with pytest.raises(type(error)):
        lab(folder, ledger=folder / "ledger")
    mend()
    return folder / "ledger"


def record_of(ledger: Path) -> Record:
    reader = Ledger.read(ledger)
    return reader.record(reader.entry())


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ZeroDivisionError("a fault of the engine"), "ZeroDivisionError"),
        pytest.param(
            RunError("An update of the ledger failed: no space\nINSERT DATA { }"),
            "RunError",
            marks=pytest.mark.slow,
        ),
        pytest.param(MemoryError(), "MemoryError", marks=pytest.mark.slow),
    ],
)
def test_an_error_is_recorded_and_the_work_goes_on_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    ledger = broken_off(tmp_path, monkeypatch, error)
    with kgreason.open(ledger) as opened:
        (listed,) = opened.investigations
        assert (listed.state, listed.finished) == ("failed", False)
        found = opened.result().as_dict()
        Draft202012Validator(SCHEMA).validate(found)
        assert found["state"] == "failed"
        assert found["error"] == {"type": kind, "message": str(error).partition("\n")[0]}
    broken = record_of(ledger)
    assert audit(broken).rules == set()
    assert {f.rule for f in audit(broken).notices} == {"unfinished"}
    assert replay(ledger).same
    broken.store.close()
    with kgreason.resume(ledger) as result:
        assert result.as_dict()["state"] == "finished"
        assert result.as_dict()["error"] is None
        record = result.record
        assert audit(record).rules == set()
        assert fates(record) == fates(lab(tmp_path))
        phases = [s["phase"][0].rpartition("#")[2] for s in of(record, "Step").values()]
        assert phases.count("Fail") == 1
        indexes = sorted(int(s["index"][0]) for s in of(record, "Step").values())
        assert indexes == list(range(1, len(indexes) + 1))
    assert replay(ledger).same


def test_each_error_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = broken_off(tmp_path, monkeypatch, ValueError("first"))
    mend = failing(monkeypatch, 1, KeyError("second"))
    with pytest.raises(KeyError):
        kgreason.resume(ledger)
    mend()
    record = record_of(ledger)
    told = [s["errorMessage"][0] for s in nodes(record).values() if "errorMessage" in s]
    assert sorted(told) == ["'second'", "first"]
    assert audit(record).rules == set()
    record.store.close()
    with kgreason.resume(ledger) as result:
        assert result.as_dict()["state"] == "finished"


def test_an_interrupt_leaves_it_running_as_a_kill_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = broken_off(tmp_path, monkeypatch, KeyboardInterrupt())
    record = record_of(ledger)
    assert not [q for q in statements(record) if q.predicate == TRAILS.errorType]
    with kgreason.open(ledger) as opened:
        assert [one.state for one in opened.investigations] == ["running"]


def test_an_error_before_anything_was_recorded_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("at once")

    monkeypatch.setattr(loop.Investigation, "_start", broken)
    with pytest.raises(ValueError, match="at once"):
        lab(tmp_path, ledger=tmp_path / "ledger")
    with Ledger.read(tmp_path / "ledger") as reader:
        assert reader.entries() == []


def test_where_the_error_cannot_be_recorded_it_is_raised_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, 2, ValueError("the first"))
    commit = Record.commit

    def unwritable(self: Record, step: Any, **more: Any) -> None:
        if step.phase == TRAILS.Fail:
            raise RunError("no space")
        commit(self, step, **more)

    monkeypatch.setattr(Record, "commit", unwritable)
    with pytest.raises(ValueError, match="the first"):
        lab(tmp_path, ledger=tmp_path / "ledger")


def test_the_commands_tell_of_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = broken_off(tmp_path, monkeypatch, ZeroDivisionError("by zero"))
    shown = run("ledger", "--ledger", ledger)
    assert "failed" in shown.out
    report = run("report", "--ledger", ledger)
    assert report.code == 0
    assert "An error ended the run (ZeroDivisionError: by zero); it can be resumed." in report.out
    assert "since an error ended it (ZeroDivisionError: by zero); `kgreason resume`" in report.err
    assert run("resume", "--ledger", ledger).code == 0
    assert "finished" in run("ledger", "--ledger", ledger).out


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("cannot reach https://ann:pa55word@example.org/x", "cannot reach https://…@example.org/x"),
        ("bad api_key=abc123 given", "bad api_key=… given"),
        ('{"password": "hunter22", "n": 1}', '{"password": …, "n": 1}'),
        ("Authorization: Bearer eyJhbGciOi.x.y refused", "Authorization: Bearer … refused"),
        ("Authorization: Basic YW5uOnB3 refused", "Authorization: Basic … refused"),
        ("a basic graph pattern was expected", None),
        ("key sk-ant-abcdefghijklmnop is wrong", "key … is wrong"),
        ("the value s3cr3t-of-mine was refused", "the value … was refused"),
        ("one\ntwo", "one"),
        ("urn:kgreason:0123:step:4: this step is not written", None),
        ("the token of line 3 is no number", None),
    ],
)
def test_secrets_are_taken_out_of_a_message(text: str, kept: str | None) -> None:
    environment = {"MY_API_TOKEN": "s3cr3t-of-mine", "HOME": "/home/ann", "A_KEY": "is"}
    assert without_secrets(text, environment) == (text if kept is None else kept)
    assert len(without_secrets("x" * 2000, environment)) == 500


def test_secrets_do_not_reach_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "only-for-my-eyes")
    ledger = broken_off(tmp_path, monkeypatch, ValueError("refused: only-for-my-eyes"))
    (said,) = (
        q.object.value for q in statements(record_of(ledger)) if q.predicate == TRAILS.errorMessage
    )
    assert said == "refused: …"
