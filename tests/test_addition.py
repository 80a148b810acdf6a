"""Investigations of other ledgers are added to one: no history is mixed with another."""

import json
import shutil
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import LedgerError
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger, Record
from kgreason.report.turtle import render
from kgreason.review.addition import add
from kgreason.review.judge import judge
from kgreason.review.reassess import reassess
from tests.audit_support import lab, statements, tiny
from tests.cli_support import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ledgers over the same data: `mine` with one investigation, `other` with two."""
    folder = tmp_path_factory.mktemp("ledgers")
    tiny(folder, ledger=folder / "mine").store.close()
    for _ in range(2):
        tiny(folder, ledger=folder / "other").store.close()
    judge(folder / "other", "H1", "Ada", right=True, which="I2")
    reassess(folder / "other", "I1", ["delta"])
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy of them that a test may change."""
    for name in ("mine", "other"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path


def graphs(folder: Path) -> dict[str, set[str]]:
    """Give the statements of a ledger by named graph."""
    found: dict[str, set[str]] = {}
    with Ledger.read(folder) as reader:
        for quad in reader.store.quads():
            found.setdefault(str(quad.graph_name).strip("<>"), set()).add(str(quad.triple))
    return found


def test_records_are_added_as_they_are_under_numbers_of_this_ledger(place: Path) -> None:
    before, other = graphs(place / "mine"), graphs(place / "other")
    found = add(place / "mine", place / "other")
    assert [(one.number, one.what) for one in found] == [(2, "added"), (3, "added")]
    after = graphs(place / "mine")
    own = "urn:kgreason:ledger"
    for name in before.keys() - {own}:
        assert after[name] == before[name]
    for name in other.keys() - {own}:  # with what another policy made of the first
        assert after[name] == other[name]
    assert after.keys() == before.keys() | other.keys()
    with kgreason.open(place / "mine") as opened, kgreason.open(place / "other") as source:
        mine, theirs = opened.investigations, source.investigations
        assert [one.number for one in mine] == [1, 2, 3]
        assert [one.id for one in mine[1:]] == [one.id for one in theirs]
        told = json.dumps(source.result("I2").as_dict())
        commands = told.replace(" I2 ", " I3 ")  # what to do next names the investigation
        assert opened.result("I3").as_dict() == json.loads(commands)


def test_what_was_added_is_sound_and_goes_on_as_its_own(place: Path) -> None:
    add(place / "mine", place / "other")
    judge(place / "mine", "H2", "Bob", right=False, which="I3")
    with Ledger.read(place / "mine") as reader:
        for entry in reader.entries():
            assert audit(reader.record(entry)).rules == set()
        assert not [
            quad
            for entry in reader.entries()
            for quad in statements(reader.record(entry))
            for far in reader.entries()
            if far != entry and str(quad.subject).startswith(f"<{far.iri.value}:")
        ]
    tiny(place, ledger=place / "mine").store.close()
    with Ledger.read(place / "mine") as reader:
        assert [entry.number for entry in reader.entries()] == [1, 2, 3, 4]


def test_adding_twice_adds_nothing(place: Path) -> None:
    add(place / "mine", place / "other")
    once = graphs(place / "mine")
    found = add(place / "mine", place / "other")
    assert [(one.number, one.what) for one in found] == [(2, "known"), (3, "known")]
    assert graphs(place / "mine") == once


def test_one_that_went_on_since_is_continued_and_not_set_back(place: Path) -> None:
    add(place / "mine", place / "other")
    judge(place / "other", "H1", "Eve", right=False, which="I1")
    old = graphs(place / "mine")
    assert [one.what for one in add(place / "mine", place / "other")] == ["continued", "known"]
    new, other = graphs(place / "mine"), graphs(place / "other")
    changed = [name for name in new if new[name] != old[name]]
    assert len(changed) == 1
    assert new[changed[0]] == other[changed[0]]
    # The other way round nothing is taken away from what went on here.
    judge(place / "mine", "H1", "Eve", right=True, which="I2")
    kept = graphs(place / "mine")
    assert [one.what for one in add(place / "mine", place / "other")] == ["known", "known"]
    assert graphs(place / "mine") == kept


@pytest.mark.slow
def test_two_that_went_on_in_different_ways_are_refused(place: Path) -> None:
    add(place / "mine", place / "other")
    judge(place / "other", "H1", "Eve", right=False, which="I1")
    judge(place / "mine", "H1", "Eve", right=True, which="I2")
    before = graphs(place / "mine")
    with pytest.raises(LedgerError, match="went on in another way there than here, from its step"):
        add(place / "mine", place / "other")
    assert graphs(place / "mine") == before


@pytest.mark.parametrize("ending", ["nq", "trig", "ttl"])
def test_records_come_from_files_too(place: Path, ending: str) -> None:
    with Ledger.read(place / "other") as reader:
        record = reader.record(reader.entry("I2"))
        file = place / f"record.{ending}"
        if ending == "ttl":
            file.write_text(render(record), encoding="utf-8")
        else:
            form = ox.RdfFormat.from_extension(ending)
            file.write_bytes(ox.serialize(reader.store.quads(record.iri), format=form) or b"")
        told = {str(quad.triple) for quad in statements(record)}
    (one,) = add(place / "mine", file)
    assert (one.number, one.what) == (2, "added")
    assert graphs(place / "mine")[one.id] == told


def test_a_record_that_was_changed_is_refused(place: Path) -> None:
    with Ledger.write(place / "other") as ledger:
        iri = ledger.entry("I2").iri
        (old,) = ledger.store.inner.quads_for_pattern(iri, TRAILS.seed, None, iri)
        ledger.store.inner.remove(old)
        ledger.store.inner.add(ox.Quad(iri, TRAILS.seed, ox.Literal(5), iri))
    before = graphs(place / "mine")
    with pytest.raises(LedgerError, match="is not as it was sealed"):
        add(place / "mine", place / "other")
    assert graphs(place / "mine") == before


def test_what_cannot_be_added_is_said_in_a_sentence(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    (place / "empty").mkdir()
    (place / "broken").mkdir()
    (place / "broken" / "CURRENT").write_text("nonsense", encoding="utf-8")
    (place / "notes.txt").write_text("hello", encoding="utf-8")
    (place / "wrong.nq").write_text("hello", encoding="utf-8")
    (place / "data.ttl").write_text("<a:a> <a:b> <a:c> .", encoding="utf-8")
    (place / "data.nq").write_text("<a:a> <a:b> <a:c> <a:d> .", encoding="utf-8")
    shutil.copytree(place / "other", place / "old")
    with Ledger.write(place / "old") as ledger:
        mark = ox.NamedNode("urn:kgreason:ledger")
        (old,) = ledger.store.inner.quads_for_pattern(mark, TRAILS.softwareVersion, None, mark)
        ledger.store.inner.remove(old)
        ledger.store.inner.add(ox.Quad(mark, TRAILS.softwareVersion, ox.Literal("2"), mark))
    before = graphs(place / "mine")
    for other, said in {
        "mine": "mine: this is the ledger itself; name another one to add.",
        "missing": "missing: there is no ledger here; name the folder of one",
        "empty": "empty: there is no ledger here; name the folder of one",
        "broken": "broken: the ledger cannot be opened",
        "old": "the ledger old is of version 2, this kgreason reads 3",
        "notes.txt": "notes.txt: records are read from files that end in .nq, .trig, .ttl, .nt",
        "wrong.nq": "wrong.nq: the file cannot be read as records",
        "data.ttl": "data.ttl: without named graphs a file holds the record of one investigation",
        "data.nq": "data.nq: there is no record of an investigation in this file.",
    }.items():
        done = run("ledger", "add", other, "--ledger", "mine")
        assert (done.code, done.out) == (2, "")
        (sentence,) = done.sentences
        assert said in sentence
    assert graphs(place / "mine") == before


def test_the_command_lists_and_adds(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    done = run("ledger", "add", "other", "--ledger", "mine", "--format", "json")
    assert done.code == 0
    assert [(one["number"], one["what"]) for one in json.loads(done.out)] == [
        (2, "added"),
        (3, "added"),
    ]
    listed = json.loads(run("ledger", "--ledger", "mine", "--format", "json").out)
    assert [(one["number"], one["state"]) for one in listed] == [
        (1, "finished"),
        (2, "finished"),
        (3, "finished"),
    ]
    shown = run("ledger", "--ledger", "mine").out
    assert all(one["id"] in shown.replace("\n", "") for one in listed)
    assert "I3" in shown
    for words, said in (
        (["ledger", "add"], "Name the folder of a ledger, or a file of records."),
        (["ledger", "remove", "x"], "remove: a ledger can be listed, or added to"),
    ):
        refused = run(*words, "--ledger", "mine")
        assert refused.code == 2
        assert said in refused.err


def test_exports_of_what_was_added_are_those_of_its_own_ledger(place: Path) -> None:
    add(place / "mine", place / "other")
    for kind in ("prov-json", "nanopub"):
        for ledger, which in (("mine", "I2"), ("other", "I1")):
            with kgreason.open(place / ledger) as opened:
                opened.export(place / f"{kind}-{ledger}", kind, which)
        here, there = place / f"{kind}-mine", place / f"{kind}-other"
        if here.is_file():
            assert here.read_bytes() == there.read_bytes()
        else:
            assert {p.name: p.read_bytes() for p in here.iterdir()} == {
                p.name: p.read_bytes() for p in there.iterdir()
            }


@pytest.mark.slow
def test_what_was_rejected_elsewhere_is_remembered_once_it_is_added(tmp_path: Path) -> None:
    """A later investigation of the same data heeds what was added, as it does its own."""
    lab(tmp_path, ledger=tmp_path / "other").store.close()
    lab(tmp_path, ledger=tmp_path / "mine").store.close()
    add(tmp_path / "mine", tmp_path / "other")
    again = lab(tmp_path, ledger=tmp_path / "mine")
    with Ledger.read(tmp_path / "mine") as reader:
        added = reader.entry("I2").iri.value
        record = Record(reader.store, again.iri)
        said = {
            q.object.value
            for q in statements(record)
            if q.predicate in {TRAILS.refused, TRAILS.rejectedBefore}
        }
    assert [name for name in said if name.startswith(added)]
    again.store.close()
