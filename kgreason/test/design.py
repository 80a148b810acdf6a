"""Design: register tests before they run."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
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
from kgreason.record.modalities import modalities, source_kinds
from kgreason.record.model_calls import taken_calls, write_calls
from kgreason.record.record import literal
from kgreason.record.test_kinds import role_of
from kgreason.shacl import names
from kgreason.test import plans
from kgreason.test.tester import GRAPH_TESTER, WHOLE, FallingBack, Member, Standing, Tester

STRONG: Final = figure("strongE")
OUTSIDE: Final = 5
"""The stage in which testers outside the graph design; 4 is that of repairs."""
FALLBACK: Final = 6
"""The stage in which testers design again, knowing what their first tests gave."""
LAST: Final = 7
"""The stage after all rounds in which they do so a last time."""


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
        claiming = [row for row in rows if row["catchAll"].value == "false"]
        members = _members(context, claiming)
        for tester in testers:
            ask(context.budget, f"tester {tester.agent.label}")
            _register_outside(step, view, tester, tester.design(view, members), rows, known)
    for call in write_calls(context.record, step, taken_calls(testers)):
        step.describe(call, symptom=symptom.node, round=round_)
    context.record.commit(step)


def fall_back(
    context: Context, symptom: Symptom, round_: int, testers: Sequence[Tester], *, last: bool
) -> None:
    """Register what testers design knowing what their tests gave: one step.

    It is done after the tests of each round, and a `last` time after all rounds. Raises what
    `design_outside` raises.
    """
    view = view_of(context, symptom, round_)
    step = context.record.step("Design")
    stage = LAST if last else FALLBACK
    step.describe(step.node, symptom=symptom.node, round=round_, stage=stage)
    known = registered(context, symptom)
    asked = context.record.select("question")
    question = asked[0]["question"].value if asked else names([symptom.constraint])[0]
    held = bool(context.record.select("supported-regions", symptom=symptom.node))
    for rows in recorded.frames(context, symptom, round_):
        members = _members(context, [row for row in rows if row["catchAll"].value == "false"])
        for tester in testers:
            if isinstance(tester, FallingBack):
                kinds = {kind.name for kind in tester.kinds}
                outcomes = [_outcomes(context, member, kinds) for member in members]
                standing = Standing(outcomes, question, held, last)
                planned = tester.fall_back(view, members, standing)
                _register_outside(step, view, tester, planned, rows, known)
    for call in write_calls(context.record, step, taken_calls(testers)):
        step.describe(call, symptom=symptom.node, round=round_)
    context.record.commit(step)


def last_round(context: Context, symptom: Symptom) -> int:
    """Return the last round that proposed hypotheses on a symptom; 0 where none did."""
    rounds = range(int(context.policy.number("rounds")), 0, -1)
    return next((n for n in rounds if any(True for _ in recorded.frames(context, symptom, n))), 0)


def _outcomes(context: Context, member: Member, kinds: set[str]) -> list[str]:
    """Return the outcomes of the tests of some kinds of a member."""
    rows = context.record.select("outside-outcomes", hypothesis=member.hypothesis)
    return [row["outcome"].value for row in rows if row["kind"].value in kinds]


def _register_outside(
    step: Step,
    view: View,
    tester: Tester,
    designed: Iterable[plans.PlannedTest],
    rows: Sequence[Row],
    known: set[tuple[str, str]],
) -> None:
    """Register what a tester designs for the members of a frame, the rows of which are given."""
    nodes = [recorded.hypothesis_of(row) for row in rows]
    claiming = [row for row in rows if row["catchAll"].value == "false"]
    outlines = [recorded.outline(row) for row in claiming]
    for planned in designed:
        _check_plan(tester, planned, len(claiming))
        roles_ = plans.roles_in(view, outlines, planned.tested)
        whole = replace(planned, members=roles_, half=WHOLE, named=None, outsider=None)
        register(step, nodes, whole, claiming[planned.tested]["pattern"].value, known, tester)


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
    if planned.sent is not None:
        step.describe(node, choice=_choice(step, members[planned.tested], planned.sent))
    for member, (role, overlap) in zip(members, planned.members, strict=True):
        expectation = step.make(
            "Expectation", PROV.Entity, hypothesis=member, role=role, overlap=overlap
        )
        step.describe(node, expects=expectation)


def _choice(step: Step, hypothesis: ox.NamedNode, sent: plans.Sent) -> ox.NamedNode:
    """Write down to which sources a hypothesis was sent, of those at hand."""
    options = [
        step.make(
            "SourceOption",
            PROV.Entity,
            sourceName=one.name,
            sourceKind=source_kinds()[one.kind],
            priority=one.priority,
            universal=one.universal,
            matchedCues=one.matched,
            taken=one.taken,
        )
        for one in sent.sources
    ]
    return step.make(
        "SourceChoice",
        PROV.Entity,
        hypothesis=hypothesis,
        coreTerm=list(sent.terms),
        fallback=sent.fallback or None,
        sourceOption=options,
    )


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
