"""Writing is closed: a step writes what the ontology allows its phase, or it is refused."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgreason.audit import audit, refuse
from kgreason.audit.record_shapes import ontology, shapes
from kgreason.audit.statements import plain
from kgreason.base.errors import RecordError
from kgreason.base.templates import template
from kgreason.base.terms import PROV, RDFS, TRAILS, TYPE
from kgreason.record import Record, Step
from kgreason.record.closing import later, stray
from kgreason.record.seal import REPLACED
from tests.audit_support import lab

HEAD = "PREFIX trails: <https://w3id.org/trails#>\nPREFIX prov: <http://www.w3.org/ns/prov#>\n"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A finished investigation, to which steps are tried to be added."""
    return lab(tmp_path_factory.mktemp("lab"))


def first(record: Record, kind: str) -> ox.NamedNode:
    return ox.NamedNode(f"{record.iri.value}:{kind}:1")


def judgement(record: Record, step: Step, **more: Any) -> ox.NamedNode:
    """Write a judgement of the first hypothesis, as `kgreason verdict` does."""
    about = first(record, "hypothesis")
    confidence = record.store.values(about, TRAILS.confidence, record.iri)[0]
    assert isinstance(confidence, ox.Literal)
    said: dict[str, Any] = {"hypothesis": about, "right": True, "atConfidence": confidence} | more
    node = step.make("Judgement", PROV.Entity, **said)
    step.add(node, PROV.wasAttributedTo, ox.NamedNode("urn:kgreason:agent:ada"))
    step.add(ox.NamedNode("urn:kgreason:agent:ada"), TYPE, PROV.Person, PROV.Agent)
    step.describe(ox.NamedNode("urn:kgreason:agent:ada"), step=step.node)
    step.add(ox.NamedNode("urn:kgreason:agent:ada"), RDFS.label, "Ada")
    return node


def updated(text: str) -> Callable[[Record, Step], None]:
    """Give what applies an update to a step; INV, STEP and HYP stand for nodes."""

    def write(record: Record, step: Step) -> None:
        names = {"INV": record.iri, "STEP": step.node, "HYP": first(record, "hypothesis")}
        step.apply(HEAD + re.sub("INV|STEP|HYP", lambda found: str(names[found[0]]), text))

    return write


def said(**properties: Any) -> Callable[[Record, Step], None]:
    """Give what says something of a new judgement."""
    return lambda record, step: step.describe(judgement(record, step), **properties)


def of_earlier(kind: str, name: ox.NamedNode, value: Any) -> Callable[[Record, Step], None]:
    """Give what says something of a node that an earlier step wrote."""

    def write(record: Record, step: Step) -> None:
        node = record.iri if kind == "investigation" else first(record, kind)
        step.add(node, name, value)

    return write


def claimed(record: Record, step: Step) -> None:
    """Write of an earlier node as if it were the step's own."""
    step.describe(first(record, "symptom"), step=step.node, population=99)


def untyped(record: Record, step: Step) -> None:
    node = ox.NamedNode(f"{record.iri.value}:thing:1")
    step.describe(node, step=step.node, note="nothing")


