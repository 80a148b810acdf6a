"""The strategy `plan-then-execute`: goals first, then their steps; a plan that fails is revised.

Without a model the parts of the question are its goals: what stands between full stops, semicolons
and "and" before a word that asks. A goal that depends on another is worked on after it; those that
depend on none which is open are worked on together, a call of each at a time. A goal that
fails is replaced by another one, as often as `policy:planRevisions` says; the answer tells what was
not reached.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.budget import Limits, Spent, ask
from kgreason.base.figures import integer
from kgreason.loop import Investigation
from kgreason.planner.chosen_reasoner import chosen_reasoner
from kgreason.planner.plan_result import plan_result
from kgreason.planner.reasoner import Move, Situation
from kgreason.planner.session import Session
from kgreason.planner.strategy_protocol import PlanContext, PlanResult
from kgreason.planner.together import Task, work_on
from kgreason.record.model_calls import write_calls
from kgreason.record.plan_steps import GoalEnd, write_goal
from kgreason.record.record import Node
from kgreason.routing.task_types import task_types
from kgreason.run import Opened, carried_out

_PARTS: Final = re.compile(
    r"\s*(?:[.;?!]\s+|,?\s+(?:and|then|and then)\s+(?=(?:which|what|how|who|where|why|list|count|"
    r"describe|show|tell|is|are|do|does|give|find|compare)\b))\s*",
    re.IGNORECASE,
)
_BACK: Final = re.compile(r"\b(?:they|them|their|it|its|these|those|that one)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Goal:
    """A goal: what is asked, the tool that is expected to reach it, and the goals before it."""

    question: str
    tool: str
    after: tuple[int, ...] = ()


@dataclass
class Reached:
    """What became of a goal: pending, complete, failed or revised, with its result.

    `task` is the work on it, once that has begun.
    """

    goal: Goal
    node: Node
    plan: int
    status: str = "pending"
    result: str = ""
    task: Task | None = None

    def ended(self) -> None:
        """Take over how the work on it ended."""
        if self.task is not None and self.task.end is not None:
            self.status = "complete" if self.task.end.answered else "failed"
            self.result = self.task.end.answer

    def outcome(self) -> GoalEnd:
        """Return what is recorded of it when the plan has ended."""
        rests = self.task.rests_on() if self.task is not None and self.status == "complete" else []
        return GoalEnd(self.node, self.status, self.result or "It was not reached.", tuple(rests))


class PlanThenExecute:
    """Works goal by goal. Without a model the parts of the question are the goals."""

    name = "plan-then-execute"

    def run(self, goal: str, context: PlanContext, budget: Limits, /) -> PlanResult:
        """Plan, work on each goal, revise where one failed, and answer; raises KgreasonError."""
        request = context.asked(goal, budget)
        pattern = task_types().patterns[self.name].iri

        def work(investigation: Investigation, opened: Opened) -> None:
            session = Session(investigation, opened, pattern, chosen_reasoner(context))
            reached: list[Reached] = []
            try:
                _carried_out(session, goal, reached, context.jobs)
            except Spent as why:
                session.stopped(why, (), [one.outcome() for one in reached])
                raise
            _answered(session, reached)

        result = carried_out(
            request, context.ledger, work, context.progress, context.notice, context.told
        )
        return plan_result(result, self.name)


def parts_of(question: str) -> list[str]:
    """Return the parts of a question that can be worked on one by one."""
    found = [one.strip(" ,.;?!") for one in _PARTS.split(question)]
    return [one for one in found if len(one.split()) > 1] or [question]


def _planned(session: Session, question: str) -> list[Goal]:
    """Return a goal for each part; one that says "they" or "it" comes after the part before it."""
    goals: list[Goal] = []
    for part in parts_of(question):
        back = goals and _BACK.search(part)
        move, _ = session.decided(part, ())
        goals.append(Goal(part, move.tool or "query", (len(goals) - 1,) if back else ()))
    return goals


def _carried_out(session: Session, question: str, reached: list[Reached], jobs: int) -> None:
    """Write the first plan down and work on its goals; replace those that fail."""
    reached += _written(session, _planned(session, question), 1, ())
    _worked_on(session, reached, jobs)
    for number in range(2, integer("planRevisions") + 2):
        failed = [one for one in reached if one.status == "failed"]
        fresh = [(one, other) for one in failed if (other := _instead(session, one)) is not None]
        if not fresh:
            return
        made = _written(session, [other for _, other in fresh], number, [one for one, _ in fresh])
        for (old, _), new in zip(fresh, made, strict=True):
            old.status = "revised"
            reached.append(new)
        _worked_on(session, reached, jobs)


def _written(
    session: Session, goals: Sequence[Goal], number: int, replaces: Sequence[Reached]
) -> list[Reached]:
    """Record a plan as one step; gives its goals, pending."""
    ask(session.context.budget, "plan")
    record = session.context.record
    step = record.step("Plan")
    made: list[Reached] = []
    for place, goal in enumerate(goals):
        tool = session.offered.get(goal.tool) or next(iter(session.offered.values()))
        node = write_goal(
            record,
            step,
            goal.question,
            tool.iri,
            number,
            [made[n].node for n in goal.after],
            replaces[place].node if replaces else None,
        )
        made.append(Reached(goal, node, number))
    write_calls(record, step, session.unrecorded)
    record.commit(step)
    session.unrecorded.clear()
    return made


def _worked_on(session: Session, reached: Sequence[Reached], jobs: int) -> None:
    """Work on all goals that are pending, each once those that it depends on have ended."""
    while pending := [one for one in reached if one.status == "pending"]:
        for one in pending:
            if one.task is None:
                _begin(one, [reached[place] for place in one.goal.after])
        open_ = [one for one in pending if one.task is not None]
        work_on(session, [one.task for one in open_ if one.task is not None], jobs)
        for one in open_:
            one.ended()


def _begin(one: Reached, premises: Sequence[Reached]) -> None:
    """Begin a goal whose premises are reached; where one is not, it fails, and says why."""
    if any(premise.status == "pending" for premise in premises):
        return
    short = next((premise for premise in premises if premise.status != "complete"), None)
    if short is not None:
        one.status, one.result = "failed", f"“{short.goal.question}” has to be answered before."
        return
    question = one.goal.question
    if premises:
        question = f"{question} ({premises[0].goal.question})"
    one.task = Task(question, one.node)


def _instead(session: Session, failed: Reached) -> Goal | None:
    """Return the goal that takes the place of one that failed: its class alone, or none.

    What names a class that cannot be narrowed down is replaced by a description of the class; what
    asks for a finding of an earlier question, or for a cause, is replaced by nothing.
    """
    situation: Situation = session.situation(failed.goal.question, ())
    if situation.understood.finding or {"asks why", "asks ready"} & situation.facts:
        return None
    called = situation.understood.named.get("class")
    other = f"describe {called}" if called else "what classes are in the graph"
    if failed.goal.question == other or failed.goal.question.startswith("what classes"):
        return None
    return Goal(other, "query")


def _answered(session: Session, reached: Sequence[Reached]) -> None:
    """Record the answer: what each goal gave, and which failed."""
    told: list[str] = []
    rests: list[Node] = []
    left: set[str] = set()
    for one in reached:
        if one.status == "complete" and one.task is not None:
            told.append(one.result)
            rests += one.task.rests_on()
            left |= set(one.task.left)
        else:
            instead = " Another goal took its place." if one.status == "revised" else ""
            whose = f"“{one.goal.question}” failed: " if len(reached) > 1 else ""
            told.append(f"{whose}{one.result}{instead}")
    # What took the place of a goal does not answer what that goal asked.
    answered = any(one.status == "complete" and one.plan == 1 for one in reached)
    session.answer(
        Move("", answer=" ".join(told), answered=answered),
        list(dict.fromkeys(rests)),
        sorted(left),
        [one.outcome() for one in reached],
    )
