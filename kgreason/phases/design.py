"""Design: register tests before they run."""

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.ledger import Step
from kgreason.ledger.record import literal
from kgreason.phases.bench import Bench, Symptom, pattern, view_of
from kgreason.phases.propose import proposal_of
from kgreason.reasoners import symbolic
from kgreason.reasoners.candidates import View
from kgreason.store import Row
from kgreason.templates import Fragment
from kgreason.terms import PROV

STRONG: Final = 10.0  # of an e-process: moderate evidence


def design(bench: Bench, symptom: Symptom, round_: int) -> None:
    """Register the first tests of what was proposed: one step."""
    view = view_of(bench, symptom, round_)
    rows = bench.record.select("frames", symptom=symptom.node, round=literal(round_))
    members: dict[str, list[ox.NamedNode]] = {}
    for row in rows:
        members.setdefault(row["frame"].value, []).append(ox.NamedNode(row["hypothesis"].value))
    step = bench.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=1)
    known = registered(bench)
    frames = proposal_of(bench, symptom, round_).frames
    for frame, nodes in zip(frames, members.values(), strict=False):
        for planned in symbolic.first_tests(view, frame):
            region = frame.members[planned.tested].pattern.text
            register(step, nodes, planned, region, known)
    bench.record.commit(step)


def registered(bench: Bench) -> set[tuple[str, str]]:
    """Give fingerprint and region of all tests that are registered: none is made twice."""
    rows = bench.record.select("fingerprints")
    return {(row["fingerprint"].value, row["pattern"].value) for row in rows}


def register(
    step: Step,
    members: Sequence[ox.NamedNode],
    planned: symbolic.PlannedTest,
    region: str,
    known: set[tuple[str, str]],
) -> None:
    """Register a test, unless the same was registered before for the same region.

    One query may do for several regions: the spread among siblings is read for each of them.
    """
    text = f"{planned.kind} {planned.half} {planned.query}"
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    if (fingerprint, region) in known:
        return
    known.add((fingerprint, region))
    node = step.make(
        "Test",
        PROV.Plan,
        PROV.Entity,
        kind=planned.kind,
        query=planned.query,
        split=planned.half,
        fingerprint=fingerprint,
        hypothesis=members[planned.tested],
        rival=planned.outsider or (None if planned.named is None else members[planned.named]),
    )
    for member, (role, overlap) in zip(members, planned.members, strict=True):
        expectation = step.make(
            "Expectation", PROV.Entity, hypothesis=member, role=role, overlap=overlap
        )
        step.describe(node, expects=expectation)


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
    known = registered(bench)
    outside = bench.record.select("outsiders", symptom=symptom.node, round=literal(round_))
    for members in frames.values():
        rivals = [*members, *_outsiders(members, outside)]
        nodes = [ox.NamedNode(row["hypothesis"].value) for row in members]
        for planned in _tell_members_apart(view, rivals, len(members)):
            register(plan, nodes, planned, members[planned.tested]["pattern"].value, known)
    bench.record.commit(plan)


def _outsiders(members: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Give rivals of earlier rounds, but not those that a member is a revision of."""
    own = {row["hypothesis"].value for row in members}
    return [row for row in rows if "new" not in row or row["new"].value not in own]


def _tell_members_apart(
    view: View, rows: Sequence[Row], own: int
) -> Iterator[symbolic.PlannedTest]:
    """Set strong members of a frame, the first `own` rows, against each other and outsiders."""
    strong = [i for i, r in enumerate(rows) if float(r["e"].value) >= STRONG and "pattern" in r]
    pairs = [(i, j) for i in strong for j in strong if i != j and i < own]
    regions = [pattern(r["pattern"].value) if "pattern" in r else Fragment("") for r in rows]
    none = [i for i, r in enumerate(rows) if "pattern" not in r]
    for tested, rival, query, scheme in symbolic.telling_apart(view, regions, pairs):
        members = []
        for position in range(own):
            role = "self" if position == tested else "named" if position == rival else "rival"
            members.append((("none" if position in none else role), Decimal(position == tested)))
        outsider = ox.NamedNode(rows[rival]["hypothesis"].value) if rival >= own else None
        named = None if outsider else rival
        yield symbolic.PlannedTest(
            "stratification", query, scheme, tested, named, members, outsider
        )