REFUSED: dict[str, tuple[Callable[[Record, Step], None], str]] = {
    "an unknown property": (said(wisdom="much"), "wisdom is no property that Judgement may have"),
    "a property of another class": (said(eValue="1.0"), "eValue is no property that Judgement"),
    "a property of no listed vocabulary": (
        lambda record, step: step.add(
            judgement(record, step), ox.NamedNode("https://example.org/p"), "x"
        ),
        "<https://example.org/p> is no property that Judgement may have",
    ),
    "an unknown class": (
        lambda _, step: step.add(step.make("Hunch", PROV.Entity), TRAILS.note, "x"),
        "Hunch is no class that a step may write",
    ),
    "an unknown class beside a known one": (
        lambda record, step: step.add(judgement(record, step), TYPE, TRAILS.Hunch),
        "Hunch is no class that a step may write",
    ),
    "a class of another phase": (
        lambda _, step: step.add(step.make("Hypothesis", PROV.Entity), TRAILS.note, "x"),
        "a step of the phase Act may not write a Hypothesis",
    ),
    "a node without a class": (untyped, "it is of no class that a step may write"),
    "a second value on a node of the step": (said(right=False), "right has 2 values"),
    "a second value on a node of an earlier step": (
        of_earlier("symptom", TRAILS.population, 99),
        "trails#population of .*:symptom:1, but an earlier step wrote that node",
    ),
    "a first value on a node of an earlier step": (
        of_earlier("hypothesis", TRAILS.note, "x"),
        "trails#note of .*, but an earlier step wrote that node",
    ),
    "a second status": (
        of_earlier("hypothesis", TRAILS.status, TRAILS.Supported),
        "trails#status of .*, but its old value is not taken away",
    ),
    "a second end": (
        of_earlier("investigation", PROV.endedAtTime, "2026-01-01T00:00:00Z"),
        "endedAtTime of .*, but it has a value already",
    ),
    "an end of another node": (
        of_earlier("step", PROV.endedAtTime, "2026-01-01T00:00:00Z"),
        "endedAtTime of .*, but",
    ),
    "an earlier node claimed anew": (claimed, "an earlier step wrote this node"),
    "a second value by an update": (
        updated(
            "INSERT { GRAPH INV { ?h trails:confidence 0.5 } } "
            "WHERE { GRAPH INV { ?h a trails:Hypothesis } }"
        ),
        "trails#confidence of .*, but its old value is not taken away",
    ),
    "an unknown property by an update": (
        updated("INSERT { GRAPH INV { HYP trails:wisdom 'much' } } WHERE { }"),
        "trails#wisdom of .*, but an earlier step wrote that node",
    ),
    "any property by an update": (
        updated("INSERT { GRAPH INV { ?h ?p 1 } } WHERE { GRAPH INV { ?h ?p ?o } }"),
        "but an earlier step wrote that node",
    ),
    "what is taken away by an update": (
        updated("DELETE WHERE { GRAPH INV { ?h trails:statement ?s } }"),
        "trails#statement of .*, but it may not be taken away",
    ),
    "a class of another phase by an update": (
        updated(
            "INSERT { GRAPH INV { "
            "  ?t a trails:StatusTransition , prov:Activity ; trails:step STEP } } "
            "WHERE { BIND (<urn:kgreason:x> AS ?t) }"
        ),
        "a step of the phase Act may not write a StatusTransition",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_that_writes_what_it_may_not_is_refused(record: Record, name: str) -> None:
    write, message = REFUSED[name]
    before = {str(quad) for quad in record.store.quads()}
    record.check = refuse
    step = record.step("Act")
    write(record, step)
    with pytest.raises(RecordError, match=message):
        record.commit(step)
    assert {str(quad) for quad in record.store.quads()} == before


def test_after_a_refused_step_the_next_is_written(tmp_path: Path) -> None:
    mine = lab(tmp_path)
    mine.check = refuse
    step = mine.step("Act")
    said(wisdom="much")(mine, step)
    with pytest.raises(RecordError):
        mine.commit(step)
    step = mine.step("Act")
    judgement(mine, step)
    mine.commit(step)
    assert audit(mine).rules == set()


def test_an_update_that_replaces_is_none_of_these() -> None:
    step = ox.NamedNode("urn:kgreason:0123:step:4")
    gates = ("support", "prune", "archive", "converge")
    given = {"investigation": ox.NamedNode("urn:kgreason:0123"), "step": step}
    for name in gates:
        made = template("status", name)
        more = {p: ox.Literal("1") for p in made.parameters if p not in given}
        assert list(stray(step, [], [made.render(**given, **more)])) == []


def test_what_may_be_written_later_is_what_no_seal_covers() -> None:
    """But for the hash, which each step writes of itself, and the end, which the audit exempts."""
    assert set(later()) - {PROV.endedAtTime} == REPLACED - {TRAILS.hash}


def test_every_class_that_is_written_has_a_shape_and_a_phase_there_is() -> None:
    phases = {t.subject for t in plain(ontology()) if str(t.object) == str(TRAILS.PhaseScheme)}
    written = {t.subject for t in plain(ontology()) if t.predicate == TRAILS.writtenIn}
    copied = {t.subject for t in plain(ontology()) if t.predicate == TRAILS.copied}
    assert {t.object for t in plain(ontology()) if t.predicate == TRAILS.writtenIn} <= phases
    shaped = {kind for shape in shapes().shapes for kind in shape.classes}
    assert written - copied <= shaped
