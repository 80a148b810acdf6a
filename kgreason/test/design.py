"""Design: register tests before they run."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import ask
from kgreason.base.errors import RunError
from kgreason.base.figures import figure
from kgreason.base.store import Row
from kgreason.base.templates import Fragment
from kgreason.base.terms import PROV, TRAILS
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View
from kgreason.hypothesize import recorded
from kgreason.record import Step
from kgreason.record.agents import introduce
from kgreason.record.modalities import modalities
from kgreason.record.model_calls import taken_calls, write_calls
from kgreason.record.record import literal
from kgreason.record.test_kinds import role_of
from kgreason.test import plans
from kgreason.test.tester import GRAPH_TESTER, WHOLE, Member, Tester

STRONG: Final = figure("strongE")
OUTSIDE: Final = 5
"""The stage in which testers outside the graph design; 4 is that of repairs."""


def design(context: Context, symptom: Symptom, round_: int) -> None:
    """Register the first tests of what was proposed: one step."""
    view = view_of(context, symptom, round_)
    step = context.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=1)
    known = registered(context, symptom)
    for rows in recorded.frames(context, symptom, round_):
        nodes = [recorded.hypothesis_of(row) for row in rows]
        claiming = [row for row in rows if row["catchAll"].value == "false"]
        for row in claiming:
            mark_inside(context, view, pattern(row["pattern"].value))
        for planned in GRAPH_TESTER.design(view, _members(context, claiming)):
            register(step, nodes, planned, claiming[planned.tested]["pattern"].value, known)
    context.record.commit(step)


def design_outside(
    context: Context, symptom: Symptom, round_: int, testers: Sequence[Tester]
) -> None:
    """Register the tests that testers outside the graph design for what was proposed: one step.

    Raises RunError where a tester designs what it does not run, or for a member that there is not.
    """
    view = view_of(context, symptom, round_)
    step = context.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=OUTSIDE)
    introduce(context.record, step, [tester.agent for tester in testers])
    known = registered(context, symptom)
    for rows in recorded.frames(context, symptom, round_):
        nodes = [recorded.hypothesis_of(row) for row in rows]
        claiming = [row for row in rows if row["catchAll"].value == "false"]
        members = _members(context, claiming)
        for tester in testers:
            ask(context.budget, f"tester {tester.agent.label}")
            for planned in tester.design(view, members):
                _check_plan(tester, planned, len(members))
                roles_ = plans.roles_in(view, [m.outline for m in members], planned.tested)
                whole = replace(planned, members=roles_, half=WHOLE, named=None, outsider=None)
                region = claiming[planned.tested]["pattern"].value
                register(step, nodes, whole, region, known, tester)
    for call in write_calls(context.record, step, taken_calls(testers)):
        step.describe(call, symptom=symptom.node, round=round_)
    context.record.commit(step)


def _members(context: Context, rows: Sequence[Row]) -> list[Member]:
    """Return recorded members of a frame as testers are shown them."""
    made = []
    for row in rows:
        node = recorded.hypothesis_of(row)
        said = {
            name: context.record.store.values(node, TRAILS[name], context.record.iri)
            for name in ("statement", "mechanism", "prediction", "confidence")
        }
        words = {name: values[0].value if values else "" for name, values in said.items()}
        confidence = float(words.pop("confidence") or 0)
        made.append(Member(node, outline=recorded.outline(row), confidence=confidence, **words))
    return made


def _check_plan(tester: Tester, planned: plans.PlannedTest, members: int) -> None:
    named = {kind.name for kind in tester.kinds}
    if planned.kind not in named or not planned.query.strip():
        raise RunError(
            f"The tester {tester.agent.label} designs a test of the kind {planned.kind!r} with the "
            f"question {planned.query!r}; it runs {', '.join(sorted(named))}, each with a question."
        )
    if not 0 <= planned.tested < members:
        raise RunError(
            f"The tester {tester.agent.label} designs a test of member {planned.tested}; the frame "
            f"has {members}, counted from 0."
        )


def registered(context: Context, symptom: Symptom) -> set[tuple[str, str]]:
    """Return fingerprint and region of all tests of a symptom: none is made twice.

    The query of a test names the mark of its symptom, so that no other symptom can have the same.
    """
    rows = context.record.select("fingerprints", symptom=symptom.node)
    return {(row["fingerprint"].value, row["pattern"].value) for row in rows}


def register(
    step: Step,
    members: Sequence[ox.NamedNode],
    planned: plans.PlannedTest,
    region: str,
    known: set[tuple[str, str]],
    tester: Tester = GRAPH_TESTER,
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
        testRole=role_of(planned.kind) if tester is GRAPH_TESTER else TRAILS.Corroboration,
        modality=modalities()[tester.modality],
        query=planned.query,
        split=planned.half,
        fingerprint=fingerprint,
        hypothesis=members[planned.tested],
        rival=planned.outsider or (None if planned.named is None else members[planned.named]),
    )
    if tester is not GRAPH_TESTER:
        step.add(node, PROV.wasAttributedTo, tester.agent.iri)
    for member, (role, overlap) in zip(members, planned.members, strict=True):
        expectation = step.make(
            "Expectation", PROV.Entity, hypothesis=member, role=role, overlap=overlap
        )
        step.describe(node, expects=expectation)


def tell_apart(context: Context, symptom: Symptom, round_: int) -> None:
    """Register the second stage: rivals that did well are set against each other."""
    view = view_of(context, symptom, round_)
    rows = context.record.select("contenders", symptom=symptom.node)
    frames: dict[str, list[Row]] = {}
    for row in rows:
        if int(row["round"].value) == round_:
            frames.setdefault(row["frame"].value, []).append(row)
    plan = context.record.step("Design")
    plan.describe(plan.node, symptom=symptom.node, round=round_, stage=2)
    known = registered(context, symptom)
    outside = context.record.select("outsiders", symptom=symptom.node, round=literal(round_))
    for members in frames.values():
        rivals = [*members, *_outsiders(members, outside)]
        nodes = [ox.NamedNode(row["hypothesis"].value) for row in members]
        for planned in _tell_members_apart(view, rivals, len(members)):
            register(plan, nodes, planned, members[planned.tested]["pattern"].value, known)
    context.record.commit(plan)


def _outsiders(members: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Return rivals of earlier rounds, but not those that a member is a revision of."""
    own = {row["hypothesis"].value for row in members}
    return [row for row in rows if "new" not in row or row["new"].value not in own]


def _tell_members_apart(view: View, rows: Sequence[Row], own: int) -> Iterator[plans.PlannedTest]:
    """Set strong members of a frame, the first `own` rows, against each other and outsiders."""
    strong = [i for i, r in enumerate(rows) if float(r["e"].value) >= STRONG and "pattern" in r]
    pairs = [(i, j) for i in strong for j in strong if i != j and i < own]
    regions = [pattern(r["pattern"].value) if "pattern" in r else Fragment("") for r in rows]
    for kind, tested, rival, query, scheme in plans.telling_apart(view, regions, pairs):
        outsider = ox.NamedNode(rows[rival]["hypothesis"].value) if rival >= own else None
        named = None if outsider else rival
        members = roles(rows[:own], tested, named)
        yield plans.PlannedTest(kind, query, scheme, tested, named, members, outsider)


def roles(
    members: Sequence[Row], tested: int, named: int | None = None
) -> list[tuple[str, Decimal]]:
    """Return what each member of a frame is in a test within strata: role and overlap."""
    told = {tested: "self", named: "named"}
    return [
        (told.get(i, "rival") if "pattern" in row else "none", Decimal(i == tested))
        for i, row in enumerate(members)
    ]
