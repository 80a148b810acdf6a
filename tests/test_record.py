"""A step is written as a whole and sealed, or refused as a whole."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.audit import refuse
from kgreason.base.errors import RecordError
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.record import Ledger, Record, Step

NODE = ox.NamedNode("urn:example:node")


def begun(ledger: Ledger) -> Record:
    """Give the record of a new investigation, in which a step with one note was written."""
    record = ledger.new("0123456789ab")
    noted(record, "first")
    return record


def noted(record: Record, *notes: str) -> Step:
    step = record.step("Observe")
    step.describe(step.node, note=list(notes))
    record.commit(step)
    return step


def quads(record: Record) -> set[str]:
    return {str(quad) for quad in record.store.quads()}


def value(record: Record, node: ox.NamedNode, name: str) -> str:
    (quad,) = record.store.inner.quads_for_pattern(node, TRAILS[name], None, record.iri)
    return str(quad.object.value)  # type: ignore[union-attr]


def test_the_seal_is_over_sorted_ntriples_after_the_seal_before() -> None:
    record = begun(Ledger.memory())
    step = noted(record, "one\ntwo", 'a "quoted"\tword\\', "a bell\a")
    lines = sorted(
        f"{quad.triple} ."
        for quad in record.store.inner.quads_for_pattern(step.node, None, None, record.iri)
        if quad.predicate != TRAILS.hash
    )
    for escaped in ('"one\\ntwo"', '"a \\"quoted\\"\\tword\\\\"', '"a bell\\u0007"'):
        assert any(line.endswith(f"{escaped} .") for line in lines)
    before = value(record, ox.NamedNode(value(record, step.node, "previous")), "hash")
    text = "\n".join([before, *lines])
    assert value(record, step.node, "hash") == sha256(text.encode()).hexdigest()


def test_a_line_end_in_a_literal_makes_no_statement() -> None:
    """One note that looks like two statements is sealed apart from two notes."""
    kind = "http://www.w3.org/2001/XMLSchema#string@"
    seals = set()
    for notes in (("a", "b"), (f"a\n{NODE.value} {TRAILS.note.value} {kind} b",)):
        record = begun(Ledger.memory())
        step = record.step("Observe")
        step.triples = [ox.Triple(NODE, TRAILS.step, step.node)]
        step.add(NODE, TRAILS.note, *notes)
        record.commit(step)
        lines = {str(q.triple) for q in record.store.inner.quads_for_pattern(NODE, None, None)}
        assert not any("\n" in line for line in lines)
        seals.add(value(record, step.node, "hash"))
    assert len(seals) == 2


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "on disk"])
def test_a_step_with_another_number_of_nodes_leaves_no_trace(tmp_path: Path, *, kept: bool) -> None:
    with Ledger.write(tmp_path / "ledger") if kept else Ledger.memory() as ledger:
        record = begun(ledger)
        before = quads(record)
        step = record.step("Observe")
        step.make("Symptom", PROV.Entity)
        with pytest.raises(RecordError, match=r"2 nodes of trails:Symptom had to be .*, 1 were"):
            record.commit(step, expect={"Symptom": 2})
        assert quads(record) == before
        assert noted(record, "later").node == step.node  # its number is free again


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({"key": 5}, r"Symptom\.key\.datatype"),
        ({"index": 0}, r"Symptom\.index\.minInclusive"),
        ({"investigation": NODE}, r"Symptom\.investigation\.class"),
        ({"failing": [1, 2]}, r"Symptom\.failing\.maxCount"),
        ({"key": None}, r"Symptom\.key\.minCount"),
    ],
)
def test_a_step_that_breaks_a_shape_leaves_no_trace(properties: dict[str, Any], told: str) -> None:
    record = begun(Ledger.memory())
    record.check = refuse
    good: dict[str, Any] = {"investigation": record.iri, "index": 1, "key": "k", "failing": 3}
    good |= {"outcomeQuery": "SELECT ?focus ?outcome {}", "failingQuery": "SELECT ?focus {}"}
    # The investigation has its type already, so that only what is wrong is wrong.
    record.store.inner.add(ox.Quad(record.iri, TYPE, TRAILS.Investigation, record.iri))
    before = quads(record)
    step = record.step("Observe")
    step.make("Symptom", PROV.Entity, **(good | properties))
    with pytest.raises(RecordError, match=rf"this step is not written: .*{told}") as raised:
        record.commit(step)
    assert "more)" not in str(raised.value)
    assert quads(record) == before


def test_a_check_that_fails_refuses_the_step() -> None:
    record = begun(Ledger.memory())
    record.check = lambda _: [1 / 0]  # type: ignore[list-item]
    before = quads(record)
    with pytest.raises(RecordError, match="it could not be checked"):
        noted(record, "never")
    assert quads(record) == before


def test_an_update_that_replaces_is_taken_back_too() -> None:
    record = begun(Ledger.memory())
    step = record.step("Observe")
    graph = record.iri
    step.add(step.node, TRAILS.status, TRAILS.Proposed)
    record.commit(step)
    before = quads(record)
    later = record.step("Observe")
    later.apply(
        f"DELETE {{ GRAPH {graph} {{ ?s {TRAILS.status} ?old }} }} "
        f"INSERT {{ GRAPH {graph} {{ ?s {TRAILS.status} {TRAILS.Refuted} }} }} "
        f"WHERE {{ GRAPH {graph} {{ ?s {TRAILS.status} ?old }} }}"
    )
    with pytest.raises(RecordError):
        record.commit(later, expect={"Evidence": 1})
    assert quads(record) == before
    record.commit(again := record.step("Observe"))
    assert value(record, again.node, "hash")
