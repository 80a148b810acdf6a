"""The commands that follow up an answer: the nodes of a cause."""

import csv
import io
import json
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.errors import OptionError
from tests.cli_support import Ran, run
from tests.following_support import investigated, shop

EX = "http://example.org/"
TRAILS = "https://w3id.org/trails#"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shop(tmp_path_factory.mktemp("shop"), oversized=30)
    investigated(folder, folder / "ledger")
    return folder


def asked(place: Path, *args: str) -> Ran:
    return run(*args, "--ledger", place / "ledger")


def rows(place: Path, *args: str) -> list[dict[str, str]]:
    done = asked(place, "nodes", *args, "--format", "csv")
    assert done.code == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def cause_of(place: Path, feed: str) -> kgreason.ReportedCause:
    with kgreason.result(place / "ledger") as result:
        (found,) = (one for one in result.causes if feed in one.statement)
    return found


def test_nodes_of_a_cause_are_all_that_fail_with_field_value_and_source(place: Path) -> None:
    large = cause_of(place, "west")
    assert large.id in {"C1", "C2"}
    text = asked(place, "nodes", large.id, "--format", "csv").out
    assert text.splitlines()[0] == "node,fails,field,value,source,rule"
    found = rows(place, large.id)
    assert len(found) == 30
    assert {one["node"] for one in found} == {f"{EX}west{i}" for i in range(30)}
    first = next(one for one in found if one["node"] == f"{EX}west4")
    assert first == {
        "node": f"{EX}west4",
        "fails": "true",
        "field": f"{EX}size",
        "value": "905",
        "source": "west.ttl",
        "rule": "A size is 900 or less",
    }
    nameless = rows(place, cause_of(place, "south").id)
    assert len(nameless) == 25
    assert {(one["value"], one["source"]) for one in nameless} == {("", "south.ttl")}


def test_passing_and_all(place: Path) -> None:
    name = cause_of(place, "west").id
    failing, passing, every = (
        rows(place, name, *more) for more in ((), ("--passing",), ("--all",))
    )
    with kgreason.result(place / "ledger") as result:
        (leader,) = (
            h
            for s in result.symptoms
            for h in s.hypotheses
            if h.id == cause_of(place, "west").hypotheses[0]
        )
    assert len(every) == len(failing) + len(passing) == leader.inside.population
    assert {one["fails"] for one in failing} == {"true"}
    assert {one["fails"] for one in passing} <= {"false"}
    assert asked(place, "nodes", name, "--all", "--passing").code == 2


def test_the_other_formats_say_the_same(place: Path) -> None:
    name = cause_of(place, "west").id
    lines = asked(place, "nodes", name, "--format", "jsonl").out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [one["node"] for one in told] == [one["node"] for one in rows(place, name)]
    assert told[0]["fails"] is True
    text = asked(place, "nodes", name, "--format", "ttl").out
    found = list(ox.parse(text, format=ox.RdfFormat.TURTLE))
    nodes = {q.object.value for q in found if q.predicate.value == f"{TRAILS}node"}
    assert nodes == {one["node"] for one in told}
    assert {q.object.value for q in found if q.predicate.value == f"{TRAILS}graph"} == {
        "urn:src:west.ttl"
    }
    table = asked(place, "nodes", name)
    assert table.out.split()[0] == "node"


def test_a_hypothesis_has_nodes_too_and_a_bare_number_is_refused(place: Path) -> None:
    with kgreason.open(place / "ledger") as opened:
        assert len(opened.nodes("H1")) >= 25
        with pytest.raises(OptionError, match="say C1 or H1"):
            opened.nodes("1")
    none = asked(place, "nodes", "C9")
    assert none.code == 2
    assert "There is no cause C9" in none.err
    assert "it has C1, C2" in none.err


def test_a_broken_rule_has_nodes_too(place: Path) -> None:
    with kgreason.open(place / "ledger") as opened:
        result = opened.result()
        for symptom in result.symptoms:
            found = opened.nodes(f"S{symptom.id.rpartition(':')[2]}")
            assert found.complete
            assert len(found) == symptom.failing
            assert all(one.fails for one in found)
    none = asked(place, "nodes", "S9")
    assert none.code == 2
    assert "There is no symptom S9" in none.err


def test_without_the_data_only_cited_nodes_are_known_and_that_is_said(
    place: Path, tmp_path: Path
) -> None:
    name = cause_of(place, "west").id
    moved = tmp_path / "data"
    (place / "data").rename(moved)
    try:
        done = asked(place, "nodes", name, "--format", "csv")
        again = asked(place, "nodes", name, "--format", "csv", "--data", str(moved))
        file = moved / "north.ttl"
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "ex:other a ex:Thing .", encoding="utf-8")
        changed = asked(place, "nodes", name, "--data", str(moved))
        file.write_text(text, encoding="utf-8")
    finally:
        moved.rename(place / "data")
    assert done.code == 0
    assert "Only the nodes that the record cites" in done.err
    assert "there is no such file or folder" in done.err
    assert 0 < len(done.out.splitlines()) - 1 < 30
    assert len(again.out.splitlines()) == 31
    assert again.err == ""
    assert changed.code == 2
    assert "not the data that were investigated" in changed.err


def test_why_a_node_fails_names_the_rule_the_value_and_the_cause(place: Path) -> None:
    cause = cause_of(place, "west")
    with kgreason.open(place / "ledger") as opened:
        found = opened.why(f"{EX}west4")
    assert found.looked_at == 2
    (broken,) = found.broken
    assert (broken.rule, broken.field) == ("A size is 900 or less", f"{EX}size")
    assert (broken.values, broken.sources) == (("905",), ("west.ttl",))
    assert broken.causes == ((cause.id, cause.statement),)
    assert (broken.nearest, broken.differences) == (None, ())
    assert asked(place, "why", "west4").out.splitlines() == [
        f"{EX}west4 breaks 1 of the 2 rules that look at it.",
        "",
        "A size is 900 or less (size 905 in west.ttl)",
        f"  {cause.id} is about it: {cause.statement}",
    ]


def test_why_without_a_cause_tells_what_the_nearest_passing_node_has(place: Path) -> None:
    told = json.loads(asked(place, "why", "ex:north0", "--format", "json").out)
    (broken,) = told["broken"]
    assert broken["causes"] == []
    first = broken["differences"][0]
    assert (first["field"], first["own"]) == (f"{EX}name", [])
    assert first["other"][0].startswith("thing ")
    failing = {f"{EX}south{i}" for i in range(25)} | {f"{EX}north0"}
    assert broken["nearest"] not in failing
    text = asked(place, "why", f"{EX}north0").out
    assert "No cause is about it." in text
    assert f"The nearest node that passes is {broken['nearest']}:" in text
    assert "there, nothing here" in text


def test_why_of_a_node_that_passes_or_is_not_there(place: Path) -> None:
    passes = asked(place, "why", f"{EX}north5").out
    assert passes.startswith(f"{EX}north5 breaks none of the 2 rules that look at it.")
    aside = asked(place, "why", f"{EX}west35").out
    assert f"It passes, although {cause_of(place, 'west').id} is about it" in aside
    gone = asked(place, "why", "nobody")
    assert gone.code == 2
    assert "no IRI of the data is just that" in gone.err
