"""Absence counts against a hypothesis only where completeness is declared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.audit import audit, figures
from kgreason.base.errors import OptionError
from kgreason.base.statistics import Table
from kgreason.base.terms import PREFIXES, TRAILS, XSD
from kgreason.context.context import view_of
from kgreason.graph import load
from kgreason.graph.marks import mark_population
from kgreason.hypothesize import bindings
from kgreason.hypothesize.openness import known_outside
from kgreason.loop import Investigation
from kgreason.observe import opening
from kgreason.record import Record, policy
from kgreason.report import markdown
from kgreason.review.replay import replay
from kgreason.test import (
    association,
    broken_counts,
    closure_check,
    closure_placebo,
    code_length,
    counterexamples,
    dealt_clusters,
    direct_check,
    period_spread,
    placebo,
    recurrence,
    rescaling,
    sibling_spread,
    stratification,
    trial_counts,
)
from kgreason.test.finding import Setting
from tests.audit_support import relinked, statements, tampered

DATA = "@prefix e: <https://example.org/lab/> .\n"
SILENT = 40
OUTSIDE: dict[str, Any] = {
    "focus": ox.NamedNode("urn:x"), "fails": ox.Literal("true"), "known": ox.Literal("true"),
}  # fmt: skip
LAB = "https://example.org/lab/"
CARRIER = f"{LAB}carrier"
SHAPES = f"""{DATA}@prefix sh: <{PREFIXES["sh"]}> .
e:Mass-shape a sh:NodeShape ; sh:targetClass e:Sample ;
    sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""
NEEDED = """e:Carrier-shape a sh:NodeShape ; sh:targetClass e:%s ;
    sh:property [ sh:path e:carrier ; sh:minCount 1 ] .
"""


def written(folder: Path, needed: str = "") -> dict[str, Any]:
    """Write samples of which those sent by rail lack a mass; others do too, and name no carrier.

    The latter are all in the half that tests are made on.
    """
    nodes = [ox.NamedNode(f"https://example.org/lab/s{n}") for n in range(200)]
    (folder / "data.ttl").write_text(f"{DATA}e:x a e:Other .", encoding="utf-8")
    graph = load([folder / "data.ttl"])
    marked = mark_population(graph, "all", {n: ["urn:src:data.ttl"] for n in nodes}, [], 0)
    rows = ["e:x a e:Other ."]
    silent = 0
    for n, node in enumerate(marked.nodes):
        heldout = marked.node.heldout_mask >> n & 1
        carrier, lacks = ("rail", n % 10 != 0) if n % 3 == 0 else ("road", n % 25 == 1)
        if heldout and carrier == "road" and silent < SILENT:
            carrier, lacks, silent = "", True, silent + 1
        said = f" ; e:carrier e:{carrier}" if carrier else ""
        mass = "" if lacks else " ; e:mass 1.5"
        rows.append(f"{node} a e:Sample{said}{mass} .")
    (folder / "data.ttl").write_text(DATA + "\n".join(rows), encoding="utf-8")
    more = NEEDED % needed if needed else ""
    (folder / "shapes.ttl").write_text(SHAPES + more, encoding="utf-8")
    # Under `code` “anything but road” saves more bits, and the family's region is no rival of it.
    asked = {"data": folder / "data.ttl", "shapes": folder / "shapes.ttl", "policy": "frame"}
    return {**asked, "calibration": "none"}


def said(record: Record) -> dict[str, str]:
    """Give what the search for counterexamples to "sent by rail" recorded."""
    text = f"""PREFIX t: <{TRAILS.iri}> SELECT ?property ?value WHERE {{ GRAPH {record.iri} {{
      ?hypothesis t:dimension <{CARRIER}> ; t:level <https://example.org/lab/rail> ;
        t:symptom/t:path "<https://example.org/lab/mass>" .
      ?evidence t:hypothesis ?hypothesis ; t:testKind "counterexamples" ; ?property ?value .
    }} }}"""
    return {
        row["property"].value.removeprefix(TRAILS.iri): row["value"].value
        for row in record.store.select(text)
    }


def test_silence_counts_only_where_the_property_is_declared_complete(tmp_path: Path) -> None:
    asked = written(tmp_path)
    open_ = kgreason.investigate(**asked).record
    closed = kgreason.investigate(**asked, complete=CARRIER).record
    unknown, known = said(open_), said(closed)
    assert (unknown["outcomeClass"], known["outcomeClass"]) == ("few", "most")
    assert unknown["unknown"] == str(SILENT)
    assert "unknown" not in known
    assert known["absent"] == str(SILENT)
    assert int(known["outsideFailing"]) == int(unknown["outsideFailing"]) + SILENT
    assert f"{SILENT} more say nothing" in unknown["note"]
    for record in (open_, closed):
        assert audit(record).ok
    assert "Declared complete:** by the user: " + CARRIER in markdown.render(closed).replace(
        "\\", ""
    )
    forged = "DELETE { ?e trails:unknown ?n } WHERE { ?e trails:unknown ?n }"
    assert {"evidence-agree", "figures"} & audit(relinked(tampered(open_, forged))).rules


@pytest.mark.parametrize(
    ("target", "outcome"), [("Sample", "most"), ("Other", "few")], ids=["of these", "of others"]
)
def test_a_shape_that_needs_a_value_declares_it_for_its_focus_nodes(
    target: str, outcome: str, tmp_path: Path
) -> None:
    record = kgreason.investigate(**written(tmp_path, target)).record
    assert said(record)["outcomeClass"] == outcome
    declared = [q.subject for q in statements(record) if q.object == TRAILS.Declaration]
    assert len(declared) == 2  # the mass, and the carrier
    assert "2 properties by shapes" in markdown.render(record)


