"""One strategy at work on one question: it decides, calls tools, and every call is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kgreason.base.budget import Spent, ask
from kgreason.base.figures import integer
from kgreason.context.context import Context
from kgreason.loop import Investigation
from kgreason.observe.cite import cite
from kgreason.planner import plan_tools as tools
from kgreason.planner.decision_list import intents_of
from kgreason.planner.earlier_findings import named
from kgreason.planner.question_terms import understood
from kgreason.planner.question_understood import as_json
from kgreason.planner.reasoner import Move, Reasoner, Seen, Situation
from kgreason.planner.tool_catalogue import Tool, scopes_of, tools_of
from kgreason.planner.tool_catalogue import tools as all_tools
from kgreason.planner.tool_desk import Desk
from kgreason.planner.tool_observation import Observation
from kgreason.record.model_calls import ModelCall
from kgreason.record.plan_steps import (
    Answered,
    Call,
    GoalEnd,
    RefusedCall,
    write_answer,
    write_call,
    write_outcome,
    write_refused,
)
from kgreason.record.record import Node
from kgreason.run import Opened

_MOST_STEPS: Final = integer("planSteps")
_WHY: Final = "is part of what a tool found"


@dataclass
class Session:
    """A strategy at work. `pattern` is the IRI of its pattern, `reasoner` decides.

    `unrecorded` are calls of a model whose moves are not recorded yet; an answer takes them along.
    """

    investigation: Investigation
    opened: Opened
    pattern: str
    reasoner: Reasoner
    unrecorded: list[ModelCall] = field(default_factory=list)
    desk: Desk = field(init=False)
    offered: dict[str, Tool] = field(init=False)

    def __post_init__(self) -> None:
        context = self.context
        request = self.investigation.request
        self.offered = {n: t for n, t in tools_of(self.pattern).items() if tools.known(n)}
        self.desk = Desk(
            context.graph,
            context.names,
            self.opened.observed,
            self.opened.ledger,
            context.record,
            request.query_seconds,
            self.offered,
            scopes_of(self.pattern),
        )

    @property
    def context(self) -> Context:
        """What the phases share."""
        return self.investigation.context

    def situation(self, question: str, seen: Sequence[Seen]) -> Situation:
        """Return what is to be decided on."""
        read = understood(question, self.desk.graph, self.desk.names, intents_of(question))
        finding = named(question, self.context.record)
        if finding:  # what is told of it is the whole answer; no other word narrows it down
            read = replace(read, finding=finding, left=())
        facts = read.facts() | ({"shapes"} if self.desk.observed is not None else set())
        for one in seen:
            name = one.query or one.tool
            if one.observation.failed:
                facts |= {"failed", f"failed {name}"}
            else:
                many = "found" if one.observation.found else "nothing"
                facts |= {f"done {name}", f"{many} {name}"}
        budget = self.context.budget
        return Situation(question, read, frozenset(facts), seen, self.offered, self.pattern, budget)

    def work(
        self, question: str, goal: Node | None = None
    ) -> tuple[Move, list[tuple[Seen, Node]], tuple[str, ...]]:
        """Decide and call tools until there is an answer.

        Gives the answer, the calls with their nodes, and the words that were left out. Raises Spent
        where the budget ends it.
        """
        done: list[tuple[Seen, Node]] = []
        while True:
            move, left = self.decided(question, [seen for seen, _ in done])
            if not move.tool:
                return move, done, left
            ask(self.context.budget, f"tool {move.tool}")
            done.append(self.recorded(move, self.looked(move), goal))

    def decided(self, question: str, seen: Sequence[Seen]) -> tuple[Move, tuple[str, ...]]:
        """Return what is to be done next for a question, and the words of it that are left out.

        After `policy:planSteps` calls that is an answer which says that there is none.
        """
        if len(seen) >= _MOST_STEPS:
            end = f"No answer was found in {_MOST_STEPS} steps."
            return Move(end, answer=end, answered=False), ()
        situation = self.situation(question, seen)
        move = self.reasoner.next(situation)
        self.unrecorded += move.calls
        return move, situation.understood.left

    def looked(self, move: Move) -> Observation:
        """Call the tool of a move, and return what it found; nothing is recorded.

        A tool that is not of the scopes of the strategy is not called, and that is what is found.
        """
        return tools.call(self.desk, move.tool, move.arguments)

    def recorded(
        self, move: Move, found: Observation, goal: Node | None = None
    ) -> tuple[Seen, Node]:
        """Record a call and what it found as one step; gives what was seen and its node."""
        for call in move.calls:
            self.unrecorded.remove(call)
        if found.refused:
            return Seen(move.tool, "", found), self._refused(move, found.told, goal)
        node = self._written(move, self.offered[move.tool], found, goal)
        return Seen(move.tool, str(move.arguments.get("query", "")), found), node

    def _written(self, move: Move, tool: Tool, found: Observation, goal: Node | None) -> Node:
        context = self.context
        step = context.record.step("Plan")
        node = write_call(
            context.record,
            step,
            Call(
                self.pattern,
                move.thought,
                tool.iri,
                tuple(one.iri for one in self.offered.values()),
                tool.scope,
                scopes_of(self.pattern),
                as_json(move.arguments),
                found.told,
                found.status,
                found.query,
                found.found,
                found.digest,
                move.rule,
                goal,
                move.by,
                move.calls,
            ),
        )
        for cited, property_ in found.nodes:
            cite(context, step, node, cited, property_, None, _WHY)
        context.record.commit(step)
        return node

    def _refused(self, move: Move, why: str, goal: Node | None) -> Node:
        """Record a call that was not made."""
        record, declared = self.context.record, all_tools().get(move.tool)
        step = record.step("Plan")
        node = write_refused(
            record,
            step,
            RefusedCall(
                self.pattern,
                move.thought,
                move.tool,
                as_json(move.arguments),
                why,
                scopes_of(self.pattern),
                "" if declared is None else declared.iri,
                "" if declared is None else declared.scope,
                move.rule,
                goal,
                move.by,
                move.calls,
            ),
        )
        record.commit(step)
        return node

    def answer(
        self,
        move: Move,
        rests_on: Sequence[Node],
        left: Sequence[str],
        goals: Sequence[GoalEnd] = (),
    ) -> Node:
        """Record an answer as one step, with what became of each of the `goals`; gives its node."""
        text = move.answer
        if left and move.answered:
            words = ", ".join(f"“{one}”" for one in left)
            text += f" Nothing near what is asked about is called {words}; "
            text += "the answer takes no account of it."
        step = self.context.record.step("Plan")
        for goal in goals:
            write_outcome(self.context.record, step, goal)
        node = write_answer(
            self.context.record,
            step,
            Answered(
                self.pattern,
                text,
                move.answered,
                tuple(rests_on),
                tuple(left),
                move.rule,
                move.by,
                tuple(self.unrecorded),
            ),
        )
        self.context.record.commit(step)
        self.unrecorded.clear()
        return node

    def stopped(self, why: Spent, rests_on: Sequence[Node], goals: Sequence[GoalEnd] = ()) -> None:
        """Record that the budget ended the work without an answer."""
        self.answer(Move("", answer=f"It {why}, before there was an answer.", answered=False),
                    rests_on, (), goals)  # fmt: skip


def resting(move: Move, done: Sequence[tuple[Seen, Node]]) -> list[Node]:
    """Return the steps that an answer rests on: those that it cites, or all that found anything."""
    if move.cites is not None:
        named = [done[n] for n in move.cites if 0 <= n < len(done)]
        return [node for seen, node in named if not seen.observation.refused]
    return [node for seen, node in done if not seen.observation.failed]
