"""The rules of a lifetime in `ontology/lifecycle.ttl` are those of code, docs and audit."""

import json
from pathlib import Path

import pytest

from kgreason.audit.record_shapes import ontology, shapes
from kgreason.base.templates import role
from kgreason.base.terms import SKOS, TRAILS, TYPE
from kgreason.record.policy import load, names

ROOT = Path(__file__).resolve().parents[1]
KNOWN = ontology()
CHECKLIST = json.loads((ROOT / "docs" / "lifecycle.json").read_text(encoding="utf-8"))
PHASES = {"begin-testing": "Execute", "refine": "Hypothesize"}


def _values(node: object, term: object) -> set[str]:
    return {
        q.object.value  # type: ignore[union-attr]
        for q in KNOWN
        if q.subject == node and q.predicate == term
    }


def test_the_gates_are_the_templates() -> None:
    gates = [q.subject for q in KNOWN if q.predicate == TYPE and q.object == TRAILS.Gate]
    told = {
        next(iter(_values(gate, SKOS.notation))): (
            next(iter(_values(gate, TRAILS.to))).rpartition("#")[2],
            next(iter(_values(gate, TRAILS.phase))).rpartition("#")[2],
        )
        for gate in gates
    }
    # The audit reads the gates in the catalogue; that no file repeats them is what matters here.
    assert "trails:Gate" not in (ROOT / "ontology" / "lifecycle.ttl").read_text(encoding="utf-8")
    found = {
        name: (made.header["to"], PHASES.get(name, "Decide"))
        for name, made in role("status").items()
        if made.is_update
    }
    assert told == found


@pytest.mark.parametrize("name", names())
def test_a_policy_applies_each_gate_in_its_phase(name: str) -> None:
    used = load(name)
    applied = {
        gate.name: phase
        for phase in ("Hypothesize", "Execute", "Decide")
        for gate in used.gates_of(phase)
    }
    assert applied == {gate.name: PHASES.get(gate.name, "Decide") for gate in used.gates}
    ends = {to for gate in used.gates if (to := gate.header["to"])}
    allowed = {str(to).strip("<>").rpartition("#")[2] for _, to in used.transitions}
    assert ends <= allowed


def test_each_rule_is_checked_by_queries_that_are_there() -> None:
    audited = {rule.name for rule in shapes().rules}
    for rule in CHECKLIST["rules"]:
        assert rule["checkedBy"], rule
        assert set(rule["checkedBy"]) <= audited, rule


def test_the_checklist_has_every_gate_and_transition() -> None:
    assert {gate["gate"] for gate in CHECKLIST["gates"]} == {
        name for name, made in role("status").items() if made.is_update
    }
    for name in names():
        told = {(t["from"], t["to"]) for t in CHECKLIST["transitions"] if name in t["policies"]}
        mine = {
            tuple(str(end).strip("<>").rpartition("#")[2] for end in ends)
            for ends in load(name).transitions
        }
        assert told == mine
