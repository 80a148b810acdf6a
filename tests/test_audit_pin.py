"""A head pinned outside the ledger shows what the ledger itself cannot."""

import json
from pathlib import Path

import pytest

from kgreason.audit import AuditReport, audit, pinned
from kgreason.base.errors import OptionError
from kgreason.base.terms import TRAILS
from kgreason.record import Record
from tests.audit_support import kept_in, lab, relinked, tampered, tiny
from tests.cli_support import run
from tests.test_audit import MUTANTS, NAMED, OF_SEALS

TAIL = NAMED["the tail is struck out, which only a head pinned elsewhere would show"]


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return lab(tmp_path_factory.mktemp("lab"))


def held(record: Record, pin: Path) -> AuditReport:
    return pinned(audit(record), record, pin)


def test_a_pin_is_made_once_and_found_again(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    assert held(laboratory, pin).ok
    made = json.loads(pin.read_text(encoding="utf-8"))
    (known,) = made.values()
    store = laboratory.store.inner
    (head,) = store.quads_for_pattern(laboratory.iri, TRAILS.head, None, laboratory.iri)
    assert known["step"] == head.object.value  # type: ignore[union-attr]
    assert held(laboratory, pin).ok
    assert json.loads(pin.read_text(encoding="utf-8")) == made


def test_a_tail_that_was_struck_out_is_found(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    held(laboratory, pin)
    before = pin.read_text(encoding="utf-8")
    forged = tampered(laboratory, TAIL)
    assert audit(forged).ok
    assert held(forged, pin).rules == {"pin"}
    assert pin.read_text(encoding="utf-8") == before


def test_a_history_may_go_on_after_its_pin(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    shorter = tampered(laboratory, TAIL)
    held(shorter, pin)
    first = pin.read_text(encoding="utf-8")
    assert held(laboratory, pin).ok
    assert pin.read_text(encoding="utf-8") != first  # the pin moved on


@pytest.mark.parametrize(
    "mutant",
    # Where no rule speaks after the hashes fit again, nothing but a hash had been touched; and a
    # second branch of the chain leaves the pinned one as it was.
    [
        m
        for m in MUTANTS
        if "seal" in m["raw"]
        and m["rules"]
        and "history" not in m
        and m["name"] != "the chain forks"
    ],
    ids=lambda mutant: mutant["name"],
)
@pytest.mark.slow
def test_whoever_makes_all_hashes_fit_again_breaks_the_pin(
    mutant: dict[str, str], laboratory: Record, tmp_path: Path
) -> None:
    pin = tmp_path / "heads.json"
    nothing = AuditReport(laboratory.iri.value, (), (), {})
    pinned(nothing, laboratory, pin)
    forged = relinked(tampered(laboratory, mutant["update"]))
    assert pinned(nothing, forged, pin).rules == {"pin"}


def test_a_broken_history_is_not_pinned(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    assert not held(tampered(laboratory, NAMED["a confidence is raised"]), pin).ok
    assert not pin.exists()


def test_the_pins_of_several_stand_together(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    other = tiny(tmp_path)
    held(laboratory, pin)
    held(other, pin)
    assert set(json.loads(pin.read_text(encoding="utf-8"))) == {
        laboratory.iri.value,
        other.iri.value,
    }


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"urn:i": "x"}', '{"urn:i": {"step": 1}}'])
def test_a_file_of_something_else_is_refused(laboratory: Record, tmp_path: Path, text: str) -> None:
    pin = tmp_path / "heads.json"
    pin.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=r"--pin .*heads\.json: this is no file of pins"):
        held(laboratory, pin)
    assert pin.read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written_is_refused(laboratory: Record, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"):
        held(laboratory, tmp_path / "nowhere" / "heads.json")


def test_the_command_line_pins(laboratory: Record, tmp_path: Path) -> None:
    pin = tmp_path / "heads.json"
    kept_in(tmp_path / "whole", laboratory).store.close()
    kept_in(tmp_path / "cut", tampered(laboratory, TAIL)).store.close()
    assert run("audit", "--ledger", tmp_path / "whole", "--pin", pin).code == 0
    cut = run("audit", "--ledger", tmp_path / "cut", "--pin", pin)
    assert cut.code == 1
    assert "violation pin " in cut.out
    assert run("audit", "--ledger", tmp_path / "cut").code == 0


def test_every_mutant_is_seen_by_a_rule_or_by_the_pin() -> None:
    """What no rule sees is marked so, and its hashes do not fit the pin."""
    silent = [m["name"] for m in MUTANTS if not m["rules"] and not set(m["raw"]) & OF_SEALS]
    assert silent == ["the tail is struck out, which only a head pinned elsewhere would show"]
