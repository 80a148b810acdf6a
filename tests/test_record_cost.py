"""What makes recording and auditing cheap leaves out nothing that is checked."""

from collections.abc import Callable
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.audit import audit, refuse
from kgreason.audit.audit import _node_by_node
from kgreason.audit.merged import History
from kgreason.base.errors import RecordError
from kgreason.base.store import Store
from kgreason.base.terms import PROV, TRAILS, TYPE
from kgreason.record import Ledger, Record
from kgreason.record.seal import Functions, Written
from tests.audit_support import relinked, statements, tampered

_history = pytest.importorskip("benchmarks.long_history", reason="benchmarks/ is not here")
UPDATES: int = _history.UPDATES
write: Callable[..., Record] = _history.write

NODE = ox.NamedNode("urn:example:node")
OTHER = ox.NamedNode("urn:example:other")


@pytest.fixture(scope="module")
def long() -> Record:
    """A history as the benchmarks write it, of two symptoms."""
    return write(Ledger.memory(), 2 * UPDATES)


def test_a_written_history_is_sound_and_as_long_as_was_asked(long: Record) -> None:
    found = audit(long)
    assert found.ok, str(found)
    assert not found.notices
    assert found.checked["updates"] == 2 * UPDATES


def test_a_written_history_has_causes_and_symptoms_without() -> None:
    record = write(Ledger.memory(), 6 * UPDATES)
    said = {q.object.value for q in statements(record) if q.predicate == TRAILS.outcome}
    assert {"no systematic cause", "explained"} <= said


# --- what a step is about to write ------------------------------------------------------


def test_types_are_those_of_the_step_and_of_earlier_ones() -> None:
    written = Written(lambda node: [TRAILS.Test] if node == OTHER else [])
    written.note(NODE, TYPE, TRAILS.Evidence)
    assert written.types(NODE) == {TRAILS.Evidence}
    assert written.types(OTHER) == {TRAILS.Test}
    assert written.types(ox.Literal("x")) == set()


def test_a_value_of_an_earlier_step_is_known_by_its_type() -> None:
    record = Ledger.memory().new("0123456789ab")
    for node, kind in ((record.iri, TRAILS.Investigation), (NODE, TRAILS.Hypothesis)):
        record.store.inner.add(ox.Quad(node, TYPE, kind, record.iri))
    first = record.step("Observe")
    symptom = first.make("Symptom", PROV.Entity, investigation=record.iri)
    record.commit(first)
    record.check = refuse
    good = record.step("Hypothesize")
    frame: dict[str, Any] = {"symptom": symptom, "round": 1, "member": NODE}
    good.make("Frame", PROV.Entity, **frame)
    record.commit(good)
    bad = record.step("Hypothesize")
    bad.make("Frame", PROV.Entity, **(frame | {"symptom": first.node}))
    with pytest.raises(RecordError, match=r"Frame\.symptom\.class"):
        record.commit(bad)


def test_a_step_of_which_not_all_was_read_gets_no_hash() -> None:
    functions = Functions(lambda _: ())
    _, (note, seal) = zip(*functions.plain.items(), strict=True)
    note(NODE, TRAILS.note, ox.Literal("one"))
    assert seal(ox.Literal(""), ox.Literal(2)) is None
    assert functions.told == ["2 statements had to be read, 1 were."]
    assert seal(ox.Literal(""), ox.Literal(1)) is not None


# --- the audit, node by node ------------------------------------------------------------


def rules(record: Record) -> set[tuple[str, str]]:
    found = _node_by_node(History(record), core_too=True)
    return {(finding.rule, finding.node) for finding in found}


def test_a_node_of_no_step_is_checked_too(long: Record) -> None:
    update = f"INSERT DATA {{ {NODE} a trails:Evidence ; trails:strength 7.0 }}"
    found = rules(relinked(tampered(long, update)))
    assert ("unsealed", NODE.value) in found
    assert ("Evidence.strength.maxInclusive", NODE.value) in found
    assert ("Evidence.step.minCount", NODE.value) in found


def test_a_node_of_what_is_no_step_is_checked_too(long: Record) -> None:
    update = f"INSERT DATA {{ {NODE} a trails:Evidence ; trails:step {OTHER} }}"
    found = rules(relinked(tampered(long, update)))
    assert {("unsealed", NODE.value), ("Evidence.step.class", NODE.value)} <= found


def test_a_node_of_two_steps_is_in_both_seals_and_counted_once(long: Record) -> None:
    one, two = (f"<{long.iri.value}:step:{number}>" for number in (3, 4))
    update = f"INSERT DATA {{ {NODE} trails:step {one} , {two} ; trails:note 'twice' }}"
    forged = relinked(tampered(long, update))
    assert rules(forged) == set()
    hidden = f"INSERT DATA {{ {OTHER} trails:note 'by no one' }}"
    assert rules(relinked(tampered(forged, hidden))) == {("unsealed", OTHER.value)}
    torn = tampered(forged, f"DELETE DATA {{ {NODE} trails:note 'twice' }}")
    assert {node for rule, node in rules(torn) if rule == "seal"} == {one[1:-1], two[1:-1]}


def test_a_triple_as_a_value_is_covered_by_no_seal(long: Record) -> None:
    kept = ox.Store()
    kept.extend(statements(long))
    step = ox.NamedNode(f"{long.iri.value}:step:3")
    said = ox.Triple(NODE, TRAILS.note, OTHER)
    kept.add(ox.Quad(step, TRAILS.note, said, long.iri))
    found = rules(Record(Store(kept, "a ledger with a triple in it"), long.iri))
    assert ("unsealed", step.value) in found
