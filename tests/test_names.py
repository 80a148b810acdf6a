"""Investigations have names of their own: a nonce, from which all else in a record is derived."""

import json
from pathlib import Path
from typing import Any

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import OptionError
from kgreason.base.terms import PROV, TRAILS
from kgreason.record import Ledger, Record
from kgreason.record.nonce import named, names_of
from kgreason.report.export import write
from kgreason.review.replay import replay
from tests.audit_support import kept_in, lab, statements

SHARED = ("https://w3id.org/trails/", "urn:kgreason:agent:")
"""What several investigations have in common, and so is named alike in all of them."""


def derived(record: Record) -> set[str]:
    """Give the nodes that a record describes, without those that investigations share."""
    return {q.subject.value for q in statements(record) if not q.subject.value.startswith(SHARED)}


def unnamed(record: Record) -> set[str]:
    """Give the statements of a record without its name, its times and its seals."""
    left_out = {PROV.startedAtTime, PROV.endedAtTime, TRAILS.hash, TRAILS.elapsed}
    own = names_of(record.iri)
    kept = (q for q in statements(record) if q.predicate not in left_out)
    return {own.sub("urn:it", str(q.triple)) for q in kept}


def test_two_runs_over_the_same_data_share_no_name(tmp_path: Path) -> None:
    one, other = lab(tmp_path), lab(tmp_path)
    assert one.iri != other.iri
    assert all(name.startswith(one.iri.value) for name in derived(one))
    assert derived(one).isdisjoint(derived(other))


@pytest.mark.slow
@pytest.mark.parametrize("nonce", ["00000000", "zzzzzzzzzzzzzzzz", "5eed5eed5eed5eed5eed5eed"])
def test_names_change_nothing_else(tmp_path: Path, nonce: str) -> None:
    """Also no order in which the store gives things, which hangs on how they are called."""
    assert unnamed(lab(tmp_path, nonce=nonce)) == unnamed(lab(tmp_path))


def test_a_nonce_gives_the_names_again(tmp_path: Path) -> None:
    made = [lab(tmp_path, nonce="0123456789abcdef") for _ in range(2)]
    assert {record.iri.value for record in made} == {"urn:kgreason:0123456789abcdef"}
    assert derived(made[0]) == derived(made[1])


@pytest.mark.parametrize("nonce", ["", "short", "with space", "UPPERCASE", "a" * 65, "a:b:c:d:e"])
def test_what_cannot_be_a_nonce_is_refused_before_anything_is_read(
    tmp_path: Path, nonce: str
) -> None:
    with pytest.raises(OptionError, match="a nonce is 8 to 64 digits and letters a to z"):
        kgreason.investigate(
            "missing.ttl", shapes="missing.ttl", nonce=nonce, ledger=tmp_path / "l"
        )
    assert not (tmp_path / "l").exists()


def test_a_nonce_that_is_taken_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    lab(tmp_path, nonce="0123456789", ledger=ledger).store.close()
    with pytest.raises(OptionError, match="has an investigation of the nonce 0123456789 already"):
        lab(tmp_path, nonce="0123456789", ledger=ledger)
    with Ledger.read(ledger) as reader:
        assert [entry.number for entry in reader.entries()] == [1]


def test_names_that_begin_alike_are_told_apart() -> None:
    short, long = named("01234567"), named("0123456789")
    text = f"{short} {long} <{short.value}:step:1> <{long.value}:step:1>"
    assert names_of(short).sub("X", text) == f"<X> {long} <X:step:1> <{long.value}:step:1>"


@pytest.mark.slow
def test_a_number_is_a_fact_of_the_ledger_alone(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for number in (1, 2):
        record = lab(tmp_path, ledger=ledger)
        with Ledger.read(ledger) as reader:
            assert reader.entry().number == number
            assert reader.entry(f"I{number}").iri == record.iri
        assert not [q for q in statements(record) if q.predicate == TRAILS.number]
        assert audit(record).rules == set()
        record.store.close()


def test_a_replay_has_the_names_of_the_record(tmp_path: Path) -> None:
    kept_in(tmp_path / "ledger", lab(tmp_path))
    assert replay(tmp_path / "ledger").same


def test_documents_of_two_runs_merge_without_mixing(tmp_path: Path) -> None:
    """What both name alike they say the same of; all else has a name of its own."""
    documents: list[dict[str, Any]] = []
    for number in (1, 2):
        write(lab(tmp_path), tmp_path / f"{number}.json", "prov-json")
        text = (tmp_path / f"{number}.json").read_text(encoding="utf-8")
        documents.append(json.loads(text))
    spaces = [document["prefix"] for document in documents]
    assert spaces[0]["this"] != spaces[1]["this"]
    for kind in ("entity", "activity", "agent"):
        both = documents[0][kind].keys() & documents[1][kind].keys()
        shared = {name for name in both if not name.startswith("this:")}
        for name in shared:
            assert documents[0][kind][name] == documents[1][kind][name]
        if kind == "agent":  # kgreason itself
            assert shared
