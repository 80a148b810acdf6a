"""Challenge: what leads is set against the rival that would explain most of it away."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyoxigraph as ox

from kgreason.base.figures import figure
from kgreason.base.store import Row, Term
from kgreason.base.templates import Fragment
from kgreason.context.context import Context, mark_inside, pattern, view_of
from kgreason.context.symptom import Symptom
from kgreason.context.view import View, table
from kgreason.test import plans
from kgreason.test.design import STRONG, register, registered, roles
from kgreason.test.stratification import pull, usable

STAGE: Final = 3
_LEADS: Final = figure("leads")
_LEFT: Final = figure("confoundedLeft")
_SAME: Final = figure("confounderSame")


def challenge(context: Context, symptom: Symptom, round_: int) -> None:
    """Register tests of each leader of the round against its worst adversary: at most one step.

    A leader is the best of its frame, at a confidence of a half or more. Rivals in its frame were
    tried before; here they are of any frame of the symptom, for what stands beside a cause may be
    its shadow. The adversary is the one within whose strata least is left of the leader's log odds
    ratio on the discovery half, if a quarter of it is gone; each is tested within the strata of the
    other on the other half, which decides.
    """
    rows = context.record.select("contenders", symptom=symptom.node)
    view = view_of(context, symptom, round_)
    able = [row for row in rows if "pattern" in row and float(row["e"].value) >= STRONG]
    nodes = {row["hypothesis"]: mark_inside(context, view, _region(row)) for row in able}
    pairs = []
    for leader in _leading(rows, round_):
        others = [row for row in able if row["frame"] != leader["frame"]]
        adversary = _worst(view, nodes, leader, others) if leader in able else None
        if adversary is not None:
            pairs += [(leader, adversary), (adversary, leader)]
    if not pairs:
        return
    step = context.record.step("Design")
    step.describe(step.node, symptom=symptom.node, round=round_, stage=STAGE)
    known = registered(context, symptom)
    for tested, rival in pairs:
        members = [row for row in rows if row["frame"] == tested["frame"]]
        frame = [ox.NamedNode(row["hypothesis"].value) for row in members]
        for planned in _against(view, members, tested, rival):
            register(step, frame, planned, tested["pattern"].value, known)
    context.record.commit(step)


def leaders(context: Context, symptom: Symptom, round_: int) -> list[Row]:
    """Return the best member of each frame of a round, as a row of `contenders.rq`."""
    return _leading(context.record.select("contenders", symptom=symptom.node), round_)


def _leading(rows: Sequence[Row], round_: int) -> list[Row]:
    """Return the best member of each frame of a round, where it is more probable than not."""
    best: dict[str, Row] = {}
    for row in rows:
        frame = row["frame"].value
        if int(row["round"].value) == round_ and _confidence(row) > _confidence(best.get(frame)):
            best[frame] = row
    return [row for row in best.values() if _confidence(row) >= _LEADS]


def _confidence(row: Row | None) -> float:
    return -1.0 if row is None else float(row["confidence"].value)


def _region(row: Row) -> Fragment:
    return pattern(row["pattern"].value)


def _worst(view: View, nodes: dict[Term, int], leader: Row, others: Sequence[Row]) -> Row | None:
    """Return the rival that leaves least of the leader, if that is less than three quarters."""
    half = view.marks.node.discovery_mask
    own = nodes[leader["hypothesis"]] & half
    whole = usable([table(view, own, half)])
    least, worst = _LEFT * pull(whole) if whole else 0.0, None
    for row in others:
        rival = nodes[row["hypothesis"]] & half
        if (own & rival).bit_count() >= _SAME * (own | rival).bit_count():
            continue
        strata = [table(view, own, half & rival), table(view, own, half & ~rival)]
        left = usable(strata)
        if left and pull(left) < least:
            least, worst = pull(left), row
    return worst


def _against(
    view: View, members: Sequence[Row], tested: Row, rival: Row
) -> Iterator[plans.PlannedTest]:
    """Design the tests of a member of a frame within the strata of a rival outside the frame."""
    regions = [_region(tested), _region(rival)]
    place = members.index(tested)
    outsider = ox.NamedNode(rival["hypothesis"].value)
    told = roles(members, place)
    for kind, _, _, query, scheme in plans.telling_apart(view, regions, [(0, 1)]):
        yield plans.PlannedTest(kind, query, scheme, place, None, told, outsider)
