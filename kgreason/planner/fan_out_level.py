"""One level of a divided question: what an investigation gave out, and what of that was divided.

A part that is divided again is a sub-investigation that gives out parts of its own. It looks into
nothing itself, and gives no statuses: it ends when its parts have ended, and says what became of
them. Final statuses are given by the investigation above all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import pyoxigraph as ox

from kgreason.base.budget import Limits
from kgreason.base.figures import integer
from kgreason.context.context import Context
from kgreason.context.symptom import Observed
from kgreason.loop import Investigation
from kgreason.observe.cite import cite
from kgreason.observe.opening import recorded_request
from kgreason.planner.contrasts import CITED
from kgreason.planner.fan_in import fan_in
from kgreason.planner.plan_result import citations
from kgreason.planner.question_understood import as_json
from kgreason.planner.splitting import DIVIDES, divided_by, further, within
from kgreason.planner.strategy_protocol import shares
from kgreason.planner.sub_investigations import Place, opened, session_of
from kgreason.planner.tool_catalogue import scopes_of, tools, tools_of
from kgreason.record import Record
from kgreason.record.fanning import (
    Expected,
    Part,
    assigned,
    divided_further,
    expected,
    write_assignment,
    write_fan_out,
)
from kgreason.record.plan_steps import COMPLETE, FAILED, Answered, Call, write_answer, write_call
from kgreason.record.record import Node
from kgreason.report.as_json import as_dict
from kgreason.routing.task_types import task_types
from kgreason.run import telling

_WHY: Final = "is cited by the evidence of a sub-investigation"
_AGAIN: Final = "Given out again, since a sub-investigation ended in an error."
_DIVIDED: Final = {
    "symptom": "Each broken rule can be looked into without the others.",
    "class": "What is broken of one class can be looked into without the other classes.",
    "source": "What is broken mostly in one source can be looked into without the other sources.",
    "goal": "Each goal that was given can be looked into without the others.",
}


@dataclass
class Level:
    """An investigation that divides: `kinds` of split, the outermost first, and its `parts`.

    `below` are the levels of parts that were divided again, by their sessions. `place` is that of
    its own request, and `because` is what is to be said of the division first.
    """

    context: Context
    record: Record
    place: Place
    observed: Observed
    kinds: Sequence[str]
    parts: Sequence[Part]
    budget: Limits
    because: str = ""
    below: dict[Node, "Level"] = field(default_factory=dict)

    def give_out(self, number: int) -> list[Node]:
        """Give out what is due at a fan-out of this number; returns what is open, over all levels.

        The first gives out all parts, a later one those that ended in an error. What the ledger has
        of it already is not given out twice.
        """
        every = expected(self.record)
        known = [one for one in every if one.fan_out_number == number]
        if not known:
            again = [one for one in every if one.status not in {None, COMPLETE} and not one.missed]
            again = again if number > 1 else []
            if number == 1 or again:
                known = self._fanned_out(number, again)
        by_goal = {part.goal: part for part in self.parts}
        left = []
        given = shares(self.budget, max(1, len(known)))
        for one, share in zip(known, given, strict=False):
            if one.status is not None:
                continue
            part, depth = by_goal[one.goal], self.place.request.depth + 1
            made = opened(
                self.place, self.record.iri, one.session, one.assignment, part, share, depth
            )
            if part.strategy == task_types().patterns[DIVIDES].iri:
                self.below[one.session] = self._level(made, part, share)
            else:
                left.append(one.session)
        return left + [open_ for level in self.below.values() for open_ in level.give_out(number)]

    def _level(self, record: Record, part: Part, share: Limits) -> "Level":
        """Return the level of a part that is divided again."""
        inside = within(self.observed, part)
        kinds = divided_further(record) or further(
            self.kinds[1:], self.context, self.observed, part
        )
        parts = assigned(record) or divided_by(kinds, self.context, inside)
        place = replace(self.place, request=recorded_request(record))
        return Level(self.context, record, place, inside, kinds, parts, share)

    def _fanned_out(self, number: int, replaces: Sequence[Expected]) -> list[Expected]:
        """Record a fan-out with an assignment for each part; returns the assignments."""
        record, asked = self.record, self.place.request
        by_goal = {part.goal: part for part in self.parts}
        parts = [by_goal[one.goal] for one in replaces] if replaces else list(self.parts)
        step = record.step("Plan")
        node = write_fan_out(
            record,
            step,
            self.kinds[0],
            number,
            asked.depth,
            asked.correlation or record.iri.value,
            _AGAIN if replaces else f"{self.because} {_DIVIDED[self.kinds[0]]}".strip(),
            self.budget.seconds,
            self.kinds[1:],
            asked.assignment,
        )
        given = shares(self.budget, max(1, len(parts)))
        for n, (part, share) in enumerate(zip(parts, given, strict=True), start=1):
            session = session_of(record.iri, number, n)
            old = replaces[n - 1].assignment if replaces else None
            write_assignment(step, node, part, session, share, old)
        record.commit(step)
        return [one for one in expected(record) if one.fan_out_number == number]

    def close(self) -> None:
        """End the parts that were divided again, the innermost first; each says what it gave."""
        for level in self.below.values():
            level.close()
            own = telling(level.record, self.place.told)
            made = Investigation(self.place.graph, (), own, level.place.request)
            made.carry_out(partial(_collected, made.context))


def fan_outs() -> int:
    """Return how often parts are given out at most."""
    return integer("fanOuts")


def _collected(context: Context) -> None:
    """Record what became of the parts of a part, and that statuses are given above."""
    record = context.record
    calls, ended = told_parts(context)
    missing = [one for one in expected(record) if not one.missed and not one.complete]
    said = [f"{ended} of {len(calls)} parts of this part ended."]
    said += [f"Missing is “{one.goal}”." for one in missing]
    said.append("Their final statuses are given where all parts are joined.")
    answered(record, " ".join(said), calls[:ended], given=bool(ended))


def told_parts(context: Context) -> tuple[list[Node], int]:
    """Record as a step what became of each part, those that ended first.

    Returns the nodes, and how many of the parts ended.
    """
    live = [one for one in expected(context.record) if not one.missed]
    ended = [one for one in live if one.complete]
    rest = [one for one in live if not one.complete]
    return [_part(context, one) for one in (*ended, *rest)], len(ended)


def answered(record: Record, said: str, rests: Sequence[Node], *, given: bool) -> None:
    """Record the answer of whoever divided; `given` is false where there is none."""
    step = record.step("Plan")
    pattern = task_types().patterns[DIVIDES].iri
    write_answer(record, step, Answered(pattern, said, given, tuple(rests)))
    record.commit(step)


def _part(context: Context, one: Expected) -> Node:
    """Record as one step what became of a part, with the nodes that its evidence cites."""
    record = context.record
    pattern = task_types().patterns[DIVIDES].iri
    step = record.step("Plan")
    tool = tools()["investigate"]
    told, cited = _told(record, one)
    node = write_call(
        record,
        step,
        Call(
            pattern,
            one.goal,
            tool.iri,
            tuple(each.iri for each in tools_of(pattern).values()),
            tool.scope,
            scopes_of(pattern),
            as_json({"investigation": one.session.value}),
            told,
            COMPLETE if one.complete else FAILED,
            found=len(cited),
        ),
    )
    for name in cited[:CITED]:
        cite(context, step, node, ox.NamedNode(name), None, None, _WHY)
    record.commit(step)
    return node


def _told(record: Record, one: Expected) -> tuple[str, list[str]]:
    """Return what a part says, and the nodes that it cites; of its own parts, where it has any."""
    if not one.complete:
        return (one.reason or "It did not end in time."), []
    own = Record(record.store, one.session)
    parts = [Record(record.store, each.session) for each in fan_in(own).used] or [own]
    several = [as_dict(part) for part in parts]
    found = dict.fromkeys(cause["statement"] for told in several for cause in told["causes"])
    causes = " ".join(found)
    every = (citations(part, told) for part, told in zip(parts, several, strict=True))
    cited = [name for names in every for name in names if not name.startswith("_:")]
    cuts = _cuts(several)
    said = f"Provisional: {causes}" if causes else "No cause is supported."
    return " ".join((said, *cuts)), list(dict.fromkeys(cited))


def _cuts(several: Sequence[Mapping[str, Mapping[str, str | None]]]) -> list[str]:
    found = (told["budget"]["cut"] for told in several)
    return list(dict.fromkeys(f"The work {cut}." for cut in found if cut is not None))
