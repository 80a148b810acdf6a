"""Design: register tests before they run."""

from collections.abc import Sequence
from decimal import Decimal

import pyoxigraph as ox

from kgreason.ledger import Step
from kgreason.ledger.record import literal
from kgreason.phases.bench import Bench, Symptom, pattern, proposal_of, view_of
from kgreason.reasoners import symbolic
from kgreason.reasoners.candidates import View
from kgreason.store import Row
from kgreason.templates import Fragment
from kgreason.terms import PROV


def design(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Register the first tests of what was proposed: one step."""
    view = view_of(bench, symptom, round_)
    rows = bench.record.select("frames", symptom=symptom.node, round=literal(round_))
    members: dict[str, list[ox.NamedNode]] = {}
    for row in rows:
        members.setdefault(row["frame"].value, []).append(ox.NamedNode(row["hypothesis"].value))
    step = bench.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=1)
    frames = proposal_of(bench, symptom, view).frames
    for frame, nodes in zip(frames, members.values(), strict=False):
        for planned in symbolic.first_tests(view, frame):
            _register(step, nodes, planned)
    bench.record.commit(step)


def _register(
    step: Step, members: Sequence[ox.NamedNode], planned: symbolic.PlannedTest
) -> ox.NamedNode:
    node = step.make(
        "Test",
        PROV.Plan,
        PROV.Entity,
        kind=planned.kind,
        query=planned.query,
        split=planned.half,
        hypothesis=members[planned.tested],
        rival=None if planned.named is None else members[planned.named],
    )
    for member, (role, overlap) in zip(members, planned.members, strict=True):
        expectation = step.make(
            "Expectation", PROV.Entity, hypothesis=member, role=role, overlap=overlap
        )
        step.describe(node, expects=expectation)
    return node


def tell_apart(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Register the second stage: rivals that did well are set against each other."""
    view = view_of(bench, symptom, round_)
    rows = bench.record.select("contenders", symptom=symptom.node)
    frames: dict[str, list[Row]] = {}
    for row in rows:
        if int(row["round"].value) == round_:
            frames.setdefault(row["frame"].value, []).append(row)
    plan = bench.record.step("Design")
    plan.describe(plan.node, symptom=symptom.node, round=round_, stage=2)
    for members in frames.values():
        _tell_members_apart(bench, plan, view, members)
    bench.record.commit(plan)


def _tell_members_apart(bench: Bench, plan: Step, view: View, rows: Sequence[Row]) -> None:
    strong = [i for i, r in enumerate(rows) if float(r["e"].value) >= 10 and "pattern" in r]  # noqa: PLR2004 - moderate evidence
    pairs = [(i, j) for i in strong for j in strong if i != j]
    regions = [pattern(r["pattern"].value) if "pattern" in r else Fragment("") for r in rows]
    nodes = [ox.NamedNode(r["hypothesis"].value) for r in rows]
    none = [i for i, r in enumerate(rows) if "pattern" not in r]
    _ = bench
    for tested, rival, query, scheme in symbolic.telling_apart(view, regions, pairs):
        members = []
        for position in range(len(rows)):
            role = "self" if position == tested else "named" if position == rival else "rival"
            members.append((("none" if position in none else role), Decimal(position == tested)))
        planned = symbolic.PlannedTest("stratification", query, scheme, tested, rival, members)
        _register(plan, nodes, planned)
