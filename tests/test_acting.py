"""What is done once an investigation is closed: final reports; and events as they happen."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import LedgerError
from kgreason.cli import app
from kgreason.record import Ledger
from kgreason.review.events import Stream, events, lines
from kgreason.review.publish import publish
from kgreason.review.reassess import reassess
from kgreason.review.replay import replay
from tests.audit_support import doubtful, kept_in, lab

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "docs" / "events.schema.json").read_text(encoding="utf-8"))
STRICT = (
    "policy:frame policy:allows [ a trails:Permission ; trails:action trails:PublishReport ; "
    "policy:confidenceFrom 0.8"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, shapes and the ledger of two investigations of the same data."""
    folder = tmp_path_factory.mktemp("acting")
    kept_in(folder / "ledger", lab(folder))
    made = kgreason.investigate(
        folder / "data", shapes=folder / "shapes.ttl", max_hypotheses=3, ledger=folder / "ledger"
    )
    made.close()
    return folder


def asked(place: Path, text: str) -> list[dict[str, Any]]:
    with kgreason.result(place / "ledger") as result:
        prefix = "PREFIX trails: <https://w3id.org/trails#> "
        where = f"FROM {result.record.iri} WHERE"
        return [dict(r) for r in result.record.store.select(prefix + text.replace("WHERE", where))]


def test_a_final_report_is_recorded_with_its_digest(place: Path) -> None:
    made = publish(place / "ledger", None, lambda result: result.markdown())
    assert made.refused == ()
    rows = asked(place, "SELECT ?d WHERE { ?p a trails:Publication ; trails:digest ?d }")
    assert [row["d"].value for row in rows] == [hashlib.sha256(made.text.encode()).hexdigest()]
    with Ledger.read(place / "ledger") as ledger:
        found = audit(ledger.record(ledger.entry(None)))
    assert found.ok, str(found)
    assert replay(place / "ledger").same


def test_what_the_policy_does_not_allow_is_refused_and_recorded(tmp_path: Path) -> None:
    text = (ROOT / "ontology" / "policies" / "frame.ttl").read_text(encoding="utf-8")
    assert STRICT in text
    text = text.replace(STRICT, STRICT.replace("0.8", "1.0"))
    own = tmp_path / "own.ttl"
    own.write_text(text.replace("policy:frame ", "<urn:example:policy> "), encoding="utf-8")
    kept_in(tmp_path / "ledger", lab(tmp_path, policy=str(own)))
    run = CliRunner().invoke(app, ["report", "--final", "--ledger", str(tmp_path / "ledger")])
    assert run.exit_code == 1
    assert run.stdout == ""
    assert "is below 1" in run.stderr
    rows = asked(tmp_path, "SELECT ?g WHERE { ?a a trails:Authorisation ; trails:granted ?g }")
    assert {row["g"].value for row in rows} == {"false"}
    assert not asked(tmp_path, "SELECT ?p WHERE { ?p a trails:Publication }")
    with Ledger.read(tmp_path / "ledger") as ledger:
        found = audit(ledger.record(ledger.entry(None)))
    assert {finding.rule for finding in found.findings} == set(), str(found)


def test_a_report_that_claims_no_cause_needs_no_permission(tmp_path: Path) -> None:
    kept_in(tmp_path / "ledger", doubtful(tmp_path))
    made = publish(tmp_path / "ledger", None, lambda result: result.json())
    assert made.refused == ()
    assert not json.loads(made.text)["causes"]


def test_a_tampered_record_is_not_published(tmp_path: Path) -> None:
    kept_in(tmp_path / "ledger", lab(tmp_path))
    with Ledger.write(tmp_path / "ledger") as ledger:
        iri = ledger.entry(None).iri
        ledger.store.update(
            "PREFIX trails: <https://w3id.org/trails#> "
            f"DELETE {{ GRAPH {iri} {{ ?h trails:confidence ?c }} }} "
            f"INSERT {{ GRAPH {iri} {{ ?h trails:confidence 0.999 }} }} "
            f"WHERE {{ GRAPH {iri} {{ ?h trails:confidence ?c }} }}"
        )
    made = publish(tmp_path / "ledger", None, lambda result: result.markdown())
    assert made.text == ""
    assert "the audit finds" in made.refused[0]


def test_an_unfinished_investigation_is_not_published(tmp_path: Path) -> None:
    record = lab(tmp_path)
    record.store.update(
        f"DELETE WHERE {{ GRAPH {record.iri} {{ {record.iri} "
        "<https://w3id.org/trails#state> ?s } } ;"
        f"INSERT DATA {{ GRAPH {record.iri} {{ {record.iri} <https://w3id.org/trails#state> "
        "<https://w3id.org/trails#Running> } }"
    )
    kept_in(tmp_path / "ledger", record)
    with pytest.raises(LedgerError, match="kgreason resume"):
        publish(tmp_path / "ledger", None, lambda result: result.markdown())


def test_a_later_investigation_replays_though_it_speaks_of_an_earlier_one(place: Path) -> None:
    rows = asked(place, "SELECT ?r WHERE { ?x a trails:Refusal ; trails:refused ?r }")
    assert rows, "the second investigation refused nothing"
    assert replay(place / "ledger", "2").same


def test_the_recorded_policy_judges_as_it_did_over_several_rounds(place: Path) -> None:
    told = reassess(place / "ledger", "1", ["frame"]).as_dict()
    assert all(symptom["agree"] for symptom in told["symptoms"])


def test_disagreements_are_told_in_report_and_json(place: Path) -> None:
    reassess(place / "ledger", "2", ["frame", "e-value", "net-weight"])
    with kgreason.result(place / "ledger", "2") as result:
        told = result.as_dict()["reassessments"]
        text = result.markdown()
    differ = [one for one in told if not one["agrees"]]
    assert differ
    assert not any(one["policy"].endswith("#frame") for one in differ)
    assert "## Where other policies disagree" in text


def test_events_are_written_as_they_happen(tmp_path: Path) -> None:
    lab(tmp_path)
    file, sizes = tmp_path / "events.jsonl", []
    stream = Stream(file)

    def told(record: Any, step: Any) -> None:
        stream(record, step)
        sizes.append(file.stat().st_size)

    with kgreason.investigate(
        tmp_path / "data", shapes=tmp_path / "shapes.ttl", max_hypotheses=3, told=told
    ) as result:
        assert file.read_text(encoding="utf-8") == lines(result.record)
        written = list(events(result.record))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[len(sizes) // 2] < sizes[-1]
    for event in written:
        jsonschema.validate(event, SCHEMA)


def test_every_kind_of_event_is_in_the_schema() -> None:
    query = (ROOT / "queries" / "record" / "events.rq").read_text(encoding="utf-8")
    named = set(SCHEMA["properties"]["event"]["enum"])
    told = {
        word
        for line in query.splitlines()
        if "AS ?event" in line
        for word in re.findall(r'"([a-z]+)"', line.partition("AS ?event")[0].rpartition("BIND")[2])
    }
    statuses = {"testing", "supported", "refined", "converged", "refuted", "pruned", "archived",
                "inconclusive"}  # fmt: skip
    assert told | statuses == named


@pytest.mark.parametrize(
    "command", ["report --final", "reassess", "verdict H1 right --by A", "repair H1"]
)
def test_a_ledger_that_is_not_there_is_not_made(command: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    run = CliRunner().invoke(app, [*command.split(), "--ledger", str(gone)])
    assert run.exit_code == 2
    assert "there is no ledger here" in run.stderr
    assert not gone.exists()
