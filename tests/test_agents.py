"""Agents: who asked, proposed, judged and repaired is named, and asked for by a question."""

from pathlib import Path

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.terms import PROV
from kgreason.record import Ledger
from kgreason.record.agents import CONDITIONS, ENGINE, FAMILIES, UNNAMED, agent
from kgreason.report.as_json import as_dict
from kgreason.review.judge import judge
from tests.audit_support import tiny
from tests.cli_support import run
from tests.lifetime_support import asked, of
from tests.resume_support import several


def test_a_name_is_the_same_agent_in_every_record() -> None:
    assert agent("Ada Lovelace") == agent(" Ada Lovelace ")
    assert agent("Ada Lovelace").iri.value == "urn:kgreason:agent:named:Ada%20Lovelace"
    assert agent("<https://ada.example/#me>").iri.value == "https://ada.example/#me"
    assert agent("größer").label == "größer"
    assert agent(None).label == UNNAMED


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, "urn:kgreason:agent:families"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="--as needs a name"):
        agent(name)


def test_who_asks_is_named_on_the_investigation_and_on_its_plans(tmp_path: Path) -> None:
    record = tiny(tmp_path, principal="Ada")
    ada = agent("Ada").iri
    assert set(record.store.values(record.iri, PROV.wasAssociatedWith, record.iri)) == {
        ENGINE.iri,
        ada,
    }
    assert record.store.values(ENGINE.iri, PROV.actedOnBehalfOf, record.iri) == [ada]
    plans = of(record, "HypothesisPlan").values()
    assert {who for plan in plans for who in plan["wasAssociatedWith"]} == {ada.value}
    assert audit(record).ok


def test_every_hypothesis_names_its_proposer(tmp_path: Path) -> None:
    record = tiny(tmp_path)
    for said in of(record, "Hypothesis").values():
        catch_all = said["catchAll"] == ["true"]
        assert said["wasAttributedTo"] == [(ENGINE if catch_all else FAMILIES).iri.value]


@pytest.mark.slow
def test_a_question_tells_what_each_agent_did(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    asked(several(tmp_path, interventions=0), principal="Ada", ledger=ledger, policy="code")
    judge(ledger, "1", "Ada", right=True)
    judge(ledger, "1", "Bob", right=False)
    assert run("repair", "I1", "--as", "Eve", "--ledger", ledger).code == 0
    rows = kgreason.open(ledger).history("which-agents")
    did = {(row["name"].value, row["did"].value) for row in rows}
    assert did == {
        *(("Ada", "tested"), (ENGINE.label, "tested"), (FAMILIES.label, "proposed")),
        (CONDITIONS.label, "proposed"),
        *(("Ada", "judged"), ("Bob", "judged"), ("Eve", "repaired")),
        (ENGINE.label, "repaired"),  # what the engine tried on a copy
    }
    with Ledger.read(ledger) as store:
        record = store.record(store.entry(None))
        acts = {who for s in of(record, "Step").values() for who in s.get("wasAssociatedWith", [])}
        people = {agent(name).iri.value for name in ("Ada", "Bob", "Eve")}
        assert acts == people | {ENGINE.iri.value}
        assert audit(record).ok, str(audit(record))


def test_the_result_names_who_asked_and_who_proposed(tmp_path: Path) -> None:
    record = tiny(tmp_path, principal="Ada")
    told = as_dict(record)
    assert told["principal"] == "Ada"
    (symptom,) = told["symptoms"]
    named = {tuple(h["proposers"]) for h in symptom["hypotheses"]}
    assert named == {(FAMILIES.label,), (ENGINE.label,)}