def test_a_node_lies_outside_of_a_conjunction_where_it_is_outside_of_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What says nothing of one condition may still be known not to fit the other."""
    kept: list[Investigation] = []
    run = Investigation.run

    def running(own: Investigation) -> None:
        kept.append(own)
        run(own)

    monkeypatch.setattr(Investigation, "run", running)
    kgreason.investigate(**written(tmp_path))
    [investigation] = kept
    view = view_of(investigation.context, investigation.symptoms[0], 1)
    of = {"carrier": "rail", "gauge": "wide"}
    parts = [
        {
            "family": "cohort-value",
            "values": {"dimension": f"<{LAB}{name}>", "level": f"<{LAB}{value}>"},
        }
        for name, value in of.items()
    ]
    both = bindings.read(view, json.dumps({"family": "conjunction", "values": {}, "parts": parts}))
    cases = {
        "rail": "e:carrier e:rail", "road": "e:carrier e:road", "narrow": "e:gauge e:narrow",
        "wide": "e:gauge e:wide", "silent": "a e:Other",
        "neither": "e:carrier e:road ; e:gauge e:wide",
    }  # fmt: skip
    store = ox.Store()
    store.load(
        f"{DATA}{' . '.join(f'e:{name} {said_}' for name, said_ in cases.items())} .".encode(),
        format=ox.RdfFormat.TURTLE,
    )
    store.update("INSERT { GRAPH <urn:g> { ?s ?p ?o } } WHERE { ?s ?p ?o }")
    found = {}
    for declared in ((), ("gauge",), ("carrier", "gauge")):
        complete = frozenset(ox.NamedNode(LAB + name) for name in declared)
        pattern, whole = known_outside(
            replace(view, complete=complete), both, view.marks.node.heldout
        )
        text = f"SELECT DISTINCT ?focus WHERE {{ ?focus ?p ?o . {pattern.text} }}"
        rows: Any = store.query(text)
        found[declared] = ({row["focus"].value.removeprefix(LAB) for row in rows}, whole)
    assert found == {
        (): ({"road", "narrow", "neither"}, False),
        ("gauge",): ({"rail", "road", "narrow", "silent", "neither"}, False),
        ("carrier", "gauge"): ({"road", "narrow", "neither"}, True),
    }


def test_what_is_declared_is_asked_for_again_by_replay_and_resume(tmp_path: Path) -> None:
    asked, ledger = written(tmp_path), tmp_path / "ledger"
    with kgreason.investigate(**asked, complete=[CARRIER], ledger=ledger) as result:
        assert opening.recorded_request(result.record).complete == (CARRIER,)
    again = replay(ledger)
    assert again.same, again


def test_a_declaration_names_an_iri(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--complete carrier: give the absolute IRI"):
        kgreason.investigate(**written(tmp_path), complete=["carrier"])


def number(value: int) -> ox.Literal:
    return ox.Literal(str(value), datatype=XSD.integer)


def test_nothing_to_count_decides_nothing() -> None:
    """No test counts against a hypothesis of which there is nothing on the held-out half.

    The code length is no matter of halves: of all nodes, a region of none saves nothing.
    """
    nothing = dict.fromkeys(
        ("claimed", "holds", "inside", "insideFailing", "population", "failing"), number(0)
    )
    others = nothing | {"population": number(40), "failing": number(5)}
    # Of a half of which no node fails, nothing can be more frequent anywhere.
    unbroken = nothing | {"inside": number(9), "population": number(40)}
    spared = [{"failing": number(0), "population": number(9), "own": number(1)}] * 4
    setting = Setting(Table(8, 10, 2, 30))
    found = {
        "association": [association.read([row], setting) for row in (nothing, others, unbroken)],
        "direct-check": [direct_check.read([row], setting) for row in (nothing, others)],
        "placebo": [placebo.read([nothing], setting)],
        "closure-check": [closure_check.read([], setting)],
        "closure-placebo": [closure_placebo.read([], setting)],
        "sibling-spread": [sibling_spread.read(rows, setting) for rows in ([], spared)],
        "period-spread": [period_spread.read([], setting)],
        "stratification": [stratification.read([], setting)],
        "dealt-clusters": [dealt_clusters.read([], setting)],
        "recurrence": [recurrence.read([nothing | {"place": number(n)} for n in (0, 1)], setting)],
        "code-length": [
            code_length.read([each | {"codeLength": number(9)}], setting)
            for each in (nothing, others)
        ],
        "rescaling": [rescaling.read([], setting)],
        "intervention": [trial_counts.judged(dict.fromkeys(trial_counts.RECORDED, 0))],
        "restatement": [broken_counts.judged([])],
        "counterexamples": [
            counterexamples.read([{"failing": number(n)}, *[OUTSIDE] * n], setting) for n in (0, 5)
        ],
    }
    assert set(found) == set(figures.KINDS)
    rows = policy.load().outcomes
    polarity = {
        (kind, each.outcome): rows[kind, each.outcome].polarity
        for kind, read in found.items()
        for each in read
    }
    assert polarity.pop(("code-length", "untold")) == TRAILS.Contradicts
    assert TRAILS.Contradicts not in polarity.values(), polarity
